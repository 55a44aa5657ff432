// SPDX-License-Identifier: BSL-1.0
// In: the types that files store. Out: which of heed's types each can be read as, without a loss, and the copy of its
// elements from and to strided memory.
// Next to read: shape.hpp, the extents that a reader wants and finds.
#pragma once

#include "../tensor.hpp"
#include "file.hpp"

namespace heed::detail {

/// The types that a file may hold; `other` is one that heed has no type for.
enum class stored_type : unsigned char { boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, other };

template <class T> inline constexpr stored_type stored_type_of = stored_type::other;
template <> inline constexpr stored_type stored_type_of<bool> = stored_type::boolean;
template <> inline constexpr stored_type stored_type_of<std::int32_t> = stored_type::i32;
template <> inline constexpr stored_type stored_type_of<std::int64_t> = stored_type::i64;
template <> inline constexpr stored_type stored_type_of<f16> = stored_type::f16;
template <> inline constexpr stored_type stored_type_of<bf16> = stored_type::bf16;
template <> inline constexpr stored_type stored_type_of<float> = stored_type::f32;
template <> inline constexpr stored_type stored_type_of<double> = stored_type::f64;

/// The types of heed's tensors.
template <class T>
concept readable_element = stored_type_of<T>
!= stored_type::other;

/// Calls f(type_tag<S>{}) for the type S that is stored, if every value of it is a value of T too, else returns false.
template <class T, class F> bool with_stored_type(stored_type from, F&& f) {
  auto as = [&]<class... S>(type_tag<S>...) {
    return ((from == stored_type_of<S> ? (f(type_tag<S>{}), true) : false) || ...);
  };
  auto small = [&]<class S>(stored_type type, type_tag<S> tag) { return from == type ? (f(tag), true) : false; };
  if constexpr (std::is_same_v<T, double>) {
    return as(type_tag<f16>{}, type_tag<bf16>{}, type_tag<float>{}, type_tag<double>{});
  } else if constexpr (std::is_same_v<T, float>) {
    return as(type_tag<f16>{}, type_tag<bf16>{}, type_tag<float>{});
  } else if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) {
    if (small(stored_type::u8, type_tag<std::uint8_t>{}) || small(stored_type::i8, type_tag<std::int8_t>{}) ||
        small(stored_type::u16, type_tag<std::uint16_t>{}) || small(stored_type::i16, type_tag<std::int16_t>{}))
      return true;
    if constexpr (std::is_same_v<T, std::int32_t>)
      return as(type_tag<std::int32_t>{});
    else
      return small(stored_type::u32, type_tag<std::uint32_t>{}) ||
             as(type_tag<std::int32_t>{}, type_tag<std::int64_t>{});
  } else {
    return as(type_tag<T>{});
  }
}
/// True where with_stored_type calls f.
template <class T> bool reads_as(stored_type from) {
  return detail::with_stored_type<T>(from, [](auto) {});
}

/// An element at an address that need not be aligned.
template <class S> S load_element(std::byte const* from) {
  S s;
  std::memcpy(&s, from, sizeof(S));
  return s;
}
/// The first byte that is neither 0 nor 1, else the size: a bool of another byte would be undefined behaviour.
inline std::size_t first_untrue(std::span<std::byte const> bytes) {
  return static_cast<std::size_t>(
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; }) - bytes.begin());
}

/// The strides of a dense array: in C order the last axis is the fastest, in Fortran order the first.
inline std::vector<extent_t> dense_strides(std::span<extent_t const> extents, bool fortran) {
  std::vector<extent_t> strides(extents.size());
  extent_t stride = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    std::size_t const at = fortran ? i : extents.size() - 1 - i;
    strides[at] = stride;
    stride *= std::max<extent_t>(extents[at], 1);
  }
  return strides;
}

/// to, dense and in C order, takes the elements S at `from`, which lie `strides` (in elements) apart.
template <class S, class T>
void copy_elements(std::byte const* from, std::span<extent_t const> extents, std::span<extent_t const> strides, T* to) {
  extent_t count = 1;
  for (extent_t const e : extents) count *= e;
  bool const in_order = std::ranges::equal(strides, detail::dense_strides(extents, false));
  if (count == 0) return;
  if constexpr (std::is_same_v<S, T>)
    if (in_order) return void(std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(count) * sizeof(T)));
  if (in_order) {
    for (extent_t i = 0; i < count; ++i)
      to[i] = static_cast<T>(load_element<S>(from + i * static_cast<extent_t>(sizeof(S))));
    return;
  }
  std::vector<extent_t> at(extents.size());
  extent_t offset = 0;
  for (extent_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(load_element<S>(from + offset * static_cast<extent_t>(sizeof(S))));
    for (std::size_t axis = extents.size(); axis-- > 0;) {  // the coordinates count on, the last axis first
      offset += strides[axis];
      if (++at[axis] < extents[axis]) break;
      offset -= strides[axis] * extents[axis];
      at[axis] = 0;
    }
  }
}

/// An array to write: where its elements lie; the buffer, where it has one, lives as long as this.
struct stored_array {
  std::byte const* data = nullptr;
  stored_type type = stored_type::other;
  std::size_t width = 0;
  std::vector<extent_t> extents, strides;
  buffer owner;

  template <class T, class... A>
  explicit stored_array(leaf<T, axes<A...>> const& from)
      : data(reinterpret_cast<std::byte const*>(from.data)),
        type(stored_type_of<std::remove_const_t<T>>),
        width(sizeof(T)),
        extents(from.extents, from.extents + sizeof...(A)),
        strides(from.strides, from.strides + sizeof...(A)),
        owner(from.owner) {}
  std::size_t bytes() const {
    return static_cast<std::size_t>(detail::checked_size(extents.data(), extents.size(), width)) * width;
  }
  /// Writes the elements in C order, or in Fortran order: the reverse of everything, in C order.
  void write_to(replacement_file& file, bool fortran = false) const {
    if (bytes() == 0) return;
    std::vector<extent_t> e = extents, s = strides;
    if (fortran) std::ranges::reverse(e), std::ranges::reverse(s);
    if (std::ranges::equal(s, detail::dense_strides(e, false))) return file.write(data, bytes());
    buffer const dense(bytes());
    auto copy = [&]<class S>(type_tag<S>) { detail::copy_elements<S>(data, e, s, static_cast<S*>(dense.data())); };
    if (width == 1) copy(type_tag<std::uint8_t>{});
    if (width == 2) copy(type_tag<std::uint16_t>{});
    if (width == 4) copy(type_tag<std::uint32_t>{});
    if (width == 8) copy(type_tag<std::uint64_t>{});
    file.write(dense.data(), bytes());
  }
};

/// Something with a name whose elements lie in memory: a tensor or a view.
template <class E>
concept writable_array = requires(E const& e) {
  stored_array(e.heed_leaf());
}
&&readable_element<std::remove_const_t<typename E::value_type>>;

}  // namespace heed::detail
