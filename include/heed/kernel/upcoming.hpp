// SPDX-License-Identifier: BSL-1.0
// In: rows in memory. Out: their cache lines, asked for a few at a time, before they are needed.
// Next to read: multiply.hpp and decode_tile.hpp, which compute meanwhile.
#pragma once

#include "simd.hpp"

#include <algorithm>

namespace heed::kernel {
inline namespace HEED_ARCH {

/// How near lines are fetched, as __builtin_prefetch counts: to the L2 cache, unless told otherwise. A block of keys or values
/// that is read once is best taken to the L1 cache at once by AMD's Zen: on Zen 5 a cache of them, with one thread or two, streams
/// 1.07 to 1.14 times as fast.
inline constexpr int to_l2 = 2;
#if defined(__znver1__) || defined(__znver2__) || defined(__znver3__) || defined(__znver4__) || defined(__znver5__)
inline constexpr int block_comes = 3;
#else
inline constexpr int block_comes = to_l2;
#endif

/// Rows that are needed next: fetched into the cache a few lines at a time while others are computed with. Evenly, and in
/// the order of memory: a burst would take the buffers from the loads, and the processor reads ahead of what goes in order.
struct upcoming {
  char const* data = nullptr;
  extent_t step = 0, bytes = 0, count = 0;  // from one row to the next, of a row, rows
  extent_t column = 0;                      // where the next line is in the row
  extent_t pace = 8;                        // lines for each stretch of a product

  upcoming() = default;
  upcoming(char const* first, extent_t row, extent_t row_bytes, extent_t rows)
      : data(first),
        step(row),
        bytes(row_bytes),
        count(rows) {
    if (step == bytes) bytes *= count, count = std::min<extent_t>(count, 1);  // one long row
  }
  extent_t lines() const { return count * ((bytes + 63) / 64); }
  /// The pace at which all of it is there after so many stretches.
  void spread_over(extent_t stretches) { pace = lines() / std::max<extent_t>(1, stretches) + 1; }
  template <int How = to_l2> HEED_INLINE void fetch(extent_t how_many) {
    for (; how_many > 0 && count > 0; --how_many) {
      __builtin_prefetch(data + column, 0, How);
      column += 64;
      if (column >= bytes) column = 0, data += step, --count;
    }
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
