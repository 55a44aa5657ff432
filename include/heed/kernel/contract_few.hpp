// SPDX-License-Identifier: BSL-1.0
// In: a contraction with up to four rows and a large right operand whose columns lie side by side. Out: its result; what that
// costs is reading the right operand, so it is read as memory has it, some whole rows at a time, past sums in the L1 cache.
// Next to read: contract.hpp, all other contractions.
#pragma once

#include "contract_stage.hpp"
#include "parallel.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

inline constexpr extent_t most_rows_streamed = 4;

namespace detail {

// sum[i][j] += a[i][k] * b[k][j] for Depth rows of b, in ascending order; with First, sum is not read.
template <class T, int Rows, int Depth, bool First>
[[gnu::noinline]] void add_rows(T const* a, extent_t a_row, extent_t a_step, T const* b, extent_t b_row,
                                extent_t columns, T* sum, extent_t sum_row) {
  constexpr int lanes = width<T>;
  vector<T> factor[Rows][Depth];
  HEED_UNROLL
  for (int i = 0; i < Rows; ++i) {
    HEED_UNROLL
    for (int k = 0; k < Depth; ++k) factor[i][k] = broadcast(a[i * a_row + k * a_step]);
  }
  auto const one = [&](extent_t j, auto&& loaded) __attribute__((always_inline)) {
    vector<T> chain[Rows];
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) chain[i] = First ? zero<T>() : load(sum + i * sum_row + j);
    HEED_UNROLL
    for (int k = 0; k < Depth; ++k) {
      vector<T> const x = loaded(b + k * b_row + j);
      HEED_UNROLL
      for (int i = 0; i < Rows; ++i) chain[i] = kernel::fma(factor[i][k], x, chain[i]);
    }
    HEED_UNROLL
    for (int i = 0; i < Rows; ++i) store(sum + i * sum_row + j, chain[i]);
  };
  extent_t const whole = columns / lanes * lanes;
  for (extent_t j = 0; j < whole; j += lanes) {
    HEED_UNROLL
    for (int k = 0; k < Depth; ++k) __builtin_prefetch(b + (k + Depth) * b_row + j, 0, 2);
    one(j, [](T const* from) { return load(from); });
  }
  if (whole < columns) one(whole, [&](T const* from) { return load_partial(from, static_cast<int>(columns - whole)); });
}

}  // namespace detail

template <class T> struct streamed_rows {
  using stage = contract_stage<T>;

  /// Columns that one thread takes at once: their sums, and the sums of the depth_block at work, stay in the L1 cache.
  static extent_t strip(stage const& s, int threads) {
    extent_t const share = (s.n.size + threads - 1) / threads,
                   fits = loops::streamed_elements / std::max<extent_t>(1, s.m.size);
    return (std::max<extent_t>(1, std::min(share, fits)) + panel<T> - 1) / panel<T> * panel<T>;
  }
  static std::size_t scratch_bytes(stage const& s, int threads) {
    extent_t const columns = strip(s, threads);
    return 4096 + static_cast<std::size_t>(2 * s.m.size * columns) * sizeof(T) +
           contract_places<T>(s).scratch_bytes(s, s.m.size, s.k.size) + block_scratch(*s.epilogue, s.m.size, columns);
  }

  template <int Rows>
  static void stream(T const* a, extent_t a_row, extent_t a_step, extent_t depth, T const* b, extent_t b_row,
                     extent_t columns, T* sum, T* chain, extent_t row) {
    constexpr int step = Rows == 1 ? 8 : 4;
    for (extent_t d = 0; d < depth; d += loops::depth_block) {
      extent_t const here = std::min(loops::depth_block, depth - d);
      T* const to = d == 0 ? sum : chain;
      extent_t k = 0;
      auto const add = [&]<int Depth>(std::integral_constant<int, Depth>) {
        for (; here - k >= Depth; k += Depth) {
          T const* const from = a + (d + k) * a_step;
          if (k == 0)
            detail::add_rows<T, Rows, Depth, true>(from, a_row, a_step, b + (d + k) * b_row, b_row, columns, to, row);
          else
            detail::add_rows<T, Rows, Depth, false>(from, a_row, a_step, b + (d + k) * b_row, b_row, columns, to, row);
        }
      };
      add(std::integral_constant<int, step>{});
      add(std::integral_constant<int, 1>{});
      if (d == 0) continue;
      for (extent_t i = 0; i < Rows; ++i)
        for (extent_t j = 0; j < columns; j += width<T>)
          store(sum + i * row + j, load(sum + i * row + j) + load(chain + i * row + j));
    }
  }

  static void run(stage const& s, contract_places<T> const& at, int threads, team& t, scratch const& memory) {
    extent_t const width_of_strip = strip(s, threads), strips = (s.n.size + width_of_strip - 1) / width_of_strip;
    t.share(s.batch.size * strips, [&](extent_t job) {
      scratch local = memory;
      extent_t origin[loops::max_rank] = {};
      s.batch.locate(job / strips, origin);
      extent_t const from = job % strips * width_of_strip, columns = std::min(width_of_strip, s.n.size - from);
      auto const left = at.left_block(s, origin, 0, s.m.size, 0, s.k.size, local);
      T const* const b = at.right_data(s, origin) + from;
      T* const sum = local.take_as<T>(s.m.size * width_of_strip);
      T* const chain = local.take_as<T>(s.m.size * width_of_strip);
      if (s.k.size == 0) std::fill(sum, sum + s.m.size * width_of_strip, T(0));
      auto const go = [&]<int Rows>(std::integral_constant<int, Rows>) {
        stream<Rows>(left.data, left.row, left.step, s.k.size, b, at.right_step, columns, sum, chain, width_of_strip);
      };
      switch (s.m.size) {
        case 1: go(std::integral_constant<int, 1>{}); break;
        case 2: go(std::integral_constant<int, 2>{}); break;
        case 3: go(std::integral_constant<int, 3>{}); break;
        default: go(std::integral_constant<int, 4>{});
      }
      loops::bound const slots[4] = {
          {reinterpret_cast<char const*>(sum), width_of_strip * static_cast<extent_t>(sizeof(T)), sizeof(T)}};
      block const whole{origin, &s.m, 0, s.m.size, &s.n, from, columns};
      run_block(*s.epilogue, whole, slots, s.target, local, s.masked, s.fill);
    });
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
