// SPDX-License-Identifier: BSL-1.0
// In: values and tables that exclude for themselves, beside weights that are NaN, infinite or dropped. Out: both schedules skip
// what is excluded and nothing else, in every regime, and streams<E> tells where that ends streaming.
// Next: words_exclusion_around.cpp, exclusion below and around a softmax.
#include <heed/heed.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct part : heed::axis<> {};
struct model : heed::axis<> {};
struct d_head : heed::axis<> {};
struct value_width : heed::axis<> {};

using namespace heed;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

/// Queries of which every second has NaN for all its scores, every fourth scores too large for an exponential; values 1, NaN in
/// every third key.
struct rows {
  extent_t queries, keys, width;
  tensor<float, query, d_head> q{query{queries}, d_head{2}};
  tensor<float, key, d_head> k{key{keys}, d_head{2}};
  tensor<float, key, value_width> v{key{keys}, value_width{width}};
  rows(extent_t n, extent_t m, extent_t w) : queries(n), keys(m), width(w) {
    for (extent_t i = 0; i < n; ++i) q(i, 0) = i % 2 == 0 ? not_a_number : i % 4 == 1 ? 1e4f : 0;
    for (extent_t j = 0; j < m; ++j) {
      k(j, 0) = 1;
      for (extent_t x = 0; x < w; ++x) v(j, x) = j % 3 == 2 ? not_a_number : 1;
    }
  }
  auto scores() const { return dot<d_head>(q, k); }
  template <class E, class Right> void check(E const& e, Right right) const {
    for (schedule each : {fused, unfused}) {
      const auto got = evaluate<query, value_width>(each, e);
      for (extent_t i = 0; i < queries; ++i)
        for (extent_t x = 0; x < width; ++x) {
          float const wanted = right(i, x), is = got(i, x);
          bool const agrees = wanted != wanted ? is != is : is == wanted || std::abs(is - wanted) < 1e-4f * wanted;
          BOOST_TEST(agrees, "row " << i << " of " << queries << " x " << keys << ", column " << x << ": " << is
                                    << " instead of " << wanted);
        }
    }
  }
};
template <class Check> void in_every_regime(Check check) {
  for (auto [n, m, w] : {std::tuple{1, 4, 1}, {3, 70, 5}, {5, 9000, 3}, {40, 71, 3}, {70, 300, 20}})
    check(rows(n, m, w));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_exclusion_values)

