// SPDX-License-Identifier: BSL-1.0
// In: an mdspan (std::mdspan, the reference implementation of Kokkos, or another type with that interface); tensors, views
// and slices. Out: views of the one, mdspans of the other, of the same memory.
// Not part of heed.hpp: include it where it is wanted. Next to read: view_of.hpp, what is checked.
#pragma once

#include "view_of.hpp"

#include <version>
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#define HEED_MDSPAN std
#elif __has_include(<mdspan/mdspan.hpp>)
#include <mdspan/mdspan.hpp>
#define HEED_MDSPAN Kokkos
#elif __has_include(<experimental/mdspan>)
#include <experimental/mdspan>
#define HEED_MDSPAN std::experimental
#endif

namespace heed::detail {

/// What has the interface of std::mdspan, over elements in memory as they are: a pointer, and references.
template <class M>
concept mdspan_of_memory = requires(M const& m, std::size_t i) {
  typename M::element_type;
  typename M::index_type;
  typename M::extents_type;
  typename M::mapping_type;
  m.data_handle();
  m.mapping();
  m.is_strided();
  static_cast<extent_t>(m.extent(i));
  static_cast<extent_t>(m.stride(i));
  M::rank();
  M::static_extent(i);
}
&&std::is_same_v<typename M::data_handle_type, typename M::element_type*>&&
    std::is_same_v<typename M::reference, typename M::element_type&>;

/// The static extent of an mdspan's axis, or `dynamic`.
template <class M> constexpr extent_t static_extent_of_mdspan(std::size_t i) {
  return M::static_extent(i) == static_cast<std::size_t>(-1) ? dynamic : static_cast<extent_t>(M::static_extent(i));
}

}  // namespace heed::detail

namespace heed::interop {

// Its axes in order. An mdspan whose layout has no strides is shape_error.
/// @private
template <detail::mdspan_of_memory M> struct foreign_array<M> {
  static constexpr bool owns = false;
  static constexpr extent_t rank = static_cast<extent_t>(M::rank());
  template <std::size_t Rank> static constexpr bool has_rank = Rank == M::rank();
  template <std::size_t Rank> static constexpr extent_t static_extent(std::size_t i) {
    return detail::static_extent_of_mdspan<M>(i);
  }
  static auto* data(M const& m) { return m.data_handle(); }
  template <std::size_t Rank> static extent_t rank_of(M const&) { return rank; }
  template <std::size_t Rank> static extent_t extent(M const& m, [[maybe_unused]] std::size_t i) {
    return static_cast<extent_t>(m.extent(i));
  }
  template <std::size_t Rank> static extent_t stride(M const& m, [[maybe_unused]] std::size_t i) {
    if (!m.is_strided()) throw shape_error("view_of: the layout of this mdspan has no strides");
    return static_cast<extent_t>(m.stride(i));
  }
};

}  // namespace heed::interop

namespace heed::detail {

struct mdspan_of_word {
  static constexpr std::string_view name = "mdspan_of";
  static constexpr std::string_view no_array = " is no tensor, view or slice";
};

/// The mapping with these extents and strides, if the layout of M has such a one.
template <class M, class T, class... A> auto mapping_of_mdspan(leaf<T, axes<A...>> const& l) {
  using index = typename M::index_type;
  using mapping = typename M::mapping_type;
  constexpr std::size_t rank = sizeof...(A);
  [[maybe_unused]] std::string const names[] = {detail::axis_name<A>()..., ""};
  std::array<index, rank> extents{}, strides{};
  for (std::size_t i = 0; i < rank; ++i) {
    extent_t const there = detail::static_extent_of_mdspan<M>(i);
    if (there != dynamic && there != l.extents[i])
      throw shape_error("mdspan_of: axis " + names[i] + " has extent " + std::to_string(l.extents[i]) +
                        ", the mdspan has " + std::to_string(there));
    extent_t const stride = l.extents[i] > 1 ? l.strides[i] : std::max<extent_t>(l.strides[i], 1);
    if (stride < 1)
      throw shape_error("mdspan_of: axis " + names[i] + " has stride " + std::to_string(stride) +
                        ", an mdspan only takes strides from 1 on");
    if (!std::in_range<index>(l.extents[i]) || !std::in_range<index>(stride))
      throw shape_error("mdspan_of: axis " + names[i] + " has extent " + std::to_string(l.extents[i]) + " and stride " +
                        std::to_string(stride) + ", more than the mdspan can count");
    extents[i] = static_cast<index>(l.extents[i]);
    strides[i] = static_cast<index>(stride);
  }
  typename M::extents_type const e(extents);
  if constexpr (std::is_constructible_v<mapping, typename M::extents_type, std::array<index, rank>>) {
    return mapping(e, strides);
  } else {
    mapping const m(e);
    for (std::size_t i = 0; l.size() > 0 && i < rank; ++i)
      if (l.extents[i] > 1 && m.stride(i) != strides[i])
        throw shape_error("mdspan_of: axis " + names[i] + " has stride " + std::to_string(l.strides[i]) +
                          ", the layout of the mdspan has " + std::to_string(m.stride(i)));
    return m;
  }
}

/// The first axis of the list whose extent the type of the mdspan contradicts; the rank if there is none.
template <class M, class... A> constexpr std::size_t first_other_extent_of_mdspan(axes<A...>) {
  extent_t const fixed[] = {fixed_extent<A>..., 0};
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    extent_t const there = detail::static_extent_of_mdspan<M>(i);
    if (fixed[i] != dynamic && there != dynamic && there != fixed[i]) return i;
  }
  return sizeof...(A);
}

