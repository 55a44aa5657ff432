// SPDX-License-Identifier: BSL-1.0
// In: the axes of a wanted tensor, and the shape and type that a file says. Out: the tensor, or a sentence that names
// the file, the tensor, the wanted and the found shape.
// Next to read: npy.hpp or safetensors.hpp, the formats.
#pragma once

#include "element.hpp"

namespace heed::detail {

namespace mistakes {
template <class Given, class Open> struct extents_wanted_are_not_open {
  static constexpr void write(writer& w) {
    w("read: an extent may be given, once, for each axis that has none in its type: given "), w.list(Given{}),
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

/// What a file says of an array. `where` is how its sentences begin: "tensor encoder.w: ", or nothing.
struct found_array {
  std::string_view where, type_text;
  stored_type type;
  bool fortran;
  std::span<extent_t const> extents;
  std::span<std::byte const> bytes;  // as many as extents and type ask for
};

inline void check_shape(std::string const& file, found_array const& found, std::span<wanted_axis const> wanted) {
  auto fits = [](wanted_axis const& w, extent_t e) { return w.fits(e); };
  if (std::ranges::equal(wanted, found.extents, fits)) return;
  std::string text = std::string(found.where) + "wanted " + detail::shape_text(wanted) + ", found " +
                     detail::shape_text(found.extents);
  std::vector<extent_t> const reversed(found.extents.rbegin(), found.extents.rend());
  if (std::ranges::equal(wanted, reversed, fits)) text += ": it is the wanted shape transposed";
  detail::refuse_file(file, text);
}

/// Everything that can be checked before anything is allocated.
template <class T, class... A, class... X>
void check_array(std::string const& file, found_array const& found, axes<A...>, X const&... given) {
  if (!detail::reads_as<T>(found.type))
    detail::refuse_file(file, std::string(found.where) + "wanted elements of type " +
                                  std::string(detail::type_name<T>()) + ", found " + std::string(found.type_text) +
                                  ", which does not become one without a loss");
  detail::check_shape(file, found, detail::wanted_axes(axes<A...>{}, given...));
  if constexpr (std::is_same_v<T, bool>)
    if (std::size_t const bad = detail::first_untrue(found.bytes); bad < found.bytes.size())
      detail::refuse_file(file, std::string(found.where) + "byte " + std::to_string(bad) +
                                    " of the elements is neither 0 nor 1, but their type is " +
                                    std::string(found.type_text));
}
/// The array as a tensor.
template <class T, class... A, class... X>
tensor<T, A...> read_array(std::string const& file, found_array const& found, X const&... given) {
  detail::check_array<T>(file, found, axes<A...>{}, given...);
  extent_t extents[sizeof...(A) + 1] = {};
  std::ranges::copy(found.extents, extents);
  tensor<T, A...> result(uninitialised{}, extents);
  auto const strides = detail::dense_strides(found.extents, found.fortran);
  detail::with_stored_type<T>(found.type, [&]<class S>(type_tag<S>) {
    detail::copy_elements<S>(found.bytes.data(), found.extents, strides, result.data());
  });
  return result;
}
/// The array where it lies, in C order.
template <class T, class... A, class... X>
view<T const, A...> view_array(std::string const& file, found_array const& found, X const&... given) {
  if (detail::reads_as<T>(found.type) && found.type != stored_type_of<T>)
    detail::refuse_file(file, std::string(found.where) + "a view of " + std::string(detail::type_name<T>()) +
                                  " cannot show elements of type " + std::string(found.type_text) + " (say read)");
  detail::check_array<T>(file, found, axes<A...>{}, given...);
  if (reinterpret_cast<std::uintptr_t>(found.bytes.data()) % alignof(T) != 0)
    detail::refuse_file(file,
                        std::string(found.where) + "the elements do not begin at a multiple of their size (say read)");
  leaf<T const, axes<A...>> l;
  l.data = reinterpret_cast<T const*>(found.bytes.data());
  std::ranges::copy(found.extents, l.extents);
  l.make_dense();
  return view<T const, A...>(l);
}

/// Refuses, once, extents that are not those of open axes.
template <class All, class... X>
inline constexpr bool extents_may_be_wanted =
    distinct<All>&& distinct<axes<X...>>&& subset<axes<X...>, typename dynamic_axes<All>::type>;
template <class All, class... X> void refuse_wanted_extents() {
  if constexpr (!distinct<All>)
    HEED_REFUSE("tensor: an axis occurs twice", mistakes::axis_occurs_twice<tensor_word, All>);
  else
    HEED_REFUSE("read: an extent may be given, once, for each axis that has none in its type",
                mistakes::extents_wanted_are_not_open<axes<X...>, typename dynamic_axes<All>::type>);
}

}  // namespace heed::detail
