// SPDX-License-Identifier: BSL-1.0
// In: an expression or a flat tree in which something is excluded. Out: its keep-set, as an expression of truth values: what is
// excluded is decided by masks and biases alone, so it can be computed (and stored) apart from the values.
// Next to read: rewrite.hpp, trees made of trees; then lower.hpp.
#pragma once

#include "shape.hpp"

#include <tuple>
#include <utility>

namespace heed::plan {
inline namespace HEED_ARCH {

template <class N> inline constexpr bool is_map = false;
template <class Op, class T, class A, class... E> inline constexpr bool is_map<map<Op, T, A, E...>> = true;
template <class N> inline constexpr bool is_where = false;
template <class M, class X> inline constexpr bool is_where<where_node<M, X>> = true;
template <class N> inline constexpr bool is_let = detail::is_shared<N>;
/// A stored result beside its keep-set.
template <class N> inline constexpr bool is_where_leaf = false;
template <class M, class T, class A> inline constexpr bool is_where_leaf<where_node<M, leaf<T, A>>> = true;
/// Elements of a leaf, gathered.
template <class N> inline constexpr bool is_taken_leaf = false;
template <class A, class X, class T, class L, class I>
inline constexpr bool is_taken_leaf<take_node<A, X, leaf<T, L>, I>> = true;
template <class N> inline constexpr bool is_zeroed_leaf = false;
template <class M, class X> inline constexpr bool is_zeroed_leaf<zeroed_node<M, X>> = true;
/// A factor without its keep-set.
template <class N> auto const& values_of(N const& n) {
  if constexpr (is_zeroed_leaf<N>)
    return n.operand;
  else
    return n;
}
/// A result that was stored with zeros where it is excluded; around a leaf of the user's (where, or a change of one) it was not.
template <class N> inline constexpr bool stored_with_zeros = is_map<N> || is_let<N>;
template <class N> struct first_operand_of;
template <class Op, class T, class A, class E, class... R> struct first_operand_of<map<Op, T, A, E, R...>> {
  using type = E;
};
template <class N> using first_operand = typename first_operand_of<N>::type;
template <class N> struct second_operand_of;
template <class Op, class T, class A, class E, class F, class... R>
struct second_operand_of<map<Op, T, A, E, F, R...>> {
  using type = F;
};
template <class N> using second_operand = typename second_operand_of<N>::type;

/// What an error calls a node.
template <class N> constexpr std::string_view name_of() {
  if constexpr (is_contraction<N>)
    return "dot";
  else if constexpr (is_reduction<N>)
    return N::kind_type::name;
  else if constexpr (is_map<N>)
    return N::op_type::name;
  else if constexpr (is_where<N>)
    return "where";
  else if constexpr (is_let<N>)
    return "let";
  else
    return "an expression";
}

// ---------------------------------------------------------------- and of keep-sets; a plain `true` disappears
template <class L> auto conjunction(L l) { return l; }
template <class L, class R, class... M> auto conjunction(L l, R r, M... m) {
  if constexpr (is_scalar<L>)
    return plan::conjunction(std::move(r), std::move(m)...);
  else if constexpr (is_scalar<R>)
    return plan::conjunction(std::move(l), std::move(m)...);
  else
    return plan::conjunction(
        detail::make_map<ops::both, bool, broadcast_t<typename L::axes_type, typename R::axes_type>>(
            ops::both{}, std::move(l), std::move(r)),
        std::move(m)...);
}
/// What a term is where it excludes: -infinity, or +infinity to the right of a minus.
template <class Op, std::size_t I> constexpr double excluded_term() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::is_same_v<Op, ops::minus> && I == 1 ? infinity : -infinity;
}
template <class E> auto is_not(E const& e, double excluded) {
  using T = typename E::value_type;
  return detail::make_map<ops::not_equal, bool, typename E::axes_type>(ops::not_equal{}, e,
                                                                       scalar<T>(static_cast<T>(excluded)));
}

// ---------------------------------------------------------------- of an expression, before it is lowered
template <bool Marks, class N> struct keep_rule {
  static auto go(N const&) { return scalar<bool>(true); }
};
template <bool Marks, class N> auto keep_of(N const& n) {
  if constexpr (!excluding<Marks, N>::value)
    return scalar<bool>(true);
  else
    return keep_rule<Marks, N>::go(n);
}
/// The condition of a `where`, which does not hold where it is excluded itself.
template <class M, class X> auto condition_of(where_node<M, X> const& n) {
  return plan::conjunction(n.keep, plan::keep_of<false>(n.keep));
}
template <bool Marks, class M, class X> struct keep_rule<Marks, where_node<M, X>> {
  static auto go(where_node<M, X> const& n) {
    return plan::conjunction(plan::condition_of(n), plan::keep_of<Marks>(n.operand));
  }
};
template <bool Marks, class E> struct keep_rule<Marks, let_node<E>> {
  static auto go(let_node<E> const& n) { return plan::keep_of<Marks>(n.operand); }
};
template <bool Marks, class O, class E, class S> struct keep_rule<Marks, reduction<kinds::standardised, O, E, S>> {
  static auto go(reduction<kinds::standardised, O, E, S> const& n) { return plan::keep_of<false>(n.operand); }
};
template <bool Marks, class Op, class T, class A, class... E> struct keep_rule<Marks, map<Op, T, A, E...>> {
  template <std::size_t I, class X> static auto operand(X const& x) {
    if constexpr (Marks && is_sum<map<Op, T, A, E...>> && is_term<X>)
      return plan::conjunction(plan::is_not(x, excluded_term<Op, I>()), plan::keep_of<Marks>(x));
    else
      return plan::keep_of<Marks>(x);
  }
  static auto go(map<Op, T, A, E...> const& n) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::conjunction(operand<I>(n.template operand<I>())...);
    }
    (std::index_sequence_for<E...>{});
  }
};
template <bool Marks, class C, class A, class E> struct keep_rule<Marks, reindexed<C, A, E>> {
  static auto go(reindexed<C, A, E> const& n) { return plan::change_tree(n.change, plan::keep_of<Marks>(n.operand)); }
};
/// What is kept of a table, at the elements that are taken from it.
template <class A, class I, class K> auto taken_keep(K t, I const& ids) {
  using TA = typename K::axes_type;
  if constexpr (contains<A, TA>) {
    using Axes = typename taken_axes<TA, A, difference<typename I::axes_type, difference<TA, axes<A>>>>::type;
    return take_node<A, Axes, K, I>(std::move(t), ids, 0);
  } else
    return t;
}
template <bool Marks, class A, class X, class T, class I> struct keep_rule<Marks, take_node<A, X, T, I>> {
  static auto go(take_node<A, X, T, I> const& n) {
    return plan::conjunction(plan::taken_keep<A>(plan::keep_of<Marks>(n.table), n.ids), plan::keep_of<false>(n.ids));
  }
};
/// What is kept of each part, over all axes of the part, so that they can be put together as the parts are.
template <class A, bool S, class X, class... E, class Keep>
auto joined_keep(joined_node<A, S, X, E...> const& n, Keep const& keep) {
  using PartAxes = std::conditional_t<S, difference<X, axes<A>>, X>;
  auto whole = [&](auto const& part) {
    extents_node<PartAxes> shape;
    for_each_axis(PartAxes{},
                  [&]<class Y>(type_tag<Y>) { shape.extents[index_of<Y, PartAxes>] = part.template extent<Y>(); });
    return detail::make_map<ops::first_of, bool, PartAxes>(ops::first_of{}, keep(part), shape);
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto make = [](auto... k) { return joined_node<A, S, X, decltype(k)...>(0, std::move(k)...); };
    return make(whole(n.template operand<I>())...);
  }
  (std::index_sequence_for<E...>{});
}
template <bool Marks, class A, bool S, class X, class... E> struct keep_rule<Marks, joined_node<A, S, X, E...>> {
  static auto go(joined_node<A, S, X, E...> const& n) {
    return plan::joined_keep(n, [](auto const& part) { return plan::keep_of<Marks>(part); });
  }
};

