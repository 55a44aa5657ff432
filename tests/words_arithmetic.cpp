// SPDX-License-Identifier: BSL-1.0
// In: numbers. Out: operators and functions, element by element, against the standard library: in float, double and
// integers, with scalars on either side, with the smaller operand broadcast.
// Next: words_functions.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

const auto& samples() {
  static const auto x = table<float, query, key>(2, {-2.5, -1, -0.25, 0, 0.5, 1, 1.5, 3, 10, 0.125});
  return x;
}

/// What a function of one number gives for each sample.
template <class Function> std::vector<double> each(Function function) {
  std::vector<double> result;
  for (const float x : samples()) result.push_back(static_cast<double>(function(static_cast<double>(x))));
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_arithmetic)

BOOST_AUTO_TEST_CASE(operators_with_scalars) {
  const auto& x = samples();
  check(x + 2, each([](double a) { return a + 2; }), 1e-6);
  check(2 + x, each([](double a) { return a + 2; }), 1e-6);
  check(x - 2.5, each([](double a) { return a - 2.5; }), 1e-6);  // a double takes the type of the tensor
  check(2.5F - x, each([](double a) { return 2.5 - a; }), 1e-6);
  check(x * 3, each([](double a) { return a * 3; }), 1e-6);
  check(0.5 * x, each([](double a) { return a * 0.5; }), 1e-6);
  check(x / 4, each([](double a) { return a / 4; }), 1e-6);
  check(1 / (x + 20), each([](double a) { return 1 / (a + 20); }), 1e-6);
  check(-x, each([](double a) { return -a; }), 0);
  static_assert(std::is_same_v<decltype(x * 0.5)::value_type, float>);
  static_assert(std::is_same_v<decltype(std::size_t{2} * x)::value_type, float>);
}

BOOST_AUTO_TEST_CASE(operators_of_two_tensors) {
  const auto a = table<double, query, key>(2, {1, 2, 3, 4, 5, 6}), b = table<double, query, key>(2, {6, 5, 4, 3, 2, 1});
  check(a + b, {7, 7, 7, 7, 7, 7}, 0);
  check(a - b, {-5, -3, -1, 1, 3, 5}, 0);
  check(a * b, {6, 10, 12, 12, 10, 6}, 0);
  check(a / b, {1.0 / 6, 0.4, 0.75, 4.0 / 3, 2.5, 6}, 1e-15);
  check(a - b * a + b / a, {1 - 6 + 6, 2 - 10 + 2.5, 3 - 12 + 4.0 / 3, 4 - 12 + 0.75, 5 - 10 + 0.4, 6 - 6 + 1.0 / 6},
        1e-14);
}

BOOST_AUTO_TEST_CASE(the_smaller_operand_broadcasts) {
  const auto x = counted<float, query, key>(query{2}, key{3});
  const auto by_key = row<float, key>({10, 20, 30});
  const auto by_query = row<float, query>({100, 200});
  check(x + by_key, {10, 21, 32, 13, 24, 35}, 0);
  check(by_key + x, {10, 21, 32, 13, 24, 35}, 0);
  check(x - by_query, {-100, -99, -98, -197, -196, -195}, 0);
  check(by_query - x, {100, 99, 98, 197, 196, 195}, 0);
  static_assert(std::is_same_v<decltype(by_key + x)::axes_type, axes<query, key>>);  // the wider operand's order
  check(x * by_key + by_query, {100, 120, 160, 230, 280, 350}, 0);
}

BOOST_AUTO_TEST_CASE(functions_of_one_number) {
  const auto& x = samples();
  check(exp(x), each([](double a) { return std::exp(a); }), 1e-6);
  check(log(abs(x) + 1), each([](double a) { return std::log(std::abs(a) + 1); }), 1e-6);
  check(sqrt(abs(x)), each([](double a) { return std::sqrt(std::abs(a)); }), 1e-6);
  check(rsqrt(abs(x) + 1), each([](double a) { return 1 / std::sqrt(std::abs(a) + 1); }), 1e-6);
  check(tanh(x), each([](double a) { return std::tanh(a); }), 1e-6);
  check(sin(x), each([](double a) { return std::sin(a); }), 1e-6);
  check(cos(x), each([](double a) { return std::cos(a); }), 1e-6);
  check(abs(x), each([](double a) { return std::abs(a); }), 0);
  check(floor(x), each([](double a) { return std::floor(a); }), 0);
  check(pow(abs(x), 2), each([](double a) { return a * a; }), 1e-5);
  check(pow(abs(x), 0.5), each([](double a) { return std::sqrt(std::abs(a)); }), 1e-6);
  check(min(x, 1), each([](double a) { return std::min(a, 1.0); }), 0);
  check(max(0, x), each([](double a) { return std::max(0.0, a); }), 0);
}

BOOST_AUTO_TEST_CASE(functions_at_the_edges) {
  const auto x = row<float, key>({-infinity, infinity, 0, not_a_number, -100, 100});
  check(exp(x), {0, infinity, 1, not_a_number, 0, infinity}, 1e-30);
  check(log(row<float, key>({0, infinity, 1, not_a_number, -1, 2})),
        {-infinity, infinity, 0, not_a_number, not_a_number, std::log(2.0)}, 1e-6);
  check(tanh(x), {-1, 1, 0, not_a_number, -1, 1}, 1e-7);
  check(abs(x), {infinity, infinity, 0, not_a_number, 100, 100}, 0);
  check(sqrt(row<float, key>({0, infinity, 4})), {0, infinity, 2}, 0);
}

BOOST_AUTO_TEST_CASE(functions_of_two_tensors) {
  const auto a = table<float, query, key>(2, {1, 2, 3, 4});
  const auto b = row<float, key>({2, 3});
  check(min(a, b), {1, 2, 2, 3}, 0);
  check(max(a, b), {2, 3, 3, 4}, 0);
  check(max(b, a), {2, 3, 3, 4}, 0);
  check(pow(a, b), {1, 8, 9, 64}, 1e-5);
  check(pow(b, a), {2, 9, 8, 81}, 1e-5);
}

BOOST_AUTO_TEST_CASE(double_stays_double) {
  const auto x = row<double, key>({0.1, 1.7, 20});
  check(exp(x) + log(x) * tanh(x),
        {std::exp(0.1) + std::log(0.1) * std::tanh(0.1), std::exp(1.7) + std::log(1.7) * std::tanh(1.7),
         std::exp(20.0) + std::log(20.0) * std::tanh(20.0)},
        1e-14);
  static_assert(std::is_same_v<decltype(x * 2)::value_type, double>);
  static_assert(std::is_same_v<decltype(x * 2.0F)::value_type, double>);
}

BOOST_AUTO_TEST_SUITE_END()
