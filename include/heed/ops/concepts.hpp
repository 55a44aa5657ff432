// SPDX-License-Identifier: BSL-1.0
// In: types of expressions. Out: one concept a word that is true where the word compiles, for generic code and for tests: the
// words themselves refuse with a sentence, so a requires-expression around a call cannot tell.
// Next to read: ../loops.hpp, where words end and stages begin.
#pragma once

#include "rope.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

template <class E> using axes_of = typename std::remove_cvref_t<E>::axes_type;
template <class E> using value_in = typename node_of<E>::value_type;
template <class E>
concept live = expression_like<E> && !is_poison<E>;
template <class E, class... A>
concept live_over = live<E> && sizeof...(A) > 0 && subset<axes<A...>, axes_of<E>>;
template <class E, class... A>
concept real_over = live_over<E, A...> && is_real<value_in<E>>;
template <class L, class R>
concept nested = subset<axes_of<L>, axes_of<R>> || subset<axes_of<R>, axes_of<L>> ||
    (is_index_expression<node_of<L>>&& is_index_expression<node_of<R>>);
template <class L, class R>
concept one_type = !(is_real<value_in<L>> && is_real<value_in<R>> && !std::is_same_v<value_in<L>, value_in<R>>);

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// True where dot<A...>(l, r) compiles.
///
///     static_assert(can_dot<decltype(q), decltype(k), d_head> && !can_dot<decltype(q), decltype(k), model>);
template <class L, class R, class... A>
concept can_dot = detail::real_over<L, A...> && detail::real_over<R, A...> &&
    std::is_same_v<detail::value_in<L>, detail::value_in<R>>;
/// True where l + r, l - r, min, max, pow and comparisons compile; l * r and l / r take index expressions over any axes as well.
///
///     static_assert(can_add<decltype(x), decltype(gain)> && !can_add<decltype(x), decltype(bias)>);
template <class L, class R>
concept can_add = detail::live<L> && detail::live<R> && detail::nested<L, R> && detail::one_type<L, R>;
/// True where l * r and l / r compile.
///
///     static_assert(can_multiply<decltype(x), decltype(gain)>);
template <class L, class R>
concept can_multiply = detail::live<L> && detail::live<R> && detail::one_type<L, R> &&
    (detail::nested<L, R> || detail::is_index_expression<detail::node_of<L>> ||
     detail::is_index_expression<detail::node_of<R>>);
/// True where where(m, x) compiles.
///
///     static_assert(can_where<decltype(keep), decltype(s)> && !can_where<decltype(gain), decltype(x)>);
template <class M, class X>
concept can_where = detail::live<M> && detail::live<X> && !detail::is_real<detail::value_in<M>> &&
                    detail::is_real<detail::value_in<X>> && detail::subset<detail::axes_of<M>, detail::axes_of<X>>;
/// True where broadcast<A...>(e, ...) compiles.
///
///     static_assert(can_broadcast<decltype(bias), batch, head> && !can_broadcast<decltype(bias), key>);
template <class E, class... A>
concept can_broadcast =
    detail::live<E> && detail::distinct<axes<A...>> && detail::intersection<axes<A...>, detail::axes_of<E>>::rank == 0;

/// True where softmax<A...>(e) compiles.
///
///     static_assert(can_softmax<decltype(s), key> && !can_softmax<decltype(s), model>);
template <class E, class... A>
concept can_softmax = detail::real_over<E, A...>;
/// True where log_sum_exp<A...>(e) compiles.
///
///     static_assert(can_log_sum_exp<decltype(s), key> && !can_log_sum_exp<decltype(ids), query>);
template <class E, class... A>
concept can_log_sum_exp = detail::real_over<E, A...>;
/// True where mean<A...>(e) compiles.
///
///     static_assert(can_mean<decltype(x), query> && !can_mean<decltype(ids), query>);
template <class E, class... A>
concept can_mean = detail::real_over<E, A...>;
/// True where variance<A...>(e) compiles.
///
///     static_assert(can_variance<decltype(x), model> && !can_variance<decltype(x), key>);
template <class E, class... A>
concept can_variance = detail::real_over<E, A...>;
/// True where sum<A...>(e) compiles.
///
///     static_assert(can_sum<decltype(ids), query> && !can_sum<decltype(ids), key>);
template <class E, class... A>
concept can_sum = detail::live_over<E, A...>;
/// True where max<A...>(e) compiles.
///
///     static_assert(can_max<decltype(s), key> && !can_max<decltype(s), model>);
template <class E, class... A>
concept can_max = detail::live_over<E, A...>;
/// True where argmax<A>(e) compiles.
///
///     static_assert(can_argmax<decltype(logits), word> && !can_argmax<decltype(logits), key>);
template <class E, class A>
concept can_argmax = detail::live_over<E, A>;
/// True where cumsum<A>(e) compiles.
///
///     static_assert(can_cumsum<decltype(ids), query> && !can_cumsum<decltype(ids), key>);
template <class E, class A>
concept can_cumsum = detail::live_over<E, A>;
/// True where layer_norm<A>(e, ...) compiles.
///
///     static_assert(can_layer_norm<decltype(x), model> && !can_layer_norm<decltype(ids), query>);
template <class E, class A>
concept can_layer_norm = detail::real_over<E, A>;
/// True where rms_norm<A>(e, ...) compiles.
///
///     static_assert(can_rms_norm<decltype(x), model> && !can_rms_norm<decltype(x), key>);
template <class E, class A>
concept can_rms_norm = detail::real_over<E, A>;

