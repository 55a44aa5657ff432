// SPDX-License-Identifier: BSL-1.0
// In: a user's tags (`struct key : heed::axis<> {};`). Out: lists of tags and their algebra (union, difference, order),
// named extents, and the checks that every later layer asks for. Boost.Hana filters and unpacks the lists.
// Next to read: check.hpp, what the compiler says when two lists do not fit.
#pragma once

#include "arch.hpp"

#include <boost/hana/filter.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heed {

/// Extents, coordinates, strides and offsets: signed and 64 bits wide wherever pointers are.
///
///     extent_t n = x.extent<query>();
using extent_t = std::ptrdiff_t;

/// Thrown where an operation is written, as soon as the extents that do not fit are known.
///
///     try {
///       auto c = dot<key>(softmax<key>(s), v);  // as long in s as in v?
///     } catch (shape_error const& e) {
///       std::cerr << e.what();  // says which axis is how long in which operand
///     }
struct shape_error : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

namespace detail {

inline constexpr extent_t dynamic = -1;
struct no_axis {};

/// The run-time extent that a tag carries: takes any integer without a warning and refuses negative ones.
struct named_extent {
  extent_t value = 0;
  constexpr named_extent() = default;
  template <std::integral I>
  constexpr named_extent(I n) : value(static_cast<extent_t>(n)) {  // NOLINT: key{128} is the wanted spelling
    if (!std::in_range<extent_t>(n) || std::cmp_less(n, 0))
      throw shape_error("axis: an extent must lie in 0 .. 2^63 - 1, not " + std::to_string(n));
  }
  template <std::floating_point F> constexpr named_extent(F) {  // NOLINT: key{2.5} is refused
    static_assert(std::integral<F>, "axis: an extent is an integer");
  }
};

}  // namespace detail

/// An axis is a type. This one has its extent in the type; where Extent is left out it comes at run time, as in `key{128}`.
/// Two tags are two axes, whatever their names and extents.
///
///     struct d_model : heed::axis<768> {};
///     heed::tensor<float, key, d_model> e{key{128}};  // d_model is said already: giving it is refused
template <extent_t Extent = detail::dynamic> struct axis {
  static_assert(Extent >= 0, "an axis has an extent of at least 0");
  /// The extent, or -1 where it is known at run time.
  static constexpr extent_t static_extent = Extent;
  constexpr axis() = default;
  /// Only so that what is given such an extent, which stands in the type already, can refuse it in a sentence.
  constexpr axis(std::integral auto) {}  // NOLINT: d_head{64} is refused by those who get it
};
/// An axis whose extent is given at run time: `key{128}`, by any integer; a negative one is shape_error.
///
///     struct frame : heed::axis<> {};
///     heed::tensor<float, frame> loudness{frame{100}};
template <> struct axis<detail::dynamic> {
  /// -1: known at run time.
  static constexpr extent_t static_extent = detail::dynamic;
  /// What `key{128}` carries.
  detail::named_extent size{};
};

/// A list of axes, in order: the `axes_type` of an expression.
///
///     static_assert(std::is_same_v<decltype(x)::axes_type, axes<batch, query, model>>);
template <class... A> struct axes {
  static constexpr std::size_t rank = sizeof...(A);  ///< how many
};

