// SPDX-License-Identifier: BSL-1.0
// In: an output projection of another model size, noticed where its result is added to the residual.
// Out: one error, which names both sizes.
// Next: destination_without_an_axis.cpp.
// expect: neither operand has all axes of the other
// expect: model<768>.*model<512>
// expect(gcc): model is 768 in the left operand and 512 in the right operand
#include <heed/heed.hpp>

namespace {

template <int D> struct model : heed::axis<D> {};
struct query : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, query, model<768>> residual{query{5}};
  const heed::tensor<float, query, head, d_head> context{query{5}};
#ifdef HEED_MISTAKE
  const heed::tensor<float, head, d_head, model<512>> w_o;
#else
  const heed::tensor<float, head, d_head, model<768>> w_o;
#endif
  const auto y = residual + heed::dot<head, d_head>(context, w_o);
  (void)heed::evaluate(y);
}
