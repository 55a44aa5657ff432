// SPDX-License-Identifier: BSL-1.0
// In: small inputs on which attention code has been seen to fail: biases, biases beside masks, one mask in many
// spellings. Out: the right values, under fused and unfused and with 1 to 5 threads.
// Next: cases_geometry.cpp.
#include "support/small.hpp"

using namespace heed;
using namespace test;

namespace {

constexpr auto lowest = std::numeric_limits<float>::lowest();
constexpr auto minus_infinity = -std::numeric_limits<float>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(cases_masks_bias)

// The lowest finite float is a number, minus infinity excludes; neither gives NaN.
BOOST_AUTO_TEST_CASE(case_7_the_lowest_float_as_a_bias) {
  const auto p = one_wide({1}, {0, 3}, {1, 3});
  check(attend(p.scores() + row<float, key>({lowest, lowest}), p.v), {2}, 1e-6, one_to_five);
  check(attend(p.scores() + row<float, key>({minus_infinity, minus_infinity}), p.v), {0}, 0, one_to_five);
  check(attend(p.scores() + row<float, key>({minus_infinity, lowest}), p.v), {3}, 0, one_to_five);
  check(log_sum_exp<key>(p.scores() + row<float, key>({minus_infinity, minus_infinity})), {-infinity}, 0, one_to_five);
}

// A 0/1 float tensor is a bias, a bool tensor is a mask.
BOOST_AUTO_TEST_CASE(case_12_zero_and_one_as_float_and_as_bool) {
  const auto p = zero_scores(1, {1, 3});
  check(attend(p.scores() + row<float, key>({1, 0}), p.v), {1.537883}, 1e-6, one_to_five);
  check(attend(where(row<bool, key>({1, 0}), p.scores()), p.v), {1}, 0, one_to_five);
}

// A float padding is added, whatever it is called.
BOOST_AUTO_TEST_CASE(case_13_a_finite_bias_is_added) {
  const auto q = table<float, query, d_head>(2, {0, 1, 2, 2});
  const auto k = table<float, key, d_head>(2, {0, 1, 2, 0});
  const auto v = table<float, key, d_value>(2, {1, 2});
  const auto weights = softmax<key>(dot<d_head>(q, k) / std::sqrt(2.0) + row<float, key>({1, 0}));
  check(weights, {0.846461, 0.153539, 0.397902, 0.602098}, 1e-6, one_to_five);
  check(dot<key>(weights, v), {1.153539, 1.602098}, 1e-6, one_to_five);
}

// A causal mask beside a bias: neither is dropped.
BOOST_AUTO_TEST_CASE(case_15_causal_with_a_bias) {
  const auto p = zero_scores(3, {1, 2, 3});
  const tensor<float, query, key> zero_bias{query{3}, key{3}};
  check(attend(where(causal<query, key>(), p.scores() + zero_bias), p.v), {1, 1.5, 2}, 1e-6, one_to_five);
  check(attend(where(causal<query, key>(), p.scores()) + zero_bias, p.v), {1, 1.5, 2}, 1e-6, one_to_five);
  const auto bias = row<float, key>({0, std::log(3.0), 0});
  check(attend(where(causal<query, key>(), p.scores()) + bias, p.v), {1, 1.75, 2}, 1e-6, one_to_five);
}

// A bias of the query alone is a constant of its row and cancels.
BOOST_AUTO_TEST_CASE(case_16_a_bias_that_lacks_the_key_axis) {
  const auto p = zero_scores(3, {1, 2, 3});
  check(attend(p.scores() + row<float, query>({5, -7, 1000}), p.v), {2, 2, 2}, 1e-6, one_to_five);
  const auto holes = row<float, query>({0, minus_infinity, 0});  // and excludes whole rows
  check(attend(p.scores() + holes, p.v), {2, 0, 2}, 1e-6, one_to_five);
}

// A mask is one mask however it is spelled: full and partial tiles give the same numbers.
BOOST_AUTO_TEST_CASE(case_59_one_mask_in_many_spellings) {
  for (const int n : {2, 16, 40, 65}) {
    const auto q = normal<float, query, d_head>(1, query{n}, d_head{8});
    const auto k = normal<float, key, d_head>(2, key{n}, d_head{8});
    const auto v = normal<float, key, d_value>(3, key{n}, d_value{8});
    tensor<bool, query, key> dense{query{n}, key{n}};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) dense(i, j) = true;
    const auto scores = dot<d_head>(q, k) / std::sqrt(8.0);
    const auto flag = attend(where(causal<query, key>(), scores), v);
    const auto keep = index<key>() <= index<query>();
    check_same_bits(attend(where(keep, scores), v), flag);
    check_same_bits(attend(where(dense, scores), v), flag);
    check_same_bits(attend(scores + where(keep, 0.0F, minus_infinity), v), flag);
    check_same_bits(attend(where(window<query, key>(std::numeric_limits<extent_t>::max()), scores), v), flag);
  }
}

// A weight below the smallest normal float is 0, not the smallest normal float: no leakage of large values.
BOOST_AUTO_TEST_CASE(case_61_weights_that_vanish) {
  const auto p = zero_scores(1, {1, 3e38});
  check(attend(p.scores() + row<float, key>({0, -1e30}), p.v), {1}, 0, one_to_five);
  check(attend(p.scores() + row<float, key>({0, -200}), p.v), {1}, 0, one_to_five);
  check(attend(p.scores() + row<float, key>({0, -1000}), p.v), {1}, 0, one_to_five);
  // e^-90 is below 2^-126, e^-87 is not
  check(softmax<key>(p.scores() + row<float, key>({0, -90})), {1, 0}, 0, one_to_five);
  for (const regime& each : regimes()) {
    const auto weights = evaluate(each.policy(), softmax<key>(p.scores() + row<float, key>({0, -87})));
    BOOST_TEST(weights(0, 1) > 0);
  }
}

// Dropout is explicit; with p = 1 nothing is left (and nothing becomes 0 * infinity), kept weights grow by 1 / (1 - p).
BOOST_AUTO_TEST_CASE(dropout_of_weights) {
  const auto p = zero_scores(2, {1, 2, 3});
  const auto weights = softmax<key>(p.scores());
  check(dot<key>(dropout(weights, 0.0, 7), p.v), {2, 2}, 1e-6, one_to_five);
  check(dot<key>(dropout(weights, 1.0, 7), p.v), {0, 0}, 0, one_to_five);
  for (const regime& each : regimes()) {
    const auto dropped = evaluate(each.policy(), dropout(softmax<key>(zero_scores(1, {1}).scores()), 0.1, 1));
    const double weight = static_cast<double>(dropped(0, 0));
    BOOST_TEST((weight == 0 || distance(weight, 1 / 0.9) < 1e-6));
  }
}

BOOST_AUTO_TEST_SUITE_END()
