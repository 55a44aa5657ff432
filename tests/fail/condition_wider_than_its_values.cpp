// SPDX-License-Identifier: BSL-1.0
// In: a mask with an axis that the masked values lack.
// Out: one error, which names that axis.
// Next: the mistakes beyond these nine, two_value_types.cpp first.
// expect: where: the condition has axes
// expect: batch
// expect(gcc): where: the condition has axes \(batch\) that the values lack
#include <heed/heed.hpp>

namespace {

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};

}  // namespace

int main() {
  const heed::tensor<float, query, key> scores{query{5}, key{7}};
  const heed::tensor<int, batch> length{batch{2}};
#ifdef HEED_MISTAKE
  const auto masked = heed::where(heed::index<key>() < length, scores);
#else
  const auto masked = heed::where(heed::index<key>() < length, heed::broadcast<batch>(scores, batch{2}));
#endif
  (void)heed::evaluate(masked);
}
