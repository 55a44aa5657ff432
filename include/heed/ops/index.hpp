// SPDX-License-Identifier: BSL-1.0
// In: axes, lengths, slopes. Out: coordinates as values, and what attention makes of them: where, causal, window, alibi.
// A mask is an expression like any other; the plan skips the tiles that it excludes and unmasks those that it keeps whole.
// Next to read: reduce.hpp, softmax and the other reductions.
#pragma once

#include "elementwise.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

struct where_word {
  static constexpr std::string_view name = "where";
};
struct index_word {
  static constexpr std::string_view name = "index";
};
struct index_call_word {
  static constexpr std::string_view name = "index", instead = ": it goes over one axis: index<key>()";
};
struct causal_word {
  static constexpr std::string_view name = "causal", part = "past";
};
struct window_word {
  static constexpr std::string_view name = "window", part = "past or the number of keys";
};
struct alibi_word {
  static constexpr std::string_view name = "alibi", part = "past";
};
struct causal_pair_word {
  static constexpr std::string_view name = "causal",
                                    instead = ": name the queries, then the keys: causal<query, key>()";
};

// `causal` demands equal extents: checked in every node that learns both.
template <class N, class E> struct diagonal_check {
  static void run(N const&, E const&) {}
};
template <class Q, class K, class T, class Axes, class L, class R, class E>
struct diagonal_check<map<ops::diagonal<Q, K>, T, Axes, L, R>, E> {
  static void run(map<ops::diagonal<Q, K>, T, Axes, L, R> const&, E const& e) {
    extent_t const q = e.template extent<Q>(), k = e.template extent<K>();
    if (q != dynamic && k != dynamic && q != k)
      throw shape_error("causal: axis " + detail::axis_name<Q>() + " has extent " + std::to_string(q) + " and axis " +
                        detail::axis_name<K>() + " has extent " + std::to_string(k) +
                        ": say where the diagonal starts, causal<" + detail::axis_name<Q>() + ", " +
                        detail::axis_name<K>() + ">(past)");
  }
};
template <class Op, class T, class Axes, class... X, class E>
  requires(has_diagonal<map<Op, T, Axes, X...>>)
struct diagonal_check<map<Op, T, Axes, X...>, E> {
  static void run(map<Op, T, Axes, X...> const& n, E const& e) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (diagonal_check<std::remove_cvref_t<decltype(n.template operand<I>())>, E>::run(n.template operand<I>(), e), ...);
    }
    (std::index_sequence_for<X...>{});
  }
};
template <class N, class E> void check_diagonals(N const& mask, E const& extents) {
  diagonal_check<N, E>::run(mask, extents);
}

template <class P>
concept past_like = operand_like<P>;

/// A number or an integer expression as a node; refused, once, where it is neither.
template <class Word, past_like Past> auto past_node(Past const& past) {
  using V = typename value_or_number<Past>::type;
  if constexpr (is_poison<Past>)
    return poison{};
  else if constexpr (!is_integer<V>) {
    HEED_REFUSE("past is an integer or an integer expression", mistakes::it_is_no_integer<Word, V>);
    return poison{};
  } else if constexpr (plain_number<Past>)
    return scalar<std::int64_t>(static_cast<std::int64_t>(past));
  else
    return detail::as_node(past);
}
/// Whether these can be the two axes of a mask.
template <class Query, class Key>
inline constexpr bool two_axes = axis_tag<Query>&& axis_tag<Key> && !std::is_same_v<Query, Key>;
template <class Word, class Query, class Key> poison refuse_pair() {
  if constexpr (!axis_tag<Query> || !axis_tag<Key>)
    HEED_REFUSE_TAGS(Word, Query, Key);
  else
    HEED_REFUSE("queries and keys are one axis (a forgotten rename?)", mistakes::query_and_key_are_one_axis<Word, Key>);
  return {};
}

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// The coordinate along A as an integer expression [A]. It has no extent of its own: it gets one from what it meets.
///
///     auto before = index<key>() <= index<query>();
template <class A> auto index() {
  if constexpr (detail::axis_tag<A>)
    return detail::index_node<A>{};
  else {
    HEED_REFUSE_TAGS(detail::index_word, A);
    return detail::poison{};
  }
}

/// @private
template <class... A>
  requires(sizeof...(A) != 1)
auto index() {
  HEED_REFUSE("index: it goes over one axis: index<key>()",
              detail::mistakes::word_is_not_there<detail::index_call_word, axes<A...>>);
  return detail::poison{};
}

/// x where keep holds, excluded elsewhere: softmax gives 0 there, every reduction and contraction skips it.
/// keep's axes must lie within x's, whose the result has. Stored alone, an excluded element is -infinity.
///
///     auto w = softmax<key>(where(causal<query, key>() && index<key>() < length, s));
///
/// Refused: a float as condition, a condition wider than x, integers as x. shape_error: extents that differ.
template <class M, class X>
  requires(detail::expression_like<M>&& detail::expression_like<X>)
