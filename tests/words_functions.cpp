// SPDX-License-Identifier: BSL-1.0
// In: numbers. Out: integer arithmetic (quotients and remainders round down), comparisons and logic, casts,
// activations, softcap, broadcast; each against plain loops.
// Next: words_index.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

using namespace heed;
using namespace test;

BOOST_AUTO_TEST_SUITE(words_functions)

BOOST_AUTO_TEST_CASE(integer_quotients_and_remainders_round_down) {
  tensor<std::int64_t, query, key> a{query{15}, key{8}}, b = a;
  std::vector<double> quotients, remainders, sums, products, differences;
  for (int i = 0; i < 15; ++i)
    for (int j = 0; j < 8; ++j) {
      const long long n = i - 7, d = j < 4 ? j - 4 : j - 3;  // -4 .. -1, 1 .. 4
      a(i, j) = n;
      b(i, j) = d;
      quotients.push_back(static_cast<double>(reference::quotient_down(n, d)));
      remainders.push_back(static_cast<double>(reference::remainder_down(n, d)));
      sums.push_back(static_cast<double>(n + d));
      products.push_back(static_cast<double>(n * d));
      differences.push_back(static_cast<double>(n - d));
    }
  check(a / b, quotients, 0);
  check(a % b, remainders, 0);
  check(a + b, sums, 0);
  check(a * b, products, 0);
  check(a - b, differences, 0);
  const auto narrow = row<std::int32_t, key>({-7, -6, -1, 0, 1, 7});
  check(narrow / 2, {-4, -3, -1, 0, 0, 3}, 0);
  check(narrow % 2, {1, 0, 1, 0, 1, 1}, 0);
  check(-narrow, {7, 6, 1, 0, -1, -7}, 0);
  check(abs(narrow), {7, 6, 1, 0, 1, 7}, 0);
  check(min(narrow, 0), {-7, -6, -1, 0, 0, 0}, 0);
  check(max(narrow, -2), {-2, -2, -1, 0, 1, 7}, 0);
  check(index<key>() / 4 + narrow * 0, {0, 0, 0, 0, 1, 1}, 0);
  check((narrow - 1) / 3 * 3, {-9, -9, -3, -3, 0, 6}, 0);
}

BOOST_AUTO_TEST_CASE(large_integers_are_exact) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  tensor<std::int64_t, key> x{key{2}};
  x(0) = large;
  x(1) = -large;
  for (const regime& each : regimes()) {
    const auto y = evaluate(each.policy(), x + 2);
    BOOST_TEST(y(0) == large + 2);
    BOOST_TEST(y(1) == 2 - large);
  }
}

BOOST_AUTO_TEST_CASE(comparisons_and_logic) {
  const auto a = row<float, key>({1, 2, 3, 4}), b = row<float, key>({4, 2, 2, 5});
  check(a < b, {1, 0, 0, 1}, 0);
  check(a <= b, {1, 1, 0, 1}, 0);
  check(a > b, {0, 0, 1, 0}, 0);
  check(a >= b, {0, 1, 1, 0}, 0);
  check(a == b, {0, 1, 0, 0}, 0);
  check(a != b, {1, 0, 1, 1}, 0);
  check(a < 3, {1, 1, 0, 0}, 0);
  check(3 <= a, {0, 0, 1, 1}, 0);
  check(a < b && a > 1, {0, 0, 0, 1}, 0);
  check(a < b || a == 3, {1, 0, 1, 1}, 0);
  check(!(a < b), {0, 1, 1, 0}, 0);
  const auto yes_no = row<bool, key>({1, 0, 1, 0}), last = row<bool, key>({0, 0, 1, 1});
  check(yes_no && last, {0, 0, 1, 0}, 0);
  check(yes_no || last, {1, 0, 1, 1}, 0);
  check(!yes_no, {0, 1, 0, 1}, 0);
  static_assert(std::is_same_v<decltype(a < b)::value_type, bool>);
  const auto nan = row<float, key>({not_a_number, 1, 2, 3});
  check(nan == nan, {0, 1, 1, 1}, 0);
  check(nan != nan, {1, 0, 0, 0}, 0);
  check(nan < 5, {0, 1, 1, 1}, 0);
}

// A truth value counts as 0 or 1 beside a number, on whichever side the number stands.
BOOST_AUTO_TEST_CASE(truth_values_in_arithmetic) {
  const auto yes_no = row<bool, key>({1, 0, 1, 0});
  static_assert(std::is_same_v<decltype(16 * yes_no)::value_type, std::int64_t>);
  static_assert(std::is_same_v<decltype(yes_no + 3)::value_type, std::int64_t>);
  check(16 * yes_no, {16, 0, 16, 0}, 0);
  check(yes_no * 16, {16, 0, 16, 0}, 0);
  check(2 - yes_no, {1, 2, 1, 2}, 0);
  check(yes_no + yes_no, {2, 0, 2, 0}, 0);
  check(min(5, 3 + yes_no), {4, 3, 4, 3}, 0);
  check(1 == yes_no, {1, 0, 1, 0}, 0);
  check(16 * (index<key>() > 1) + cast<std::int64_t>(yes_no), {1, 0, 17, 16}, 0);
}

