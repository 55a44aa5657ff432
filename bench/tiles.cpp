// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: the speed of each tile kernel on warm data, as a share of the multiply-add peak that the same
// process measures in registers right before and after it. Machines drift: the best of many short rounds counts.
// Next: include/heed/kernel/multiply.hpp, whose shapes these numbers chose.
#include "peak.hpp"
#include <heed/kernel/multiply.hpp>
#include <heed/kernel/rearrange.hpp>
#include <heed/kernel/simd.hpp>
#include <heed/kernel/softmax_tile.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

using heed::kernel::extent_t;
using heed::kernel::start;
using heed::kernel::width;

template <class T> struct aligned {
  T* data;
  explicit aligned(extent_t n)
      : data(static_cast<T*>(::operator new (static_cast<std::size_t>(n) * sizeof(T), std::align_val_t{64}))) {
    for (extent_t i = 0; i < n; ++i) data[i] = static_cast<T>((i * 7919 + 13) % 1001) / T(500) - T(1);
  }
  aligned(const aligned&) = delete;
  aligned& operator=(const aligned&) = delete;
  ~aligned() { ::operator delete (data, std::align_val_t{64}); }
};

template <class T, class Work> void report(const char* name, double operations, Work work) {
  work();
  double best = 0;
  double peak = 0;
  for (int round = 0; round < 60; ++round) {
    peak = std::max(peak, bench::peak_round<T>());
    constexpr int repeats = 20;
    const double from = bench::now();
    for (int i = 0; i < repeats; ++i) work();
    best = std::max(best, operations * repeats / (bench::now() - from));
  }
  std::printf("  %-42s %7.1f of %7.1f G/s  %5.1f %%\n", name, best * 1e-9, peak * 1e-9, 100 * best / peak);
}

template <class T>
void product(const char* name, extent_t rows, extent_t columns, extent_t depth, bool transposed, start how,
             bool padded) {
  aligned<T> a(rows * depth), b(depth * columns), c(rows * columns), scale(rows);
  std::fill(scale.data, scale.data + rows, T(0.5));
  const extent_t a_row = transposed ? 1 : depth;
  const extent_t a_step = transposed ? rows : 1;
  report<T>(name, 2. * static_cast<double>(rows * columns * depth), [&] {
    heed::kernel::multiply_tile<T>(a.data, a_row, a_step, b.data, columns, rows, columns, depth, c.data, columns, how,
                                   scale.data, padded);
  });
}

template <class T> void all(const char* type) {
  std::printf("%s, %d lanes, %d registers\n", type, width<T>, heed::kernel::register_count);
  product<T>("scores: 96 keys x 64 lanes x 64", 96, 64, 64, false, start::zero, true);
  product<T>("context: 64 queries x 64 x 96 keys", 64, 64, 96, true, start::rescale, false);
  product<T>("context: 100 queries x 64 x 100 keys", 100, 64, 100, true, start::zero, false);
  product<T>("context: 64 queries x 72 x 96 keys", 64, 72, 96, true, start::rescale, false);
  product<T>("context: 64 queries x 40 x 96 keys", 64, 40, 96, true, start::rescale, false);
  {
    constexpr extent_t rows = 96, columns = 64, depth = 256;
    constexpr extent_t panel = heed::kernel::panel<T>;
    constexpr extent_t panels = (columns + panel - 1) / panel;
    aligned<T> a(rows * depth), b(depth * columns), packed(depth * panel * panels), c(rows * columns);
    for (extent_t p = 0; p < panels; ++p) {
      heed::kernel::pack_panel<T>(b.data + p * panel, columns, 1, depth, std::min(panel, columns - p * panel),
                                  packed.data + p * panel * depth);
    }
    report<T>("gemm: 96 x 64 x 256, packed", 2. * rows * columns * depth, [&] {
      for (extent_t p = 0; p < panels; ++p) {
        heed::kernel::multiply_tile<T>(a.data, depth, 1, packed.data + p * panel * depth, panel, rows,
                                       std::min(panel, columns - p * panel), depth, c.data + p * panel, columns,
                                       start::add, nullptr, true);
      }
    });
    report<T>("pack 256 x panel, rows (elements)", double(depth * panel),
              [&] { heed::kernel::pack_panel<T>(b.data, columns, 1, depth, std::min(panel, columns), packed.data); });
    report<T>("pack 256 x panel, columns (elements)", double(depth * panel),
              [&] { heed::kernel::pack_panel<T>(a.data, 1, depth, depth, std::min(panel, rows), packed.data); });
  }
  {
    constexpr extent_t keys = 96, lanes = 64;
    aligned<T> scores(keys * lanes), saved(keys * lanes);
    aligned<T> maximum(lanes), sum(lanes), rescale(lanes);
    // The copy is part of the time: without it, the scores would be weights already.
    report<T>("softmax: 96 keys x 64 lanes (elements)", double(keys * lanes), [&] {
      std::copy(saved.data, saved.data + keys * lanes, scores.data);
      heed::kernel::softmax_tile<T>(scores.data, lanes, keys, maximum.data, sum.data, rescale.data);
    });
    report<T>("copy of the same (elements)", double(keys * lanes), [&] {
      std::copy(saved.data, saved.data + keys * lanes, scores.data);
      asm volatile("" : : "r"(scores.data) : "memory");
    });
  }
}

}  // namespace

int main() {
  all<float>("float");
  all<double>("double");
}
