// SPDX-License-Identifier: BSL-1.0
// In: a softmax whose sink has an axis that its rows lack.
// Out: one error, which names it.
// Next: float_mask.cpp.
// expect: softmax.*sink|sink
// expect: head
#include <heed/heed.hpp>

namespace {

struct head : heed::axis<8> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};

}  // namespace

int main() {
  const heed::tensor<float, query, key> scores{query{5}, key{7}};
  const heed::tensor<float, head> sink;
#ifdef HEED_MISTAKE
  const auto weights = heed::softmax<key>(scores, sink);
#else
  const auto weights = heed::softmax<key>(heed::broadcast<head>(scores), sink);
#endif
  (void)heed::evaluate(weights);
}