// ---------------------------------------------------------------- softmax's zeros, and what products make of them
/// Where a tree over softmaxes is 0 because the softmax excluded the element: a contraction skips it, whatever it meets.
template <class N> struct zero_rule { static constexpr bool value = false; };
template <class O, class E, class S> struct zero_rule<reduction<kinds::softmax, O, E, S>> {
  static constexpr bool value = excluding<true, E>::value;
  static auto keep(reduction<kinds::softmax, O, E, S> const& n) { return plan::keep_of<true>(n.operand); }
};
template <class E> struct zero_rule<let_node<E>> {
  static constexpr bool value = zero_rule<E>::value;
  static auto keep(let_node<E> const& n) { return zero_rule<E>::keep(n.operand); }
};
template <class N> auto zero_keep(N const& n) {
  if constexpr (zero_rule<N>::value)
    return zero_rule<N>::keep(n);
  else
    return scalar<bool>(true);
}
/// What `where` excludes itself is no zero: it is excluded, and keep_of says so.
template <class M, class X> struct zero_rule<where_node<M, X>> {
  static constexpr bool value = zero_rule<X>::value;
  static auto keep(where_node<M, X> const& n) { return plan::zero_keep(n.operand); }
};
template <class T, class A, class L, class R> struct zero_rule<map<ops::times, T, A, L, R>> {
  static constexpr bool value = zero_rule<L>::value || zero_rule<R>::value;
  static auto keep(map<ops::times, T, A, L, R> const& n) {
    return plan::conjunction(plan::zero_keep(n.template operand<0>()), plan::zero_keep(n.template operand<1>()));
  }
};
/// What makes 0 of a 0, whatever its other operands are.
template <class Op>
inline constexpr bool keeps_zeros =
    std::is_same_v<Op, ops::divided> || std::is_same_v<Op, ops::negated> || std::is_same_v<Op, ops::dropped> ||
    std::is_same_v<Op, ops::first_of> || std::is_same_v<Op, ops::absolute> || std::is_same_v<Op, ops::rectified> ||
    std::is_same_v<Op, ops::square_root> || std::is_same_v<Op, ops::hyperbolic_tangent> ||
    std::is_same_v<Op, ops::capped> || std::is_same_v<Op, ops::rounded_down> ||
    std::is_same_v<Op, ops::gaussian_unit> || std::is_same_v<Op, ops::gaussian_unit_tanh> ||
    std::is_same_v<Op, ops::sigmoid_unit>;
