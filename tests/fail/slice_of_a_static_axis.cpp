// SPDX-License-Identifier: BSL-1.0
// In: a slice of run-time bounds along an axis of static extent.
// Out: one error, which names the axis.
// Next: sink_with_another_axis.cpp.
// expect: slice
// expect: model
// expect(gcc): slice: axis model has the static extent 64
#include <heed/heed.hpp>

namespace {

struct query : heed::axis<> {};
struct model : heed::axis<64> {};
struct half_model : heed::axis<32> {};

}  // namespace

int main() {
  const heed::tensor<float, query, model> x{query{5}};
#ifdef HEED_MISTAKE
  const auto part = heed::slice<model>(x, 0, 32);
#else
  const auto part = heed::slice<model, half_model>(x, 0);
#endif
  (void)heed::evaluate(part);
}
