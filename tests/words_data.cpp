// SPDX-License-Identifier: BSL-1.0
// In: tensors and views. Out: what the words about data promise: order, alignment, zeros, deep copies, element access,
// strides, foreign memory, comparison.
// Next: words_arithmetic.cpp.
#include "support/schedules.hpp"

#include <cstdint>
#include <numeric>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

struct wide : axis<3> {};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_data)

BOOST_AUTO_TEST_CASE(a_tensor_is_row_major_in_the_order_written) {
  auto x = counted<float, batch, query, key>(batch{2}, query{3}, key{4});
  BOOST_TEST(x.size() == 24);
  BOOST_TEST(x.stride<batch>() == 12);
  BOOST_TEST(x.stride<query>() == 4);
  BOOST_TEST(x.stride<key>() == 1);
  BOOST_TEST(x(1, 2, 3) == 23);
  BOOST_TEST(x(0, 1, 0) == 4);
  BOOST_TEST(&x(1, 0, 0) == x.data() + 12);
  x(1, 2, 3) = -1;
  BOOST_TEST(x.data()[23] == -1);
  BOOST_TEST((x.end() - x.begin()) == 24);
  const auto& constant = x;
  static_assert(std::is_same_v<decltype(constant.data()), const float*>);
  static_assert(std::is_same_v<decltype(constant(0, 0, 0)), const float&>);
  BOOST_TEST(std::accumulate(constant.begin(), constant.end(), 0.0F) == 23 * 24 / 2 - 24);
}

BOOST_AUTO_TEST_CASE(a_tensor_is_aligned_and_zero) {
  for (const int n : {1, 3, 7, 1000}) {
    const tensor<float, key> x{key{n}};
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(x.data()) % 64 == 0);
    for (const float element : x) BOOST_TEST(element == 0);
    const tensor<bf16, key> y{key{n}};
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(y.data()) % 64 == 0);
  }
}

BOOST_AUTO_TEST_CASE(default_construction) {
  const tensor<float, batch, wide> some;
  BOOST_TEST(some.extent<batch>() == 0);
  BOOST_TEST(some.extent<wide>() == 3);
  BOOST_TEST(some.size() == 0);
  const tensor<float, wide> all;
  BOOST_TEST(agrees(all, {0, 0, 0}, 0));
  tensor<float> one;
  BOOST_TEST(one.size() == 1);
  BOOST_TEST(one() == 0);
  one() = 3;
  BOOST_TEST(one.data()[0] == 3);
}

BOOST_AUTO_TEST_CASE(copies_are_deep_and_moves_take_the_buffer) {
  auto x = counted<float, query, key>(query{2}, key{2});
  auto copy = x;
  x(0, 0) = 9;
  BOOST_TEST(copy(0, 0) == 0);
  copy = x;
  x(0, 0) = 10;
  BOOST_TEST(copy(0, 0) == 9);
  const float* const buffer = copy.data();
  const auto moved = std::move(copy);
  BOOST_TEST(moved.data() == buffer);
  BOOST_TEST(agrees(moved, {9, 1, 2, 3}, 0));
  x = tensor<float, query, key>{query{1}, key{1}};  // assignment may change the extents
  BOOST_TEST(x.size() == 1);
  auto& same = x;
  x = same;
  BOOST_TEST(x.size() == 1);
}

BOOST_AUTO_TEST_CASE(zero_extents) {
  const tensor<float, query, key> x{query{0}, key{5}};
  BOOST_TEST(x.size() == 0);
  BOOST_TEST(x.extent<key>() == 5);
  BOOST_TEST((x.begin() == x.end()));
  check(x + 1, std::vector<double>{}, 0);
  check(sum<query>(x), {0, 0, 0, 0, 0}, 0);
}

BOOST_AUTO_TEST_CASE(comparison) {
  const auto a = row<float, key>({1, 2, 3}), b = row<float, key>({1, 5, 3}), c = row<float, key>({1, 2});
  BOOST_TEST(identical(a, a));
  BOOST_TEST(identical(a, tensor<float, key>(a)));
  BOOST_TEST(!identical(a, b));
  BOOST_TEST(!identical(a, c));
  check(a == b, {1, 0, 1}, 0);  // elementwise
  check(a != b, {0, 1, 0}, 0);
  check(a == 2, {0, 1, 0}, 0);
  check(2 != a, {1, 0, 1}, 0);
}

BOOST_AUTO_TEST_CASE(a_view_does_not_own) {
  std::vector<float> numbers = {0, 1, 2, 3, 4, 5};
  const view<const float, query, key> v(numbers.data(), query{2}, key{3});
  BOOST_TEST(v.size() == 6);
  BOOST_TEST(v.extent<query>() == 2);
  BOOST_TEST(v.stride<query>() == 3);
  BOOST_TEST(v(1, 2) == 5);
  BOOST_TEST(v.data() == numbers.data());
  check(v + 0, {0, 1, 2, 3, 4, 5}, 0);
  const auto e = v * 2;
  numbers[0] = 10;
  check(e, {20, 2, 4, 6, 8, 10}, 0);
  const view<float, key, query> any_order(numbers.data(), query{2}, key{3});
  BOOST_TEST(any_order.stride<key>() == 2);
  any_order(2, 1) = -5;
  BOOST_TEST(numbers[5] == -5);
}

