// SPDX-License-Identifier: BSL-1.0
// In: expressions whose axes nest (index expressions: any axes). Out: map nodes: arithmetic, functions, comparisons, logic,
// casts, activations, broadcast. Extents that two operands share are compared here, before anything runs.
// Next to read: index.hpp, coordinates and the masks made of them.
#pragma once

#include "../expression.hpp"
#include "functions.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

template <class T>
concept plain_number = std::is_arithmetic_v<std::remove_cvref_t<T>>;
template <class T>
concept operand_like = expression_like<T> || plain_number<T>;

/// The wider operand's order; left's, then right's new ones, where neither is wider.
template <class L, class R> struct broadcast_axes { using type = unite<L, R>; };
template <class L, class R>
  requires(subset<L, R> && !subset<R, L>)
struct broadcast_axes<L, R> {
  using type = R;
};
template <class L, class R> using broadcast_t = typename broadcast_axes<L, R>::type;

template <class Op, class T, class Axes, class... E> auto make_map(Op op, E&&... e) {
  constexpr bool heavy = (std::remove_cvref_t<E>::heavy || ...);
  return map<Op, T, Axes, std::remove_cvref_t<E>...>(op, heavy ? detail::fresh_id() : 0, std::forward<E>(e)...);
}
/// n itself (a reference) where its values are of that type already.
template <class To, class N> decltype(auto) cast_node(N&& n) {
  using From = std::remove_cvref_t<N>;
  if constexpr (std::is_same_v<typename From::value_type, To>)
    return static_cast<N&&>(n);
  else
    return detail::make_map<ops::cast_to<To>, To, typename From::axes_type>(ops::cast_to<To>{}, std::forward<N>(n));
}

/// A number beside an expression of value type T: of that type, but a fraction beside integers stays a fraction.
template <class T, class S> auto number_beside(S s) {
  if constexpr (is_real<T>)
    return scalar<T>(static_cast<T>(s));
  else if constexpr (std::is_floating_point_v<S>)
    return scalar<S>(s);
  else if constexpr (std::is_same_v<T, bool> && std::is_same_v<S, bool>)
    return scalar<bool>(s);
  else
    return scalar<std::int64_t>(static_cast<std::int64_t>(s));
}
template <class Other, class E> auto operand_node(E&& e) {
  if constexpr (plain_number<E>) {
    return detail::number_beside<typename node_of<Other>::value_type>(e);
  } else
    return detail::as_node(std::forward<E>(e));
}

template <class N> inline constexpr bool is_scalar = false;
template <class T> inline constexpr bool is_scalar<scalar<T>> = true;

/// Whether a real tensor decides the type of the values. Numbers and coordinates alone do not: `index<key>() * 0.5` is of the
/// type of the tensor that it meets.
template <class N> inline constexpr bool has_real_tensor = is_real<typename N::value_type>;
template <class T> inline constexpr bool has_real_tensor<scalar<T>> = false;
template <class Op, class T, class Axes, class... E>
inline constexpr bool has_real_tensor<map<Op, T, Axes, E...>> = (has_real_tensor<E> || ...);

/// The type both are computed in; void where they may not meet.
template <class L, class R> struct arithmetic_type {
  using l = typename L::value_type;
  using r = typename R::value_type;
  static constexpr auto pick() {
    if constexpr (is_real<l> && is_real<r>) {
      if constexpr (std::is_same_v<l, r> || !has_real_tensor<R>)
        return type_tag<l>{};
      else if constexpr (!has_real_tensor<L>)
        return type_tag<r>{};
      else
        return type_tag<void>{};
    } else if constexpr (is_real<l>)
      return type_tag<l>{};
    else if constexpr (is_real<r>)
      return type_tag<r>{};
    else if constexpr (std::is_same_v<l, bool> && std::is_same_v<r, bool>)
      return type_tag<std::int64_t>{};
    else if constexpr (std::is_same_v<l, bool>)
      return type_tag<r>{};
    else if constexpr (std::is_same_v<r, bool> || is_scalar<R>)
      return type_tag<l>{};
    else if constexpr (is_scalar<L>)
      return type_tag<r>{};
    else if constexpr (std::is_same_v<l, r>)
      return type_tag<l>{};
    else
      return type_tag<std::int64_t>{};
  }
  using type = typename decltype(pick())::type;
};

