// SPDX-License-Identifier: BSL-1.0
// In: the axes of a layer's weights, extents by name. Out: what every parameter struct is made of: its tensors, one
// sentence where its axes do not fit, its extents, and the counts of parameters and operations.
// Next to read: choices.hpp, what a layer leaves to its user.
#pragma once

#include "../heed.hpp"

#include <memory>

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

/// The axes of each tensor of a parameter struct, in the order in which `visit` goes through them.
template <class... List> struct shape_list {};

template <class... S> struct joined_shapes { using type = shape_list<>; };
template <class... L> struct joined_shapes<shape_list<L...>> { using type = shape_list<L...>; };
template <class... L, class... M, class... R>
struct joined_shapes<shape_list<L...>, shape_list<M...>, R...> : joined_shapes<shape_list<L..., M...>, R...> {};
/// The shapes of all parts of a layer.
template <class... Part> using shapes_of_parts = typename joined_shapes<typename Part::shapes...>::type;

template <class Shapes> struct axes_of_shapes;
template <class... L> struct axes_of_shapes<shape_list<L...>> { using type = unite_all<axes<>, L...>; };
/// All axes of a tensor, a cache or a parameter struct whose extents are known at run time.
template <class P> struct open_axes : dynamic_axes<typename P::axes_type> {};
template <class P>
  requires(requires { typename P::shapes; })
struct open_axes<P> : dynamic_axes<typename axes_of_shapes<typename P::shapes>::type> {};

/// Not a tensor where an axis occurs twice: the struct says so once, and what is made of it is silent.
template <class T, class... A>
using parameter = typename std::conditional_t<distinct<axes<A...>>, type_tag<tensor<T, A...>>, type_tag<poison>>::type;

template <class Part, class... Open, class... X> Part make_part(axes<Open...>, [[maybe_unused]] X const&... given) {
  return Part(Open{detail::extent_given<Open>(given...)}...);
}
/// A tensor, a cache or a part of a layer, which takes of the extents that are given those that it has.
template <class Part, class... X> Part part(X const&... given) {
  return detail::make_part<Part>(typename open_axes<Part>::type{}, given...);
}