auto where(M const& keep, X&& x) {
  if constexpr (detail::is_poison<M> || detail::is_poison<X>)
    return detail::poison{};
  else if constexpr (detail::is_real<typename detail::node_of<M>::value_type>) {
    HEED_REFUSE("where: the condition is no truth value: compare it, or add it to the scores if it is a bias",
                detail::mistakes::condition_is_no_truth_value<typename detail::node_of<M>::value_type>);
    return detail::poison{};
  } else {
    auto m = detail::cast_node<bool>(detail::as_node(keep));
    auto v = detail::as_node(std::forward<X>(x));
    using MA = typename decltype(m)::axes_type;
    using XA = typename decltype(v)::axes_type;
    if constexpr (!detail::subset<MA, XA>) {
      HEED_REFUSE("where: the condition has axes that the values lack (a forgotten rename?)",
                  detail::mistakes::condition_is_wider_than_the_values<MA, XA>);
      return detail::poison{};
    } else if constexpr (!detail::is_real<typename decltype(v)::value_type>) {
      HEED_REFUSE("where: exclusion needs real values",
                  detail::mistakes::value_type_does_not_serve<detail::where_word, typename decltype(v)::value_type>);
      return detail::poison{};
    } else {
      detail::check_extents(MA{}, "where", m, v);
      detail::check_diagonals(m, v);
      return detail::where_node<decltype(m), decltype(v)>(std::move(m), std::move(v), detail::fresh_id());
    }
  }
}
/// a where c holds, else b: a choice of values that excludes nothing. Branches that are no numbers must have c's axes.
///
///     auto leaky = where(x > 0, x, 0.01 * x);
///
/// Refused: as above, and branches of two real types.
template <class C, class A, class B>
  requires(detail::expression_like<C>&& detail::operand_like<A>&& detail::operand_like<B>)
auto where(C const& c, A const& a, B const& b) {
  if constexpr (detail::is_poison<C> || detail::is_poison<A> || detail::is_poison<B>)
    return detail::poison{};
  else if constexpr (detail::is_real<typename detail::node_of<C>::value_type>) {
    HEED_REFUSE("where: the condition is no truth value: compare it, or add it to the scores if it is a bias",
                detail::mistakes::condition_is_no_truth_value<typename detail::node_of<C>::value_type>);
    return detail::poison{};
  } else {
    auto m = detail::cast_node<bool>(detail::as_node(c));
    auto node = [](auto const& x, [[maybe_unused]] auto const& other) {
      using X = std::remove_cvref_t<decltype(x)>;
      using O = std::remove_cvref_t<decltype(other)>;
      if constexpr (detail::expression_like<X>)
        return detail::as_node(x);
      else if constexpr (detail::expression_like<O>)
        return detail::operand_node<O>(x);
      else if constexpr (std::is_floating_point_v<X> || std::is_same_v<X, bool>)
        return detail::scalar<X>(x);
      else
        return detail::scalar<std::int64_t>(x);
    };
    auto l = node(a, b);
    auto r = node(b, a);
    using L = decltype(l);
    using R = decltype(r);
    using MA = typename decltype(m)::axes_type;
    using LA = typename L::axes_type;
    using RA = typename R::axes_type;
    constexpr bool l_fits = detail::is_scalar<L> || detail::subset<MA, LA>,
                   r_fits = detail::is_scalar<R> || detail::subset<MA, RA>;
    if constexpr (!l_fits || !r_fits) {
      HEED_REFUSE("where: the condition has axes that the values lack (a forgotten rename?)",
                  detail::mistakes::condition_is_wider_than_the_values<MA, std::conditional_t<l_fits, RA, LA>>);
      return detail::poison{};
    } else if constexpr (!detail::axes_may_meet<L, R, detail::spans::nested>) {
      HEED_REFUSE("where: neither branch has all axes of the other",
                  detail::mistakes::operands_do_not_broadcast<detail::where_word, LA, RA>);
      return detail::poison{};
    } else {
      using both_bool = std::bool_constant<std::is_same_v<typename L::value_type, bool> &&
                                           std::is_same_v<typename R::value_type, bool>>;
      using T = std::conditional_t<both_bool::value, bool, typename detail::arithmetic_type<L, R>::type>;
      if constexpr (std::is_void_v<T>) {
        HEED_REFUSE(
            "where: the value types of the branches differ (say cast)",
            detail::mistakes::value_types_differ<detail::where_word, typename L::value_type, typename R::value_type>);
        return detail::poison{};
      } else {
        using Axes = detail::unite<detail::broadcast_t<LA, RA>, MA>;
        detail::check_extents(detail::intersection<LA, RA>{}, "where", l, r);
        detail::check_extents(detail::intersection<MA, LA>{}, "where", m, l);
        detail::check_extents(detail::intersection<MA, RA>{}, "where", m, r);
        auto e = detail::make_map<detail::ops::chosen, T, Axes>(detail::ops::chosen{}, std::move(m),
                                                                detail::cast_node<T>(std::move(l)),
                                                                detail::cast_node<T>(std::move(r)));
        detail::check_diagonals(e.template operand<0>(), e);
        return e;
      }
    }
  }
}

