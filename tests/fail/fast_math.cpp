// SPDX-License-Identifier: BSL-1.0
// In: -ffast-math, by the macro that it sets. Masks and empty rows rest on infinity and NaN.
// Out: one error.
// Next: float_mask.cpp.
// expect: -ffast-math would let the compiler forget NaN and infinity
#ifdef HEED_MISTAKE
#define __FAST_MATH__ 1
#endif
#include <heed/heed.hpp>

int main() {
  const heed::tensor<float> one;
  (void)heed::evaluate(one + 1);
}
