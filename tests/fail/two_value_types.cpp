// SPDX-License-Identifier: BSL-1.0
// In: a float tensor and a double tensor in one sum.
// Out: one error, which says how to cast.
// Next: renamed_to_another_extent.cpp.
// expect: cast
// expect: float.*double
// expect(gcc): left is float and right is double \(say cast<float>
#include <heed/heed.hpp>

namespace {

struct key : heed::axis<> {};

}  // namespace

int main() {
  const heed::tensor<float, key> a{key{5}};
  const heed::tensor<double, key> b{key{5}};
#ifdef HEED_MISTAKE
  const auto total = a + b;
#else
  const auto total = heed::cast<double>(a) + b;
#endif
  (void)heed::evaluate(total);
}
