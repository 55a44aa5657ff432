// SPDX-License-Identifier: BSL-1.0
// In: an expression with a model axis. Out: the position-wise feed-forward network over it, plain or gated.
// Next to read: attention.hpp, the other sub-layer.
#pragma once

#include "norm.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {
struct feed_forward_word {
  static constexpr std::string_view name = "feed_forward";
};
struct gated_feed_forward_word {
  static constexpr std::string_view name = "gated_feed_forward";
};
}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// w_1 [model, hidden], w_2 [hidden, model]: all zero at first, extents that the types leave open by name.
///
///     nn::feed_forward_parameters<float, model, hidden> p;
///     p.w_1(0, 0) = 1;
///
/// Refused: an axis twice, an open extent that is not given.
template <class T, class Model, class Hidden> struct feed_forward_parameters {
  using layer = detail::feed_forward_word;
  using model_axis = Model;
  using hidden_axis = Hidden;
  using shapes = detail::shape_list<axes<Model, Hidden>, axes<Hidden, Model>>;

  detail::parameter<T, Model, Hidden> w_1;  ///< [model, hidden]
  detail::parameter<T, Hidden, Model> w_2;  ///< [hidden, model]

  feed_forward_parameters() { detail::check_parameters<feed_forward_parameters>(); }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit feed_forward_parameters(X const&... extents)
      : w_1(detail::part<decltype(w_1)>(extents...)),
        w_2(detail::part<decltype(w_2)>(extents...)) {
    detail::check_parameters<feed_forward_parameters, X...>();
  }

  template <class Self, class F> static void visit(Self& p, F&& f) { f(p.w_1), f(p.w_2); }
  template <class A> extent_t extent() const { return detail::as_node(w_1).template extent<A>(); }
  template <class Extents> static constexpr extent_t operations(Extents const& e, lengths n) {
    return 2 * n.sequences * n.queries * detail::count_elements(shapes{}, e);
  }
};

/// The same with b_1 [hidden] and b_2 [model].
///
///     nn::biased_feed_forward_parameters<float, model, hidden> p;
///     auto y = nn::feed_forward(x, p);
template <class T, class Model, class Hidden>
struct biased_feed_forward_parameters : feed_forward_parameters<T, Model, Hidden> {
  using weights = feed_forward_parameters<T, Model, Hidden>;
  using shapes = detail::shape_list<axes<Model, Hidden>, axes<Hidden, Model>, axes<Hidden>, axes<Model>>;

  tensor<T, Hidden> b_1;  ///< [hidden]
  tensor<T, Model> b_2;   ///< [model]

  biased_feed_forward_parameters() = default;
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit biased_feed_forward_parameters(X const&... extents)
      : weights(extents...),
        b_1(detail::part<tensor<T, Hidden>>(extents...)),
        b_2(detail::part<tensor<T, Model>>(extents...)) {}

  template <class Self, class F> static void visit(Self& p, F&& f) { weights::visit(p, f), f(p.b_1), f(p.b_2); }
};

/// w_gate, w_up [model, hidden], w_down [hidden, model]: all zero at first, extents that the types leave open by name.
///
///     nn::gated_feed_forward_parameters<float, model, output> p{output{1376}};
///
/// Refused: an axis twice, an open extent that is not given.
template <class T, class Model, class Hidden> struct gated_feed_forward_parameters {
  using layer = detail::gated_feed_forward_word;
  using model_axis = Model;
  using hidden_axis = Hidden;
  using shapes = detail::shape_list<axes<Model, Hidden>, axes<Model, Hidden>, axes<Hidden, Model>>;

  detail::parameter<T, Model, Hidden> w_gate;  ///< [model, hidden]
  detail::parameter<T, Model, Hidden> w_up;    ///< [model, hidden]
  detail::parameter<T, Hidden, Model> w_down;  ///< [hidden, model]

  gated_feed_forward_parameters() { detail::check_parameters<gated_feed_forward_parameters>(); }
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit gated_feed_forward_parameters(X const&... extents)
      : w_gate(detail::part<decltype(w_gate)>(extents...)),
        w_up(detail::part<decltype(w_up)>(extents...)),
        w_down(detail::part<decltype(w_down)>(extents...)) {
    detail::check_parameters<gated_feed_forward_parameters, X...>();
  }

  template <class Self, class F> static void visit(Self& p, F&& f) { f(p.w_gate), f(p.w_up), f(p.w_down); }
  template <class A> extent_t extent() const { return detail::as_node(w_gate).template extent<A>(); }
  template <class Extents> static constexpr extent_t operations(Extents const& e, lengths n) {
    return 2 * n.sequences * n.queries * detail::count_elements(shapes{}, e);
  }
};

/// activation(x W_1 + b_1) W_2 + b_2 (Vaswani et al. 2017, 3.3): [..., model] to [..., model]. The biases are added
/// where the parameters have them.
///
///     nn::feed_forward_parameters<float, model, hidden> p;
///     auto y = nn::feed_forward(x, p, nn::activations::gelu);
///
/// Refused: an x without the model axis or of another value type.
template <class P, class Activation = activations::relu_function>
auto feed_forward(expression auto&& x, P const& p, Activation const& activation = {}) {
  if constexpr (!requires { p.w_1; })
    return detail::refuse_parameters<detail::feed_forward_word, P>();
  else {
    using Model = typename P::model_axis;
    auto inner = [&] {
      auto h =
          heed::dot<Model>(detail::layer_input<typename P::layer, Model>(std::forward<decltype(x)>(x), p.w_1), p.w_1);
      if constexpr (requires { p.b_1; })
        return std::move(h) + p.b_1;
      else
        return h;
    }();
    auto y = heed::dot<typename P::hidden_axis>(detail::without_past(activation, std::move(inner)), p.w_2);
    if constexpr (requires { p.b_2; })
      return std::move(y) + p.b_2;
    else
      return y;
  }
}

/// (activation(x W_gate) * (x W_up)) W_down (Shazeer 2020: SwiGLU with silu, GEGLU with gelu, GLU with sigmoid, ReGLU
/// with relu, bilinear with unchanged): [..., model] to [..., model]. Refused: as above.
///
///     nn::gated_feed_forward_parameters<float, model, hidden> p;
///     auto y = nn::gated_feed_forward(x, p);
template <class P, class Activation = activations::silu_function>
auto gated_feed_forward(expression auto&& x, P const& p, Activation const& activation = {}) {
  if constexpr (!requires { p.w_gate; })
    return detail::refuse_parameters<detail::gated_feed_forward_word, P>();
  else {
    using Model = typename P::model_axis;
    auto in = detail::layer_input<typename P::layer, Model>(std::forward<decltype(x)>(x), p.w_gate);
    auto gate = detail::without_past(activation, heed::dot<Model>(in, p.w_gate));
    return heed::dot<typename P::hidden_axis>(std::move(gate) * heed::dot<Model>(std::move(in), p.w_up), p.w_down);
  }
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
