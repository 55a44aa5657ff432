// SPDX-License-Identifier: BSL-1.0
// In: the types of a streamed tree and of what stands around it. Out: what lowering tells a backend beside trees and leaves: what
// values are stored as, the dots of a streamed tree, and whether these can be computed for a band of rows at a time.
// Next to read: lower.hpp, which finds the stages.
#pragma once

#include "keep.hpp"

#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

namespace heed::plan {
inline namespace HEED_ARCH {

/// What an excluded element of a result reads as.
inline constexpr double excluded_value = -std::numeric_limits<double>::infinity();

/// What values are stored as between stages: as what they are computed in, so that storing changes none. Whole numbers have 64
/// bits whatever their type says.
template <class V> using stored_type = std::conditional_t<is_integer<V>, std::int64_t, V>;

// ---------------------------------------------------------------- ids of stored results
/// What a node's result is found by; 0: by nothing.
template <class N> node_id id_of(N const& n) {
  if constexpr (requires { n.id; })
    return n.id;
  else
    return 0;
}
/// A node's keep-set is found under an id of its own.
constexpr node_id keep_id(node_id id) { return id == 0 ? 0 : id | node_id{1} << 63; }
/// What is stored with marks is another result than without, where they matter.
template <bool Marks, class N> constexpr node_id marked_id(node_id id) {
  return id == 0 || !(Marks && marking<N>::value) ? id : id | node_id{1} << 62;
}

// ---------------------------------------------------------------- streamed trees
/// What a stream does between its dots and its values.
struct stream_softmax {};
struct stream_plain {};

/// A dot that a streamed tree computes a tile at a time, with its operands in memory.
template <class Over, class Key, class Query> struct score_dot {
  using over = Over;
  using key_type = Key;
  using query_type = Query;
  Key key;
  Query query;
  double scale = 1;
};

/// A layer inside a layer (a feed-forward network): all scores are rows of one input times weights that no row has of its
/// own, and so are the values. Such scores can be computed for a band of rows at a time.
template <class K, class Tree, class Dots, class Values> struct rows_of_weights {
  static constexpr bool value = false;
};
template <class K, class Tree, class Values, class D, class... More>
struct rows_of_weights<K, Tree, std::tuple<D, More...>, Values> {
  using rows = difference<typename D::query_type::axes_type, typename D::over>;
  using V = typename Values::value_type;
  template <class Dot>
  static constexpr bool fits =
      std::is_same_v<difference<typename Dot::query_type::axes_type, typename Dot::over>, rows>&&
          detail::same_set<difference<typename Dot::key_type::axes_type, typename Dot::over>, K>&& std::is_same_v<
              typename Dot::key_type::value_type, V>&& std::is_same_v<typename Dot::query_type::value_type, V>;
  static constexpr bool value = fits<D> && (fits<More> && ...) &&
                                detail::same_set<typename Tree::axes_type, unite<rows, K>> &&
                                intersection<rows, unite<K, typename Values::axes_type>>::rank == 0 &&
                                difference<K, typename Values::axes_type>::rank == 0;
};

}  // namespace HEED_ARCH
}  // namespace heed::plan
