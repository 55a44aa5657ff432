// SPDX-License-Identifier: BSL-1.0
// In: a sum of tensors neither of which has all axes of the other.
// Out: one error, which says what each side has alone.
// Next: softmax_over_a_missing_axis.cpp.
// expect: neither operand has all axes of the other
// expect: query.*key
// expect(gcc): left has \(batch, query\), right has \(batch, key\); only left has \(query\), only right has \(key\)
#include <heed/heed.hpp>

namespace {

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};

}  // namespace

int main() {
  const heed::tensor<float, batch, query> a{batch{2}, query{5}};
  const heed::tensor<float, batch, key> b{batch{2}, key{7}};
#ifdef HEED_MISTAKE
  const auto total = a + b;
#else
  const auto total = heed::broadcast<key>(a, key{7}) + b;
#endif
  (void)heed::evaluate(total);
}