enum class spans { nested, scaled, any };  // which pairs of axes an operation takes

template <class L, class R, spans Rule>
inline constexpr bool axes_may_meet = subset<typename L::axes_type, typename R::axes_type> ||
                                      subset<typename R::axes_type, typename L::axes_type> ||
                                      (is_index_expression<L> && is_index_expression<R>) ||
                                      (Rule == spans::scaled && (is_index_expression<L> || is_index_expression<R>));

/// Whether a `causal` without a past stands in the elementwise part: it demands equal extents as soon as they are known.
template <class N> inline constexpr bool has_diagonal = false;
template <class Q, class K, class T, class Axes, class... E>
inline constexpr bool has_diagonal<map<ops::diagonal<Q, K>, T, Axes, E...>> = true;
template <class Op, class T, class Axes, class... E>
inline constexpr bool has_diagonal<map<Op, T, Axes, E...>> = (has_diagonal<E> || ...);
template <class N, class E> void check_diagonals(N const& mask, E const& extents);  // in index.hpp

/// A mask added to scores, as some do with a mask of -infinities: here it would add 0 and 1.
template <class Op, class L, class R>
inline constexpr bool adds_a_mask = (std::is_same_v<Op, ops::plus> ||
                                     std::is_same_v<Op, ops::minus>)&&((is_real<L> && std::is_same_v<R, bool>) ||
                                                                       (is_real<R> && std::is_same_v<L, bool>));

template <class Op, class Result, spans Rule, class L, class R> auto elementwise(L l, R r) {
  if constexpr (is_poison<L> || is_poison<R>)
    return poison{};
  else {
    using T = typename arithmetic_type<L, R>::type;
    if constexpr (std::is_void_v<T>) {
      HEED_REFUSE("operator: the value types of the operands differ (say cast)",
                  mistakes::value_types_differ<Op, typename L::value_type, typename R::value_type>);
      return poison{};
    } else if constexpr (adds_a_mask<Op, typename L::value_type, typename R::value_type>) {
      HEED_REFUSE("operator: truth values are no term: say where(mask, x), or cast<float>(mask) for 0 and 1",
                  mistakes::mask_as_a_term<Op, typename L::axes_type, typename R::axes_type>);
      return poison{};
    } else if constexpr (!axes_may_meet<L, R, Rule>) {
      HEED_REFUSE("operator: neither operand has all axes of the other (rename an axis, or say broadcast)",
                  mistakes::operands_do_not_broadcast<Op, typename L::axes_type, typename R::axes_type>);
      return poison{};
    } else {
      detail::check_extents(intersection<typename L::axes_type, typename R::axes_type>{}, Op::name.data(), l, r);
      using Axes = broadcast_t<typename L::axes_type, typename R::axes_type>;
      using V = std::conditional_t<std::is_void_v<Result>, T, Result>;
      auto e =
          detail::make_map<Op, V, Axes>(Op{}, detail::cast_node<T>(std::move(l)), detail::cast_node<T>(std::move(r)));
      if constexpr (has_diagonal<decltype(e)>) detail::check_diagonals(e, e);
      return e;
    }
  }
}
template <class Op, class Result, spans Rule, class LE, class RE> auto binary(LE&& le, RE&& re) {
  return detail::elementwise<Op, Result, Rule>(detail::operand_node<RE>(std::forward<LE>(le)),
                                               detail::operand_node<LE>(std::forward<RE>(re)));
}
/// / and %: real division for reals, rounding down for integers.
template <class L, class R> auto divide(L l, R r) {
  if constexpr (is_poison<L> || is_poison<R>)
    return poison{};
  else {
    using T = typename arithmetic_type<L, R>::type;
    using Op = std::conditional_t<is_integer<T>, ops::floor_divided, ops::divided>;
    return detail::elementwise<Op, void, spans::scaled>(std::move(l), std::move(r));
  }
}
template <class Op, class N> auto unary(N n, Op op = {}) {
  if constexpr (is_poison<N>)
    return poison{};
  else
    return detail::make_map<Op, typename N::value_type, typename N::axes_type>(op, std::move(n));
}
/// Functions of real values only.
template <class Op, class N> auto real_unary(N n, Op op = {}) {
  if constexpr (!is_poison<N> && !is_real<typename N::value_type>) {
    HEED_REFUSE("a function of real values: cast the operand first",
                mistakes::value_type_does_not_serve<Op, typename N::value_type>);
    return poison{};
  } else
    return detail::unary<Op>(std::move(n), op);
}
template <class E> struct value_or_number { using type = std::remove_cvref_t<E>; };
template <expression_like E> struct value_or_number<E> { using type = typename node_of<E>::value_type; };
template <class Op, class LE, class RE> auto logical(LE const& le, RE const& re) {
  using LV = typename value_or_number<LE>::type;
  using RV = typename value_or_number<RE>::type;
  if constexpr (is_poison<LE> || is_poison<RE>)
    return poison{};
  else if constexpr (is_real<LV> || is_real<RV>) {
    HEED_REFUSE("a logical operator: real values are no truth values: compare them",
                mistakes::it_is_no_condition<Op, std::conditional_t<is_real<LV>, LV, RV>>);
    return poison{};
  } else {
    auto l = detail::cast_node<bool>(detail::operand_node<RE>(le));
    auto r = detail::cast_node<bool>(detail::operand_node<LE>(re));
    detail::check_extents(intersection<typename decltype(l)::axes_type, typename decltype(r)::axes_type>{},
                          Op::name.data(), l, r);
    using Axes = broadcast_t<typename decltype(l)::axes_type, typename decltype(r)::axes_type>;
    auto e = detail::make_map<Op, bool, Axes>(Op{}, std::move(l), std::move(r));
    detail::check_diagonals(e, e);
    return e;
  }
}

