// SPDX-License-Identifier: BSL-1.0
// In: tokens [..., query, model], a memory or none, a cache or none. Out: a decoder layer over them.
// Next to read: ../cache.hpp, the cache below attention_cache.
#pragma once

#include "encoder.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

struct decoder_layer_word {
  static constexpr std::string_view name = "decoder_layer";
};
/// What both decoder layers with a memory are made of: self_attention says how the first sub-layer is computed.
template <class MemoryKey, class Place, class Memory, class P, class Activation, class Mask, class SelfAttention>
auto decode(Place place, expression auto const& x, Memory const& memory, P const& p, Activation const& activation,
            Mask const& memory_mask, SelfAttention const& self_attention) {
  if constexpr (!requires { P::one_model; })
    return detail::refuse_parameters<decoder_layer_word, P>();
  else if constexpr (!P::one_model)
    return poison{};
  else {
    auto h = nn::residual(place, x, p.attention_norm, self_attention);
    auto c = nn::residual(place, std::move(h), p.cross_attention_norm, [&](auto const& n) {
      return nn::multi_head_attention<MemoryKey>(n, memory, p.cross_attention, memory_mask);
    });
    return nn::residual(place, std::move(c), p.feed_forward_norm, [&](auto&& n) {
      return detail::either_feed_forward(std::forward<decltype(n)>(n), p.feed_forward, activation);
    });
  }
}

}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// The parameters of a layer that also reads a memory. One that does not has encoder_layer_parameters.
///
///     using attention = nn::biased_attention_parameters<float, model, head, d_head>;
///     using feed_forward = nn::biased_feed_forward_parameters<float, model, hidden>;
///     nn::decoder_layer_parameters<attention, attention, feed_forward, nn::layer_norm_parameters<float, model>> p;
///
/// Refused: parts over different model axes.
template <class SelfAttention, class CrossAttention, class FeedForward, class Norm> struct decoder_layer_parameters {
  using layer = detail::decoder_layer_word;
  using model_axis = typename SelfAttention::model_axis;
  using shapes = detail::shapes_of_parts<SelfAttention, Norm, CrossAttention, Norm, FeedForward, Norm>;
  static constexpr bool one_model = detail::one_model<SelfAttention, CrossAttention, FeedForward, Norm>;

  SelfAttention attention;         ///< its parameters
  Norm attention_norm;             ///< the norm around it
  CrossAttention cross_attention;  ///< of the attention to memory
  Norm cross_attention_norm;       ///< the norm around it
  FeedForward feed_forward;        ///< its parameters
  Norm feed_forward_norm;          ///< the norm around it

  decoder_layer_parameters() {
    detail::check_parts<decoder_layer_parameters, SelfAttention, CrossAttention, FeedForward, Norm>();
  }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit decoder_layer_parameters(X const&... extents)
      : attention(detail::part<SelfAttention>(extents...)),
        attention_norm(detail::part<Norm>(extents...)),
        cross_attention(detail::part<CrossAttention>(extents...)),
        cross_attention_norm(detail::part<Norm>(extents...)),
        feed_forward(detail::part<FeedForward>(extents...)),
        feed_forward_norm(detail::part<Norm>(extents...)) {
    detail::check_parts<decoder_layer_parameters, SelfAttention, CrossAttention, FeedForward, Norm>(extents...);
  }

  template <class Self, class F> static void visit(Self& p, F&& f) {
    SelfAttention::visit(p.attention, f), Norm::visit(p.attention_norm, f);
    CrossAttention::visit(p.cross_attention, f), Norm::visit(p.cross_attention_norm, f);
    FeedForward::visit(p.feed_forward, f), Norm::visit(p.feed_forward_norm, f);
  }
  template <class A> extent_t extent() const {
    return detail::first_extent<A>(attention, cross_attention, feed_forward);
  }
  template <class Extents> static constexpr extent_t operations(Extents const& e, lengths n) {
    lengths self = n, cross = n;
    self.memory = -1;
    cross.memory = n.memory < 0 ? 0 : n.memory;
    return SelfAttention::operations(e, self) + CrossAttention::operations(e, cross) + FeedForward::operations(e, n);
  }
};

