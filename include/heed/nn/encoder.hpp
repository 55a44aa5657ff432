// SPDX-License-Identifier: BSL-1.0
// In: tokens [..., query, model]. Out: an encoder layer over them: self-attention and a feed-forward network, each in
// its residual connection.
// Next to read: decoder.hpp, layers that see a past or a memory.
#pragma once

#include "feed_forward.hpp"
#include "grouped_attention.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

struct encoder_layer_word {
  static constexpr std::string_view name = "encoder_layer";
};
/// feed_forward or gated_feed_forward, whichever the parameters are for.
template <class P, class Activation> auto either_feed_forward(expression auto&& x, P const& p, Activation const& f) {
  if constexpr (requires { p.w_gate; })
    return nn::gated_feed_forward(std::forward<decltype(x)>(x), p, f);
  else
    return nn::feed_forward(std::forward<decltype(x)>(x), p, f);
}

}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// The parameters of both sub-layers and of the norm of each. The parts are any of the structs of attention.hpp and
/// grouped_attention.hpp, feed_forward.hpp and norm.hpp over one model axis; extents that they leave open by name, each
/// once.
///
///     using attention = nn::biased_attention_parameters<float, model, head, d_head>;
///     using feed_forward = nn::biased_feed_forward_parameters<float, model, hidden>;
///     nn::encoder_layer_parameters<attention, feed_forward, nn::layer_norm_parameters<float, model>> p;
///
/// Refused: parts over different model axes.
template <class Attention, class FeedForward, class Norm> struct encoder_layer_parameters {
  using layer = detail::encoder_layer_word;
  using model_axis = typename Attention::model_axis;
  using shapes = detail::shapes_of_parts<Attention, Norm, FeedForward, Norm>;
  static constexpr bool one_model = detail::one_model<Attention, FeedForward, Norm>;

  Attention attention;       ///< its parameters
  Norm attention_norm;       ///< the norm around it
  FeedForward feed_forward;  ///< its parameters
  Norm feed_forward_norm;    ///< the norm around it

  encoder_layer_parameters() { detail::check_parts<encoder_layer_parameters, Attention, FeedForward, Norm>(); }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit encoder_layer_parameters(X const&... extents)
      : attention(detail::part<Attention>(extents...)),
        attention_norm(detail::part<Norm>(extents...)),
        feed_forward(detail::part<FeedForward>(extents...)),
        feed_forward_norm(detail::part<Norm>(extents...)) {
    detail::check_parts<encoder_layer_parameters, Attention, FeedForward, Norm>(extents...);
  }

  template <class Self, class F> static void visit(Self& p, F&& f) {
    Attention::visit(p.attention, f), Norm::visit(p.attention_norm, f);
    FeedForward::visit(p.feed_forward, f), Norm::visit(p.feed_forward_norm, f);
  }
  template <class A> extent_t extent() const { return detail::first_extent<A>(attention, feed_forward); }
  template <class Extents> static constexpr extent_t operations(Extents const& e, lengths n) {
    return Attention::operations(e, n) + FeedForward::operations(e, n);
  }
};

/// With the norms after the sub-layers (Vaswani et al. 2017, 3.1)
///     h = norm(x + attention(x)),  norm(h + feed_forward(h)),
/// with the norms before them (Xiong et al. 2020)
///     h = x + attention(norm(x)),  h + feed_forward(norm(h)):
/// x [..., query, model] to [..., query, model]. The activation is that of the feed-forward network, plain or gated;
/// mask and positions are those of attention. With a causal mask this is the layer of a model that only decodes.
///
///     auto y = nn::encoder_layer<query, key>(nn::pre_norm, x, p, nn::activations::gelu);
///
/// Refused: what attention refuses of x; parts over different model axes (where p is made).
template <class Query, class Key, detail::place_of_norms Place, class P, class Activation = activations::relu_function,
          class Mask = unchanged_function, class Positions = unchanged_function>
auto encoder_layer(Place place, expression auto const& x, P const& p, Activation const& activation = {},
                   Mask const& mask = {}, Positions const& positions = {}) {
  if constexpr (!requires { P::one_model; })
    return detail::refuse_parameters<detail::encoder_layer_word, P>();
  else if constexpr (!P::one_model)
    return detail::poison{};
  else if constexpr (detail::is_misfit<decltype(x), typename P::model_axis>) {
    HEED_REFUSE("layer: the input has no such axis (a forgotten rename?)",
                detail::mistakes::input_of_a_layer_lacks_an_axis<detail::encoder_layer_word, typename P::model_axis,
                                                                 typename std::remove_cvref_t<decltype(x)>::axes_type,
                                                                 axes<typename P::model_axis>>);
    return detail::poison{};
  } else {
    auto h = nn::residual(place, x, p.attention_norm, [&](auto&& n) {
      return nn::multi_head_attention<Query, Key>(std::forward<decltype(n)>(n), p.attention, mask, positions);
    });
    return nn::residual(place, std::move(h), p.feed_forward_norm, [&](auto&& n) {
      return detail::either_feed_forward(std::forward<decltype(n)>(n), p.feed_forward, activation);
    });
  }
}

/// @private
template <class Query, class Key> auto encoder_layer(expression auto const& x, auto const&...) {
  if constexpr (!detail::is_poison<decltype(x)>)
    HEED_REFUSE("layer: say first where the norms stand: nn::pre_norm or nn::post_norm",
                detail::mistakes::place_of_the_norms_is_missing<detail::encoder_layer_word, decltype(x)>);
  return detail::poison{};
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
