// SPDX-License-Identifier: BSL-1.0
// In: small inputs on which attention code has been seen to fail: masks, empty rows, NaN. Out: the right values, under
// fused and unfused and with 1 to 5 threads. The numbers are those of the list of cases that these tests follow.
// Next: cases_masks_bias.cpp.
#include "support/small.hpp"

using namespace heed;
using namespace test;

namespace {

constexpr auto nan_float = std::numeric_limits<float>::quiet_NaN();
constexpr auto infinity_float = std::numeric_limits<float>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(cases_masks)

// A row that sees no key: its context is 0 and its log-sum-exp -inf, not NaN.
BOOST_AUTO_TEST_CASE(case_1_a_row_without_a_key) {
  const auto p = zero_scores(2, {1, 2});
  const auto keep = table<bool, query, key>(2, {1, 0, 0, 0});
  const auto scores = where(keep, p.scores());
  check(attend(scores, p.v), {1, 0}, 0, one_to_five);
  check(softmax<key>(scores), {1, 0, 0, 0}, 0, one_to_five);
  check(log_sum_exp<key>(scores), {0, -infinity}, 0, one_to_five);
}

// A running maximum that starts at a finite number loses rows whose scores all lie below it; and the maximum has to be
// subtracted before the change to base two, where the spacing of floats is coarser.
BOOST_AUTO_TEST_CASE(case_3_all_scores_far_below_zero) {
  const auto p = one_wide({1}, {-200000, -199999}, {1, 5});
  check(attend(p.scores(), p.v), {3.924234}, 1e-6, one_to_five);
  const auto far = one_wide({1}, {-2e30, -2e30}, {1, 5});
  check(attend(far.scores(), far.v), {3}, 1e-6, one_to_five);
  check(log_sum_exp<key>(p.scores()), {-199998.686738}, 1e-6, one_to_five);
}

// A masked key given a large negative score beats a real score that is lower still.
BOOST_AUTO_TEST_CASE(case_4_a_real_score_below_any_finite_mask) {
  const auto p = one_wide({-20000}, {1, 0}, {1, 100});
  const auto keep = table<bool, query, key>(1, {1, 0});
  check(attend(where(keep, p.scores()), p.v), {1}, 0, one_to_five);
}

// Masked twice is masked once: masks that add up differ from masks that exclude.
BOOST_AUTO_TEST_CASE(case_6_a_key_masked_by_two_masks) {
  const auto p = one_wide({1, 2, 3}, {0.5, -1, 2}, {1, 10, 100});
  const auto padding = row<bool, key>({1, 1, 0});
  const auto once = where(index<key>() <= index<query>() && padding, p.scores());
  const auto twice = where(padding, where(index<key>() <= index<query>(), where(padding, p.scores())));
  check_same_bits(attend(twice, p.v), attend(once, p.v));
  check_same_bits(softmax<key>(twice), softmax<key>(once));
  for (const regime& each : regimes()) {
    const auto weights = evaluate(each.policy(), softmax<key>(twice));
    for (extent_t i = 0; i < 3; ++i) BOOST_TEST(weights(i, 2) == 0);
  }
}

// What K and V hold behind the mask never reaches the output.
BOOST_AUTO_TEST_CASE(case_8_nan_and_infinity_behind_the_mask) {
  const auto q = table<float, query, d_head>(2, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto keep = table<bool, query, key>(2, {1, 0, 1, 0});
  for (const float poison : {nan_float, infinity_float, -infinity_float})
    for (const bool in_k : {true, false})
      for (const bool in_v : {true, false}) {
        auto k = table<float, key, d_head>(2, {0, 1, 2, 3, 4, 5, 6, 7});
        auto v = table<float, key, d_value>(2, {0, 1, 2, 3, 4, 5, 6, 7});
        if (in_k) k(1, 0) = k(1, 3) = poison;
        if (in_v) v(1, 1) = v(1, 2) = poison;
        check(attend(where(keep, dot<d_head>(q, k) / 2.0), v), {0, 1, 2, 3, 0, 1, 2, 3}, 0, one_to_five);
        check(attend(where(index<key>() < 1, dot<d_head>(q, k) / 2.0), v), {0, 1, 2, 3, 0, 1, 2, 3}, 0, one_to_five);
      }
}

// The same kind in a larger problem, where a tile holds kept and excluded keys together.
BOOST_AUTO_TEST_CASE(case_8_nan_behind_the_mask_of_a_mixed_tile) {
  for (const int keys : {17, 64, 100, 130}) {
    const auto q = normal<float, query, d_head>(1, query{40}, d_head{16});
    auto k = normal<float, key, d_head>(2, key{keys}, d_head{16});
    auto v = normal<float, key, d_value>(3, key{keys}, d_value{16});
    const auto keep = index<key>() % 3 != 1;
    const auto clean = evaluate(unfused, attend(where(keep, dot<d_head>(q, k) / 4.0), v));
    for (int j = 1; j < keys; j += 3)
      for (int d = 0; d < 16; ++d) {
        k(j, d) = j % 2 == 0 ? nan_float : infinity_float;
        v(j, d) = j % 2 == 0 ? -infinity_float : nan_float;
      }
    check(attend(where(keep, dot<d_head>(q, k) / 4.0), v), clean, 1e-6, one_to_five);
  }
}

// The tail of a cache that was never written.
BOOST_AUTO_TEST_CASE(case_9_an_unwritten_tail) {
  tensor<float, batch, query, d_head> q{batch{2}, query{3}, d_head{4}};
  tensor<float, batch, key, d_head> k{batch{2}, key{3}, d_head{4}}, v{batch{2}, key{3}, d_head{4}};
  const auto length = row<int, batch>({1, 3});
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 3; ++i)
      for (int d = 0; d < 4; ++d) q(b, i, d) = k(b, i, d) = v(b, i, d) = i < length(b) ? 0.5F : nan_float;
  const auto context = attend(where(index<key>() < length, dot<d_head>(q, k) / 2.0), v);
  for (const regime& each : regimes(one_to_five)) {
    const auto got = evaluate(each.policy(), context);
    BOOST_TEST_CONTEXT(each.name())
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < length(b); ++i)
        for (int d = 0; d < 4; ++d) BOOST_TEST(got(b, i, d) == 0.5F);
  }
}

