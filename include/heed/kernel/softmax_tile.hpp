// SPDX-License-Identifier: BSL-1.0
// In: a tile of scores [keys][lanes], one query a lane, excluded entries -infinity; the running maximum and sum.
// Out: the tile turned into weights, the statistics brought up to date, and the factor for what was summed before.
// Next: parallel.hpp, how tiles are dealt out to threads.
#pragma once

#include "subnormals.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

// The weights of a lane are 2^(score * log2 e - base) with base = m * log2 e, rounded: one multiply-add a score. The
// rounding of base is the same for every key of the lane, so it cancels where the weights are divided by their sum.
// What has to be known about it (by whoever compares two maxima, or takes the logarithm of the sum) is the residue
// m * log2 e - base, which is exact: a weight is exp(score - m) * 2^residue.
// From 2^20 on the residue could grow beyond the exponents; there the maximum is subtracted first, and the residue is 0. So it
// is everywhere without an instruction that rounds once: the error of the product would not cancel.
template <class T> inline constexpr T largest_folded = fused_multiply_add ? T(1048576) : T(0);

namespace detail {

template <class T> struct fold {
  vector<T> shift, base, residue;  // shift: the maximum, or 0 where nothing was kept yet
};
template <class T> HEED_INLINE fold<T> fold_of(vector<T> maximum) {
  // Where nothing was kept yet, -infinity less itself would be NaN; less zero, it becomes the weight 0.
  const vector<T> shift = select(maximum == vector<T>(-infinity<T>), zero<T>(), maximum);
  const vector<T> base = shift * vector<T>(log2_e<T>);
  const vector<T> size = max(shift, zero<T>() - shift);
  const vector<T> exact = kernel::fma(shift, vector<T>(log2_e<T>), zero<T>() - base);
  return {shift, base, select(size < vector<T>(largest_folded<T>), exact, zero<T>())};
}
// exp of the way from one maximum to another, in terms of the weights that were taken under each: exactly 1 where
// nothing moved, 0 where nothing was kept before.
template <class T> HEED_INLINE vector<T> moved(vector<T> before, fold<T> const& now) {
  const fold<T> old = fold_of<T>(before);
  const vector<T> way = (before - now.shift) * vector<T>(log2_e<T>);
  return exp2_flushed(way + (now.residue - old.residue));
}

// The weights of two chains a column; `Folded` says which of the two ways.
template <class T, int Vectors, bool Folded>
HEED_INLINE void weigh(T* scores, extent_t row, extent_t keys, const fold<T> (&by)[Vectors], vector<T> (&even)[Vectors],
                       vector<T> (&odd)[Vectors]) {
  constexpr int lanes = width<T>;
  const vector<T> to_base_2(log2_e<T>);
  vector<T> shift[Vectors], term[Vectors];
  HEED_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    even[v] = odd[v] = zero<T>();
    shift[v] = by[v].shift;
    term[v] = Folded ? zero<T>() - by[v].base : by[v].residue;
  }
  const auto one_row = [&](T* from, vector<T>(&sum)[Vectors]) {
    HEED_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      const vector<T> s = load(from + v * lanes);
      const vector<T> p = exp2_weight(kernel::fma(Folded ? s : s - shift[v], to_base_2, term[v]));
      store(from + v * lanes, p);
      sum[v] = sum[v] + p;
    }
  };
  extent_t k = keys;
  for (; k >= 2; k -= 2) {
    one_row(scores, even);
    one_row(scores + row, odd);
    scores += 2 * row;
  }
  if (k != 0) one_row(scores, even);
}

// The softmax of Vectors columns of vectors, with rows `row` elements apart.
//   maximum, sum, rescale: [Vectors * width]
// NaN needs no care in the maximum: a NaN score makes a NaN weight, and that makes the sum NaN.
template <class T, int Vectors>
[[gnu::noinline]] void softmax_columns(T* scores, extent_t row, extent_t keys, T* maximum, T* sum, T* rescale) {
  constexpr int lanes = width<T>;
  vector<T> even[Vectors];
  vector<T> odd[Vectors];

  // 1. The new maximum. Two chains a column hide the latency of max.
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
  fold<T> by[Vectors];
  vector<T> size = zero<T>();
  HEED_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    const vector<T> largest = max(odd[v], even[v]);
    by[v] = fold_of<T>(largest);
    size = max(size, max(by[v].shift, zero<T>() - by[v].shift));
    store(rescale + v * lanes, moved<T>(load(maximum + v * lanes), by[v]));
    store(maximum + v * lanes, largest);
  }

  // 2. The weights and their sums.
  if (reduce_max(size) < largest_folded<T>)
    weigh<T, Vectors, true>(scores, row, keys, by, even, odd);
  else
    weigh<T, Vectors, false>(scores, row, keys, by, even, odd);
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

// The online softmax of a tile, inside a subnormals_off. For each lane, with m the larger of maximum and the scores of the
// tile, and weights that are exp(score - m) but for a factor 2^residue of the lane, close to 1:
//   rescale = exp(maximum - m);  scores = weights;  sum = sum * rescale + the weights;  maximum = m
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

// What the weights under these maxima carry beside exp(score - maximum): a factor 2^residue.
template <class T> HEED_INLINE vector<T> softmax_residue(const T* maximum) {
  return detail::fold_of<T>(load(maximum)).residue;
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