template <class E> inline constexpr bool is_comparison = false;
template <class Op, class Axes, class... E>
  requires(std::is_same_v<Op, ops::less> || std::is_same_v<Op, ops::less_equal> || std::is_same_v<Op, ops::greater> ||
           std::is_same_v<Op, ops::greater_equal>)
inline constexpr bool is_comparison<map<Op, bool, Axes, E...>> = true;
struct chain_word {
  static constexpr std::string_view name = "a < b < c", instead = ": comparisons form no chain: say a < b && b < c";
};
/// A comparison, but of no comparison: a < b < c is (a < b) < c in C++, and means a < b && b < c in Python.
template <class Op, class LE, class RE> auto ordered(LE const& le, RE const& re) {
  if constexpr (is_comparison<LE> != is_comparison<RE> && !is_poison<LE> && !is_poison<RE>) {
    HEED_REFUSE("a < b < c: comparisons form no chain: say a < b && b < c",
                mistakes::word_is_not_there<chain_word, axes<LE, RE>>);
    return poison{};
  } else
    return detail::binary<Op, bool, spans::nested>(le, re);
}

template <class L, class R>
concept some_expression = operand_like<L> && operand_like<R> &&(expression_like<L> || expression_like<R>);

// ---------------------------------------------------------------- operators, found by argument-dependent lookup
template <class L, class R>
  requires some_expression<L, R>
auto operator+(L&& l, R&& r) {
  return detail::binary<ops::plus, void, spans::nested>(std::forward<L>(l), std::forward<R>(r));
}
template <class L, class R>
  requires some_expression<L, R>
auto operator-(L&& l, R&& r) {
  return detail::binary<ops::minus, void, spans::nested>(std::forward<L>(l), std::forward<R>(r));
}
template <class L, class R>
  requires some_expression<L, R>
auto operator*(L&& l, R&& r) {
  return detail::binary<ops::times, void, spans::scaled>(std::forward<L>(l), std::forward<R>(r));
}
template <class L, class R>
  requires some_expression<L, R>
