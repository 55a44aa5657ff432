// SPDX-License-Identifier: BSL-1.0
// In: a square weight with one axis twice.
// Out: one error, which says that it takes two tags.
// Next: another_order_expected.cpp.
// expect: an axis occurs twice
// expect: model
// expect(gcc): an axis occurs twice in \(model, model\) \(a square weight takes two tags\)
#include <heed/heed.hpp>

namespace {

struct model : heed::axis<64> {};
struct model_out : heed::axis<64> {};

}  // namespace

int main() {
#ifdef HEED_MISTAKE
  const heed::tensor<float, model, model> w;
#else
  const heed::tensor<float, model, model_out> w;
#endif
  (void)w;
}
