// SPDX-License-Identifier: BSL-1.0
// In: expressions. Out: elements chosen by computed coordinates (take), parts put together (concat, stack), values shared
// (let) and dropped (dropout).
// Next to read: rope.hpp, rotary positions.
#pragma once

#include "shape.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

struct take_word {
  static constexpr std::string_view name = "take", takes = "table and ids are expressions",
                                    instead = " (for one element along A say at<A>(x, i))";
};
struct concat_word {
  static constexpr std::string_view name = "concat", advice = " (stack and merge, or slices as destinations)";
};
struct stack_word {
  static constexpr std::string_view name = "stack", part = "the parts";
};
struct dropout_seed_word {
  static constexpr std::string_view name = "dropout", instead = ": the seed is a number, no switch: p = 0 keeps all";
};
struct dropout_switch_word {
  static constexpr std::string_view name = "dropout", instead = ": the probability is a number, no switch: 0 keeps all";
};
struct dropout_word {
  static constexpr std::string_view name = "dropout", integer = "seed", instead = " (the probability comes before it)";
};

/// The first type that is not V, else V; the first list that is not the same set, else the list.
template <class V, class... R> struct first_other { using type = V; };
template <class V, class X, class... R> struct first_other<V, X, R...> {
  using type = typename std::conditional_t<std::is_same_v<V, X>, first_other<V, R...>, type_tag<X>>::type;
};
template <class List, class... R> struct first_other_set { using type = List; };
template <class List, class X, class... R> struct first_other_set<List, X, R...> {
  using type = typename std::conditional_t<same_set<List, X>, first_other_set<List, R...>, type_tag<X>>::type;
};
template <class List, class A, class New> struct taken_axes;
template <class List, class A, class... New> struct taken_axes<List, A, axes<New...>> {
  using type = replace_in<List, A, New...>;
};

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// table's elements at the coordinates ids along A. ids is any integer expression; axes that it shares with table are
/// aligned, its own stand where A stood. An id outside 0 .. extent - 1 throws std::out_of_range before anything is written.
///
///     auto x = take<word>(table, ids);                                              // [word, model] to [query, model]
///     auto bias = take<distance>(learnt, index<query>() - index<key>() + longest);  // [head, distance] to [head, query, key]
///
/// Refused: a table without A, ids that are no integers.
template <class A> auto take(expression auto const& table, expression auto const& ids) {
  using TE = std::remove_cvref_t<decltype(table)>;
  using IE = std::remove_cvref_t<decltype(ids)>;
  if constexpr (detail::is_poison<TE> || detail::is_poison<IE>)
    return detail::poison{};
  else {
    using TA = typename TE::axes_type;
    using IA = typename IE::axes_type;
    if constexpr (!detail::contains<A, TA>) {
      HEED_REFUSE("take: the table has no such axis", detail::mistakes::axis_is_missing<detail::take_word, A, TA>);
      return detail::poison{};
    } else if constexpr (!detail::is_integer<typename detail::node_of<IE>::value_type>) {
      HEED_REFUSE("take: the ids must be integers",
                  detail::mistakes::ids_are_no_integers<detail::take_word, typename detail::node_of<IE>::value_type>);
      return detail::poison{};
    } else {
      auto t = detail::as_node(table);
      auto i = detail::as_node(ids);
      using Rest = detail::difference<TA, axes<A>>;
      detail::check_extents(detail::intersection<Rest, IA>{}, "take", t, i);
      using Axes = typename detail::taken_axes<TA, A, detail::difference<IA, Rest>>::type;
      constexpr bool heavy = decltype(t)::heavy || decltype(i)::heavy;
      return detail::take_node<A, Axes, decltype(t), decltype(i)>(std::move(t), std::move(i),
                                                                  heavy ? detail::fresh_id() : 0);
    }
  }
}

/// @private
template <class A, class Table, class Ids>
  requires(!expression<Table> || !expression<Ids>)
