// SPDX-License-Identifier: BSL-1.0
// In: foreign memory and extents by name. Out: view, which does not own it. Next to read: tensor.hpp, which owns.
#pragma once

#include <array>
#include <tuple>
#if __has_include(<mdspan>) && __cplusplus >= 202302L
#include <mdspan>
#endif

#include "named.hpp"

namespace heed {

/// Strides in elements, one for each axis in the order of the view's type.
///
///     std::vector<float> columns(12 * 512);  // model by model
///     view<float, query, model> e(columns.data(), query{12}, strides{1, 12});
///
/// Refused: another number of strides than axes.
template <std::size_t N> struct strides {
  std::array<extent_t, N> values;  ///< as given
  /// Any integers.
  template <std::integral... I>
  constexpr strides(I... s) : values{static_cast<extent_t>(s)...} {}  // NOLINT: strides{1, 512} is the wanted spelling
};
/// @private
template <std::integral... I> strides(I...) -> strides<sizeof...(I)>;

namespace detail {
template <class... X> inline constexpr bool ends_in_strides = false;
template <std::size_t N> inline constexpr bool ends_in_strides<strides<N>> = true;
template <class X, class Y, class... Z> inline constexpr bool ends_in_strides<X, Y, Z...> = ends_in_strides<Y, Z...>;
}  // namespace detail

/// Foreign memory under named axes: A... in the order of the type, elements T or const T. Does not own; row-major in the
/// order written unless strides are given. The only thing here that can dangle.
///
///     std::vector<float> numbers(8 * 128 * 512);
///     view<const float, batch, query, model> e(numbers.data(), batch{8}, query{128});
///     tensor y = evaluate(softmax<model>(e));
///
/// Refused: an axis twice, an open extent that is not given, one that stands in the type. shape_error: a negative extent.
template <class T, class... A> class view : public detail::refused_members<T, axes<A...>> {
  static_assert(sizeof(detail::checked_type<(detail::axis_tag<A> && ...), detail::is_element<std::remove_const_t<T>>,
                                            detail::view_word, T, A...>));
  detail::leaf<T, axes<A...>> leaf_;

  template <std::size_t... I, class Given>
  view(std::index_sequence<I...>, T* data, Given const& given) : view(data, std::get<I>(given)...) {
    auto const& steps = std::get<sizeof...(I)>(given).values;
    if constexpr (constexpr std::size_t count = std::tuple_size_v<std::remove_cvref_t<decltype(steps)>>;
                  count == sizeof...(A))
      std::copy(steps.begin(), steps.end(), leaf_.strides);
    else
      HEED_REFUSE("view: one stride for each axis",
                  detail::mistakes::strides_are_not_those_of_the_view<axes_type, count>);
  }

 public:
  using axes_type = axes<A...>;               ///< its axes, in order
  using value_type = std::remove_const_t<T>;  ///< what it points to

  /// Row-major in the order of the type; the extents that the type leaves open by name, each once.
  template <class... X>
    requires(detail::axis_tag<X>&&...)
  explicit view(T* data, X const&... extents) {
    if constexpr (detail::extents_fit<axes_type, X...>) {
      detail::name_extents(axes_type{}, leaf_.extents, extents...);
      detail::checked_size(leaf_.extents, sizeof...(A), sizeof(T));
      leaf_.data = data;
      leaf_.make_dense();
    } else
      detail::refuse_named_extents<detail::view_word, axes_type, X...>();
  }
  /// @private
  template <class U, class... X>
    requires(!std::is_convertible_v<U*, T*>)
  explicit view(U*, X const&...) {
    HEED_REFUSE("view: the pointer is to values of another type than the elements",
                detail::mistakes::pointer_does_not_fit_the_view<U, T>);
  }
  /// @private
  template <std::integral... I>
    requires(sizeof...(I) > 0)
  explicit view(T*, I...) {
    HEED_REFUSE(
        "view: extents are given by name, as in query{128}, not by place",
        detail::mistakes::extents_without_names<detail::view_word, typename detail::dynamic_axes<axes_type>::type>);
  }
  /// @private
  template <detail::plain_memory V, class... X>
    requires(!std::is_pointer_v<V> && !std::is_array_v<V>)
  explicit view(V const&, X const&...) {
    HEED_REFUSE("view: the memory is given by a pointer, as in v.data()",
                detail::mistakes::word_is_not_there<detail::pointer_word, V>);
  }
  /// @private
  template <std::size_t N, detail::axis_tag... X>
    requires(sizeof...(X) > 0)
  view(T*, strides<N> const&, X const&...) {
    HEED_REFUSE("view: strides stand behind the extents",
                detail::mistakes::word_is_not_there<detail::strides_word, axes<X...>>);
  }
  /// Strides in elements behind the extents, one for each axis in the order of the type.
  template <class... X>
    requires(detail::ends_in_strides<X...>)
  view(T* data, X const&... extents_and_strides)
      : view(std::make_index_sequence<sizeof...(X) - 1>{}, data, std::tie(extents_and_strides...)) {}
  explicit view(detail::leaf<T, axes<A...>> const& from) : leaf_(from) {}
  /// Of a view whose elements may be written, to read.
  template <class U>
    requires(std::is_same_v<T, U const>)
  view(view<U, A...> const& from) : leaf_(detail::unowned<T>(from.heed_leaf())) {}  // NOLINT: as a tensor converts
#if defined(__cpp_lib_mdspan)
  /// Of an mdspan of the same rank, axis by axis; static extents that differ are shape_error.
  template <class U, class E, class L, class Access>
    requires(E::rank() == sizeof...(A) && std::is_same_v<T const, U const> && std::is_convertible_v<U*, T*>)
  explicit view(std::mdspan<U, E, L, Access> const& m) {
    leaf_.data = m.data_handle();
    extent_t const fixed[] = {detail::fixed_extent<A>..., 0};
    for (std::size_t i = 0; i < sizeof...(A); ++i) {
      leaf_.extents[i] = static_cast<extent_t>(m.extent(i));
      leaf_.strides[i] = static_cast<extent_t>(m.stride(i));
      if (fixed[i] != detail::dynamic && fixed[i] != leaf_.extents[i])
        throw shape_error("view: the extents of the mdspan are not those of the axes " +
                          detail::axis_names(axes_type{}));
    }
  }
#endif

  /// The first element.
  T* data() const { return leaf_.data; }
  /// The number of elements.
  extent_t size() const { return leaf_.size(); }
  /// How long axis X is.
  template <class X> extent_t extent() const {
    if constexpr (!detail::contains<X, axes_type>)
      HEED_REFUSE("extent: the view has no such axis",
                  detail::mistakes::axis_is_missing<detail::extent_word, X, axes_type>);
    return leaf_.template extent<X>();
  }
  /// How many elements lie between neighbours along X.
  template <class X> extent_t stride() const {
    if constexpr (!detail::contains<X, axes_type>)
      HEED_REFUSE("stride: the view has no such axis",
                  detail::mistakes::axis_is_missing<detail::stride_word, X, axes_type>);
    return leaf_.template stride<X>();
  }
  /// The element at these coordinates, in the order of the type; unchecked.
  template <std::integral... I> T& operator()(I... i) const { return leaf_.data[leaf_.offset(i...)]; }
  /// @{
  /// @private
  using detail::refused_members<T, axes<A...>>::operator();
  using detail::refused_members<T, axes<A...>>::size;
  using detail::refused_members<T, axes<A...>>::extent;
  /// @}
  /// @private
  template <class Loop = void> T* begin() const {
    HEED_REFUSE("view: its elements may lie apart: go by coordinates, as in x(i, j), or over a copy, evaluate(x)",
                detail::mistakes::word_is_not_there<detail::loop_word, Loop>);
    return data();
  }
  /// @private
  template <class Loop = void> T* end() const { return data(); }
  detail::leaf<T, axes<A...>> const& heed_leaf() const { return leaf_; }
};

}  // namespace heed
