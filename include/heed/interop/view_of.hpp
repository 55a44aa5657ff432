// SPDX-License-Identifier: BSL-1.0
// In: an array of another library, and the axes that it is to have; or a tensor, a view or a slice that another library is
// to see. Out: a view of the same memory; or the mistakes of both directions, in a sentence each.
// Next to read: eigen.hpp, mdspan.hpp, xtensor.hpp or dlpack.hpp, the libraries.
#pragma once

#include "../io/wanted.hpp"

namespace heed::interop {

/// What view_of must know of an array: eigen.hpp, mdspan.hpp and xtensor.hpp say it of theirs, a program may of its own.
///
///     template <> struct heed::interop::foreign_array<image> {
///       static constexpr bool owns = true;               // a view of a temporary would dangle
///       static constexpr heed::extent_t rank = 2;        // -1: known at run time
///       template <std::size_t Rank> static constexpr bool has_rank = Rank == 2;  // true if rank is -1
///       template <std::size_t Rank> static constexpr heed::extent_t static_extent(std::size_t) { return -1; }  // or it
///       static auto* data(auto& x) { return x.pixels(); }                         // to const where x is
///       template <std::size_t Rank> static heed::extent_t rank_of(image const&) { return 2; }
///       template <std::size_t Rank> static heed::extent_t extent(image const& x, std::size_t i) {
///         return i == 0 ? x.rows() : x.columns();
///       }
///       template <std::size_t Rank> static heed::extent_t stride(image const& x, std::size_t i) {  // in elements
///         return i == 0 ? x.columns() : 1;
///       }
///     };
template <class Array> struct foreign_array {};

}  // namespace heed::interop

namespace heed::detail {

namespace mistakes {
template <class Op, class X> struct it_is_no_array {
  static constexpr void write(writer& w) { w(Op::name), w(": "), w(detail::family<X>()), w(Op::no_array); }
};
template <class Op, class X> struct array_is_a_temporary {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the "), w(detail::family<X>()),
        w(" is a temporary, its elements would be gone before they are read (give it a name)");
  }
};
template <class Op, class List, extent_t Rank> struct array_has_another_rank {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the array has rank "), w(Rank), w(", the axes are "), w.list(List{});
  }
};
template <class Op, class A, extent_t Found, class = sizes<fixed_extent<A>>> struct array_has_another_extent {
  static constexpr void write(writer& w) {
    w(Op::name), w(": axis "), w(detail::type_name<A>()), w(" has extent "), w(fixed_extent<A>), w(", the array has "),
        w(Found);
  }
};
template <class Op, class Found, class Wanted> struct array_has_other_elements {
  static constexpr void write(writer& w) {
    w(Op::name), w(": elements of type "), w(detail::type_name<Found>()), w(" do not serve where the array has "),
        w(detail::type_name<Wanted>());
  }
};
template <class Op, class List> struct array_has_no_elements_yet {
  static constexpr void write(writer& w) {
    w(Op::name), w(": an expression with axes "), w.list(List{}), w(" has no elements yet: say evaluate(...)");
  }
};
}  // namespace mistakes

struct view_of_word {
  static constexpr std::string_view name = "view_of";
  static constexpr std::string_view no_array = " is no array in memory that the included headers of heed/interop know";
};

/// What was found does not fit what is wanted: said as the readers of files say it.
[[noreturn]] inline void refuse_found_shape(char const* op, std::span<wanted_axis const> wanted,
                                            std::span<extent_t const> found) {
  std::string text =
      std::string(op) + ": wanted " + detail::shape_text(wanted) + ", found " + detail::shape_text(found);
  auto fits = [](wanted_axis const& w, extent_t e) { return w.fits(e); };
  if (std::equal(wanted.begin(), wanted.end(), found.rbegin(), found.rend(), fits))
    text += ": it is the wanted shape transposed";
  throw shape_error(text);
}

template <class Array> using foreign = interop::foreign_array<std::remove_cvref_t<Array>>;
template <class Array>
concept known_foreign = requires {
  foreign<Array>::owns;
};
template <class Array>
using foreign_element =
    std::remove_pointer_t<decltype(foreign<Array>::data(std::declval<std::remove_reference_t<Array>&>()))>;

/// The first of the axes whose extent the array's type contradicts.
template <class Array, class List> struct first_other_extent;
template <class Array, class... A> struct first_other_extent<Array, axes<A...>> {
  static constexpr std::size_t find() {
    [[maybe_unused]] std::size_t i = 0, found = sizeof...(A);
    [[maybe_unused]] auto const look = [&](extent_t fixed) {
      extent_t const there = foreign<Array>::template static_extent<sizeof...(A)>(i);
      if (found == sizeof...(A) && fixed != dynamic && there != dynamic && there != fixed) found = i;
      ++i;
    };
    (look(fixed_extent<A>), ...);
    return found;
  }
};
template <std::size_t I, class List> struct axis_at;
template <class A, class... R> struct axis_at<0, axes<A, R...>> { using type = A; };
template <std::size_t I, class A, class... R> struct axis_at<I, axes<A, R...>> : axis_at<I - 1, axes<R...>> {};

// ---------------------------------------------------------------- from heed to another library
template <class E> inline constexpr bool is_tensor = false;
template <class T, class... A> inline constexpr bool is_tensor<tensor<T, A...>> = true;
template <class E> inline constexpr bool is_array = is_tensor<E>;
template <class T, class... A> inline constexpr bool is_array<view<T, A...>> = true;
template <class T, class List> inline constexpr bool is_array<leaf<T, List>> = true;

