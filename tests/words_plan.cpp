// SPDX-License-Identifier: BSL-1.0
// In: expressions. Out: what the library says about its own plan: streams, explain and its fields, the store limit; and
// packed weights, which change the plan and not the result.
// Next: words_cache.cpp.
#include "support/schedules.hpp"

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace heed;
using namespace test;

namespace {

const auto& tensors() {
  struct all {
    tensor<float, head, query, d_head> q = normal<float, head, query, d_head>(1, head{2}, query{50}, d_head{16});
    tensor<float, head, key, d_head> k = normal<float, head, key, d_head>(2, head{2}, key{60}, d_head{16});
    tensor<float, head, key, d_value> v = normal<float, head, key, d_value>(3, head{2}, key{60}, d_value{16});
  };
  static const all one;
  return one;
}
auto context() {
  const auto& [q, k, v] = tensors();
  return dot<key>(softmax<key>(dot<d_head>(q, k) * 0.25F), v);
}
constexpr std::size_t bytes_of_scores = 2 * 50 * 60 * sizeof(float);

/// Softmax of a softmax: needs its rows whole.
auto stored_context() {
  const auto& [q, k, v] = tensors();
  return dot<key>(softmax<key>(softmax<key>(dot<d_head>(q, k))), v);
}

template <class Plan> std::ptrdiff_t stages_of(const Plan& plan) {
  std::ptrdiff_t n = 0;
  for ([[maybe_unused]] const auto& stage : plan.stages) ++n;
  return n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_plan)

BOOST_AUTO_TEST_CASE(what_streams) {
  static_assert(streams<decltype(context())>);
  static_assert(!streams<decltype(stored_context())>);
  const auto& [q, k, v] = tensors();
  const auto scores = dot<d_head>(q, k);
  static_assert(streams<decltype(log_sum_exp<key>(scores))>);
  static_assert(streams<decltype(sum<key>(exp(scores)))>);
  static_assert(streams<decltype(max<key>(scores * 2))>);
  static_assert(streams<decltype(dot<key>(dropout(softmax<key>(scores), 0.1, 1), v))>);
  static_assert(streams<decltype(dot<key>(softmax<key>(softcap(where(causal<query, key>(), scores), 30)), v))>);
  static_assert(streams<decltype(dot<key>(sigmoid(scores), v))>);
  // MaxSim: for each query the best key, summed
  static_assert(streams<decltype(sum<query>(max<key>(scores)))>);
}

BOOST_AUTO_TEST_CASE(a_plan_tells) {
  const auto fused_plan = explain(context()), same_plan = explain(fused, context());
  const auto unfused_plan = explain(unfused, context());
  BOOST_TEST(fused_plan.str() == same_plan.str());
  BOOST_TEST(fused_plan.str() != unfused_plan.str());
  BOOST_TEST(!fused_plan.str().empty());
  std::ostringstream text;
  text << fused_plan;
  BOOST_TEST(text.str() == fused_plan.str());
  for (const char* const axis : {"query", "key", "head"}) BOOST_TEST(text.str().find(axis) != std::string::npos);

  BOOST_TEST(stages_of(fused_plan) == 1);
  BOOST_TEST(stages_of(unfused_plan) >= 3);
  const double products = 2.0 * 2 * 50 * 60 * 16 * 2;  // two contractions, multiply and add
  for (const auto& plan : {fused_plan, unfused_plan}) {
    BOOST_TEST(static_cast<double>(plan.floating_point_operations) >= products);
    BOOST_TEST(static_cast<double>(plan.floating_point_operations) <= 2 * products);
    BOOST_TEST(static_cast<double>(plan.bytes_moved) >= 4.0 * 2 * (50 + 60 + 60 + 50) * 16);
  }
  BOOST_TEST(static_cast<double>(fused_plan.bytes_stored) < static_cast<double>(bytes_of_scores));
  BOOST_TEST(static_cast<double>(unfused_plan.bytes_stored) >= 2.0 * static_cast<double>(bytes_of_scores));
  BOOST_TEST(static_cast<double>(fused_plan.bytes_moved) < static_cast<double>(unfused_plan.bytes_moved));
}

// Nothing is stored behind the user's back: a plan over the limit is refused before it runs, with a reason.
// causal is [key, query] by its words, and lies as the scores that it excludes from do.
BOOST_AUTO_TEST_CASE(what_is_stored_lies_as_its_reader_does) {
  const auto& [q, k, v] = tensors();
  const auto plan = explain(unfused, dot<key>(softmax<key>(where(causal<query, key>(10), dot<d_head>(q, k))), v));
  int masks = 0;
  for (const auto& stage : plan.stages) {
    if (stage.computes != "(key <= (query + 10))") continue;
    ++masks;
    BOOST_TEST(stage.vectorised == "key");
  }
  BOOST_TEST(masks > 0);
}

BOOST_AUTO_TEST_CASE(what_is_shared_twice_is_computed_once) {
  const auto x = normal<float, query, model>(1, query{5}, model{7});
  const auto w = normal<float, model, d_head>(2, model{7}, d_head{3});
  const auto once = let(dot<model>(x, w));
  BOOST_TEST(explain(let(once) * once + once).floating_point_operations ==
             explain(once * once + once).floating_point_operations);
}

BOOST_AUTO_TEST_CASE(the_store_limit) {
  const auto want = evaluate(unfused, context());
  BOOST_TEST(agrees(evaluate(policy{.store_limit = bytes_of_scores / 2}, context()), want, 1e-5));
  BOOST_TEST(throws<shape_error>(
      [] { (void)evaluate(policy{.schedule = unfused, .store_limit = bytes_of_scores / 2}, context()); }));
  BOOST_TEST(throws<shape_error>([] { (void)evaluate(policy{.store_limit = bytes_of_scores / 2}, stored_context()); }));
  const std::string reason =
      message_of<shape_error>([] { (void)evaluate(policy{.store_limit = bytes_of_scores / 2}, stored_context()); });
  BOOST_TEST(reason.find("softmax") != std::string::npos, reason);
  tensor<float, head, query, d_value> untouched{head{2}, query{50}, d_value{16}};
  BOOST_TEST(throws<shape_error>(
      [&] { evaluate_into(policy{.store_limit = bytes_of_scores / 2}, untouched, stored_context()); }));
  for (const float element : untouched) BOOST_TEST_REQUIRE(element == 0);
  BOOST_TEST(agrees(evaluate(policy{.store_limit = 10 * bytes_of_scores}, stored_context()),
                    evaluate(unfused, stored_context()), 1e-5));
}

BOOST_AUTO_TEST_CASE(packed_weights_are_the_weights) {
  const auto x = normal<float, batch, query, model>(1, batch{2}, query{17}, model{50});
  auto w = normal<float, model, head, d_head>(2, model{50}, head{3}, d_head{8});
  const auto ready = packed<model>(w);
  static_assert(has_axes<decltype(ready), model, head, d_head>);
  const auto want = evaluate(dot<model>(x, w));
  check(dot<model>(x, ready), want, 1e-5);
  check(relu(dot<model>(x, ready)) + 1, numbers_of(evaluate(relu(dot<model>(x, w)) + 1)), 1e-5);
  check_same_bits_for_all_threads(dot<model>(x, ready));
  for (float& element : w) element = 0;  // a snapshot
  check(dot<model>(x, ready), want, 1e-5);
  const auto w_o = normal<float, head, d_head, model>(3, head{3}, d_head{8}, model{50});
  const auto heads = evaluate(dot<model>(x, ready));
  check(dot<head, d_head>(heads, packed<head, d_head>(w_o)), evaluate(dot<head, d_head>(heads, w_o)), 1e-5);
  const auto w_double = normal<double, model, hidden>(4, model{50}, hidden{9});
  const auto x_double = normal<double, query, model>(5, query{4}, model{50});
  check(dot<model>(x_double, packed<model>(w_double)), evaluate(dot<model>(x_double, w_double)), 1e-12);
}

// What a mask or a bias holds is looked at exactly, however few elements there are and however far apart.
BOOST_AUTO_TEST_CASE(extremes_of_few_elements) {
  const auto look = [](const auto& values, std::ptrdiff_t n, std::ptrdiff_t step) {
    heed::plan::extremes<std::remove_cvref_t<decltype(values[0])>> seen;
    seen.look(&values[0], n, step);
    seen.finish();
    return std::pair(static_cast<double>(seen.smallest), static_cast<double>(seen.largest));
  };
  std::vector<std::int32_t> whole(70, 5);
  std::vector<float> real(70, -2.5F);
  const bool truths[40] = {true, true, true, true, true, true, true, true, true, true};
  for (const std::ptrdiff_t n : {1, 2, 8, 31, 33, 35}) {
    for (const std::ptrdiff_t step : {1, 2}) {
      BOOST_TEST((look(whole, n, step) == std::pair(5.0, 5.0)));
      BOOST_TEST((look(real, n, step) == std::pair(-2.5, -2.5)));
    }
    BOOST_TEST((look(truths, n, 1) == std::pair(n > 10 ? 0.0 : 1.0, 1.0)));
  }
  whole[20] = -7;
  real[33] = 4;
  BOOST_TEST((look(whole, 34, 1) == std::pair(-7.0, 5.0)));
  BOOST_TEST((look(real, 34, 1) == std::pair(-2.5, 4.0)));
}

BOOST_AUTO_TEST_SUITE_END()