namespace detail {

template <extent_t N> std::true_type derives_from_axis(axis<N> const*);
std::false_type derives_from_axis(void const*);

template <class A>
concept axis_tag = decltype(detail::derives_from_axis(static_cast<A const*>(nullptr)))::value;

/// The extent that a tag fixes; `dynamic` for others, and for what is no tag and was refused already.
template <class A> inline constexpr extent_t fixed_extent = dynamic;
template <axis_tag A> inline constexpr extent_t fixed_extent<A> = A::static_extent;
template <class A> inline constexpr bool is_dynamic = fixed_extent<A> == dynamic;

template <class T> struct type_tag { using type = T; };

// ---- membership and position: folds
template <class A, class List> inline constexpr bool contains = false;
template <class A, class... B> inline constexpr bool contains<A, axes<B...>> = (std::is_same_v<A, B> || ...);

template <class List, class In> inline constexpr bool subset = false;
template <class... A, class In> inline constexpr bool subset<axes<A...>, In> = (contains<A, In> && ...);

template <class L, class R> inline constexpr bool same_set = L::rank == R::rank&& subset<L, R>;

template <class List> inline constexpr bool distinct = true;
template <class A, class... B>
inline constexpr bool distinct<axes<A, B...>> = !contains<A, axes<B...>> && distinct<axes<B...>>;

template <class A, class List> struct position;
template <class A, class... B> struct position<A, axes<B...>> {
  static constexpr int find() {
    int i = 0;
    (void)((std::is_same_v<A, B> ? true : (++i, false)) || ...);
    return i;
  }
  static constexpr int value = find();
};
/// The place of A in the list; the list's length where it has no A.
template <class A, class List> inline constexpr int index_of = position<A, List>::value;

// ---- difference and intersection: Hana filters the list, Hana unpacks it again; memoised by the class template
template <class Other, bool Keep> struct is_in {
  template <class Tag> constexpr auto operator()(Tag) const {
    return boost::hana::bool_c<contains<typename Tag::type, Other> == Keep>;
  }
};
struct to_axes {
  template <class... Tag> constexpr auto operator()(Tag...) const { return axes<typename Tag::type...>{}; }
};
template <class List, class Other, bool Keep> struct filtered;
template <class... A, class Other, bool Keep>
  requires(sizeof...(A) > 0 && !std::is_same_v<axes<A...>, Other>)
struct filtered<axes<A...>, Other, Keep> {
  using type =
      decltype(boost::hana::unpack(boost::hana::filter(boost::hana::tuple_t<A...>, is_in<Other, Keep>{}), to_axes{}));
};
template <class... A, bool Keep> struct filtered<axes<A...>, axes<A...>, Keep> {
  using type = std::conditional_t<Keep, axes<A...>, axes<>>;
};
template <class Other, bool Keep>
  requires(Other::rank > 0)
struct filtered<axes<>, Other, Keep> {
  using type = axes<>;
};

template <class L, class R> using difference = typename filtered<L, R, false>::type;
template <class L, class R> using intersection = typename filtered<L, R, true>::type;

template <class L, class R> struct joined;
template <class... A, class... B> struct joined<axes<A...>, axes<B...>> { using type = axes<A..., B...>; };
template <class L, class R> struct united : joined<L, difference<R, L>> {};
template <class L> struct united<L, L> { using type = L; };
/// All of L in its order, then what only R has.
template <class L, class R> using unite = typename united<L, R>::type;

template <class... L> struct united_all;
template <> struct united_all<> { using type = axes<>; };
template <class L> struct united_all<L> { using type = L; };
template <class L, class R, class... M> struct united_all<L, R, M...> : united_all<unite<L, R>, M...> {};
template <class... L> using unite_all = typename united_all<L...>::type;

template <class List, class From, class To> struct renamed_list;
template <class... A, class From, class To> struct renamed_list<axes<A...>, From, To> {
  using type = axes<std::conditional_t<std::is_same_v<A, From>, To, A>...>;
};
template <class List, class From, class To> using rename_in = typename renamed_list<List, From, To>::type;

/// `From` replaced by all of `To...` where it stood.
template <class List, class From, class... To> struct replaced_list;
template <class... A, class From, class... To> struct replaced_list<axes<A...>, From, To...> {
  template <class... L> struct cat { using type = axes<>; };
  template <class L, class... R> struct cat<L, R...> : joined<L, typename cat<R...>::type> {};
  using type = typename cat<std::conditional_t<std::is_same_v<A, From>, axes<To...>, axes<A>>...>::type;
};
template <class List, class From, class... To> using replace_in = typename replaced_list<List, From, To...>::type;

template <class List> struct first_axis;
template <class A, class... R> struct first_axis<axes<A, R...>> { using type = A; };
template <class List> using first_of = typename first_axis<List>::type;

/// Calls f(type_tag<A>{}) for each axis in order.
template <class... A, class F> constexpr void for_each_axis(axes<A...>, F&& f) { (f(type_tag<A>{}), ...); }

}  // namespace detail
}  // namespace heed
