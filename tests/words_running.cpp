// SPDX-License-Identifier: BSL-1.0
// In: expressions. Out: every form of evaluate and evaluate_into, every way to say a policy, the workspace.
// Next: user_threads.cpp, several runs at the same time.
#include "support/schedules.hpp"

#include <tuple>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

auto sample() { return counted<float, query, key>(query{2}, key{3}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(words_running)

BOOST_AUTO_TEST_CASE(evaluate_in_every_form) {
  const auto x = sample();
  const auto e = x * 2;
  const std::vector<double> want = {0, 2, 4, 6, 8, 10}, turned = {0, 6, 2, 8, 4, 10};
  static_assert(std::is_same_v<decltype(evaluate(e)), tensor<float, query, key>>);
  static_assert(std::is_same_v<decltype(evaluate<key, query>(e)), tensor<float, key, query>>);
  BOOST_TEST(agrees(evaluate(e), want, 0));
  BOOST_TEST(agrees(evaluate(x), {0, 1, 2, 3, 4, 5}, 0));  // a tensor is an expression
  const auto in_another_order = evaluate<key, query>(e);
  BOOST_TEST(agrees(in_another_order, turned, 0));
  for (const schedule how : {fused, unfused}) {
    BOOST_TEST(agrees(evaluate(how, e), want, 0));
    const auto again = evaluate<key, query>(how, e);
    BOOST_TEST(agrees(again, turned, 0));
  }
}

BOOST_AUTO_TEST_CASE(evaluate_several) {
  const auto x = sample();
  const auto e = x * 2;
  auto [doubled, total, largest] = evaluate(e, sum<key>(e), max<query, key>(x));
  static_assert(std::is_same_v<decltype(doubled), tensor<float, query, key>>);
  static_assert(
      std::is_same_v<decltype(evaluate(e, x)), std::tuple<tensor<float, query, key>, tensor<float, query, key>>>);
  BOOST_TEST(agrees(doubled, {0, 2, 4, 6, 8, 10}, 0));
  BOOST_TEST(agrees(total, {6, 24}, 0));
  BOOST_TEST(largest() == 5);
  const auto [a, b] = evaluate(unfused, softmax<key>(x * 0), e);
  BOOST_TEST(agrees(a, std::vector<double>(6, 1.0 / 3), 1e-6));
  BOOST_TEST(identical(b, doubled));
}

BOOST_AUTO_TEST_CASE(evaluate_into_a_tensor_a_view_and_a_slice) {
  const auto x = sample();
  for (const regime& each : regimes()) {
    tensor<float, query, key> same{query{2}, key{3}};
    evaluate_into(each.policy(), same, x + 1);
    BOOST_TEST(agrees(same, {1, 2, 3, 4, 5, 6}, 0));
    const float* const buffer = same.data();
    tensor<float, key, query> turned{query{2}, key{3}};
    evaluate_into(each.policy(), turned, x + 1);
    BOOST_TEST(agrees(turned, {1, 4, 2, 5, 3, 6}, 0));
    std::vector<float> numbers(12, -1);
    evaluate_into(each.policy(), view<float, query, key>(numbers.data(), query{2}, key{3}, strides{6, 2}), x + 1);
    BOOST_TEST(
        agree(std::vector<double>(numbers.begin(), numbers.end()), {1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1}, 0));
    evaluate_into(each.policy(), slice<key>(same, 1, 3), slice<key>(x, 0, 2) * 100);
    BOOST_TEST(agrees(same, {1, 0, 100, 4, 300, 400}, 0));
    BOOST_TEST(same.data() == buffer);
  }
  tensor<float, query, key> plain{query{2}, key{3}};
  evaluate_into(plain, x);
  evaluate_into(unfused, plain, plain + x);
  BOOST_TEST(agrees(plain, {0, 2, 4, 6, 8, 10}, 0));
}

BOOST_AUTO_TEST_CASE(evaluate_into_several) {
  const auto x = sample();
  for (const regime& each : regimes()) {
    tensor<float, query, key> weights{query{2}, key{3}};
    tensor<float, query> totals{query{2}};
    evaluate_into(each.policy(), std::tie(weights, totals), softmax<key>(x * 0), sum<key>(x));
    BOOST_TEST(agrees(weights, std::vector<double>(6, 1.0 / 3), 1e-6));
    BOOST_TEST(agrees(totals, {3, 12}, 0));
  }
  tensor<float, query, key> a{query{2}, key{3}};
  tensor<float, key, query> b{query{2}, key{3}};
  evaluate_into(std::tie(a, b), x, x * 2);
  BOOST_TEST(agrees(a, {0, 1, 2, 3, 4, 5}, 0));
  BOOST_TEST(agrees(b, {0, 6, 2, 8, 4, 10}, 0));
}

BOOST_AUTO_TEST_CASE(truth_values_into_numbers) {
  const auto x = sample();
  for (const regime& each : regimes()) {
    tensor<float, query, key> numbers{query{2}, key{3}};
    tensor<int, query, key> counts{query{2}, key{3}};
    evaluate_into(each.policy(), numbers, x > 2);
    BOOST_TEST(agrees(numbers, {0, 0, 0, 1, 1, 1}, 0));
    evaluate_into(each.policy(), std::tie(counts, numbers), x > 4, x < 1);
    BOOST_TEST(agrees(counts, {0, 0, 0, 0, 0, 1}, 0));
    BOOST_TEST(agrees(numbers, {1, 0, 0, 0, 0, 0}, 0));
  }
}

BOOST_AUTO_TEST_CASE(policies) {
  const auto x = sample();
  const auto e = softmax<key>(x);
  const auto want = evaluate(e);
  workspace space;
  const policy everything{.schedule = unfused, .threads = 2, .memory = &space, .store_limit = 1000000};
  BOOST_TEST(agrees(evaluate(everything, e), want, 1e-6));
  BOOST_TEST(agrees(evaluate(policy{}, e), want, 0));
  BOOST_TEST(agrees(evaluate(policy{.schedule = fused}, e), want, 0));
  BOOST_TEST(agrees(evaluate(policy{.threads = 3}, e), want, 0));
  BOOST_TEST(agrees(evaluate(policy{.threads = 0}, e), want, 0));
  BOOST_TEST(agrees(evaluate(policy{.memory = &space}, e), want, 0));
  static_assert(std::is_same_v<std::remove_cv_t<decltype(fused)>, schedule>);
  static_assert(std::is_same_v<std::remove_cv_t<decltype(unfused)>, schedule>);
  static_assert(fused == schedule::fused && unfused == schedule::unfused);
}

// One workspace serves formulas of any size, one after the other, and gives the same bits.
BOOST_AUTO_TEST_CASE(a_workspace_is_used_again) {
  workspace space;
  for (const int keys : {200, 3, 70, 0, 129})
    for (const schedule how : {fused, unfused}) {
      const auto q = normal<float, query, d_head>(1, query{33}, d_head{16});
      const auto k = normal<float, key, d_head>(2, key{keys}, d_head{16});
      const auto v = normal<float, key, d_head>(3, key{keys}, d_head{16});
      const auto context = dot<key>(softmax<key>(dot<d_head>(q, k)), v);
      const policy with_space{.schedule = how, .threads = 2, .memory = &space};
      const auto want = evaluate(policy{.schedule = how, .threads = 2}, context);
      BOOST_TEST(same_bits(evaluate(with_space, context), want));
      BOOST_TEST(same_bits(evaluate(with_space, context), want));
    }
}

BOOST_AUTO_TEST_SUITE_END()
