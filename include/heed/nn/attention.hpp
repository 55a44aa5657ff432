// SPDX-License-Identifier: BSL-1.0
// In: expressions with a model axis. Out: multi-head attention over them, of a sequence to itself or to another, whole
// or by parts.
// Next to read: grouped_attention.hpp, heads that share keys, and the cache.
#pragma once

#include "attend.hpp"

namespace heed {
namespace nn {
inline namespace HEED_ARCH {

/// w_q [model, head, d_head], w_k [memory, head, d_head], w_v [memory, head, d_value], w_o [head, d_value, model]: all
/// zero at first, extents that the types leave open by name. Memory is the model axis of what is attended to.
///
///     nn::attention_parameters<float, model, head, d_head> p;
///     nn::attention_parameters<float, model, head, d_head, d_head, output> from_another_width{output{768}};
///
/// Refused: an axis twice in a tensor, an open extent that is not given.
template <class T, class Model, class Head, class DHead, class DValue = DHead, class Memory = Model>
struct attention_parameters {
  using layer = detail::attention_word;
  using model_axis = Model;
  using memory_axis = Memory;
  using kv_head_axis = Head;
  using d_head_axis = DHead;
  using d_value_axis = DValue;
  using context_axes = axes<Head, DValue>;
  using shapes = detail::shape_list<axes<Model, Head, DHead>, axes<Memory, Head, DHead>, axes<Memory, Head, DValue>,
                                    axes<Head, DValue, Model>>;

  detail::parameter<T, Model, Head, DHead> w_q;    ///< [model, head, d_head]
  detail::parameter<T, Memory, Head, DHead> w_k;   ///< [memory, head, d_head]
  detail::parameter<T, Memory, Head, DValue> w_v;  ///< [memory, head, d_value]
  detail::parameter<T, Head, DValue, Model> w_o;   ///< [head, d_value, model]

  attention_parameters() { detail::check_parameters<attention_parameters>(); }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit attention_parameters(X const&... extents)
      : w_q(detail::part<decltype(w_q)>(extents...)),
        w_k(detail::part<decltype(w_k)>(extents...)),
        w_v(detail::part<decltype(w_v)>(extents...)),
        w_o(detail::part<decltype(w_o)>(extents...)) {
    detail::check_parameters<attention_parameters, X...>();
  }

  template <class Self, class F> static void visit(Self& p, F&& f) { f(p.w_q), f(p.w_k), f(p.w_v), f(p.w_o); }
  template <class A> extent_t extent() const {
    return detail::first_extent<A>(detail::as_node(w_q), detail::as_node(w_v));
  }
  template <class Extents> static constexpr extent_t operations(Extents const& e, lengths n) {
    auto size = [&]<class... A>(axes<A...>) { return (extent_t{2} * ... * e.template extent<A>()); };
    extent_t const projected = n.memory < 0 ? n.queries : n.memory, keys = projected + (n.memory < 0 ? n.cached : 0);
    return n.sequences * (n.queries * (size(axes<Model, Head, DHead>{}) + size(axes<Head, DValue, Model>{})) +
                          projected * (size(axes<Memory, Head, DHead>{}) + size(axes<Memory, Head, DValue>{})) +
                          n.queries * keys * (size(axes<Head, DHead>{}) + size(axes<Head, DValue>{})));
  }
};

/// The same with b_q, b_k [head, d_head], b_v [head, d_value] and b_o [model].
///
///     nn::biased_attention_parameters<float, model, head, d_head> p;
///     auto y = nn::multi_head_attention<query, key>(x, p);
template <class T, class Model, class Head, class DHead, class DValue = DHead, class Memory = Model>
struct biased_attention_parameters : attention_parameters<T, Model, Head, DHead, DValue, Memory> {
  using weights = attention_parameters<T, Model, Head, DHead, DValue, Memory>;
  using shapes = typename detail::joined_shapes<
      typename weights::shapes,
      detail::shape_list<axes<Head, DHead>, axes<Head, DHead>, axes<Head, DValue>, axes<Model>>>::type;

  detail::parameter<T, Head, DHead> b_q;   ///< [head, d_head]
  detail::parameter<T, Head, DHead> b_k;   ///< [head, d_head]
  detail::parameter<T, Head, DValue> b_v;  ///< [head, d_value]
  tensor<T, Model> b_o;                    ///< [model]

  biased_attention_parameters() = default;
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit biased_attention_parameters(X const&... extents)
      : weights(extents...),
        b_q(detail::part<decltype(b_q)>(extents...)),
        b_k(detail::part<decltype(b_k)>(extents...)),
        b_v(detail::part<decltype(b_v)>(extents...)),
        b_o(detail::part<decltype(b_o)>(extents...)) {}

  template <class Self, class F> static void visit(Self& p, F&& f) {
    weights::visit(p, f), f(p.b_q), f(p.b_k), f(p.b_v), f(p.b_o);
  }
};

}  // namespace HEED_ARCH
}  // namespace nn
namespace detail {
inline namespace HEED_ARCH {
template <class Q, class K, class V> struct projections {
  Q queries;
  K keys;
  V values;
};
template <class Q, class K, class V> projections(Q, K, V) -> projections<Q, K, V>;
/// Of a sequence that attends to itself.
template <class Query, class Key, class X, class P, class Positions>
auto project_each(X&& x, P const& p, Positions const& positions) {
  auto in = detail::self_input<typename P::layer, Query, Key, typename P::model_axis>(std::forward<X>(x), p.w_q);
  auto q = detail::without_past(positions, nn::project_queries(in, p));
  auto k = heed::rename<Query, Key>(detail::without_past(positions, nn::project_keys(in, p)));
  auto v = heed::rename<Query, Key>(nn::project_values(std::move(in), p));
  return projections{std::move(q), std::move(k), std::move(v)};
}
}  // namespace HEED_ARCH
}  // namespace detail
namespace nn {
inline namespace HEED_ARCH {

/// Self-attention by parts: scores, weights, log_sum_exp, context and output. The mask is applied to the scaled scores,
/// the positions to queries and keys.
///
///     auto a = nn::multi_head_attention_parts<query, key>(x, p, nn::causal_mask<query, key>{});
///     auto [y, lse] = heed::evaluate(a.output, a.log_sum_exp);
template <class Query, class Key, class P, class Mask = unchanged_function, class Positions = unchanged_function>
auto multi_head_attention_parts(expression auto&& x, P const& p, Mask const& mask = {},
                                Positions const& positions = {}) {
  auto each = detail::project_each<Query, Key>(std::forward<decltype(x)>(x), p, positions);
  return nn::with_output(nn::attend<Key, typename P::d_head_axis>(std::move(each.queries), std::move(each.keys),
                                                                  std::move(each.values), mask),
                         p);
}
/// Cross-attention by parts: x [..., model] attends to keys and values [..., Key, head, ...] that are projected already.
/// Refused: what attend refuses.
///
///     auto a = nn::multi_head_attention_parts<source>(x, nn::project_memory(memory, p), p);
///     auto [y, w] = heed::evaluate(a.output, a.weights);  // [batch, query, model], [batch, query, head, source]
template <class Key, class K, class V, class P, class Mask = unchanged_function>
auto multi_head_attention_parts(expression auto const& x, projected_memory<K, V> const& memory, P const& p,
                                Mask const& mask = {}) {
  auto in = detail::layer_input<typename P::layer, typename P::model_axis>(x, p.w_q);
  return nn::with_output(
      nn::attend<Key, typename P::d_head_axis>(nn::project_queries(std::move(in), p), memory.keys, memory.values, mask),
      p);
}
/// The same over memory [..., Key, memory]. Refused: a memory without Key or its model axis.
///
///     auto a = nn::multi_head_attention_parts<source>(x, memory, p);
template <class Key, class P, class Mask = unchanged_function>
auto multi_head_attention_parts(expression auto const& x, expression auto const& memory, P const& p,
                                Mask const& mask = {}) {
  auto const from = detail::layer_input<typename P::layer, Key, typename P::memory_axis>(memory, p.w_k);
  return nn::multi_head_attention_parts<Key>(x, nn::project_memory(from, p), p, mask);
}

/// softmax(mask(q k / sqrt(d_head))) v W_O + b_O with q = x W_Q + b_Q, k = x W_K + b_K, v = x W_V + b_V, head by head
/// (Vaswani et al. 2017, 3.2.2): x [..., query, model] to [..., query, model]; Query is called Key where it is attended
/// to.
///
///     nn::attention_parameters<float, model, head, d_head> p;
///     auto y = nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{});
///
/// Refused: an x without Query or the model axis, with the axis Key, or of another value type than the parameters.
template <class Query, class Key, class P, class Mask = unchanged_function, class Positions = unchanged_function>
auto multi_head_attention(expression auto&& x, P const& p, Mask const& mask = {}, Positions const& positions = {}) {
  if constexpr (detail::parameters_of_attention<P>) {  // of the parts only what the output needs
    auto each = detail::project_each<Query, Key>(std::forward<decltype(x)>(x), p, positions);
    auto scores = detail::scores_of<Key, typename P::d_head_axis>(std::move(each.queries), std::move(each.keys), mask);
    return nn::project_context(heed::dot<Key>(heed::softmax<Key>(std::move(scores)), std::move(each.values)), p);
  } else
    return detail::refuse_parameters<detail::attention_word, P>();
}
/// The same with k and v from memory [..., key, memory].
///
///     auto y = nn::multi_head_attention<source>(x, memory, p);
///
/// Refused: a memory without Key or its model axis.
template <class Key, class Memory, class P, class Mask = unchanged_function>
  requires(detail::memory_like<Memory>)
auto multi_head_attention(expression auto const& x, Memory const& memory, P const& p, Mask const& mask = {}) {
  if constexpr (detail::parameters_of_attention<P>)
    return nn::multi_head_attention_parts<Key>(x, memory, p, mask).output;
  else
    return detail::refuse_parameters<detail::attention_word, P>();
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
