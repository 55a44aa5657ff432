// SPDX-License-Identifier: BSL-1.0
// In: a node that reads elements under other coordinates: reindexed, gathered or joined. Out: the same as a flat tree: other strides
// over the operand's memory where these can say it, else a node over leaves.
// Next to read: lower.hpp, whose part this is.
#pragma once

#include "hint.hpp"
#include "stage.hpp"

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heed::plan {
inline namespace HEED_ARCH {

template <class Lowering> class layout_lowering {
  Lowering& lowering_;
  typename Lowering::backend_type& b_;

 public:
  explicit layout_lowering(Lowering& l) : lowering_(l), b_(l.backend()) {}

  template <bool Marks, class C, class A, class E> auto lower(reindexed<C, A, E> const& n, hint const& shape) {
    auto flat = lowering_.template lower_stored<Marks>(n.operand, shape, "elements under other coordinates");
    return change_stored(n.change, flat, n, shape);
  }
  template <bool Marks, class A, class X, class T, class I>
  auto lower(take_node<A, X, T, I> const& n, hint const& shape) {
    hint const around{n, shape};
    auto flat_ids = lowering_.template lower<false>(n.ids, around);
    if constexpr (excludes<decltype(flat_ids)>) {  // an element with an excluded id is excluded
      auto k = lowering_.template store_keep<typename I::axes_type>(plan::keep_of_flat(flat_ids), around, 0);
      auto x = take_by<Marks>(n, lowering_.store_flat(flat_ids, around, "ids that exclude", 0), shape);
      return where_node<decltype(k), decltype(x)>(std::move(k), std::move(x), 0);
    } else
      return take_by<Marks>(n, flat_ids, shape);
  }
  template <bool Marks, class A, class X, class T, class I, class Ids>
  auto take_by(take_node<A, X, T, I> const& n, Ids const& ids, hint const& shape) {
    auto table = lowering_.template lower<Marks>(n.table, shape);
    b_.template check_ids<A>(ids, n.table.template extent<A>(), hint{n, shape});
    return take_from<A>(table, ids, hint{n.table, shape}, shape);
  }
  template <bool Marks, class A, bool S, class X, class... E>
  auto lower(joined_node<A, S, X, E...> const& n, hint const& shape) {
    using N = joined_node<A, S, X, E...>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto make_joined = [](auto... x) { return joined_node<A, S, X, decltype(x)...>(0, std::move(x)...); };
      auto values = make_joined(part_of(n.template operand<I>(), shape)...);
      if constexpr (excluding<Marks, N>::value) {
        auto keep = plan::keep_of<Marks>(n);
        auto k = lowering_.template lower<false>(keep, shape);
        return where_node<decltype(k), decltype(values)>(std::move(k), std::move(values), 0);
      } else
        return values;
    }
    (std::index_sequence_for<E...>{});
  }

 private:
  /// A flat tree that excludes, as a leaf beside its keep-set.
  template <class F> auto stored_beside_keep(F const& flat, hint const& shape, std::string_view why) {
    auto k = lowering_.template store_keep<typename F::axes_type>(plan::keep_of_flat(flat), hint{flat, shape}, 0);
    auto v = lowering_.store_flat(flat, shape, why, 0);
    return where_node<decltype(k), decltype(v)>(std::move(k), std::move(v), 0);
  }

  // ---------------------------------------------------------------- elements under other coordinates
  template <class C, class F, class N> auto change_stored(C const& c, F const& flat, N const& n, hint const& shape) {
    if constexpr (is_where_leaf<F>) {
      auto m = plan::change_tree(c, flat.keep);
      auto x = change_stored(c, flat.operand, n, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0);
    } else if constexpr (is_zeroed_leaf<F>)
      return change_stored(c, flat.operand, n, shape);
    else if constexpr (is_leaf_node<F>)
      return change_leaf(c, flat, shape);
    else if constexpr (is_index_expression<F>)
      return plan::change_tree(c, flat);
    else if constexpr (excludes<F>)
      return change_stored(c, stored_beside_keep(flat, shape, "elements under other coordinates"), n, shape);
    else
      return change_leaf(c, lowering_.store_flat(flat, shape, "elements under other coordinates", 0), shape);
  }
  template <class C, class T, class A> auto change_leaf(C const& c, leaf<T, A> const& l, hint const&) {
    return plan::change_tree(c, l);
  }
  /// merge: the same memory where the strides nest, else a copy.
  template <class B, class C, class To, class T, class A>
  auto change_leaf(merge_change<B, C, To> const& c, leaf<T, A> const& l, hint const& shape) {
    using Result = typename changed<merge_change<B, C, To>, A>::type;
    if (l.template stride<B>() == l.template stride<C>() * c.minor || c.major <= 1) {
      auto r = detail::reshape_leaf(l, Result{});
      r.extents[index_of<To, Result>] = c.major * c.minor;
      r.strides[index_of<To, Result>] = l.template stride<C>();
      return detail::with_type<typename leaf<T, A>::value_type const>(reread(r));
    }
    return lowering_.store_flat(plan::change_tree(c, l), shape, "merged axes whose strides do not nest", 0);
  }
  template <class T, class A>
  auto reread(leaf<T, A> const& l) {  // a leaf of values: two-byte storage is converted first
    using V = typename leaf<T, A>::value_type;
    if constexpr (std::is_same_v<std::remove_const_t<T>, V>)
      return l;
    else
      return lowering_.store_flat(l, hint{}, "converted storage", 0);
  }

  // ---------------------------------------------------------------- elements gathered by ids
  /// whole: of the table, whose parts (a keep-set out of coordinates) may lack extents that its other parts have.
  template <class A, class F, class I>
  auto take_from(F const& table, I const& ids, hint const& whole, hint const& shape) {
    if constexpr (is_where_leaf<F>) {
      auto m = take_from<A>(table.keep, ids, whole, shape);
      auto x = take_from<A>(table.operand, ids, whole, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0);
    } else if constexpr (is_zeroed_leaf<F>)
      return take_from<A>(table.operand, ids, whole, shape);
    else if constexpr (!contains<A, typename F::axes_type>)
      return table;
    else if constexpr (is_leaf_node<F>) {
      using Rest = difference<typename F::axes_type, axes<A>>;
      using Axes = typename taken_axes<typename F::axes_type, A, difference<typename I::axes_type, Rest>>::type;
      take_node<A, Axes, F, I> const taken(table, ids, 0);
      if constexpr (straight_ids<I>::value)
        return straight(taken, shape);
      else
        return taken;
    } else if constexpr (is_index_expression<F> && is_taken_leaf<F>) {  // a mask by blocks of both axes stays small
      using Rest = difference<typename F::axes_type, axes<A>>;
      using Axes = typename taken_axes<typename F::axes_type, A, difference<typename I::axes_type, Rest>>::type;
      return take_node<A, Axes, F, I>(table, ids, 0);
    } else if constexpr (excludes<F>)
      return take_from<A>(stored_beside_keep(table, whole, "a table that is gathered from"), ids, whole, shape);
    else
      return take_from<A>(lowering_.store_flat(table, whole, "a table that is gathered from", 0), ids, whole, shape);
  }
  /// Ids that are sums, differences and multiples of coordinates (a bias by distance: key - query + n; by row and column) are
  /// strides over the table.
  template <class A, class... X, class T, class L, class I>
  auto straight(take_node<A, axes<X...>, leaf<T, L>, I> const& n, hint const& shape) {
    leaf<T, axes<X...>> l;
    extent_t const step = n.table.template stride<A>();
    l.data = n.table.data + straight_ids<I>::first(n.ids) * step;
    [[maybe_unused]] int i = 0;
    (([&] {
       l.extents[i] = plan::extent_of<X>(n, shape);
       l.strides[i] = straight_ids<I>::template along<X>(n.ids) * step;
       if constexpr (contains<X, L> && !std::is_same_v<X, A>) l.strides[i] += n.table.template stride<X>();
       ++i;
     }()),
     ...);
    return l;
  }

  // ---------------------------------------------------------------- parts of a concat or stack
  template <class E> auto part_of(E const& e, hint const& shape) {
    constexpr std::string_view why = "a part of a concat or stack";
    if constexpr (!E::heavy && is_index_expression<E>) {
      auto flat = lowering_.template lower<false>(e, shape);
      if constexpr (excludes<decltype(flat)>)  // a keep-set of a term that excludes itself
        return lowering_.store_flat(flat, shape, why, 0);
      else
        return flat;
    } else
      return lowering_.as_leaf(e, shape, why);
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::plan