/// True where split<A, B, C>(e, ...) compiles.
///
///     static_assert(can_split<decltype(q), head, kv_head, group> && !can_split<decltype(q), head, kv_head, query>);
template <class E, class A, class B, class C>
concept can_split = detail::live_over<E, A> && detail::distinct<detail::replace_in<detail::axes_of<E>, A, B, C>> &&
    (detail::is_dynamic<A> || detail::is_dynamic<B> || detail::is_dynamic<C> ||
     A::static_extent == B::static_extent * C::static_extent);
/// True where merge<B, C, A>(e) compiles.
///
///     static_assert(can_merge<decltype(q), head, d_head, model> && !can_merge<decltype(q), head, key, model>);
template <class E, class B, class C, class A>
concept can_merge = detail::live_over<E, B, C> &&
    detail::distinct<detail::rename_in<detail::difference<detail::axes_of<E>, axes<C>>, B, A>> &&
    (detail::is_dynamic<A> || detail::is_dynamic<B> || detail::is_dynamic<C> ||
     A::static_extent == B::static_extent * C::static_extent);
/// `can_slice<E, A>` for slice<A>(x, from, to), `can_slice<E, A, To>` for slice<A, To>(x, from).
///
///     static_assert(can_slice<decltype(x), query> && !can_slice<decltype(x), model>);  // model is static
template <class E, class A, class To = A>
concept can_slice = detail::live_over<E, A> &&
    (std::is_same_v<A, To> ? detail::is_dynamic<A>
                           : !detail::is_dynamic<To>)&&detail::distinct<detail::rename_in<detail::axes_of<E>, A, To>>;
/// True where at<A>(e, i) compiles.
///
///     static_assert(can_at<decltype(x), query> && !can_at<decltype(x), key>);
template <class E, class A>
concept can_at = detail::live_over<E, A>;
/// True where roll<A>(e, n) compiles.
///
///     static_assert(can_roll<decltype(ids), query> && !can_roll<decltype(ids), key>);
template <class E, class A>
concept can_roll = detail::live_over<E, A>;
/// True where concat<A>(x, y) compiles.
///
///     static_assert(can_concat<decltype(k), decltype(v), key> && !can_concat<decltype(k), decltype(q), key>);
template <class X, class Y, class A>
concept can_concat = detail::live_over<X, A> && detail::live<Y> && detail::is_dynamic<A> &&
    detail::same_set<detail::axes_of<X>, detail::axes_of<Y>> &&
    std::is_same_v<detail::value_in<X>, detail::value_in<Y>>;
/// True where stack<A>(e, ...) compiles.
///
///     static_assert(can_stack<part, decltype(k), decltype(v)> && !can_stack<part, decltype(k), decltype(q)>);
template <class A, class E, class... R>
concept can_stack = detail::live<E> && !detail::contains<A, detail::axes_of<E>> &&
                    (detail::same_set<detail::axes_of<E>, detail::axes_of<R>> && ...);
/// True where take<A>(table, ids) compiles.
///
///     static_assert(can_take<decltype(table), decltype(ids), word> && !can_take<decltype(table), decltype(x), word>);
template <class Table, class Ids, class A>
concept can_take = detail::live_over<Table, A> && detail::live<Ids> && detail::is_integer<detail::value_in<Ids>>;
/// True where rope<A, Position>(e, ...) compiles.
///
///     static_assert(can_rope<decltype(q), d_head, query> && !can_rope<decltype(q), d_head, key>);
template <class E, class A, class Position>
concept can_rope = detail::real_over<E, A, Position>;
/// True where evaluate_into(destination, e) compiles: both have the same axes, in any order.
///
///     static_assert(can_evaluate_into<decltype(q), decltype(q + 1)> && !can_evaluate_into<decltype(q), decltype(s)>);
template <class D, class E>
concept can_evaluate_into =
    detail::live<E> && detail::live<D> && detail::same_set<detail::axes_of<D>, detail::axes_of<E>>;
}  // namespace HEED_ARCH
}  // namespace heed
