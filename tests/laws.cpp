// SPDX-License-Identifier: BSL-1.0
// In: random tensors. Out: the laws of attention, which hold whatever the numbers are: rows of weights sum to one,
// groups of one head are plain heads, steps through a cache are rows of the whole, padding changes nothing, parts
// combine.
// Next: laws_bits.cpp, the laws that hold to the last bit.
#include "support/schedules.hpp"

#include <cmath>

using namespace heed;
using namespace test;

namespace {

constexpr double bound = 1e-5;  // of fused or unfused float against anything that is mathematically the same

struct tensors {
  tensor<float, batch, head, query, d_head> q;
  tensor<float, batch, head, key, d_head> k, v;
  tensors(int batches, int heads, int queries, int keys, int width)
      : q(normal<float, batch, head, query, d_head>(1, batch{batches}, head{heads}, query{queries}, d_head{width})),
        k(normal<float, batch, head, key, d_head>(2, batch{batches}, head{heads}, key{keys}, d_head{width})),
        v(normal<float, batch, head, key, d_head>(3, batch{batches}, head{heads}, key{keys}, d_head{width})) {}
};

template <class Q, class K> auto scores_of(const Q& q, const K& k) {
  return dot<d_head>(q, k) / std::sqrt(static_cast<double>(q.template extent<d_head>()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws)

BOOST_AUTO_TEST_CASE(rows_of_weights_sum_to_one) {
  for (const int keys : {1, 7, 64, 65, 200}) {
    const tensors t(2, 3, 9, keys, 24);
    const auto weights = softmax<key>(scores_of(t.q, t.k));
    for (const regime& each : regimes()) BOOST_TEST_CONTEXT(each.name() << ", keys " << keys) {
        const auto [w, total] = evaluate(each.policy(), weights, sum<key>(weights));
        BOOST_TEST(agrees(total, std::vector<double>(2 * 3 * 9, 1.0), 1e-6));
        for (const float weight : w) BOOST_TEST_REQUIRE((weight >= 0 && weight <= 1));
      }
  }
}

BOOST_AUTO_TEST_CASE(fused_is_unfused_within_the_bound) {
  const tensors t(2, 2, 70, 130, 64);
  const auto context = dot<key>(softmax<key>(where(index<key>() <= index<query>() + 60, scores_of(t.q, t.k))), t.v);
  const auto whole = evaluate(unfused, context);
  BOOST_TEST(agrees(evaluate(fused, context), whole, 2e-6));
  BOOST_TEST(agrees(evaluate(context), whole, 2e-6));  // fused is what evaluate does unasked
}

BOOST_AUTO_TEST_CASE(groups_of_one_head_are_plain_heads) {
  const tensors t(2, 4, 19, 33, 16);
  const auto q = split<head, kv_head, group>(t.q, kv_head{4}, group{1});
  const auto k = rename<head, kv_head>(t.k), v = rename<head, kv_head>(t.v);
  const auto grouped = dot<key>(softmax<key>(scores_of(q, k)), v);
  const auto plain = dot<key>(softmax<key>(scores_of(t.q, t.k)), t.v);
  for (const regime& each : regimes({1, 2})) BOOST_TEST_CONTEXT(each.name()) {
      const auto want = evaluate(each.policy(), plain);
      BOOST_TEST(agrees(evaluate(each.policy(), merge<kv_head, group, head>(grouped)), want, bound));
    }
}

BOOST_AUTO_TEST_CASE(steps_through_a_cache_are_rows_of_the_whole) {
  constexpr int length = 130, heads = 2, width = 16;
  const auto q = normal<float, head, query, d_head>(4, head{heads}, query{length}, d_head{width});
  const auto k = normal<float, head, key, d_head>(5, head{heads}, key{length}, d_head{width});
  const auto v = normal<float, head, key, d_head>(6, head{heads}, key{length}, d_head{width});
  const auto whole = evaluate(unfused, dot<key>(softmax<key>(where(causal<query, key>(), scores_of(q, k))), v));

  for (const int chunk : {1, 7, 64})
    for (const schedule how : {fused, unfused}) {
      kv_cache<float, key, head, d_head> keys{key{length}, head{heads}, d_head{width}};
      kv_cache<float, key, head, d_head> values{key{length}, head{heads}, d_head{width}};
      double worst = 0;
      for (extent_t from = 0; from < length; from += chunk) {
        const extent_t to = std::min<extent_t>(length, from + chunk);
        keys.append(slice<key>(k, from, to));
        values.append(slice<key>(v, from, to));
        BOOST_TEST(keys.length() == to);
        const auto scores = scores_of(slice<query>(q, from, to), keys.view());
        const auto step = dot<key>(softmax<key>(where(causal<query, key>(from), scores)), values.view());
        const tensor<float, head, query, d_head> got = evaluate<head, query, d_head>(how, step);
        for (extent_t h = 0; h < heads; ++h)
          for (extent_t i = from; i < to; ++i)
            for (extent_t d = 0; d < width; ++d)
              worst = std::max(worst,
                               distance(static_cast<double>(got(h, i - from, d)), static_cast<double>(whole(h, i, d))));
      }
      BOOST_TEST(worst <= bound, "chunks of " << chunk << (how == fused ? ", fused" : ", unfused") << ": " << worst);
    }
}

BOOST_AUTO_TEST_CASE(padding_is_inert) {
  const tensors t(2, 2, 13, 40, 16);
  auto padded_k = tensor<float, batch, head, key, d_head>{batch{2}, head{2}, key{64}, d_head{16}}, padded_v = padded_k;
  for (auto* padded : {&padded_k, &padded_v})
    for (float& element : *padded) element = std::numeric_limits<float>::quiet_NaN();
  evaluate_into(slice<key>(padded_k, 0, 40), t.k);
  evaluate_into(slice<key>(padded_v, 0, 40), t.v);
  tensor<int, batch> length{batch{2}};
  for (int& n : length) n = 40;

  const auto plain = dot<key>(softmax<key>(scores_of(t.q, t.k)), t.v);
  const auto padded = dot<key>(softmax<key>(where(index<key>() < length, scores_of(t.q, padded_k))), padded_v);
  for (const regime& each : regimes({1, 3})) BOOST_TEST_CONTEXT(each.name()) {
      const auto want = evaluate(each.policy(), plain);
      BOOST_TEST(agrees(evaluate(each.policy(), padded), want, bound));
    }
}

BOOST_AUTO_TEST_CASE(two_halves_combine_to_the_whole) {
  const tensors t(1, 3, 21, 90, 16);
  const auto attend = [&](extent_t from, extent_t to) {
    const auto scores = scores_of(t.q, slice<key>(t.k, from, to));
    return std::pair(dot<key>(softmax<key>(scores), slice<key>(t.v, from, to)), log_sum_exp<key>(scores));
  };
  for (const extent_t cut : {0, 1, 45, 89, 90}) {
    const auto [context_a, lse_a] = attend(0, cut);
    const auto [context_b, lse_b] = attend(cut, 90);
    const auto [context, lse] = combine(context_a, lse_a, context_b, lse_b);
    const auto [want_context, want_lse] = attend(0, 90);
    for (const regime& each : regimes({1, 2})) BOOST_TEST_CONTEXT(each.name() << ", cut at " << cut) {
        const auto [c, l] = evaluate(each.policy(), context, lse);
        const auto [want_c, want_l] = evaluate(each.policy(), want_context, want_lse);
        BOOST_TEST(agrees(c, want_c, bound));
        BOOST_TEST(agrees(l, want_l, bound));
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()
