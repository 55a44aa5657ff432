// SPDX-License-Identifier: BSL-1.0
// In: the type of an expression. Out: whether its softmaxes and sums over dots stream, or one of them would store its scores.
// Next to read: ../evaluate.hpp.
#pragma once

#include "keep.hpp"

namespace heed::plan {

template <class N> struct streams_rule;
template <class L> struct all_stream;
template <class... N> struct all_stream<types<N...>> { static constexpr bool value = (streams_rule<N>::value && ...); };
template <class N> struct streams_rule : all_stream<typename children<N>::type> {};
/// A row reduction over scores that are not streamed stores them.
template <class Kind, class O, class E, class S> struct streams_rule<reduction<Kind, O, E, S>> {
  static constexpr bool reads_rows = streams_alone<Kind> || std::is_same_v<Kind, kinds::softmax>;
  static constexpr bool stores_scores =
      reads_rows && scores_in<E, O>::count > 0 && !is_streamed_reduction<reduction<Kind, O, E, S>>;
  static constexpr bool value = !stores_scores && all_stream<typename children<reduction<Kind, O, E, S>>::type>::value;
};
/// The streamed side of a contraction: its softmax is not stored, what stands in it must stream by itself.
template <class K, class P> struct streams_inside { static constexpr bool value = streams_rule<P>::value; };
template <class K, class O, class E, class S> struct streams_inside<K, reduction<kinds::softmax, O, E, S>> {
  static constexpr bool value = all_stream<typename children<reduction<kinds::softmax, O, E, S>>::type>::value;
};
template <class K, class Op, class T, class A, class... E> struct streams_inside<K, map<Op, T, A, E...>> {
  static constexpr bool value = (streams_inside<K, E>::value && ...);
};
template <class K, class M, class X> struct streams_inside<K, where_node<M, X>> {
  static constexpr bool value = streams_rule<M>::value && streams_inside<K, X>::value;
};
template <class K, class L, class R> struct streams_rule<contraction<K, L, R>> {
  static constexpr int side = streamed_side<contraction<K, L, R>>;
  static constexpr bool value = (side == 0 ? streams_inside<K, L>::value : streams_rule<L>::value) &&
                                (side == 1 ? streams_inside<K, R>::value : streams_rule<R>::value);
};

}  // namespace heed::plan
