// SPDX-License-Identifier: BSL-1.0
// In: what a layer leaves to its user. Out: the usual answers as function objects: activations, masks, positions. Any
// callable that takes an expression and returns one serves as well.
// Next to read: norm.hpp, norms and residual connections.
#pragma once

#include "parameters.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

/// Calls f(e, past) where f takes two arguments, else f(e): past is the number of positions before the first of e.
template <class F, class E> auto without_past(F const& f, E&& e) {
  using Given = std::remove_reference_t<E> const&;
  if constexpr (is_poison<E>)
    return poison{};
  else if constexpr (expression_like<F> || !std::is_invocable_v<F const&, Given>) {
    HEED_REFUSE("nn: a function of an expression is needed (for a condition say nn::keep(...))",
                mistakes::it_is_no_function<F>);
    return poison{};
  } else if constexpr (std::is_invocable_v<F const&, E>)
    return f(std::forward<E>(e));
  else
    return f(static_cast<Given>(e));
}
template <class F, class E> auto with_past(F const& f, E&& e, [[maybe_unused]] extent_t past) {
  if constexpr (is_poison<E>)
    return poison{};
  else if constexpr (std::is_invocable_v<F const&, std::remove_reference_t<E> const&, extent_t>)
    return f(e, past);
  else
    return detail::without_past(f, std::forward<E>(e));
}

}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// Leaves an expression as it is: no mask, no positions, a linear activation.
///
///     auto y = nn::feed_forward(x, f, nn::unchanged);
struct unchanged_function {
  auto operator()(expression auto&& e) const { return detail::as_node(std::forward<decltype(e)>(e)); }
};
inline constexpr unchanged_function unchanged;  ///< `feed_forward(x, p, nn::unchanged)`

/// Activations by name; any callable from an expression to one serves as well.
///
///     auto y = nn::feed_forward(x, f, nn::activations::gelu);
///     auto z = nn::feed_forward(x, f, [](auto const& e) { return relu(e) * relu(e); });
namespace activations {
/// What activations::relu is: max(x, 0), the axes of x. Refused: integers.
///
///     auto h = nn::activations::relu(dot<model>(x, w_1));
struct relu_function {
  auto operator()(expression auto&& e) const { return heed::relu(std::forward<decltype(e)>(e)); }
};
/// What activations::gelu is: x Phi(x) (Hendrycks and Gimpel 2016), the axes of x. Refused: integers.
///
///     auto h = nn::activations::gelu(dot<model>(x, w_1));
struct gelu_function {
  auto operator()(expression auto&& e) const { return heed::gelu(std::forward<decltype(e)>(e)); }
};
/// What activations::gelu_tanh is: x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, the axes of x. Refused: integers.
///
///     auto h = nn::activations::gelu_tanh(dot<model>(x, w_1));
struct gelu_tanh_function {
  auto operator()(expression auto&& e) const { return heed::gelu_tanh(std::forward<decltype(e)>(e)); }
};
/// What activations::silu is: x / (1 + exp(-x)), the axes of x. Refused: integers.
///
///     auto h = nn::activations::silu(dot<model>(x, w_1));
struct silu_function {
  auto operator()(expression auto&& e) const { return heed::silu(std::forward<decltype(e)>(e)); }
};
/// What activations::sigmoid is: 1 / (1 + exp(-x)), the axes of x. Refused: integers.
///
///     auto h = nn::activations::sigmoid(dot<model>(x, w_1));
struct sigmoid_function {
  auto operator()(expression auto&& e) const { return heed::sigmoid(std::forward<decltype(e)>(e)); }
};
inline constexpr relu_function relu;            ///< Vaswani et al. 2017
inline constexpr gelu_function gelu;            ///< Hendrycks and Gimpel 2016
inline constexpr gelu_tanh_function gelu_tanh;  ///< its approximation
inline constexpr silu_function silu;            ///< the same paper; "swish" of Ramachandran et al. 2017
inline constexpr sigmoid_function sigmoid;      ///< of a gated linear unit
}  // namespace activations

/// Masks, and everything else that is done to scores before softmax: a callable from scores [..., query, ..., key] to
/// scores. One that takes a second argument gets, beside a cache, the number of positions before the first query.
///
/// causal_mask: position i sees itself and what is before it; without a cache both extents must be equal, else shape_error.
///
///     auto y = nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{});
///     auto near = [](auto const& scores, extent_t past) { return where(window<query, key>(512, past), scores); };
///     nn::attention_cache<float, decltype(p), key, batch> cache{key{2048}, batch{1}};
///     auto z = nn::multi_head_attention<query, key>(x, p, cache, near);
template <class Query, class Key> struct causal_mask {
  auto operator()(expression auto&& scores) const {
    return heed::where(heed::causal<Query, Key>(), std::forward<decltype(scores)>(scores));
  }
  auto operator()(expression auto const& scores, extent_t past) const {
    return heed::where(heed::causal<Query, Key>(past), scores);
  }
};
}  // namespace HEED_ARCH
}  // namespace nn
namespace detail {
inline namespace HEED_ARCH {
template <class Mask, class Key> inline constexpr bool mask_is_over = true;
template <class Query, class MaskKey, class Key>
inline constexpr bool mask_is_over<nn::causal_mask<Query, MaskKey>, Key> = std::is_same_v<MaskKey, Key>;
template <class Mask> struct keys_of_mask { using type = no_axis; };
template <class Query, class Key> struct keys_of_mask<nn::causal_mask<Query, Key>> { using type = Key; };
}  // namespace HEED_ARCH
}  // namespace detail
namespace nn {
inline namespace HEED_ARCH {
/// The mask that keeps where a condition over axes of the scores holds. Refused: what where refuses.
///
///     auto y = nn::multi_head_attention<query, key>(x, p, nn::keep(index<key>() < length));  // length [batch]
auto keep(expression auto const& condition) {
  return [c = detail::as_node(condition)](auto const& scores) { return heed::where(c, scores); };
}

/// Positions: a callable that is applied to queries and keys while both still have the axis Query; a second argument as
/// above. rotary turns pairs of DHead (Su et al. 2021); positions count from `first` on.
///
///     auto y = nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{}, nn::rotary<d_head, query>{});
template <class DHead, class Query> struct rotary {
  rope_pairs pairs = rope_pairs::interleaved;  ///< which elements turn together
  double base = 10000;                         ///< the angle falls with base^(-2 pair / extent)
  extent_t first = 0;                          ///< the position of the first query
  auto operator()(expression auto const& e, extent_t past = 0) const {
    return heed::rope<DHead, Query>(e, pairs, base, first + past);
  }
};

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