template <class T> inline constexpr bool keeps_zeros<ops::cast_to<T>> = true;
template <class S> inline constexpr bool keeps_zeros<ops::rounded_to<S>> = true;
template <class Op, class T, class A, class L, class... R>
  requires(keeps_zeros<Op>)
struct zero_rule<map<Op, T, A, L, R...>> {
  static constexpr bool value = zero_rule<L>::value;
  static auto keep(map<Op, T, A, L, R...> const& n) { return plan::zero_keep(n.template operand<0>()); }
};
template <class Op, class T, class A, class L, class R>
  requires(std::is_same_v<Op, ops::plus> || std::is_same_v<Op, ops::minus>)
struct zero_rule<map<Op, T, A, L, R>> {
  static constexpr bool value = zero_rule<L>::value && zero_rule<R>::value;
  static auto keep(map<Op, T, A, L, R> const& n) {
    auto l = plan::zero_keep(n.template operand<0>());
    auto r = plan::zero_keep(n.template operand<1>());
    using Axes = broadcast_t<typename decltype(l)::axes_type, typename decltype(r)::axes_type>;
    return detail::make_map<ops::either, bool, Axes>(ops::either{}, std::move(l), std::move(r));
  }
};

/// What makes 0 of a 0 for some numbers beside it: pow(w, 2) does, pow(w, 0) does not.
template <class Op>
inline constexpr bool may_keep_zeros =
    std::is_same_v<Op, ops::power> || std::is_same_v<Op, ops::minimum> || std::is_same_v<Op, ops::maximum> ||
    std::is_same_v<Op, ops::chosen> || std::is_same_v<Op, ops::less> || std::is_same_v<Op, ops::less_equal> ||
    std::is_same_v<Op, ops::greater> || std::is_same_v<Op, ops::greater_equal> || std::is_same_v<Op, ops::equal> ||
    std::is_same_v<Op, ops::not_equal> || std::is_same_v<Op, ops::both> || std::is_same_v<Op, ops::either>;
