// SPDX-License-Identifier: BSL-1.0
// In: an expression whose axes are not those that expect names.
// Out: one error, which lists both.
// Next: slice_of_a_static_axis.cpp.
// expect: expect: the expression has
// expect: head
// expect(gcc): expect: the expression has axes \(query, key\), expected \(head, query, key\)
#include <heed/heed.hpp>

namespace {

struct head : heed::axis<8> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, query, d_head> q{query{5}};
  const heed::tensor<float, key, d_head> k{key{7}};
#ifdef HEED_MISTAKE
  const auto scores = heed::expect<head, query, key>(heed::dot<d_head>(q, k));
#else
  const auto scores = heed::expect<query, key>(heed::dot<d_head>(q, k));
#endif
  (void)heed::evaluate(scores);
}
