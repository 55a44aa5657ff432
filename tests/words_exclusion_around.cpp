// SPDX-License-Identifier: BSL-1.0
// In: exclusion in odd places: around softmax, on values and queries, below edits of weights, in differences. Out: both
// schedules give the meaning, NaN behind a mask never shows, and streams<E> tells what is stored.
// Next: words_exclusion.cpp, exclusion where it usually stands.
#include <heed/heed.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<> {};

using namespace heed;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

/// Four keys whose scores are all 0, of which a mask keeps two; values 1, or NaN where the mask excludes.
struct four_keys {
  tensor<float, query, d_head> q{query{1}, d_head{1}};
  tensor<float, key, d_head> k{key{4}, d_head{1}};
  tensor<float, key> ones{key{4}}, poisoned{key{4}}, bias{key{4}};
  four_keys() {
    for (int i = 0; i < 4; ++i) {
      ones(i) = 1;
      poisoned(i) = i < 2 ? 1 : not_a_number;
      bias(i) = i < 2 ? 0 : -infinite;
    }
  }
  auto scores() const { return dot<d_head>(q, k); }
  auto kept() const { return index<key>() < 2; }
  auto weights() const { return softmax<key>(where(kept(), scores())); }  // 1/2, 1/2, 0, 0
};

template <class E> void check(E const& e, float right) {
  for (schedule each : {fused, unfused}) {
    float const got = evaluate(each, e)(0);
    BOOST_TEST((got == right || std::abs(got - right) < 1e-6f), got << " instead of " << right);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_exclusion_around)

BOOST_AUTO_TEST_CASE(around_softmax) {
  const four_keys f;
  check(dot<key>(where(f.kept(), softmax<key>(f.scores())), f.ones), 0.5f);
  check(dot<key>(where(f.kept(), softmax<key>(f.scores()) * 2) - softmax<key>(f.scores()), f.ones), 0.5f);
}

BOOST_AUTO_TEST_CASE(on_values_and_queries) {
  const four_keys f;
  check(dot<key>(softmax<key>(f.scores()), slice<key>(where(f.kept(), f.ones), 0, 4)), 0.5f);
  check(dot<key>(softmax<key>(f.scores()), slice<key>(where(f.kept(), f.poisoned), 0, 4)), 0.5f);
  tensor<float, key, d_head> poisoned_keys{key{4}, d_head{1}};
  for (float& x : poisoned_keys) x = not_a_number;
  const auto masked = dot<d_head>(where(index<d_head>() < 0, f.q), poisoned_keys);
  check(dot<key>(softmax<key>(masked), f.ones), 1);
}

BOOST_AUTO_TEST_CASE(edited_weights_keep_their_zeros) {
  const four_keys f;
  const auto w = f.weights();
  check(dot<key>(w / 2, f.poisoned), 0.5f);
  check(dot<key>(-w, f.poisoned), -1);
  check(dot<key>(dropout(w, 0, 1), f.poisoned), 1);
  check(dot<key>(w - 0.5f * f.weights(), f.poisoned), 0.5f);
  check(dot<key>(let(w), f.poisoned), 1);
  check(dot<key>(w * w, f.poisoned), 0.5f);
  // where over weights excludes beside their zeros
  check(dot<key>(where(index<key>() != 1, w), f.poisoned), 0.5f);
  check(dot<key>(where(index<key>() != 1, w * 4) * 0.5f, f.poisoned), 1);
  check(dot<key>(where(index<key>() != 1, w) - w / 2, f.poisoned), 0.25f);
  const auto [context, weights] = evaluate(dot<key>(w * 2, f.poisoned), w);
  BOOST_TEST(std::abs(context(0) - 2) < 1e-6f);
  BOOST_TEST(weights(0, 2) == 0);
}

BOOST_AUTO_TEST_CASE(signs_of_infinite_terms) {
  const four_keys f;
  tensor<float, query, key> zeros{query{1}, key{4}};
  tensor<float, key> opposite{key{4}};
  for (int i = 0; i < 4; ++i) opposite(i) = -f.bias(i);
  check(max<key>(zeros - f.bias), infinite);  // 0 - (-infinity) is a number
  check(sum<key>(zeros - opposite), 0);       // -(+infinity) excludes
  check(sum<key>(zeros + f.bias), 0);
}

BOOST_AUTO_TEST_CASE(what_is_stored_does_not_stream) {
  const four_keys f;
  const auto gate = dot<key>(softmax<key>(f.scores()) * sigmoid(f.scores()), f.ones);
  const auto condition = dot<key>(softmax<key>(where(f.scores() > -1, f.scores())), f.ones);
  static_assert(!streams<decltype(gate)> && !streams<decltype(condition)>);
  static_assert(streams<decltype(dot<key>(f.weights() / 2, f.ones))>);
  check(gate, 0.5f);
  check(condition, 1);
  BOOST_CHECK_THROW((void)evaluate(policy{.store_limit = 0}, gate), shape_error);
}

BOOST_AUTO_TEST_SUITE_END()
