// SPDX-License-Identifier: BSL-1.0
// In: expressions with a model axis. Out: attention in which several query heads share the keys and values of one head.
// Next to read: encoder.hpp, whole layers.
#pragma once

#include "attention_cache.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {
struct grouped_attention_word {
  static constexpr std::string_view name = "grouped_query_attention";
};
}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// w_q [model, kv_head, group, d_head], w_k [model, kv_head, d_head], w_v [model, kv_head, d_value],
/// w_o [kv_head, group, d_value, model]: query head kv_head * group + i reads the keys and values of kv_head. Group of
/// extent 1 is multi-head attention, KvHead of extent 1 multi-query attention (Shazeer 2019).
///
///     nn::grouped_attention_parameters<float, model, kv_head, group, d_head> p;
///
/// Refused: an axis twice in a tensor, an open extent that is not given.
template <class T, class Model, class KvHead, class Group, class DHead, class DValue = DHead>
struct grouped_attention_parameters {
  using layer = detail::grouped_attention_word;
  using model_axis = Model;
  using memory_axis = Model;
  using kv_head_axis = KvHead;
  using d_head_axis = DHead;
  using d_value_axis = DValue;
  using context_axes = axes<KvHead, Group, DValue>;
  using shapes = detail::shape_list<axes<Model, KvHead, Group, DHead>, axes<Model, KvHead, DHead>,
                                    axes<Model, KvHead, DValue>, axes<KvHead, Group, DValue, Model>>;

  detail::parameter<T, Model, KvHead, Group, DHead> w_q;   ///< [model, kv_head, group, d_head]
  detail::parameter<T, Model, KvHead, DHead> w_k;          ///< [model, kv_head, d_head]
  detail::parameter<T, Model, KvHead, DValue> w_v;         ///< [model, kv_head, d_value]
  detail::parameter<T, KvHead, Group, DValue, Model> w_o;  ///< [kv_head, group, d_value, model]

  grouped_attention_parameters() { detail::check_parameters<grouped_attention_parameters>(); }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit grouped_attention_parameters(X const&... extents)
      : w_q(detail::part<decltype(w_q)>(extents...)),
        w_k(detail::part<decltype(w_k)>(extents...)),
        w_v(detail::part<decltype(w_v)>(extents...)),
        w_o(detail::part<decltype(w_o)>(extents...)) {
    detail::check_parameters<grouped_attention_parameters, X...>();
  }

  template <class Self, class F> static void visit(Self& p, F&& f) { f(p.w_q), f(p.w_k), f(p.w_v), f(p.w_o); }
  template <class A> extent_t extent() const {
    return detail::first_extent<A>(detail::as_node(w_q), detail::as_node(w_v));
  }
  template <class Extents> static constexpr extent_t operations(Extents const& e, lengths n) {
    auto size = [&]<class... A>(axes<A...>) { return (extent_t{2} * ... * e.template extent<A>()); };
    extent_t const pairs = n.queries * (n.queries + n.cached);
    return n.sequences * (n.queries * detail::count_elements(shapes{}, e) * 2 +
                          pairs * (size(axes<KvHead, Group, DHead>{}) + size(axes<KvHead, Group, DValue>{})));
  }
};

/// softmax(mask(q k / sqrt(d_head))) v W_O with q = positions(x W_Q), k = positions(x W_K), v = x W_V (Ainslie et al.
/// 2023): x [..., query, model] to [..., query, model]; keys and values are read once for their group.
///
///     nn::grouped_attention_parameters<float, model, kv_head, group, d_head> p;
///     auto y = nn::grouped_query_attention<query, key>(x, p, nn::causal_mask<query, key>{},
///                                                      nn::rotary<d_head, query>{});
///
/// Refused: what multi_head_attention refuses.
template <class Query, class Key, class P, class Mask = unchanged_function, class Positions = unchanged_function>
auto grouped_query_attention(expression auto const& x, P const& p, Mask const& mask = {},
                             Positions const& positions = {}) {
  return nn::multi_head_attention<Query, Key>(x, p, mask, positions);
}
/// The same for the positions that come after those in the cache, causal unless another mask is given.
///
///     nn::attention_cache<float, decltype(p), key, batch> cache{key{2048}, batch{1}};
///     auto y = nn::grouped_query_attention<query, key>(x, p, cache, {}, nn::rotary<d_head, query>{});
///
/// Refused: as above. shape_error: more positions than the cache has room for.
template <class Query, class Key, class P, class Cache, class Mask = causal_mask<Query, Key>,
          class Positions = unchanged_function>
  requires(is_attention_cache<Cache>)
auto grouped_query_attention(expression auto const& x, P const& p, Cache& cache, Mask const& mask = {},
                             Positions const& positions = {}) {
  return nn::multi_head_attention<Query, Key>(x, p, cache, mask, positions);
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
