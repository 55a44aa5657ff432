// SPDX-License-Identifier: BSL-1.0
// In: queries, keys, values; or tokens and a struct of weights. Out: attention by parts, and the projections around it.
// Next to read: attention.hpp, the layer.
#pragma once

#include "norm.hpp"

#include <cmath>

namespace heed {
namespace detail {
namespace mistakes {
template <class Value> struct mask_gives_no_scores {
  static constexpr void write(writer& w) {
    w("attention: the mask gives values of type "), w(detail::type_name<Value>());
    w(", not scores: say where(keep, scores)");
  }
};
template <class Masked> struct mask_returns_nothing {
  static constexpr void write(writer& w) { w("attention: the mask returns nothing (a forgotten return?)"); }
};
}  // namespace mistakes
inline namespace HEED_ARCH {
struct attention_word {
  static constexpr std::string_view name = "attention";
};
/// Scores with a mask over them; refused, once, where one of them does not go over the keys.
template <class Key, class Mask, class Apply, class X> auto masked_scores(Mask const&, Apply const& apply, X&& e) {
  using E = std::remove_cvref_t<X>;
  if constexpr (is_poison<E>)
    return poison{};
  else if constexpr (!contains<Key, typename E::axes_type>) {
    HEED_REFUSE("attention: the scores have no such axis (a forgotten rename?)",
                mistakes::axis_is_missing<attention_word, Key, typename E::axes_type>);
    return poison{};
  } else if constexpr (!mask_is_over<Mask, Key>) {
    HEED_REFUSE("attention: the mask is over other keys (query and key swapped?)",
                mistakes::mask_is_over_other_keys<attention_word, typename keys_of_mask<Mask>::type, Key>);
    return poison{};
  } else {
    using Masked = std::remove_cvref_t<decltype(apply(std::forward<X>(e)))>;
    if constexpr (std::is_void_v<Masked>) {
      HEED_REFUSE("attention: the mask returns nothing (a forgotten return?)", mistakes::mask_returns_nothing<Masked>);
      return poison{};
    } else if constexpr (is_poison<Masked>)
      return poison{};
    else if constexpr (!is_real<typename node_of<Masked>::value_type>) {
      HEED_REFUSE("attention: the mask gives no scores: say where(keep, scores)",
                  mistakes::mask_gives_no_scores<typename node_of<Masked>::value_type>);
      return poison{};
    } else {
      auto masked = apply(std::forward<X>(e));
      return masked;
    }
  }
}
/// mask(q k / sqrt(d_head)).
template <class Key, class DHead, class Q, class K, class Mask> auto scores_of(Q&& q, K&& k, Mask const& mask) {
  auto const width = static_cast<double>(detail::node_in(q).template extent<DHead>());
  return detail::masked_scores<Key>(
      mask, [&]<class E>(E&& e) { return detail::without_past(mask, std::forward<E>(e)); },
      heed::dot<DHead>(std::forward<Q>(q), std::forward<K>(k)) / std::sqrt(width));
}
}  // namespace HEED_ARCH
}  // namespace detail
namespace nn {
inline namespace HEED_ARCH {

/// Every line of attention that somebody may want to look at, as expressions: what is not asked for is not computed.
///
///     auto parts = nn::attend<key, d_head>(q, k, v);
///     tensor looked_at = evaluate(parts.weights);  // the context is not computed
template <class Scores, class Weights, class LogSumExp, class Context> struct attended {
  Scores scores;          ///< [..., query, head, key], scaled and masked
  Weights weights;        ///< the same axes
  LogSumExp log_sum_exp;  ///< [..., query, head]
  Context context;        ///< [..., query, head, d_value]
};
/// @private
template <class Scores, class Weights, class LogSumExp, class Context>
attended(Scores, Weights, LogSumExp, Context) -> attended<Scores, Weights, LogSumExp, Context>;

/// The same, and what comes out of the layer.
///
///     auto parts = nn::multi_head_attention_parts<query, key>(x, p);
///     auto [y, w] = heed::evaluate(parts.output, parts.weights);
template <class Attended, class Output> struct attention_parts : Attended {
  Output output;  ///< [..., query, model]
};
/// @private
template <class Attended, class Output> attention_parts(Attended, Output) -> attention_parts<Attended, Output>;

/// softmax(mask(q k / sqrt(d_head))) v over Key (Vaswani et al. 2017, 3.2.1), by parts. q, k and v are any expressions
/// that have DHead (q, k) and Key (k, v): [..., query, d_head], [..., key, d_head], [..., key, d_value]; other shared axes
/// are batch axes.
///
///     auto a = nn::attend<key, d_head>(q, k, v, nn::causal_mask<query, key>{});
///     auto [context, weights] = heed::evaluate(a.context, a.weights);
///
/// Refused: a q, k or v without these axes, a mask over another Key, what dot, where and softmax refuse.
template <class Key, class DHead, class Mask = unchanged_function>
auto attend(expression auto&& q, expression auto&& k, expression auto&& v, Mask const& mask = {}) {
  auto scores = detail::scores_of<Key, DHead>(std::forward<decltype(q)>(q), std::forward<decltype(k)>(k), mask);
  auto weights = heed::softmax<Key>(scores);
  auto lse = heed::log_sum_exp<Key>(scores);
  auto context = heed::dot<Key>(weights, std::forward<decltype(v)>(v));
  return attended{std::move(scores), std::move(weights), std::move(lse), std::move(context)};
}

/// @{
/// The projections around it, for every parameter struct with w_q, w_k, w_v, w_o and names for their axes (see
/// attention.hpp): x W_Q + b_Q, memory W_K + b_K, memory W_V + b_V; a bias is added where the struct has it. [..., model] to
/// [..., head, d_head] or [..., head, d_value]. Refused: what dot refuses.
///
///     auto q = nn::project_queries(x, p);
///     auto k = nn::project_keys(rename<query, key>(x), p);
///     auto v = nn::project_values(rename<query, key>(x), p);
template <class P> auto project_queries(expression auto&& x, P const& p) {
  auto q = heed::dot<typename P::model_axis>(std::forward<decltype(x)>(x), p.w_q);
  if constexpr (requires { p.b_q; })
    return std::move(q) + p.b_q;
  else
    return q;
}
template <class P> auto project_keys(expression auto&& memory, P const& p) {
  auto k = heed::dot<typename P::memory_axis>(std::forward<decltype(memory)>(memory), p.w_k);
  if constexpr (requires { p.b_k; })
    return std::move(k) + p.b_k;
  else
    return k;
}
template <class P> auto project_values(expression auto&& memory, P const& p) {
  auto v = heed::dot<typename P::memory_axis>(std::forward<decltype(memory)>(memory), p.w_v);
  if constexpr (requires { p.b_v; })
    return std::move(v) + p.b_v;
  else
    return v;
}
/// @}
/// context W_O + b_O, over all axes of W_O but model: [..., head, d_value] to [..., model]. Refused: what dot refuses.
///
///     auto y = nn::project_context(nn::attend<key, d_head>(q, k, v).context, p);
template <class P> auto project_context(expression auto&& context, P const& p) {
  auto y = [&]<class... A>(axes<A...>) {
    return heed::dot<A...>(std::forward<decltype(context)>(context), p.w_o);
  }(typename P::context_axes{});
  if constexpr (requires { p.b_o; })
    return std::move(y) + p.b_o;
  else
    return y;
}
/// @private
template <class Attended, class P> auto with_output(Attended a, P const& p) {
  auto output = nn::project_context(a.context, p);
  return attention_parts{std::move(a), std::move(output)};
}

/// Keys and values of a memory that is read many times, as tensors; project_memory gives them as expressions.
///
///     auto expressions = nn::project_memory(rename<source, key>(memory), p);
///     nn::projected_memory m{evaluate(expressions.keys), evaluate(expressions.values)};
///     auto y = nn::multi_head_attention<key>(x, m, p);
template <class K, class V> struct projected_memory {
  K keys;    ///< [..., key, head, d_head]
  V values;  ///< [..., key, head, d_value]
};
/// @private
template <class K, class V> projected_memory(K, V) -> projected_memory<K, V>;
/// project_keys and project_values of a memory [..., key, memory], as expressions.
///
///     auto y = nn::multi_head_attention<source>(x, nn::project_memory(memory, p), p);
template <class P> auto project_memory(expression auto const& memory, P const& p) {
  return projected_memory{nn::project_keys(memory, p), nn::project_values(memory, p)};
}

}  // namespace HEED_ARCH
}  // namespace nn

namespace detail {
inline namespace HEED_ARCH {
template <class M> inline constexpr bool is_projected = false;
template <class K, class V> inline constexpr bool is_projected<nn::projected_memory<K, V>> = true;
/// What a cross-attention can read.
template <class M>
concept memory_like = expression_like<M> || is_projected<M>;
}  // namespace HEED_ARCH
}  // namespace detail
}  // namespace heed
