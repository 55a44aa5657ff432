// SPDX-License-Identifier: BSL-1.0
// In: formulas over one set of tensors. Out: fused gives what unfused gives, whatever stands around the scores: sums
// and products of weights, norms and merges behind the context, words of shape between scores and softmax.
// Next: random_shapes.cpp.
#include "support/heads_inside.hpp"

#include <cmath>

using namespace heed;
using namespace test;

BOOST_AUTO_TEST_SUITE(laws_schedules_shapes)

BOOST_AUTO_TEST_CASE(weights_that_are_not_one_softmax) {
  const auto& [q, k, v] = tensors();
  const auto s = scores();
  check_schedules(dot<key>(relu(s) * relu(s) / 50.0F, v), 1e-4);
  check_schedules(dot<key>(2 * softmax<key>(s) - 0.1F * softmax<key>(s * 2), v), 1e-5);
  check_schedules(dot<key>(softmax<key>(s) + 0.01F, v), 1e-4);
  check_schedules(dot<key>(softmax<key>(s) * softmax<key>(s * 2), v), 1e-5);
  check_schedules(dot<key>(let(softmax<key>(s)), v), 1e-5);
  check_schedules(-sum<key>(softmax<key>(s) * log(softmax<key>(s))), 1e-4);  // the entropy
  check_schedules(dot<key>(softmax<key>(s), v) + dot<key>(sigmoid(s) / 10.0F, v), 1e-4);
}

BOOST_AUTO_TEST_CASE(what_stands_behind_the_context) {
  const auto& [q, k, v] = tensors();
  const auto context = dot<key>(softmax<key>(scores()), v);
  const auto gate = normal<float, batch, head>(9, batch{2}, head{3});
  const auto gain = normal<float, d_head>(10, d_head{16});
  check_schedules(silu(context) * gate, 1e-5);
  check_schedules((merge<head, d_head, model>(context)), 1e-5);
  check_schedules(rms_norm<d_head>(context, gain), 1e-5);
  check_schedules(stack<group>(context, q), 1e-5);
}

BOOST_AUTO_TEST_CASE(what_stands_before_the_scores) {
  const auto& [q, k, v] = tensors();
  const auto length_of = [](const auto& x) { return rsqrt(sum<d_head>(x * x)); };
  const auto cosines = dot<d_head>(q * length_of(q), k * length_of(k));
  check_schedules(dot<key>(softmax<key>(cosines * 10), v), 1e-4);
  const auto turned_v = evaluate<head, batch, d_head, key>(v);
  check_schedules(dot<key>(softmax<key>(scores()), turned_v), 1e-5);
  const auto narrow = normal<bf16, batch, key, head, d_head>(2, batch{2}, key{150}, head{3}, d_head{16});
  check_schedules(dot<key>(softmax<key>(dot<d_head>(q, narrow)), narrow), 1e-5);
}

BOOST_AUTO_TEST_CASE(words_of_shape_between_scores_and_softmax) {
  const auto& [q, k, v] = tensors();
  const auto s = scores();
  check_schedules(dot<key>(softmax<key>(slice<key>(s, 10, 90)), slice<key>(v, 10, 90)), 1e-5);
  check_schedules(dot<key>(softmax<key>(roll<key>(s, 3)), v), 1e-5);
  check_schedules(softmax<key>(at<head>(s, 1)), 1e-6);
  check_schedules(dot<group>(softmax<group>(rename<key, group>(s)), rename<key, group>(v)), 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