BOOST_AUTO_TEST_CASE(a_view_with_strides) {
  std::vector<float> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const view<const float, key, query> turned(numbers.data(), query{3}, key{4},
                                             strides{1, 4});  // in the order of its type
  BOOST_TEST(turned(3, 2) == 11);
  BOOST_TEST(turned.stride<key>() == 1);
  BOOST_TEST(turned.stride<query>() == 4);
  check(sum<query>(turned), {12, 15, 18, 21}, 0);
  check<query, key>(turned, numbers_of(std::vector<double>(numbers.begin(), numbers.end())), 0);
  const view<const float, query, wide> with_static(numbers.data(), query{2}, strides{6, 2});
  check(with_static * 1, {0, 2, 4, 6, 8, 10}, 0);
  const view<const float, query, key> repeated(numbers.data() + 3, query{2}, key{3}, strides{0, 1});  // one row twice
  check(repeated * 1, {3, 4, 5, 3, 4, 5}, 0);
  const view<const float, key> backwards(numbers.data() + 3, key{4}, strides{-1});
  check(backwards * 1, {3, 2, 1, 0}, 0);
}

template <int> struct numbered : axis<> {};

BOOST_AUTO_TEST_CASE(strides_for_any_number_of_axes) {
  std::vector<float> numbers(1 << 8);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  using v = view<const float, numbered<7>, numbered<6>, numbered<5>, numbered<4>, numbered<3>, numbered<2>, numbered<1>,
                 numbered<0>>;
  const v bits(numbers.data(), numbered<7>{2}, numbered<6>{2}, numbered<5>{2}, numbered<4>{2}, numbered<3>{2},
               numbered<2>{2}, numbered<1>{2}, numbered<0>{2}, strides{1, 2, 4, 8, 16, 32, 64, 128});
  BOOST_TEST(bits(1, 1, 0, 0, 0, 0, 0, 1) == 1 + 2 + 128);
  BOOST_TEST(evaluate(sum<numbered<0>, numbered<1>, numbered<2>, numbered<3>, numbered<4>, numbered<5>, numbered<6>>(
                 bits))(1) == (1 << 7) * (1 << 7));  // the odd numbers below 256
}

BOOST_AUTO_TEST_CASE(a_tensor_converts_to_a_view) {
  auto x = counted<float, query, key>(query{2}, key{3});
  const auto total = [](view<const float, query, key> v) { return evaluate(sum<query, key>(v))(); };
  BOOST_TEST(total(x) == 15);
  const auto& constant = x;
  BOOST_TEST(total(constant) == 15);
  const auto fill = [](view<float, query, key> v) { evaluate_into(v, v * 0 + 7); };
  fill(x);
  BOOST_TEST(agrees(x, {7, 7, 7, 7, 7, 7}, 0));
}

BOOST_AUTO_TEST_CASE(a_view_to_write_converts_to_one_to_read_and_not_back) {
  std::vector<float> numbers{0, 1, 2, 3, 4, 5};
  const view<float, query, key> columns(numbers.data(), query{2}, key{3}, strides{1, 2});
  const auto last = [](view<const float, query, key> v) { return v(1, 2) + evaluate(max<query, key>(v))(); };
  BOOST_TEST(last(columns) == 10);
  const view<const float, query, key> read = columns;
  columns(1, 0) = 9;
  BOOST_TEST(read(1, 0) == 9);
  BOOST_TEST(read.stride<key>() == 2);
  using to_read = view<const float, query, key>;
  static_assert(!std::is_convertible_v<to_read, view<float, query, key>>);
  static_assert(!std::is_convertible_v<view<float, key, query>, to_read>, "other axes");
  static_assert(!std::is_convertible_v<view<double, query, key>, to_read>, "other elements");
}

BOOST_AUTO_TEST_CASE(a_tensor_without_axes_is_one_element) {
  tensor<float> one;
  one() = 2;
  const auto x = row<float, key>({1, 2, 3});
  check(x * one, {2, 4, 6}, 0);
  check(one + one, {4}, 0);
  const tensor<float> total = evaluate(sum<key>(x));
  BOOST_TEST(total() == 6);
  check(x / sum<key>(x), {1.0 / 6, 2.0 / 6, 3.0 / 6}, 1e-6);
}

BOOST_AUTO_TEST_CASE(class_template_arguments_are_deduced) {
  const auto x = counted<float, query, key>(query{2}, key{3});
  heed::tensor y = heed::evaluate(x + 1);
  static_assert(std::is_same_v<decltype(y), tensor<float, query, key>>);
  BOOST_TEST(agrees(y, {1, 2, 3, 4, 5, 6}, 0));
}

BOOST_AUTO_TEST_SUITE_END()