#if defined(HEED_MDSPAN)
template <class T, class List, class Layout> struct mdspan_over;
template <class T, class... A, class Layout> struct mdspan_over<T, axes<A...>, Layout> {
  using type = HEED_MDSPAN::mdspan<
      T,
      HEED_MDSPAN::extents<extent_t, (fixed_extent<A> == dynamic ? static_cast<std::size_t>(-1)
                                                                 : static_cast<std::size_t>(fixed_extent<A>))...>,
      Layout>;
};
#endif

}  // namespace heed::detail

namespace heed::interop {

/// The elements of a tensor, view or slice as an mdspan of the given type, without a copy: axes in order, strides kept.
///
///     using matrix = std::mdspan<float const, std::dextents<int, 2>, std::layout_stride>;
///     auto m = heed::interop::mdspan_of<matrix>(keys);
///
/// It dangles once the tensor, or what the view shows, is gone. Refused at compile time: other elements, another rank,
/// other static extents, expressions, temporary tensors; by shape_error: extents or strides that the type cannot have.
template <detail::mdspan_of_memory M, class E> auto mdspan_of(E&& x) {
  using op = detail::mdspan_of_word;
  if constexpr (!detail::lasting_array<E>) {
    detail::refuse_array<op, E>();
    return detail::poison{};
  } else {
    using L = detail::leaf_type_of<E>;
    using list = typename L::axes_type;
    using T = detail::array_element<L>;
    using U = typename M::element_type;
    if constexpr (!std::is_convertible_v<T(*)[], U(*)[]>) {
      HEED_REFUSE("mdspan_of: the array has other elements", detail::mistakes::array_has_other_elements<op, T, U>);
      return detail::poison{};
    } else if constexpr (L::rank != M::rank()) {
      HEED_REFUSE("mdspan_of: the array has another rank",
                  detail::mistakes::array_has_another_rank<op, list, static_cast<extent_t>(M::rank())>);
      return detail::poison{};
    } else if constexpr (constexpr std::size_t other = detail::first_other_extent_of_mdspan<M>(list{});
                         other < L::rank) {
      HEED_REFUSE("mdspan_of: the array has another extent",
                  detail::mistakes::array_has_another_extent<op, typename detail::axis_at<other, list>::type,
                                                             detail::static_extent_of_mdspan<M>(other)>);
      return detail::poison{};
    } else {
      auto const l = detail::leaf_of_array(x);
      return M(l.data, detail::mapping_of_mdspan<M>(l));
    }
  }
}

#if defined(HEED_MDSPAN)
/// The same as the mdspan that knows most: static extents as in the type; layout_right for a tensor, else layout_stride.
/// There is this one where the standard header mdspan is, or the reference implementation of Kokkos.
///
///     auto m = heed::interop::mdspan_of(keys);  // Refused as above.
template <int = 0, class E> auto mdspan_of(E&& x) {
  if constexpr (!detail::lasting_array<E>) {
    detail::refuse_array<detail::mdspan_of_word, E>();
    return detail::poison{};
  } else {
    using L = detail::leaf_type_of<E>;
    using layout = std::conditional_t<detail::is_tensor<std::remove_cvref_t<E>>, HEED_MDSPAN::layout_right,
                                      HEED_MDSPAN::layout_stride>;
    return interop::mdspan_of<
        typename detail::mdspan_over<detail::array_element<L>, typename L::axes_type, layout>::type>(x);
  }
}
#endif

}  // namespace heed::interop
#undef HEED_MDSPAN
