// SPDX-License-Identifier: BSL-1.0
// In: two operands of a contraction, of which one lies beside its keep-set or both do. Out: whether 0 in the place of what is
// excluded is enough; where it is not, what the kept products that are not finite add to a sum over all that is finite.
// Next to read: ../runner.hpp, which comes here only where something is not finite.
#pragma once

#include "../kernel/finite.hpp"
#include "../kernel/parallel.hpp"
#include "choices.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace heed::detail {
inline namespace HEED_ARCH {

template <class SA, class N> bool keeps(N const& n, extent_t const* coordinates) {
  if constexpr (plan::is_zeroed_leaf<N>)
    return static_cast<bool>(plan::value_here<SA>(n.keep, coordinates));
  else
    return true;
}
/// Whether an operand holds neither NaN nor infinity, read once, in the order of memory.
template <class S>
[[gnu::noinline]] bool all_finite(S const* data, extent_t const* extents, extent_t const* strides, int rank,
                                  int threads) {
  int order[loops::max_rank] = {}, count = 0;  // the axes that matter, the innermost first
  for (int i = 0; i < rank; ++i) {
    if (extents[i] == 0) return true;
    if (extents[i] == 1 || strides[i] == 0) continue;
    int at = count++;
    for (; at > 0 && strides[order[at - 1]] > strides[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  extent_t run = 1;
  int inner = 0;
  for (; inner < count && strides[order[inner]] == run; ++inner) run *= extents[order[inner]];
  loops::group outer;
  for (int i = count; i-- > inner;) outer.add(order[i], extents[order[i]]);

  // jobs: several short runs, or a piece of a long one
  constexpr extent_t piece = 16384;
  extent_t const pieces = (run + piece - 1) / piece, together = std::max<extent_t>(1, piece / run);
  extent_t const jobs = (outer.size + together - 1) / together * pieces;
  std::atomic<bool> found{false};
  kernel::run_team(jobs < 4 ? 1 : kernel::team_size(threads), [&](kernel::team& t) {
    t.share(jobs, [&](extent_t job) {
      extent_t const first = job / pieces * together, from = job % pieces * piece, n = std::min(piece, run - from);
      for (extent_t i = first; i < std::min(first + together, outer.size); ++i) {
        if (found.load(std::memory_order_relaxed)) return;
        S const* const p = data + outer.offset(i, strides) + from;
        bool finite = true;
        if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
          finite = kernel::all_finite(p, n);
        } else {
          value_of_t<S> sum = 0;
          for (extent_t j = 0; j < n; ++j) sum += static_cast<value_of_t<S>>(p[j]) * value_of_t<S>(0);
          finite = sum == value_of_t<S>(0);
        }
        if (!finite) found.store(true, std::memory_order_relaxed);
      }
    });
  });
  return !found;
}
template <class T, class... A> bool all_finite(leaf<T, axes<A...>> const& l, int threads) {
  return detail::all_finite<std::remove_const_t<T>>(l.data, l.extents, l.strides, sizeof...(A), threads);
}
/// A contraction whose axes are numbered by the stage's: out [batch, m, n], contracted over k.
struct product_axes {
  loops::group batch, m, n, k;
};
/// out += left * right, where both keep and one of the two is not finite. `found` [batch, k] is written first: the places along
/// the depth where something is not finite.
template <class SA, class L, class R, class V, class A>
void add_kept(L const& left, R const& right, product_axes const& at, bool* found, leaf<V, A> const& out, int threads) {
  auto const& l = plan::values_of(left);
  auto const& r = plan::values_of(right);
  bool const look_left = !detail::all_finite(l, threads), look_right = !detail::all_finite(r, threads);
  auto const finite = [](auto const& x, loops::group const& along, extent_t const* c) {
    auto const all = target_strides<SA>(x);
    extent_t strides[loops::max_rank] = {};
    for (int i = 0; i < along.count; ++i) strides[i] = all[static_cast<std::size_t>(along.axis[i])];
    return detail::all_finite(x.data + kernel::offset_at(c, all.data()), along.extent, strides, along.count, 1);
  };
  auto const to = target_strides<SA>(out);
  kernel::run_team(kernel::team_size(threads), [&](kernel::team& t) {
    constexpr extent_t together = 16;
    t.share(
        at.batch.size * at.k.size,
        [&](extent_t i) {
          extent_t c[loops::max_rank] = {};
          at.batch.locate(i / at.k.size, c), at.k.locate(i % at.k.size, c);
          found[i] = (look_left && !finite(l, at.m, c)) || (look_right && !finite(r, at.n, c));
        },
        together);
    t.share(at.batch.size * at.m.size, [&](extent_t i) {
      extent_t c[loops::max_rank] = {};
      at.batch.locate(i / at.m.size, c), at.m.locate(i % at.m.size, c);
      bool const* const here = found + i / at.m.size * at.k.size;
      for (extent_t d = 0; d < at.k.size; ++d) {
        void const* const next = std::memchr(here + d, 1, static_cast<std::size_t>(at.k.size - d));
        if (!next) break;
        d = static_cast<bool const*>(next) - here;
        at.k.locate(d, c);
        if (!detail::keeps<SA>(left, c)) continue;
        V const x = plan::value_here<SA>(l, c);
        if (!look_right && std::isfinite(x)) continue;
        for (extent_t j = 0; j < at.n.size; ++j) {
          at.n.locate(j, c);
          V const y = plan::value_here<SA>(r, c);
          if ((std::isfinite(x) && std::isfinite(y)) || !detail::keeps<SA>(right, c)) continue;
          out.data[kernel::offset_at(c, to.data())] += x * y;
        }
      }
    });
  });
}

}  // namespace HEED_ARCH
}  // namespace heed::detail
