// SPDX-License-Identifier: BSL-1.0
// In: a contraction over an axis that the left operand lacks.
// Out: one error, which names the axis and what each side has.
// Next: two_sizes_of_one_name.cpp.
// expect: the left operand has no such axis
// expect: key
// expect(gcc): dot over axis key: the left operand has no such axis, it has \(query, d_head\)
#include <heed/heed.hpp>

namespace {

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, query, d_head> q{query{5}};
  const heed::tensor<float, key, d_head> v{key{5}};
#ifdef HEED_MISTAKE
  const auto context = heed::dot<key>(q, v);
#else
  const auto context = heed::dot<key>(heed::softmax<key>(heed::dot<d_head>(q, v)), v);
#endif
  (void)heed::evaluate(context);
}
