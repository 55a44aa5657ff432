// SPDX-License-Identifier: BSL-1.0
// In: two expressions and the axes that both have and the result has not. Out: the contraction node.
// Projections, scores and contexts are all this one word. Axes that both have and that are not named are batch axes.
// Next to read: shape.hpp, other names and other layouts for the same elements.
#pragma once

#include "reduce.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {
struct packed_word {
  static constexpr std::string_view name = "packed";
};
struct dot_word {
  static constexpr std::string_view name = "dot", takes = "both operands are expressions",
                                    instead = " (a number is multiplied by *, of a cache say view())";
};
template <class... A, class LN, class RN> auto contracted(LN left, RN right) {
  if constexpr (is_poison<LN> || is_poison<RN>)
    return poison{};
  else {
    using LA = typename LN::axes_type;
    using RA = typename RN::axes_type;
    using L = typename LN::value_type;
    using R = typename RN::value_type;
    using MissingLeft = typename first_missing<LA, A...>::type;
    using MissingRight = typename first_missing<RA, A...>::type;
    if constexpr (!good_tags<A...>) {
      HEED_REFUSE_TAGS(dot_word, A...);
      return poison{};
    } else if constexpr (!std::is_same_v<MissingLeft, no_axis>) {
      HEED_REFUSE("dot: the left operand has no such axis",
                  mistakes::contracted_axis_missing_in_left_operand<dot_word, MissingLeft, LA, RA>);
      return poison{};
    } else if constexpr (!std::is_same_v<MissingRight, no_axis>) {
      HEED_REFUSE("dot: the right operand has no such axis",
                  mistakes::contracted_axis_missing_in_right_operand<dot_word, MissingRight, LA, RA>);
      return poison{};
    } else if constexpr (!is_real<L> || !is_real<R>) {
      HEED_REFUSE("dot: real values are needed (say cast)",
                  mistakes::value_type_does_not_serve<dot_word, std::conditional_t<is_real<L>, R, L>>);
      return poison{};
    } else if constexpr (!std::is_same_v<L, R>) {
      HEED_REFUSE("dot: the value types of the operands differ (say cast)",
                  mistakes::value_types_differ<dot_word, L, R>);
      return poison{};
    } else {
      detail::check_extents(intersection<LA, RA>{}, "dot", left, right);
      return contraction<axes<A...>, decltype(left), decltype(right)>(std::move(left), std::move(right),
                                                                      detail::fresh_id());
    }
  }
}
}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// sum over A... of left * right. The result has left's other axes, then right's new ones; axes that both have besides are
/// batch axes.
///
///     auto q = dot<model>(x, w_q);        // [batch, query, model] . [model, head, d_head] = [batch, query, head, d_head]
///     auto s = dot<d_head>(q, k);         // [batch, query, head, key]
///     auto y = dot<head, d_head>(c, w_o);
///
/// Refused: an axis of A... that one side lacks, integers, float beside double. shape_error: extents that differ.
template <class... A> auto dot(expression auto&& left, expression auto&& right) {
  return detail::contracted<A...>(detail::as_node(std::forward<decltype(left)>(left)),
                                  detail::as_node(std::forward<decltype(right)>(right)));
}
/// @private
template <class... A, class L, class R>
  requires(!expression<L> || !expression<R>)
auto dot(L const&, R const&) {
  HEED_REFUSE("dot: both operands are expressions (a number is multiplied by *, of a cache say view())",
              detail::mistakes::it_is_no_expression<detail::dot_word, std::conditional_t<expression<L>, R, L>>);
  return detail::poison{};
}
}  // namespace HEED_ARCH
}  // namespace heed
