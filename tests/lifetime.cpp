// SPDX-License-Identifier: BSL-1.0
// In: expressions over operands that die, change or are the destination. Out: an expression keeps the buffers it
// was made with, sees what is written into them, and a result over its own input is that of a fresh buffer.
// Next: names.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

using namespace heed;
using namespace test;

namespace {

tensor<float, query, key> make_scores() { return counted<float, query, key>(query{2}, key{3}); }

auto over_a_local() {
  const auto scores = make_scores();
  const auto scaled = scores * 2;
  return sum<key>(scaled + scores);
}

auto attention_over_locals() {
  const auto q = normal<float, query, d_head>(1, query{20}, d_head{16});
  const auto k = normal<float, key, d_head>(2, key{30}, d_head{16});
  const auto v = normal<float, key, d_head>(3, key{30}, d_head{16});
  return dot<key>(softmax<key>(where(causal<query, key>(10), dot<d_head>(q, k))), v);
}

/// Overwrites what freed memory may still hold.
void disturb() {
  for (int i = 0; i < 20; ++i) {
    tensor<float, query, key> noise{query{2}, key{3}};
    for (float& element : noise) element = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lifetime)

BOOST_AUTO_TEST_CASE(dead_locals_and_temporaries) {
  const auto e = over_a_local();
  const auto of_temporary = softmax<key>(make_scores() * 0);
  const auto of_plain_temporary = rename<key, model>(make_scores());
  const auto slice_of_temporary = slice<key>(make_scores(), 1, 2);
  const auto context = attention_over_locals();
  disturb();
  check(e, {9, 36}, 0);
  check(of_temporary, std::vector<double>(6, 1.0 / 3), 1e-6);
  check(of_plain_temporary, {0, 1, 2, 3, 4, 5}, 0);
  check(slice_of_temporary, {1, 4}, 0);
  BOOST_TEST(agrees(evaluate(context), evaluate(unfused, attention_over_locals()), 1e-5));
}

BOOST_AUTO_TEST_CASE(copies_and_moves_of_expressions) {
  auto first = std::make_unique<decltype(over_a_local())>(over_a_local());
  const auto copy = *first;
  const auto moved = std::move(*first);
  first.reset();
  disturb();
  check(copy, {9, 36}, 0);
  check(moved + copy, {18, 72}, 0);
}

BOOST_AUTO_TEST_CASE(an_assigned_tensor_leaves_its_buffer_behind) {
  auto x = make_scores();
  const auto e = x * 10;
  x = tensor<float, query, key>{query{1}, key{1}};
  disturb();
  check(e, {0, 10, 20, 30, 40, 50}, 0);
  auto y = make_scores();
  const auto f = y + 1;
  const auto elsewhere = std::move(y);
  check(f, {1, 2, 3, 4, 5, 6}, 0);
  check(elsewhere + 0, {0, 1, 2, 3, 4, 5}, 0);
  auto z = make_scores();
  const auto g = sum<key>(z);
  z = evaluate(z * 100);
  check(g, {3, 12}, 0);
  check(sum<key>(z), {300, 1200}, 0);
  std::optional<tensor<float, query, key>> gone(make_scores());
  const auto h = *gone * 2;
  gone.reset();
  disturb();
  check(h, {0, 2, 4, 6, 8, 10}, 0);
}

BOOST_AUTO_TEST_CASE(written_elements_are_seen) {
  auto x = make_scores();
  const auto e = x * 10;
  const auto weights = softmax<key>(x * 0) * x;
  const auto part = slice<key>(x, 0, 1);
  x(0, 0) = 7;
  check(e, {70, 10, 20, 30, 40, 50}, 0);
  check(sum<key>(weights), {10.0 / 3, 4}, 1e-6);
  check(part, {7, 3}, 0);
  evaluate_into(x, x + 1);
  check(e, {80, 20, 30, 40, 50, 60}, 0);
  evaluate_into(part, part * 0);
  BOOST_TEST(agrees(x, {0, 2, 3, 0, 5, 6}, 0));
}

// Two tensors that share nothing stay apart.
BOOST_AUTO_TEST_CASE(results_are_fresh) {
  auto x = make_scores();
  const auto y = evaluate(x);
  const auto z = evaluate(rename<query, model>(x));
  x(0, 0) = 99;
  BOOST_TEST((y(0, 0) == 0 && z(0, 0) == 0));
}

BOOST_AUTO_TEST_CASE(elementwise_results_over_their_input) {
  for (const regime& each : regimes()) {
    auto x = make_scores();
    evaluate_into(each.policy(), x, x * x - x);
    BOOST_TEST(agrees(x, {0, 0, 2, 6, 12, 20}, 0));
    evaluate_into(each.policy(), x, x / (sum<key>(x) + 1));
    BOOST_TEST(agrees(x, {0, 0, 2.0 / 3, 6.0 / 39, 12.0 / 39, 20.0 / 39}, 1e-6));
    x = make_scores();
    evaluate_into(each.policy(), x, softmax<key>(x));
    const auto want = evaluate(softmax<key>(make_scores()));
    BOOST_TEST(agrees(x, want, 1e-6));
  }
}

BOOST_AUTO_TEST_CASE(moved_by_one) {
  for (const regime& each : regimes()) BOOST_TEST_CONTEXT(each.name()) {
      auto x = row<float, key>({1, 2, 3, 4, 5, 6, 7, 8, 9});
      evaluate_into(each.policy(), slice<key>(x, 1, 9), slice<key>(x, 0, 8) * 10);
      BOOST_TEST(agrees(x, {1, 10, 20, 30, 40, 50, 60, 70, 80}, 0));
      x = row<float, key>({1, 2, 3, 4, 5, 6, 7, 8, 9});
      evaluate_into(each.policy(), slice<key>(x, 0, 8), slice<key>(x, 1, 9) + slice<key>(x, 0, 8));
      BOOST_TEST(agrees(x, {3, 5, 7, 9, 11, 13, 15, 17, 9}, 0));
      x = row<float, key>({1, 2, 3, 4, 5, 6, 7, 8, 9});
      evaluate_into(each.policy(), x, roll<key>(x, 1));
      BOOST_TEST(agrees(x, {9, 1, 2, 3, 4, 5, 6, 7, 8}, 0));
      evaluate_into(each.policy(), x, cumsum<key>(x));
      BOOST_TEST(agrees(x, {9, 10, 12, 15, 19, 24, 30, 37, 45}, 0));
    }
}

BOOST_AUTO_TEST_CASE(turned_in_place) {
  for (const regime& each : regimes()) {
    std::vector<float> numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const view<float, query, key> rows(numbers.data(), query{3}, key{3});
    const view<const float, key, query> columns(numbers.data(), query{3}, key{3});
    evaluate_into(each.policy(), rows, columns + 0);
    BOOST_TEST(agree(std::vector<double>(numbers.begin(), numbers.end()), {0, 3, 6, 1, 4, 7, 2, 5, 8}, 0));
  }
}

// The context over the queries, over the values, and over both by one row.
BOOST_AUTO_TEST_CASE(attention_over_its_inputs) {
  const int n = 70;
  const auto q = normal<float, query, d_head>(1, query{n}, d_head{16});
  const auto k = normal<float, key, d_head>(2, key{n}, d_head{16});
  const auto v = normal<float, key, d_head>(3, key{n}, d_head{16});
  const auto attend = [](const auto& one_q, const auto& one_k, const auto& one_v) {
    return dot<key>(softmax<key>(where(causal<query, key>(), dot<d_head>(one_q, one_k) * 0.25F)), one_v);
  };
  for (const regime& each : regimes({1, 2})) BOOST_TEST_CONTEXT(each.name()) {
      const auto want = evaluate(each.policy(), attend(q, k, v));
      auto over_q = q;
      evaluate_into(each.policy(), over_q, attend(over_q, k, v));
      BOOST_TEST(agrees(over_q, want, 1e-6));
      auto over_v = rename<key, query>(v);
      tensor<float, query, d_head> values = evaluate(over_v);
      evaluate_into(each.policy(), values, attend(q, k, rename<query, key>(values)));
      BOOST_TEST(agrees(values, want, 1e-6));
      tensor<float, query, d_head> longer{query{n + 1},
                                          d_head{16}};  // the queries are rows 0 .. n - 1, the result 1 .. n
      evaluate_into(slice<query>(longer, 0, n), q);
      evaluate_into(each.policy(), slice<query>(longer, 1, n + 1), attend(slice<query>(longer, 0, n), k, v));
      const auto shifted = evaluate(slice<query>(longer, 1, n + 1));
      BOOST_TEST(agrees(shifted, want, 1e-6));
    }
}

BOOST_AUTO_TEST_CASE(several_results_one_of_them_an_input) {
  for (const regime& each : regimes()) {
    auto x = make_scores();
    tensor<float, query> total{query{2}};
    evaluate_into(each.policy(), std::tie(x, total), x * 10, sum<key>(x));
    BOOST_TEST(agrees(x, {0, 10, 20, 30, 40, 50}, 0));
    BOOST_TEST(agrees(total, {3, 12}, 0));  // of what stood there before
  }
}

BOOST_AUTO_TEST_SUITE_END()
