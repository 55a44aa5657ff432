// SPDX-License-Identifier: BSL-1.0
// In: extents by name. Out: tensor, which owns its elements. Next to read: expression.hpp, the tree that is built over
// leaves.
#pragma once

#include "view.hpp"

#include <cstring>

namespace heed {

/// Owns its elements: 64-byte aligned, row-major in the order written, zero-initialised. Copies are deep.
/// A... are its axes, T is float, double, bf16, f16, bool or a signed integer of 32 or 64 bits.
///
///     tensor<float, batch, query, model> e{batch{2}, query{12}};  // the extents that the type leaves open, once each
///     e(0, 3, 5) = 1;                                             // in the order of the type
///
/// Refused: an axis twice, other types, an open extent that is not given, one that stands in the type. shape_error: a
/// negative extent, more elements than 64 bits count.
template <class T, class... A> class tensor : public detail::refused_members<T, axes<A...>> {
  static_assert(
      sizeof(detail::checked_type<(detail::axis_tag<A> && ...), detail::is_element<T>, detail::tensor_word, T, A...>));
  detail::leaf<T, axes<A...>> leaf_;

  void allocate(bool zero) {
    extent_t const n = detail::checked_size(leaf_.extents, sizeof...(A), sizeof(T));
    leaf_.owner = detail::buffer(static_cast<std::size_t>(n) * sizeof(T));
    leaf_.data = static_cast<T*>(leaf_.owner.data());
    leaf_.make_dense();
    if (zero && n > 0) std::memset(leaf_.owner.data(), 0, static_cast<std::size_t>(n) * sizeof(T));
  }

 public:
  using axes_type = axes<A...>;  ///< its axes, in order
  using value_type = T;          ///< what it stores

  /// Open extents are 0.
  tensor() {
    if constexpr (!detail::distinct<axes_type>)
      HEED_REFUSE("tensor: an axis occurs twice", detail::mistakes::axis_occurs_twice<detail::tensor_word, axes_type>);
    extent_t const fixed[] = {detail::fixed_extent<A>..., 0};
    for (std::size_t i = 0; i < sizeof...(A); ++i) leaf_.extents[i] = fixed[i] == detail::dynamic ? 0 : fixed[i];
    allocate(true);
  }
  /// The extents that the type leaves open by name, each once, in any order. Refused: others.
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit tensor(X const&... extents) {
    if constexpr (detail::extents_fit<axes_type, X...>) {
      detail::name_extents(axes_type{}, leaf_.extents, extents...);
      allocate(true);
    } else
      detail::refuse_named_extents<detail::tensor_word, axes_type, X...>();
  }
  /// @private
  template <std::integral... I>
    requires(sizeof...(I) > 0)
  explicit tensor(I...) {
    HEED_REFUSE(
        "tensor: extents are given by name, as in query{128}, not by place",
        detail::mistakes::extents_without_names<detail::tensor_word, typename detail::dynamic_axes<axes_type>::type>);
  }
  /// @private
  template <detail::plain_memory V, class... X> explicit tensor(V const&, X const&...) {
    HEED_REFUSE(
        "tensor: it is made of extents and owns its elements: copy others into it, or name their axes in a view",
        detail::mistakes::word_is_not_there<detail::values_word, V>);
  }
  /// @private
  template <detail::expression_like E>
    requires(!detail::is_poison<E> && !std::is_same_v<E, tensor>)
  tensor(E const&) {  // NOLINT: refused, so that `tensor x = a + b` gives a sentence
    using Value = std::remove_const_t<typename E::value_type>;
    if constexpr (detail::same_set<typename E::axes_type, axes_type> && !std::is_same_v<Value, T>)
      HEED_REFUSE("tensor: values of one type do not become elements of another unsaid: say evaluate_into(x, e)",
                  detail::mistakes::elements_of_another_type<Value, T>);
    else if constexpr (sizeof...(A) == 0 || detail::same_set<typename E::axes_type, axes_type>)
      HEED_REFUSE("tensor: an expression has no elements yet: say evaluate(...)",
                  detail::mistakes::tensor_of_an_expression<typename E::axes_type, axes_type>);
    else
      HEED_REFUSE("evaluate: the expression does not fit the tensor",
                  detail::mistakes::destination_has_other_axes<typename E::axes_type, axes_type>);
  }
  /// Copies the elements.
  tensor(tensor const& other) {
    std::copy(other.leaf_.extents, other.leaf_.extents + sizeof...(A) + 1, leaf_.extents);
    allocate(false);
    if (other.leaf_.data && size() > 0)
      std::memcpy(static_cast<void*>(leaf_.data), other.leaf_.data, static_cast<std::size_t>(size()) * sizeof(T));
  }
  /// Takes the buffer; other's open extents are 0 afterwards.
  tensor(tensor&& other) noexcept : leaf_(std::exchange(other.leaf_, {})) {
    extent_t const fixed[] = {detail::fixed_extent<A>..., 0};
    for (std::size_t i = 0; i < sizeof...(A); ++i) other.leaf_.extents[i] = fixed[i] == detail::dynamic ? 0 : fixed[i];
  }
  /// A new buffer: expressions made before keep the old one.
  tensor& operator=(tensor const& other) {
    if (this != &other) *this = tensor(other);
    return *this;
  }
  /// The other's buffer: expressions made before keep the old one.
  tensor& operator=(tensor&& other) noexcept {
    std::swap(leaf_, other.leaf_);
    return *this;
  }
  /// @private
  template <class V>
    requires(detail::plain_memory<V> || std::is_arithmetic_v<V>)
  tensor& operator=(V const&) {
    HEED_REFUSE("tensor: only a tensor is assigned to it: say std::fill(x.begin(), x.end(), 0), or std::copy for many",
                detail::mistakes::word_is_not_there<detail::assigned_word, V>);
    return *this;
  }
  ~tensor() = default;
  tensor(detail::poison const&) {}  // NOLINT: the line under a refused one still compiles
  /// For evaluate: extents in the order of the type, elements not yet written.
  tensor(detail::uninitialised, extent_t const* extents) {
    std::copy(extents, extents + sizeof...(A), leaf_.extents);
    allocate(false);
  }

  T* data() { return leaf_.data; }                  ///< the first element
  T const* data() const { return leaf_.data; }      ///< the first element
  extent_t size() const { return leaf_.size(); }    ///< the number of elements
  T* begin() { return data(); }                     ///< all elements, in the order of memory
  T* end() { return data() + size(); }              ///< behind the last
  T const* begin() const { return data(); }         ///< all elements, in the order of memory
  T const* end() const { return data() + size(); }  ///< behind the last
  /// How long axis X is.
  template <class X> extent_t extent() const {
    if constexpr (!detail::contains<X, axes_type>)
      HEED_REFUSE("extent: the tensor has no such axis",
                  detail::mistakes::axis_is_missing<detail::extent_word, X, axes_type>);
    return leaf_.template extent<X>();
  }
  /// How many elements lie between neighbours along X.
  template <class X> extent_t stride() const {
    if constexpr (!detail::contains<X, axes_type>)
      HEED_REFUSE("stride: the tensor has no such axis",
                  detail::mistakes::axis_is_missing<detail::stride_word, X, axes_type>);
    return leaf_.template stride<X>();
  }
  /// The element at these coordinates, in the order of the type; unchecked.
  template <std::integral... I> T& operator()(I... i) { return leaf_.data[leaf_.offset(i...)]; }
  /// The same, to read.
  template <std::integral... I> T const& operator()(I... i) const { return leaf_.data[leaf_.offset(i...)]; }
  /// @{
  /// @private
  using detail::refused_members<T, axes<A...>>::operator();
  using detail::refused_members<T, axes<A...>>::size;
  using detail::refused_members<T, axes<A...>>::extent;
  /// @}
  /// The same memory as a view.
  operator view<T, A...>() { return view<T, A...>(leaf_without_owner<T>()); }  // NOLINT
  /// The same memory as a view, to read.
  operator view<T const, A...>() const { return view<T const, A...>(leaf_without_owner<T const>()); }  // NOLINT
#if defined(__cpp_lib_mdspan)
  /// The same memory as an mdspan.
  auto to_mdspan() { return std::mdspan<T, std::dextents<extent_t, sizeof...(A)>>(data(), extent<A>()...); }
  /// The same memory as an mdspan, to read.
  auto to_mdspan() const { return std::mdspan<T const, std::dextents<extent_t, sizeof...(A)>>(data(), extent<A>()...); }
#endif
  detail::leaf<T, axes<A...>> const& heed_leaf() const { return leaf_; }

 private:
  template <class U> detail::leaf<U, axes<A...>> leaf_without_owner() const { return detail::unowned<U>(leaf_); }
};
/// What `tensor x = ...` is where the right side was refused: it takes the lines below without a second error.
/// @private
template <> class tensor<detail::poison> : public detail::poison {
  detail::leaf<float, axes<>> leaf_;

 public:
  tensor() = default;
  tensor(detail::poison const&) {}  // NOLINT: as its guide says
  template <class... I> float& operator()(I const&...) const { return *leaf_.data; }
  template <class... X> extent_t stride() const { return 0; }
  detail::leaf<float, axes<>> const& heed_leaf() const { return leaf_; }
};
/// @private
tensor(detail::poison)->tensor<detail::poison>;
namespace detail {
template <class T, class List> struct tensor_over;
template <class T, class... A> struct tensor_over<T, axes<A...>> { using type = tensor<T, A...>; };
}  // namespace detail
/// @private
template <detail::expression_like E> tensor(E const&) -> tensor<float>;  // refused by the constructor

/// True where both have the same extents and the same bits in every element (so a NaN equals itself, and -0 is not 0).
/// `==` compares element by element and is an expression.
///
///     tensor once = evaluate(x + a);
///     bool same = identical(once, evaluate(unfused, x + a));
///
/// Refused: expressions, other axes or another type.
template <class T, class... A> bool identical(tensor<T, A...> const& a, tensor<T, A...> const& b) {
  for (std::size_t i = 0; i < sizeof...(A); ++i)
    if (a.heed_leaf().extents[i] != b.heed_leaf().extents[i]) return false;
  return a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}
/// @private
template <detail::expression_like A, detail::expression_like B> bool identical(A const&, B const&) {
  if constexpr (!detail::is_poison<A> && !detail::is_poison<B>)
    HEED_REFUSE("identical: it compares two tensors of one type: evaluate first",
                detail::mistakes::tensors_of_different_types<typename A::axes_type, typename B::axes_type>);
  return false;
}

}  // namespace heed
