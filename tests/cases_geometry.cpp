// SPDX-License-Identifier: BSL-1.0
// In: small inputs on which attention code has been seen to fail: where the diagonal starts, windows, softcap, scale,
// ALiBi, sinks, log-sum-exp. Out: the right values, under fused and unfused and with 1 to 5 threads.
// Next: cases_layout.cpp.
#include "support/small.hpp"

using namespace heed;
using namespace test;

namespace {

auto attend_causally(const small_problem& p, extent_t past) {
  return attend(where(causal<query, key>(past), p.scores()), p.v);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cases_geometry)

// Where the diagonal starts is said by the past: 0 is the top left, keys - queries the bottom right.
BOOST_AUTO_TEST_CASE(case_20_22_24_the_diagonal) {
  const auto p = zero_scores(2, {1, 2, 3, 4, 5});
  check(attend_causally(p, 0), {1, 1.5}, 1e-6, one_to_five);
  check(attend_causally(p, 5 - 2), {2.5, 3}, 1e-6, one_to_five);
  const auto step = zero_scores(1, {1, 2, 3, 4});
  check(attend_causally(step, 0), {1}, 1e-6, one_to_five);
  check(attend_causally(step, 4 - 1), {2.5}, 1e-6, one_to_five);
  const auto three = zero_scores(2, {1, 2, 3});
  check(attend_causally(three, 3 - 2), {1.5, 2}, 1e-6, one_to_five);
  // unasked, unequal extents are refused
  BOOST_TEST(throws<shape_error>([&] { (void)evaluate(where(causal<query, key>(), p.scores())); }));
}

// A window of n keys counts the query's own.
BOOST_AUTO_TEST_CASE(case_26_windows) {
  const auto p = zero_scores(4, {1, 2, 3, 4});
  const auto attend_within = [&](extent_t n) { return attend(where(window<query, key>(n), p.scores()), p.v); };
  check(attend_within(1), {1, 2, 3, 4}, 1e-6, one_to_five);
  check(attend_within(2), {1, 1.5, 2.5, 3.5}, 1e-6, one_to_five);
  check(attend_within(3), {1, 1.5, 2, 3}, 1e-6, one_to_five);
  check(attend_within(std::numeric_limits<extent_t>::max()), {1, 1.5, 2, 2.5}, 1e-6, one_to_five);
}

// A softcap after the mask must not turn an excluded key into a score of -cap.
BOOST_AUTO_TEST_CASE(case_27_softcap_after_the_mask) {
  const auto p = zero_scores(1, {0, 1000});
  const auto keep = row<bool, key>({1, 0});
  check(attend(softcap(where(keep, p.scores()), 2), p.v), {0}, 0, one_to_five);
  check(attend(where(keep, softcap(p.scores(), 2)), p.v), {0}, 0, one_to_five);
}

BOOST_AUTO_TEST_CASE(case_29_softcap) {
  const auto p = one_wide({1}, {2, -1}, {1, 3});
  check(attend(softcap(p.scores(), 2), p.v), {1.159254}, 1e-6, one_to_five);
  check(attend(softcap(p.scores(), 0), p.v), {1.094852}, 1e-6, one_to_five);
  check(attend(softcap(p.scores(), infinity), p.v), {1.094852}, 1e-6, one_to_five);
  check(attend(p.scores(), p.v), {1.094852}, 1e-6, one_to_five);
}

// The scale is what is written: 0 is 0, not "take the default".
BOOST_AUTO_TEST_CASE(case_30_the_scale_is_explicit) {
  const auto q = table<float, query, d_head>(3, {.1, .2, .3, .4, .5, .6});
  const auto k = table<float, key, d_head>(3, {.7, .8, .9, 1, 1.1, 1.2});
  const auto v = table<float, key, d_value>(3, {1, 2, 3, 4, 5, 6});
  const auto attend_scaled = [&](double scale) {
    return attend(where(causal<query, key>(), dot<d_head>(q, k) * scale), v);
  };
  check(attend_scaled(1 / std::sqrt(2.0)), {1, 2, 2.049457, 3.049457, 3.206586, 4.206586}, 1e-6, one_to_five);
  check(attend_scaled(0), {1, 2, 2, 3, 3, 4}, 1e-6, one_to_five);
}

// The width of the scale is that of q and k, whatever the width of v.
BOOST_AUTO_TEST_CASE(case_31_the_width_of_the_values_is_another) {
  const auto q = table<float, query, d_head>(1, {1, 1, 1, 1});
  const auto k = table<float, key, d_head>(2, {1, 1, 1, 1, 0, 0, 0, 0});
  const auto v = table<float, key, d_value>(2, {1, 3});
  check(attend(dot<d_head>(q, k) / std::sqrt(4.0), v), {1.238406}, 1e-6, one_to_five);
}

// A score that a half cannot hold: scores are float whatever the storage.
BOOST_AUTO_TEST_CASE(case_32_large_scores_of_halves) {
  tensor<f16, query, d_head> q{query{1}, d_head{128}};
  tensor<f16, key, d_head> k{key{2}, d_head{128}};
  tensor<f16, key, d_value> v{key{2}, d_value{1}};
  for (f16& element : q) element = f16(256.0F);
  for (f16& element : k) element = f16(256.0F);
  v(0, 0) = f16(1.0F);
  v(1, 0) = f16(3.0F);
  const auto scores = dot<d_head>(q, k) / std::sqrt(128.0);
  check(scores, {741455.2, 741455.2}, 1e-6, one_to_five);
  check(attend(scores, v), {2}, 1e-6, one_to_five);
}

// Slopes start at head 1; where the number of heads is no power of two, the rest interleaves from the next power.
BOOST_AUTO_TEST_CASE(case_34_35_slopes) {
  BOOST_TEST(agrees(evaluate(alibi_slopes<head>(6)), {.25, .0625, .015625, .00390625, .5, .125}, 1e-6));
  BOOST_TEST(
      agrees(evaluate(alibi_slopes<head>(8)), {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625}, 1e-6));
  BOOST_TEST(agrees(evaluate(alibi_slopes<head>(12)),
                    {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625, .707107, .353553, .176777, .088388},
                    1e-6));
  BOOST_TEST(agrees(evaluate(alibi_slopes<head>(1)), {.00390625}, 1e-6));
}

// One sink a head, an extra logit without a value.
BOOST_AUTO_TEST_CASE(case_37_sinks) {
  const tensor<float, head, query, d_head> q{head{2}, query{2}, d_head{1}};
  const tensor<float, head, key, d_head> k{head{2}, key{1}, d_head{1}};
  tensor<float, head, key, d_value> v{head{2}, key{1}, d_value{1}};
  for (float& element : v) element = 1;
  const auto sink = row<float, head>({0, std::log(3.0)});
  const auto scores = dot<d_head>(q, k);
  check<head, query, d_value>(dot<key>(softmax<key>(scores, sink), v), {.5, .5, .25, .25}, 1e-6, one_to_five);
  check<head, query>(log_sum_exp<key>(scores, sink), {std::log(2.0), std::log(2.0), std::log(4.0), std::log(4.0)}, 1e-6,
                     one_to_five);
  // a number serves all heads; minus infinity switches it off; a row without a key has the sink alone
  check<head, query>(dot<key>(softmax<key>(scores, -infinity), at<d_value>(v, 0)), {1, 1, 1, 1}, 1e-6, one_to_five);
  const auto none = where(index<key>() < 0, scores);
  check<head, query>(log_sum_exp<key>(none, sink), {0, 0, std::log(3.0), std::log(3.0)}, 1e-6, one_to_five);
  check<head, query, key>(softmax<key>(none, sink), {0, 0, 0, 0}, 0, one_to_five);
  check<head, query>(dot<key>(softmax<key>(scores, 0), at<d_value>(v, 0)), {.5, .5, .5, .5}, 1e-6, one_to_five);
}

// Parts without a key are neutral where parts are merged.
BOOST_AUTO_TEST_CASE(case_39_merging_empty_parts) {
  const auto context_a = table<float, query, d_value>(3, {0, 0, 1}),
             context_b = table<float, query, d_value>(3, {0, 2, 3});
  const auto lse_a = row<float, query>({-infinity, -infinity, 0});
  const auto lse_b = row<float, query>({-infinity, 1, std::log(3.0)});
  const auto [context, lse] = combine(context_a, lse_a, context_b, lse_b);
  check(context, {0, 2, 2.5}, 1e-6, one_to_five);
  check(lse, {-infinity, 1, 1.386294}, 1e-6, one_to_five);
}

// The log-sum-exp has its maximum in it: ln n for n scores of 0.
BOOST_AUTO_TEST_CASE(case_40_log_sum_exp) {
  for (const int n : {1, 2, 7, 64, 100}) {
    const tensor<float, query, d_head> q{query{2}, d_head{3}};
    const tensor<float, key, d_head> k{key{n}, d_head{3}};
    const double want = std::log(static_cast<double>(n));
    check(log_sum_exp<key>(dot<d_head>(q, k)), {want, want}, 1e-6, one_to_five);
    check(log_sum_exp<key>(dot<d_head>(q, k) + 100.0F), {want + 100, want + 100}, 1e-6, {1});
  }
}

BOOST_AUTO_TEST_SUITE_END()
