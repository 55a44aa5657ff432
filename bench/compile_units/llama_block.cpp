// SPDX-License-Identifier: BSL-1.0
// A LLaMA block: grouped queries with rotary positions and a causal mask, a gated feed-forward network, RMS norms.
#include <heed/nn.hpp>

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct kv_head : heed::axis<8> {};
struct group : heed::axis<4> {};
struct d_head : heed::axis<128> {};
struct model : heed::axis<4096> {};
struct hidden : heed::axis<14336> {};

using parameters =
    heed::nn::encoder_layer_parameters<heed::nn::grouped_attention_parameters<float, model, kv_head, group, d_head>,
                                       heed::nn::gated_feed_forward_parameters<float, model, hidden>,
                                       heed::nn::rms_norm_parameters<float, model>>;

auto block(heed::tensor<float, query, model> const& x, parameters const& p) {
  heed::nn::rotary<d_head, query> const positions{};
  return heed::evaluate(heed::nn::encoder_layer<query, key>(heed::nn::pre_norm, x, p, heed::nn::activations::silu,
                                                            heed::nn::causal_mask<query, key>{}, positions));
}
