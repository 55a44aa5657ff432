// SPDX-License-Identifier: BSL-1.0
// In: matrices, vectors, maps, blocks and references of Eigen; tensors and views of one axis or two. Out: views of the one,
// maps of the other, of the same memory. Needs Eigen 3.4.
// Not part of heed.hpp: include it where it is wanted. Next to read: view_of.hpp, what is checked.
#pragma once

#include "view_of.hpp"

#include <Eigen/Core>

/// What has its elements in memory: a Matrix or an Array, a Map, a Ref, a Block of these. Rows are the first axis, columns
/// the second; a vector may have one axis or two.
template <class Dense>
  requires(std::is_base_of_v<Eigen::DenseBase<Dense>, Dense> && (Dense::Flags & Eigen::DirectAccessBit) != 0)
struct heed::interop::foreign_array<Dense> {
  static constexpr bool owns = std::is_base_of_v<Eigen::PlainObjectBase<Dense>, Dense>;
  static constexpr extent_t rank = 2;
  template <std::size_t Rank>
  static constexpr bool has_rank = Rank == 2 || (Rank == 1 && bool(Dense::IsVectorAtCompileTime));
  template <std::size_t Rank> static constexpr extent_t static_extent(std::size_t i) {
    return Rank == 1 ? Dense::SizeAtCompileTime : i == 0 ? Dense::RowsAtCompileTime : Dense::ColsAtCompileTime;
  }
  static auto* data(auto& x) { return x.data(); }
  template <std::size_t Rank> static extent_t rank_of(Dense const&) { return static_cast<extent_t>(Rank); }
  template <std::size_t Rank> static extent_t extent(Dense const& x, std::size_t i) {
    return Rank == 1 ? x.size() : i == 0 ? x.rows() : x.cols();
  }
  template <std::size_t Rank> static extent_t stride(Dense const& x, std::size_t i) {
    return Rank == 1 ? x.innerStride() : i == 0 ? x.rowStride() : x.colStride();
  }
};

namespace heed::detail {

namespace mistakes {
template <class List> struct map_of_other_than_one_axis_or_two {
  static constexpr void write(writer& w) {
    w("eigen_map: a matrix has two axes and a vector one, but the axes are "), w.list(List{}),
        w(" (take a part, as in at<batch>(x, 0), or merge axes)");
  }
};
}  // namespace mistakes

struct eigen_map_word {
  static constexpr std::string_view name = "eigen_map";
  static constexpr std::string_view no_array = " is no tensor, view or slice";
};

/// Eigen unrolls over extents that it knows, and keeps such matrices on the stack: only small ones are said to it.
template <class A>
inline constexpr int eigen_extent = fixed_extent<A> >= 0 && fixed_extent<A> <= 64 ? static_cast<int>(fixed_extent<A>)
                                                                                  : Eigen::Dynamic;
/// In Eigen only a row is stored by rows where one extent is 1.
template <class A, class B> inline constexpr bool eigen_rows_first = eigen_extent<B> != 1 || eigen_extent<A> == 1;

template <class T, class List> struct eigen_matrix;
template <class T, class A> struct eigen_matrix<T, axes<A>> { using type = Eigen::Matrix<T, eigen_extent<A>, 1>; };
template <class T, class A, class B> struct eigen_matrix<T, axes<A, B>> {
  using type =
      Eigen::Matrix<T, eigen_extent<A>, eigen_extent<B>, eigen_rows_first<A, B> ? Eigen::RowMajor : Eigen::ColMajor>;
};

/// Matrix is const where the elements are; Dense where they lie side by side, 64-byte aligned.
template <bool Dense, class Matrix, class T, class A> auto map_leaf(leaf<T, axes<A>> const& l) {
  if constexpr (Dense)
    return Eigen::Map<Matrix, Eigen::Aligned64>(l.data, l.extents[0]);
  else
    return Eigen::Map<Matrix, Eigen::Unaligned, Eigen::InnerStride<>>(l.data, l.extents[0],
                                                                      Eigen::InnerStride<>(l.strides[0]));
}
template <bool Dense, class Matrix, class T, class A, class B> auto map_leaf(leaf<T, axes<A, B>> const& l) {
  if constexpr (Dense)
    return Eigen::Map<Matrix, Eigen::Aligned64>(l.data, l.extents[0], l.extents[1]);
  else {
    constexpr bool by_rows = eigen_rows_first<A, B>;
    using apart = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
    return Eigen::Map<Matrix, Eigen::Unaligned, apart>(l.data, l.extents[0], l.extents[1],
                                                       apart(l.strides[by_rows ? 0 : 1], l.strides[by_rows ? 1 : 0]));
  }
}

}  // namespace heed::detail

namespace heed::interop {

/// The elements of a tensor, view or slice as an Eigen::Map, without a copy: two axes are rows and columns, one is a
/// column vector; strides are kept, and the map is one of constants where the elements must not be written.
///
///     auto w = heed::interop::eigen_map(weights);  // [query, key]
///     Eigen::JacobiSVD<Eigen::MatrixXf> svd(w);
///
/// Static extents up to 64 are static for Eigen too. The map dangles once the tensor, or what the view shows, is gone.
/// Refused at compile time: other ranks, expressions, temporary tensors, bf16 and f16 (Eigen's own are other types).
template <class E> auto eigen_map(E&& x) {
  using op = detail::eigen_map_word;
  if constexpr (!detail::lasting_array<E>) {
    detail::refuse_array<op, E>();
    return detail::poison{};
  } else {
    using L = detail::leaf_type_of<E>;
    using T = typename L::storage_type;
    constexpr bool dense = detail::is_tensor<std::remove_cvref_t<E>>;
    if constexpr (L::rank != 1 && L::rank != 2) {
      HEED_REFUSE("eigen_map: a matrix has two axes and a vector one",
                  detail::mistakes::map_of_other_than_one_axis_or_two<typename L::axes_type>);
      return detail::poison{};
    } else if constexpr (std::is_same_v<T, bf16> || std::is_same_v<T, f16>) {
      HEED_REFUSE("eigen_map: values of that type do not serve here",
                  detail::mistakes::value_type_does_not_serve<op, T>);
      return detail::poison{};
    } else {
      using matrix = typename detail::eigen_matrix<T, typename L::axes_type>::type;
      return detail::map_leaf<dense, std::conditional_t<detail::reads_only<L>, matrix const, matrix>>(
          detail::leaf_of_array(x));
    }
  }
}

}  // namespace heed::interop
