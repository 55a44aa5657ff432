// SPDX-License-Identifier: BSL-1.0
// In: an operand of a stage that is still to come. Out: what only its values say: whether a term excludes anything, whether ids lie
// within their table. Stages that wait run before their results are looked at.
// Next to read: ../runner.hpp, the stages.
#pragma once

#include "../plan/hint.hpp"
#include "../plan/interval.hpp"
#include "state.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace heed::detail {
inline namespace HEED_ARCH {

/// A run that looks at values before it plans with them.
class run_checks : public run_state {
 public:
  using run_state::run_state;

  /// True where the term has the excluding value nowhere, as far as a look at it may cost.
  template <bool ByTile, class Tree, class Shape>
  bool never_excludes(Tree const& tree, Shape const& shape, double excluded) {
    if constexpr (is_leaf_node<Tree>) {
      if (group_.writes(tree.data)) flush();
    } else
      flush();
    if (dry_) return true;
    if (rehearses_) return false;
    using SA = typename Tree::axes_type;
    extent_t low[SA::rank + 1] = {}, high[SA::rank + 1] = {};
    for_each_axis(SA{}, [&]<class A>(type_tag<A>) { high[index_of<A, SA>] = plan::extent_of<A>(tree, shape); });
    if constexpr (is_leaf_node<Tree>) {
      return !leaf_has(tree, excluded, ByTile);
    } else {
      plan::interval const b = plan::bound_of<SA, Tree>::go(tree, low, high);
      return b.low > excluded || b.high < excluded;
    }
  }
  /// std::out_of_range unless every id lies within the table's axis.
  template <class A, class Ids, class Shape> void check_ids(Ids const& ids, extent_t extent, Shape const& shape) {
    flush();
    if (dry_ || (rehearses_ && reads_results(ids))) return;
    using SA = typename Ids::axes_type;
    loops::group g;
    extent_t low[SA::rank + 1] = {}, high[SA::rank + 1] = {};
    for_each_axis(SA{}, [&]<class X>(type_tag<X>) {
      extent_t const n = plan::extent_of<X>(ids, shape);
      high[index_of<X, SA>] = n;
      g.add(index_of<X, SA>, n);
    });
    if (g.size == 0) return;
    plan::interval const b = plan::bound_of<SA, Ids>::go(ids, low, high);
    if (b.low >= 0 && b.high < static_cast<double>(extent)) return;
    extent_t at[loops::max_rank] = {};
    for (extent_t i = 0; i < g.size; ++i) {
      g.locate(i, at);
      std::int64_t const id = plan::value_here<SA>(ids, at);
      if (id < 0 || id >= extent)
        throw std::out_of_range("take: id " + std::to_string(id) + " lies outside axis " + detail::axis_name<A>() +
                                " of extent " + std::to_string(extent));
    }
  }

 private:
  template <class T, class... A> static bool leaf_has(leaf<T, axes<A...>> const& l, double excluded, bool by_tile) {
    loops::group g;
    for (int i = 0; i < static_cast<int>(sizeof...(A)); ++i) g.add(i, l.extents[i]);
    if (g.size == 0) return false;
    if (by_tile && g.size > loops::scan_limit) return true;
    using V = value_of_t<T>;
    extent_t const run = g.count ? g.extent[g.count - 1] : 1, step = g.count ? l.strides[g.count - 1] : 0;
    plan::extremes<V> seen;
    for (extent_t i = 0; i < g.size; i += run) {
      T const* p = l.data + g.offset(i, l.strides);
      if constexpr (std::is_same_v<std::remove_const_t<T>, V>)
        seen.look(p, run, step);
      else
        for (extent_t j = 0; j < run; ++j) seen.add(static_cast<V>(p[j * step]));
    }
    seen.finish();
    return static_cast<double>(seen.smallest) == excluded ||
           static_cast<double>(seen.largest) == excluded;  // an infinity
  }
  /// Whether a tree reads what this run computes: a stored result, or a destination.
  template <class Tree> bool reads_results(Tree const& tree) const {
    bool found = false;
    detail::for_each_leaf(tree, [&](auto const& l) {
      memory_range const range = detail::range_of(l);
      found |= memory_.holds(l.data);
      for (int i = 0; i < destination_count_; ++i) found |= range.meets(destinations_[i]);
    });
    return found;
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::detail
