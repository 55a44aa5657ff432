// SPDX-License-Identifier: BSL-1.0
// In: two matrices by pointer and stride, in place, or one of them packed in panels.
// Out: their product, a register tile at a time.
// Next: rearrange.hpp, which packs; softmax_tile.hpp, what happens between the two products of attention.
#pragma once

#include "simd.hpp"
#include "upcoming.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace heed::kernel {

// What a product does with what its destination holds: forgets it, adds to it, or multiplies it by a factor per row and
// goes on from there (the context of attention, when the running maximum has moved). `scaled` forgets it and multiplies
// the product by the factor of its row (the context where all keys are one block). `streaming` forgets it as well and stores past
// the caches: c and its rows are aligned to 64 bytes, and whole vectors of columns.
enum class start { zero, add, rescale, scaled, streaming };

inline namespace HEED_ARCH {

// ---- the shape of the register tile ----

// Accumulators fill about three quarters of the registers: 24 of 32, or 12 of 16. Eight independent chains would hide
// the latency of the multiply-add; the wide tile is there to load less: 6 x 4 loads ten vectors for 24 multiply-adds.
inline constexpr int tile_vectors = register_count == 32 ? 4 : 2;
template <int Vectors>
inline constexpr int tile_rows = Vectors > 1 || register_count < 32 ? (register_count == 32 ? 24 : 12) / Vectors : 16;

// The columns of a packed panel: those of the widest tile.
template <class T> inline constexpr int panel = tile_vectors* width<T>;

namespace detail {

// What the register tiles of one product have in common.
template <class T> struct product {
  extent_t a_row, a_step;
  extent_t b_row;
  extent_t depth;
  extent_t c_row;
  start how;
  int loaded;                // lanes of the last vector that b has
  int stored;                // lanes of the last vector that c has
  upcoming* next = nullptr;  // what the tallest tiles fetch meanwhile
  T* packed = nullptr;       // where the first of the tallest tiles packs b
};

inline constexpr extent_t fetch_stretch = 8;  // of the depth, after which the next lines are fetched

// What a tile does beside its product: nothing, fetch `next`, or fetch it and pack b.
enum class beside { nothing, fetch, pack };

// Some instruction sets load part of a vector as fast as a whole one; the others have a body of their own for it.
#if defined(__AVX512F__)
inline constexpr bool partial_loads_are_free = true;
#else
inline constexpr bool partial_loads_are_free = false;
#endif

// c[Rows][Vectors * width] = start + a[Rows][depth] . b[depth][Vectors * width], with the last vector partial.
// Every element is one chain of multiply-adds over ascending depth, so its bits do not depend on the tile it falls in.
template <class T, int Rows, int Vectors, bool Partial, beside Beside = beside::nothing>
[[gnu::noinline]] void multiply_registers(const product<T>& p, const T* a, const T* b, T* c, const T* scale) {
  constexpr int lanes = width<T>;
  constexpr int last = Vectors - 1;
  const extent_t a_row = p.a_row;
  const extent_t a_step = p.a_step;
  const extent_t b_row = p.b_row;
  const extent_t c_row = p.c_row;
  const int loaded = p.loaded;
  const int stored = p.stored;
  [[maybe_unused]] T* packed = p.packed;

  vector<T> sum[Rows][Vectors];
  constexpr bool scales = Beside != beside::pack;
  if (scales && p.how == start::rescale) {
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const vector<T> factor(scale[i]);
      HEED_UNROLL
      for (int v = 0; v < last; ++v) sum[i][v] = load(c + i * c_row + v * lanes) * factor;
      sum[i][last] = load_partial(c + i * c_row + last * lanes, stored) * factor;
    }
  } else {
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) {
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[i][v] = zero<T>();
    }
  }
  if (p.how == start::add) {  // what is added to may have left the cache; the product gives it time to come back
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) {
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) __builtin_prefetch(c + i * c_row + v * lanes, 1);
    }
  }

  const auto step = [&](extent_t at) __attribute__((always_inline)) {
    const T* const a_here = a + at * a_step;
    const T* const b_here = b + at * b_row;
    vector<T> columns[Vectors];
    HEED_UNROLL
    for (int v = 0; v < last; ++v) columns[v] = load(b_here + v * lanes);
    if constexpr (Partial) {
      columns[last] = load_partial(b_here + last * lanes, loaded);
    } else {
      columns[last] = load(b_here + last * lanes);
    }
    if constexpr (Beside == beside::pack) {
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) store(packed + v * lanes, columns[v]);
      packed += Vectors * lanes;
    }
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const vector<T> element(a_here[i * a_row]);
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[i][v] = kernel::fma(element, columns[v], sum[i][v]);
    }
  };
  const auto steps = [&](extent_t many) __attribute__((always_inline)) {
    if constexpr (register_count == 32 && Rows == tile_rows<tile_vectors> && Vectors == tile_vectors) {
      for (; many >= 2; many -= 2) {  // for panels that come from the L2 cache; 16 registers do not hold two steps
        step(0), step(1);
        a += 2 * a_step;
        b += 2 * b_row;
      }
    }
    for (; many > 0; --many) {
      step(0);
      a += a_step;
      b += b_row;
    }
  };
  if constexpr (Beside != beside::nothing) {  // between short stretches: within them it would cost registers
    constexpr extent_t stretch = fetch_stretch;
    for (extent_t k = 0; k < p.depth; k += stretch) {
      p.next->fetch(p.next->pace);
      steps(std::min(stretch, p.depth - k));
    }
  } else {
    steps(p.depth);
  }

  if (p.how == start::add) {
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) {
      HEED_UNROLL
      for (int v = 0; v < last; ++v) sum[i][v] = load(c + i * c_row + v * lanes) + sum[i][v];
      sum[i][last] = load_partial(c + i * c_row + last * lanes, stored) + sum[i][last];
    }
  }
  if (scales && p.how == start::scaled) {
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const vector<T> factor(scale[i]);
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[i][v] = sum[i][v] * factor;
    }
  }
  if (p.how == start::streaming) {
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) {
      HEED_UNROLL
      for (int v = 0; v < Vectors; ++v) store_streaming(c + i * c_row + v * lanes, sum[i][v]);
    }
    return;
  }
  HEED_UNROLL
  for (int i = 0; i < Rows; ++i) {
    HEED_UNROLL
    for (int v = 0; v < last; ++v) store(c + i * c_row + v * lanes, sum[i][v]);
    if (stored == lanes) {
      store(c + i * c_row + last * lanes, sum[i][last]);
    } else {
      store_partial(c + i * c_row + last * lanes, sum[i][last], stored);
    }
  }
}

// All rows of one panel of columns: the tallest tiles first, then 8 (of a single vector), 4, 2 and 1.
template <class T, int Vectors, bool Partial>
void multiply_panel(const product<T>& p, const T* a, const T* b, extent_t rows, T* c, const T* scale) {
  const auto one = [&]<int Rows, beside Beside>(std::integral_constant<int, Rows>,
                                                std::integral_constant<beside, Beside>) {
    multiply_registers<T, Rows, Vectors, Partial, Beside>(p, a, b, c, scale);
    a += Rows * p.a_row;
    c += Rows * p.c_row;
    if (p.how == start::rescale || p.how == start::scaled) scale += Rows;
  };
  const auto tiles = [&]<int Rows>(std::integral_constant<int, Rows> height) {
    for (; rows >= Rows; rows -= Rows) one(height, std::integral_constant<beside, beside::nothing>{});
  };
  constexpr std::integral_constant<int, tile_rows<Vectors>> tallest{};
  if constexpr (Vectors == tile_vectors) {
    for (; p.next != nullptr && rows >= tallest; rows -= tallest)
      one(tallest, std::integral_constant<beside, beside::fetch>{});
  }
  tiles(tallest);
  if constexpr (Vectors == 1) tiles(std::integral_constant<int, 8>{});
  tiles(std::integral_constant<int, 4>{});
  tiles(std::integral_constant<int, 2>{});
  tiles(std::integral_constant<int, 1>{});
}

}  // namespace detail

// The stretches of the depth that the tall tiles of so many rows go through; before each, lines are fetched.
inline extent_t tall_stretches(extent_t rows, extent_t depth) {
  return rows / tile_rows<tile_vectors> * ((depth + detail::fetch_stretch - 1) / detail::fetch_stretch);
}

// c[i, j] = start + sum over k < depth of a[i, k] * b[k, j], for i < rows and j < columns.
//   a[i, k] is a[i * a_row + k * a_step]: either stride may be 1, for A in place or transposed.
//   b[k, j] is b[k * b_row + j]; b_padded says that its rows can be read up to a multiple of width<T>.
//   c[i, j] is c[i * c_row + j]; nothing beyond `columns` is written or, unless padded, read.
//   scale[i] is the factor of row i for start::rescale and start::scaled, and not read otherwise.
//   next is fetched meanwhile, as far as tall tiles give it time; not with those two.
template <class T>
void multiply_tile(const T* a, extent_t a_row, extent_t a_step, const T* b, extent_t b_row, extent_t rows,
                   extent_t columns, extent_t depth, T* c, extent_t c_row, start how, const T* scale, bool b_padded,
                   upcoming* next = nullptr) {
  constexpr int lanes = width<T>;
  if (depth == 0) a_row = a_step = b_row = 0;  // a and b may be null then, and null must not be moved
  for (extent_t j = 0; j < columns; j += panel<T>) {
    const T* b_here = depth == 0 ? b : b + j;
    const auto here = static_cast<int>(std::min<extent_t>(panel<T>, columns - j));
    const int vectors = (here + lanes - 1) / lanes;
    const int stored = here - (vectors - 1) * lanes;
    const int loaded = b_padded ? lanes : stored;
    const detail::product<T> p{a_row, a_step, b_row, depth, c_row, how, loaded, stored, next};
    const bool partial = detail::partial_loads_are_free || loaded < lanes;
    if (vectors == tile_vectors && !partial) {
      if constexpr (!detail::partial_loads_are_free) {
        detail::multiply_panel<T, tile_vectors, false>(p, a, b_here, rows, c + j, scale);
      }
    } else if (vectors == tile_vectors) {
      detail::multiply_panel<T, tile_vectors, true>(p, a, b_here, rows, c + j, scale);
    } else if (vectors == 1) {
      detail::multiply_panel<T, 1, true>(p, a, b_here, rows, c + j, scale);
    } else if constexpr (tile_vectors == 4) {
      if (vectors == 2) {
        detail::multiply_panel<T, 2, true>(p, a, b_here, rows, c + j, scale);
      } else {
        detail::multiply_panel<T, 3, true>(p, a, b_here, rows, c + j, scale);
      }
    }
  }
}

// The same for one whole panel of columns and at least one tall tile of rows, from a b that is read a single time: the first
// tile packs it into `packed`, [depth][panel], from where the others read it.
template <class T>
void multiply_and_pack(const T* a, extent_t a_row, extent_t a_step, const T* b, extent_t b_row, T* packed,
                       extent_t rows, extent_t depth, T* c, extent_t c_row, start how, upcoming& next) {
  constexpr int height = tile_rows<tile_vectors>;
  constexpr bool partial = detail::partial_loads_are_free;
  detail::product<T> p{a_row, a_step, b_row, depth, c_row, how, width<T>, width<T>, &next, packed};
  detail::multiply_registers<T, height, tile_vectors, partial, detail::beside::pack>(p, a, b, c, nullptr);
  p.b_row = panel<T>;
  detail::multiply_panel<T, tile_vectors, partial>(p, a + height * a_row, packed, rows - height, c + height * c_row,
                                                   nullptr);
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel
