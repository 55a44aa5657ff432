// SPDX-License-Identifier: BSL-1.0
// In: attention over two sets of keys. Out: combine merges them (an empty one is neutral, a far one vanishes), and keys
// joined by concat give the same as joined in memory.
// Next: words_gather.cpp.
#include "support/schedules.hpp"

#include <cmath>

using namespace heed;
using namespace test;

BOOST_AUTO_TEST_SUITE(words_combine)

BOOST_AUTO_TEST_CASE(combine_merges_two_sets_of_keys) {
  const auto context_a = table<float, query, d_head>(3, {1, 2, 3, 4, 5, 6});
  const auto context_b = table<float, query, d_head>(3, {10, 20, 30, 40, 50, 60});
  const auto lse_a = row<float, query>({0, std::log(3.0), -infinity}), lse_b = row<float, query>({0, 0, 2});
  const std::pair both = combine(context_a, lse_a, context_b, lse_b);
  check(both.first, {5.5, 11, 9.75, 13, 50, 60}, 1e-5);
  check(both.second, {std::log(2.0), std::log(4.0), 2}, 1e-6);
  const auto [context, lse] =
      combine(both.first, both.second, context_a * 0, row<float, query>({-infinity, -infinity, -infinity}));
  check(context, {5.5, 11, 9.75, 13, 50, 60}, 1e-5);
  check(lse, {std::log(2.0), std::log(4.0), 2}, 1e-6);
  // far apart: the larger wins, and nothing overflows
  const auto [far_context, far_lse] = combine(context_a, lse_b * 0 + 1000, context_b, lse_b * 0 - 1000);
  check(far_context, {1, 2, 3, 4, 5, 6}, 1e-6);
  check(far_lse, {1000, 1000, 1000}, 1e-6);
}

// A part that is empty for a query excludes nothing from what reads the combined context.
BOOST_AUTO_TEST_CASE(empty_parts_are_neutral_in_what_follows) {
  const auto context_a = table<float, query, d_head>(2, {1, 2, 0, 0});
  const auto context_b = table<float, query, d_head>(2, {0, 0, 30, 40});
  const auto lse_a = row<float, query>({1, -infinity}), lse_b = row<float, query>({-infinity, 2});
  const auto [context, lse] = combine(context_a, lse_a, context_b, lse_b);
  check(sum<query>(context), {31, 42}, 1e-5);
  check(mean<query>(context), {15.5, 21}, 1e-5);
  check(max<query>(context), {30, 40}, 1e-5);
  check(sum<query>(lse), {3}, 1e-6);
  check(dot<query>(context, row<float, query>({10, 1})), {40, 60}, 1e-5);
  check(sum<query>(softmax<query>(context)), {1, 1}, 1e-6);
}

// What stands in the context of an empty part, memory never written for example, is nothing.
BOOST_AUTO_TEST_CASE(an_empty_part_brings_nothing) {
  const double nothing = std::nan("");
  const auto context_a = table<float, query, d_head>(2, {1, 2, nothing, -infinity});
  const auto context_b = table<float, query, d_head>(2, {nothing, infinity, 30, 40});
  const auto lse_a = row<float, query>({1, -infinity}), lse_b = row<float, query>({-infinity, 2});
  const auto [context, lse] = combine(context_a, lse_a, context_b, lse_b);
  check(context, {1, 2, 30, 40}, 1e-6);
  check(lse, {1, 2}, 1e-6);
}

// Scores that are in memory already.
BOOST_AUTO_TEST_CASE(context_and_log_sum_exp_of_a_tensor) {
  const auto s = normal<float, query, key>(1, query{7}, key{33}),
             other = normal<float, query, key>(3, query{7}, key{33});
  const auto v = normal<float, key, d_head>(2, key{33}, d_head{5});
  const auto want = evaluate(unfused, dot<key>(softmax<key>(s), v));
  for (const schedule how : {fused, unfused}) {
    const auto [context, lse, unrelated] =
        evaluate(policy{.schedule = how}, dot<key>(softmax<key>(s), v), log_sum_exp<key>(s), log_sum_exp<key>(other));
    check(context, want, 1e-6);
    check(lse, evaluate(log_sum_exp<key>(s)), 1e-6);
    check(unrelated, evaluate(log_sum_exp<key>(other)), 1e-6);
  }
}

// Keys of a prefix and keys of the sequence, as one softmax sees them.
BOOST_AUTO_TEST_CASE(attention_over_concatenated_keys) {
  const auto q = normal<float, query, d_head>(1, query{9}, d_head{8});
  const auto k = normal<float, key, d_head>(2, key{21}, d_head{8}),
             prefix_k = normal<float, key, d_head>(3, key{4}, d_head{8});
  const auto v = normal<float, key, d_head>(4, key{21}, d_head{8}),
             prefix_v = normal<float, key, d_head>(5, key{4}, d_head{8});
  const auto all_k = concat<key>(prefix_k, k), all_v = concat<key>(prefix_v, v);
  const auto context = dot<key>(softmax<key>(dot<d_head>(q, all_k)), all_v);
  const auto stored_k = evaluate(all_k), stored_v = evaluate(all_v);
  const auto want = evaluate(unfused, dot<key>(softmax<key>(dot<d_head>(q, stored_k)), stored_v));
  check(context, want, 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