/// Extents by name where no tensor is at hand.
template <class... X> struct extents_by_name : X... {
  template <class A> constexpr extent_t extent() const {
    if constexpr (is_dynamic<A>)
      return static_cast<A const&>(*this).size.value;
    else
      return A::static_extent;
  }
};

}  // namespace HEED_ARCH
namespace mistakes {
template <class Layer, class Given, class Wanted> struct extents_are_not_those_of_the_parameters {
  static constexpr void write(writer& w) {
    w(Layer::name), w(": each axis whose extent is known at run time needs it by name, once: given "), w.list(Given{}),
        w(", wanted "), w.list(Wanted{});
  }
};
template <class Layer, class List> struct axis_of_a_parameter_occurs_twice {
  static constexpr void write(writer& w) {
    w(Layer::name), w(": an axis occurs twice in the parameter with axes "), w.list(List{});
    w(" (two roles take two tags)");
  }
};
template <class Layer, class One, class A, class Other, class B> struct parts_are_of_different_models {
  static constexpr void write(writer& w) {
    w(Layer::name), w(": the "), w(One::name), w(" goes over axis "), w(detail::type_name<A>()), w(", the "),
        w(Other::name), w(" over "), w(detail::type_name<B>());
    detail::hint_relative<A>(w, One::name, Other::name, axes<B>{});
  }
};
template <class Layer, class A, class Input, class Weight> struct input_of_a_layer_lacks_an_axis {
  static constexpr void write(writer& w) {
    w(Layer::name), w(" over axis "), w(detail::type_name<A>()), w(": the input has no such axis, it has "),
        w.list(Input{}), w("; the first parameter has "), w.list(Weight{});
    detail::hint_relative<A>(w, "the parameters", "the input", Input{});
    detail::hint_missing<A>(w, Input{}, true, false);
  }
};
template <class Layer, class P> struct parameters_are_of_another_layer {
  static constexpr void write(writer& w) {
    w(Layer::name), w(": it does not take parameters of type "), w(detail::family<P>());
    if constexpr (expression_like<P>) w(" (x stands once: the parameters make queries, keys and values of it)");
  }
};
template <class P> struct it_is_no_layer {
  static constexpr void write(writer& w) {
    w("packed: the parameters of a layer are needed, not "), w(detail::family<P>());
    if constexpr (expression_like<P>) w(" (of one weight say heed::packed<A...>(w))");
  }
};
template <class F> struct it_is_no_function {
  static constexpr void write(writer& w) {
    w("nn: a function of an expression is needed (a mask, an activation, positions), not ");
    if constexpr (expression_like<F>)
      w("an expression with axes "), w.list(typename F::axes_type{}), w(" (for a condition say nn::keep(...))");
    else
      w(detail::family<F>());
  }
};
template <class Layer, class MaskKey, class Key> struct mask_is_over_other_keys {
  static constexpr void write(writer& w) {
    w(Layer::name), w(": the mask calls the keys "), w(detail::type_name<MaskKey>()), w(", the layer "),
        w(detail::type_name<Key>()), w(" (query and key swapped? causal_mask<query, key>)");
  }
};
template <class Layer, class Input> struct place_of_the_norms_is_missing {
  static constexpr void write(writer& w) {
    w(Layer::name), w(": say first where the norms stand: nn::pre_norm or nn::post_norm");
  }
};
}  // namespace mistakes
inline namespace HEED_ARCH {

/// Over how many of its first axes a weight is contracted: what maps from the model axis, over it; what ends in it, over all
/// others. No weight, but a bias or a norm's gain: 0.
template <class Model, class... A> constexpr std::size_t contracted_axes_of_weight(axes<A...>) {
  if (sizeof...(A) < 2) return 0;
  bool const is_model[] = {std::is_same_v<A, Model>..., false};
  if (is_model[sizeof...(A) - 1]) return sizeof...(A) - 1;
  return is_model[0] || sizeof...(A) > 2 ? 1 : 0;  // a memory of another width comes before two axes of heads
}
/// Panels beside a weight that is not written any more.
template <class Model, class T, class... A> void pack_weight(tensor<T, A...> const& weight) {
  constexpr std::size_t contracted = detail::contracted_axes_of_weight<Model>(axes<A...>{});
  if constexpr (contracted > 0 && (std::is_same_v<T, float> || std::is_same_v<T, double>)) {
    auto const& leaf = weight.heed_leaf();
    extent_t depth = 1;
    for (std::size_t i = 0; i < contracted; ++i) depth *= leaf.extents[i];
    if (leaf.size() > 0) detail::attach_panels<T>(leaf.owner, leaf.data, depth, leaf.size() / depth);
  }
}

template <class Layer, class P> poison refuse_parameters() {
  HEED_REFUSE("layer: the parameters are of another layer", mistakes::parameters_are_of_another_layer<Layer, P>);
  return {};
}
/// What multi-head attention takes.
template <class P>
concept parameters_of_attention = requires {
  typename P::layer;
  typename P::d_head_axis;
};
/// The first list of axes that has one twice; an empty list if none has.
template <class Shapes> struct repeated_axes;
template <class... L> struct repeated_axes<shape_list<L...>> {
  using type = typename std::conditional_t<(distinct<L> && ...), type_tag<axes<>>,
                                           united_all<std::conditional_t<distinct<L>, axes<>, L>...>>::type;
};
template <class P, class... X>
inline constexpr bool extents_of_parameters = distinct<axes<X...>>&& same_set<axes<X...>, typename open_axes<P>::type>;
/// Refuses, at most once, what a parameter struct's axes or the extents given for it have wrong.
template <class P, class... X> constexpr void check_extents_given() {
  using Open = typename open_axes<P>::type;
  if constexpr (!extents_of_parameters<P, X...>)
    HEED_REFUSE("parameters: each axis whose extent is known at run time needs it by name, once",
                mistakes::extents_are_not_those_of_the_parameters<typename P::layer, axes<X...>, Open>);
  else if constexpr (repeated_axes<typename P::shapes>::type::rank > 0)
    HEED_REFUSE("an axis occurs twice in a parameter",
                mistakes::axis_of_a_parameter_occurs_twice<typename P::layer,
                                                           typename repeated_axes<typename P::shapes>::type>);
}
/// What each constructor of a parameter struct calls; without extents, those that the types leave open are 0.
template <class P, class... X> constexpr void check_parameters() {
  if constexpr (sizeof...(X) > 0)
    detail::check_extents_given<P, X...>();
  else if constexpr (repeated_axes<typename P::shapes>::type::rank > 0)
    HEED_REFUSE("an axis occurs twice in a parameter",
                mistakes::axis_of_a_parameter_occurs_twice<typename P::layer,
                                                           typename repeated_axes<typename P::shapes>::type>);
}
template <class First, class... Part>
inline constexpr bool one_model = (std::is_same_v<typename First::model_axis, typename Part::model_axis> && ...);
template <class First, class... Part> struct other_model { using type = First; };
template <class First, class Part, class... R> struct other_model<First, Part, R...> {
  using type = typename std::conditional_t<std::is_same_v<typename First::model_axis, typename Part::model_axis>,
                                           other_model<First, R...>, type_tag<Part>>::type;
};
/// The same for a struct of parts, which must also go over one model axis.
template <class P, class First, class... Part, class... X> constexpr void check_parts(X const&...) {
  if constexpr (!one_model<First, Part...>)
    HEED_REFUSE(
        "layer: the parts go over different model axes",
        mistakes::parts_are_of_different_models<typename P::layer, typename First::layer, typename First::model_axis,
                                                typename other_model<First, Part...>::type::layer,
                                                typename other_model<First, Part...>::type::model_axis>);
  else if constexpr (sizeof...(X) > 0)
    detail::check_parameters<P, X...>();
}

template <class E, class A>
inline constexpr bool is_misfit = !is_poison<E> && !contains<A, typename std::remove_cvref_t<E>::axes_type>;
/// The input of a layer as a node; refused, once, unless it has the axes A... and the value type of the weight.
template <class Word, class... A, class X, class W> auto layer_input(X&& x, W const&) {
  using E = std::remove_cvref_t<X>;
  if constexpr (is_poison<E> || is_poison<W>)
    return poison{};
  else {
    using Missing = typename first_missing<typename E::axes_type, A...>::type;
    using V = typename node_of<E>::value_type;
    if constexpr (!std::is_same_v<Missing, no_axis>) {
      HEED_REFUSE(
          "layer: the input has no such axis (a forgotten rename?)",
          mistakes::input_of_a_layer_lacks_an_axis<Word, Missing, typename E::axes_type, typename W::axes_type>);
      return poison{};
    } else if constexpr (!std::is_same_v<V, typename node_of<W>::value_type>) {
      HEED_REFUSE("layer: the value types of the input and the parameters differ (say cast)",
                  mistakes::value_types_differ<Word, V, typename node_of<W>::value_type>);
      return poison{};
    } else
      return detail::as_node(std::forward<X>(x));
  }
}

/// The same for a layer in which a sequence attends to itself: its keys take a name of their own.
template <class Word, class Query, class Key, class Model, class X, class W> auto self_input(X&& x, W const& w) {
  using E = std::remove_cvref_t<X>;
  if constexpr (std::is_same_v<Query, Key>) {
    HEED_REFUSE("layer: queries and keys are one axis (a forgotten rename?)",
                mistakes::query_and_key_are_one_axis<Word, Key>);
    return poison{};
  } else if constexpr (!is_poison<E> && contains<Key, typename E::axes_type> &&
                       !contains<Query, typename E::axes_type>) {
    HEED_REFUSE("layer: the first axis named is that of the queries (query and key swapped?)",
                mistakes::query_and_key_are_swapped<Word, Query, Key, typename E::axes_type>);
    return poison{};
  } else if constexpr (!is_poison<E> && contains<Key, typename E::axes_type>) {
    HEED_REFUSE("layer: the input has the axis of the keys already",
                mistakes::axis_is_already_there<Word, Key, typename E::axes_type>);
    return poison{};
  } else
    return detail::layer_input<Word, Query, Model>(std::forward<X>(x), w);
}

template <class... L, class Extents> constexpr extent_t count_elements(shape_list<L...>, Extents const& e) {
  auto size = [&]<class... A>(axes<A...>) { return (extent_t{1} * ... * e.template extent<A>()); };
  return (extent_t{0} + ... + size(L{}));
}

}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// How much a layer is asked to do: new positions, positions whose keys a cache has, positions of the memory that a
/// cross-attention reads (-1: it reads none), and how many sequences of these.
///
///     nn::lengths one_more{.queries = 1, .cached = 4095, .sequences = 8};
///     double billions = double(nn::floating_point_operations(p, one_more)) / 1e9;
struct lengths {
  extent_t queries = 1;    ///< new positions
  extent_t cached = 0;     ///< positions before them, whose keys are there
  extent_t memory = -1;    ///< positions of the memory; -1: there is none
  extent_t sequences = 1;  ///< how many of these
};

