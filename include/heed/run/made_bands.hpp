// SPDX-License-Identifier: BSL-1.0
// In: a streamed tree whose scores are rows of one input times weights, and values. Out: how it is computed a band of rows at a time:
// how many bands, what each of them stores, and the tree over what is stored.
// Next to read: ../runner.hpp, which runs the bands as contractions.
#pragma once

#include "choices.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::detail {
inline namespace HEED_ARCH {

/// Rows of a contraction; by itself: all of them.
struct band {
  extent_t first = 0, count = -1;
  bool whole() const { return count < 0; }
};

/// dot<K>(tree over dots with weights, values), into out.
template <class K, class Scores, class Values, class Out> class made_bands {
  using Dots = decltype(Scores::dots);
  using VA = typename Values::axes_type;
  Scores const& scores_;

 public:
  using Rows = typename plan::rows_of_weights<K, decltype(Scores::tree), Dots, Values>::rows;
  using V = typename Values::value_type;
  using Band = unite<Rows, K>;
  using Width = difference<VA, K>;
  using SA = unite_all<typename Out::axes_type, Band, VA, typename depth_axes<Dots>::type>;
  static constexpr std::size_t last = std::tuple_size_v<Dots> - 1;

  stage_axes<SA> sa;
  bool wide = true;                           // enough for bands to be worth it, for the inner axis
  double operations = 0;                      // for each row
  double weights = 0;                         // elements
  std::array<leaf<V, Band>, last + 1> store;  // each dot's, for the rows of a band; without memory yet
  loops::group rows, keys;
  extent_t count = 0;

  made_bands(Scores const& scores, Values const& values, Out const& out) : scores_(scores) {
    std::apply([&](auto const&... d) { (learn(d), ...); }, scores.dots);
    sa.learn(values), sa.learn(out);
    learn_width(sa.template group<Width>().size);
    rows = sa.template group<Rows>(), keys = sa.template group<K>();
    // What a band stores of a row is then a few times its input, whatever the number of keys may be.
    wide &= narrowest_ >= loops::widest_head ||
            (narrowest_ >= loops::band_width && keys.size <= loops::band_units * narrowest_);
    if (!wide) return;
    operations += 2 * static_cast<double>(values.size());
    weights += static_cast<double>(values.size());
    for (auto& l : store) {
      for_each_axis(Band{}, [&]<class X>(type_tag<X>) { l.extents[index_of<X, Band>] = sa.extents[index_of<X, SA>]; });
      l.make_dense();
    }
    extent_t const row_bytes = std::max<extent_t>(1, keys.size * static_cast<extent_t>(sizeof(V) * store.size()));
    // Each band reads all weights again: it may be larger where they are.
    extent_t const most =
        std::max(loops::band_bytes, static_cast<extent_t>(weights / 4) * static_cast<extent_t>(sizeof(V)));
    extent_t const fit = std::max<extent_t>(loops::row_block, most / row_bytes);
    count = std::max<extent_t>(1, (rows.size + fit - 1) / fit);
  }
  /// The tree reads all dots but the last from bands; the last is the anchor of the stage that computes it.
  auto tree() const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::replace_slots(scores_.tree,
                                 std::make_tuple(detail::with_type<V const>(store[I])..., slot_node<V, Band, 0>{}));
    }
    (std::make_index_sequence<last>{});
  }

 private:
  extent_t narrowest_ = std::numeric_limits<extent_t>::max();

  void learn_width(extent_t width) { narrowest_ = std::min(narrowest_, width); }
  template <class Dot> void learn(Dot const& d) {
    sa.learn(d.query), sa.learn(d.key);
    wide &= d.scale == 1;
    learn_width(sa.template group<typename Dot::over>().size);
    operations += 2 * static_cast<double>(d.key.size());
    weights += static_cast<double>(d.key.size());
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::detail
