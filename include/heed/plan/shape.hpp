// SPDX-License-Identifier: BSL-1.0
// In: the type of an expression. Out: what its shape says before anything is computed: which nodes occur twice, what is
// excluded, which contractions stream, which node is a stage's anchor.
// Next to read: lower.hpp, which acts on it.
#pragma once

#include "interval.hpp"

namespace heed::plan {
inline namespace HEED_ARCH {

template <class... N> struct types {};
template <class X, class L> inline constexpr bool in_types = false;
template <class X, class... N> inline constexpr bool in_types<X, types<N...>> = (std::is_same_v<X, N> || ...);

template <class N> inline constexpr bool is_contraction = false;
template <class K, class L, class R> inline constexpr bool is_contraction<contraction<K, L, R>> = true;
template <class N> inline constexpr bool is_reduction = false;
template <class K, class O, class E, class S> inline constexpr bool is_reduction<reduction<K, O, E, S>> = true;
template <class N> inline constexpr bool is_elementwise = false;  // map and where: what fuses around an anchor
template <class Op, class T, class A, class... E> inline constexpr bool is_elementwise<map<Op, T, A, E...>> = true;
template <class M, class X> inline constexpr bool is_elementwise<where_node<M, X>> = true;

// ---------------------------------------------------------------- children
template <class N> struct children { using type = types<>; };
template <class Op, class T, class A, class... E> struct children<map<Op, T, A, E...>> { using type = types<E...>; };
template <class M, class X> struct children<where_node<M, X>> { using type = types<M, X>; };
template <class K, class L, class R> struct children<contraction<K, L, R>> { using type = types<L, R>; };
template <class K, class O, class E, class S> struct children<reduction<K, O, E, S>> {
  using type = std::conditional_t<std::is_same_v<S, no_axis>, types<E>, types<E, S>>;
};
template <class E> struct children<let_node<E>> { using type = types<E>; };
template <class C, class A, class E> struct children<reindexed<C, A, E>> { using type = types<E>; };
template <class A, class X, class T, class I> struct children<take_node<A, X, T, I>> { using type = types<T, I>; };
template <class A, bool S, class X, class... E> struct children<joined_node<A, S, X, E...>> {
  using type = types<E...>;
};
template <class E> struct children<term_node<E>> { using type = types<E>; };

template <class N> struct contains_contraction;
template <class L> struct any_contraction;
template <class... N> struct any_contraction<types<N...>> {
  static constexpr bool value = (contains_contraction<N>::value || ...);
};
template <class N> struct contains_contraction {
  static constexpr bool value = is_contraction<N> || any_contraction<typename children<N>::type>::value;
};
template <class N>
  requires(!N::heavy)
struct contains_contraction<N> {
  static constexpr bool value = false;
};

// ---------------------------------------------------------------- heavy nodes that occur more than once
template <class Seen, class Twice> struct census {
  using seen = Seen;
  using twice = Twice;
};
template <class L, class N> struct append_type;
template <class... T, class N> struct append_type<types<T...>, N> { using type = types<T..., N>; };
template <class C, class N> struct count_node;
template <class C, class L> struct count_all { using type = C; };
template <class C, class N, class... R>
struct count_all<C, types<N, R...>> : count_all<typename count_node<C, N>::type, types<R...>> {};
template <class C, class N, bool Seen> struct count_heavy {
  using type = typename count_all<census<typename append_type<typename C::seen, N>::type, typename C::twice>,
                                  typename children<N>::type>::type;
};
template <class C, class N> struct count_heavy<C, N, true> {
  using twice = std::conditional_t<in_types<N, typename C::twice>, typename C::twice,
                                   typename append_type<typename C::twice, N>::type>;
  using type = census<typename C::seen, twice>;
};
template <class C, class N> struct count_node { using type = C; };
template <class C, class N>
  requires(N::heavy)
struct count_node<C, N> : count_heavy<C, N, in_types<N, typename C::seen>> {};
template <class... Roots> using repeated = typename count_all<census<types<>, types<>>, types<Roots...>>::type::twice;

/// Whether X stands anywhere in N, N itself apart.
template <class X, class N> struct mentioned;
template <class X, class L> struct mentioned_in;
template <class X, class... N> struct mentioned_in<X, types<N...>> {
  static constexpr bool value = ((std::is_same_v<X, N> || mentioned<X, N>::value) || ...);
};
template <class X, class N> struct mentioned : mentioned_in<X, typename children<N>::type> {};

// ---------------------------------------------------------------- what is excluded, before lowering
// Marks: additive terms that are -infinity exclude. True below softmax and the other reductions, where exclusion is read.
template <class N> inline constexpr bool is_sum = false;
template <class T, class A, class L, class R> inline constexpr bool is_sum<map<ops::plus, T, A, L, R>> = is_real<T>;
template <class T, class A, class L, class R> inline constexpr bool is_sum<map<ops::minus, T, A, L, R>> = is_real<T>;
/// An operand of + or - that is a term: real, no number, without a contraction, no sum itself.
template <class N>
inline constexpr bool is_term =
    is_real<typename N::value_type> && !is_scalar<N> && !contains_contraction<N>::value && !is_sum<N>;

template <bool Marks, class N> struct excluding { static constexpr bool value = false; };
template <bool Marks, class M, class X> struct excluding<Marks, where_node<M, X>> {
  static constexpr bool value = true;
};
template <bool Marks, class Op, class T, class A, class... E> struct excluding<Marks, map<Op, T, A, E...>> {
  using N = map<Op, T, A, E...>;
  static constexpr bool value = (excluding<Marks, E>::value || ...) || (Marks && is_sum<N> && (is_term<E> || ...));
};
template <bool Marks, class E> struct excluding<Marks, let_node<E>> : excluding<Marks, E> {};
/// A norm is elementwise in what it excludes; like mean and variance it takes a term of -infinity for a number.
template <bool Marks, class O, class E, class S>
struct excluding<Marks, reduction<kinds::standardised, O, E, S>> : excluding<false, E> {};
template <bool Marks, class C, class A, class E> struct excluding<Marks, reindexed<C, A, E>> : excluding<Marks, E> {};
template <bool Marks, class A, bool S, class X, class... E> struct excluding<Marks, joined_node<A, S, X, E...>> {
  static constexpr bool value = (excluding<Marks, E>::value || ...);
};
template <bool Marks, class A, class X, class T, class I> struct excluding<Marks, take_node<A, X, T, I>> {
  static constexpr bool value = excluding<Marks, T>::value || excluding<false, I>::value;
};

/// Whether marks decide what is excluded from the tree at all: such a tree is stored once with them and once without.
template <class N> struct marking { static constexpr bool value = false; };
template <class M, class X> struct marking<where_node<M, X>> : marking<X> {};
template <class Op, class T, class A, class... E> struct marking<map<Op, T, A, E...>> {
  using N = map<Op, T, A, E...>;
  static constexpr bool value = (marking<E>::value || ...) || (is_sum<N> && (is_term<E> || ...));
};
template <class E> struct marking<let_node<E>> : marking<E> {};
template <class C, class A, class E> struct marking<reindexed<C, A, E>> : marking<E> {};
template <class A, bool S, class X, class... E> struct marking<joined_node<A, S, X, E...>> {
  static constexpr bool value = (marking<E>::value || ...);
};
template <class A, class X, class T, class I> struct marking<take_node<A, X, T, I>> : marking<T> {};

template <class Kind> inline constexpr bool marks_terms = !std::is_same_v<Kind, kinds::standardised>;

// ---------------------------------------------------------------- streaming
/// The softmax over K in which the tree is linear, or void.
template <class N, class K> struct linear_softmax { using type = void; };
template <class O, class E, class S, class K> struct linear_softmax<reduction<kinds::softmax, O, E, S>, K> {
  using type = std::conditional_t<same_set<O, K>, reduction<kinds::softmax, O, E, S>, void>;
};
template <class T, class A, class L, class R, class K> struct linear_softmax<map<ops::times, T, A, L, R>, K> {
  using l = typename linear_softmax<L, K>::type;
  using r = typename linear_softmax<R, K>::type;
  using type = std::conditional_t<std::is_void_v<l>, r, std::conditional_t<std::is_void_v<r>, l, void>>;
};
template <class T, class A, class L, class R, class K> struct linear_softmax<map<ops::divided, T, A, L, R>, K> {
  using type = std::conditional_t<std::is_void_v<typename linear_softmax<R, K>::type>,
                                  typename linear_softmax<L, K>::type, void>;
};
template <class Op, class T, class A, class L, class R, class K>
  requires(std::is_same_v<Op, ops::dropped> || std::is_same_v<Op, ops::first_of>)
struct linear_softmax<map<Op, T, A, L, R>, K> : linear_softmax<L, K> {};
template <class T, class A, class L, class K>
struct linear_softmax<map<ops::negated, T, A, L>, K> : linear_softmax<L, K> {};
template <class M, class X, class K> struct linear_softmax<where_node<M, X>, K> : linear_softmax<X, K> {};

/// A sum or difference of trees that are linear in a softmax each, with nothing excluded around them: the contraction
/// distributes over it.
template <class N, class K> inline constexpr bool distributes = false;
template <class N, class K>
inline constexpr bool is_weight_part = (!std::is_void_v<typename linear_softmax<N, K>::type> ||
                                        distributes<N, K>)&&subset<K, typename N::axes_type> &&
                                       !excluding<false, N>::value;
template <class T, class A, class L, class R, class K>
inline constexpr bool distributes<map<ops::plus, T, A, L, R>, K> =
    is_weight_part<L, K>&& is_weight_part<R, K>&& same_set<typename L::axes_type, typename R::axes_type>;
template <class T, class A, class L, class R, class K>
inline constexpr bool distributes<map<ops::minus, T, A, L, R>, K> =
    is_weight_part<L, K>&& is_weight_part<R, K>&& same_set<typename L::axes_type, typename R::axes_type>;

/// Some terminal has all axes of the tree: storing the tree would not be larger than what it is made of.
template <class N, class Axes> struct has_whole_terminal {
  static constexpr bool value = subset<Axes, typename N::axes_type> && !is_index_expression<N>;
};
template <class T, class Axes> struct has_whole_terminal<scalar<T>, Axes> { static constexpr bool value = false; };
template <class Op, class T, class A, class... E, class Axes> struct has_whole_terminal<map<Op, T, A, E...>, Axes> {
  static constexpr bool value = (has_whole_terminal<E, Axes>::value || ...);
};
template <class M, class X, class Axes> struct has_whole_terminal<where_node<M, X>, Axes> {
  static constexpr bool value = has_whole_terminal<M, Axes>::value || has_whole_terminal<X, Axes>::value;
};

template <class K> inline constexpr bool all_static = false;
template <class... A> inline constexpr bool all_static<axes<A...>> = !(is_dynamic<A> || ...);
template <class K> inline constexpr bool any_dynamic = false;
template <class... A> inline constexpr bool any_dynamic<axes<A...>> = (is_dynamic<A> || ...);

template <class N, class K> struct scores_in;
/// Whether X is a tree over a softmax or over dots that stream over O themselves.
template <class X, class O, bool Plain> constexpr bool holds_streamed() {
  if constexpr (!std::is_void_v<typename linear_softmax<X, O>::type> || distributes<X, O>)
    return true;
  else if constexpr (Plain)
    return scores_in<X, O>::count > 0;
  else
    return false;
}
/// A dot that is itself attention's result (softmax times values, or any streamed weights over keys that are counted at run
/// time, while K is a width): computed in tiles for what stands around it, it would store its weights.
template <class N, class K> inline constexpr bool is_context = false;
template <class O, class L, class R, class K>
inline constexpr bool is_context<contraction<O, L, R>, K> =
    plan::holds_streamed<L, O, all_static<K> && any_dynamic<O>>() ||
    plan::holds_streamed<R, O, all_static<K> && any_dynamic<O>>();

/// One operand has all axes of K that it has at all, the other none.
template <class N, class K> inline constexpr bool is_one_sided = false;
template <class O, class L, class R, class K>
inline constexpr bool is_one_sided<contraction<O, L, R>, K> = (intersection<K, typename L::axes_type>::rank > 0) !=
                                                                  (intersection<K, typename R::axes_type>::rank > 0) &&
                                                              !is_context<contraction<O, L, R>, K>;

/// A tree that would be stored for a dot that is no larger: a function of queries and keys together (additive attention).
template <class X, class O, class Whole>
inline constexpr bool is_larger_than_its_dot = is_elementwise<X>&& subset<Whole, unite<typename X::axes_type, O>> &&
                                               !has_whole_terminal<X, typename X::axes_type>::value;

template <class N> struct zero_rule;  // keep.hpp: whether softmaxes in N make zeros that a contraction skips
/// A dot that a streamed tree computes a tile at a time.
template <class N, class K> inline constexpr bool is_score = false;
template <class O, class L, class R, class K>
inline constexpr bool is_score<contraction<O, L, R>, K> =
    is_one_sided<contraction<O, L, R>, K> && !is_larger_than_its_dot<L, O, typename R::axes_type> &&
    !is_larger_than_its_dot<R, O, typename L::axes_type> && !excluding<false, L>::value &&
    !excluding<false, R>::value && !zero_rule<L>::value && !zero_rule<R>::value;  // products are skipped: not in a tile

template <class N, class K> struct scores_in {  // how many score dots stand in the elementwise part of the tree
  static constexpr int count = is_score<N, K> ? 1 : 0;
};
template <class Op, class T, class A, class... E, class K> struct scores_in<map<Op, T, A, E...>, K> {
  static constexpr int count = (scores_in<E, K>::count + ... + 0);
};
template <class M, class X, class K> struct scores_in<where_node<M, X>, K> {
  static constexpr int count = scores_in<X, K>::count;  // those of the condition are stored
};

inline constexpr int most_scores = 4;

enum class streaming { no, softmax, plain, distributed };
/// How P streams over K in a contraction with values, or in a reduction.
template <class P, class K> constexpr streaming streams_as() {
  using S = typename linear_softmax<P, K>::type;
  if constexpr (!subset<K, typename P::axes_type> || !is_real<typename P::value_type>)
    return streaming::no;
  else if constexpr (!std::is_void_v<S>) {
    using E = typename std::conditional_t<std::is_void_v<S>, type_tag<void>, S>;
    return scores_in<decltype(E::operand), K>::count <= most_scores ? streaming::softmax : streaming::no;
  } else if constexpr (distributes<P, K>)
    return streaming::distributed;
  else if constexpr (is_elementwise<P> || is_score<P, K>) {
    constexpr int n = scores_in<P, K>::count;
    return n <= most_scores && (n > 0 || !has_whole_terminal<P, typename P::axes_type>::value) ? streaming::plain
                                                                                               : streaming::no;
  } else
    return streaming::no;
}
/// Which operand of a contraction is a tree that streams: -1 none, 0 left, 1 right.
template <class N> inline constexpr int streamed_side = -1;
template <class K, class L, class R> constexpr int side_of() {
  constexpr streaming l = plan::streams_as<L, K>(), r = plan::streams_as<R, K>();
  if constexpr (l == streaming::softmax || l == streaming::distributed) return 0;
  if constexpr (r == streaming::softmax || r == streaming::distributed) return 1;
  // of two that could, a function of a dot is rather the weights, a bare dot rather projected values
  if constexpr (l == streaming::plain && !(is_contraction<L> && r == streaming::plain && !is_contraction<R>)) return 0;
  if constexpr (r == streaming::plain) return 1;
  return -1;
}
template <class K, class L, class R>
inline constexpr int streamed_side<contraction<K, L, R>> = plan::side_of<K, L, R>();

template <class N> struct skipped_by;  // keep.hpp: the axes of what decides which of N's products are skipped
/// What values exclude their weights exclude as well: 0 times a weight that is NaN or infinite would be NaN. A tile of weights
/// has no lanes of values, so a keep-set with these ends streaming.
template <class P, class V> constexpr bool weighs() {
  if constexpr (excluding<false, V>::value || zero_rule<V>::value)
    return subset<typename skipped_by<V>::axes_type, typename P::axes_type>;
  else
    return true;
}
template <class N> inline constexpr bool is_streamed_contraction = false;
template <class K, class L, class R>
  requires(streamed_side<contraction<K, L, R>> == 0)
inline constexpr bool is_streamed_contraction<contraction<K, L, R>> = plan::weighs<L, R>();
template <class K, class L, class R>
  requires(streamed_side<contraction<K, L, R>> == 1)
inline constexpr bool is_streamed_contraction<contraction<K, L, R>> = plan::weighs<R, L>();
/// Whether additive terms of -infinity in this operand (0 left, 1 right) exclude: in scores, streamed or not.
template <class N, int Side> inline constexpr bool marks_factor = false;
template <class K, class L, class R, int Side>
  requires(streamed_side<contraction<K, L, R>> == Side)
inline constexpr bool marks_factor<contraction<K, L, R>, Side> =
    plan::streams_as<std::conditional_t<Side == 0, L, R>, K>() == streaming::plain;

/// A function that is not linear (exp, tanh, relu) of dots, or of operands that are all smaller (positions): weights are such trees,
/// and so are features of queries and keys; projections are not, nor are these with a bias or turned by their positions.
template <class N> inline constexpr bool bends_dots = false;
template <class Op> inline constexpr bool is_linear = false;
template <> inline constexpr bool is_linear<ops::plus> = true;
template <> inline constexpr bool is_linear<ops::minus> = true;
template <> inline constexpr bool is_linear<ops::negated> = true;
template <> inline constexpr bool is_linear<ops::times> = true;
template <> inline constexpr bool is_linear<ops::divided> = true;
template <class Op, class T, class A, class... E>
inline constexpr bool bends_dots<map<Op, T, A, E...>> =
    (bends_dots<E> || ...) ||
    (!is_linear<Op> && ((contains_contraction<E>::value || ...) || !has_whole_terminal<map<Op, T, A, E...>, A>::value));

/// Whether a tree that streams over K has scores that may be contexts as well: dot<key>(sigmoid(s), v) is one in a projection behind
/// it, dot<feature>(relu(dot<model>(x, w)), k) is a score. The types are the same, so extents decide: what is stored is the smaller,
/// the contexts or the operand of the scores.
template <class P, class K> inline constexpr bool may_be_contexts = false;
template <class O, class L, class R, class K>
  requires(is_score<contraction<O, L, R>, K>)
inline constexpr bool may_be_contexts<contraction<O, L, R>, K> = bends_dots<L> || bends_dots<R>;
template <class Op, class T, class A, class... E, class K>
inline constexpr bool may_be_contexts<map<Op, T, A, E...>, K> = (may_be_contexts<E, K> || ...);
template <class M, class X, class K> inline constexpr bool may_be_contexts<where_node<M, X>, K> = may_be_contexts<X, K>;

/// The same of what terms exclude from.
template <class N> inline constexpr bool bends_marks = false;
template <class Op, class T, class A, class... E>
inline constexpr bool bends_marks<map<Op, T, A, E...>> = (bends_marks<E> || ...) ||
                                                         (!is_linear<Op> && (excluding<true, E>::value || ...));

/// Contexts whose weights exclude by terms: taken for scores, the weights would be stored without what these exclude. Any: also
/// where the weights lack K, and may be features of queries with a bias as well (a log_sum_exp of a vocabulary after relu).
template <class N, class K, bool Any> inline constexpr bool pools_contexts = false;
template <class O, class L, class R, class K, bool Any>
inline constexpr bool pools_contexts<contraction<O, L, R>, K, Any> =
    (marks_factor<contraction<O, L, R>, 0> && bends_marks<L> && (Any || subset<K, typename L::axes_type>)) ||
    (marks_factor<contraction<O, L, R>, 1> && bends_marks<R> && (Any || subset<K, typename R::axes_type>));
template <class Op, class T, class A, class... E, class K, bool Any>
inline constexpr bool pools_contexts<map<Op, T, A, E...>, K, Any> = (pools_contexts<E, K, Any> || ...);
template <class M, class X, class K, bool Any>
inline constexpr bool pools_contexts<where_node<M, X>, K, Any> = pools_contexts<X, K, Any>;

template <class Kind>
inline constexpr bool sums_up = std::is_same_v<Kind, kinds::sum> || std::is_same_v<Kind, kinds::mean>;
template <class Kind>
inline constexpr bool streams_alone =
    sums_up<Kind> || std::is_same_v<Kind, kinds::maximum> || std::is_same_v<Kind, kinds::log_sum_exp>;
template <class N> inline constexpr bool is_streamed_reduction = false;
template <class Kind, class O, class E, class S>
inline constexpr bool is_streamed_reduction<reduction<Kind, O, E, S>> =
    streams_alone<Kind>&& plan::streams_as<E, O>() == streaming::plain && !pools_contexts<E, O, sums_up<Kind>>;

// ---------------------------------------------------------------- anchors
/// 0: not an anchor here; else the better the larger. Root: the axes of the stage's result.
template <class Root, class N, class Forbidden> constexpr int anchor_score() {
  if constexpr (!N::heavy || in_types<N, Forbidden>)
    return 0;
  else if constexpr (is_contraction<N>) {
    if constexpr (!same_set<Root, typename N::axes_type>)
      return 0;
    else
      return is_streamed_contraction<N> ? 5 : 4;
  } else if constexpr (is_reduction<N>) {
    if constexpr (!same_set<Root, typename N::axes_type> || excluding<false, N>::value)  // its keep-set lies beside it
      return 0;
    else
      return is_streamed_reduction<N> ? 3 : 2;
  } else
    return 0;
}
template <class Root, class N, class Forbidden, bool Top> struct best_anchor {
  static constexpr int score = plan::anchor_score<Root, N, Forbidden>();
  using type = std::conditional_t<score != 0, N, void>;
};
template <class Best, class Root, class Forbidden, class... E> struct better_of {
  static constexpr int score = Best::score;
  using type = typename Best::type;
};
template <class Best, class Root, class Forbidden, class E, class... R>
struct better_of<Best, Root, Forbidden, E, R...>
    : better_of<std::conditional_t<(best_anchor<Root, E, Forbidden, false>::score > Best::score),
                                   best_anchor<Root, E, Forbidden, false>, Best>,
                Root, Forbidden, R...> {};
struct no_anchor {
  static constexpr int score = 0;
  using type = void;
};
template <class Root, class Op, class T, class A, class... E, class Forbidden, bool Top>
  requires(map<Op, T, A, E...>::heavy && (Top || !in_types<map<Op, T, A, E...>, Forbidden>))
struct best_anchor<Root, map<Op, T, A, E...>, Forbidden, Top> : better_of<no_anchor, Root, Forbidden, E...> {};
template <class Root, class M, class X, class Forbidden, bool Top>
  requires(where_node<M, X>::heavy && (Top || !in_types<where_node<M, X>, Forbidden>))
struct best_anchor<Root, where_node<M, X>, Forbidden, Top> : better_of<no_anchor, Root, Forbidden, X> {};

}  // namespace HEED_ARCH
}  // namespace heed::plan
