// SPDX-License-Identifier: BSL-1.0
// In: keys and values of new positions. Out: attention of these positions to all so far.
// Next to read: grouped_attention.hpp, which is mostly used with a cache.
#pragma once

#include "attention.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {
struct attention_cache_word {
  static constexpr std::string_view name = "attention_cache";
};
/// action(); where it throws, the cache is as long as before.
template <class Cache, class Action> auto append_or_restore(Cache& cache, Action const& action) {
  extent_t const before = cache.length();
  try {
    return action();
  } catch (...) {
    cache.truncate(before);
    throw;
  }
}
}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// Keys and values of a sequence that grows, as the attention with the parameters Attention makes them, stored as T;
/// Batch... are the other axes of its input. Extents that are left open by name, the capacity as that of Key.
///
///     nn::attention_cache<heed::bf16, attention, key, batch> cache{key{2048}, batch{1}};
template <class T, class Attention, class Key, class... Batch> struct attention_cache {
  using layer = detail::attention_cache_word;
  using shapes =
      detail::shape_list<axes<Key, Batch..., typename Attention::kv_head_axis, typename Attention::d_head_axis>,
                         axes<Key, Batch..., typename Attention::kv_head_axis, typename Attention::d_value_axis>>;

  /// [key, ..., head, d_head]
  kv_cache<T, Key, Batch..., typename Attention::kv_head_axis, typename Attention::d_head_axis> keys;
  /// [key, ..., head, d_value]
  kv_cache<T, Key, Batch..., typename Attention::kv_head_axis, typename Attention::d_value_axis> values;
  policy how;  ///< how append runs

  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit attention_cache(X const&... extents)
      : keys(detail::part<decltype(keys)>(extents...)),
        values(detail::part<decltype(values)>(extents...)) {
    detail::check_extents_given<attention_cache, X...>();
  }

  /// Positions so far.
  extent_t length() const { return keys.length(); }
  /// Stores the keys and values of new positions: both, or where that throws neither. Past the capacity: shape_error.
  void append(expression auto const& k, expression auto const& v) {
    extent_t const before = length();
    keys.append(how, k);
    try {
      values.append(how, v);
    } catch (...) {
      keys.truncate(before);
      throw;
    }
  }
  /// Keeps the first n positions.
  void truncate(extent_t n) { keys.truncate(n), values.truncate(n); }
};
/// @private
template <class C> inline constexpr bool is_attention_cache = false;
/// @private
template <class T, class A, class Key, class... B>
inline constexpr bool is_attention_cache<attention_cache<T, A, Key, B...>> = true;

/// Self-attention of the positions that come after those in the cache, by parts; their keys and values are computed and
/// appended at once, so x is best a tensor. Mask and positions get the number of positions that were there before. Where it
/// throws, as for a mask of other extents, nothing is appended.
///
///     auto a = nn::multi_head_attention_parts<query, key>(x, p, cache);
///     auto [y, w] = heed::evaluate(a.output, a.weights);  // the weights [batch, query, head, key] of all keys so far
///
/// Refused: what multi_head_attention refuses. shape_error: more positions than the cache has room for.
template <class Query, class Key, class P, class Cache, class Mask = causal_mask<Query, Key>,
          class Positions = unchanged_function>
  requires(is_attention_cache<Cache>)
auto multi_head_attention_parts(expression auto&& x, P const& p, Cache& cache, Mask const& mask = {},
                                Positions const& positions = {}) {
  auto const in =
      detail::self_input<typename P::layer, Query, Key, typename P::model_axis>(std::forward<decltype(x)>(x), p.w_q);
  extent_t const past = cache.length();
  auto const q = detail::with_past(positions, nn::project_queries(in, p), past);
  auto const k = detail::with_past(positions, nn::project_keys(in, p), past);
  auto const apply = [&](auto const& scores) { return detail::with_past(mask, scores, past); };
  return detail::append_or_restore(cache, [&] {
    cache.append(heed::rename<Query, Key>(k), heed::rename<Query, Key>(nn::project_values(in, p)));
    return nn::with_output(nn::attend<Key, typename P::d_head_axis>(
                               q, cache.keys.view(), cache.values.view(),
                               [&](auto const& scores) { return detail::masked_scores<Key>(mask, apply, scores); }),
                           p);
  });
}
/// The same as an expression; causal unless another mask is given.
///
///     auto y = nn::multi_head_attention<query, key>(x, p, cache);  // [batch, query, model]
///
/// Refused and thrown as above.
template <class Query, class Key, class P, class Cache, class Mask = causal_mask<Query, Key>,
          class Positions = unchanged_function>
  requires(is_attention_cache<Cache>)
auto multi_head_attention(expression auto&& x, P const& p, Cache& cache, Mask const& mask = {},
                          Positions const& positions = {}) {
  if constexpr (detail::parameters_of_attention<P>)
    return nn::multi_head_attention_parts<Query, Key>(std::forward<decltype(x)>(x), p, cache, mask, positions).output;
  else
    return detail::refuse_parameters<detail::attention_word, P>();
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
