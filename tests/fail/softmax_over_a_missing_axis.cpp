// SPDX-License-Identifier: BSL-1.0
// In: a softmax over an axis that the scores lack.
// Out: one error, which names the axis and those that are there.
// Next: forgotten_rename.cpp.
// expect: the operand has no such axis
// expect: position
// expect(gcc): softmax over axis position: the operand has no such axis, it has \(query, key\)
#include <heed/heed.hpp>

namespace {

struct position : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, query, d_head> q{query{5}};
  const heed::tensor<float, key, d_head> k{key{7}};
  const auto scores = heed::dot<d_head>(q, k);
#ifdef HEED_MISTAKE
  const auto weights = heed::softmax<position>(scores);
#else
  const auto weights = heed::softmax<key>(scores);
#endif
  (void)heed::evaluate(weights);
}
