// SPDX-License-Identifier: BSL-1.0
// In: where(keep, x). Out: exclusion is part of the expression: it survives elementwise operations, reductions and
// contractions skip it, stored alone it is -inf; additive biases of -inf exclude too. Both schedules, to the letter.
// Next: words_reductions.cpp.
#include "support/schedules.hpp"

#include <cmath>

using namespace heed;
using namespace test;

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr float lowest = std::numeric_limits<float>::lowest();

auto numbers() { return table<float, query, key>(2, {1, 2, 3, 4, 5, 6}); }
auto keep_some() { return table<bool, query, key>(2, {1, 0, 1, 0, 0, 0}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(words_exclusion)

BOOST_AUTO_TEST_CASE(reductions_skip_what_is_excluded) {
  const auto x = where(keep_some(), numbers());
  check(x, {1, -infinity, 3, -infinity, -infinity, -infinity}, 0);  // stored alone
  check(sum<key>(x), {4, 0}, 0);
  check(max<key>(x), {3, -infinity}, 0);
  check(log_sum_exp<key>(x), {std::log(std::exp(1) + std::exp(3)), -infinity}, 1e-6);
  const double low = 1 / (1 + std::exp(2.0));
  check(softmax<key>(x), {low, 0, 1 - low, 0, 0, 0}, 1e-6);
  check(sum<query>(x), {1, 0, 3}, 0);
  check(sum<query, key>(x), {4}, 0);
  const auto one_row = where(row<bool, key>({1, 0, 1}), row<float, key>({1, 100, 3}));
  check(mean<key>(one_row), {2}, 0);
  check(variance<key>(one_row), {1}, 1e-6);
  check(argmax<key>(one_row), {2}, 0);
}

BOOST_AUTO_TEST_CASE(contractions_skip_what_is_excluded) {
  const auto x = where(keep_some(), numbers());
  const auto v = table<float, key, d_head>(3, {1, 10, not_a_number, infinity, 2, 20});  // row 1 is never kept
  check(dot<key>(x, v), {7, 70, 0, 0}, 0);
  check(dot<key>(v, x), {7, 0, 70, 0}, 0);
  check(dot<key>(softmax<key>(x), v), {1 + 1 / (1 + std::exp(-2.0)), 10 + 10 / (1 + std::exp(-2.0)), 0, 0}, 1e-5);
}

BOOST_AUTO_TEST_CASE(elementwise_operations_keep_the_exclusion) {
  const auto x = where(keep_some(), numbers());
  check(sum<key>(x * 2 + 1), {10, 0}, 0);
  check(sum<key>(exp(x - x)), {2, 0}, 0);  // not exp(-inf - -inf)
  check(sum<key>(softcap(x, 2)), {2 * std::tanh(0.5) + 2 * std::tanh(1.5), 0}, 1e-6);
  check(softmax<key>(softcap(x * 0, 2)), {0.5, 0, 0.5, 0, 0, 0}, 1e-6);
  check(max<key>(-x), {-1, -infinity}, 0);
  check(sum<key>(relu(x) * relu(x)), {10, 0}, 0);
  check(sum<key>(0 * x + 1), {2, 0}, 0);  // counts
}

BOOST_AUTO_TEST_CASE(a_result_is_kept_where_all_operands_are) {
  const auto first = where(row<bool, key>({1, 1, 0, 0}), row<float, key>({1, 2, 3, 4}));
  const auto second = where(row<bool, key>({1, 0, 1, 0}), row<float, key>({10, 20, 30, 40}));
  check(first + second, {11, -infinity, -infinity, -infinity}, 0);
  check(sum<key>(first * second), {10}, 0);
  check(sum<key>(where(row<bool, key>({0, 1, 1, 1}), first)), {2}, 0);
  const auto wide = broadcast<query>(first, query{2}) + row<float, query>({100, 200});
  check(sum<key>(wide), {203, 403}, 0);
}

BOOST_AUTO_TEST_CASE(the_mask_decides_what_is_empty) {
  const auto nothing = where(index<key>() < 0, numbers());
  check(softmax<key>(nothing), {0, 0, 0, 0, 0, 0}, 0);
  check(log_sum_exp<key>(nothing), {-infinity, -infinity}, 0);
  check(log_sum_exp<key>(nothing, 1.5), {1.5, 1.5}, 1e-6);
  check(softmax<key>(nothing, 1.5), {0, 0, 0, 0, 0, 0}, 0);
  check(sum<key>(nothing), {0, 0}, 0);
  // numbers alone make no row empty: a row of nothing but -inf from a dot is NaN
  const auto q = table<float, query, d_head>(2, {1, -infinity});
  const auto k = table<float, key, d_head>(2, {1, 2});
  check(softmax<key>(dot<d_head>(q, k)),
        {1 / (1 + std::exp(1.0)), 1 / (1 + std::exp(-1.0)), not_a_number, not_a_number}, 1e-6);
  // beside others it has weight 0
  const auto one = table<float, query, d_head>(1, {1});
  const auto some = table<float, key, d_head>(2, {-infinity, 2});
  check(softmax<key>(dot<d_head>(one, some)), {0, 1}, 0);
}

BOOST_AUTO_TEST_CASE(weights_of_excluded_elements_are_0_beside_a_nan_too) {
  const auto keep = table<bool, query, key>(3, {1, 0, 1, 1, 0, 1, 1, 1, 1});
  const auto x = table<float, query, key>(3, {not_a_number, 1, 2, infinity, not_a_number, 2, 5, not_a_number, 5});
  check(softmax<key>(where(keep, x)),
        {not_a_number, 0, not_a_number, not_a_number, 0, not_a_number, not_a_number, not_a_number, not_a_number}, 0);
  const auto v = row<float, key>({0, 4, 0});  // another exclusion beside it: what is left of the first rows is 0
  check(dot<key>(exp(softmax<key>(where(keep, x))), where(index<key>() == 1, v)), {4, 4, not_a_number}, 1e-6);
}

BOOST_AUTO_TEST_CASE(an_additive_minus_infinity_excludes) {
  const auto x = numbers();
  const auto bias = row<float, key>({0, minus_infinity, 0.5});
  check(sum<key>(x + bias), {4.5, 10.5}, 1e-6);
  check(sum<key>(exp((x + bias) * 0)), {2, 2}, 0);
  check(softmax<key>(x * 0 + row<float, key>({minus_infinity, minus_infinity, minus_infinity})), {0, 0, 0, 0, 0, 0}, 0);
  check(sum<key>(x + where(index<key>() <= index<query>(), 0.0F, minus_infinity)), {1, 9}, 0);
  check(mean<key>(x + row<float, key>({0, 0, minus_infinity})), {1.5, 4.5}, 1e-6);
  // where it stands: before the softcap it still excludes
  const double low = 1 / (1 + std::exp(2 * std::tanh(0.25)));
  check(softmax<key>(softcap(x * 0 + bias, 2)), {low, 0, 1 - low, low, 0, 1 - low}, 1e-6);
  // the lowest float does not
  check(softmax<key>(x * 0 + row<float, key>({lowest, lowest, lowest})), std::vector<double>(6, 1.0 / 3), 1e-6);
  check(max<key>(x * 0 + row<float, key>({lowest, minus_infinity, lowest})), {lowest, lowest}, 0);
}

BOOST_AUTO_TEST_CASE(an_additive_minus_infinity_excludes_from_a_streamed_product) {
  const auto q = table<float, query, d_head>(2, {1, 0, 0, 2});
  const auto k = table<float, key, d_head>(3, {1, 2, 3, 4, 5, 6});
  const auto v = table<float, key, d_value>(3, {1, not_a_number, 10});
  const auto scores = dot<d_head>(q, k) + row<float, key>({0, minus_infinity, 0});
  check(dot<key>(scores, v), {51, 124}, 1e-4);
  check(dot<key>(v, relu(scores)), {51, 124}, 1e-4);
  // the same tree where marks count and where they do not
  const auto x = where(row<bool, key>({1, 1, 0}), row<float, key>({1, 2, 3}) + row<float, key>({0, minus_infinity, 0}));
  const double one = std::exp(1.0);
  check(exp(x) + softmax<key>(x), {one + 1, 0, -infinity}, 1e-5);
}

BOOST_AUTO_TEST_CASE(weights_under_other_coordinates_stay_excluded) {
  const auto q = table<float, query, d_head>(2, {1, 1, 1, 1});
  const auto k = table<float, key, d_head>(3, {1, 1, 0, 0, 1, 1});
  const auto v = table<float, key, d_value>(3, {1, not_a_number, 3});
  const auto weights = softmax<key>(where(index<key>() != 1, dot<d_head>(q, k)));
  check(dot<key>(at<query>(weights, 1), v), {2}, 1e-6);
  check(dot<key>(slice<query>(weights, 1, 2), v), {2}, 1e-6);
  check(dot<key>(take<query>(weights, row<int, head>({1, 0, 1})), v), {2, 2, 2}, 1e-6);
  check(dot<key>(concat<query>(weights, weights), v), {2, 2, 2, 2}, 1e-6);
  check(dot<key>(split<query, head, group>(weights, head{2}, group{1}), v), {2, 2}, 1e-6);
  check(dot<key>(sqrt(relu(weights * 4)), v), {4 * std::sqrt(2), 4 * std::sqrt(2)}, 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
