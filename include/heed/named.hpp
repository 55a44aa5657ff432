// SPDX-License-Identifier: BSL-1.0
// In: extents by name. Out: extents in the order of a type, or the sentence that says what is wrong with them; what else
// tensor and view refuse alike. Next to read: view.hpp and tensor.hpp, which are made of it.
#pragma once

#include "leaf.hpp"

namespace heed {
namespace detail {

template <class List> struct dynamic_axes;
template <class... A> struct dynamic_axes<axes<A...>> {
  using type = typename united_all<std::conditional_t<is_dynamic<A>, axes<A>, axes<>>...>::type;
};

/// Extents by name, in any order, into the order of the type.
template <class... A, class... X> void name_extents(axes<A...>, extent_t* out, [[maybe_unused]] X const&... given) {
  using all = axes<A...>;
  [[maybe_unused]] int i = 0;
  ((out[i++] = fixed_extent<A>), ...);
  ((out[index_of<X, all>] = given.size.value), ...);
}
template <class All, class... X>
inline constexpr bool extents_fit =
    distinct<All>&& distinct<axes<X...>>&& same_set<axes<X...>, typename dynamic_axes<All>::type>;
struct tensor_word {
  static constexpr std::string_view name = "tensor";
};
struct view_word {
  static constexpr std::string_view name = "view";
};
struct values_word {
  static constexpr std::string_view
      name = "tensor",
      instead = ": it is made of extents and owns its elements: copy others into it, or name their axes in a view";
};
struct assigned_word {
  static constexpr std::string_view
      name = "tensor",
      instead = ": only a tensor is assigned to it: say std::fill(x.begin(), x.end(), 0), or std::copy for many";
};
struct pointer_word {
  static constexpr std::string_view name = "view", instead = ": the memory is given by a pointer, as in v.data()";
};
struct strides_word {
  static constexpr std::string_view name = "view", instead = ": strides stand behind the extents";
};
struct size_word {
  static constexpr std::string_view name = "x.size(i)",
                                    instead = ": axes have names, not places: say x.extent<query>()";
};
struct extent_place_word {
  static constexpr std::string_view name = "x.extent(i)", instead = size_word::instead;
};
struct extent_argument_word {
  static constexpr std::string_view name = "x.extent(query)",
                                    instead = ": an axis is named in angle brackets: say x.extent<query>()";
};
template <class... I> struct first_no_integer { using type = no_axis; };
template <class I, class... R> struct first_no_integer<I, R...> {
  using type = typename std::conditional_t<std::integral<I>, first_no_integer<R...>, type_tag<I>>::type;
};
/// Values that are no tensor: a pointer to them, a vector or array, some of them.
template <class V>
concept plain_memory = !expression_like<V> && (std::is_pointer_v<V> || std::is_array_v<V> ||
                                               std::is_floating_point_v<V> || requires(V const& v) {
                                                 v.data();
                                                 v.size();
                                               });
struct extent_word {
  static constexpr std::string_view name = "extent";
};
struct stride_word {
  static constexpr std::string_view name = "stride";
};
template <class List> inline constexpr bool all_tags = false;
template <class... A> inline constexpr bool all_tags<axes<A...>> = (axis_tag<A> && ...);
/// Says what is wrong with extents that do not fit.
template <class Op, class All, class... X> void refuse_named_extents() {
  if constexpr (!distinct<All>)
    HEED_REFUSE("tensor: an axis occurs twice", mistakes::axis_occurs_twice<Op, All>);
  else if constexpr (all_tags<All>)  // else the type was refused
    HEED_REFUSE("tensor: each axis whose extent is known at run time needs it by name, once",
                mistakes::extents_are_not_those_of_the_tensor<Op, axes<X...>, typename dynamic_axes<All>::type>);
}
/// Says what is wrong with the axes or the elements of a tensor or view.
template <bool Tags, bool Elements, class Op, class T, class... A> struct checked_type {};
template <bool Elements, class Op, class T, class... A> struct checked_type<false, Elements, Op, T, A...> {
  HEED_REFUSE("this is no axis: an axis is a struct that derives from heed::axis",
              mistakes::it_is_no_axis<Op, typename first_no_tag<A...>::type>);
};
template <class Op, class T, class... A> struct checked_type<true, false, Op, T, A...> {
  HEED_REFUSE("tensor: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits",
              mistakes::elements_of_that_type<Op, T>);
};
template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bf16> ||
                                   std::is_same_v<T, f16> || std::is_same_v<T, bool> ||
                                   (std::signed_integral<T> && (sizeof(T) == 4 || sizeof(T) == 8));

struct loop_word {
  static constexpr std::string_view
      name = "view",
      instead = ": its elements may lie apart: go by coordinates, as in x(i, j), or over a copy, evaluate(x)";
};
/// What a tensor and a view refuse alike, beside the members of these names that each has.
template <class T, class Axes> struct refused_members : expression_base {
  template <class... I>
    requires(!(std::integral<I> && ...))
  T& operator()(I const&...) const {
    HEED_REFUSE("tensor: the coordinates are integers, in the order of the axes",
                mistakes::coordinate_is_no_integer<Axes, typename first_no_integer<I...>::type>);
    static std::remove_const_t<T> none{};
    return none;
  }
  template <std::integral I> extent_t size(I) const {
    HEED_REFUSE("x.size(i): axes have names, not places: say x.extent<query>()",
                mistakes::word_is_not_there<size_word, Axes>);
    return 0;
  }
  template <std::integral I> extent_t extent(I) const {
    HEED_REFUSE("x.extent(i): axes have names, not places: say x.extent<query>()",
                mistakes::word_is_not_there<extent_place_word, Axes>);
    return 0;
  }
  template <axis_tag X> extent_t extent(X const&) const {
    HEED_REFUSE("x.extent(query): an axis is named in angle brackets: say x.extent<query>()",
                mistakes::word_is_not_there<extent_argument_word, Axes>);
    return 0;
  }
};

struct uninitialised {};

/// A tensor or a view, whose elements are there to be read. (What a word refuses gives no second error: poison.)
template <class E>
concept stored = requires(E const& e) {
  e.heed_leaf();
};
template <class Word, class E> void refuse_unevaluated() {
  if constexpr (!is_poison<E>)
    HEED_REFUSE("an expression has no elements yet: say evaluate(...)",
                mistakes::expression_is_not_evaluated<Word, typename E::axes_type>);
}

}  // namespace detail
}  // namespace heed