/// @{
/// The number of parameters of a layer, or of its type, without memory for them: then with the extents that the types leave
/// open by name, a constant where none is left.
///
///     extent_t n = nn::parameter_count(p);
///     static_assert(nn::parameter_count<decltype(p)>() == 4 * 512 * 512);
///     extent_t of_open = nn::parameter_count<nn::feed_forward_parameters<float, model, output>>(output{1376});
///
/// Refused: extents that the type lacks or has already, one that is missing.
template <class P> extent_t parameter_count(P const& p) {
  extent_t n = 0;
  P::visit(p, [&](auto const& t) { n += t.size(); });
  return n;
}
template <class P, class... X>
  requires(detail::axis_tag<X>&&...)
constexpr extent_t parameter_count(X... extents) {
  detail::check_extents_given<P, X...>();
  if constexpr (detail::extents_of_parameters<P, X...>)
    return detail::count_elements(typename P::shapes{}, detail::extents_by_name<X...>{extents...});
  else
    return 0;
}

/// @}

/// @{
/// Floating-point operations of a layer's contractions, two for a multiplication and its addition; elementwise work,
/// norms and softmax are not counted, and a mask saves nothing. Of a layer, or as above of its type.
///
///     extent_t n = nn::floating_point_operations(p, {.queries = 128});
///     constexpr extent_t one_more = nn::floating_point_operations<decltype(p)>({.queries = 1, .cached = 4095});
///
/// Refused: as above.
template <class P> extent_t floating_point_operations(P const& p, lengths n) { return P::operations(p, n); }
template <class P, class... X>
  requires(detail::axis_tag<X>&&...)