/// index<Key>() <= index<Query>() [query, key], and both extents must be equal (else shape_error, where it meets them): with
/// a cache, say where the diagonal starts.
///
///     auto s = where(causal<query, key>(), dot<d_head>(q, k));
///
/// Refused: one axis for both.
template <class Query, class Key> auto causal() {
  if constexpr (detail::two_axes<Query, Key>)
    return detail::make_map<detail::ops::diagonal<Query, Key>, bool, axes<Key, Query>>(
        detail::ops::diagonal<Query, Key>{}, detail::index_node<Key>{}, detail::index_node<Query>{});
  else
    return detail::refuse_pair<detail::causal_word, Query, Key>();
}
/// @private
template <class... A>
  requires(sizeof...(A) != 2)
auto causal() {
  HEED_REFUSE("causal: name the queries, then the keys: causal<query, key>()",
              detail::mistakes::word_is_not_there<detail::causal_pair_word, axes<A...>>);
  return detail::poison{};
}
/// index<Key>() <= index<Query>() + past. 0 aligns top-left, extent(key) - extent(query) bottom-right; an integer tensor
/// gives each sequence its own.
///
///     auto s = where(causal<query, key>(cache.length() - 1), dot<d_head>(q, cache.view()));
///
/// Refused: one axis for both, a past that is no integer.
template <class Query, class Key, detail::past_like Past> auto causal(Past const& past) {
  if constexpr (detail::two_axes<Query, Key>)
    return index<Key>() <= index<Query>() + detail::past_node<detail::causal_word>(past);
  else
    return detail::refuse_pair<detail::causal_word, Query, Key>();
}
/// Causal, and at most n keys, the query's own included: 0 <= index<Query>() + past - index<Key>() < n (Beltagy et al.
/// 2020).
///
///     auto s = where(window<query, key>(512), dot<d_head>(q, k));
///
/// Refused: one axis for both, an n or a past that is no integer.
template <class Query, class Key, detail::plain_number N, detail::past_like Past = extent_t>
auto window(N n, Past const& past = {}) {
  if constexpr (!detail::two_axes<Query, Key>)
    return detail::refuse_pair<detail::window_word, Query, Key>();
  else if constexpr (!std::integral<N>)
    return detail::past_node<detail::window_word>(n);
  else {
    auto position = index<Query>() + detail::past_node<detail::window_word>(past);
    return index<Key>() <= position && position - index<Key>() < static_cast<std::int64_t>(n);
  }
}
/// slopes * (index<Key>() - index<Query>() - past) (Press et al. 2022): the axes of slopes, Key and Query.
///
///     auto s = dot<d_head>(q, k) / 8.f + alibi<query, key>(alibi_slopes<head>());
///
/// Refused: one axis for both, a past that is no integer.
template <class Query, class Key, expression Slopes, detail::past_like Past = extent_t>
auto alibi(Slopes const& slopes, Past const& past = {}) {
  if constexpr (!detail::two_axes<Query, Key>)
    return detail::refuse_pair<detail::alibi_word, Query, Key>();
  else if constexpr (detail::plain_number<Past>)
    return slopes * (index<Key>() - (index<Query>() + detail::past_node<detail::alibi_word>(past)));
  else
    return slopes * (index<Key>() - index<Query>() - detail::past_node<detail::alibi_word>(past));
}
/// The slopes of the reference code: 2^(-8 i / n) for a power of two n; else those of the next lower power p, then every
/// second one of 2p's. A tensor [Head]; shape_error where n is not given and Head is open, or n is not Head's extent.
///
///     tensor slopes = alibi_slopes<head>();  // [head]
template <class Head, class T = float> auto alibi_slopes(extent_t n = Head::static_extent) {
  constexpr bool fractions = std::is_same_v<detail::value_of_t<T>, float> || std::is_same_v<T, double>;
  static_assert(fractions, "alibi_slopes: slopes are fractions: float, double, bf16 or f16");
  if constexpr (!fractions)
    return detail::poison{};
  else {
    if (n < 0) throw shape_error("alibi_slopes: the number of heads must be given");
    auto make = [n] {
      if constexpr (detail::is_dynamic<Head>)
        return tensor<T, Head>{Head{n}};
      else {
        if (n != Head::static_extent)
          detail::refuse_extents("alibi_slopes", detail::axis_name<Head>(), Head::static_extent, n);
        return tensor<T, Head>{};
      }
    };
    auto slopes = make();
    extent_t power = 1;
    while (power * 2 <= n) power *= 2;
    for (extent_t i = 0; i < n; ++i)
      slopes(i) = static_cast<T>(
          i < power ? std::exp2(-8.0 * static_cast<double>(i + 1) / static_cast<double>(power))
                    : std::exp2(-4.0 * static_cast<double>(2 * (i - power) + 1) / static_cast<double>(power)));
    return slopes;
  }
}
}  // namespace HEED_ARCH
}  // namespace heed
