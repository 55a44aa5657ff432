// SPDX-License-Identifier: BSL-1.0
// In: a contraction over an axis that one operand lacks.
// Out: one error, which names the axis and what each side has.
// Next: two_sizes_of_one_name.cpp.
// expect: dot.*the right operand has no such axis|the right operand has no such axis
// expect: model
// expect(gcc): dot over axis model: the right operand has no such axis, it has \(batch, key, head, d_head\)
#include <heed/heed.hpp>

namespace {

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};
struct model : heed::axis<512> {};

}  // namespace

int main() {
  const heed::tensor<float, batch, query, model> x{batch{2}, query{5}};
  const heed::tensor<float, batch, key, head, d_head> k{batch{2}, key{5}};
#ifdef HEED_MISTAKE
  const auto q = heed::dot<model>(x, k);
#else
  const heed::tensor<float, model, head, d_head> w_q;
  const auto q = heed::dot<d_head>(heed::dot<model>(x, w_q), k);
#endif
  (void)heed::evaluate(q);
}