constexpr extent_t floating_point_operations(lengths n, X... extents) {
  detail::check_extents_given<P, X...>();
  if constexpr (detail::extents_of_parameters<P, X...>)
    return P::operations(detail::extents_by_name<X...>{extents...}, n);
  else
    return 0;
}

/// @}

/// Calls f(tensor) for every parameter in the order in which the struct lists them: to fill, to save, to count.
///
///     nn::for_each_parameter(p, [](auto& w) { std::fill(w.begin(), w.end(), 0.01f); });
template <class P, class F> void for_each_parameter(P& p, F&& f) { std::remove_const_t<P>::visit(p, f); }

/// A copy of a layer's parameters for use again and again: each weight is there once more in the panels that the kernels read, so
/// that no evaluation packs it, and takes twice its memory. Weights of 16 bits stay as they are. To change a weight, change p
/// and make another copy.
///
///     auto const ready = nn::packed(p);                      // once
///     auto y = nn::multi_head_attention<query, key>(x, *ready);  // as often as needed
template <class P>
  requires(requires { typename P::model_axis; })
std::shared_ptr<P const> packed(P const& p) {
  auto copy = std::make_shared<P>(p);
  P::visit(*copy, [](auto const& t) { detail::pack_weight<typename P::model_axis>(t); });
  return copy;
}
/// @private
template <class P> std::shared_ptr<P const> packed(P const&) {
  HEED_REFUSE("packed: the parameters of a layer are needed (of one weight say heed::packed<A...>(w))",
              detail::mistakes::it_is_no_layer<P>);
  return {};
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed
