// SPDX-License-Identifier: BSL-1.0
// In: the type of an expression. Out: whether its softmaxes and sums over dots stream, or one of them would store its scores.
// Next to read: ../evaluate.hpp.
#pragma once

#include "keep.hpp"

namespace heed::plan {
inline namespace HEED_ARCH {

template <class N> struct streams_rule;
template <class L> struct all_stream;
template <class... N> struct all_stream<types<N...>> { static constexpr bool value = (streams_rule<N>::value && ...); };
template <class N> struct streams_rule : all_stream<typename children<N>::type> {};
/// A row reduction over scores that are not streamed stores them.
template <class Kind, class O, class E, class S> struct streams_rule<reduction<Kind, O, E, S>> {
  using N = reduction<Kind, O, E, S>;
  static constexpr bool reads_rows = streams_alone<Kind> || std::is_same_v<Kind, kinds::softmax>;
  static constexpr bool stores_scores =
      reads_rows && (stored_scores<E, O>::value || (scores_in<E, O>::count > 0 && !is_streamed_reduction<N>));
  static constexpr bool value = !stores_scores && all_stream<typename children<N>::type>::value;
};
/// What stands around a streamed softmax: no other scores, which would be stored; its own are not.
template <class K, class N> struct streams_around {
  static constexpr bool value = scores_in<N, K>::count == 0 && !stored_scores<N, K>::value && streams_rule<N>::value;
};
template <class K, class O, class E, class S> struct streams_around<K, reduction<kinds::softmax, O, E, S>> {
  static constexpr bool value =
      !stored_scores<E, O>::value && all_stream<typename children<reduction<kinds::softmax, O, E, S>>::type>::value;
};
template <class K, class Op, class T, class A, class... E> struct streams_around<K, map<Op, T, A, E...>> {
  static constexpr bool value = (streams_around<K, E>::value && ...);
};
template <class K, class M, class X> struct streams_around<K, where_node<M, X>> {
  static constexpr bool value = scores_in<M, K>::count == 0 && streams_rule<M>::value && streams_around<K, X>::value;
};
/// The streamed side of a contraction.
template <class K, class P> constexpr bool streams_inside() {
  if constexpr (plan::streams_as<P, K>() == streaming::plain)
    return !stored_scores<P, K>::value && streams_rule<P>::value;
  else
    return streams_around<K, P>::value;
}
template <class K, class N, bool Streamed> constexpr bool streams_as_operand() {
  if constexpr (Streamed)
    return plan::streams_inside<K, N>();
  else
    return streams_rule<N>::value;
}
template <class K, class L, class R> struct streams_rule<contraction<K, L, R>> {
  static constexpr int side = streamed_side<contraction<K, L, R>>;
  static constexpr bool value =
      plan::streams_as_operand<K, L, side == 0>() && plan::streams_as_operand<K, R, side == 1>();
};

}  // namespace HEED_ARCH
}  // namespace heed::plan
