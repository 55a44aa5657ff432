// SPDX-License-Identifier: BSL-1.0
// In: a flat tree of the plan's. Out: the same tree as loops need it: what is done, and how each terminal lies in memory, but no
// axes, extents or owners. Trees that differ only in the names of their axes become one type, and one piece of machine code.
// Next to read: tree.hpp, which computes such a tree.
#pragma once

#include "../expression.hpp"
#include "../ops/functions.hpp"
#include "pack.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

namespace ops = heed::detail::ops;

/// A terminal whose elements lie in memory as T.
template <class T> struct stored_cell { using value_type = heed::detail::value_of_t<T>; };
/// A terminal that somebody else computes, a tile of scores or what a function fetched: its lane type, side by side.
template <class V> struct ready_cell { using value_type = V; };
struct coordinate_cell {
  using value_type = std::int64_t;
};
/// Extents without values: no terminal at all.
struct absent_cell {
  using value_type = bool;
};
/// A word of the row and one of the lane, which decide together what dropout keeps.
struct dropout_cell {
  using value_type = bool;
  heed::detail::dropout_rule rule;
};
template <class Op, class T, class... E> struct applied {
  using value_type = T;
  heed::detail::operand_cells<std::index_sequence_for<E...>, E...> operands;
  [[no_unique_address]] Op op;
  template <class... X> explicit applied(Op o, X&&... x) : operands(std::forward<X>(x)...), op(o) {}
  template <std::size_t I> auto const& operand() const { return heed::detail::get_cell<I>(operands); }
};
template <class M, class X> struct kept_where {
  using value_type = typename X::value_type;
  M keep;
  X operand;
};
template <class E> struct bare_term {
  using value_type = typename E::value_type;
  E operand;
  bool all_kept;
  double excluded;
};

/// What node N becomes.
template <class N> struct bare {
  using type = ready_cell<typename N::value_type>;
  static type of(N const&) { return {}; }
};
template <class N> using bare_of = typename bare<N>::type;

template <class T, class A> struct bare<heed::detail::leaf<T, A>> {
  using type = stored_cell<std::remove_const_t<T>>;
  static type of(heed::detail::leaf<T, A> const&) { return {}; }
};
template <class T> struct bare<heed::detail::scalar<T>> {
  using type = heed::detail::scalar<T>;
  static type of(type const& n) { return n; }
};
template <class A> struct bare<heed::detail::index_node<A>> {
  using type = coordinate_cell;
  static type of(heed::detail::index_node<A> const&) { return {}; }
};
template <class A> struct bare<heed::detail::extents_node<A>> {
  using type = absent_cell;
  static type of(heed::detail::extents_node<A> const&) { return {}; }
};
template <class... A> struct bare<heed::detail::dropout_mask<heed::axes<A...>>> {
  using type = dropout_cell;
  static type of(heed::detail::dropout_mask<heed::axes<A...>> const& n) { return {n.rule}; }
};
template <class Op> struct bare_operation {
  using type = Op;
  static type of(Op const& op) { return op; }
};
template <class Query, class Key> struct bare_operation<ops::diagonal<Query, Key>> {
  using type = ops::less_equal;
  static type of(ops::diagonal<Query, Key> const&) { return {}; }
};
template <class Op, class T, class A, class... E> struct bare<heed::detail::map<Op, T, A, E...>> {
  using node = heed::detail::map<Op, T, A, E...>;
  using type = applied<typename bare_operation<Op>::type, T, bare_of<E>...>;
  static type of(node const& n) { return of(n, std::index_sequence_for<E...>{}); }

 private:
  template <std::size_t... I> static type of(node const& n, std::index_sequence<I...>) {
    return type(bare_operation<Op>::of(n.op), bare<E>::of(n.template operand<I>())...);
  }
};
template <class M, class X> struct bare<heed::detail::where_node<M, X>> {
  using type = kept_where<bare_of<M>, bare_of<X>>;
  static type of(heed::detail::where_node<M, X> const& n) { return {bare<M>::of(n.keep), bare<X>::of(n.operand)}; }
};
template <class M, class X> struct bare<heed::detail::zeroed_node<M, X>> {
  using type = bare_of<X>;
  static type of(heed::detail::zeroed_node<M, X> const& n) { return bare<X>::of(n.operand); }
};
template <class E> struct bare<heed::detail::term_node<E>> {
  using type = bare_term<bare_of<E>>;
  static type of(heed::detail::term_node<E> const& n) { return {bare<E>::of(n.operand), n.all_kept, n.excluded}; }
};

/// The terminals of a tree, in order.
template <class N> struct terminals { static constexpr int count = 1; };
template <class T> struct terminals<heed::detail::scalar<T>> { static constexpr int count = 0; };
template <> struct terminals<absent_cell> { static constexpr int count = 0; };
template <> struct terminals<dropout_cell> { static constexpr int count = 2; };
template <class Op, class T, class... E> struct terminals<applied<Op, T, E...>> {
  static constexpr int count = (terminals<E>::count + ... + 0);
};
template <class M, class X> struct terminals<kept_where<M, X>> {
  static constexpr int count = terminals<M>::count + terminals<X>::count;
};
template <class E> struct terminals<bare_term<E>> : terminals<E> {};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