auto operator/(L&& l, R&& r) {
  return detail::divide(detail::operand_node<R>(std::forward<L>(l)), detail::operand_node<L>(std::forward<R>(r)));
}
template <class L, class R>
  requires some_expression<L, R>
auto operator%(L const& l, R const& r) {
  if constexpr (is_poison<L> || is_poison<R>)
    return poison{};
  else {
    using T =
        typename arithmetic_type<decltype(detail::operand_node<R>(l)), decltype(detail::operand_node<L>(r))>::type;
    if constexpr (!is_integer<T>) {
      HEED_REFUSE("operator%: integers are needed", mistakes::value_type_does_not_serve<ops::modulo, T>);
      return poison{};
    } else
      return detail::binary<ops::modulo, void, spans::any>(l, r);
  }
}
template <class L, class R>
  requires some_expression<L, R>
auto operator<(L const& l, R const& r) { return detail::ordered<ops::less>(l, r); }
template <class L, class R>
  requires some_expression<L, R>
auto operator<=(L const& l, R const& r) { return detail::ordered<ops::less_equal>(l, r); }
template <class L, class R>
  requires some_expression<L, R>
auto operator>(L const& l, R const& r) { return detail::ordered<ops::greater>(l, r); }
template <class L, class R>
  requires some_expression<L, R>
auto operator>=(L const& l, R const& r) { return detail::ordered<ops::greater_equal>(l, r); }
template <class L, class R>
  requires some_expression<L, R>
auto operator==(L const& l, R const& r) { return detail::binary<ops::equal, bool, spans::nested>(l, r); }
template <class L, class R>
  requires some_expression<L, R>
auto operator!=(L const& l, R const& r) { return detail::binary<ops::not_equal, bool, spans::nested>(l, r); }
template <class L, class R>
  requires some_expression<L, R>
auto operator&&(L const& l, R const& r) { return detail::logical<ops::both>(l, r); }
template <class L, class R>
  requires some_expression<L, R>
auto operator||(L const& l, R const& r) { return detail::logical<ops::either>(l, r); }
template <expression_like E> auto operator!(E const& e) {
  if constexpr (is_poison<E>)
    return poison{};
  else if constexpr (is_real<typename node_of<E>::value_type>) {
    HEED_REFUSE("operator!: real values are no truth values: compare them",
                mistakes::it_is_no_condition<ops::inverted, typename node_of<E>::value_type>);
    return poison{};
  } else {
    auto n = detail::cast_node<bool>(detail::as_node(e));
    return detail::make_map<ops::inverted, bool, typename decltype(n)::axes_type>(ops::inverted{}, std::move(n));
  }
}
template <expression_like E> auto operator-(E&& e) {
  return detail::unary<ops::negated>(detail::as_node(std::forward<E>(e)));
}

// ---------------------------------------------------------------- what is not there, and what to say instead
struct cast_word {
  static constexpr std::string_view name = "cast";
};
struct broadcast_word {
  static constexpr std::string_view name = "broadcast";
};
struct compound_word {
  static constexpr std::string_view name = "operator+= and its like",
                                    instead = ": expressions do not change in place: say evaluate_into(x, x + y)";
};
struct softcap_switch_word {
  static constexpr std::string_view name = "softcap", instead = ": the cap is a number, no switch: 0 is off";
};
struct bitwise_word {
  static constexpr std::string_view name = "operators &, |, ^ and ~",
                                    instead = ": masks are joined by && and ||, compared by != and negated by !";
};
struct minimum_word {
  static constexpr std::string_view name = "min<A>(x)", instead = ": there is no such reduction: say -max<A>(-x)";
};
template <class L, class R> auto refuse_compound() {
  if constexpr (!is_poison<L> && !is_poison<R>)
    HEED_REFUSE("operator+= and its like: expressions do not change in place: say evaluate_into(x, x + y)",
                mistakes::word_is_not_there<compound_word, L>);
  return poison{};
}
template <expression_like L, class R> auto operator+=(L const&, R const&) { return detail::refuse_compound<L, R>(); }
template <expression_like L, class R> auto operator-=(L const&, R const&) { return detail::refuse_compound<L, R>(); }
template <expression_like L, class R> auto operator*=(L const&, R const&) { return detail::refuse_compound<L, R>(); }
template <expression_like L, class R> auto operator/=(L const&, R const&) { return detail::refuse_compound<L, R>(); }
template <class L, class R> auto refuse_bitwise() {
  if constexpr (!is_poison<L> && !is_poison<R>)
    HEED_REFUSE("operators &, |, ^ and ~: masks are joined by && and ||, compared by != and negated by !",
                mistakes::word_is_not_there<bitwise_word, axes<L, R>>);
  return poison{};
}
template <class L, class R>
  requires some_expression<L, R>
