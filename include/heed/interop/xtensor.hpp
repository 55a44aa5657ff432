// SPDX-License-Identifier: BSL-1.0
// In: arrays, tensors, adaptors and strided views of xtensor; tensors, views and slices of heed. Out: views of the one,
// adaptors of the other, of the same memory. Needs xtensor 0.24.
// Not part of heed.hpp: include it where it is wanted. Next to read: view_of.hpp, what is checked.
#pragma once

#include "view_of.hpp"

#if __has_include(<xtensor/containers/xadapt.hpp>)  // from 0.26 on
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xview.hpp>
#endif

/// What has its elements in memory, strides apart: containers, adaptors, views by ranges. Its dimensions in order.
template <class X>
  requires(std::is_base_of_v<xt::xexpression<X>, X>&& xt::has_data_interface<X>::value&& xt::has_strides<X>::value)
struct heed::interop::foreign_array<X> {
  static constexpr bool owns = true;  // or may own: which does not show in the type of an adaptor or a view
  static constexpr bool knows_rank = xt::get_rank<X>::value != static_cast<std::size_t>(-1);
  static constexpr extent_t rank = knows_rank ? static_cast<extent_t>(xt::get_rank<X>::value) : detail::dynamic;
  template <std::size_t Rank> static constexpr bool has_rank = !knows_rank || Rank == xt::get_rank<X>::value;
  template <std::size_t Rank> static constexpr extent_t static_extent(std::size_t i) {
    return fixed_extent_in(static_cast<typename X::shape_type*>(nullptr), i);
  }
  static auto* data(auto& x) { return x.data() + static_cast<extent_t>(x.data_offset()); }
  template <std::size_t Rank> static extent_t rank_of(X const& x) { return static_cast<extent_t>(x.dimension()); }
  template <std::size_t Rank> static extent_t extent(X const& x, [[maybe_unused]] std::size_t i) {
    return static_cast<extent_t>(x.shape()[i]);
  }
  template <std::size_t Rank> static extent_t stride(X const& x, [[maybe_unused]] std::size_t i) {
    return static_cast<extent_t>(x.strides()[i]);
  }

 private:
  template <std::size_t... N> static constexpr extent_t fixed_extent_in(xt::fixed_shape<N...>*, std::size_t i) {
    extent_t const extents[] = {static_cast<extent_t>(N)..., 0};
    return extents[i];
  }
  static constexpr extent_t fixed_extent_in(void*, std::size_t) { return detail::dynamic; }
};

namespace heed::detail {

struct xtensor_of_word {
  static constexpr std::string_view name = "xtensor_of";
  static constexpr std::string_view no_array = " is no tensor, view or slice";
};

/// Dense where the elements lie side by side.
template <bool Dense, class T, class... A> auto adapt_leaf(T* data, leaf<T, axes<A...>> const& l) {
  constexpr std::size_t rank = sizeof...(A);
  std::array<std::size_t, rank> shape{};
  std::array<std::ptrdiff_t, rank> strides{};
  [[maybe_unused]] std::string const names[] = {detail::axis_name<A>()..., ""};
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = static_cast<std::size_t>(l.extents[i]);
    strides[i] = l.extents[i] > 1 ? l.strides[i] : 0;  // as xtensor itself has it
    if (strides[i] < 0)
      throw shape_error("xtensor_of: axis " + names[i] + " has stride " + std::to_string(strides[i]) +
                        ", xtensor only takes strides from 0 on");
  }
  auto const size = static_cast<std::size_t>(l.size());  // not the span: xtensor compares it with the shape
  if constexpr (Dense)
    return xt::adapt<xt::layout_type::row_major>(std::move(data), size, xt::no_ownership(), shape);
  else
    return xt::adapt(std::move(data), size, xt::no_ownership(), shape, std::move(strides));
}

}  // namespace heed::detail

namespace heed::interop {

/// The elements of a tensor, view or slice as an adaptor of xtensor of the same rank, without a copy: axes in order,
/// strides kept, constant where the elements must not be written.
///
///     auto w = heed::interop::xtensor_of(weights);  // [query, key]
///     std::cout << xt::sum(w, {1});
///
/// It dangles once the tensor, or what the view shows, is gone. Refused at compile time: expressions, temporary tensors;
/// by shape_error: negative strides.
template <class E> auto xtensor_of(E&& x) {
  if constexpr (!detail::lasting_array<E>) {
    detail::refuse_array<detail::xtensor_of_word, E>();
    return detail::poison{};
  } else {
    auto const l = detail::leaf_of_array(x);
    return detail::adapt_leaf<detail::is_tensor<std::remove_cvref_t<E>>>(l.data, l);
  }
}

}  // namespace heed::interop