BOOST_AUTO_TEST_CASE(no_key_is_left) {
  in_every_regime([](rows const& r) {
    const auto nothing = where(index<key>() < 0, r.v);
    const auto context = dot<key>(softmax<key>(r.scores()), nothing);
    const auto plain = dot<key>(nothing, exp(r.scores()));
    static_assert(streams<decltype(context)> && streams<decltype(plain)>);
    r.check(context, [](extent_t, extent_t) { return 0.F; });
    r.check(plain, [](extent_t, extent_t) { return 0.F; });
  });
}
BOOST_AUTO_TEST_CASE(some_keys_are_left) {
  in_every_regime([](rows const& r) {
    const auto kept = index<key>() % 3 != 2;                     // behind the others lie values of NaN
    const auto share = static_cast<float>(r.keys - r.keys / 3);  // two of three
    r.check(dot<key>(softmax<key>(r.scores()), where(kept, r.v)),
            [&](extent_t i, extent_t) { return i % 2 == 0 ? not_a_number : share / static_cast<float>(r.keys); });
    r.check(dot<key>(exp(r.scores()), 2 * where(kept, r.v)), [&](extent_t i, extent_t) {
      return i % 2 == 0 ? not_a_number : i % 4 == 1 ? infinite : 2 * share;
    });
    r.check(dot<key>(softmax<key>(r.scores()) - exp(r.scores()) * 0, where(kept, r.v)),
            [&](extent_t i, extent_t) { return i % 4 != 3 ? not_a_number : share / static_cast<float>(r.keys); });
    // one of them where the queries say so
    r.check(dot<key>(softmax<key>(r.scores()),
                     where(kept && index<key>() == index<query>() % 2, broadcast<query>(r.v, query{r.queries}))),
            [&](extent_t i, extent_t) { return i % 2 == 0 ? not_a_number : 1 / static_cast<float>(r.keys); });
  });
}
/// A tile of weights has no columns of values: such weights are stored.
BOOST_AUTO_TEST_CASE(columns_have_keys_of_their_own) {
  in_every_regime([](rows const& r) {
    const auto columns = where(index<value_width>() % 2 == 0 && index<key>() < 1, r.v);
    const auto context = dot<key>(softmax<key>(r.scores()), columns);
    static_assert(!streams<decltype(context)>);
    r.check(context, [&](extent_t i, extent_t x) {
      return x % 2 == 1 ? 0.F : i % 2 == 0 ? not_a_number : 1 / static_cast<float>(r.keys);
    });
    r.check(dot<key>(exp(r.scores()), columns), [&](extent_t i, extent_t x) {
      return x % 2 == 1 ? 0.F : i % 2 == 0 ? not_a_number : i % 4 == 1 ? infinite : 1;
    });
  });
}
/// Scores that do not stream for it keep their marks: a term of -infinity excludes.
BOOST_AUTO_TEST_CASE(columns_beside_a_bias_that_excludes) {
  in_every_regime([](rows const& r) {
    const auto bias = where(index<key>() == 0, -infinite, 0.f);
    const auto columns = where(index<value_width>() % 2 == 0 && index<key>() < 2, r.v);
    r.check(dot<key>(3 + tanh(r.scores() * 0.f + bias), columns), [&](extent_t i, extent_t x) {
      return x % 2 == 1 || r.keys < 2 ? 0 : i % 2 == 0 ? not_a_number : 3.F;
    });
  });
}
/// Of two operands that could stream, the one that excludes is the weights, wherever it stands; projected values are no scores.
BOOST_AUTO_TEST_CASE(projected_values_before_their_weights) {
  in_every_regime([](rows const& r) {
    tensor<float, key, model> x{key{r.keys}, model{3}};
    tensor<float, model, value_width> w{model{3}, value_width{r.width}};
    for (extent_t j = 0; j < r.keys; ++j)
      for (extent_t c = 0; c < 3; ++c) x(j, c) = j % 3 == 2 ? not_a_number : 1;
    for (float& each : w) each = 1;
    const auto weights = sigmoid(where(index<key>() % 3 != 2, r.scores()));
    const auto context = dot<key>(dot<model>(x, w), weights);
    static_assert(streams<decltype(context)>);
    const auto share = static_cast<float>(r.keys - r.keys / 3);  // two of three
    r.check(context, [&](extent_t i, extent_t) {
      return i % 2 == 0 ? not_a_number : i % 4 == 1 ? 3 * share : 1.5f * share;
    });
  });
}
/// Dropped weights are 0, those of a row of NaN as well; a single one that is not makes the row NaN.
BOOST_AUTO_TEST_CASE(weights_that_are_all_dropped) {
  in_every_regime([](rows const& r) {
    tensor<float, key, value_width> v{key{r.keys}, value_width{r.width}};
    for (float& each : v) each = 1;
    const auto weights = softmax<key>(r.scores());
    for (const float sink : {-infinite, 0.f}) {
      const auto beside = softmax<key>(r.scores(), sink);
      r.check(dot<key>(2 * dropout(beside, 1, 3), v), [](extent_t, extent_t) { return 0.F; });
    }
    r.check(dot<key>(where(index<key>() < 2, -dropout(weights, 1, 3)), v), [](extent_t, extent_t) { return 0.F; });
    const auto half = dropout(where(index<key>() < 3, weights), 0.5, 7);
    const auto stored = evaluate<query, key>(half);
    r.check(dot<key>(half, v), [&](extent_t i, extent_t) {
      float sum = 0;
      for (extent_t j = 0; j < std::min<extent_t>(3, r.keys); ++j) sum += stored(i, j);
      return sum;
    });
  });
}
BOOST_AUTO_TEST_CASE(elements_of_a_table_that_excludes) {
  tensor<float, key> x{key{8}};
  tensor<int, part> ids{part{2}};
  for (extent_t j = 0; j < 8; ++j) x(j) = static_cast<float>(j + 1);
  ids(0) = 1, ids(1) = 6;
  const auto kept = where(index<key>() < 5, x);  // the extent of this condition is x's
  const auto check = [&](auto const& e, float right) {
    for (schedule each : {fused, unfused}) {
      const auto got = evaluate(each, e);
      BOOST_TEST(got(0) == right, boost::test_tools::tolerance(1e-6f));
      BOOST_TEST(got(1) == -infinite);
      const auto weights = evaluate(each, softmax<part>(e));
      BOOST_TEST(weights(0) == 1);
      BOOST_TEST(weights(1) == 0);
    }
  };
  check(take<key>(kept, ids), 2);
  check(take<key>(let(kept), ids), 2);
  check(take<key>(2 * exp(kept), ids), 2 * std::exp(2.f));
  check(take<key>(where(index<key>() % 2 == 1, sqrt(kept)), ids), std::sqrt(2.f));
  check(take<key>(roll<key>(kept, 1), ids), 1);
  check(take<key>(concat<key>(kept, x), ids), 2);
  check(take<key>(dropout(kept, 0, 1), ids), 2);
  check(take<key>(slice<key>(kept, 0, 7), ids), 2);
  check(2 * take<key>(where(!(index<key>() > 4), x), (index<part>() * 7 + ids) % 8) + cast<float>(ids), 5);
}

