// SPDX-License-Identifier: BSL-1.0
// In: shapes, seeds, files, grids. Out: tensors of the library filled from them, and grids read back from tensors.
// Only the public words of a tensor are used: construction by named extents, begin, end, extent.
// Next: compare.hpp.
#pragma once
#include "grid.hpp"
#include "npy.hpp"
#include <heed/heed.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace test {

// The axes that most tests use, all known at run time.
struct batch : heed::axis<> {};
struct head : heed::axis<> {};
struct kv_head : heed::axis<> {};
struct group : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<> {};
struct d_value : heed::axis<> {};
struct model : heed::axis<> {};
struct hidden : heed::axis<> {};

template <class Axis> inline constexpr bool is_dynamic = std::is_base_of_v<heed::axis<>, Axis>;

// ------------------------------------------------------------------------------------------------ numbers to fill with

/// A generator of its own, so that the numbers are the same with every standard library.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 0x1234567U) {}

  std::uint64_t bits() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }  // in [0, 1)
  double normal() {                                                          // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }
  std::ptrdiff_t below(std::ptrdiff_t n) { return static_cast<std::ptrdiff_t>(bits() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t state_;
};

template <class T> T to_element(double number) {
  if constexpr (std::is_same_v<T, bool>)
    return number != 0;
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(number);
  else
    return static_cast<T>(static_cast<float>(number));  // bf16, f16
}

template <class T> double to_number(const T& element) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(element);
  else
    return static_cast<double>(static_cast<float>(element));  // bf16, f16
}

template <class Tensor> void fill_normal(Tensor& tensor, std::uint64_t seed, double spread = 1) {
  generator random(seed);
  for (auto& element : tensor) element = to_element<std::remove_cvref_t<decltype(element)>>(spread * random.normal());
}

/// `normal<float, query, d_head>(seed, query{5}, d_head{8})`: a tensor of N(0, 1) numbers.
template <class T, class... A, class... Extent> heed::tensor<T, A...> normal(std::uint64_t seed, Extent... extents) {
  heed::tensor<T, A...> result{extents...};
  fill_normal(result, seed);
  return result;
}

/// `counted<float, query, d_head>(query{5}, d_head{8})`: 0, 1, 2, ... in storage order.
template <class T, class... A, class... Extent> heed::tensor<T, A...> counted(Extent... extents) {
  heed::tensor<T, A...> result{extents...};
  double number = 0;
  for (auto& element : result) element = to_element<T>(number++);
  return result;
}

/// `integers<int, batch>(4, seed, batch{3})`: numbers in 0 .. limit - 1.
template <class T, class... A, class... Extent>
heed::tensor<T, A...> integers(std::ptrdiff_t limit, std::uint64_t seed, Extent... extents) {
  heed::tensor<T, A...> result{extents...};
  generator random(seed);
  for (auto& element : result) element = to_element<T>(static_cast<double>(random.below(limit)));
  return result;
}

// ------------------------------------------------------------------------------------------------ shapes

namespace tensors_detail {

template <class Axis> auto named_extent(std::ptrdiff_t extent) {
  if constexpr (is_dynamic<Axis>)
    return std::tuple<Axis>(Axis{extent});
  else
    return std::tuple<>();
}

template <class Tensor, class... A> auto grid_of(const Tensor& tensor, heed::axes<A...>) {
  grid<sizeof...(A)> result(tensor.template extent<A>()...);
  std::size_t at = 0;
  for (const auto& element : tensor) result.numbers[at++] = to_number(element);
  return result;
}

}  // namespace tensors_detail

/// The tensor with these axes and this shape; a static axis of another extent is refused.
template <class T, class... A> heed::tensor<T, A...> tensor_of_shape(std::array<std::ptrdiff_t, sizeof...(A)> shape) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto result = std::apply([](auto... named) { return heed::tensor<T, A...>{named...}; },
                             std::tuple_cat(tensors_detail::named_extent<A>(shape[I])...));
    if (!((result.template extent<A>() == shape[I]) && ...)) throw std::runtime_error("a static extent differs");
    return result;
  }
  (std::index_sequence_for<A...>{});
}

/// A tensor with the numbers of a grid (or of a list, in storage order).
template <class T, class... A> heed::tensor<T, A...> tensor_of(const grid<sizeof...(A)>& numbers) {
  auto result = tensor_of_shape<T, A...>(numbers.extents);
  std::size_t at = 0;
  for (auto& element : result) element = to_element<T>(numbers.numbers[at++]);
  return result;
}

/// `row<float, key>({1, 2, 3})`: a tensor with one dynamic axis.
template <class T, class A> heed::tensor<T, A> row(std::initializer_list<double> numbers) {
  heed::tensor<T, A> result{A{numbers.size()}};
  std::ptrdiff_t at = 0;
  for (const double number : numbers) result.data()[at++] = to_element<T>(number);
  return result;
}

/// `table<float, query, key>(2, {1, 2, 3, 4, 5, 6})`: a tensor with two dynamic axes, two rows of three.
template <class T, class Row, class Column>
heed::tensor<T, Row, Column> table(std::ptrdiff_t rows, std::initializer_list<double> numbers) {
  const auto columns = rows == 0 ? 0 : static_cast<std::ptrdiff_t>(numbers.size()) / rows;
  if (rows * columns != std::ssize(numbers)) throw std::runtime_error("the numbers do not fill whole rows");
  heed::tensor<T, Row, Column> result{Row{rows}, Column{columns}};
  std::ptrdiff_t at = 0;
  for (const double number : numbers) result.data()[at++] = to_element<T>(number);
  return result;
}

/// The numbers of a tensor as a grid in its own axis order.
template <class Tensor> auto grid_of(const Tensor& tensor) {
  return tensors_detail::grid_of(tensor, typename Tensor::axes_type{});
}

/// `load<double, query, model>("causal/x")`: a golden as a tensor, its shape checked against the axes.
template <class T, class... A> heed::tensor<T, A...> load(const std::string& name) {
  const npy_file file = read_npy(std::string(HEED_TEST_DATA) + "/" + name + ".npy");
  if (file.shape.size() != sizeof...(A)) throw std::runtime_error(name + ": another number of axes");
  std::array<std::ptrdiff_t, sizeof...(A)> shape{};
  for (std::size_t i = 0; i < sizeof...(A); ++i) shape[i] = file.shape[i];
  auto result = tensor_of_shape<T, A...>(shape);
  std::size_t at = 0;
  for (auto& element : result) element = to_element<T>(file.numbers[at++]);
  return result;
}

}  // namespace test
