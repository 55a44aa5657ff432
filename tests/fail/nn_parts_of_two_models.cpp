// SPDX-License-Identifier: BSL-1.0
// In: an encoder layer whose feed-forward network is of another model than its attention.
// Out: one error, where the parameters are made, though the layer would fail too.
// Next: nn_extent_forgotten.cpp.
// expect: encoder_layer|parts go over different model axes
// expect: feed_forward
// expect: model<256>
// expect(gcc): the attention goes over axis model<512>, the feed_forward over model<256>
// expect(gcc): model is 512 in attention and 256 in feed_forward
#include <heed/nn.hpp>

namespace {

template <int D> struct model : heed::axis<D> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};
struct hidden : heed::axis<2048> {};

}  // namespace

int main() {
  const heed::tensor<float, query, model<512>> x{query{5}};
  using attention = heed::nn::attention_parameters<float, model<512>, head, d_head>;
#ifdef HEED_MISTAKE
  using feed_forward = heed::nn::feed_forward_parameters<float, model<256>, hidden>;
#else
  using feed_forward = heed::nn::feed_forward_parameters<float, model<512>, hidden>;
#endif
  using norm = heed::nn::rms_norm_parameters<float, model<512>>;
  const heed::nn::encoder_layer_parameters<attention, feed_forward, norm> p;
  (void)heed::evaluate(heed::nn::encoder_layer<query, key>(heed::nn::post_norm, x, p));
}
