// SPDX-License-Identifier: BSL-1.0
// In: random tensors. Out: the laws that hold to the last bit: one mask in four spellings, any number of threads,
// a row of a batch alone, names changed and changed back.
// Next: laws_sharing.cpp, what is evaluated once.
#include "support/schedules.hpp"

#include <cmath>

using namespace heed;
using namespace test;

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

template <class Q, class K> auto scores_of(const Q& q, const K& k) {
  return dot<d_head>(q, k) / std::sqrt(static_cast<double>(q.template extent<d_head>()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_bits)

BOOST_AUTO_TEST_CASE(one_mask_in_four_spellings) {
  for (const int n : {1, 5, 33, 100, 129}) {
    const auto q = normal<float, head, query, d_head>(1, head{2}, query{n}, d_head{24});
    const auto k = normal<float, head, key, d_head>(2, head{2}, key{n}, d_head{24});
    const auto v = normal<float, head, key, d_head>(3, head{2}, key{n}, d_head{24});
    tensor<bool, query, key> triangle{query{n}, key{n}};
    tensor<float, query, key> bias{query{n}, key{n}};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        triangle(i, j) = j <= i;
        bias(i, j) = j <= i ? 0.0F : minus_infinity;
      }
    const auto attend = [&](const auto& scores) { return dot<key>(softmax<key>(scores), v); };
    const auto flag = attend(where(causal<query, key>(), scores_of(q, k)));
    const auto predicate = attend(where(index<key>() <= index<query>(), scores_of(q, k)));
    const auto dense = attend(where(triangle, scores_of(q, k)));
    const auto additive = attend(scores_of(q, k) + bias);
    for (const regime& each : regimes({1, 3})) BOOST_TEST_CONTEXT(each.name() << ", " << n << " queries and keys") {
        const auto want = evaluate(each.policy(), flag);
        BOOST_TEST(same_bits(evaluate(each.policy(), predicate), want));
        BOOST_TEST(same_bits(evaluate(each.policy(), dense), want));
        BOOST_TEST(same_bits(evaluate(each.policy(), additive), want));
      }
  }
}

BOOST_AUTO_TEST_CASE(any_number_of_threads_and_any_companions) {
  for (const int queries : {1, 2, 17, 100}) {
    const auto q = normal<float, batch, head, query, d_head>(1, batch{5}, head{3}, query{queries}, d_head{40});
    const auto k = normal<float, batch, head, key, d_head>(2, batch{5}, head{3}, key{150}, d_head{40});
    const auto v = normal<float, batch, head, key, d_head>(3, batch{5}, head{3}, key{150}, d_head{40});
    const auto attend = [](const auto& one_q, const auto& one_k, const auto& one_v) {
      const auto keep = index<key>() <= index<query>() + 120;
      return dot<key>(softmax<key>(where(keep, scores_of(one_q, one_k))), one_v);
    };
    const auto context = attend(q, k, v);
    check_same_bits_for_all_threads(context);

    for (const regime& each : regimes({1, 3})) {
      const auto together = evaluate(each.policy(), context);
      for (const extent_t b : {0, 3, 4}) {
        const auto alone = evaluate(
            each.policy(), attend(slice<batch>(q, b, b + 1), slice<batch>(k, b, b + 1), slice<batch>(v, b, b + 1)));
        const auto row = evaluate(slice<batch>(together, b, b + 1));
        BOOST_TEST_CONTEXT(each.name() << ", row " << b << ", queries " << queries) BOOST_TEST(same_bits(alone, row));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(projections_do_not_see_their_companions) {
  const auto x = normal<float, batch, query, model>(1, batch{7}, query{11}, model{48});
  const auto w = normal<float, model, hidden>(2, model{48}, hidden{40});
  const auto project = [&](const auto& rows) { return silu(dot<model>(rows, w)); };
  check_same_bits_for_all_threads(project(x));
  for (const regime& each : regimes({1, 3})) {
    const auto together = evaluate(each.policy(), project(x));
    for (extent_t b = 0; b < 7; ++b) {
      const auto alone = evaluate(each.policy(), project(slice<batch>(x, b, b + 1)));
      const auto row = evaluate(slice<batch>(together, b, b + 1));
      BOOST_TEST_CONTEXT(each.name() << ", row " << b) BOOST_TEST(same_bits(alone, row));
    }
    for (const extent_t i : {0, 5, 10}) {  // a contraction cannot tell batch from query
      const auto alone = evaluate(each.policy(), project(slice<query>(x, i, i + 1)));
      const auto row = evaluate(slice<query>(together, i, i + 1));
      BOOST_TEST_CONTEXT(each.name() << ", query " << i) BOOST_TEST(same_bits(alone, row));
    }
  }
}

BOOST_AUTO_TEST_CASE(split_and_merge_undo_each_other) {
  const auto x = normal<float, query, model>(1, query{9}, model{24});
  const auto parts = split<model, head, d_head>(x, head{3}, d_head{8});
  const auto heads = normal<float, query, head, d_head>(2, query{9}, head{3}, d_head{8});
  const auto whole = merge<head, d_head, model>(heads);
  for (const regime& each : regimes({1, 2})) BOOST_TEST_CONTEXT(each.name()) {
      BOOST_TEST(same_bits(evaluate(each.policy(), merge<head, d_head, model>(parts)), x));
      const auto there_and_back = split<model, head, d_head>(whole, head{3}, d_head{8});
      BOOST_TEST(same_bits(evaluate(each.policy(), there_and_back), heads));
    }
}

// Scratch memory is handed on as it is: what an evaluation before left there must not show, not even in the last bit.
BOOST_AUTO_TEST_CASE(what_the_workspace_held_before) {
  const auto large = normal<float, head, query, d_head>(7, head{2}, query{80}, d_head{24});
  const auto huge =
      dot<key>(softmax<key>(dot<d_head>(large, rename<query, key>(large)) * 1e30F), rename<query, key>(large));
  for (const int n : {17, 20, 29})
    for (const int past : {0, 40, 90}) {
      const auto q = normal<float, head, query, d_head>(1, head{2}, query{n}, d_head{16});
      const auto k = normal<float, head, key, d_head>(2, head{2}, key{120}, d_head{16});
      const auto v = normal<float, head, key, d_head>(3, head{2}, key{120}, d_head{16});
      tensor<float, query, key> bias{query{n}, key{120}};
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < 120; ++j) bias(i, j) = j <= i + past && i + past - j < 9 ? 0.0F : minus_infinity;
      const auto by_bias = dot<key>(softmax<key>(scores_of(q, k) + bias), v);
      const auto by_window = dot<key>(softmax<key>(where(window<query, key>(9, past), scores_of(q, k))), v);
      const auto want = evaluate(policy{.threads = 1}, by_window);
      workspace memory;
      const policy reused{.threads = 1, .memory = &memory};
      (void)evaluate(reused, huge);
      BOOST_TEST_CONTEXT(n << " queries, past " << past) {
        BOOST_TEST(same_bits(evaluate(reused, by_bias), want));
        (void)evaluate(reused, huge);
        BOOST_TEST(same_bits(evaluate(reused, by_window), want));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
