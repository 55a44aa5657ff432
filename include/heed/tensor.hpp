// SPDX-License-Identifier: BSL-1.0
// In: extents by name, or foreign memory. Out: tensor (owns), view (does not), and leaf, the form in which both enter an
// expression: pointer, extents, strides and a counted handle that keeps the buffer alive as long as an expression needs it.
// Next to read: expression.hpp, the tree that is built over leaves.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#if __has_include(<mdspan>) && __cplusplus >= 202302L
#include <mdspan>
#endif

#include "memory.hpp"
#include "mistakes.hpp"
#include "storage.hpp"

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
};
template <class E> inline constexpr bool is_poison = std::is_same_v<std::remove_cvref_t<E>, poison>;
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
  void make_dense() {
    extent_t s = 1;
    for (std::size_t i = rank; i-- > 0;) {
      strides[i] = s;
      s *= extents[i] > 0 ? extents[i] : 1;
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

template <class T, class U, class... A> leaf<T, axes<A...>> with_type(leaf<U, axes<A...>> const& from) {
  leaf<T, axes<A...>> to;
  to.data = from.data;
  std::copy(from.extents, from.extents + sizeof...(A) + 1, to.extents);
  std::copy(from.strides, from.strides + sizeof...(A) + 1, to.strides);
  to.owner = from.owner;
  return to;
}

template <class List> struct dynamic_axes;
template <class... A> struct dynamic_axes<axes<A...>> {
  using type = typename united_all<std::conditional_t<is_dynamic<A>, axes<A>, axes<>>...>::type;
};

/// Extents by name, in any order, into the order of the type.
template <class... A, class... X> void name_extents(axes<A...>, extent_t* out, [[maybe_unused]] X const&... given) {
  using all = axes<A...>;
  [[maybe_unused]] int i = 0;
  ((out[i++] = fixed_extent<A>), ...);
  ((out[index_of<X, all>] = given.size.value), ...);
}
template <class All, class... X>
inline constexpr bool extents_fit =
    distinct<All>&& distinct<axes<X...>>&& same_set<axes<X...>, typename dynamic_axes<All>::type>;
struct tensor_word {
  static constexpr std::string_view name = "tensor";
};
struct view_word {
  static constexpr std::string_view name = "view";
};
struct values_word {
  static constexpr std::string_view
      name = "tensor",
      instead = ": it is made of extents and owns its elements: copy others into it, or name their axes in a view";
};
struct assigned_word {
  static constexpr std::string_view
      name = "tensor",
      instead = ": only a tensor is assigned to it: say std::fill(x.begin(), x.end(), 0), or std::copy for many";
};
struct pointer_word {
  static constexpr std::string_view name = "view", instead = ": the memory is given by a pointer, as in v.data()";
};
struct strides_word {
  static constexpr std::string_view name = "view", instead = ": strides stand behind the extents";
};
struct size_word {
  static constexpr std::string_view name = "x.size(i)",
                                    instead = ": axes have names, not places: say x.extent<query>()";
};
struct extent_argument_word {
  static constexpr std::string_view name = "x.extent(query)",
                                    instead = ": an axis is named in angle brackets: say x.extent<query>()";
};
template <class... I> struct first_no_integer { using type = no_axis; };
template <class I, class... R> struct first_no_integer<I, R...> {
  using type = typename std::conditional_t<std::integral<I>, first_no_integer<R...>, type_tag<I>>::type;
};
/// Values that are no tensor: a pointer to them, a vector or array, some of them.
template <class V>
concept plain_memory = !expression_like<V> && (std::is_pointer_v<V> || std::is_array_v<V> ||
                                               std::is_floating_point_v<V> || requires(V const& v) {
                                                 v.data();
                                                 v.size();
                                               });
struct extent_word {
  static constexpr std::string_view name = "extent";
};
struct stride_word {
  static constexpr std::string_view name = "stride";
};
template <class List> inline constexpr bool all_tags = false;
template <class... A> inline constexpr bool all_tags<axes<A...>> = (axis_tag<A> && ...);
/// Says what is wrong with extents that do not fit.
template <class Op, class All, class... X> void refuse_named_extents() {
  if constexpr (!distinct<All>)
    HEED_REFUSE("tensor: an axis occurs twice", mistakes::axis_occurs_twice<Op, All>);
  else if constexpr (all_tags<All>)  // else the type was refused
    HEED_REFUSE("tensor: each axis whose extent is known at run time needs it by name, once",
                mistakes::extents_are_not_those_of_the_tensor<Op, axes<X...>, typename dynamic_axes<All>::type>);
}
/// Says what is wrong with the axes or the elements of a tensor or view.
template <bool Tags, bool Elements, class Op, class T, class... A> struct checked_type {};
template <bool Elements, class Op, class T, class... A> struct checked_type<false, Elements, Op, T, A...> {
  HEED_REFUSE("this is no axis: an axis is a struct that derives from heed::axis",
              mistakes::it_is_no_axis<Op, typename first_no_tag<A...>::type>);
};
template <class Op, class T, class... A> struct checked_type<true, false, Op, T, A...> {
  HEED_REFUSE("tensor: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits",
              mistakes::elements_of_that_type<Op, T>);
};
template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bf16> ||
                                   std::is_same_v<T, f16> || std::is_same_v<T, bool> ||
                                   (std::signed_integral<T> && (sizeof(T) == 4 || sizeof(T) == 8));

struct uninitialised {};

/// A tensor or a view, whose elements are there to be read. (What a word refuses gives no second error: poison.)
template <class E>
concept stored = requires(E const& e) {
  e.heed_leaf();
};
template <class Word, class E> void refuse_unevaluated() {
  if constexpr (!is_poison<E>)
    HEED_REFUSE("an expression has no elements yet: say evaluate(...)",
                mistakes::expression_is_not_evaluated<Word, typename E::axes_type>);
}

}  // namespace detail

/// Strides in elements, one for each axis in the order of the view's type.
///
///     std::vector<float> columns(12 * 512);  // model by model
///     view<float, query, model> e(columns.data(), query{12}, strides{1, 12});
///
/// Refused: another number of strides than axes.
template <std::size_t N> struct strides {
  std::array<extent_t, N> values;  ///< as given
  /// Any integers.
  template <std::integral... I>
  constexpr strides(I... s) : values{static_cast<extent_t>(s)...} {}  // NOLINT: strides{1, 512} is the wanted spelling
};
/// @private
template <std::integral... I> strides(I...) -> strides<sizeof...(I)>;

/// Foreign memory under named axes: A... in the order of the type, elements T or const T. Does not own; row-major in the
/// order written unless strides are given. The only thing here that can dangle.
///
///     std::vector<float> numbers(8 * 128 * 512);
///     view<const float, batch, query, model> e(numbers.data(), batch{8}, query{128});
///     tensor y = evaluate(softmax<model>(e));
///
/// Refused: an axis twice, an open extent that is not given, one that stands in the type. shape_error: a negative extent.
template <class T, class... A> class view : public detail::expression_base {
  static_assert(sizeof(detail::checked_type<(detail::axis_tag<A> && ...), detail::is_element<std::remove_const_t<T>>,
                                            detail::view_word, T, A...>));
  detail::leaf<T, axes<A...>> leaf_;

 public:
  using axes_type = axes<A...>;               ///< its axes, in order
  using value_type = std::remove_const_t<T>;  ///< what it points to

  /// Row-major in the order of the type; the extents that the type leaves open by name, each once.
  template <class... X>
    requires(detail::axis_tag<X>&&...)
  explicit view(T* data, X const&... extents) {
    if constexpr (detail::extents_fit<axes_type, X...>) {
      detail::name_extents(axes_type{}, leaf_.extents, extents...);
      detail::checked_size(leaf_.extents, sizeof...(A), sizeof(T));
      leaf_.data = data;
      leaf_.make_dense();
    } else
      detail::refuse_named_extents<detail::view_word, axes_type, X...>();
  }
  /// @private
  template <class U, class... X>
    requires(!std::is_convertible_v<U*, T*>)
  explicit view(U*, X const&...) {
    HEED_REFUSE("view: the pointer is to values of another type than the elements",
                detail::mistakes::pointer_does_not_fit_the_view<U, T>);
  }
  /// @private
  template <detail::plain_memory V, class... X>
    requires(!std::is_pointer_v<V> && !std::is_array_v<V>)
  explicit view(V const&, X const&...) {
    HEED_REFUSE("view: the memory is given by a pointer, as in v.data()",
                detail::mistakes::word_is_not_there<detail::pointer_word, V>);
  }
  /// @private
  template <std::size_t N, detail::axis_tag... X>
    requires(sizeof...(X) > 0)
  view(T*, strides<N> const&, X const&...) {
    HEED_REFUSE("view: strides stand behind the extents",
                detail::mistakes::word_is_not_there<detail::strides_word, axes<X...>>);
  }
  template <class... X, std::size_t N>
    requires(detail::axis_tag<X>&&...)
  explicit view(detail::type_tag<void>, T* data, strides<N> const& s, X const&... extents) : view(data, extents...) {
    if constexpr (N == sizeof...(A))
      std::copy(s.values.begin(), s.values.end(), leaf_.strides);
    else
      HEED_REFUSE("view: one stride for each axis", detail::mistakes::strides_are_not_those_of_the_view<axes_type, N>);
  }
  /// @{
  /// Strides in elements behind the extents, one for each axis in the order of the type: up to five open extents.
  template <class X, std::size_t N>
  view(T* data, X const& x, strides<N> const& s) : view(detail::type_tag<void>{}, data, s, x) {}
  template <std::size_t N> view(T* data, strides<N> const& s) : view(detail::type_tag<void>{}, data, s) {}
  template <class X, class Y, std::size_t N>
  view(T* data, X const& x, Y const& y, strides<N> const& s) : view(detail::type_tag<void>{}, data, s, x, y) {}
  template <class X, class Y, class Z, std::size_t N>
  view(T* data, X const& x, Y const& y, Z const& z, strides<N> const& s)
      : view(detail::type_tag<void>{}, data, s, x, y, z) {}
  template <class X, class Y, class Z, class W, std::size_t N>
  view(T* data, X const& x, Y const& y, Z const& z, W const& w, strides<N> const& s)
      : view(detail::type_tag<void>{}, data, s, x, y, z, w) {}
  template <class X, class Y, class Z, class W, class V, std::size_t N>
  view(T* data, X const& x, Y const& y, Z const& z, W const& w, V const& v, strides<N> const& s)
      : view(detail::type_tag<void>{}, data, s, x, y, z, w, v) {}
  /// @}
  explicit view(detail::leaf<T, axes<A...>> const& from) : leaf_(from) {}
#if defined(__cpp_lib_mdspan)
  /// Of an mdspan of the same rank, axis by axis; static extents that differ are shape_error.
  template <class E, class L, class Access>
    requires(E::rank() == sizeof...(A))
  explicit view(std::mdspan<T, E, L, Access> const& m) {
    leaf_.data = m.data_handle();
    extent_t const fixed[] = {detail::fixed_extent<A>..., 0};
    for (std::size_t i = 0; i < sizeof...(A); ++i) {
      leaf_.extents[i] = static_cast<extent_t>(m.extent(i));
      leaf_.strides[i] = static_cast<extent_t>(m.stride(i));
      if (fixed[i] != detail::dynamic && fixed[i] != leaf_.extents[i])
        throw shape_error("view: the extents of the mdspan are not those of the axes " +
                          detail::axis_names(axes_type{}));
    }
  }
#endif

  /// The first element.
  T* data() const { return leaf_.data; }
  /// The number of elements.
  extent_t size() const { return leaf_.size(); }
  /// How long axis X is.
  template <class X> extent_t extent() const {
    if constexpr (!detail::contains<X, axes_type>)
      HEED_REFUSE("extent: the view has no such axis",
                  detail::mistakes::axis_is_missing<detail::extent_word, X, axes_type>);
    return leaf_.template extent<X>();
  }
  /// How many elements lie between neighbours along X.
  template <class X> extent_t stride() const {
    if constexpr (!detail::contains<X, axes_type>)
      HEED_REFUSE("stride: the view has no such axis",
                  detail::mistakes::axis_is_missing<detail::stride_word, X, axes_type>);
    return leaf_.template stride<X>();
  }
  /// The element at these coordinates, in the order of the type; unchecked.
  template <std::integral... I> T& operator()(I... i) const { return leaf_.data[leaf_.offset(i...)]; }
  /// @private
  template <class... I>
    requires(!(std::integral<I> && ...))
  T& operator()(I const&...) const {
    HEED_REFUSE("tensor: the coordinates are integers, in the order of the axes",
                detail::mistakes::coordinate_is_no_integer<axes_type, typename detail::first_no_integer<I...>::type>);
    return *leaf_.data;
  }
  /// @private
  template <std::integral I> extent_t size(I) const {
    HEED_REFUSE("x.size(i): axes have names, not places: say x.extent<query>()",
                detail::mistakes::word_is_not_there<detail::size_word, axes_type>);
    return 0;
  }
  /// @private
  template <detail::axis_tag X> extent_t extent(X const&) const {
    HEED_REFUSE("x.extent(query): an axis is named in angle brackets: say x.extent<query>()",
                detail::mistakes::word_is_not_there<detail::extent_argument_word, axes_type>);
    return 0;
  }
  detail::leaf<T, axes<A...>> const& heed_leaf() const { return leaf_; }
};

/// Owns its elements: 64-byte aligned, row-major in the order written, zero-initialised. Copies are deep.
/// A... are its axes, T is float, double, bf16, f16, bool or a signed integer of 32 or 64 bits.
///
///     tensor<float, batch, query, model> e{batch{2}, query{12}};  // the extents that the type leaves open, once each
///     e(0, 3, 5) = 1;                                             // in the order of the type
///
/// Refused: an axis twice, other types, an open extent that is not given, one that stands in the type. shape_error: a
/// negative extent, more elements than 64 bits count.
template <class T, class... A> class tensor : public detail::expression_base {
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
  /// @private
  template <class... I>
    requires(!(std::integral<I> && ...))
  T& operator()(I const&...) const {
    HEED_REFUSE("tensor: the coordinates are integers, in the order of the axes",
                detail::mistakes::coordinate_is_no_integer<axes_type, typename detail::first_no_integer<I...>::type>);
    return *leaf_.data;
  }
  /// @private
  template <std::integral I> extent_t size(I) const {
    HEED_REFUSE("x.size(i): axes have names, not places: say x.extent<query>()",
                detail::mistakes::word_is_not_there<detail::size_word, axes_type>);
    return 0;
  }
  /// @private
  template <detail::axis_tag X> extent_t extent(X const&) const {
    HEED_REFUSE("x.extent(query): an axis is named in angle brackets: say x.extent<query>()",
                detail::mistakes::word_is_not_there<detail::extent_argument_word, axes_type>);
    return 0;
  }
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
  template <class U> detail::leaf<U, axes<A...>> leaf_without_owner() const {
    auto l = detail::with_type<U>(leaf_);
    l.owner = {};
    return l;
  }
};
/// @private
tensor(detail::poison)->tensor<float>;
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
