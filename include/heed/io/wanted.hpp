// SPDX-License-Identifier: BSL-1.0
// In: the axes of a wanted tensor or view, some extents by name. Out: what an array that was found must look like, and both
// shapes as text. For the readers of files and for the arrays of other libraries (../interop/).
// Next to read: shape.hpp, the arrays in files.
#pragma once

#include "../tensor.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace heed::detail {

namespace mistakes {
template <class Op, class Given, class Open> struct extents_wanted_are_not_open {
  static constexpr void write(writer& w) {
    w(Op::name), w(": an extent may be given, once, for each axis that has none in its type: given "), w.list(Given{}),
        w(", open "), w.list(Open{});
  }
};
}  // namespace mistakes

/// An axis that a reader wants; its extent is `dynamic` where any will do.
struct wanted_axis {
  std::string_view name;
  extent_t extent;
  bool fits(extent_t found) const { return extent == dynamic || extent == found; }
};

template <class... A, class... X> std::vector<wanted_axis> wanted_axes(axes<A...>, X const&... given) {
  extent_t extents[sizeof...(A) + 1];
  detail::name_extents(axes<A...>{}, extents, given...);
  std::vector<wanted_axis> wanted;
  [[maybe_unused]] std::size_t i = 0;
  (wanted.push_back({detail::type_name<A>(), extents[i++]}), ...);
  return wanted;
}

/// "(output 64, input 32)"; an axis whose extent is left to the file stands alone.
inline std::string shape_text(std::span<wanted_axis const> wanted) {
  std::string s = "(";
  for (wanted_axis const& a : wanted) {
    s += s.size() > 1 ? ", " : "";
    s += a.name;
    if (a.extent != dynamic) s += " " + std::to_string(a.extent);
  }
  return s + ")";
}
/// "[32, 64]"
inline std::string shape_text(std::span<extent_t const> found) {
  constexpr std::size_t most = 32;  // a hostile file may have any number of extents
  std::string s = "[";
  for (std::size_t i = 0; i < std::min(found.size(), most); ++i) s += (i > 0 ? ", " : "") + std::to_string(found[i]);
  return s + (found.size() > most ? ", ...]" : "]");
}

/// Refuses, once, extents that are not those of open axes.
template <class All, class... X>
inline constexpr bool extents_may_be_wanted =
    distinct<All>&& distinct<axes<X...>>&& subset<axes<X...>, typename dynamic_axes<All>::type>;
template <class Op, class All, class... X> void refuse_wanted_extents() {
  if constexpr (!distinct<All>)
    HEED_REFUSE("an axis occurs twice", mistakes::axis_occurs_twice<Op, All>);
  else
    HEED_REFUSE("an extent may be given, once, for each axis that has none in its type",
                mistakes::extents_wanted_are_not_open<Op, axes<X...>, typename dynamic_axes<All>::type>);
}
/// The same, and elements of a type that nothing computes with.
template <class Op, class T, class All, class... X> void refuse_wanted() {
  if constexpr (!is_element<T>)
    HEED_REFUSE("read: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits",
                mistakes::elements_of_that_type<Op, T>);
  else
    detail::refuse_wanted_extents<Op, All, X...>();
}

}  // namespace heed::detail
