// SPDX-License-Identifier: BSL-1.0
// An encoder block: biased attention and feed-forward network, norms before them.
#include <heed/nn.hpp>

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<12> {};
struct d_head : heed::axis<64> {};
struct model : heed::axis<768> {};
struct hidden : heed::axis<3072> {};

using parameters = heed::nn::encoder_layer_parameters<heed::nn::biased_attention_parameters<float, model, head, d_head>,
                                                      heed::nn::biased_feed_forward_parameters<float, model, hidden>,
                                                      heed::nn::layer_norm_parameters<float, model>>;

auto encode(heed::tensor<float, query, model> const& x, parameters const& p) {
  return heed::evaluate(heed::nn::encoder_layer<query, key>(heed::nn::pre_norm, x, p, heed::nn::activations::gelu));
}
