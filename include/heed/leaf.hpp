// SPDX-License-Identifier: BSL-1.0
// In: a buffer. Out: what an expression is (expression_base), what is left of a refused one (poison), and leaf, the form in
// which memory enters an expression: pointer, extents, strides and a counted handle that keeps the buffer alive as long as
// an expression needs it. Next to read: tensor.hpp and view.hpp, which own or name that memory.
#pragma once

#include "memory.hpp"
#include "mistakes.hpp"
#include "storage.hpp"

#include <algorithm>

namespace heed {
namespace detail {

/// Base of everything that can stand in an expression; its namespace is where the operators are found. What it offers is
/// there to be refused: an expression has no elements and is no truth value.
struct expression_base {
  template <std::same_as<bool> Truth> explicit operator Truth() const {
    HEED_REFUSE("an expression is no truth value: compare two tensors with identical(a, b)",
                mistakes::expression_as_a_truth_value<Truth>);
    return false;
  }
  template <std::integral... I> float operator()(I...) const {
    HEED_REFUSE("an expression has no elements before it is evaluated: say evaluate(...)",
                mistakes::element_of_an_expression<axes<I...>>);
    return 0;
  }
  template <class I> auto operator[](I) const;
  template <class V>
    requires(std::is_same_v<V, float> || std::is_same_v<V, double>)
  operator V() const {  // NOLINT: refused, so that `float f = sum<key>(x)` gives a sentence
    HEED_REFUSE("this is no number: of an expression take evaluate(e)(), of a tensor x(i, j)",
                mistakes::expression_as_a_number<V>);
    return 0;
  }
  /// @{
  /// What a range-for and a loop over memory look for.
  template <class Loop = void> float const* begin() const {
    HEED_REFUSE("an expression has no elements before it is evaluated: say evaluate(...)",
                mistakes::memory_of_an_expression<Loop>);
    return nullptr;
  }
  template <class Loop = void> float const* end() const { return nullptr; }
  template <class Loop = void> float* data() const {
    HEED_REFUSE("an expression has no elements before it is evaluated: say evaluate(...)",
                mistakes::memory_of_an_expression<Loop>);
    return nullptr;
  }
  template <class Loop = void> extent_t size() const {
    HEED_REFUSE("an expression has no elements before it is evaluated: say evaluate(...)",
                mistakes::memory_of_an_expression<Loop>);
    return 0;
  }
  /// @}
  template <class Name = void> extent_t shape() const {
    HEED_REFUSE("x.shape(): axes have names, not places: say x.extent<query>()", mistakes::shape_without_names<Name>);
    return 0;
  }
};
template <class E>
concept expression_like = std::is_base_of_v<expression_base, std::remove_cvref_t<E>>;

/// What an operation returns after it has refused: later operations swallow it, so that one mistake gives one error.
struct poison : expression_base {
  using axes_type = axes<>;
  using value_type = float;
  static constexpr bool heavy = false;
  template <class A> extent_t extent() const { return dynamic; }
  template <std::same_as<bool> Truth> explicit operator Truth() const { return false; }
  template <std::integral... I> float operator()(I...) const { return 0; }
  template <class I> poison operator[](I) const { return {}; }
  template <class V>
    requires(std::is_same_v<V, float> || std::is_same_v<V, double>)
  operator V() const { return 0; }  // NOLINT
  float* data() const { return nullptr; }
  float* begin() const { return nullptr; }
  float* end() const { return nullptr; }
  template <class... I> extent_t size(I const&...) const { return 0; }
  extent_t shape() const { return 0; }
};
template <class E> inline constexpr bool is_poison = std::is_base_of_v<poison, std::remove_cvref_t<E>>;
template <class I> auto expression_base::operator[](I) const {
  HEED_REFUSE("x[i]: axes have names, not places: say at<A>(x, i), or x(i, j, ...) for an element of a tensor",
              mistakes::place_of_an_axis<I>);
  return poison{};
}

/// The product of extents; refused where it (or its bytes) does not fit into 64 bits.
inline extent_t checked_size(extent_t const* extents, std::size_t rank, std::size_t element) {
  extent_t n = 1;
  bool empty = false, overflow = false;
  for (std::size_t i = 0; i < rank; ++i) {
    if (extents[i] == 0) empty = true;
    overflow |= __builtin_mul_overflow(n, extents[i] == 0 ? 1 : extents[i], &n);
  }
  extent_t bytes = 0;
  overflow |= __builtin_mul_overflow(n, static_cast<extent_t>(element), &bytes);
  if (overflow) throw shape_error("tensor: the product of the extents does not fit into 64 bits");
  return empty ? 0 : n;
}

template <class T> struct value_of { using type = T; };
template <> struct value_of<bf16> { using type = float; };
template <> struct value_of<f16> { using type = float; };
template <class T> using value_of_t = typename value_of<std::remove_cv_t<T>>::type;

template <class T, class Axes> struct leaf;
/// Strided memory under named axes: the terminal of every expression.
template <class T, class... A> struct leaf<T, axes<A...>> : expression_base {
  using axes_type = axes<A...>;
  using storage_type = std::remove_const_t<T>;
  using value_type = value_of_t<T>;
  static constexpr bool heavy = false;
  static constexpr std::size_t rank = sizeof...(A);
  T* data = nullptr;
  extent_t extents[rank + 1] = {};
  extent_t strides[rank + 1] = {};
  buffer owner;

  template <class X> extent_t extent() const {
    if constexpr (!contains<X, axes_type>)
      return dynamic;
    else if constexpr (!is_dynamic<X>)
      return fixed_extent<X>;
    else
      return extents[index_of<X, axes_type>];
  }
  template <class X> extent_t stride() const {
    if constexpr (contains<X, axes_type>)
      return strides[index_of<X, axes_type>];
    else
      return 0;
  }
  extent_t size() const {
    extent_t n = 1;
    for (std::size_t i = 0; i < rank; ++i) n *= extents[i];
    return n;
  }
  /// Strides that do not fit into 64 bits wrap: such a leaf may be explained, and is refused where it would get memory.
  void make_dense() {
    extent_t s = 1;
    for (std::size_t i = rank; i-- > 0;) {
      strides[i] = s;
      (void)__builtin_mul_overflow(s, extents[i] > 0 ? extents[i] : 1, &s);
    }
  }
  template <class... I> extent_t offset(I... i) const {
    extent_t o = 0;
    if constexpr (sizeof...(I) == rank) {
      [[maybe_unused]] std::size_t k = 0;
      ((o += static_cast<extent_t>(i) * strides[k++]), ...);
    } else
      HEED_REFUSE("tensor: one coordinate for each axis",
                  mistakes::coordinates_are_not_those_of_the_tensor<axes<A...>, sizeof...(I)>);
    return o;
  }
};

template <class T, class U, class... A> leaf<T, axes<A...>> unowned(leaf<U, axes<A...>> const& from) {
  leaf<T, axes<A...>> to;
  to.data = from.data;
  std::copy(from.extents, from.extents + sizeof...(A) + 1, to.extents);
  std::copy(from.strides, from.strides + sizeof...(A) + 1, to.strides);
  return to;
}
template <class T, class U, class... A> leaf<T, axes<A...>> with_type(leaf<U, axes<A...>> const& from) {
  auto to = detail::unowned<T>(from);
  to.owner = from.owner;
  return to;
}
inline namespace HEED_ARCH {
/// For a run, which ends before what it reads and writes: see buffer::borrowed.
template <class T, class A> leaf<T, A> borrowed(leaf<T, A> const& from) {
  auto to = detail::unowned<T>(from);
  to.owner = from.owner.borrowed();
  return to;
}
}  // namespace HEED_ARCH

}  // namespace detail
}  // namespace heed
