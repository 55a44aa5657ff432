// SPDX-License-Identifier: BSL-1.0
// In: an expression with a model axis. Out: the same, normalised along it; and residual, a sub-layer with its norm
// before or after it.
// Next to read: feed_forward.hpp and attention.hpp, the sub-layers.
#pragma once

#include "choices.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {
struct norm_word {
  static constexpr std::string_view name = "norm";
};
}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// gamma (x - mean) / sqrt(variance + eps) + beta along Model (Ba et al. 2016). Starts with gamma 1 and beta 0.
///
///     nn::layer_norm_parameters<float, model> norm;
///     auto y = norm(x);  // the axes of x
///
/// Refused: an x without Model. A norm of another kind is any struct with a call operator like this one's; derive it from here
/// for its tensors.
template <class T, class Model> struct layer_norm_parameters {
  using layer = detail::norm_word;
  using model_axis = Model;
  using shapes = detail::shape_list<axes<Model>, axes<Model>>;

  tensor<T, Model> gamma;  ///< [model]
  tensor<T, Model> beta;   ///< [model]
  double eps = 1e-5;       ///< beside the variance

  layer_norm_parameters() { std::fill(gamma.begin(), gamma.end(), T(1.F)); }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit layer_norm_parameters(X const&... extents)
      : gamma(detail::part<tensor<T, Model>>(extents...)),
        beta(detail::part<tensor<T, Model>>(extents...)) {
    detail::check_parameters<layer_norm_parameters, X...>();
    std::fill(gamma.begin(), gamma.end(), T(1.F));
  }
  auto operator()(expression auto&& x) const {
    return heed::layer_norm<Model>(detail::layer_input<layer, Model>(std::forward<decltype(x)>(x), gamma), gamma, beta,
                                   eps);
  }

  template <class Self, class F> static void visit(Self& p, F&& f) { f(p.gamma), f(p.beta); }
  template <class A> extent_t extent() const { return gamma.heed_leaf().template extent<A>(); }
  template <class Extents> static constexpr extent_t operations(Extents const&, lengths) { return 0; }
};

/// gain x / sqrt(mean(x^2) + eps) along Model (Zhang and Sennrich 2019). Starts with gain 1.
///
///     nn::rms_norm_parameters<float, model> norm;
///     auto y = norm(x);  // the axes of x
///
/// Refused: an x without Model.
template <class T, class Model> struct rms_norm_parameters {
  using layer = detail::norm_word;
  using model_axis = Model;
  using shapes = detail::shape_list<axes<Model>>;

  tensor<T, Model> gain;  ///< [model]
  double eps = 1e-5;      ///< beside the mean square

  rms_norm_parameters() { std::fill(gain.begin(), gain.end(), T(1.F)); }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit rms_norm_parameters(X const&... extents) : gain(detail::part<tensor<T, Model>>(extents...)) {
    detail::check_parameters<rms_norm_parameters, X...>();
    std::fill(gain.begin(), gain.end(), T(1.F));
  }
  auto operator()(expression auto&& x) const {
    return heed::rms_norm<Model>(detail::layer_input<layer, Model>(std::forward<decltype(x)>(x), gain), gain, eps);
  }

  template <class Self, class F> static void visit(Self& p, F&& f) { f(p.gain); }
  template <class A> extent_t extent() const { return gain.heed_leaf().template extent<A>(); }
  template <class Extents> static constexpr extent_t operations(Extents const&, lengths) { return 0; }
};

/// Where a layer's norms stand, its first argument: after each sub-layer and its residual (Vaswani et al. 2017), or
/// before each sub-layer (Xiong et al. 2020).
///
///     auto h = nn::residual(nn::post_norm, x, norm, [](auto const& e) { return nn::feed_forward(e, p); });
struct norm_after {};
/// See norm_after.
///
///     auto h = nn::residual(nn::pre_norm, x, norm, [](auto const& e) { return nn::feed_forward(e, p); });
struct norm_before {};
inline constexpr norm_after post_norm;  ///< norm(x + f(x))
inline constexpr norm_before pre_norm;  ///< x + f(norm(x))
}  // namespace HEED_ARCH
}  // namespace nn
namespace detail {
inline namespace HEED_ARCH {
template <class P>
concept place_of_norms = std::is_same_v<P, nn::norm_after> || std::is_same_v<P, nn::norm_before>;
}  // namespace HEED_ARCH
}  // namespace detail
namespace nn {
inline namespace HEED_ARCH {

/// @{
/// A sub-layer in its residual connection: norm(x + f(x)), or x + f(norm(x)).
///
///     auto h = nn::residual(nn::pre_norm, x, norm, [&](auto const& n) { return nn::feed_forward(n, p); });
template <class Norm, class F> auto residual(norm_after, expression auto&& x, Norm const& norm, F const& sub_layer) {
  auto y = sub_layer(std::as_const(x));
  return norm(std::forward<decltype(x)>(x) + std::move(y));
}
template <class Norm, class F> auto residual(norm_before, expression auto&& x, Norm const& norm, F const& sub_layer) {
  auto y = sub_layer(norm(std::as_const(x)));
  return std::forward<decltype(x)>(x) + std::move(y);
}
/// @}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
