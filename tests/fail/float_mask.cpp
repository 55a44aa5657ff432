// SPDX-License-Identifier: BSL-1.0
// In: a float tensor where a condition belongs: 0 and 1 as floats are a bias, not a mask.
// Out: one error.
// Next: ids_of_float.cpp.
// expect: where
#include <heed/heed.hpp>

namespace {

struct query : heed::axis<> {};
struct key : heed::axis<> {};

}  // namespace

int main() {
  const heed::tensor<float, query, key> scores{query{5}, key{7}}, mask{query{5}, key{7}};
#ifdef HEED_MISTAKE
  const auto masked = heed::where(mask, scores);
#else
  const auto masked = heed::where(mask > 0.5F, scores);
#endif
  (void)heed::evaluate(masked);
}
