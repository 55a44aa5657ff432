// SPDX-License-Identifier: BSL-1.0
// In: expressions that name one heavy part twice. Out: it is computed once, and every result says the same about it;
// context and weights, context and log-sum-exp from one evaluation are those of separate ones.
// Next: random_shapes.cpp.
#include "support/schedules.hpp"

#include <cmath>

using namespace heed;
using namespace test;

namespace {

const auto& sample() {
  struct tensors {
    tensor<float, head, query, d_head> q = normal<float, head, query, d_head>(1, head{2}, query{37}, d_head{16});
    tensor<float, head, key, d_head> k = normal<float, head, key, d_head>(2, head{2}, key{53}, d_head{16});
    tensor<float, head, key, d_head> v = normal<float, head, key, d_head>(3, head{2}, key{53}, d_head{16});
  };
  static const tensors all;
  return all;
}

template <class E> double operations(const E& expression, schedule how) {
  return static_cast<double>(explain(how, expression).floating_point_operations);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_sharing)

BOOST_AUTO_TEST_CASE(several_results_of_one_evaluation_agree) {
  const auto& [q, k, v] = sample();
  const auto scores = dot<d_head>(q, k) * 0.25F;
  const auto weights = softmax<key>(scores);
  const auto context = dot<key>(weights, v);
  const auto lse = log_sum_exp<key>(scores);
  for (const regime& each : regimes({1, 3})) BOOST_TEST_CONTEXT(each.name()) {
      const auto [c, w] = evaluate(each.policy(), context, weights);
      const auto [c_too, l] = evaluate(each.policy(), context, lse);
      BOOST_TEST(agrees(c, evaluate(each.policy(), context), 1e-6));
      BOOST_TEST(agrees(c_too, c, 1e-6));
      // the context is the weights' dot with v, and the weights are exp(scores - lse)
      BOOST_TEST(agrees(evaluate(each.policy(), dot<key>(w, v)), c, 1e-5));
      BOOST_TEST(agrees(evaluate(each.policy(), exp(scores - l)), w, 1e-5));
    }
}

BOOST_AUTO_TEST_CASE(a_let_is_evaluated_once) {
  const auto x = normal<float, query, model>(1, query{20}, model{64});
  const auto w = normal<float, model, hidden>(2, model{64}, hidden{48});
  const auto plain = dot<model>(x, w);
  const auto shared = let(dot<model>(x, w));
  const auto twice = shared * sigmoid(shared);
  for (const schedule how : {fused, unfused}) {
    BOOST_TEST(operations(twice, how) < 1.5 * operations(plain, how));
    BOOST_TEST(agrees(evaluate(how, twice), evaluate(how, silu(plain)), 1e-6));
  }
}

BOOST_AUTO_TEST_CASE(one_variable_is_evaluated_once) {
  const auto x = normal<float, query, model>(1, query{20}, model{64});
  const auto w = normal<float, model, hidden>(2, model{64}, hidden{48});
  const auto w_2 = normal<float, hidden, model>(3, hidden{48}, model{64});
  const auto h = dot<hidden>(relu(dot<model>(x, w)), w_2);  // heavy
  const auto twice = h * sigmoid(h) + h;                    // three times through one variable
  for (const schedule how : {fused, unfused}) {
    BOOST_TEST(operations(twice, how) < 1.5 * operations(h, how));
    const auto got = numbers_of(evaluate(how, twice)), once = numbers_of(evaluate(how, h));
    std::vector<double> want;
    for (const double number : once) want.push_back(reference::silu(number) + number);
    BOOST_TEST(agree(got, want, 1e-5));
  }
}

BOOST_AUTO_TEST_CASE(a_shared_part_serves_several_results) {
  const auto x = normal<float, query, model>(1, query{20}, model{64});
  const auto w = normal<float, model, hidden>(2, model{64}, hidden{48});
  const auto h = dot<model>(x, w);
  for (const schedule how : {fused, unfused}) {
    const auto [a, b, c] = evaluate(how, h, relu(h), sum<hidden>(h));
    std::vector<double> want_b, want_c(20, 0.0);
    const std::vector<double> numbers = numbers_of(a);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      want_b.push_back(std::max(0.0, numbers[i]));
      want_c[i / 48] += numbers[i];
    }
    BOOST_TEST(agrees(b, want_b, 0));
    BOOST_TEST(agrees(c, want_c, 1e-5));
  }
}

BOOST_AUTO_TEST_SUITE_END()
