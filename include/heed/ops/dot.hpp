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
template <class... A> auto dot(expression auto const& left, expression auto const& right) {
  using LE = std::remove_cvref_t<decltype(left)>;
  using RE = std::remove_cvref_t<decltype(right)>;
  if constexpr (detail::is_poison<LE> || detail::is_poison<RE>)
    return detail::poison{};
  else {
    using LA = typename LE::axes_type;
    using RA = typename RE::axes_type;
    using L = typename detail::node_of<LE>::value_type;
    using R = typename detail::node_of<RE>::value_type;
    using MissingLeft = typename detail::first_missing<LA, A...>::type;
    using MissingRight = typename detail::first_missing<RA, A...>::type;
    if constexpr (!detail::good_tags<A...>) {
      HEED_REFUSE_TAGS(detail::dot_word, A...);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<MissingLeft, detail::no_axis>) {
      HEED_REFUSE("dot: the left operand has no such axis",
                  detail::mistakes::contracted_axis_missing_in_left_operand<detail::dot_word, MissingLeft, LA, RA>);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<MissingRight, detail::no_axis>) {
      HEED_REFUSE("dot: the right operand has no such axis",
                  detail::mistakes::contracted_axis_missing_in_right_operand<detail::dot_word, MissingRight, LA, RA>);
      return detail::poison{};
    } else if constexpr (!detail::is_real<L> || !detail::is_real<R>) {
      HEED_REFUSE(
          "dot: real values are needed (say cast)",
          detail::mistakes::value_type_does_not_serve<detail::dot_word, std::conditional_t<detail::is_real<L>, R, L>>);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<L, R>) {
      HEED_REFUSE("dot: the value types of the operands differ (say cast)",
                  detail::mistakes::value_types_differ<detail::dot_word, L, R>);
      return detail::poison{};
    } else {
      auto l = detail::as_node(left);
      auto r = detail::as_node(right);
      detail::check_extents(detail::intersection<LA, RA>{}, "dot", l, r);
      return detail::contraction<axes<A...>, decltype(l), decltype(r)>(std::move(l), std::move(r), detail::fresh_id());
    }
  }
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
