// SPDX-License-Identifier: BSL-1.0
// In: extents on and around the edges of vectors and tiles. Out: streamed reductions that are not softmax
// attention agree with plain loops: sigmoid and squared-relu attention, decay, sums, maxima and log-sum-exps over
// keys, differences.
// Next: random_shapes_long.cpp.
#include "support/shapes.hpp"

using namespace heed;
using namespace test;

namespace {

/// sum over the kept keys of weight(score, i, j) v_j, with score the scaled dot of q and k.
template <class Weight, class Keep> grid<4> linear_attention(const problem& p, Weight weight, Keep keep) {
  const auto& [batches, heads, kv_heads, queries, keys, width, values] = p.extents;
  grid<4> result(batches, heads, queries, values);
  for (std::ptrdiff_t b = 0; b < batches; ++b)
    for (std::ptrdiff_t h = 0; h < heads; ++h)
      for (std::ptrdiff_t i = 0; i < queries; ++i)
        for (std::ptrdiff_t j = 0; j < keys; ++j) {
          if (!keep(i, j)) continue;
          double score = 0;
          for (std::ptrdiff_t d = 0; d < width; ++d) score += p.q_grid(b, h, i, d) * p.k_grid(b, h, j, d);
          const double factor = weight(score * p.scale, i, j);
          for (std::ptrdiff_t d = 0; d < values; ++d) result(b, h, i, d) += factor * p.v_grid(b, h, j, d);
        }
  return result;
}
constexpr auto always = [](auto, auto) { return true; };

template <class E> void check_context(const E& context, const grid<4>& want) {
  static_assert(streams<E>);
  check<batch, head, query, d_value>(context, want, 1e-5, {2});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_shapes_streams)

BOOST_AUTO_TEST_CASE(sigmoid_attention) {
  for_random_problems(60, 21, [](const problem& p, generator&) {
    const auto want = linear_attention(
        p, [](double s, auto, auto) { return reference::sigmoid(s - 3); }, always);
    check_context(dot<key>(sigmoid(p.scores() - 3.0F), p.values()), want);
  });
}

BOOST_AUTO_TEST_CASE(squared_relu_attention_under_a_mask) {
  for_random_problems(60, 22, [](const problem& p, generator& random) {
    const std::ptrdiff_t past = random.below(60);
    const auto want = linear_attention(
        p, [](double s, auto, auto) { return std::max(0.0, s) * std::max(0.0, s) / 8; },
        [&](auto i, auto j) { return j <= i + past; });
    const auto positive = relu(where(causal<query, key>(past), p.scores()));
    check_context(dot<key>(positive * positive / 8.0, p.values()), want);
  });
}

BOOST_AUTO_TEST_CASE(retention_with_decay) {
  for_random_problems(60, 23, [](const problem& p, generator& random) {
    const std::ptrdiff_t past = random.below(60);
    const auto want = linear_attention(
        p, [&](double s, auto i, auto j) { return s * std::exp(-0.25 * static_cast<double>(i + past - j)); },
        [&](auto i, auto j) { return j <= i + past; });
    const auto decay = exp(cast<float>(index<key>() - index<query>() - past) * 0.25F);
    check_context(dot<key>(where(causal<query, key>(past), p.scores() * decay), p.values()), want);
  });
}

BOOST_AUTO_TEST_CASE(sums_maxima_and_log_sum_exps) {
  for_random_problems(80, 24, [](const problem& p, generator& random) {
    const std::ptrdiff_t past = random.below(60) - 5;
    const auto& [batches, heads, kv_heads, queries, keys, width, values] = p.extents;
    grid<3> want_sum(batches, heads, queries), want_max = want_sum, want_lse = want_sum;
    want_max.assign([](auto...) { return -infinity; });
    for (std::ptrdiff_t b = 0; b < batches; ++b)
      for (std::ptrdiff_t h = 0; h < heads; ++h)
        for (std::ptrdiff_t i = 0; i < queries; ++i) {
          double exponentials = 0;
          for (std::ptrdiff_t j = 0; j < keys && j <= i + past; ++j) {
            double score = 0;
            for (std::ptrdiff_t d = 0; d < width; ++d) score += p.q_grid(b, h, i, d) * p.k_grid(b, h, j, d);
            score *= p.scale;
            want_sum(b, h, i) += score / 16;
            want_max(b, h, i) = std::max(want_max(b, h, i), score);
            exponentials += std::exp(score);
          }
          want_lse(b, h, i) = std::log(exponentials);
        }
    const auto scores = where(causal<query, key>(past), p.scores());
    check<batch, head, query>(sum<key>(scores / 16.0), want_sum, 1e-5, {2});
    check<batch, head, query>(max<key>(scores), want_max, 1e-5, {2});
    check<batch, head, query>(log_sum_exp<key>(scores), want_lse, 1e-5, {2});
    static_assert(streams<decltype(sum<key>(scores / 16.0))>);
    static_assert(streams<decltype(max<key>(scores))>);
    static_assert(streams<decltype(log_sum_exp<key>(scores))>);
  });
}

// Two softmaxes over the same values, one subtracted from the other.
BOOST_AUTO_TEST_CASE(differential_attention) {
  for_random_problems(40, 25, [](const problem& p, generator& random) {
    const problem other(p.extents, random.bits() % 1000);
    const auto first = p.attend(p.terms()).context;
    const auto second = reference::attention(other.q_grid, other.k_grid, p.v_grid, p.terms()).context;
    grid<4> want = first;
    for (std::size_t i = 0; i < want.numbers.size(); ++i) want.numbers[i] -= 0.3 * second.numbers[i];
    check_context(dot<key>(softmax<key>(p.scores()) - 0.3F * softmax<key>(other.scores()), p.values()), want);
  });
}

BOOST_AUTO_TEST_SUITE_END()
