// SPDX-License-Identifier: BSL-1.0
// In: an expression. Out: the tensors, views and stored results that it reads, one by one, and the memory that each spans.
// Next to read: lower.hpp, which makes stages of expressions.
#pragma once

#include "tree.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

/// From the first byte to behind the last one.
struct memory_range {
  char const* low = nullptr;
  char const* high = nullptr;
  bool meets(memory_range o) const { return low < o.high && o.low < high; }
};
template <class T, class... A> memory_range range_of(leaf<T, axes<A...>> const& l) {
  extent_t low = 0, high = 0;
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (l.extents[i] == 0) return {};
    extent_t const reach = (l.extents[i] - 1) * l.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  char const* p = reinterpret_cast<char const*>(l.data);
  return {p + low * static_cast<extent_t>(sizeof(T)), p + (high + 1) * static_cast<extent_t>(sizeof(T))};
}

/// f(leaf) for every leaf.
template <class N> struct leaf_walk {
  template <class F> static void go(N const&, F&&) {}
};
template <class T, class A> struct leaf_walk<leaf<T, A>> {
  template <class F> static void go(leaf<T, A> const& n, F&& f) { f(n); }
};
template <class N, class F> void for_each_leaf(N const& n, F&& f) { leaf_walk<N>::go(n, f); }
template <class Op, class T, class A, class... E> struct leaf_walk<map<Op, T, A, E...>> {
  template <class F> static void go(map<Op, T, A, E...> const& n, F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (detail::for_each_leaf(n.template operand<I>(), f), ...); }
    (std::index_sequence_for<E...>{});
  }
};
template <class A, bool S, class X, class... E> struct leaf_walk<joined_node<A, S, X, E...>> {
  template <class F> static void go(joined_node<A, S, X, E...> const& n, F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (detail::for_each_leaf(n.template operand<I>(), f), ...); }
    (std::index_sequence_for<E...>{});
  }
};
template <class M, class X> struct leaf_walk<where_node<M, X>> {
  template <class F> static void go(where_node<M, X> const& n, F&& f) {
    detail::for_each_leaf(n.keep, f), detail::for_each_leaf(n.operand, f);
  }
};
template <class K, class L, class R> struct leaf_walk<contraction<K, L, R>> {
  template <class F> static void go(contraction<K, L, R> const& n, F&& f) {
    detail::for_each_leaf(n.left, f), detail::for_each_leaf(n.right, f);
  }
};
template <class K, class O, class E, class S> struct leaf_walk<reduction<K, O, E, S>> {
  template <class F> static void go(reduction<K, O, E, S> const& n, F&& f) {
    detail::for_each_leaf(n.operand, f);
    if constexpr (!std::is_same_v<S, no_axis>) detail::for_each_leaf(n.sink, f);
  }
};
template <class E> struct leaf_walk<let_node<E>> {
  template <class F> static void go(let_node<E> const& n, F&& f) { detail::for_each_leaf(n.operand, f); }
};
template <class C, class A, class E> struct leaf_walk<reindexed<C, A, E>> {
  template <class F> static void go(reindexed<C, A, E> const& n, F&& f) { detail::for_each_leaf(n.operand, f); }
};
template <class A, class X, class T, class I> struct leaf_walk<take_node<A, X, T, I>> {
  template <class F> static void go(take_node<A, X, T, I> const& n, F&& f) {
    detail::for_each_leaf(n.table, f), detail::for_each_leaf(n.ids, f);
  }
};

}  // namespace HEED_ARCH
}  // namespace detail
}  // namespace heed