auto operator&(L const&, R const&) { return detail::refuse_bitwise<L, R>(); }
template <class L, class R>
  requires some_expression<L, R>
auto operator|(L const&, R const&) { return detail::refuse_bitwise<L, R>(); }
template <class L, class R>
  requires some_expression<L, R>
auto operator^(L const&, R const&) { return detail::refuse_bitwise<L, R>(); }
template <expression_like E> auto operator~(E const&) { return detail::refuse_bitwise<E, E>(); }

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// @{
/// Elementwise functions: the same axes, the same extents. `log(x)` is natural, `rsqrt(x)` = 1 / sqrt(x), `relu(x)` =
/// max(x, 0), `gelu(x)` = x Phi(x) (Hendrycks and Gimpel 2016) and `gelu_tanh(x)` its approximation, `sigmoid(x)` =
/// 1 / (1 + exp(-x)), `silu(x)` = x sigmoid(x); angles are radians. Integers are taken by abs and relu alone; refused elsewhere: say cast.
///
///     auto h = gelu(dot<model>(x, w_1) + b_1);
auto exp(expression auto&& x) {
  return detail::real_unary<detail::ops::exponential>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto log(expression auto&& x) {
  return detail::real_unary<detail::ops::logarithm>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto sqrt(expression auto&& x) {
  return detail::real_unary<detail::ops::square_root>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto rsqrt(expression auto&& x) {
  return detail::real_unary<detail::ops::reciprocal_root>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto tanh(expression auto&& x) {
  return detail::real_unary<detail::ops::hyperbolic_tangent>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto sin(expression auto&& x) {
  return detail::real_unary<detail::ops::sine>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto cos(expression auto&& x) {
  return detail::real_unary<detail::ops::cosine>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto floor(expression auto&& x) {
  return detail::real_unary<detail::ops::rounded_down>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto abs(expression auto&& x) {
  return detail::unary<detail::ops::absolute>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto relu(expression auto&& x) {
  return detail::unary<detail::ops::rectified>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto gelu(expression auto&& x) {
  return detail::real_unary<detail::ops::gaussian_unit>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto gelu_tanh(expression auto&& x) {
  return detail::real_unary<detail::ops::gaussian_unit_tanh>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto silu(expression auto&& x) {
  return detail::real_unary<detail::ops::sigmoid_unit>(detail::as_node(std::forward<decltype(x)>(x)));
}
auto sigmoid(expression auto&& x) {
  return detail::real_unary<detail::ops::logistic>(detail::as_node(std::forward<decltype(x)>(x)));
}
/// @}

/// cap tanh(x / cap), the axes of x. A cap of 0 or infinity is off; a negative or NaN cap is std::invalid_argument.
///
///     auto s = softcap(dot<d_head>(q, k) / 8.f, 50);
///
/// Refused: integers, a cap that is an expression.
template <std::convertible_to<double> Cap>
  requires(!expression<Cap> && !std::is_same_v<Cap, bool>)
auto softcap(expression auto&& x, Cap number) {
  auto const cap = static_cast<double>(number);
  if (!(cap >= 0)) throw std::invalid_argument("softcap: the cap must be 0 or more, not " + std::to_string(cap));
  return detail::real_unary<detail::ops::capped>(detail::as_node(std::forward<decltype(x)>(x)),
                                                 detail::ops::capped{cap});
}
/// @private
template <std::same_as<bool> Switch> auto softcap(expression auto&&, Switch) {
  HEED_REFUSE("softcap: the cap is a number, no switch: 0 is off",
              detail::mistakes::word_is_not_there<detail::softcap_switch_word, Switch>);
  return detail::poison{};
}
/// @{
/// Elementwise x^y, the smaller, the larger. Of two operands one's axes must contain the other's; numbers take the
/// expression's type. NaN where either is NaN. Refused: axes that do not nest, float beside double.
///
///     auto clipped = min(max(x, -1), 1);
template <class L, class R>
  requires detail::some_expression<L, R>
auto pow(L const& l, R const& r) { return detail::binary<detail::ops::power, void, detail::spans::nested>(l, r); }
template <class L, class R>
  requires detail::some_expression<L, R>
auto min(L const& l, R const& r) { return detail::binary<detail::ops::minimum, void, detail::spans::nested>(l, r); }
template <class L, class R>
  requires detail::some_expression<L, R>
auto max(L const& l, R const& r) { return detail::binary<detail::ops::maximum, void, detail::spans::nested>(l, r); }
/// @}
/// @private
template <class... A> auto min(expression auto const& x) {
  if constexpr (!detail::is_poison<decltype(x)>)
    HEED_REFUSE("min<A>(x): there is no such reduction: say -max<A>(-x)",
                detail::mistakes::word_is_not_there<detail::minimum_word, axes<A...>>);
  return detail::poison{};
}

/// The value in another type, the axes of x. Reals to integers cut towards zero; anything to bool is != 0; bf16 and f16 are
/// floats, rounded once to what those types hold. Refused: a type that no tensor has.
///
///     auto distance = cast<float>(index<query>() - index<key>());
template <class T> auto cast(expression auto const& x) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else if constexpr (!detail::is_element<T>) {
    HEED_REFUSE("cast: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits",
                detail::mistakes::elements_of_that_type<detail::cast_word, T>);
    return detail::poison{};
  } else if constexpr (std::is_same_v<detail::value_of_t<T>, T>) {
    return detail::cast_node<T>(detail::as_node(x));
  } else {
    auto wide = detail::cast_node<float>(detail::as_node(x));
    using Axes = typename decltype(wide)::axes_type;
    return detail::make_map<detail::ops::rounded_to<T>, float, Axes>(detail::ops::rounded_to<T>{}, std::move(wide));
  }
}
/// x over more axes, the new ones in front, in the order listed; those that are open by name.
///
///     auto everywhere = broadcast<batch, head>(bias, batch{8});
///
/// Refused: an axis that x has already, an open extent that is not given.
template <class... A, class... X> auto broadcast(expression auto const& x, X const&... extents) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else {
    using Old = typename E::axes_type;
    if constexpr (!detail::good_tags<A...>) {
      HEED_REFUSE_TAGS(detail::broadcast_word, A...);
      return detail::poison{};
    } else if constexpr (detail::intersection<axes<A...>, Old>::rank > 0) {
      HEED_REFUSE(
          "broadcast: the operand has that axis already",
          detail::mistakes::axis_is_already_there<detail::broadcast_word,
                                                  detail::first_of<detail::intersection<axes<A...>, Old>>, Old>);
      return detail::poison{};
    } else if constexpr (detail::extents_fit<axes<A...>, X...>) {
      detail::extents_node<axes<A...>> n;
      detail::name_extents(axes<A...>{}, n.extents, extents...);
      auto v = detail::as_node(x);
      return detail::make_map<detail::ops::first_of, typename decltype(v)::value_type, detail::unite<axes<A...>, Old>>(
          detail::ops::first_of{}, std::move(v), std::move(n));
    } else {
      detail::refuse_named_extents<detail::broadcast_word, axes<A...>, X...>();
      return detail::poison{};
    }
  }
}
}  // namespace HEED_ARCH
}  // namespace heed
