// SPDX-License-Identifier: BSL-1.0
// In: an expression and the axes to go over. Out: reduction nodes: softmax, log_sum_exp, sum, mean, max, variance, argmax,
// cumsum, and the norms that are made of them. Excluded elements are skipped; a row without any gives 0 (max: -infinity).
// Next to read: dot.hpp, the contraction.
#pragma once

#include "index.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

namespace kinds {
template <class V> using real_or_count = std::conditional_t<is_real<V>, V, std::int64_t>;
struct softmax {
  static constexpr std::string_view name = "softmax", part = "sink";
  static constexpr bool keeps_axes = true, needs_real = true;
  template <class V> using result = V;
};
struct log_sum_exp {
  static constexpr std::string_view name = "log_sum_exp", part = "sink";
  static constexpr bool keeps_axes = false, needs_real = true;
  template <class V> using result = V;
};
struct sum {
  static constexpr std::string_view name = "sum";
  static constexpr bool keeps_axes = false, needs_real = false;
  template <class V> using result = real_or_count<V>;
};
struct mean {
  static constexpr std::string_view name = "mean";
  static constexpr bool keeps_axes = false, needs_real = true;
  template <class V> using result = V;
};
struct maximum {
  static constexpr std::string_view name = "max";
  static constexpr bool keeps_axes = false, needs_real = false;
  template <class V> using result = real_or_count<V>;
};
struct variance {
  static constexpr std::string_view name = "variance";
  static constexpr bool keeps_axes = false, needs_real = true;
  template <class V> using result = V;
};
struct argmax {
  static constexpr std::string_view name = "argmax";
  static constexpr bool keeps_axes = false, needs_real = false;
  template <class V> using result = std::int64_t;
};
struct cumulative_sum {
  static constexpr std::string_view name = "cumsum";
  static constexpr bool keeps_axes = true, needs_real = false;
  template <class V> using result = real_or_count<V>;
};
/// (x - mean) / sqrt(variance + eps), or x / sqrt(mean(x^2) + eps) where not centred.
struct standardised {
  static constexpr std::string_view name = "norm";
  static constexpr bool keeps_axes = true, needs_real = true;
  template <class V> using result = V;
  bool centred = true;
  double eps = 1e-5;
};
}  // namespace kinds

/// The first of A... that the list lacks, or no_axis.
template <class List, class... A> struct first_missing { using type = no_axis; };
template <class List, class A, class... R> struct first_missing<List, A, R...> {
  using type = typename std::conditional_t<contains<A, List>, first_missing<List, R...>, type_tag<A>>::type;
};

template <class Kind> struct sink_switch_word {
  static constexpr std::string_view name = Kind::name,
                                    instead =
                                        ": the sink is a number or an expression, no switch: axes are named, and "
                                        "there is nothing to keep of those that are reduced";
};
template <class Kind, class... A, class E, class Sink = no_axis> auto reduce(Kind kind, E n, Sink const& sink = {}) {
  using N = decltype(n);  // editors show the type as it is spelled: reduction<Kind, axes<A...>, N>
  if constexpr (is_poison<N> || is_poison<Sink>)
    return poison{};
  else {
    using Axes = typename N::axes_type;
    using Missing = typename first_missing<Axes, A...>::type;
    using V = typename N::value_type;
    if constexpr (!good_tags<A...>) {
      HEED_REFUSE_TAGS(Kind, A...);
      return poison{};
    } else if constexpr (!std::is_same_v<Missing, no_axis>) {
      HEED_REFUSE("reduction: the operand has no such axis (a forgotten rename?)",
                  mistakes::axis_is_missing<Kind, Missing, Axes>);
      return poison{};
    } else if constexpr (Kind::needs_real && !is_real<V>) {
      HEED_REFUSE("reduction: real values are needed (say cast)", mistakes::value_type_does_not_serve<Kind, V>);
      return poison{};
    } else {
      if constexpr (std::is_same_v<Sink, no_axis>)
        return reduction<Kind, axes<A...>, N>(kind, std::move(n), no_axis{}, detail::fresh_id());
      else if constexpr (std::is_same_v<Sink, bool>) {
        HEED_REFUSE("softmax: the sink is a number or an expression, no switch",
                    mistakes::word_is_not_there<sink_switch_word<Kind>, N>);
        return poison{};
      } else if constexpr (expression_like<Sink> && is_real<typename value_or_number<Sink>::type> &&
                           !std::is_same_v<typename value_or_number<Sink>::type, V>) {
        HEED_REFUSE("softmax: the value types of the scores and the sink differ (say cast)",
                    mistakes::value_types_differ<Kind, V, typename value_or_number<Sink>::type>);
        return poison{};
      } else {
        auto s = detail::cast_node<V>(detail::operand_node<N>(sink));
        using S = decltype(s);
        if constexpr (!subset<typename S::axes_type, difference<Axes, axes<A...>>>) {
          HEED_REFUSE(
              "softmax: the sink has axes that the rows lack",
              mistakes::part_has_axes_that_the_whole_lacks<Kind, typename S::axes_type, difference<Axes, axes<A...>>>);
          return poison{};
        } else {
          detail::check_extents(typename S::axes_type{}, Kind::name.data(), s, n);
          return reduction<Kind, axes<A...>, N, S>(kind, std::move(n), std::move(s), detail::fresh_id());
        }
      }
    }
  }
}