// The reverse: a NaN in live data must not be mistaken for an empty row.
BOOST_AUTO_TEST_CASE(case_10_a_live_nan_stays_nan) {
  auto p = one_wide({nan_float, 1}, {1, 2, 3}, {1, 2, 3});
  check(attend(p.scores(), p.v), {not_a_number, 2.575210}, 1e-6, one_to_five);
  check(attend(where(index<key>() < 2, p.scores()), p.v), {not_a_number, 1.731059}, 1e-6, one_to_five);
  check(log_sum_exp<key>(p.scores()), {not_a_number, 3.407606}, 1e-6, one_to_five);
  p = one_wide({1, 1}, {1, nan_float, 3}, {1, 2, 3});  // one NaN among the scores
  check(attend(p.scores(), p.v), {not_a_number, not_a_number}, 0, one_to_five);
  p = one_wide({1, 1}, {1, 2, 3}, {1, nan_float, 3});  // one NaN among the values
  check(attend(p.scores(), p.v), {not_a_number, not_a_number}, 0, one_to_five);
}

// True means attend.
BOOST_AUTO_TEST_CASE(case_11_the_polarity_of_a_mask) {
  const auto p = zero_scores(3, {1, 2, 3});
  const auto lower = table<bool, query, key>(3, {1, 0, 0, 1, 1, 0, 1, 1, 1});
  check(attend(where(lower, p.scores()), p.v), {1, 1.5, 2}, 1e-6, one_to_five);
}

BOOST_AUTO_TEST_SUITE_END()
