// SPDX-License-Identifier: BSL-1.0
// In: a node, two tags. Out: the same node with one tag in the other's place, down to the leaves, ids kept, so that what is
// stored under one name is found under the other. A tag that a node binds (contracts) is renamed apart where it would clash.
// Next to read: shape.hpp, the other changes of layout.
#pragma once

#include "dot.hpp"

namespace heed::detail {
inline namespace HEED_ARCH {

/// Stands for a contracted axis A that had to make room for a free axis of the same name.
template <class A> struct bound_axis : axis<A::static_extent> {};

template <class F, class T, class N> auto rename_node(N const& n);

template <class F, class T, class N>
struct renamer;  // one specialisation a node; only called where F is a free axis of the node

template <class F, class T, class V, class... A> struct renamer<F, T, leaf<V, axes<A...>>> {
  static auto go(leaf<V, axes<A...>> const& n) {
    leaf<V, rename_in<axes<A...>, F, T>> r;
    r.data = n.data;
    std::copy(n.extents, n.extents + sizeof...(A) + 1, r.extents);
    std::copy(n.strides, n.strides + sizeof...(A) + 1, r.strides);
    r.owner = n.owner;
    return r;
  }
};
template <class F, class T> struct renamer<F, T, index_node<F>> {
  static auto go(index_node<F> const&) { return index_node<T>{}; }
};
template <class F, class T, class... A> struct renamer<F, T, extents_node<axes<A...>>> {
  static auto go(extents_node<axes<A...>> const& n) {
    extents_node<rename_in<axes<A...>, F, T>> r;
    std::copy(n.extents, n.extents + sizeof...(A) + 1, r.extents);
    return r;
  }
};
template <class F, class T, class Axes> struct renamer<F, T, dropout_mask<Axes>> {
  static auto go(dropout_mask<Axes> const& n) {
    dropout_mask<rename_in<Axes, F, T>> r;
    r.seed = n.seed;
    r.threshold = n.threshold;
    return r;
  }
};
template <class Op, class F, class T> struct renamed_op { using type = Op; };
template <class Q, class K, class F, class T> struct renamed_op<ops::diagonal<Q, K>, F, T> {
  using type =
      ops::diagonal<std::conditional_t<std::is_same_v<Q, F>, T, Q>, std::conditional_t<std::is_same_v<K, F>, T, K>>;
};
template <class F, class T, class Op, class V, class Axes, class... E> struct renamer<F, T, map<Op, V, Axes, E...>> {
  static auto go(map<Op, V, Axes, E...> const& n) {
    using R = typename renamed_op<Op, F, T>::type;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto make = [&](auto... x) {
        if constexpr (std::is_same_v<R, Op>)
          return map<R, V, rename_in<Axes, F, T>, decltype(x)...>(n.op, n.id, std::move(x)...);
        else
          return map<R, V, rename_in<Axes, F, T>, decltype(x)...>(R{}, n.id, std::move(x)...);
      };
      return make(detail::rename_node<F, T>(n.template operand<I>())...);
    }
    (std::index_sequence_for<E...>{});
  }
};
template <class F, class T, class M, class X> struct renamer<F, T, where_node<M, X>> {
  static auto go(where_node<M, X> const& n) {
    auto m = detail::rename_node<F, T>(n.keep);
    auto x = detail::rename_node<F, T>(n.operand);
    return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), n.id);
  }
};
template <class F, class T, class Over, class L, class R> struct renamer<F, T, contraction<Over, L, R>> {
  static auto go(contraction<Over, L, R> const& n) {
    if constexpr (contains<T, Over>) {  // bound under that name already: rename the bound one apart first
      auto l = detail::rename_node<T, bound_axis<T>>(n.left);
      auto r = detail::rename_node<T, bound_axis<T>>(n.right);
      using C = contraction<rename_in<Over, T, bound_axis<T>>, decltype(l), decltype(r)>;
      return renamer<F, T, C>::go(C(std::move(l), std::move(r), n.id));
    } else {
      auto l = detail::rename_node<F, T>(n.left);
      auto r = detail::rename_node<F, T>(n.right);
      return contraction<Over, decltype(l), decltype(r)>(std::move(l), std::move(r), n.id);
    }
  }
};
template <class F, class T, class Kind, class Over, class E, class Sink>
struct renamer<F, T, reduction<Kind, Over, E, Sink>> {
  static auto go(reduction<Kind, Over, E, Sink> const& n) {
    if constexpr (!Kind::keeps_axes && contains<T, Over>) {
      auto e = detail::rename_node<T, bound_axis<T>>(n.operand);
      using R = reduction<Kind, rename_in<Over, T, bound_axis<T>>, decltype(e), Sink>;
      return renamer<F, T, R>::go(R(n.kind, std::move(e), n.sink, n.id));
    } else {
      auto e = detail::rename_node<F, T>(n.operand);
      using NewOver = std::conditional_t<Kind::keeps_axes, rename_in<Over, F, T>, Over>;
      if constexpr (std::is_same_v<Sink, no_axis>)
        return reduction<Kind, NewOver, decltype(e)>(n.kind, std::move(e), no_axis{}, n.id);
      else {
        auto s = detail::rename_node<F, T>(n.sink);
        return reduction<Kind, NewOver, decltype(e), decltype(s)>(n.kind, std::move(e), std::move(s), n.id);
      }
    }
  }
};
template <class F, class T, class E> struct renamer<F, T, let_node<E>> {
  static auto go(let_node<E> const& n) {
    auto e = detail::rename_node<F, T>(n.operand);
    return let_node<decltype(e)>(std::move(e), n.id);
  }
};
/// Each change says which axes of its operand it hides (`hidden`) and how it reads under another name (`renamed<F, T>`).
template <class F, class T, class Change, class Axes, class E> struct renamer<F, T, reindexed<Change, Axes, E>> {
  static auto go(reindexed<Change, Axes, E> const& n) {
    if constexpr (contains<T, typename Change::hidden>) {
      auto e = detail::rename_node<T, bound_axis<T>>(n.operand);
      auto c = n.change.template renamed_hidden<T, bound_axis<T>>();
      using R = reindexed<decltype(c), Axes, decltype(e)>;
      return renamer<F, T, R>::go(R(c, std::move(e), n.id));
    } else {
      auto c = n.change.template renamed<F, T>();
      using NewAxes = rename_in<Axes, F, T>;
      if constexpr (contains<F, typename E::axes_type> && !contains<F, typename Change::hidden>) {
        auto e = detail::rename_node<F, T>(n.operand);
        return reindexed<decltype(c), NewAxes, decltype(e)>(c, std::move(e), n.id);
      } else
        return reindexed<decltype(c), NewAxes, E>(c, n.operand, n.id);
    }
  }
};
template <class F, class T, class A, class Axes, class Table, class Ids>
struct renamer<F, T, take_node<A, Axes, Table, Ids>> {
  static auto go(take_node<A, Axes, Table, Ids> const& n) {
    if constexpr (std::is_same_v<T, A>) {
      auto t = detail::rename_node<A, bound_axis<A>>(n.table);
      using R = take_node<bound_axis<A>, Axes, decltype(t), Ids>;
      return renamer<F, T, R>::go(R(std::move(t), n.ids, n.id));
    } else {
      auto i = detail::rename_node<F, T>(n.ids);
      auto make = [&](auto t) {
        return take_node<A, rename_in<Axes, F, T>, decltype(t), decltype(i)>(std::move(t), std::move(i), n.id);
      };
      if constexpr (std::is_same_v<F, A>)
        return make(n.table);
      else
        return make(detail::rename_node<F, T>(n.table));
    }
  }
};
template <class F, class T, class A, bool Stacked, class Axes, class... E>
struct renamer<F, T, joined_node<A, Stacked, Axes, E...>> {
  static auto go(joined_node<A, Stacked, Axes, E...> const& n) {
    using NewA = std::conditional_t<std::is_same_v<A, F>, T, A>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto make = [&](auto... x) {
        return joined_node<NewA, Stacked, rename_in<Axes, F, T>, decltype(x)...>(n.id, std::move(x)...);
      };
      return make(detail::rename_node<F, T>(n.template operand<I>())...);
    }
    (std::index_sequence_for<E...>{});
  }
};

template <class F, class T, class N> auto rename_node(N const& n) {
  if constexpr (!contains<F, typename N::axes_type>)
    return n;
  else
    return renamer<F, T, N>::go(n);
}

}  // namespace HEED_ARCH
}  // namespace heed::detail