/// A condition does not hold where it is excluded, and an element that is taken by an excluded id is excluded.
BOOST_AUTO_TEST_CASE(conditions_and_ids_that_are_excluded) {
  for (const auto& [n, m] : {std::pair<extent_t, extent_t>{2, 5}, {40, 70}, {70, 300}}) {
    tensor<float, query, d_head> q{query{n}, d_head{2}};
    tensor<float, key, d_head> k{key{m}, d_head{2}};
    tensor<float, key, value_width> v{key{m}, value_width{2}};
    tensor<float, query, key> numbers{query{n}, key{m}};
    for (float& each : numbers) each = 1;
    for (extent_t j = 0; j < m; ++j)
      for (extent_t x = 0; x < 2; ++x) v(j, x) = j % 2 == 0 ? 1 : not_a_number;
    const auto even = where(index<key>() % 2 == 0, exp(numbers));
    const auto scores = dot<d_head>(q, k);
    const auto context = dot<key>(softmax<key>(where(even > 2, scores)), v);
    static_assert(streams<decltype(context)>);
    const auto kept = (m + 1) / 2;
    for (schedule how : {fused, unfused}) {
      for (float each : evaluate(how, context)) BOOST_TEST(std::abs(each - 1) < 1e-5f);
      for (float each : evaluate(how, dot<key>(where(even > 2, softmax<key>(scores)), v)))
        BOOST_TEST(std::abs(each - static_cast<float>(kept) / static_cast<float>(m)) < 1e-5f);
      for (float each : evaluate(how, sum<key>(where(even > 2, numbers)))) BOOST_TEST(each == static_cast<float>(kept));
      for (float each : evaluate(how, sum<key>(concat<key>(where(even > 2, numbers), numbers))))
        BOOST_TEST(each == static_cast<float>(kept + m));
      for (float each : evaluate(how, sum<key>(concat<key>(numbers, even * 0 + 1))))
        BOOST_TEST(each == static_cast<float>(kept + m));
      const auto places = cast<int>(where(index<key>() % 2 == 0, numbers));
      for (float each : evaluate(how, sum<key>(take<value_width>(v + 1, rename<query, part>(places)))))
        BOOST_TEST(each == static_cast<float>(2 * kept));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
