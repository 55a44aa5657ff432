// SPDX-License-Identifier: BSL-1.0
// In: tensors and expressions. Out: rename, split, merge, slice in both forms, at; of stored and of computed operands.
// Next: words_joins.cpp, the words that put parts together.
#include "support/schedules.hpp"

#include <type_traits>

using namespace heed;
using namespace test;

namespace {

struct static_width : axis<6> {};
struct half_width : axis<3> {};
struct two : axis<2> {};
struct three : axis<3> {};

auto counted_rows() { return counted<float, query, model>(query{2}, model{6}); }

/// A heavy expression with the numbers of counted_rows.
auto computed_rows() {
  tensor<float, model, hidden> identity{model{6}, hidden{6}};
  for (int i = 0; i < 6; ++i) identity(i, i) = 1;
  return rename<hidden, model>(dot<model>(counted_rows(), identity));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_shapes)

BOOST_AUTO_TEST_CASE(renames) {
  const auto x = counted_rows();
  const auto renamed = rename<query, key>(x);
  static_assert(std::is_same_v<std::remove_const_t<decltype(renamed)>::axes_type, axes<key, model>>);
  check(renamed, x, 0);
  check(rename<query, key>(computed_rows() + 1), std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 0);
  check(rename<model, static_width>(x), x, 0);  // the extent is checked when it is written
  check(sum<key>(rename<query, key>(softmax<model>(x) * 0 + index<query>())), {1, 1, 1, 1, 1, 1}, 0);
  check(rename<key, query>(rename<query, key>(x)), x, 0);
}

BOOST_AUTO_TEST_CASE(splits) {
  const auto x = counted_rows();
  const auto dynamic = split<model, head, d_head>(x, head{2}, d_head{3});
  static_assert(std::is_same_v<std::remove_const_t<decltype(dynamic)>::axes_type, axes<query, head, d_head>>);
  check(dynamic, x, 0);
  check(sum<head>(dynamic), {3, 5, 7, 15, 17, 19}, 0);
  check(sum<d_head>(dynamic), {3, 12, 21, 30}, 0);
  const auto some_static = split<model, two, d_head>(x, d_head{3});
  check(sum<two>(some_static), {3, 5, 7, 15, 17, 19}, 0);
  const auto all_static = split<model, three, two>(x);
  check(sum<two>(all_static), {1, 5, 9, 13, 17, 21}, 0);
  const auto of_computed = split<model, head, d_head>(computed_rows() * 2, head{2}, d_head{3});
  check<head, query, d_head>(of_computed, {0, 2, 4, 12, 14, 16, 6, 8, 10, 18, 20, 22}, 0);
  const auto rows = split<query, batch, key>(x, batch{1}, key{2});  // the axis that is split may stand first
  static_assert(std::is_same_v<std::remove_const_t<decltype(rows)>::axes_type, axes<batch, key, model>>);
  check(sum<key>(rows), {6, 8, 10, 12, 14, 16}, 0);
}

BOOST_AUTO_TEST_CASE(merges) {
  const auto x = counted<float, batch, query, key>(batch{2}, query{3}, key{2});
  const auto neighbours = merge<query, key, model>(x);
  static_assert(std::is_same_v<std::remove_const_t<decltype(neighbours)>::axes_type, axes<batch, model>>);
  check(neighbours, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0);
  const auto turned = merge<key, query, model>(x);  // the key is major now; the model stands where the key stood
  static_assert(std::is_same_v<std::remove_const_t<decltype(turned)>::axes_type, axes<batch, model>>);
  check(turned, {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}, 0);
  const auto apart = merge<batch, key, model>(x);
  static_assert(std::is_same_v<std::remove_const_t<decltype(apart)>::axes_type, axes<model, query>>);
  check(apart, {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}, 0);
  check(merge<query, key, static_width>(x + 0), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0);
  check(merge<head, d_head, model>(split<model, head, d_head>(computed_rows(), head{3}, d_head{2})), counted_rows(), 0);
}

BOOST_AUTO_TEST_CASE(slices_of_a_dynamic_axis) {
  auto x = counted_rows();
  const auto middle = slice<model>(x, 2, 4);
  BOOST_TEST(middle.template extent<model>() == 2);
  check(middle, {2, 3, 8, 9}, 0);
  check(slice<query>(x, 1, 2), {6, 7, 8, 9, 10, 11}, 0);
  check(slice<model>(x, 3, 3), std::vector<double>{}, 0);
  check(slice<model>(slice<query>(x, 0, 1), 0, 6), {0, 1, 2, 3, 4, 5}, 0);
  check(slice<model>(computed_rows() * 10, 1, 3), {10, 20, 70, 80}, 0);
  check(slice<model>(softmax<model>(x * 0), 0, 2), std::vector<double>(4, 1.0 / 6), 1e-6);
  // it shares the buffer and is a destination
  evaluate_into(slice<model>(x, 2, 4), slice<model>(x, 2, 4) * -1);
  BOOST_TEST(agrees(x, {0, 1, -2, -3, 4, 5, 6, 7, -8, -9, 10, 11}, 0));
  check(middle, {-2, -3, -8, -9}, 0);
  std::vector<float> numbers(12, 0);
  const view<float, query, model> v(numbers.data(), query{2}, model{6});
  evaluate_into(slice<query>(v, 1, 2), slice<query>(x, 0, 1));
  BOOST_TEST(numbers[8] == -2);
}

BOOST_AUTO_TEST_CASE(slices_into_an_axis_of_static_extent) {
  const tensor<float, query, static_width> x = evaluate(rename<model, static_width>(counted_rows()));
  const auto first = slice<static_width, half_width>(x, 0), last = slice<static_width, half_width>(x, 3);
  static_assert(std::is_same_v<std::remove_const_t<decltype(first)>::axes_type, axes<query, half_width>>);
  check(first, {0, 1, 2, 6, 7, 8}, 0);
  check(last, {3, 4, 5, 9, 10, 11}, 0);
  check(slice<static_width, two>(x * 2, 1), {2, 4, 14, 16}, 0);
  check(dot<half_width>(first, last), {0 * 3 + 1 * 4 + 2 * 5, 6 * 9 + 7 * 10 + 8 * 11}, 0);
}

BOOST_AUTO_TEST_CASE(one_place_of_an_axis) {
  const auto x = counted_rows();
  const auto column = at<model>(x, 4);
  static_assert(std::is_same_v<std::remove_const_t<decltype(column)>::axes_type, axes<query>>);
  check(column, {4, 10}, 0);
  check(at<query>(x, 1), {6, 7, 8, 9, 10, 11}, 0);
  check(at<query>(computed_rows(), 0), {0, 1, 2, 3, 4, 5}, 0);
  check(at<query>(at<model>(x, 5), 1), {11}, 0);
  check(at<static_width>(rename<model, static_width>(x), 5), {5, 11}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
