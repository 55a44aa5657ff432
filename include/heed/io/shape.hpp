// SPDX-License-Identifier: BSL-1.0
// In: the axes of a wanted tensor, and the shape and type that a file says. Out: the tensor, or a sentence that names
// the file, the tensor, the wanted and the found shape.
// Next to read: npy.hpp or safetensors.hpp, the formats.
#pragma once

#include "element.hpp"
#include "wanted.hpp"

namespace heed::detail {

struct read_word {
  static constexpr std::string_view name = "read";
};

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

}  // namespace heed::detail
