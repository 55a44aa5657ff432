// SPDX-License-Identifier: BSL-1.0
// In: numbers in memory. Out: whether all of them are finite, which a mask has to know: 0 times a value behind an excluded key
// is 0 only then; or a load of them with 0 in the place of those that are not.
// Next to read: stream_block.hpp, which asks it of scores; ../run/choices.hpp, which asks it of an operand.
#pragma once

#include "tree.hpp"

#include <cstddef>

namespace heed::kernel {
inline namespace HEED_ARCH {

/// Of n numbers side by side. 0 times each is added up: NaN unless all are finite.
template <class T> [[gnu::noinline]] bool all_finite(T const* x, extent_t n) {
  constexpr int chains = 4;
  constexpr extent_t lanes = width<T>;
  vector<T> probe[chains];
  for (auto& p : probe) p = zero<T>();
  extent_t i = 0;
  for (; i + chains * lanes <= n; i += chains * lanes) {
    HEED_UNROLL
    for (int c = 0; c < chains; ++c) probe[c] = kernel::fma(load(x + i + c * lanes), zero<T>(), probe[c]);
  }
  for (; i + lanes <= n; i += lanes) probe[0] = kernel::fma(load(x + i), zero<T>(), probe[0]);
  if (i < n) probe[1] = kernel::fma(load_partial(x + i, static_cast<int>(n - i)), zero<T>(), probe[1]);
  return reduce_add((probe[0] + probe[1]) + (probe[2] + probe[3])) == T(0);
}

/// The same as run_plain, but 0 where that is NaN or infinity: a block_function that loads an operand.
template <class N, class Storage>
void run_finite(void const* node, loops::bound const* in, char* out, extent_t out_row, extent_t rows, extent_t lanes,
                double fill, std::uint64_t* kept) {
  kernel::run_plain<N, Storage>(node, in, out, out_row, rows, lanes, fill, kept);
  for (extent_t r = 0; r < rows; ++r) {
    auto* const row = reinterpret_cast<Storage*>(out + r * out_row);
    for (extent_t i = 0; i < lanes; ++i) row[i] = row[i] * Storage(0) == Storage(0) ? row[i] : Storage(0);
  }
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel
