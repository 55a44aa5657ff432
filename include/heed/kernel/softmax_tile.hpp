// SPDX-License-Identifier: BSL-1.0
// In: a tile of scores [keys][lanes], one query a lane, excluded entries -infinity; the running maximum and sum.
// Out: the tile turned into weights, the statistics brought up to date, and the factor for what was summed before.
// Next: parallel.hpp, how tiles are dealt out to threads.
#pragma once

#include "simd.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

namespace detail {

// The softmax of Vectors columns of vectors, with rows `row` elements apart.
//   maximum, sum, rescale: [Vectors * width]
// NaN needs no care in the maximum: a NaN score makes a NaN weight, and that makes the sum NaN.
template <class T, int Vectors>
[[gnu::noinline]] void softmax_columns(T* scores, extent_t row, extent_t keys, T* maximum, T* sum, T* rescale) {
  constexpr int lanes = width<T>;

  // 1. The new maximum. Two chains a column hide the latency of max.
  vector<T> shift[Vectors];
  {
    vector<T> even[Vectors];
    vector<T> odd[Vectors];
    HEED_UNROLL
    for (int v = 0; v < Vectors; ++v) even[v] = odd[v] = load(maximum + v * lanes);
    const T* from = scores;
    extent_t k = keys;
    for (; k >= 2; k -= 2) {
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        even[v] = max(load(from + v * lanes), even[v]);
        odd[v] = max(load(from + row + v * lanes), odd[v]);
      }
      from += 2 * row;
    }
    if (k != 0) {
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) even[v] = max(load(from + v * lanes), even[v]);
    }
    HEED_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      const vector<T> largest = max(odd[v], even[v]);
      // Where nothing was kept yet, -infinity less itself would be NaN; less zero, it becomes the weight 0.
      shift[v] = select(largest == vector<T>(-infinity<T>), zero<T>(), largest);
      const vector<T> moved = load(maximum + v * lanes) - shift[v];
      store(rescale + v * lanes, exp2_flushed(moved * vector<T>(log2_e<T>)));
      store(maximum + v * lanes, largest);
    }
  }

  // 2. The weights and their sums. The maximum is subtracted before the scaling by log2 e: folded into one
  // multiply-add, its rounding error would grow with the maximum, and scores of 200000 would lose their fraction.
  const vector<T> to_base_2(log2_e<T>);
  vector<T> even[Vectors];
  vector<T> odd[Vectors];
  HEED_UNROLL
  for (int v = 0; v < Vectors; ++v) even[v] = odd[v] = zero<T>();
  extent_t k = keys;
  for (; k >= 2; k -= 2) {
    HEED_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      const vector<T> p = exp2_flushed((load(scores + v * lanes) - shift[v]) * to_base_2);
      store(scores + v * lanes, p);
      even[v] = even[v] + p;
    }
    HEED_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      const vector<T> p = exp2_flushed((load(scores + row + v * lanes) - shift[v]) * to_base_2);
      store(scores + row + v * lanes, p);
      odd[v] = odd[v] + p;
    }
    scores += 2 * row;
  }
  if (k != 0) {
    HEED_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      const vector<T> p = exp2_flushed((load(scores + v * lanes) - shift[v]) * to_base_2);
      store(scores + v * lanes, p);
      even[v] = even[v] + p;
    }
  }
  HEED_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    const vector<T> before = load(sum + v * lanes);
    store(sum + v * lanes, kernel::fma(before, load(rescale + v * lanes), even[v] + odd[v]));
  }
}

template <class T> [[gnu::noinline]] void max_column(const T* scores, extent_t row, extent_t keys, T* maximum) {
  vector<T> largest = load(maximum);
  for (extent_t k = 0; k < keys; ++k) largest = max_propagating_nan(load(scores + k * row), largest);
  store(maximum, largest);
}

template <class T> [[gnu::noinline]] void sum_column(const T* weights, extent_t row, extent_t keys, T* sum) {
  vector<T> even = zero<T>();
  vector<T> odd = zero<T>();
  extent_t k = 0;
  for (; k + 2 <= keys; k += 2) {
    even = even + load(weights + k * row);
    odd = odd + load(weights + (k + 1) * row);
  }
  if (k < keys) even = even + load(weights + k * row);
  store(sum, load(sum) + (even + odd));
}

// A tile without keys may be null, and null must not be moved.
template <class T> T* lane(T* tile, int l, extent_t keys) { return keys > 0 ? tile + l : tile; }

}  // namespace detail

// The online softmax of a tile. For each lane, with m the larger of maximum and the scores of the tile:
//   rescale = exp(maximum - m);  scores = exp(scores - m);  sum = sum * rescale + the new scores;  maximum = m
//   scores: [keys][lanes], -infinity where excluded;  maximum, sum, rescale: [lanes];  lanes: a multiple of width<T>
// rescale is exactly 1 where the maximum did not move. A lane of which nothing is kept yet has weights 0, sum 0 and
// maximum -infinity (the start values); its rescale is 0, and so has to be what it scales. A NaN or +infinity among
// the scores makes the sum NaN. Keys are summed in one order, even and odd ones apart, so that excluded keys behind
// the last kept one do not change a bit.
template <class T> void softmax_tile(T* scores, int lanes, extent_t keys, T* maximum, T* sum, T* rescale) {
  constexpr int vectors = register_count == 32 ? 4 : 2;
  constexpr int step = vectors * width<T>;
  int l = 0;
  for (; l + step <= lanes; l += step) {
    detail::softmax_columns<T, vectors>(detail::lane(scores, l, keys), lanes, keys, maximum + l, sum + l, rescale + l);
  }
  for (; l < lanes; l += width<T>) {
    detail::softmax_columns<T, 1>(detail::lane(scores, l, keys), lanes, keys, maximum + l, sum + l, rescale + l);
  }
}

// maximum = the larger of maximum and the scores of each lane; NaN if any of them is NaN.
template <class T> void max_tile(const T* scores, int lanes, extent_t keys, T* maximum) {
  for (int l = 0; l < lanes; l += width<T>) {
    detail::max_column<T>(detail::lane(scores, l, keys), lanes, keys, maximum + l);
  }
}

// sum = sum + the weights of each lane, in the order of softmax_tile.
template <class T> void sum_tile(const T* weights, int lanes, extent_t keys, T* sum) {
  for (int l = 0; l < lanes; l += width<T>) {
    detail::sum_column<T>(detail::lane(weights, l, keys), lanes, keys, sum + l);
  }
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel
