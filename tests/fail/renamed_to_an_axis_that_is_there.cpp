// SPDX-License-Identifier: BSL-1.0
// In: a rename to an axis that the operand has already.
// Out: one error, which names it.
// Next: extent_forgotten.cpp.
// expect: rename
// expect: key
// expect(gcc): would have axis key twice
#include <heed/heed.hpp>

namespace {

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct past_key : heed::axis<> {};

}  // namespace

int main() {
  const heed::tensor<float, query, key> x{query{5}, key{5}};
#ifdef HEED_MISTAKE
  const auto y = heed::rename<query, key>(x);
#else
  const auto y = heed::rename<query, past_key>(x);
#endif
  (void)heed::evaluate(y);
}