auto take(Table const&, Ids const&) {
  HEED_REFUSE(
      "take: table and ids are expressions (for one element say at<A>(x, i))",
      detail::mistakes::it_is_no_expression<detail::take_word, std::conditional_t<expression<Table>, Ids, Table>>);
  return detail::poison{};
}

/// x, then y, along A (dynamic). The other axes are the same; the result has x's order.
///
///     auto keys = concat<key>(cache.view(), k);
///
/// Refused: a static A, other axes, two value types. shape_error: other extents.
template <class A> auto concat(expression auto const& x, expression auto const& y) {
  using X = std::remove_cvref_t<decltype(x)>;
  using Y = std::remove_cvref_t<decltype(y)>;
  if constexpr (detail::is_poison<X> || detail::is_poison<Y>)
    return detail::poison{};
  else {
    using XA = typename X::axes_type;
    using YA = typename Y::axes_type;
    using XV = typename detail::node_of<X>::value_type;
    using YV = typename detail::node_of<Y>::value_type;
    if constexpr (!detail::contains<A, XA>) {
      HEED_REFUSE("concat: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::concat_word, A, XA>);
      return detail::poison{};
    } else if constexpr (!detail::same_set<XA, YA>) {
      HEED_REFUSE("concat: both operands must have the same axes",
                  detail::mistakes::axes_differ<detail::concat_word, XA, YA>);
      return detail::poison{};
    } else if constexpr (!detail::is_dynamic<A>) {
      HEED_REFUSE("concat: the axis has a static extent",
                  detail::mistakes::axis_must_be_dynamic<detail::concat_word, A>);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<XV, YV>) {
      HEED_REFUSE("concat: the value types differ (say cast)",
                  detail::mistakes::value_types_differ<detail::concat_word, XV, YV>);
      return detail::poison{};
    } else {
      auto l = detail::as_node(x);
      auto r = detail::as_node(y);
      detail::check_extents(detail::difference<XA, axes<A>>{}, "concat", l, r);
      extent_t sum = 0;
      if (__builtin_add_overflow(detail::known_extent<A>(l, "concat"), detail::known_extent<A>(r, "concat"), &sum))
        throw shape_error("concat: the extents of axis " + detail::axis_name<A>() + " do not add up within 64 bits");
      constexpr bool heavy = decltype(l)::heavy || decltype(r)::heavy;
      return detail::joined_node<A, false, XA, decltype(l), decltype(r)>(heavy ? detail::fresh_id() : 0, std::move(l),
                                                                         std::move(r));
    }
  }
}

/// The parts side by side along a new axis A in front; A counts them (a static A must have that extent).
///
///     auto both = stack<part>(cosines, sines);  // [part = 2, position, d_head]
///
/// Refused: an A that they have, other axes, two value types, another static extent. shape_error: extents that differ.
template <class A, class E, class... R>
  requires(detail::expression_like<E> && (detail::expression_like<R> && ...))
auto stack(E const& first, R const&... rest) {
  if constexpr (detail::is_poison<E> || (detail::is_poison<R> || ...))
    return detail::poison{};
  else {
    using Axes = typename E::axes_type;
    using V = typename detail::node_of<E>::value_type;
    using Other = typename detail::first_other<V, typename detail::node_of<R>::value_type...>::type;
    constexpr auto count = static_cast<extent_t>(1 + sizeof...(R));
    if constexpr (!detail::axis_tag<A>) {
      HEED_REFUSE_TAGS(detail::stack_word, A);
      return detail::poison{};
    } else if constexpr (detail::contains<A, Axes>) {
      HEED_REFUSE("stack: the operand has that axis already",
                  detail::mistakes::axis_is_already_there<detail::stack_word, A, Axes>);
      return detail::poison{};
    } else if constexpr (!(detail::same_set<Axes, typename R::axes_type> && ...)) {
      using First = typename detail::first_other_set<Axes, typename R::axes_type...>::type;
      HEED_REFUSE("stack: all operands must have the same axes",
                  detail::mistakes::axes_differ<detail::stack_word, Axes, First>);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<V, Other>) {
      HEED_REFUSE("stack: the value types differ (say cast)",
                  detail::mistakes::value_types_differ<detail::stack_word, V, Other>);
      return detail::poison{};
    } else if constexpr (!detail::is_dynamic<A> && detail::fixed_extent<A> != count) {
      HEED_REFUSE("stack: the axis counts the parts",
                  detail::mistakes::axis_counts_the_parts<A, detail::fixed_extent<A>, count>);
      return detail::poison{};
    } else {
      auto f = detail::as_node(first);
      (detail::check_extents(Axes{}, "stack", f, detail::as_node(rest)), ...);
      constexpr bool heavy = decltype(f)::heavy || (detail::node_of<R>::heavy || ...);
      return detail::joined_node<A, true, detail::unite<axes<A>, Axes>, decltype(f), detail::node_of<R>...>(
          heavy ? detail::fresh_id() : 0, std::move(f), detail::as_node(rest)...);
    }
  }
}

/// Evaluates e once and shares it, whatever stands around it. The axes of e. What is shared already stays as it is.
///
///     auto gate = let(sigmoid(dot<model>(x, w)));
auto let(expression auto const& e) {
  using E = std::remove_cvref_t<decltype(e)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else {
    auto n = detail::as_node(e);
    if constexpr (detail::is_shared<decltype(n)>)
      return n;
    else
      return detail::let_node<decltype(n)>(std::move(n), detail::fresh_id());
  }
}

/// Keeps an element with probability 1 - p and scales it by 1 / (1 - p); else 0 (p = 1: all 0). Which ones depends on the
/// seed and on the element's coordinates in x's axis order alone, so every schedule and thread count drops the same.
///
///     auto c = dot<key>(dropout(softmax<key>(s), 0.1, 1234), v);
///
/// Refused: integers. std::invalid_argument: a p outside [0, 1].
auto dropout(expression auto const& x, double p, std::uint64_t seed) {
  using E = std::remove_cvref_t<decltype(x)>;
  if (!(p >= 0 && p <= 1))
    throw std::invalid_argument("dropout: the probability must lie in [0, 1], not " + std::to_string(p));
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else if constexpr (!detail::is_real<typename detail::node_of<E>::value_type>) {
    HEED_REFUSE(
        "dropout: real values are needed (say cast)",
        detail::mistakes::value_type_does_not_serve<detail::dropout_word, typename detail::node_of<E>::value_type>);
    return detail::poison{};
  } else {
    auto n = detail::as_node(x);
    using N = decltype(n);
    detail::dropout_mask<typename N::axes_type> mask;
    mask.seed = detail::scramble(seed);
    mask.rule = detail::dropout_rule(p);
    return detail::make_map<detail::ops::dropped, typename N::value_type, typename N::axes_type>(
        detail::ops::dropped{p < 1 ? 1 / (1 - p) : 0}, std::move(n), mask);
  }
}
/// @private
template <expression E, class P, class Seed>
  requires(std::is_same_v<P, bool> || std::is_same_v<Seed, bool> || std::floating_point<Seed>)
auto dropout(E const&, P, Seed) {
  if constexpr (std::floating_point<Seed>)
    return detail::refuse_fraction<detail::dropout_word, E, Seed>();
  else if constexpr (std::is_same_v<P, bool>)
    HEED_REFUSE("dropout: the probability is a number, no switch: 0 keeps all",
                detail::mistakes::word_is_not_there<detail::dropout_switch_word, P>);
  else
    HEED_REFUSE("dropout: the seed is a number, no switch: p = 0 keeps all",
                detail::mistakes::word_is_not_there<detail::dropout_seed_word, Seed>);
  return detail::poison{};
}
}  // namespace HEED_ARCH

