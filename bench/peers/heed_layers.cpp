// SPDX-License-Identifier: BSL-1.0
// In: a layer cell. Out: heed's layer for it, fused or node by node.
// Next to read: libraries.cpp.
#include "heed_run.hpp"
#include <heed/nn.hpp>

namespace peers {
namespace {

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<> {};
struct d_head : heed::axis<> {};
struct model : heed::axis<> {};
struct hidden : heed::axis<> {};

using layer = heed::nn::encoder_layer_parameters<heed::nn::biased_attention_parameters<float, model, head, d_head>,
                                                 heed::nn::biased_feed_forward_parameters<float, model, hidden>,
                                                 heed::nn::layer_norm_parameters<float, model>>;

}  // namespace

implementation heed_layer(cell const& c, arrays const& in, bool fused) {
  heed::tensor<float, batch, query, model> x{batch{c.batch}, query{c.queries}, model{c.model()}};
  layer p{model{c.model()}, head{c.heads}, d_head{c.width}, hidden{c.hidden}};
  copy(in.at("x"), x);
  auto& a = p.attention;
  copy(in.at("w_q"), a.w_q), copy(in.at("w_k"), a.w_k), copy(in.at("w_v"), a.w_v), copy(in.at("w_o"), a.w_o);
  copy(in.at("b_q"), a.b_q), copy(in.at("b_k"), a.b_k), copy(in.at("b_v"), a.b_v), copy(in.at("b_o"), a.b_o);
  auto& f = p.feed_forward;  // the norms' weights are 1 and 0, as they are made
  copy(in.at("w_1"), f.w_1), copy(in.at("w_2"), f.w_2), copy(in.at("b_1"), f.b_1), copy(in.at("b_2"), f.b_2);
  return heed_run(heed::nn::encoder_layer<query, key>(heed::nn::pre_norm, x, p, heed::nn::activations::gelu), fused);
}

}  // namespace peers
