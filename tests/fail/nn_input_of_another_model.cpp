// SPDX-License-Identifier: BSL-1.0
// In: an encoder layer whose input is narrower than the layer.
// Out: one error, where the first norm meets it, though six products would fail too.
// Next: nn_parts_of_two_models.cpp.
// expect: the input has no such axis
// expect: model<512>
// expect(gcc): norm over axis model<512>.*it has \(query, model<256>\)
// expect(gcc): model is 512 in the parameters and 256 in the input
#include <heed/nn.hpp>

namespace {

template <int D> struct model : heed::axis<D> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};
struct hidden : heed::axis<2048> {};

using layer = heed::nn::encoder_layer_parameters<heed::nn::attention_parameters<float, model<512>, head, d_head>,
                                                 heed::nn::feed_forward_parameters<float, model<512>, hidden>,
                                                 heed::nn::layer_norm_parameters<float, model<512>>>;

}  // namespace

int main() {
#ifdef HEED_MISTAKE
  const heed::tensor<float, query, model<256>> x{query{5}};
#else
  const heed::tensor<float, query, model<512>> x{query{5}};
#endif
  const layer p;
  (void)heed::evaluate(heed::nn::encoder_layer<query, key>(heed::nn::pre_norm, x, p));
}
