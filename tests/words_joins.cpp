// SPDX-License-Identifier: BSL-1.0
// In: tensors and expressions. Out: concat, stack, roll, let: the words that put parts together.
// Next: words_combine.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

struct two : axis<2> {};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_joins)

BOOST_AUTO_TEST_CASE(concatenation) {
  const auto a = table<float, query, key>(2, {1, 2, 3, 4}), b = table<float, query, key>(2, {5, 6, 7, 8, 9, 10});
  const auto c = concat<key>(a, b);
  BOOST_TEST(c.template extent<key>() == 5);
  check(c, {1, 2, 5, 6, 7, 3, 4, 8, 9, 10}, 0);
  check(concat<query>(a, a * 10), {1, 2, 3, 4, 10, 20, 30, 40}, 0);
  check(concat<key>(softmax<key>(a * 0), b + 1), {0.5, 0.5, 6, 7, 8, 0.5, 0.5, 9, 10, 11}, 1e-6);
  const auto empty = tensor<float, query, key>{query{2}, key{0}};
  check(concat<key>(empty, a), {1, 2, 3, 4}, 0);
  check(sum<key>(concat<key>(a, b)), {21, 34}, 0);
  // the other operand's order of axes does not matter
  const auto turned = evaluate<key, query>(b);
  check(concat<key>(a, turned), {1, 2, 5, 6, 7, 3, 4, 8, 9, 10}, 0);
}

BOOST_AUTO_TEST_CASE(stacks) {
  const auto a = row<float, key>({1, 2, 3}), b = row<float, key>({4, 5, 6}), c = row<float, key>({7, 8, 9});
  const auto three = stack<batch>(a, b * 10, c);
  BOOST_TEST(three.template extent<batch>() == 3);
  check<batch, key>(three, {1, 2, 3, 40, 50, 60, 7, 8, 9}, 0);
  check<key, batch>(three, {1, 40, 7, 2, 50, 8, 3, 60, 9}, 0);
  check<two, key>(stack<two>(a, softmax<key>(b * 0)), {1, 2, 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}, 1e-6);
  check(sum<batch>(three), {48, 60, 72}, 0);
}

BOOST_AUTO_TEST_CASE(rolled_with_a_mask) {
  const auto a = table<float, query, key>(2, {1, 2, 3, 4}), b = table<float, query, key>(2, {5, 6, 7, 8, 9, 10});
  const auto kept = roll<key>(where(index<key>() != 1, concat<key>(a, b)), 1);
  check(sum<key>(kept), {19, 30}, 0);
  check(max<query>(kept), {10, 3, -infinity, 8, 9}, 0);
}

BOOST_AUTO_TEST_CASE(rolls) {
  const auto x = table<float, query, key>(2, {1, 2, 3, 4, 5, 6});
  check(roll<key>(x, 1), {3, 1, 2, 6, 4, 5}, 0);  // forwards: element i moves to i + n
  check(roll<key>(x, -1), {2, 3, 1, 5, 6, 4}, 0);
  check(roll<key>(x, 0), {1, 2, 3, 4, 5, 6}, 0);
  check(roll<key>(x, 3), {1, 2, 3, 4, 5, 6}, 0);
  check(roll<key>(x, 7), {3, 1, 2, 6, 4, 5}, 0);
  check(roll<key>(x, -4), {2, 3, 1, 5, 6, 4}, 0);
  check(roll<query>(x * 10, 1), {40, 50, 60, 10, 20, 30}, 0);
  check(x - roll<key>(x, 1), {-2, 1, 1, -2, 1, 1}, 0);
}

BOOST_AUTO_TEST_CASE(let_gives_what_it_holds) {
  const auto x = table<float, query, key>(2, {1, 2, 3, 4, 5, 6});
  const auto weights = let(softmax<key>(x));
  static_assert(std::is_same_v<std::remove_const_t<decltype(weights)>::axes_type, axes<query, key>>);
  const auto want = evaluate(softmax<key>(x));
  check(weights, want, 1e-6);
  check(sum<key>(weights * weights) / sum<key>(weights),
        std::vector<double>(2, std::pow(0.09003057, 2) + std::pow(0.24472847, 2) + std::pow(0.66524096, 2)), 1e-6);
  check(let(let(x) + let(x)), {2, 4, 6, 8, 10, 12}, 0);
  check(let(where(index<key>() > 0, x)) + 1, {-infinity, 3, 4, -infinity, 6, 7}, 0);  // what is excluded stays so
  check(sum<key>(let(where(index<key>() > 0, x))), {5, 11}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
