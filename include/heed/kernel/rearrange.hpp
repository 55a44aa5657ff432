// SPDX-License-Identifier: BSL-1.0
// In: a block of a matrix as memory has it. Out: the block transposed, or in panels as multiply_tile reads them.
// Next: softmax_tile.hpp.
#pragma once

#include "multiply.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace heed::kernel {
inline namespace HEED_ARCH {

namespace detail {

// A shuffle of two vectors is a function from the lane of the result to the lane of (a, b), b counted on from width.
// Interleaving works within groups of 16 bytes, where every instruction set has it: a0 b0 a1 b1 of each lower half, or
// of each upper half.
template <class T, bool High> struct interleaved {
  static constexpr int group = 16 / static_cast<int>(sizeof(T));
  static constexpr int lane(int l) {
    const int within = l % group;
    return l - within + within / 2 + (High ? group / 2 : 0) + (within % 2) * width<T>;
  }
};

// Exchanging swaps every second piece of Step lanes of a with the piece before it of b.
template <class T, int Step, bool High> struct exchanged {
  static constexpr int lane(int l) {
    return (l & Step) == 0 ? l + (High ? Step : 0) : l + width<T> - (High ? 0 : Step);
  }
};

template <class T, class Shuffle, std::size_t... Lane>
HEED_INLINE vector<T> shuffled(vector<T> a, vector<T> b, std::index_sequence<Lane...>) {
  const typename vector<T>::register_type left = a;
  const typename vector<T>::register_type right = b;
  return vector<T>(__builtin_shufflevector(left, right, Shuffle::lane(static_cast<int>(Lane))...));
}

template <class T, class Shuffle> HEED_INLINE vector<T> shuffled(vector<T> a, vector<T> b) {
  return shuffled<T, Shuffle>(a, b, std::make_index_sequence<vector<T>::size>{});
}

template <class T, int Step, int Limit = width<T>> HEED_INLINE void exchange_pieces(vector<T> (&row)[width<T>]) {
  if constexpr (Step < Limit) {
    HEED_UNROLL
    for (int i = 0; i < width<T>; ++i) {
      if ((i & Step) != 0) continue;
      const vector<T> a = row[i];
      const vector<T> b = row[i + Step];
      row[i] = shuffled<T, exchanged<T, Step, false>>(a, b);
      row[i + Step] = shuffled<T, exchanged<T, Step, true>>(a, b);
    }
    exchange_pieces<T, 2 * Step, Limit>(row);
  }
}

// Transposes the squares of one group a side.
template <class T> HEED_INLINE void transpose_groups(vector<T> (&row)[width<T>]) {
  constexpr int group = 16 / static_cast<int>(sizeof(T));
  HEED_UNROLL
  for (int first = 0; first < width<T>; first += group) {
    HEED_UNROLL
    for (int pass = 1; pass < group; pass *= 2) {
      vector<T> next[group];
      HEED_UNROLL
      for (int i = 0; i < group / 2; ++i) {
        const vector<T> a = row[first + i];
        const vector<T> b = row[first + i + group / 2];
        next[2 * i] = shuffled<T, interleaved<T, false>>(a, b);
        next[2 * i + 1] = shuffled<T, interleaved<T, true>>(a, b);
      }
      HEED_UNROLL
      for (int i = 0; i < group; ++i) row[first + i] = next[i];
    }
  }
}

// Transposes width x width elements in registers: first the squares of one group a side, then the groups.
template <class T> HEED_INLINE void transpose_registers(vector<T> (&row)[width<T>]) {
  transpose_groups<T>(row);
  exchange_pieces<T, 16 / static_cast<int>(sizeof(T))>(row);
}

// The halves of two vectors in memory, `apart` elements apart, as one: an insertion that reads memory takes no port from the
// shuffles.
template <class T> HEED_INLINE vector<T> load_halves(const T* p, [[maybe_unused]] extent_t apart) {
#if defined(__AVX512F__)
  // forms with a mask: g++ 12 takes what the others leave open for a variable never set
  const __m512d lower = _mm512_maskz_broadcast_f64x4(0xFF, _mm256_loadu_pd(reinterpret_cast<const double*>(p)));
  const __m256d upper = _mm256_loadu_pd(reinterpret_cast<const double*>(p + apart));
  return vector<T>(
      __builtin_bit_cast(typename vector<T>::register_type, _mm512_mask_insertf64x4(lower, 0xFF, lower, upper, 1)));
#else
  return load(p);
#endif
}

// Transposes width x width elements on their way from memory.
template <class T> HEED_INLINE void load_transposed(const T* from, extent_t in_row, vector<T> (&row)[width<T>]) {
  if constexpr (sizeof(vector<T>) == 64) {
    constexpr int half = width<T> / 2;
    HEED_UNROLL
    for (int i = 0; i < half; ++i) {
      row[i] = load_halves<T>(from + i * in_row, half * in_row);
      row[i + half] = load_halves<T>(from + i * in_row + half, half * in_row);
    }
    transpose_groups<T>(row);
    exchange_pieces<T, 16 / static_cast<int>(sizeof(T)), half>(row);
  } else {
    HEED_UNROLL
    for (int i = 0; i < width<T>; ++i) row[i] = load(from + i * in_row);
    transpose_registers<T>(row);
  }
}

}  // namespace detail

// out[c * out_row + r] = in[r * in_row + c] * scale for r < rows, and 0 for rows <= r < padded_rows; c < columns.
template <class T>
[[gnu::noinline]] void transpose_block(const T* in, extent_t in_row, extent_t rows, extent_t columns, T* out,
                                       extent_t out_row, extent_t padded_rows, T scale) {
  constexpr int lanes = width<T>;
  const vector<T> factor(scale);
  for (extent_t r = 0; r < padded_rows; r += lanes) {
    const extent_t filled = rows - r;
    const auto kept = static_cast<int>(std::min<extent_t>(lanes, padded_rows - r));
    for (extent_t c = 0; c < columns; c += lanes) {
      const auto taken = static_cast<int>(std::min<extent_t>(lanes, columns - c));
      const T* from = filled > 0 ? in + r * in_row + c : in;
      T* to = out + c * out_row + r;
      vector<T> row[lanes];
      if (taken == lanes && kept == lanes && filled >= lanes) {
        detail::load_transposed<T>(from, in_row, row);
        if (scale != T(1)) {
          HEED_UNROLL
          for (int i = 0; i < lanes; ++i) row[i] = row[i] * factor;
        }
        HEED_UNROLL
        for (int i = 0; i < lanes; ++i) store(to + i * out_row, row[i]);
        continue;
      }
      if (taken == lanes) {
        HEED_UNROLL
        for (int i = 0; i < lanes; ++i) row[i] = i < filled ? load(from + i * in_row) * factor : zero<T>();
      } else {
        HEED_UNROLL
        for (int i = 0; i < lanes; ++i) {
          row[i] = i < filled ? load_partial(from + i * in_row, taken) * factor : zero<T>();
        }
      }
      detail::transpose_registers<T>(row);
      if (taken == lanes && kept == lanes) {
        HEED_UNROLL
        for (int i = 0; i < lanes; ++i) store(to + i * out_row, row[i]);
      } else {
        HEED_UNROLL
        for (int i = 0; i < lanes; ++i) {
          if (i < taken) store_partial(to + i * out_row, row[i], kept);
        }
      }
    }
  }
}

/// Bytes transposed: out[r][l] = in[l * in_row + r], for l < rows_in and r < columns; the rest of an output row up to `padded`
/// is zero. By tiles of 16 x 16 whose halves are interleaved four times.
[[gnu::noinline]] inline void transpose_bytes(char const* in, extent_t in_row, extent_t rows_in, extent_t columns,
                                              char* out, extent_t padded) {
  typedef signed char bytes __attribute__((vector_size(16)));
  constexpr int n = 16;
  for (extent_t l = 0; l < padded; l += n)
    for (extent_t r = 0; r < columns; r += n) {
      if (l + n > rows_in || r + n > columns) {
        for (extent_t j = r; j < std::min(r + n, columns); ++j)
          for (extent_t i = l; i < std::min(l + n, padded); ++i)
            out[j * padded + i] = i < rows_in ? in[i * in_row + j] : 0;
        continue;
      }
      bytes row[n], next[n];
      for (int i = 0; i < n; ++i) std::memcpy(&row[i], in + (l + i) * in_row + r, n);
      HEED_UNROLL
      for (int stage = 0; stage < 4; ++stage) {
        HEED_UNROLL
        for (int i = 0; i < n / 2; ++i) {
          next[2 * i] =
              __builtin_shufflevector(row[i], row[i + n / 2], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
          next[2 * i + 1] = __builtin_shufflevector(row[i], row[i + n / 2], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                    29, 14, 30, 15, 31);
        }
        HEED_UNROLL
        for (int i = 0; i < n; ++i) row[i] = next[i];
      }
      for (int i = 0; i < n; ++i) std::memcpy(out + (r + i) * padded + l, &row[i], n);
    }
}

// out[k * panel<T> + j] = b[k * k_step + j * n_step] for j < columns, and 0 for the other columns of the panel.
template <class T>
[[gnu::noinline]] void pack_panel(const T* b, extent_t k_step, extent_t n_step, extent_t depth, extent_t columns,
                                  T* out) {
  constexpr int lanes = width<T>;
  if (columns == 0) {
    std::fill(out, out + depth * panel<T>, T(0));
  } else if (n_step == 1) {
    const extent_t whole = columns / lanes * lanes;
    for (extent_t k = 0; k < depth; ++k) {
      const T* from = b + k * k_step;
      T* to = out + k * panel<T>;
      extent_t j = 0;
      for (; j < whole; j += lanes) store(to + j, load(from + j));
      if (j < columns) {
        store(to + j, load_partial(from + j, static_cast<int>(columns - j)));
        j += lanes;
      }
      for (; j < panel<T>; j += lanes) store(to + j, zero<T>());
    }
  } else if (k_step == 1) {
    transpose_block(b, n_step, columns, depth, out, panel<T>, panel<T>, T(1));
  } else {
    for (extent_t k = 0; k < depth; ++k) {
      T* to = out + k * panel<T>;
      for (extent_t j = 0; j < columns; ++j) to[j] = b[k * k_step + j * n_step];
      std::fill(to + columns, to + panel<T>, T(0));
    }
  }
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel
