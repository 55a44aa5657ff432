// SPDX-License-Identifier: BSL-1.0
// In: a contraction with up to some twenty rows and a large right operand whose columns lie side by side. Out: its result; what
// that costs is reading the right operand, so it is read as memory has it, some whole rows at a time, past sums in the L1 cache.
// Next to read: contract.hpp, all other contractions.
#pragma once

#include "contract_stage.hpp"
#include "parallel.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

// Rows up to which that is faster than tiles: where the right operand comes from afar, and where it is small.
inline constexpr extent_t most_rows_streamed = 24, most_rows_in_cache = 4;

namespace detail {

// sum[i][j] += a[i][k] * b[k][j] for Depth rows of b, in ascending order. Meanwhile Fetch rows from `next` on are asked for.
template <class T, int Rows, int Depth, int Fetch>
[[gnu::noinline]] void add_rows(T const* a, extent_t a_row, extent_t a_step, T const* b, extent_t b_row,
                                extent_t columns, T* sum, extent_t sum_row, [[maybe_unused]] T const* next) {
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
    for (int i = 0; i < Rows; ++i) chain[i] = load(sum + i * sum_row + j);
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
    for (int k = 0; k < Fetch; ++k) __builtin_prefetch(next + k * b_row + j);
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

  /// Four rows of b for all rows of a, four at a time (five are three and two), b in the L1 cache after the first. The rows of
  /// b that follow are asked for evenly: more requests at once than the core has buffers for would hold up its loads.
  static void add_four(T const* a, extent_t a_row, extent_t a_step, extent_t rows, T const* b, extent_t b_row,
                       extent_t columns, T* sum, extent_t row) {
    T const* next = b + 4 * b_row;
    auto const add = [&]<int Rows, int Fetch>(std::integral_constant<int, Rows>, std::integral_constant<int, Fetch>) {
      detail::add_rows<T, Rows, 4, Fetch>(a, a_row, a_step, b, b_row, columns, sum, row, next);
      a += Rows * a_row, sum += Rows * row, rows -= Rows, next += Fetch * b_row;
    };
    constexpr std::integral_constant<int, 0> none{};
    constexpr std::integral_constant<int, 1> one{};
    constexpr std::integral_constant<int, 2> two{};
    constexpr std::integral_constant<int, 3> three{};
    constexpr std::integral_constant<int, 4> four{};
    extent_t const fours = rows == 5 ? 0 : rows % 4 == 1 ? rows / 4 - 1 : rows / 4;
    for (extent_t i = 0; i < fours; ++i) {
      if (fours == 1)
        add(four, four);
      else if (fours <= 3 && i < 2)
        add(four, two);
      else if (fours > 3 && i < 4)
        add(four, one);
      else
        add(four, none);
    }
    if (fours == 0 && rows == 2)
      add(two, four);
    else if (fours == 0)
      add(three, four);
    if (rows == 5 || rows == 3) add(three, none);
    if (rows == 2) add(two, none);
  }
  /// One row of b for all rows of a.
  static void add_one(T const* a, extent_t a_row, extent_t rows, T const* b, extent_t columns, T* sum, extent_t row) {
    for (extent_t i = 0; i < rows; ++i)
      detail::add_rows<T, 1, 1, 0>(a + i * a_row, a_row, 1, b, 0, columns, sum + i * row, row, b);
  }

  /// sum = a . b for one strip; `chain` has room for the sums of one depth_block.
  static void stream(T const* a, extent_t a_row, extent_t a_step, extent_t rows, extent_t depth, T const* b,
                     extent_t b_row, extent_t columns, T* sum, T* chain, extent_t row) {
    std::fill(sum, sum + rows * row, T(0));
    for (extent_t d = 0; d < depth; d += loops::depth_block) {
      extent_t const here = std::min(loops::depth_block, depth - d);
      T* const to = d == 0 ? sum : chain;
      if (d > 0) std::fill(chain, chain + rows * row, T(0));
      T const* left = a + d * a_step;
      T const* right = b + d * b_row;
      extent_t k = here;
      if (rows == 1) {
        for (; k >= 8; k -= 8, left += 8 * a_step, right += 8 * b_row)
          detail::add_rows<T, 1, 8, 8>(left, a_row, a_step, right, b_row, columns, to, row, right + 8 * b_row);
      } else {
        for (; k >= 4; k -= 4, left += 4 * a_step, right += 4 * b_row)
          add_four(left, a_row, a_step, rows, right, b_row, columns, to, row);
      }
      for (; k > 0; --k, left += a_step, right += b_row) add_one(left, a_row, rows, right, columns, to, row);
      if (d == 0) continue;
      for (extent_t i = 0; i < rows; ++i)
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
      stream(left.data, left.row, left.step, s.m.size, s.k.size, b, at.right_step, columns, sum, chain, width_of_strip);
      loops::bound const slots[4] = {
          {reinterpret_cast<char const*>(sum), width_of_strip * static_cast<extent_t>(sizeof(T)), sizeof(T)}};
      block const whole{origin, &s.m, 0, s.m.size, &s.n, from, columns};
      run_block(*s.epilogue, whole, slots, s.target, local, s.masked, s.fill);
    });
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
