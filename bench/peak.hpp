// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: the clock, and the multiply-add peak of one core, which every benchmark measures in its own process: machines
// drift, shares drift less.
// Next: tiles.cpp and attention.cpp.
#pragma once

#include <heed/kernel/simd.hpp>

#include <chrono>
#include <cstdio>

namespace bench {

using heed::kernel::width;

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Multiply-adds in registers only: twelve chains, more than latency times ports, each from another value (equal ones
// would be merged).
template <class T> [[gnu::noinline]] double peak_round() {
  using heed::kernel::vector;
  vector<T> sum[12];
  HEED_UNROLL
  for (int i = 0; i < 12; ++i) sum[i] = vector<T>(T(0.1) * T(i));
  const vector<T> factor(T(0.999));
  const vector<T> term(T(0.001));
  constexpr int steps = 20000;
  const double from = now();
  for (int n = 0; n < steps; ++n) {
    HEED_UNROLL
    for (int i = 0; i < 12; ++i) sum[i] = heed::kernel::fma(sum[i], factor, term);
  }
  const double seconds = now() - from;
  T total = 0;
  HEED_UNROLL
  for (int i = 0; i < 12; ++i) total += heed::kernel::reduce_add(sum[i]);
  if (total == T(12345)) std::puts("");
  return 2. * 12. * width<T> * steps / seconds;
}

}  // namespace bench
