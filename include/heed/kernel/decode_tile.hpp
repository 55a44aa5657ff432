// SPDX-License-Identifier: BSL-1.0
// In: rows of keys or values as memory holds them (float, double, bf16, f16), a few query lanes that share them.
// Out: scores [lane][key], the softmax of such a tile, and weights times values: each row is read once for all lanes.
// Next to read: decode.hpp, which walks a cache with them.
//
// The vectors run along the depth of keys and the width of values, so nothing is packed. Every result has one order of
// summation, whatever tile it falls in: a score adds up the depth in each lane of a vector, then halves onto halves; a
// context adds up the keys of a block one by one; a sum of weights adds every width-th key, then halves onto halves.
#pragma once

#include "../loops.hpp"
#include "pack.hpp"
#include "rearrange.hpp"
#include "softmax_tile.hpp"
#include "upcoming.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace heed::kernel {
namespace loops = heed::detail::loops;
inline namespace HEED_ARCH {
namespace decode {

// Sums that a register tile holds: 4 keys x 4 lanes take 8 loads for 16 multiply-adds. More than 4 lanes take turns with a
// few rows that stay in the L1 cache: a tile of 2 keys x 8 lanes would load more, and be slower.
inline constexpr int sums = register_count == 32 ? 16 : 8;

/// Rows of a query tile for so many lanes; those beyond the lanes are zeros.
inline int padded_lanes(extent_t lanes) { return static_cast<int>(lanes % 4 == 3 ? lanes + 1 : lanes); }

/// f(lane, constant) for groups of 4, 2 or 1 lanes.
template <class F> HEED_INLINE void for_lane_groups(int lanes, F&& f) {
  int l = 0;
  for (; lanes - l >= 4; l += 4) f(l, std::integral_constant<int, 4>{});
  if (lanes - l >= 2) f(l, std::integral_constant<int, 2>{}), l += 2;
  if (lanes - l >= 1) f(l, std::integral_constant<int, 1>{});
}

/// Rows in memory.
template <class S> struct rows {
  S const* data = nullptr;
  extent_t step = 0;  // elements from one row to the next
  extent_t count = 0;
};

// ---- loading: a unit is what one load brings, as vectors of T
// A register of bf16 comes apart into its even and its odd elements by a shift and a mask, half of what widening each half
// in order costs. So depth and columns are taken in that order, and put right where they leave the registers.
template <class S> inline constexpr int unit = std::is_same_v<S, bf16> ? 2 : 1;

template <class T> HEED_INLINE void load_unit(T const* from, vector<T>* to) { to[0] = load(from); }
HEED_INLINE void load_unit(f16 const* from, vector<float>* to) { to[0] = kernel::detail::widen(from); }
HEED_INLINE void load_unit(bf16 const* from, vector<float>* to) {
  kernel::detail::raw<std::uint32_t, width<float>> pairs;
  std::memcpy(&pairs, from, sizeof pairs);
  to[0] = kernel::detail::from<float>(pairs << 16);
  to[1] = kernel::detail::from<float>(pairs & 0xffff0000U);
}
/// The first count elements, and zeros for the others, whose memory is not touched.
template <class S, class T> HEED_INLINE void load_unit(S const* from, int count, vector<T>* to) {
  if constexpr (std::is_same_v<S, T>) {
    to[0] = load_partial(from, count);
  } else {
#if defined(__AVX512BW__)
    __m512i const halves = _mm512_maskz_loadu_epi16(static_cast<__mmask32>((std::uint64_t{1} << count) - 1), from);
    load_unit(reinterpret_cast<S const*>(&halves), to);
#else
    S halves[unit<S> * width<T>] = {};
    for (int i = 0; i < count; ++i) halves[i] = from[i];
    load_unit(halves, to);
#endif
  }
}

namespace detail {

// The even lanes of two vectors, or the odd ones; and two vectors lane by lane, their lower halves or their upper ones.
template <class T, bool Odd> struct picked {
  static constexpr int lane(int l) { return 2 * l + (Odd ? 1 : 0); }
};
template <class T, bool High> struct woven {
  static constexpr int lane(int l) { return l / 2 + (High ? width<T> / 2 : 0) + l % 2 * width<T>; }
};

// Lane j of the result is the sum of all lanes of row j, halves onto halves as in reduce_add.
template <class T, int Rows = width<T>> HEED_INLINE void sum_rows(vector<T>* row) {
  if constexpr (Rows > 1) {
    constexpr int half = Rows / 2;
    using kernel::detail::exchanged;
    using kernel::detail::shuffled;
    HEED_UNROLL
    for (int i = 0; i < half; ++i)
      row[i] = shuffled<T, exchanged<T, half, false>>(row[i], row[i + half]) +
               shuffled<T, exchanged<T, half, true>>(row[i], row[i + half]);
    sum_rows<T, half>(row);
  }
}

// sum[l, i] += from[i][c ...] * query[l][c ...], one unit of the depth or, if Partial, its first `count` elements.
template <class T, class S, int Lanes, bool Partial>
HEED_INLINE void add_depth(S const* const* from, extent_t c, int count, T const* query, extent_t query_step,
                           vector<T>* sum) {
  constexpr int keys = sums / Lanes, vectors = unit<S>;
  auto const read = [&](int i, vector<T>* to) {
    if constexpr (Partial)
      load_unit(from[i] + c, count, to);
    else
      load_unit(from[i] + c, to);
  };
  if constexpr (Lanes <= keys) {  // the smaller side stays in registers
    vector<T> q[Lanes][vectors];
    HEED_UNROLL
    for (int l = 0; l < Lanes; ++l) {
      HEED_UNROLL
      for (int v = 0; v < vectors; ++v) q[l][v] = load(query + l * query_step + c + v * width<T>);
    }
    HEED_UNROLL
    for (int i = 0; i < keys; ++i) {
      vector<T> element[vectors];
      read(i, element);
      HEED_UNROLL
      for (int v = 0; v < vectors; ++v) {
        HEED_UNROLL
        for (int l = 0; l < Lanes; ++l) sum[l * keys + i] = kernel::fma(element[v], q[l][v], sum[l * keys + i]);
      }
    }
  } else {
    vector<T> element[keys][vectors];
    HEED_UNROLL
    for (int i = 0; i < keys; ++i) read(i, element[i]);
    HEED_UNROLL
    for (int v = 0; v < vectors; ++v) {
      HEED_UNROLL
      for (int l = 0; l < Lanes; ++l) {
        vector<T> const q = load(query + l * query_step + c + v * width<T>);
        HEED_UNROLL
        for (int i = 0; i < keys; ++i) sum[l * keys + i] = kernel::fma(element[i][v], q, sum[l * keys + i]);
      }
    }
  }
}

// scores[l][k] = sum over depth of key[k] * query[l], for Lanes lanes; keys beyond the last one repeat it.
template <class T, class S, int Lanes>
[[gnu::noinline]] void score_rows(rows<S> const& key, extent_t depth, T const* query, extent_t query_step, T* scores,
                                  extent_t score_step, upcoming& following, extent_t lines) {
  upcoming next = following;  // in registers
  constexpr int keys = sums / Lanes, lanes = width<T>, step = unit<S> * lanes;
  extent_t const whole = depth / step * step;
  int const rest = static_cast<int>(depth - whole);
  for (extent_t k = 0; k < key.count; k += keys) {
    S const* from[keys];
    HEED_UNROLL
    for (int i = 0; i < keys; ++i) from[i] = key.data + std::min(k + i, key.count - 1) * key.step;
    vector<T> sum[sums];
    HEED_UNROLL
    for (int i = 0; i < sums; ++i) sum[i] = zero<T>();
    for (extent_t c = 0; c < whole; c += step) {
      next.fetch<block_comes>(lines);
      add_depth<T, S, Lanes, false>(from, c, step, query, query_step, sum);
    }
    if (rest != 0) {
      next.fetch<block_comes>(lines);
      add_depth<T, S, Lanes, true>(from, whole, rest, query, query_step, sum);
    }
    alignas(64) T result[sums];
    HEED_UNROLL
    for (int g = 0; g < sums; g += lanes) {
      sum_rows<T>(sum + g);
      store(result + g, sum[g]);
    }
    HEED_UNROLL
    for (int l = 0; l < Lanes; ++l) std::memcpy(scores + l * score_step + k, result + l * keys, keys * sizeof(T));
  }
  following = next;
}

// out[l][c] = sum over keys of weights[l][k] * value[k][c], for Lanes lanes and up to Vectors vectors of columns.
template <class T, class S, int Lanes, int Vectors, bool Partial>
[[gnu::noinline]] void value_columns(rows<S> const& value, extent_t columns, T const* weights, extent_t weight_step,
                                     T* out, extent_t out_step, upcoming& following, extent_t lines) {
  upcoming next = following;  // in registers
  constexpr int lanes = width<T>, step = unit<S> * lanes;
  int count[Vectors];  // elements of each unit
  HEED_UNROLL
  for (int v = 0; v < Vectors; v += unit<S>)
    count[v] = static_cast<int>(std::clamp<extent_t>(columns - v * lanes, 0, step));
  vector<T> sum[Lanes][Vectors];
  HEED_UNROLL
  for (int l = 0; l < Lanes; ++l) {
    HEED_UNROLL
    for (int v = 0; v < Vectors; ++v) sum[l][v] = zero<T>();
  }
  S const* from = value.data;
  for (extent_t k = 0; k < value.count; ++k) {
    next.fetch<block_comes>(lines);
    vector<T> element[Vectors];
    HEED_UNROLL
    for (int v = 0; v < Vectors; v += unit<S>) {
      if constexpr (Partial)
        load_unit(from + v * lanes, count[v], element + v);
      else
        load_unit(from + v * lanes, element + v);
    }
    HEED_UNROLL
    for (int l = 0; l < Lanes; ++l) {
      vector<T> const w(weights[l * weight_step + k]);
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[l][v] = kernel::fma(w, element[v], sum[l][v]);
    }
    from += value.step;
  }
  following = next;
  HEED_UNROLL
  for (int l = 0; l < Lanes; ++l) {
    HEED_UNROLL
    for (int v = 0; v < Vectors; v += unit<S>) {
      if (Partial && count[v] == 0) break;
      T* const to = out + l * out_step + v * lanes;
      if constexpr (unit<S> == 2) {
        using kernel::detail::shuffled;
        store(to, shuffled<T, woven<T, false>>(sum[l][v], sum[l][v + 1]));
        store(to + lanes, shuffled<T, woven<T, true>>(sum[l][v], sum[l][v + 1]));
      } else {
        store(to, sum[l][v]);
      }
    }
  }
}

}  // namespace detail

/// scores[l][k] = sum over depth of key[k] * query[l]; a row of scores has room for keys up to a multiple of 16.
///   query: [lanes][depth, padded with zeros to whole units], lanes: of padded_lanes
template <class T, class S>
void score_tile(rows<S> const& key, extent_t depth, int lanes, T const* query, extent_t query_step, T* scores,
                extent_t score_step, upcoming& next) {
  constexpr extent_t step = unit<S> * width<T>;
  extent_t const at_once = lanes <= 4 ? std::max<extent_t>(key.count, 1) : 16;
  extent_t const turns = key.count * ((depth + step - 1) / step) * ((lanes + 3) / 4), all = next.lines();
  for (extent_t k = 0; k < key.count; k += at_once) {
    rows<S> const some{key.data + k * key.step, key.step, std::min(at_once, key.count - k)};
    for_lane_groups(lanes, [&](int l, auto n) {
      extent_t const lines = (all * (sums / n()) + turns - 1) / std::max<extent_t>(turns, 1);
      detail::score_rows<T, S, n()>(some, depth, query + l * query_step, query_step, scores + l * score_step + k,
                                    score_step, next, lines);
    });
  }
}

/// out[l][c] = sum over keys of weights[l][k] * value[k][c]; rows of out are whole units.
template <class T, class S>
void value_tile(rows<S> const& value, extent_t columns, int lanes, T const* weights, extent_t weight_step, T* out,
                extent_t out_step, upcoming& next) {
  extent_t const chunk = 4 * width<T>, turns = value.count * ((columns + chunk - 1) / chunk) * ((lanes + 3) / 4);
  extent_t const lines = (next.lines() + turns - 1) / std::max<extent_t>(turns, 1);
  for (extent_t c = 0, here; c < columns; c += here) {
    here = std::min(chunk, columns - c);
    for_lane_groups(lanes, [&](int l, auto n) {
      constexpr int widest = std::min(4, sums / n());
      auto const columns_of = [&]<int Vectors, bool Partial>(extent_t at, std::integral_constant<int, Vectors>,
                                                             std::bool_constant<Partial>) {
        rows<S> const part{value.data + c + at, value.step, value.count};
        detail::value_columns<T, S, n(), Vectors, Partial>(part, here - at, weights + l * weight_step, weight_step,
                                                           out + l * out_step + c + at, out_step, next, lines);
      };
      std::integral_constant<int, 2> const two;
      std::integral_constant<int, widest> const most;
      extent_t at = 0;
      for (; here - at >= widest * width<T>; at += widest * width<T>) columns_of(at, most, std::false_type{});
      if (widest == 4 && here - at > 2 * width<T>)
        columns_of(at, most, std::true_type{});
      else if (at < here)
        columns_of(at, two, std::true_type{});
    });
  }
}

/// The same for one lane and the kept keys alone: what the others hold, NaN or unwritten memory, is not looked at. Zero
/// times a finite value adds exactly nothing, so where all is finite the bits are those of value_tile.
template <class T, class S>
[[gnu::noinline]] void value_row_kept(rows<S> const& value, extent_t columns, T const* weights,
                                      std::uint64_t const* kept, T* out) {
  std::fill(out, out + (columns + width<T> - 1) / width<T> * width<T>, T(0));
  for (extent_t k = 0; k < value.count; ++k) {
    if (!(kept[k / width<T>] >> (k % width<T>)&1)) continue;
    vector<T> const w(weights[k]);
    for (extent_t c = 0; c < columns; c += width<T>) {  // a number at a time into the vector: this is not the fast way
      T element[width<T>] = {};
      for (extent_t i = 0; i < std::min<extent_t>(width<T>, columns - c); ++i)
        element[i] = static_cast<T>(value.data[k * value.step + c + i]);
      store(out + c, kernel::fma(w, load(element), load(out + c)));
    }
  }
}

/// The query as keys of type S meet it: where a unit is two vectors, the even elements before the odd ones.
///   query: [depth, padded to two vectors]
template <class S, class T> void order_query(T* query, extent_t depth) {
  if constexpr (unit<S> == 2)
    for (extent_t c = 0; c < depth; c += 2 * width<T>) {
      vector<T> const a = load(query + c), b = load(query + c + width<T>);
      store(query + c, kernel::detail::shuffled<T, detail::picked<T, false>>(a, b));
      store(query + c + width<T>, kernel::detail::shuffled<T, detail::picked<T, true>>(a, b));
    }
}

/// The loops over memory of one type, behind pointers: a formula compiles those for the types that its tensors hold.
template <class T> struct row_loops {
  void (*score)(rows<char> const& key, extent_t depth, int lanes, T const* query, extent_t query_step, T* scores,
                extent_t score_step, upcoming& next);
  void (*value)(rows<char> const& value, extent_t columns, int lanes, T const* weights, extent_t weight_step, T* out,
                extent_t out_step, upcoming& next);
  void (*value_kept)(rows<char> const& value, extent_t columns, T const* weights, std::uint64_t const* kept, T* out);
  void (*order)(T* query, extent_t depth);
};
namespace detail {
template <class S> rows<S> typed(rows<char> const& r) { return {reinterpret_cast<S const*>(r.data), r.step, r.count}; }
template <class T, class S>
inline constexpr row_loops<T> row_loops_of = {
    [](rows<char> const& key, extent_t depth, int lanes, T const* query, extent_t query_step, T* scores,
       extent_t score_step,
       upcoming& next) { score_tile<T, S>(typed<S>(key), depth, lanes, query, query_step, scores, score_step, next); },
    [](rows<char> const& value, extent_t columns, int lanes, T const* weights, extent_t weight_step, T* out,
       extent_t out_step, upcoming& next) {
      value_tile<T, S>(typed<S>(value), columns, lanes, weights, weight_step, out, out_step, next);
    },
    [](rows<char> const& value, extent_t columns, T const* weights, std::uint64_t const* kept, T* out) {
      value_row_kept<T, S>(typed<S>(value), columns, weights, kept, out);
    },
    [](T* query, extent_t depth) { order_query<S>(query, depth); }};
}  // namespace detail

/// A pointer to row_loops<T> for memory that holds S, or null where there are none.
template <class T, class S> constexpr void const* row_loops_for() {
  constexpr bool narrow = std::is_same_v<T, float> && (std::is_same_v<S, bf16> || std::is_same_v<S, f16>);
  if constexpr (std::is_same_v<T, S> || narrow)
    return &detail::row_loops_of<T, S>;
  else
    return nullptr;
}

// ---- a tile of scores [lanes][keys], whole vectors of keys, -infinity where excluded

/// softmax_tile with keys along the vectors, with the same meaning for what is excluded, infinite or NaN.
///   maximum, sum, rescale: [lanes, padded to whole vectors]
template <class T>
[[gnu::noinline]] void softmax_lanes(T* scores, extent_t step, int lanes, extent_t keys, T* maximum, T* sum,
                                     T* rescale) {
  constexpr int n = width<T>;
  constexpr int most = (loops::decode_lanes + n - 1) / n * n;
  alignas(64) T shift[most], base[most], residue[most], total[most] = {};
  std::fill(shift, shift + most, -infinity<T>);
  // 1. the new maximum; a NaN is left out: its weight will be NaN, and so will the sum
  for (int l = 0; l < lanes; ++l) {
    vector<T> largest(maximum[l]);
    for (extent_t k = 0; k < keys; k += n) largest = max(load(scores + l * step + k), largest);
    shift[l] = reduce_max(largest);
  }
  for (int l = 0; l < lanes; l += n) {
    vector<T> const largest = load(shift + l);
    auto const by = kernel::detail::fold_of<T>(largest);
    store(rescale + l, kernel::detail::moved<T>(load(maximum + l), by));
    store(maximum + l, largest);
    store(shift + l, by.shift);
    store(base + l, by.base);
    store(residue + l, by.residue);
  }
  // 2. the weights and their sums
  vector<T> const to_base_2(log2_e<T>);
  for (int l = 0; l < lanes; ++l) {
    bool const folded = std::abs(shift[l]) < largest_folded<T>;
    vector<T> const by(folded ? T(0) : shift[l]), term(folded ? -base[l] : residue[l]);
    vector<T> all = zero<T>();
    for (extent_t k = 0; k < keys; k += n) {
      vector<T> const p = exp2_weight(kernel::fma(load(scores + l * step + k) - by, to_base_2, term));
      store(scores + l * step + k, p);
      all = all + p;
    }
    total[l] = reduce_add(all);
  }
  for (int l = 0; l < lanes; l += n) store(sum + l, kernel::fma(load(sum + l), load(rescale + l), load(total + l)));
}

template <class T> void max_lanes(T const* scores, extent_t step, int lanes, extent_t keys, T* maximum) {
  for (int l = 0; l < lanes; ++l) {
    vector<T> largest(maximum[l]);
    for (extent_t k = 0; k < keys; k += width<T>) largest = max_propagating_nan(load(scores + l * step + k), largest);
    maximum[l] = reduce_max(largest);
  }
}

template <class T> void sum_lanes(T const* weights, extent_t step, int lanes, extent_t keys, T* sum) {
  for (int l = 0; l < lanes; ++l) {
    vector<T> all = zero<T>();
    for (extent_t k = 0; k < keys; k += width<T>) all = all + load(weights + l * step + k);
    sum[l] += reduce_add(all);
  }
}

}  // namespace decode
}  // namespace HEED_ARCH
}  // namespace heed::kernel
