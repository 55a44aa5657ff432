// SPDX-License-Identifier: BSL-1.0
// In: formulas over one set of tensors. Out: fused gives what unfused gives, whatever stands in the scores: NaN and
// infinities, dropout, temperatures, conditions on the scores, reductions.
// Next: laws_schedules_shapes.cpp.
#include "support/heads_inside.hpp"

#include <cmath>

using namespace heed;
using namespace test;

namespace {

constexpr auto nan_float = std::numeric_limits<float>::quiet_NaN();
constexpr auto infinity_float = std::numeric_limits<float>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_schedules)

BOOST_AUTO_TEST_CASE(numbers_that_are_none) {
  const auto& [q, k, v] = tensors();
  const auto s = scores();
  auto bias = normal<float, query, key>(4, query{37}, key{150});
  bias(3, 140) = nan_float;
  bias(5, 2) = infinity_float;
  bias(7, 9) = -infinity_float;
  check_schedules(dot<key>(softmax<key>(s + bias), v), 1e-5);
  check_schedules(log_sum_exp<key>(s + bias), 1e-5);
  check_schedules(dot<key>(softmax<key>(where(index<key>() < 140, s + bias)), v), 1e-5);
  auto other_v = v;
  other_v(0, 100, 1, 3) = infinity_float;
  other_v(1, 20, 2, 2) = nan_float;
  check_schedules(dot<key>(softmax<key>(s), other_v), 1e-5);
  check_schedules(dot<key>(softmax<key>(where(index<key>() != 100 && index<key>() != 20, s)), other_v), 1e-5);
}

BOOST_AUTO_TEST_CASE(dropout_and_temperature) {
  const auto& [q, k, v] = tensors();
  const auto s = scores();
  check_schedules(dot<key>(dropout(softmax<key>(s), 0.4, 5), v), 1e-5);
  check_schedules(sum<key>(dropout(s, 0.4, 5)), 1e-4);
  tensor<float> scale;
  scale() = 0.3F;
  check_schedules(dot<key>(softmax<key>(s * scale), v), 1e-5);
  const auto temperature = normal<float, batch, head>(9, batch{2}, head{3});
  check_schedules(dot<key>(softmax<key>(s * exp(temperature)), v), 1e-5);
  check_schedules(dot<key>(softmax<key>(s, temperature * 2), v), 1e-5);
}

BOOST_AUTO_TEST_CASE(conditions_on_the_scores_themselves) {
  const auto& [q, k, v] = tensors();
  const auto s = scores();
  check_schedules(dot<key>(softmax<key>(where(s > 0, s, s * 2)), v), 1e-5);
  check_schedules(dot<key>(softmax<key>(where(s > 0, s)), v), 1e-5);
  check_schedules(dot<key>(softmax<key>(where(s >= max<key>(s) - 1.0F, s)), v), 1e-5);  // the best few
}

BOOST_AUTO_TEST_CASE(reductions_of_scores) {
  const auto s = scores();
  check_schedules(argmax<key>(s), 0);
  check_schedules(variance<key>(s), 1e-4);
  check_schedules(mean<key>(where(index<key>() < 77, s)), 1e-5);
  check_schedules((softmax<key, head>(s)), 1e-6);
  check_schedules(cumsum<key>(where(index<key>() % 3 != 0, s)), 1e-3);
}

BOOST_AUTO_TEST_SUITE_END()