BOOST_AUTO_TEST_CASE(casts) {
  const auto x = row<float, key>({-1.75, 0, 2.5});
  check(cast<double>(x) + cast<double>(x), {-3.5, 0, 5}, 0);
  check(cast<std::int64_t>(x), {-1, 0, 2}, 0);  // as static_cast
  check(cast<bool>(x), {1, 0, 1}, 0);
  check(cast<float>(row<std::int32_t, key>({-3, 0, 7})) / 2, {-1.5, 0, 3.5}, 0);
  check(cast<float>(row<bool, key>({1, 0, 1})) * 3, {3, 0, 3}, 0);
  check(cast<float>(row<double, key>({0.1})) - 0.1F, {0}, 0);
  static_assert(std::is_same_v<decltype(cast<bf16>(x))::value_type, float>);
  const auto fine = row<float, key>({0.1, -1.0 / 3, 257, 65519.9, 1e-41, 0});
  check(cast<bf16>(fine), {0.10009765625, -0.333984375, 256, 65536, 0, 0}, 1e-40);
  check(cast<f16>(fine), {0.0999755859375, -0.333251953125, 257, 65504, 0, 0}, 0);
  check(sum<key>(where(index<key>() < 3, cast<bf16>(cast<double>(fine)))), {255.76611328125}, 0);
  check(cast<float>(index<key>()) * x, {0, 0, 5}, 0);
  static_assert(std::is_same_v<decltype(cast<double>(x))::value_type, double>);
}

BOOST_AUTO_TEST_CASE(activations) {
  const auto x = row<float, key>({-30, -5, -2, -1, -0.1, 0, 0.1, 1, 2, 5, 30});
  const auto each = [&](auto function) {
    std::vector<double> result;
    for (const float number : x) result.push_back(function(static_cast<double>(number)));
    return result;
  };
  check(relu(x), each([](double a) { return std::max(0.0, a); }), 0);
  check(gelu(x), each([](double a) { return reference::gelu(a); }), 1e-6);
  check(gelu_tanh(x), each([](double a) { return reference::gelu_tanh(a); }), 1e-6);
  check(silu(x), each([](double a) { return reference::silu(a); }), 1e-6);
  check(sigmoid(x), each([](double a) { return reference::sigmoid(a); }), 1e-6);
  check(softcap(x, 2), each([](double a) { return 2 * std::tanh(a / 2); }), 1e-6);
  check(softcap(x, 0), each([](double a) { return a; }), 0);
  check(softcap(x, infinity), each([](double a) { return a; }), 0);
  const auto edges = row<float, key>({-infinity, -1000, -0.0, 1000, infinity, not_a_number});
  check(sigmoid(edges), {0, 0, 0.5, 1, 1, not_a_number}, 0);
  check(softcap(edges, 30), {-30, -30, 0, 30, 30, not_a_number}, 0);
  check(relu(edges), {0, 0, 0, 1000, infinity, not_a_number}, 0);
  check(exp(edges), {0, 0, 1, infinity, infinity, not_a_number}, 0);
  const auto precise = row<double, key>({-3, -0.5, 0, 0.7, 4});
  check(gelu(precise), {reference::gelu(-3), reference::gelu(-0.5), 0, reference::gelu(0.7), reference::gelu(4)},
        1e-13);
  check(sigmoid(precise),
        {reference::sigmoid(-3), reference::sigmoid(-0.5), 0.5, reference::sigmoid(0.7), reference::sigmoid(4)}, 1e-14);
}

BOOST_AUTO_TEST_CASE(broadcast_says_it) {
  const auto by_key = row<float, key>({1, 2, 3});
  const auto by_query = row<float, query>({10, 20});
  const auto wide = broadcast<query>(by_key, query{2});
  static_assert(std::is_same_v<std::remove_const_t<decltype(wide)>::axes_type, axes<query, key>>);
  check(wide, {1, 2, 3, 1, 2, 3}, 0);
  check(wide + by_query, {11, 12, 13, 21, 22, 23}, 0);
  const auto wider = broadcast<batch, query>(by_key, batch{2}, query{1});
  static_assert(std::is_same_v<std::remove_const_t<decltype(wider)>::axes_type, axes<batch, query, key>>);
  check(wider, {1, 2, 3, 1, 2, 3}, 0);
  check(broadcast<query>(by_key, query{0}), std::vector<double>{}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
