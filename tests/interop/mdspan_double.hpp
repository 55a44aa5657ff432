// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: what heed/interop/mdspan.hpp asks of an mdspan, in the names of the standard, for compilers that have
// none: extents, layout_right, layout_stride, mdspan, and a layout without strides.
// Next to read: mdspan.cpp, which says whether it was used.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>

namespace mdspan_double {

inline constexpr std::size_t dynamic_extent = std::numeric_limits<std::size_t>::max();

template <class Index, std::size_t... E> class extents {
  std::array<Index, sizeof...(E)> values_{};

 public:
  using index_type = Index;
  static constexpr std::size_t rank() { return sizeof...(E); }
  static constexpr std::size_t static_extent(std::size_t i) {
    constexpr std::size_t all[] = {E..., 0};
    return all[i];
  }
  extents() = default;
  explicit extents(std::array<Index, sizeof...(E)> const& values) : values_(values) {}
  Index extent(std::size_t i) const { return values_[i]; }
};
template <class Index, std::size_t Rank> struct of_rank;
template <class Index> struct of_rank<Index, 1> { using type = extents<Index, dynamic_extent>; };
template <class Index> struct of_rank<Index, 2> { using type = extents<Index, dynamic_extent, dynamic_extent>; };
template <class Index, std::size_t Rank> using dextents = typename of_rank<Index, Rank>::type;

struct layout_right {
  template <class Extents> class mapping {
    Extents extents_;

   public:
    using index_type = typename Extents::index_type;
    mapping() = default;
    explicit mapping(Extents const& e) : extents_(e) {}
    Extents const& extents() const { return extents_; }
    static constexpr bool is_strided() { return true; }
    index_type stride(std::size_t i) const {
      index_type s = 1;
      for (std::size_t j = Extents::rank(); j-- > i + 1;) s *= extents_.extent(j);
      return s;
    }
  };
};
struct layout_stride {
  template <class Extents> class mapping {
    Extents extents_;
    std::array<typename Extents::index_type, Extents::rank()> strides_{};

   public:
    using index_type = typename Extents::index_type;
    mapping() = default;
    template <std::integral I> mapping(Extents const& e, std::array<I, Extents::rank()> const& s) : extents_(e) {
      for (std::size_t i = 0; i < s.size(); ++i) strides_[i] = static_cast<index_type>(s[i]);
    }
    Extents const& extents() const { return extents_; }
    static constexpr bool is_strided() { return true; }
    index_type stride(std::size_t i) const { return strides_[i]; }
  };
};

template <class T, class Extents, class Layout = layout_right> class mdspan {
 public:
  using element_type = T;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using mapping_type = typename Layout::template mapping<Extents>;
  using data_handle_type = T*;
  using reference = T&;

  mdspan(T* data, mapping_type const& m) : data_(data), mapping_(m) {}
  static constexpr std::size_t rank() { return Extents::rank(); }
  static constexpr std::size_t static_extent(std::size_t i) { return Extents::static_extent(i); }
  T* data_handle() const { return data_; }
  mapping_type const& mapping() const { return mapping_; }
  bool is_strided() const { return mapping_.is_strided(); }
  index_type extent(std::size_t i) const { return mapping_.extents().extent(i); }
  index_type stride(std::size_t i) const { return mapping_.stride(i); }

 private:
  T* data_;
  mapping_type mapping_;
};

}  // namespace mdspan_double
