// SPDX-License-Identifier: BSL-1.0
// In: tensors and expressions. Out: concat, stack, roll, let, combine: the words that put parts together.
// Next: words_gather.cpp.
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

// Keys of a prefix and keys of the sequence, as one softmax sees them.
BOOST_AUTO_TEST_CASE(attention_over_concatenated_keys) {
  const auto q = normal<float, query, d_head>(1, query{9}, d_head{8});
  const auto k = normal<float, key, d_head>(2, key{21}, d_head{8}),
             prefix_k = normal<float, key, d_head>(3, key{4}, d_head{8});
  const auto v = normal<float, key, d_head>(4, key{21}, d_head{8}),
             prefix_v = normal<float, key, d_head>(5, key{4}, d_head{8});
  const auto all_k = concat<key>(prefix_k, k), all_v = concat<key>(prefix_v, v);
  const auto context = dot<key>(softmax<key>(dot<d_head>(q, all_k)), all_v);
  const auto stored_k = evaluate(all_k), stored_v = evaluate(all_v);
  const auto want = evaluate(unfused, dot<key>(softmax<key>(dot<d_head>(q, stored_k)), stored_v));
  check(context, want, 1e-5);
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

BOOST_AUTO_TEST_CASE(combine_merges_two_sets_of_keys) {
  const auto context_a = table<float, query, d_head>(3, {1, 2, 3, 4, 5, 6});
  const auto context_b = table<float, query, d_head>(3, {10, 20, 30, 40, 50, 60});
  const auto lse_a = row<float, query>({0, std::log(3.0), -infinity}), lse_b = row<float, query>({0, 0, 2});
  const std::pair both = combine(context_a, lse_a, context_b, lse_b);
  check(both.first, {5.5, 11, 9.75, 13, 50, 60}, 1e-5);
  check(both.second, {std::log(2.0), std::log(4.0), 2}, 1e-6);
  const auto [context, lse] =
      combine(both.first, both.second, context_a * 0, row<float, query>({-infinity, -infinity, -infinity}));
  check(context, {5.5, 11, 9.75, 13, 50, 60}, 1e-5);
  check(lse, {std::log(2.0), std::log(4.0), 2}, 1e-6);
  // far apart: the larger wins, and nothing overflows
  const auto [far_context, far_lse] = combine(context_a, lse_b * 0 + 1000, context_b, lse_b * 0 - 1000);
  check(far_context, {1, 2, 3, 4, 5, 6}, 1e-6);
  check(far_lse, {1000, 1000, 1000}, 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
