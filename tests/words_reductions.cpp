// SPDX-License-Identifier: BSL-1.0
// In: tensors. Out: softmax, log_sum_exp, sum, mean, max, variance, argmax, cumsum over one and several axes,
// contiguous and not, with sinks; against plain loops.
// Next: words_norms.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>

using namespace heed;
using namespace test;

namespace {

constexpr int batches = 3, queries = 17, keys = 37;

const auto& sample() {
  static const auto x = normal<float, batch, query, key>(1, batch{batches}, query{queries}, key{keys});
  return x;
}
const grid<3>& sample_grid() {
  static const grid<3> x = grid_of(sample());
  return x;
}

/// What `fold` makes of each row of the last axis.
template <class Fold> std::vector<double> over_keys(Fold fold) {
  std::vector<double> result;
  const auto& numbers = sample_grid().numbers;
  for (auto from = numbers.begin(); from != numbers.end(); from += keys)
    result.push_back(fold(std::vector<double>(from, from + keys)));
  return result;
}
/// What `fold` makes of each column, over batch and query together.
template <class Fold> std::vector<double> over_batch_and_query(Fold fold) {
  std::vector<double> result;
  for (int j = 0; j < keys; ++j) {
    std::vector<double> column;
    for (int b = 0; b < batches; ++b)
      for (int i = 0; i < queries; ++i) column.push_back(sample_grid()(b, i, j));
    result.push_back(fold(column));
  }
  return result;
}

double sum_of(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double mean_of(const std::vector<double>& x) { return sum_of(x) / static_cast<double>(x.size()); }
double max_of(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }
double variance_of(const std::vector<double>& x) {
  double result = 0;
  for (const double number : x) result += (number - mean_of(x)) * (number - mean_of(x)) / static_cast<double>(x.size());
  return result;
}
double log_sum_exp_of(const std::vector<double>& x) {
  double total = 0;
  for (const double number : x) total += std::exp(number);
  return std::log(total);
}
double argmax_of(const std::vector<double>& x) {
  return static_cast<double>(std::max_element(x.begin(), x.end()) - x.begin());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_reductions)

BOOST_AUTO_TEST_CASE(along_the_last_axis) {
  const auto& x = sample();
  check(sum<key>(x), over_keys(sum_of), 1e-6);
  check(mean<key>(x), over_keys(mean_of), 1e-6);
  check(max<key>(x), over_keys(max_of), 0);
  check(variance<key>(x), over_keys(variance_of), 1e-6);
  check(log_sum_exp<key>(x), over_keys(log_sum_exp_of), 1e-6);
  check(argmax<key>(x), over_keys(argmax_of), 0);
}

BOOST_AUTO_TEST_CASE(along_several_axes_that_are_not_last) {
  const auto& x = sample();
  check((sum<batch, query>(x)), over_batch_and_query(sum_of), 1e-6);
  check((mean<query, batch>(x)), over_batch_and_query(mean_of), 1e-6);
  check((max<batch, query>(x)), over_batch_and_query(max_of), 0);
  check((variance<batch, query>(x)), over_batch_and_query(variance_of), 1e-6);
  check((log_sum_exp<query, batch>(x)), over_batch_and_query(log_sum_exp_of), 1e-6);
  check((sum<batch, query, key>(x)), {sum_of(sample_grid().numbers)}, 1e-5);
}

BOOST_AUTO_TEST_CASE(softmax_over_one_and_several_axes) {
  const auto& x = sample();
  const auto rows = over_keys(log_sum_exp_of);
  const auto columns = over_batch_and_query(log_sum_exp_of);
  const auto by_row = make_grid(
      [&](auto b, auto i, auto j) {
        return std::exp(sample_grid()(b, i, j) - rows[static_cast<std::size_t>(b * queries + i)]);
      },
      batches, queries, keys);
  const auto by_column = make_grid(
      [&](auto b, auto i, auto j) { return std::exp(sample_grid()(b, i, j) - columns[static_cast<std::size_t>(j)]); },
      batches, queries, keys);
  check(softmax<key>(x), by_row, 1e-6);
  check((softmax<batch, query>(x)), by_column, 1e-6);
}

BOOST_AUTO_TEST_CASE(sinks) {
  const auto x = table<float, query, key>(2, {0, 1, 2, 3, 4, 5});
  const auto total = [](double a, double b, double c, double sink) {
    return std::exp(a) + std::exp(b) + std::exp(c) + std::exp(sink);
  };
  const double first = total(0, 1, 2, 1.5), second = total(3, 4, 5, 1.5), other = total(3, 4, 5, 7);
  check(softmax<key>(x, 1.5),
        {1 / first, std::exp(1) / first, std::exp(2) / first, std::exp(3) / second, std::exp(4) / second,
         std::exp(5) / second},
        1e-6);
  check(log_sum_exp<key>(x, 1.5), {std::log(first), std::log(second)}, 1e-6);
  const auto sink = row<float, query>({1.5, 7});
  check(softmax<key>(x, sink),
        {1 / first, std::exp(1) / first, std::exp(2) / first, std::exp(3) / other, std::exp(4) / other,
         std::exp(5) / other},
        1e-6);
  check(log_sum_exp<key>(x, sink), {std::log(first), std::log(other)}, 1e-6);
  check(log_sum_exp<key>(x, sink * 2 - sink), {std::log(first), std::log(other)}, 1e-6);  // an expression
  const auto plain = evaluate(softmax<key>(x));
  check(softmax<key>(x, -infinity), plain, 1e-6);
  check(softmax<key>(x, 1000), {0, 0, 0, 0, 0, 0}, 0);  // the sink takes part in the maximum
}

BOOST_AUTO_TEST_CASE(ties_and_order) {
  const auto x = table<float, query, key>(3, {1, 3, 3, 2, 5, 5, 5, 5, -1, -1, -2, -1});
  check(argmax<key>(x), {1, 0, 0}, 0);  // the lowest
  check(cumsum<key>(x), {1, 4, 7, 9, 5, 10, 15, 20, -1, -2, -4, -5}, 1e-6);
  check(cumsum<query>(x), {1, 3, 3, 2, 6, 8, 8, 7, 5, 7, 6, 6}, 1e-6);
  const auto integers = row<std::int64_t, key>({3, -1, 4, 1});
  check(cumsum<key>(integers), {3, 2, 6, 7}, 0);
  check(sum<key>(integers), {7}, 0);
  check(max<key>(integers), {4}, 0);
  check(argmax<key>(integers), {2}, 0);
}

BOOST_AUTO_TEST_CASE(large_and_small_numbers) {
  const auto x = table<float, query, key>(3, {1e30, 1e30, -1e30, -1e30, 88, 89});
  check(softmax<key>(x), {0.5, 0.5, 0.5, 0.5, 1 / (1 + std::exp(1)), 1 / (1 + std::exp(-1))}, 1e-6);
  check(log_sum_exp<key>(x), {1e30, -1e30, 89 + std::log(1 + std::exp(-1))}, 1e-6);
  const auto wide = table<double, query, key>(1, {-700, 700});
  check(log_sum_exp<key>(wide), {700}, 1e-14);
}

BOOST_AUTO_TEST_CASE(rows_of_no_element) {
  const tensor<float, query, key> x{query{2}, key{0}};
  check(sum<key>(x), {0, 0}, 0);
  check(max<key>(x), {-infinity, -infinity}, 0);
  check(log_sum_exp<key>(x), {-infinity, -infinity}, 0);
  check(log_sum_exp<key>(x, 2), {2, 2}, 1e-6);
  check(softmax<key>(x), std::vector<double>{}, 0);
}

BOOST_AUTO_TEST_CASE(an_axis_that_was_reduced_may_come_again_with_another_extent) {
  const auto three = row<float, key>({1, 5, 2}), five = row<float, key>({1, 2, 3, 4, 5});
  check(max<key>(three) * five, {5, 10, 15, 20, 25}, 0);
  check(five + dot<key>(three, three), {31, 32, 33, 34, 35}, 0);
  check(sum<key>(where(index<key>() >= 3, mean<key>(three * 3) * five)), {72}, 1e-4);
  check(dot<key>(softmax<key>(five * 0 + sum<key>(three)), five), {3}, 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