/// One axis, not several: argmax, cumsum and the norms go over one.
template <class Kind, class... A, class N> auto reduce_one(Kind kind, N n) {
  if constexpr (sizeof...(A) > 1 && !is_poison<N>) {
    HEED_REFUSE("it goes over one axis (merge them first)", mistakes::one_axis_is_needed<Kind, axes<A...>>);
    return poison{};
  } else
    return detail::reduce<Kind, A...>(kind, std::move(n));
}
/// Whether a gain, gamma or beta fits the elements of a norm over A. Where A is missing the norm itself says so.
template <class A, class E, class P> inline constexpr bool norm_part_fits = true;
template <class A, expression_like E, expression_like P>
  requires(!is_poison<E> && !is_poison<P> && contains<A, typename E::axes_type>)
inline constexpr bool norm_part_fits<A, E, P> =
    (subset<typename P::axes_type, typename E::axes_type> || subset<typename E::axes_type, typename P::axes_type>)&&!(
        is_real<typename node_of<E>::value_type> && is_real<typename node_of<P>::value_type> &&
        !std::is_same_v<typename node_of<E>::value_type, typename node_of<P>::value_type>);
struct gamma_part {
  static constexpr std::string_view name = "layer_norm", part = "gamma";
};
struct beta_part {
  static constexpr std::string_view name = "layer_norm", part = "beta";
};
struct gain_part {
  static constexpr std::string_view name = "rms_norm", part = "gain";
};
template <class Part> struct eps_word {
  static constexpr std::string_view name = Part::name, instead = ": eps is a number, no switch";
};
template <class Part, class E, class Switch> poison refuse_switch_for_eps() {
  if constexpr (!is_poison<E>)
    HEED_REFUSE("norm: eps is a number, no switch", mistakes::word_is_not_there<eps_word<Part>, Switch>);
  return {};
}
template <class Part, class E, class P> poison refuse_norm_part() {
  using Axes = typename E::axes_type;
  using PAxes = typename P::axes_type;
  if constexpr (!subset<PAxes, Axes> && !subset<Axes, PAxes>)
    HEED_REFUSE("norm: the gain has axes that the operand lacks",
                mistakes::part_has_axes_that_the_whole_lacks<Part, PAxes, Axes>);
  else
    HEED_REFUSE("norm: the value types of the operand and the gain differ (say cast)",
                mistakes::value_types_differ<Part, typename node_of<E>::value_type, typename node_of<P>::value_type>);
  return {};
}

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// exp(x) / sum over A... of exp(x), row by row, the axes of x; 0 where excluded, all 0 for a row without a kept element.
///
///     auto w = softmax<key>(dot<d_head>(q, k) / 8.f);
///
/// Refused: an axis that x lacks, integers.
template <class... A> auto softmax(expression auto&& x) {
  return detail::reduce<detail::kinds::softmax, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
/// The same with one extra logit that has no value: exp(sink) joins the sum (Xiao et al. 2024). A number, or an expression
/// whose axes lie within x's without A; -infinity switches it off.
///
///     auto w = softmax<key>(s, sink);  // sink [head]
///
/// Refused: as above, a sink with other axes or of another real type.
template <class... A, detail::operand_like Sink> auto softmax(expression auto&& x, Sink const& sink) {
  return detail::reduce<detail::kinds::softmax, A...>({}, detail::as_node(std::forward<decltype(x)>(x)), sink);
}
/// @{
/// Natural logarithm of the sum over A... of exp(x), x's axes without A...; -infinity for an empty row (or its sink).
///
///     auto [c, lse] = evaluate(dot<key>(softmax<key>(s), v), log_sum_exp<key>(s));
///
/// Refused: what softmax refuses.
template <class... A> auto log_sum_exp(expression auto&& x) {
  return detail::reduce<detail::kinds::log_sum_exp, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
template <class... A, detail::operand_like Sink> auto log_sum_exp(expression auto&& x, Sink const& sink) {
  return detail::reduce<detail::kinds::log_sum_exp, A...>({}, detail::as_node(std::forward<decltype(x)>(x)), sink);
}
/// @}
/// The sum of the kept elements over A..., x's axes without A...; 0 for none. Integers and truth values are summed in 64 bits.
///
///     auto seen = sum<key>(cast<int>(keep));
///
/// Refused: an axis that x lacks.
template <class... A> auto sum(expression auto&& x) {
  return detail::reduce<detail::kinds::sum, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
/// The mean of the kept elements over A..., x's axes without A...; 0 for none. Refused: an axis that x lacks, integers.
///
///     auto pooled = mean<query>(where(index<query>() < length, x));
template <class... A> auto mean(expression auto&& x) {
  return detail::reduce<detail::kinds::mean, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
/// The largest kept element over A..., x's axes without A...; -infinity for none. Refused: an axis that x lacks.
///
///     auto score = sum<query>(max<key>(dot<d_head>(q, k)));  // MaxSim (Khattab and Zaharia 2020)
template <class... A> auto max(expression auto&& x) {
  return detail::reduce<detail::kinds::maximum, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
/// The population's variance over A...: mean of (x - mean)^2, of the kept elements; x's axes without A.... Refused: an axis
/// that x lacks, integers.
///
///     auto y = (x - mean<model>(x)) * rsqrt(variance<model>(x) + 1e-5);
template <class... A> auto variance(expression auto&& x) {
  return detail::reduce<detail::kinds::variance, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
/// The coordinate along A of the largest kept element, the lowest of equals; a NaN counts as the largest; -1 for an empty
/// row. 64-bit integers, x's axes without A. Refused: an axis that x lacks, several axes.
///
///     tensor next = evaluate(argmax<word>(logits));
template <class... A> auto argmax(expression auto&& x) {
  return detail::reduce_one<detail::kinds::argmax, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
/// Running sum along A: y_i = sum of x_j over j <= i, excluded elements add nothing. The axes of x. Refused: an axis that x
/// lacks, several axes.
///
///     auto document = cumsum<token>(cast<int>(ids == separator));
template <class... A> auto cumsum(expression auto&& x) {
  return detail::reduce_one<detail::kinds::cumulative_sum, A...>({}, detail::as_node(std::forward<decltype(x)>(x)));
}
/// gamma (x - mean) / sqrt(variance + eps) + beta over A (Ba et al. 2016), the axes of x. gamma and beta are numbers or
/// expressions over axes of x.
///
///     auto y = layer_norm<model>(x + a, gamma, beta);
///
/// Refused: an axis that x lacks, integers, a gamma or beta whose axes and x's do not nest, or of another real type.
template <class A, detail::operand_like Gamma, detail::operand_like Beta>
auto layer_norm(expression auto&& x, Gamma const& gamma, Beta const& beta, double eps = 1e-5) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (!detail::norm_part_fits<A, E, Gamma>)
    return detail::refuse_norm_part<detail::gamma_part, E, Gamma>();
  else if constexpr (!detail::norm_part_fits<A, E, Beta>)
    return detail::refuse_norm_part<detail::beta_part, E, Beta>();
  else
    return detail::reduce<detail::kinds::standardised, A>({true, eps}, detail::as_node(std::forward<decltype(x)>(x))) *
               gamma +
           beta;
}
/// @private
template <class A, expression E, std::same_as<bool> Eps>
auto layer_norm(E&&, detail::operand_like auto const&, detail::operand_like auto const&, Eps) {
  return detail::refuse_switch_for_eps<detail::beta_part, E, Eps>();
}
/// gain x / sqrt(mean(x^2) + eps) over A (Zhang and Sennrich 2019), the axes of x.
///
///     auto y = rms_norm<model>(x, gain, 1e-6);
///
/// Refused: what layer_norm refuses.
template <class A, detail::operand_like Gain> auto rms_norm(expression auto&& x, Gain const& gain, double eps = 1e-5) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (!detail::norm_part_fits<A, E, Gain>)
    return detail::refuse_norm_part<detail::gain_part, E, Gain>();
  else
    return detail::reduce<detail::kinds::standardised, A>({false, eps}, detail::as_node(std::forward<decltype(x)>(x))) *
           gain;
}
/// @private
template <class A, expression E, std::same_as<bool> Eps> auto rms_norm(E&&, detail::operand_like auto const&, Eps) {
  return detail::refuse_switch_for_eps<detail::gain_part, E, Eps>();
}
}  // namespace HEED_ARCH
}  // namespace heed
