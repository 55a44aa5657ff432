// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: for each element type T, the checks that the layers of heed::nn give the same numbers: an
// encoder layer with its norms after and before the sub-layers, a llama block of both rotary pairings; fused and
// unfused.
// Next: the tests that instantiate these checks.
#pragma once
#include "parameters.hpp"

namespace test::golden {

using namespace heed;

template <class T> constexpr double bound = sizeof(T) == 4 ? 1e-5 : 1e-12;

/// The standard deviation plus a small number below the line, as the annotated transformer has it: a norm of the user's
/// own.
template <class T> struct deviation_norm : nn::layer_norm_parameters<T, model> {
  using nn::layer_norm_parameters<T, model>::layer_norm_parameters;
  auto operator()(expression auto const& x) const {
    return this->gamma * ((x - mean<model>(x)) / (sqrt(variance<model>(x)) + 1e-6)) + this->beta;
  }
};

template <class T, class Norm>
using encoder = nn::encoder_layer_parameters<nn::attention_parameters<T, model, head, d_head>,
                                             nn::biased_feed_forward_parameters<T, model, hidden>, Norm>;

template <class T, class Norm> encoder<T, Norm> load_encoder() {
  encoder<T, Norm> p;
  p.attention.w_q = load<T, model, head, d_head>("encoder_layer/w_q");
  p.attention.w_k = load<T, model, head, d_head>("encoder_layer/w_k");
  p.attention.w_v = load<T, model, head, d_head>("encoder_layer/w_v");
  p.attention.w_o = load<T, head, d_head, model>("encoder_layer/w_o");
  p.attention_norm.gamma = load<T, model>("encoder_layer/gamma_1");
  p.attention_norm.beta = load<T, model>("encoder_layer/beta_1");
  p.feed_forward.w_1 = load<T, model, hidden>("encoder_layer/w_1");
  p.feed_forward.w_2 = load<T, hidden, model>("encoder_layer/w_2");
  p.feed_forward.b_1 = load<T, hidden>("encoder_layer/b_1");
  p.feed_forward.b_2 = load<T, model>("encoder_layer/b_2");
  p.feed_forward_norm.gamma = load<T, model>("encoder_layer/gamma_2");
  p.feed_forward_norm.beta = load<T, model>("encoder_layer/beta_2");
  return p;
}

template <class T> void check_encoder_by_nn() {
  const auto x = load<T, query, model>("encoder_layer/x");
  const auto after = load_encoder<T, deviation_norm<T>>();
  check(nn::encoder_layer<query, key>(nn::post_norm, x, after), load<double, query, model>("encoder_layer/post_norm"),
        bound<T>, {1, 3});
  const auto before = load_encoder<T, nn::layer_norm_parameters<T, model>>();
  check(nn::encoder_layer<query, key>(nn::pre_norm, x, before, nn::activations::gelu),
        load<double, query, model>("encoder_layer/pre_norm"), bound<T>, {1, 3});
}

template <class T>
using llama_block = nn::encoder_layer_parameters<nn::grouped_attention_parameters<T, model, kv_head, group, d_head>,
                                                 nn::gated_feed_forward_parameters<T, model, hidden>,
                                                 nn::rms_norm_parameters<T, model>>;

template <class T> llama_block<T> load_llama_block() {
  llama_block<T> p;
  p.attention.w_q = load<T, model, kv_head, group, d_head>("llama_block/w_q");
  p.attention.w_k = load<T, model, kv_head, d_head>("llama_block/w_k");
  p.attention.w_v = load<T, model, kv_head, d_head>("llama_block/w_v");
  p.attention.w_o = load<T, kv_head, group, d_head, model>("llama_block/w_o");
  p.attention_norm.gain = load<T, model>("llama_block/norm_1");
  p.feed_forward.w_gate = load<T, model, hidden>("llama_block/w_gate");
  p.feed_forward.w_up = load<T, model, hidden>("llama_block/w_up");
  p.feed_forward.w_down = load<T, hidden, model>("llama_block/w_down");
  p.feed_forward_norm.gain = load<T, model>("llama_block/norm_2");
  return p;
}

template <class T> void check_llama_by_nn() {
  const auto x = load<T, query, model>("llama_block/x");
  const auto p = load_llama_block<T>();
  for (const auto pairs : {rope_pairs::interleaved, rope_pairs::half}) {
    const nn::rotary<d_head, query> positions{.pairs = pairs, .first = 3};
    const auto y = nn::encoder_layer<query, key>(nn::pre_norm, x, p, nn::activations::silu,
                                                 nn::causal_mask<query, key>{}, positions);
    const auto name = pairs == rope_pairs::half ? "llama_block/y_half" : "llama_block/y_interleaved";
    check(y, load<double, query, model>(name), bound<T>, {1, 3});
  }
}

}  // namespace test::golden
