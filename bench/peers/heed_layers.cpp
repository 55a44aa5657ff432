// SPDX-License-Identifier: BSL-1.0
// In: a layer cell. Out: heed's layer for it, fused or node by node.
// Next to read: heed_sentences.cpp, a whole model.
#include "heed_run.hpp"
#include <heed/nn.hpp>

#include <omp.h>

namespace peers {
namespace {

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<> {};
struct kv_head : heed::axis<> {};
struct group : heed::axis<> {};
struct d_head : heed::axis<> {};
struct model : heed::axis<> {};
struct hidden : heed::axis<> {};

using encoder = heed::nn::encoder_layer_parameters<heed::nn::biased_attention_parameters<float, model, head, d_head>,
                                                   heed::nn::biased_feed_forward_parameters<float, model, hidden>,
                                                   heed::nn::layer_norm_parameters<float, model>>;

implementation encoder_layer(cell const& c, arrays const& in, bool fused) {
  heed::tensor<float, batch, query, model> x{batch{c.batch}, query{c.queries}, model{c.model()}};
  encoder p{model{c.model()}, head{c.heads}, d_head{c.width}, hidden{c.hidden}};
  copy(in.at("x"), x);
  auto& a = p.attention;
  copy(in.at("w_q"), a.w_q), copy(in.at("w_k"), a.w_k), copy(in.at("w_v"), a.w_v), copy(in.at("w_o"), a.w_o);
  copy(in.at("b_q"), a.b_q), copy(in.at("b_k"), a.b_k), copy(in.at("b_v"), a.b_v), copy(in.at("b_o"), a.b_o);
  auto& f = p.feed_forward;  // the norms' weights are 1 and 0, as they are made
  copy(in.at("w_1"), f.w_1), copy(in.at("w_2"), f.w_2), copy(in.at("b_1"), f.b_1), copy(in.at("b_2"), f.b_2);
  return heed_run(
      heed::nn::encoder_layer<query, key>(heed::nn::pre_norm, x, *heed::nn::packed(p), heed::nn::activations::gelu),
      fused);
}

using grouped_attention = heed::nn::grouped_attention_parameters<float, model, kv_head, group, d_head>;
using decoder =
    heed::nn::encoder_layer_parameters<grouped_attention, heed::nn::gated_feed_forward_parameters<float, model, hidden>,
                                       heed::nn::rms_norm_parameters<float, model>>;

/// One step of LLaMA's layer (Touvron et al. 2023) behind a past: root mean square norms, rotary positions, grouped
/// heads, a gated feed-forward network.
struct decoder_step {
  heed::tensor<float, batch, query, model> x, out;
  decoder p;
  heed::nn::attention_cache<float, grouped_attention, key, batch> cache;
  heed::workspace memory;
  heed::extent_t past;
  heed::schedule schedule;

  decoder_step(cell const& c, arrays const& in, bool fused)
      : x(batch{c.batch}, query{c.queries}, model{c.model()}),
        out(x),
        p(model{c.model()}, kv_head{c.kv_heads}, group{c.heads / c.kv_heads}, d_head{c.width}, hidden{c.hidden}),
        cache(key{c.keys}, batch{c.batch}, kv_head{c.kv_heads}, d_head{c.width}),
        past(c.keys - c.queries),
        schedule(fused ? heed::fused : heed::unfused) {
    copy(in.at("x"), x);
    auto& a = p.attention;
    copy(in.at("w_q"), a.w_q), copy(in.at("w_k"), a.w_k), copy(in.at("w_v"), a.w_v), copy(in.at("w_o"), a.w_o);
    auto& f = p.feed_forward;
    copy(in.at("w_gate"), f.w_gate), copy(in.at("w_up"), f.w_up), copy(in.at("w_down"), f.w_down);
    heed::tensor<float, batch, kv_head, key, d_head> before{batch{c.batch}, kv_head{c.kv_heads}, key{past},
                                                            d_head{c.width}};
    auto after = before;
    copy(in.at("past_k"), before), copy(in.at("past_v"), after);
    cache.append(before, after);
  }
  void run(int threads) {
    omp_set_num_threads(threads);
    auto const how = heed::policy{.schedule = schedule, .threads = threads, .memory = &memory};
    cache.truncate(past);
    cache.how = how;
    auto const y = heed::nn::decoder_layer<query, key>(
        heed::nn::pre_norm, x, p, cache, heed::nn::activations::silu, heed::nn::causal_mask<query, key>{},
        heed::nn::rotary<d_head, query>{.pairs = heed::rope_pairs::half});
    heed::evaluate_into(how, out, y);
  }
};

}  // namespace

implementation heed_layer(cell const& c, arrays const& in, bool fused) {
  if (c.kind == "encoder_layer") return encoder_layer(c, in, fused);
  auto const step = std::make_shared<decoder_step>(c, in, fused);
  return {
      .run = [=](int threads) { step->run(threads); },
      .result = [=] { return std::span<float const>(step->out.data(), static_cast<std::size_t>(step->out.size())); }};
}

}  // namespace peers
