// SPDX-License-Identifier: BSL-1.0
// In: an expression and what it should be. Out: the comparison under fused and unfused, with several numbers of
// threads. One line of a test is thus one formula in every regime.
// Next: the tests themselves, golden_cases.cpp first.
#pragma once
#include "compare.hpp"

#include <string>
#include <utility>
#include <vector>

namespace test {

struct regime {
  heed::schedule schedule;
  int threads;
  [[nodiscard]] heed::policy policy() const { return heed::policy{.schedule = schedule, .threads = threads}; }
  [[nodiscard]] std::string name() const {
    return std::string(schedule == heed::fused ? "fused" : "unfused") + ", threads " + std::to_string(threads);
  }
};

/// The numbers of threads that every value is tried with, unless a test says why it takes others.
inline constexpr std::initializer_list<int> one_to_five = {1, 2, 3, 4, 5};

/// Both schedules, each with each number of threads; 0 is OpenMP's default.
inline std::vector<regime> regimes(std::initializer_list<int> threads = one_to_five) {
  std::vector<regime> result;
  for (const heed::schedule schedule : {heed::fused, heed::unfused})
    for (const int n : threads) result.push_back({schedule, n});
  return result;
}

/// `evaluate_as<>(policy, e)` in the expression's own order, `evaluate_as<B, A>(policy, e)` in that one.
template <class... A, class E> auto evaluate_as(const heed::policy& policy, const E& expression) {
  if constexpr (sizeof...(A) == 0)
    return heed::evaluate(policy, expression);
  else
    return heed::evaluate<A...>(policy, expression);
}

/// `check<query, d_value>(context, want, 1e-5)`: the numbers of want, in that order of axes, under every regime.
template <class... A, class E, class Want>
void check(const E& expression, const Want& want, double bound, std::initializer_list<int> threads = one_to_five) {
  for (const regime& each : regimes(threads))
    BOOST_TEST_CONTEXT(each.name()) BOOST_TEST(agrees(evaluate_as<A...>(each.policy(), expression), want, bound));
}
template <class... A, class E>
void check(const E& expression, std::initializer_list<double> want, double bound,
           std::initializer_list<int> threads = one_to_five) {
  check<A...>(expression, std::vector<double>(want), bound, threads);
}

/// The same bits for every number of threads, schedule by schedule.
template <class... A, class E> void check_same_bits_for_all_threads(const E& expression) {
  for (const heed::schedule schedule : {heed::fused, heed::unfused}) {
    const auto alone = evaluate_as<A...>(regime{schedule, 1}.policy(), expression);
    for (const int threads : {2, 3, 4, 5, 8}) {
      const regime each{schedule, threads};
      BOOST_TEST_CONTEXT(each.name()) BOOST_TEST(same_bits(evaluate_as<A...>(each.policy(), expression), alone));
    }
  }
}

/// Fused, with one thread and with three, agrees with unfused.
template <class E> void check_schedules(const E& expression, double bound) {
  const auto want = heed::evaluate(heed::policy{.schedule = heed::unfused, .threads = 2}, expression);
  for (const int threads : {1, 3}) {
    const auto got = heed::evaluate(heed::policy{.schedule = heed::fused, .threads = threads}, expression);
    BOOST_TEST(agrees(got, want, bound));
  }
}

/// The same bits of two expressions under every regime.
template <class... A, class Left, class Right>
void check_same_bits(const Left& left, const Right& right, std::initializer_list<int> threads = one_to_five) {
  for (const regime& each : regimes(threads)) BOOST_TEST_CONTEXT(each.name())
  BOOST_TEST(same_bits(evaluate_as<A...>(each.policy(), left), evaluate_as<A...>(each.policy(), right)));
}

}  // namespace test
