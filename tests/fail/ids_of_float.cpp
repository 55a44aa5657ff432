// SPDX-License-Identifier: BSL-1.0
// In: a gather by floats.
// Out: one error, which asks for integers.
// Next: contraction_over_a_missing_axis.cpp, the first of them.
// expect: take
// expect: integer
#include <heed/heed.hpp>

namespace {

struct query : heed::axis<> {};
struct vocabulary : heed::axis<> {};
struct model : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, vocabulary, model> embedding{vocabulary{50}};
  const heed::tensor<float, query> ids{query{5}};
#ifdef HEED_MISTAKE
  const auto taken = heed::take<vocabulary>(embedding, ids);
#else
  const auto taken = heed::take<vocabulary>(embedding, heed::cast<int>(ids));
#endif
  (void)heed::evaluate(taken);
}