template <class Op, class T, class A, class... E>
  requires(may_keep_zeros<Op>)
struct zero_rule<map<Op, T, A, E...>> {
  using node = map<Op, T, A, E...>;
  static constexpr int zeroed = (int{zero_rule<E>::value} + ...);
  static constexpr bool value = zeroed > 0;
  /// The operand as it is where the softmax excluded: 0. (Of several, one may be none there: as they are computed.)
  template <class X> static auto excluded(X const& x) {
    if constexpr (zeroed == 1 && zero_rule<X>::value)
      return scalar<typename X::value_type>(typename X::value_type{});
    else
      return x;
  }
  template <class... X> static auto remains(node const& n, X... x) {  // whether it is no zero there
    auto there = detail::make_map<Op, T, unite_all<typename X::axes_type...>>(n.op, std::move(x)...);
    if constexpr (std::is_same_v<T, bool>)
      return there;
    else
      return plan::is_not(there, 0);
  }
  static auto keep(node const& n) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto all = plan::conjunction(plan::zero_keep(n.template operand<I>())...);
      auto some = remains(n, excluded(n.template operand<I>())...);
      using Axes = broadcast_t<typename decltype(all)::axes_type, typename decltype(some)::axes_type>;
      return detail::make_map<ops::either, bool, Axes>(ops::either{}, std::move(all), std::move(some));
    }
    (std::index_sequence_for<E...>{});
  }
};

template <class C, class A, class E> struct zero_rule<reindexed<C, A, E>> {
  static constexpr bool value = zero_rule<E>::value;
  static auto keep(reindexed<C, A, E> const& n) { return plan::change_tree(n.change, plan::zero_keep(n.operand)); }
};
template <class A, class X, class E, class I> struct zero_rule<take_node<A, X, E, I>> {
  static constexpr bool value = zero_rule<E>::value;
  static auto keep(take_node<A, X, E, I> const& n) { return plan::taken_keep<A>(plan::zero_keep(n.table), n.ids); }
};
template <class A, bool S, class X, class... E> struct zero_rule<joined_node<A, S, X, E...>> {
  static constexpr bool value = (zero_rule<E>::value || ...);
  static auto keep(joined_node<A, S, X, E...> const& n) {
    return plan::joined_keep(n, [](auto const& part) { return plan::zero_keep(part); });
  }
};

/// What is kept of a factor, with softmax's zeros: the products that a contraction does not skip.
template <class N> auto factor_keep(N const& n) {
  return plan::conjunction(plan::zero_keep(n), plan::keep_of<false>(n));
}
template <class N> struct skipped_by {
  using axes_type = typename decltype(plan::factor_keep(std::declval<N const&>()))::axes_type;
};

// ---------------------------------------------------------------- of a flat tree
template <class N> struct flat_keep {
  static auto go(N const&) { return scalar<bool>(true); }
};
template <class N> auto keep_of_flat(N const& n) { return flat_keep<N>::go(n); }
template <class M, class X> struct flat_keep<where_node<M, X>> {
  static auto go(where_node<M, X> const& n) { return plan::conjunction(n.keep, plan::keep_of_flat(n.operand)); }
};
template <class E> struct flat_keep<term_node<E>> {
  static auto go(term_node<E> const& n) {
    return plan::conjunction(plan::is_not(n.operand, n.excluded), plan::keep_of_flat(n.operand));
  }
};
template <class Op, class T, class A, class... E> struct flat_keep<map<Op, T, A, E...>> {
  static auto go(map<Op, T, A, E...> const& n) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::conjunction(plan::keep_of_flat(n.template operand<I>())...);
    }
    (std::index_sequence_for<E...>{});
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::plan
