// SPDX-License-Identifier: BSL-1.0
// In: the type of an expression. Out: whether it streams: no dot that is larger than what it is made of is stored on the way to
// the result. It goes the way that lowering goes (lower*.hpp), by types alone: `lowered_scores` is what `lower` would store.
// Next to read: ../evaluate.hpp.
#pragma once

#include "keep.hpp"

namespace heed::plan {
inline namespace HEED_ARCH {

// ---------------------------------------------------------------- what is scores, what a projection
// dot<d_head>(q, k) has an axis of either operand, key and query, that is longer than the contracted one; so it is larger than
// q and k. A projection dot<model>(x, w) need not be. What axes cannot decide, the place in the formula does: see the readers.
template <class K> inline constexpr extent_t fixed_size = 1;
template <class... A> inline constexpr extent_t fixed_size<axes<A...>> = (extent_t{1} * ... * fixed_extent<A>);
template <class X, class O> inline constexpr bool may_be_longer = any_dynamic<X>;
template <class X, class O>
  requires(all_static<X>)
inline constexpr bool may_be_longer<X, O> = X::rank > 0 && (any_dynamic<O> || fixed_size<X> > fixed_size<O>);
/// Where both have an extent that is known, or only O does: an axis that is counted at run time is a sequence.
template <class X, class O> inline constexpr bool is_longer = all_static<O>&& may_be_longer<X, O>;
template <class X> inline constexpr bool all_dynamic = false;
template <class... A> inline constexpr bool all_dynamic<axes<A...>> = sizeof...(A) > 0 && (is_dynamic<A> && ...);

/// The axes of a dot that only one operand has: keys of the one that has an axis of K, lanes of the other.
template <class D, class K> struct sides;
template <class O, class L, class R, class K> struct sides<contraction<O, L, R>, K> {
  using l = difference<typename L::axes_type, O>;
  using r = difference<typename R::axes_type, O>;
  static constexpr bool right = intersection<K, r>::rank > 0 && intersection<K, l>::rank == 0;
  using keys = std::conditional_t<right, difference<r, l>, difference<l, r>>;
  using lanes = std::conditional_t<right, difference<l, r>, difference<r, l>>;
  static constexpr bool shared = intersection<l, r>::rank > 0;  // no weights: those have none of the other's axes
  using read = intersection<K, keys>;
  static constexpr bool larger = may_be_longer<read, O> && may_be_longer<lanes, O>;
  static constexpr bool surely_larger = larger && (shared || is_longer<read, O>);
  static constexpr bool of_sequences = all_static<O> && all_dynamic<keys> && all_dynamic<lanes>;
};

// ---------------------------------------------------------------- who reads it
namespace readers {
/// Part of a streamed tree: it is scores if it has the lanes that the tree's own dots have.
template <class Lanes> struct tree {
  template <class D, class K>
  static constexpr bool stores = is_one_sided<D, K>&& sides<D, K>::larger&& subset<Lanes, typename D::axes_type>;
};
/// An operand of a dot: what the dot contracts, or its other operand has, makes it no scores: projected keys.
template <class Gone> struct score {
  template <class D, class K>
  static constexpr bool stores = is_one_sided<D, K>&& sides<D, K>::larger &&
                                 (difference<typename sides<D, K>::lanes, Gone>::rank > 0);
};
/// A contraction that is not streamed, a norm: it may as well be over the width of a projection.
struct rows {
  template <class D, class K> static constexpr bool stores = is_one_sided<D, K>&& sides<D, K>::surely_larger;
};
/// A running sum, which goes along projected keys as well.
struct running {
  template <class D, class K>
  static constexpr bool stores = is_one_sided<D, K>&& sides<D, K>::larger&& sides<D, K>::shared;
};
/// Values, and what a dot of a streamed tree contracts: projections as a rule.
struct values {
  template <class D, class K> static constexpr bool stores = is_one_sided<D, K>&& sides<D, K>::of_sequences;
};
/// A reduction over axes of both operands, or over such as they share.
struct both {
  template <class D, class K> static constexpr bool on_either() {
    using S = sides<D, K>;
    if constexpr (is_one_sided<D, K> || is_context<D, K>)
      return false;
    else if constexpr (intersection<K, typename S::keys>::rank > 0 && intersection<K, typename S::lanes>::rank > 0)
      return S::surely_larger;
    else
      return S::shared && S::of_sequences;
  }
  template <class D, class K> static constexpr bool stores = both::on_either<D, K>();
};
/// Behind a reduction over O: what is left.
template <class Reader, class O> struct reduced {
  template <class D, class K>
  static constexpr bool stores = Reader::template stores<D, K> &&
                                 (difference<typename sides<D, K>::lanes, O>::rank > 0);
};
}  // namespace readers

// ---------------------------------------------------------------- what lowering stores
/// K, axes of a node with the axes Of, as axes of its operand with the axes In: those that a change of coordinates makes of others
/// are all that the result lacks.
template <class K, class Of, class In>
using below = std::conditional_t<difference<K, In>::rank == 0, K, unite<intersection<K, In>, difference<In, Of>>>;

/// Whether N, made a flat tree for a reader that goes over K, has scores stored.
template <class N, class K, class Reader> struct lowered_scores;
template <class L, class K, class Reader> struct any_lowered;
template <class... N, class K, class Reader> struct any_lowered<types<N...>, K, Reader> {
  static constexpr bool value = (lowered_scores<N, K, Reader>::value || ...);
};
template <class N, class K, class Reader> struct lowered_scores : any_lowered<typename children<N>::type, K, Reader> {};
template <class N, class K, class Reader>
  requires(!N::heavy || intersection<K, typename N::axes_type>::rank == 0)
struct lowered_scores<N, K, Reader> {
  static constexpr bool value = false;
};
template <class O, class L, class R, class K, class Reader>
  requires(intersection<K, typename contraction<O, L, R>::axes_type>::rank > 0)
struct lowered_scores<contraction<O, L, R>, K, Reader> {
  static constexpr bool value = Reader::template stores<contraction<O, L, R>, K>;
};
template <class Kind, class O, class E, class S, class K, class Reader>
  requires(intersection<K, typename reduction<Kind, O, E, S>::axes_type>::rank > 0)
struct lowered_scores<reduction<Kind, O, E, S>, K, Reader>
    : lowered_scores<E, intersection<K, typename reduction<Kind, O, E, S>::axes_type>,
                     std::conditional_t<Kind::keeps_axes, Reader, readers::reduced<Reader, O>>> {};
template <class C, class A, class E, class K, class Reader>
  requires(E::heavy&& intersection<K, A>::rank > 0)
struct lowered_scores<reindexed<C, A, E>, K, Reader> : lowered_scores<E, below<K, A, typename E::axes_type>, Reader> {};
/// Rows that are gathered by keys alone are in another order; buckets, by key and query, are others.
template <class A, class X, class T, class I, class K, class Reader>
  requires(T::heavy&& intersection<K, X>::rank > 0)
struct lowered_scores<take_node<A, X, T, I>, K, Reader>
    : lowered_scores<T,
                     unite<intersection<difference<K, axes<A>>, typename T::axes_type>,
                           std::conditional_t<subset<typename I::axes_type, K>, axes<A>, axes<>>>,
                     Reader> {};

// ---------------------------------------------------------------- a streamed tree
/// The lanes of its first dot: queries.
template <class N, class K> struct score_lanes { using type = axes<>; };
template <class L, class K> struct first_lanes { using type = axes<>; };
template <class N, class... R, class K> struct first_lanes<types<N, R...>, K> {
  using first = typename score_lanes<N, K>::type;
  using type = typename std::conditional_t<(first::rank > 0), type_tag<first>, first_lanes<types<R...>, K>>::type;
};
template <class O, class L, class R, class K>
  requires(is_score<contraction<O, L, R>, K>)
struct score_lanes<contraction<O, L, R>, K> {
  using type = typename sides<contraction<O, L, R>, K>::lanes;
};
template <class Op, class T, class A, class... E, class K>
struct score_lanes<map<Op, T, A, E...>, K> : first_lanes<types<E...>, K> {};
template <class M, class X, class K> struct score_lanes<where_node<M, X>, K> : score_lanes<X, K> {};
template <class O, class E, class S, class K>
struct score_lanes<reduction<kinds::softmax, O, E, S>, K> : score_lanes<E, K> {};

template <class N> struct streams_rule;
template <class L> struct all_stream;
template <class... N> struct all_stream<types<N...>> { static constexpr bool value = (streams_rule<N>::value && ...); };

/// N flat, for a reader that goes over K.
template <class N, class K, class Reader> constexpr bool streams_lowered() {
  if constexpr (lowered_scores<N, K, Reader>::value)
    return false;
  else
    return streams_rule<N>::value;
}
/// A tree over dots that are computed a tile at a time; everything else in it is flat.
template <class N, class K, class Lanes> struct streams_tree {
  static constexpr bool value = plan::streams_lowered<N, K, readers::tree<Lanes>>();
};
template <class Op, class T, class A, class... E, class K, class Lanes>
struct streams_tree<map<Op, T, A, E...>, K, Lanes> {
  static constexpr bool value = (streams_tree<E, K, Lanes>::value && ...);
};
template <class M, class X, class K, class Lanes> struct streams_tree<where_node<M, X>, K, Lanes> {
  static constexpr bool value = plan::streams_lowered<M, K, readers::tree<Lanes>>() && streams_tree<X, K, Lanes>::value;
};
template <class O, class L, class R, class K, class Lanes> struct streams_tree<contraction<O, L, R>, K, Lanes> {
  using N = contraction<O, L, R>;
  static constexpr bool go() {
    if constexpr (may_be_contexts<N, K> && streams_rule<N>::value)  // where that is the smaller
      return true;
    else if constexpr (is_score<N, K>)
      return plan::streams_lowered<L, K, readers::score<unite<O, typename R::axes_type>>>() &&
             plan::streams_lowered<R, K, readers::score<unite<O, typename L::axes_type>>>() &&
             !lowered_scores<L, O, readers::values>::value && !lowered_scores<R, O, readers::values>::value;
    else  // with a masked operand or a larger one: stored
      return !is_one_sided<N, K> && streams_rule<N>::value;
  }
  static constexpr bool value = go();
};
template <class N, class K> using streams_scores = streams_tree<N, K, typename score_lanes<N, K>::type>;

/// A streamed softmax and what stands around it.
template <class N, class K, class Lanes> constexpr bool streams_around();
template <class K, class O, class E, class S>
constexpr bool streams_softmax(type_tag<reduction<kinds::softmax, O, E, S>>) {
  return streams_scores<E, K>::value && streams_rule<S>::value;
}
template <class K, class Lanes, class... E> constexpr bool streams_around_all(types<E...>) {
  return (plan::streams_around<E, K, Lanes>() && ...);
}
template <class N, class K, class Lanes> constexpr bool streams_around() {
  if constexpr (std::is_void_v<typename linear_softmax<N, K>::type> && !distributes<N, K>)
    return plan::streams_lowered<N, K, readers::tree<Lanes>>();
  else if constexpr (is_reduction<N>)
    return plan::streams_softmax<K>(type_tag<N>{});
  else
    return plan::streams_around_all<K, Lanes>(typename children<N>::type{});
}

// ---------------------------------------------------------------- all nodes
template <class N> struct streams_rule : all_stream<typename children<N>::type> {};
template <> struct streams_rule<no_axis> { static constexpr bool value = true; };  // no sink

/// Reductions of rows: these are in memory, but for sum, mean, max and log_sum_exp of a streamed tree.
template <class Kind, class O, class E, class S> struct streams_rule<reduction<Kind, O, E, S>> {
  using N = reduction<Kind, O, E, S>;
  using reader = std::conditional_t<
      std::is_same_v<Kind, kinds::softmax> || std::is_same_v<Kind, kinds::argmax>, readers::tree<axes<>>,
      std::conditional_t<std::is_same_v<Kind, kinds::cumulative_sum>, readers::running, readers::rows>>;
  static constexpr bool go() {
    if constexpr (is_streamed_reduction<N>)
      return streams_scores<E, O>::value;
    else if constexpr (streams_alone<Kind> && pools_contexts<E, O, sums_up<Kind>>)
      return streams_rule<E>::value;
    else if constexpr ((streams_alone<Kind> || std::is_same_v<Kind, kinds::softmax>)&&scores_in<E, O>::count > 0)
      return false;
    else if constexpr (lowered_scores<E, O, readers::both>::value)
      return false;
    else
      return plan::streams_lowered<E, O, reader>();
  }
  static constexpr bool value = go() && streams_rule<S>::value;
};
/// One element of each row, found by ids: the row is stored.
template <class A, class X, class T, class I> struct streams_rule<take_node<A, X, T, I>> {
  static constexpr bool of_rows =
      I::axes_type::rank > 0 && subset<typename I::axes_type, difference<typename T::axes_type, axes<A>>>;
  static constexpr bool value = !(of_rows && lowered_scores<T, axes<A>, readers::tree<axes<>>>::value) &&
                                streams_rule<T>::value && streams_rule<I>::value;
};

template <class P, class V, class K> constexpr bool streams_over() {
  if constexpr (!plan::streams_lowered<V, K, readers::values>())
    return false;
  else if constexpr (plan::streams_as<P, K>() == streaming::plain)
    return streams_scores<P, K>::value;
  else
    return plan::streams_around<P, K, typename score_lanes<P, K>::type>();
}
template <class K, class L, class R> struct streams_rule<contraction<K, L, R>> {
  static constexpr bool go() {
    using N = contraction<K, L, R>;
    constexpr int side = streamed_side<N>;
    if constexpr (side >= 0 && !is_streamed_contraction<N>)
      return false;
    else if constexpr (side == 0)
      return plan::streams_over<L, R, K>();
    else if constexpr (side == 1)
      return plan::streams_over<R, L, K>();
    else
      return scores_in<L, K>::count <= most_scores && scores_in<R, K>::count <= most_scores &&
             plan::streams_lowered<L, K, readers::rows>() && plan::streams_lowered<R, K, readers::rows>();
  }
  static constexpr bool value = go();
};

}  // namespace HEED_ARCH
}  // namespace heed::plan
