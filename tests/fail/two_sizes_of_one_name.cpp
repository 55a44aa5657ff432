// SPDX-License-Identifier: BSL-1.0
// In: a weight of a smaller model: one name with two sizes, which are two axes.
// Out: one error, which names both sizes.
// Next: sum_of_strangers.cpp.
// expect: the right operand has no such axis
// expect: model<768>
// expect(gcc): dot over axis model<768>: .*model is 768 in the left operand and 512 in the right operand
#include <heed/heed.hpp>

namespace {

template <int D> struct model : heed::axis<D> {};
struct position : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, position, model<768>> x{position{5}};
#ifdef HEED_MISTAKE
  const heed::tensor<float, model<512>, head, d_head> w_q;
#else
  const heed::tensor<float, model<768>, head, d_head> w_q;
#endif
  const auto q = heed::dot<model<768>>(x, w_q);
  (void)heed::evaluate(q);
}
