// SPDX-License-Identifier: BSL-1.0
// In: small inputs on which lazy and threaded code has been seen to fail: teams of other sizes than asked for,
// results over inputs, operands that are gone, branches, views by columns. Out: the right values under fused and
// unfused. Elsewhere: 55 in fail/dot.cpp, 63 in laws_bits.cpp; 56 cannot be written, since no
// axis has a number; 69 in builds.
// Next: words_axes.cpp.
#include "support/small.hpp"

#include <omp.h>

#include <numbers>
#include <utility>

using namespace heed;
using namespace test;

namespace {

auto log_sum_exp_of_locals() {
  const auto numbers = row<float, key>({-.042808, -.042504, -.043407, -.047227});
  return log_sum_exp<key>(numbers);
}

constexpr double turn = 2 * std::numbers::pi * 0.01;

/// sin^2(2 pi 0.01 n) for n = 1 to 4: the operands of both factors are gone when it is evaluated.
template <class T> auto squares_of_temporaries() {
  return sin(row<T, query>({1, 2, 3, 4}) * static_cast<T>(turn)) *
         sin(row<T, query>({1, 2, 3, 4}) * static_cast<T>(turn));
}
/// The same by a rotation: rope turns the pair (1, 0) at position n by n base^(-1/2).
template <class T> auto squares_of_turned_temporaries() {
  const auto sines = at<d_head>(rope<d_head, query>(table<T, query, d_head>(4, {0, 1, 0, 0, 0, 1, 0, 0,  //
                                                                                0, 1, 0, 0, 0, 1, 0, 0}),
                                                    rope_pairs::half, 1 / (turn * turn), 1),
                                3);
  return sines * sines;
}
/// A snake activation, x + sin^2(x).
template <class T> auto snake_of_temporaries() {
  const auto x = row<T, query>({1, 2, 3, 4}) * static_cast<T>(turn);
  return x + pow(sin(x), row<T, query>({2, 2, 2, 2}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cases_machine)

// Scratch and partial results are sized by the team that runs, whatever was asked for.
BOOST_AUTO_TEST_CASE(case_64_other_teams_than_asked_for) {
  for (const int queries : {1, 3, 70}) {
    const auto q = normal<float, head, query, d_head>(1, head{3}, query{queries}, d_head{16});
    const auto k = normal<float, head, key, d_head>(2, head{3}, key{200}, d_head{16});
    const auto v = normal<float, head, key, d_value>(3, head{3}, key{200}, d_value{16});
    const auto context = dot<key>(softmax<key>(dot<d_head>(q, k) * 0.25F), v);
    const auto heavy = dot<d_value>(silu(context), normal<float, d_value, hidden>(4, d_value{16}, hidden{33}));
    const int dynamic_before = omp_get_dynamic(), levels_before = omp_get_max_active_levels();
    for (const schedule how : {fused, unfused}) {
      const auto want = evaluate(policy{.schedule = how, .threads = 1}, context);
      const auto want_heavy = evaluate(policy{.schedule = how, .threads = 1}, heavy);
      const auto run = [&](int threads) {
        const policy p{.schedule = how, .threads = threads};
        return identical(evaluate(p, context), want) && identical(evaluate(p, heavy), want_heavy);
      };
      for (const int threads : {0, 2, 7, 8, 16, 24, 32, 48}) {
        omp_set_dynamic(0);
        BOOST_TEST(run(threads), "threads " << threads);
        omp_set_dynamic(1);
        BOOST_TEST(run(threads), "dynamic, threads " << threads);
      }
      for (const int levels : {1, 2}) {  // from inside a parallel region, without and with teams of its own
        omp_set_max_active_levels(levels);
        bool good[4] = {};
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 4; ++i) good[i] = run(1 + 3 * i);
        for (const bool one : good) BOOST_TEST(one, "nested, levels " << levels);
      }
      omp_set_max_active_levels(levels_before);
    }
    omp_set_dynamic(dynamic_before);
  }
}

// A result that stands on its input.
BOOST_AUTO_TEST_CASE(case_65_results_over_inputs) {
  for (const regime& each : regimes()) {
    auto a = row<float, key>({1, 2, 3});
    evaluate_into(each.policy(), a, a - 2 * a);
    BOOST_TEST(equals(a, {-1, -2, -3}));
  }
}

// An expression outlives the tensors it was made of.
BOOST_AUTO_TEST_CASE(case_66_operands_that_are_gone) {
  check(log_sum_exp_of_locals(), {1.342310}, 1e-6);
  const std::initializer_list<double> squares = {.003943, .015708, .035112, .061847};
  std::vector<double> exact, snake;
  for (const int n : {1, 2, 3, 4}) {
    exact.push_back(std::pow(std::sin(turn * n), 2));
    snake.push_back(turn * n + exact.back());
  }
  check(squares_of_temporaries<float>(), squares, 1e-6);
  check(squares_of_temporaries<double>(), squares, 1e-6);
  check(squares_of_temporaries<double>(), exact, 1e-15);
  check(squares_of_turned_temporaries<float>(), squares, 1e-6);
  check(squares_of_turned_temporaries<double>(), exact, 1e-13);
  check(snake_of_temporaries<float>(), snake, 1e-6);
  check(snake_of_temporaries<double>(), snake, 1e-15);
}

// A branch between an expression and its operand gives what it says.
BOOST_AUTO_TEST_CASE(case_67_branches) {
  const auto a = row<float, key>({1, 2, 3});
  for (const bool turned : {false, true}) {
    const tensor<float, key> chosen = turned ? evaluate(roll<key>(a, 1)) : a;
    if (turned)
      BOOST_TEST(equals(chosen, {3, 1, 2}));
    else
      BOOST_TEST(equals(chosen, {1, 2, 3}));
  }
}

// Working in place on a view by columns touches all elements and no others.
BOOST_AUTO_TEST_CASE(case_67_in_place_by_columns) {
  for (const regime& each : regimes()) {
    std::vector<float> numbers = {1, 2, 3, 4, 5, 6, 99};
    const view<float, query, key> columns(numbers.data(), query{2}, key{3}, strides{1, 2});
    evaluate_into(each.policy(), columns, columns * 2);
    BOOST_TEST(agree(std::vector<double>(numbers.begin(), numbers.end()), {2, 4, 6, 8, 10, 12, 99}, 0));
  }
}

struct long_side : axis<100> {};
struct short_side : axis<50> {};

// A contraction over rows; and extents in the types, which must not cost the compiler anything.
BOOST_AUTO_TEST_CASE(case_68_small_contractions) {
  const auto a = table<float, query, key>(2, {1, 2, 3, 4});
  check(dot<query>(a, row<float, query>({1, 1})), {4, 6}, 0);
  check(dot<query>(row<float, query>({1, 1}), a), {4, 6}, 0);
  tensor<float, long_side> x;
  tensor<float, short_side> y;
  for (extent_t i = 0; i < 100; ++i) x(i) = static_cast<float>(i);
  for (extent_t i = 0; i < 50; ++i) y(i) = static_cast<float>(i);
  const auto product = broadcast<short_side>(x) * y;
  for (const regime& each : regimes()) {
    const auto got = evaluate<long_side, short_side>(each.policy(), product);
    BOOST_TEST(got(99, 49) == 99 * 49);
    BOOST_TEST(got(7, 3) == 21);
  }
}

BOOST_AUTO_TEST_SUITE_END()
