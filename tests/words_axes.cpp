// SPDX-License-Identifier: BSL-1.0
// In: tags. Out: what the words about axes promise: extents by name and of any integer type, extents in the type,
// the list of axes of an expression, the concepts, expect.
// Next: words_data.cpp.
#include "support/schedules.hpp"

#include <cstdint>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

struct static_head : axis<8> {};
struct static_width : axis<64> {};
template <int D> struct wide : axis<D> {};

// ------------------------------------------------------------------------------------------------ types

static_assert(std::is_same_v<extent_t, std::ptrdiff_t>);
static_assert(std::is_same_v<tensor<float, batch, query>::axes_type, axes<batch, query>>);
static_assert(std::is_same_v<tensor<float, batch, query>::value_type, float>);
static_assert(std::is_same_v<tensor<double>::axes_type, axes<>>);

using scores = decltype(dot<d_head>(std::declval<tensor<float, batch, query, d_head>&>(),
                                    std::declval<tensor<float, batch, key, d_head>&>()));
static_assert(std::is_same_v<scores::axes_type, axes<batch, query, key>>);
static_assert(std::is_same_v<scores::value_type, float>);

// ------------------------------------------------------------------------------------------------ concepts

static_assert(expression<tensor<float, batch>>);
static_assert(expression<view<const float, batch>>);
static_assert(expression<scores>);
static_assert(expression<decltype(index<key>())>);
static_assert(!expression<float>);
static_assert(!expression<batch>);
static_assert(!expression<std::vector<float>>);

static_assert(has_axes<scores, batch, query, key>);
static_assert(has_axes<scores, key, batch, query>);  // a set
static_assert(!has_axes<scores, batch, query>);
static_assert(!has_axes<scores, batch, query, key, head>);
static_assert(has_axes<tensor<float>>);

using left = tensor<float, batch, query, d_head>;
using right = tensor<float, batch, key, d_head>;
static_assert(can_dot<left, right, d_head>);
static_assert(can_dot<left, right, batch>);
static_assert(can_dot<left, right, batch, d_head>);
static_assert(!can_dot<left, right, key>);
static_assert(!can_dot<left, right, query>);
static_assert(!can_dot<left, right, model>);
static_assert(!can_dot<left, right, d_head, model>);
static_assert(!can_dot<tensor<float, query, wide<768>>, tensor<float, wide<512>, head>, wide<768>>);

template <class E>
  requires has_axes<E, query, key>
constexpr bool takes_scores(const E&) { return true; }

}  // namespace

BOOST_AUTO_TEST_SUITE(words_axes)

BOOST_AUTO_TEST_CASE(extents_of_any_integer_type) {
  const std::vector<int> numbers(5);
  const auto extent_of = [](auto named) {
    const tensor<float, key> t{named};
    return t.template extent<key>();
  };
  BOOST_TEST(extent_of(key{5}) == 5);
  BOOST_TEST(extent_of(key{numbers.size()}) == 5);
  BOOST_TEST(extent_of(key{std::ssize(numbers)}) == 5);
  BOOST_TEST(extent_of(key{5U}) == 5);
  BOOST_TEST(extent_of(key{5L}) == 5);
  BOOST_TEST(extent_of(key{5ULL}) == 5);
  BOOST_TEST(extent_of(key{std::uint8_t{5}}) == 5);
  BOOST_TEST(extent_of(key{std::int16_t{5}}) == 5);
  BOOST_TEST(extent_of(key{std::uint64_t{5}}) == 5);
  BOOST_TEST(extent_of(key{extent_t{0}}) == 0);
}

BOOST_AUTO_TEST_CASE(extents_by_name_in_any_order) {
  const tensor<float, batch, query, model> a{batch{2}, query{3}, model{4}}, b{model{4}, batch{2}, query{3}};
  BOOST_TEST(a.extent<batch>() == 2);
  BOOST_TEST(a.extent<query>() == 3);
  BOOST_TEST(a.extent<model>() == 4);
  BOOST_TEST(identical(a, b));
}

BOOST_AUTO_TEST_CASE(extents_in_the_type) {
  const tensor<float, static_head, query, static_width> some{query{3}};
  BOOST_TEST(some.extent<static_head>() == 8);
  BOOST_TEST(some.extent<query>() == 3);
  BOOST_TEST(some.extent<static_width>() == 64);
  BOOST_TEST(some.size() == 8 * 3 * 64);
  const tensor<float, static_width, static_head> all;
  BOOST_TEST(all.size() == 64 * 8);
  const tensor<float, wide<2>, wide<3>> of_a_template;
  BOOST_TEST(of_a_template.size() == 6);
  BOOST_TEST(of_a_template.extent<wide<3>>() == 3);
}

BOOST_AUTO_TEST_CASE(extents_of_an_expression) {
  const tensor<float, batch, query, static_width> q{batch{2}, query{3}};
  const tensor<float, batch, key, static_width> k{batch{2}, key{4}};
  const auto s = dot<static_width>(q, k) * 2.0F;
  BOOST_TEST(s.template extent<batch>() == 2);
  BOOST_TEST(s.template extent<query>() == 3);
  BOOST_TEST(s.template extent<key>() == 4);
  BOOST_TEST(softmax<key>(s).template extent<key>() == 4);
  BOOST_TEST((q + 1.0F).template extent<static_width>() == 64);
}

BOOST_AUTO_TEST_CASE(expect_returns_its_operand) {
  const auto x = counted<float, query, key>(query{2}, key{3});
  const auto e = expect<query, key>(x * 2);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(e)>::axes_type, axes<query, key>>);
  check(e, {0, 2, 4, 6, 8, 10}, 0);
  check(expect<key, query>(softmax<key>(x * 0)), std::vector<double>(6, 1.0 / 3), 1e-6);
  BOOST_TEST(takes_scores(x));
  BOOST_TEST(takes_scores(e));
}

// An axis names a role, not a place: contraction, broadcasting and reduction do not ask for an order.
BOOST_AUTO_TEST_CASE(the_order_of_axes_is_storage_only) {
  const auto x = counted<float, query, key>(query{2}, key{3});
  const auto turned = evaluate<key, query>(x);
  static_assert(std::is_same_v<std::remove_const_t<decltype(turned)>, tensor<float, key, query>>);
  check(x + turned, {0, 2, 4, 6, 8, 10}, 0);  // in the left one's order
  check(turned + x, {0, 6, 2, 8, 4, 10}, 0);
  check(sum<key>(turned), {3, 12}, 0);
  check(dot<key>(x, turned), {5, 50}, 0);  // query is shared: a batch axis
}

BOOST_AUTO_TEST_SUITE_END()
