// SPDX-License-Identifier: BSL-1.0
// In: a number of threads, a number of bytes. Out: what the machine can do: multiply-adds in registers, bytes read, bytes copied
// a second. Every benchmark measures it in its own process, between its own runs: machines drift, shares drift less.
// Next: measure.hpp, which compares formulas with it, or tiles.cpp.
#pragma once

#include <heed/kernel/parallel.hpp>
#include <heed/kernel/simd.hpp>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace bench {

using heed::kernel::width;

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The clock for so many threads. One thread's is the time that it ran: another program that takes its core now and then does
// not count. Several threads wait for each other, so theirs is the time on the wall.
inline double now(int threads) {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  if (threads == 1) {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
#endif
  return now();
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

// The same on several threads at once: what they reach together, the best of a few rounds each.
inline double multiply_add_peak(int threads) {
  std::vector<double> best(static_cast<std::size_t>(threads));
  heed::kernel::run_team(threads, [&](auto& team) {
    double& mine = best[static_cast<std::size_t>(team.thread)];
    for (int round = 0; round < 5; ++round) mine = std::max(mine, peak_round<float>());
  });
  double total = 0;
  for (double const each : best) total += each;
  return total;
}

[[gnu::noinline]] inline float read_sum(float const* from, std::ptrdiff_t count) {
  using heed::kernel::vector;
  constexpr int chains = 8;
  vector<float> sum[chains];
  HEED_UNROLL
  for (int i = 0; i < chains; ++i) sum[i] = heed::kernel::zero<float>();
  for (std::ptrdiff_t at = 0; at + chains * width<float> <= count; at += chains * width<float>) {
    HEED_UNROLL
    for (int i = 0; i < chains; ++i) sum[i] += heed::kernel::load(from + at + i * width<float>);
  }
  float total = 0;
  HEED_UNROLL
  for (int i = 0; i < chains; ++i) total += heed::kernel::reduce_add(sum[i]);
  return total;
}
[[gnu::noinline]] inline void copy_floats(float const* from, float* to, std::ptrdiff_t count) {
  for (std::ptrdiff_t at = 0; at + 4 * width<float> <= count; at += 4 * width<float>) {
    HEED_UNROLL
    for (int i = 0; i < 4; ++i)
      heed::kernel::store(to + at + i * width<float>, heed::kernel::load(from + at + i * width<float>));
  }
}

// Bytes a second that `threads` threads read or copy, each its own part of a buffer. The buffer is walked once before the clock
// starts: it is measured where its size lets it rest (a cache, or memory), like operands that a benchmark uses again and again.
class stream_of_bytes {
  std::vector<float> from_, to_;

  template <class Part> static double rate(std::ptrdiff_t count, int threads, int repeats, Part part) {
    auto const all = [&] {
      heed::kernel::run_team(threads, [&](auto& team) {
        std::ptrdiff_t const first = count * team.thread / threads / 16 * 16;
        part(first, count * (team.thread + 1) / threads / 16 * 16 - first);
      });
    };
    all();
    double const start = now(threads);
    for (int i = 0; i < repeats; ++i) all();
    return static_cast<double>(count) * sizeof(float) * repeats / (now(threads) - start);
  }
  static std::ptrdiff_t floats(double bytes) { return static_cast<std::ptrdiff_t>(bytes / sizeof(float)); }
  static void grow(std::vector<float>& buffer, std::ptrdiff_t count) {
    if (std::ssize(buffer) < count) buffer.assign(static_cast<std::size_t>(count), 1);
  }
  static int enough(double bytes) { return std::max(1, static_cast<int>(8e6 / bytes)); }

 public:
  double read(double bytes, int threads) {
    grow(from_, floats(bytes));
    return rate(floats(bytes), threads, enough(bytes), [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      if (read_sum(from_.data() + first, count) < 0) std::puts("");
    });
  }
  // Counts each byte once, though it is read and written.
  double copy(double bytes, int threads) {
    grow(from_, floats(bytes));
    grow(to_, floats(bytes));
    return rate(floats(bytes), threads, enough(bytes), [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      copy_floats(from_.data() + first, to_.data() + first, count);
    });
  }
};

}  // namespace bench