namespace detail {
inline namespace HEED_ARCH {
struct combine_word {
  static constexpr std::string_view name = "combine";
};
/// Whether contexts and log-sum-exps belong together.
template <class CA, class LA, class CB, class LB> struct combined {
  using context_a = typename CA::axes_type;
  using context_b = typename CB::axes_type;
  using sum_a = typename LA::axes_type;
  using sum_b = typename LB::axes_type;
  using value = typename node_of<CA>::value_type;
  using other = typename first_other<value, typename node_of<LA>::value_type, typename node_of<CB>::value_type,
                                     typename node_of<LB>::value_type>::type;
  static constexpr bool alternate = subset<sum_a, context_a>, same_sums = same_set<sum_a, sum_b>,
                        same_contexts = same_set<context_a, context_b>,
                        one_type = std::is_same_v<value, other> && is_real<value>;
  static constexpr bool fits = alternate && same_sums && same_contexts && one_type;
};
template <class C> std::pair<poison, poison> refuse_combined() {
  if constexpr (!C::alternate)
    HEED_REFUSE("combine: a context has all axes of its log-sum-exp (context, then log-sum-exp, twice)",
                mistakes::contexts_and_sums_do_not_fit<typename C::context_a, typename C::sum_a>);
  else if constexpr (!C::same_sums)
    HEED_REFUSE("combine: both log-sum-exps must have the same axes",
                mistakes::axes_differ<combine_word, typename C::sum_a, typename C::sum_b>);
  else if constexpr (!C::same_contexts)
    HEED_REFUSE("combine: both contexts must have the same axes",
                mistakes::axes_differ<combine_word, typename C::context_a, typename C::context_b>);
  else
    HEED_REFUSE("combine: the value types differ (say cast)",
                mistakes::value_types_differ<combine_word, typename C::value, typename C::other>);
  return {};
}
}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// Attention over two sets of keys from the attention over each: contexts and natural log-sum-exps in, a std::pair of
/// (context, log-sum-exp) out: l = log(exp(l_a) + exp(l_b)) and c = exp(l_a - l) c_a + exp(l_b - l) c_b, as blocks of keys
/// are merged in Dao et al. 2022. An empty part (log-sum-exp -infinity) is neutral. A context has all axes of its
/// log-sum-exp, and both parts have the same.
///
///     auto [context, lse] = combine(context_a, lse_a, context_b, lse_b);
///
/// Refused: other axes, two value types. shape_error: extents that differ.
template <expression CA, expression LA, expression CB, expression LB>
auto combine(CA const& context_a, LA const& lse_a, CB const& context_b, LB const& lse_b) {
  if constexpr (detail::is_poison<CA> || detail::is_poison<LA> || detail::is_poison<CB> || detail::is_poison<LB>)
    return std::pair(detail::poison{}, detail::poison{});
  else if constexpr (!detail::combined<CA, LA, CB, LB>::fits)
    return detail::refuse_combined<detail::combined<CA, LA, CB, LB>>();
  else {
    using T = typename detail::node_of<LA>::value_type;
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    auto m = heed::let(heed::max(lse_a, lse_b));
    auto safe = heed::where(m == lowest, T(0), m);
    // not -infinity in a sum: a reduction over the result would take it for an exclusion
    auto a = heed::exp(heed::max(lse_a, std::numeric_limits<T>::lowest()) - safe);
    auto b = heed::exp(heed::max(lse_b, std::numeric_limits<T>::lowest()) - safe);
    auto total = a + b;
    auto divisor = heed::let(heed::where(m == lowest, T(1), total));
    // what stands in the context of an empty part is nothing, whatever it is
    auto part_a = heed::where(lse_a == lowest, T(0), context_a);
    auto part_b = heed::where(lse_b == lowest, T(0), context_b);
    return std::pair(part_a * heed::let(a / divisor) + part_b * heed::let(b / divisor),
                     heed::where(m == lowest, lowest, safe + heed::log(divisor)));
  }
}
}  // namespace HEED_ARCH
}  // namespace heed
