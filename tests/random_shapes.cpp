// SPDX-License-Identifier: BSL-1.0
// In: extents on and around the edges of vectors and tiles (0, 1, 2, 3, 5, ..., 128, 129). Out: plain attention, masked
// attention and grouped attention agree with the float64 reference at each of them, fused and unfused.
// Next: random_shapes_edits.cpp, the same for bias, softcap, sink and dropout.
#include "support/shapes.hpp"

using namespace heed;
using namespace test;

namespace {

constexpr double bound = 1e-5;

template <class E> void check_context(const E& context, const grid<4>& want) {
  check<batch, head, query, d_value>(context, want, bound, {2});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_shapes)

// Every pair of extents, each with one width.
BOOST_AUTO_TEST_CASE(plain_attention_of_every_pair_of_extents) {
  std::size_t turn = 0;
  for (const int queries : sequence_extents)
    for (const int keys : sequence_extents) {
      const int width = width_extents[turn++ % std::size(width_extents)];
      const problem p({1, 2, 2, queries, keys, width, width}, turn);
      const auto want = p.attend(p.terms());
      const auto scores = p.scores();
      const auto context = dot<key>(softmax<key>(scores), p.values());
      const auto lse = log_sum_exp<key>(scores);
      static_assert(streams<decltype(context)>);
      for (const regime& each : regimes({1, 2})) BOOST_TEST_CONTEXT(each.name() << ": " << p.extents.name()) {
          const auto [c, l] = evaluate(each.policy(), context, lse);
          BOOST_TEST(agrees(c, want.context, bound));
          BOOST_TEST(agrees(l, want.log_sum_exp, bound));
        }
    }
}

BOOST_AUTO_TEST_CASE(plain_attention_of_every_width) {
  for (const int width : width_extents)
    for (const int values : width_extents) {
      const problem p({2, 1, 1, 19, 37, width, values}, static_cast<std::uint64_t>(100 * width + values));
      BOOST_TEST_CONTEXT(p.extents.name())
      check_context(dot<key>(softmax<key>(p.scores()), p.values()), p.attend(p.terms()).context);
    }
}

BOOST_AUTO_TEST_CASE(causal_attention_with_a_past) {
  for_random_problems(120, 1, [](const problem& p, generator& random) {
    const std::ptrdiff_t past = random.below(80) - 20;  // a negative past leaves rows without a key
    auto terms = p.terms();
    terms.keep = [&](auto, auto, auto i, auto j) { return j <= i + past; };
    const auto weights = softmax<key>(where(causal<query, key>(past), p.scores()));
    check_context(dot<key>(weights, p.values()), p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_CASE(causal_attention_with_a_past_per_batch) {
  for_random_problems(60, 2, [](const problem& p, generator& random) {
    const auto past = integers<std::int64_t, batch>(100, random.bits(), batch{p.extents.batches});
    const auto past_grid = grid_of(past);
    auto terms = p.terms();
    terms.keep = [&](auto b, auto, auto i, auto j) { return static_cast<double>(j - i) <= past_grid(b); };
    const auto weights = softmax<key>(where(causal<query, key>(past), p.scores()));
    check_context(dot<key>(weights, p.values()), p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_CASE(windows) {
  for_random_problems(120, 3, [](const problem& p, generator& random) {
    const std::ptrdiff_t past = random.below(60), n = random.below(40);
    auto terms = p.terms();
    terms.keep = [&](auto, auto, auto i, auto j) { return j <= i + past && i + past - j < n; };
    const auto weights = softmax<key>(where(window<query, key>(n, past), p.scores()));
    check_context(dot<key>(weights, p.values()), p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_CASE(lengths_and_dense_masks) {
  for_random_problems(80, 4, [](const problem& p, generator& random) {
    const auto& [batches, heads, kv_heads, queries, keys, width, values] = p.extents;
    const auto length = integers<int, batch>(keys + 1, random.bits(), batch{batches});
    const auto holes = integers<bool, query, key>(2, random.bits(), query{queries}, key{keys});
    const auto length_grid = grid_of(length);
    const auto holes_grid = grid_of(holes);
    auto terms = p.terms();
    terms.keep = [&](auto b, auto, auto i, auto j) {
      return static_cast<double>(j) < length_grid(b) && holes_grid(i, j) != 0;
    };
    const auto weights = softmax<key>(where(index<key>() < length && holes, p.scores()));
    check_context(dot<key>(weights, p.values()), p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_CASE(grouped_queries) {
  for_random_problems(
      80, 5,
      [](const problem& p, generator& random) {
        const std::ptrdiff_t past = random.below(140);
        auto terms = p.terms();
        terms.keep = [&](auto, auto, auto i, auto j) { return j <= i + past; };
        const auto q =
            split<head, kv_head, group>(p.q, kv_head{p.extents.kv_heads}, group{p.extents.heads / p.extents.kv_heads});
        const auto weights = softmax<key>(where(causal<query, key>(past), dot<d_head>(q, p.k) * p.scale));
        const auto context = dot<key>(weights, p.v);
        static_assert(streams<decltype(context)>);
        check<batch, kv_head, group, query, d_value>(context, p.attend(terms).context, bound, {1, 3});
      },
      true);
}

BOOST_AUTO_TEST_SUITE_END()
