// SPDX-License-Identifier: BSL-1.0
// In: extents on and around the edges of vectors and tiles. Out: attention with bias, softcap, sink, ALiBi and dropout,
// alone and together, agrees with the float64 reference, fused and unfused.
// Next: random_shapes_streams.cpp, attention without a softmax.
#include "support/shapes.hpp"

using namespace heed;
using namespace test;

namespace {

constexpr double bound = 1e-5;

template <class E> void check_context(const E& context, const grid<4>& want) {
  check<batch, head, query, d_value>(context, want, bound, {2});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_shapes_edits)

BOOST_AUTO_TEST_CASE(a_bias) {
  for_random_problems(80, 11, [](const problem& p, generator& random) {
    const auto bias = normal<float, head, query, key>(random.bits(), head{p.extents.heads}, query{p.extents.queries},
                                                      key{p.extents.keys});
    const auto bias_grid = grid_of(bias);
    auto terms = p.terms();
    terms.bias = [&](auto, auto h, auto i, auto j) { return bias_grid(h, i, j); };
    check_context(dot<key>(softmax<key>(p.scores() + bias), p.values()), p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_CASE(a_bias_that_excludes_here_and_there) {
  for_random_problems(60, 12, [](const problem& p, generator& random) {
    auto bias = normal<float, batch, key>(random.bits(), batch{p.extents.batches}, key{p.extents.keys});
    for (float& element : bias)
      if (random.below(3) == 0) element = -std::numeric_limits<float>::infinity();
    const auto bias_grid = grid_of(bias);
    auto terms = p.terms();
    terms.bias = [&](auto b, auto, auto, auto j) { return bias_grid(b, j); };
    check_context(dot<key>(softmax<key>(p.scores() + bias), p.values()), p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_CASE(a_softcap) {
  for_random_problems(60, 13, [](const problem& p, generator& random) {
    const double caps[] = {0, 0.5, 3, 50, infinity};
    auto terms = p.terms();
    terms.cap = caps[random.below(5)];
    check_context(dot<key>(softmax<key>(softcap(p.scores(), terms.cap)), p.values()), p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_CASE(a_sink_of_each_head) {
  for_random_problems(60, 14, [](const problem& p, generator& random) {
    auto sink = normal<float, head>(random.bits(), head{p.extents.heads});
    if (random.below(4) == 0) sink(0) = -std::numeric_limits<float>::infinity();
    const auto sink_grid = grid_of(sink);
    auto terms = p.terms();
    terms.sink = [&](auto, auto h) { return sink_grid(h); };
    const auto want = p.attend(terms);
    const auto scores = p.scores();
    const auto context = dot<key>(softmax<key>(scores, sink), p.values());
    const auto lse = log_sum_exp<key>(scores, sink);
    for (const regime& each : regimes({2})) {
      const auto [c, l] = evaluate(each.policy(), context, lse);
      BOOST_TEST_CONTEXT(each.name()) {
        BOOST_TEST(agrees(c, want.context, bound));
        BOOST_TEST(agrees(l, want.log_sum_exp, bound));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(dropout_of_nothing_and_of_everything) {
  for_random_problems(40, 15, [](const problem& p, generator& random) {
    const auto weights = softmax<key>(p.scores());
    const auto seed = random.bits() % 1000;
    check_context(dot<key>(dropout(weights, 0.0, seed), p.values()), p.attend(p.terms()).context);
    const grid<4> nothing(p.extents.batches, p.extents.heads, p.extents.queries, p.extents.values);
    check_context(dot<key>(dropout(weights, 1.0, seed), p.values()), nothing);
  });
}

BOOST_AUTO_TEST_CASE(everything_together) {
  for_random_problems(100, 16, [](const problem& p, generator& random) {
    const std::ptrdiff_t past = random.below(80), n = 1 + random.below(100);
    const auto slopes = normal<float, head>(random.bits(), head{p.extents.heads});
    const auto sink = normal<float, head>(random.bits(), head{p.extents.heads});
    const auto length = integers<int, batch>(p.extents.keys + 1, random.bits(), batch{p.extents.batches});
    const auto slopes_grid = grid_of(slopes), sink_grid = grid_of(sink), length_grid = grid_of(length);
    auto terms = p.terms();
    terms.cap = 4;
    terms.bias = [&](auto, auto h, auto i, auto j) { return 0.1 * slopes_grid(h) * static_cast<double>(j - i - past); };
    terms.sink = [&](auto, auto h) { return sink_grid(h); };
    terms.keep = [&](auto b, auto, auto i, auto j) {
      return j <= i + past && i + past - j < n && static_cast<double>(j) < length_grid(b);
    };
    const auto scores = softcap(p.scores(), 4.0) + alibi<query, key>(slopes * 0.1, past);
    const auto keep = window<query, key>(n, past) && index<key>() < length;
    const auto context = dot<key>(softmax<key>(where(keep, scores), sink), p.values());
    static_assert(streams<decltype(context)>);
    check_context(context, p.attend(terms).context);
  });
}

BOOST_AUTO_TEST_SUITE_END()