/// Self-attention, attention to memory, feed-forward network, each in its residual connection (Vaswani et al. 2017,
/// 3.1): x [..., query, model], memory [..., memory_key, memory] or a projected_memory, to [..., query, model]. The
/// self-attention is causal unless another mask is given; memory_mask is that of the cross-attention.
///
///     auto y = nn::decoder_layer<query, key, source>(nn::post_norm, x, memory, p);
///
/// Refused: what attention refuses of x and of memory; parts over different model axes (where p is made).
template <class Query, class Key, class MemoryKey, detail::place_of_norms Place, class Memory, class P,
          class Activation = activations::relu_function, class Mask = causal_mask<Query, Key>,
          class MemoryMask = unchanged_function, class Positions = unchanged_function>
  requires(detail::memory_like<Memory> && !is_attention_cache<Activation>)
auto decoder_layer(Place place, expression auto const& x, Memory const& memory, P const& p,
                   Activation const& activation = {}, Mask const& mask = {}, MemoryMask const& memory_mask = {},
                   Positions const& positions = {}) {
  return detail::decode<MemoryKey>(place, x, memory, p, activation, memory_mask, [&](auto const& n) {
    return nn::multi_head_attention<Query, Key>(n, p.attention, mask, positions);
  });
}
/// The same for the positions that come after those in the cache. The keys and values of x are computed and appended at
/// once.
///
///     nn::attention_cache<float, attention, key, batch> cache{key{256}, batch{1}};
///     auto y = nn::decoder_layer<query, key, source>(nn::post_norm, x, memory, p, cache);
///
/// Refused: as above. shape_error: more positions than the cache has room for.
template <class Query, class Key, class MemoryKey, detail::place_of_norms Place, class Memory, class P, class Cache,
          class Activation = activations::relu_function, class Mask = causal_mask<Query, Key>,
          class MemoryMask = unchanged_function, class Positions = unchanged_function>
  requires(detail::memory_like<Memory>&& is_attention_cache<Cache>)
auto decoder_layer(Place place, expression auto const& x, Memory const& memory, P const& p, Cache& cache,
                   Activation const& activation = {}, Mask const& mask = {}, MemoryMask const& memory_mask = {},
                   Positions const& positions = {}) {
  return detail::append_or_restore(cache, [&] {
    return detail::decode<MemoryKey>(place, x, memory, p, activation, memory_mask, [&](auto const& n) {
      return nn::multi_head_attention<Query, Key>(n, p.attention, cache, mask, positions);
    });
  });
}
/// A layer without memory, as of a language model: the encoder layer of the positions that come after those in the
/// cache.
///
///     auto y = nn::decoder_layer<query, key>(nn::pre_norm, x, without_memory, cache, nn::activations::silu, {},
///                                            nn::rotary<d_head, query>{});
///
/// Refused: as above. shape_error: more positions than the cache has room for.
template <class Query, class Key, detail::place_of_norms Place, class P, class Cache,
          class Activation = activations::relu_function, class Mask = causal_mask<Query, Key>,
          class Positions = unchanged_function>
  requires(is_attention_cache<Cache>)
auto decoder_layer(Place place, expression auto const& x, P const& p, Cache& cache, Activation const& activation = {},
                   Mask const& mask = {}, Positions const& positions = {}) {
  if constexpr (!requires { P::one_model; })
    return detail::refuse_parameters<detail::decoder_layer_word, P>();
  else if constexpr (!P::one_model)
    return detail::poison{};
  else {
    return detail::append_or_restore(cache, [&] {
      auto h = nn::residual(place, x, p.attention_norm, [&](auto const& n) {
        return nn::multi_head_attention<Query, Key>(n, p.attention, cache, mask, positions);
      });
      return nn::residual(place, std::move(h), p.feed_forward_norm, [&](auto&& n) {
        return detail::either_feed_forward(std::forward<decltype(n)>(n), p.feed_forward, activation);
      });
    });
  }
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