/// A tensor that has a name (a temporary one's elements would be gone), a view, or a slice of either.
template <class E>
concept lasting_array = is_array<std::remove_cvref_t<E>> &&
    (std::is_lvalue_reference_v<E> || !is_tensor<std::remove_cvref_t<E>>);

/// Where the elements lie; const where they must not be written.
template <class T, class... A> auto leaf_of_array(tensor<T, A...>& x) { return x.heed_leaf(); }
template <class T, class... A> auto leaf_of_array(tensor<T, A...> const& x) {
  return detail::with_type<T const>(x.heed_leaf());
}
template <class T, class... A> auto leaf_of_array(view<T, A...> const& x) { return x.heed_leaf(); }
template <class T, class List> auto leaf_of_array(leaf<T, List> const& x) { return x; }
template <class E> using leaf_type_of = decltype(detail::leaf_of_array(std::declval<std::remove_reference_t<E>&>()));
template <class L> inline constexpr bool reads_only = false;
template <class T, class List> inline constexpr bool reads_only<leaf<T const, List>> = true;
template <class L>
using array_element = std::conditional_t<reads_only<L>, typename L::storage_type const, typename L::storage_type>;

/// Says what is wrong with something that is no lasting array.
template <class Op, class E> void refuse_array() {
  using X = std::remove_cvref_t<E>;
  if constexpr (is_array<X>)
    HEED_REFUSE("the tensor is a temporary, its elements would be gone before they are read (give it a name)",
                mistakes::array_is_a_temporary<Op, X>);
  else if constexpr (expression_like<X> && !is_poison<X>)
    HEED_REFUSE("an expression has no elements yet: say evaluate(...)",
                mistakes::array_has_no_elements_yet<Op, typename X::axes_type>);
  else if constexpr (!is_poison<X>)
    HEED_REFUSE("it takes a tensor, a view or a slice of one", mistakes::it_is_no_array<Op, X>);
}

}  // namespace heed::detail

namespace heed::interop {

/// The elements of an array of another library under named axes, without a copy: its first axis is A's first, strides are
/// kept, and the view is one of constants where the array is. Extents by name are wanted, the others are the array's:
///
///     Eigen::MatrixXf m(12, 64);
///     auto q = heed::interop::view_of<query, d_head>(m, query{12});  // view<float, query, d_head>
///
/// The view dangles once the array is gone or gets other memory. Refused at compile time: another rank, another static
/// extent, elements that heed has no type for, a temporary that owns its elements; by shape_error: other extents.
template <class... A, class Array, class... X> auto view_of(Array&& array, X const&... wanted) {
  using op = detail::view_of_word;
  using list = axes<A...>;
  constexpr std::size_t rank = sizeof...(A);
  if constexpr (!detail::known_foreign<Array>) {
    HEED_REFUSE("view_of: it is no array in memory that the included headers of heed/interop know",
                detail::mistakes::it_is_no_array<op, std::remove_cvref_t<Array>>);
    return detail::poison{};
  } else {
    using found = detail::foreign<Array>;
    using T = detail::foreign_element<Array>;
    if constexpr (!detail::good_tags<A...> && (rank > 0 || found::rank > 0)) {
      HEED_REFUSE_TAGS(op, A...);
      return detail::poison{};
    } else if constexpr (!detail::is_element<std::remove_const_t<T>>) {
      HEED_REFUSE("view_of: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits",
                  detail::mistakes::elements_of_that_type<op, std::remove_const_t<T>>);
      return detail::poison{};
    } else if constexpr (!found::template has_rank<rank>) {
      HEED_REFUSE("view_of: the array has another rank",
                  detail::mistakes::array_has_another_rank<op, list, found::rank>);
      return detail::poison{};
    } else if constexpr (constexpr std::size_t other = detail::first_other_extent<Array, list>::find(); other < rank) {
      HEED_REFUSE("view_of: the array has another extent",
                  detail::mistakes::array_has_another_extent<op, typename detail::axis_at<other, list>::type,
                                                             found::template static_extent<rank>(other)>);
      return detail::poison{};
    } else if constexpr (found::owns && !std::is_lvalue_reference_v<Array>) {
      HEED_REFUSE("view_of: the array is a temporary, its elements would be gone before they are read (give it a name)",
                  detail::mistakes::array_is_a_temporary<op, std::remove_cvref_t<Array>>);
      return detail::poison{};
    } else if constexpr (!detail::extents_may_be_wanted<list, X...>) {
      detail::refuse_wanted_extents<op, list, X...>();
      return detail::poison{};
    } else {
      extent_t expected[rank + 1];
      detail::name_extents(list{}, expected, wanted...);
      detail::leaf<T, list> l;
      bool fits = found::template rank_of<rank>(array) == static_cast<extent_t>(rank);
      for (std::size_t i = 0; fits && i < rank; ++i) {
        l.extents[i] = found::template extent<rank>(array, i);
        l.strides[i] = found::template stride<rank>(array, i);
        fits = expected[i] == detail::dynamic || expected[i] == l.extents[i];
      }
      if (!fits) {
        std::vector<extent_t> extents(static_cast<std::size_t>(found::template rank_of<rank>(array)));
        for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = found::template extent<rank>(array, i);
        detail::refuse_found_shape("view_of", detail::wanted_axes(list{}, wanted...), extents);
      }
      l.data = found::data(array);
      return view<T, A...>(l);
    }
  }
}

}  // namespace heed::interop
