// SPDX-License-Identifier: BSL-1.0
// In: sequences of hundreds of keys, longer than any block, in foreign layouts. Out: masks of every kind, whose
// tiles are skipped, mixed and bare, agree with the float64 reference; and so do static extents and strided views.
// Next: cases_masks.cpp.
#include "support/shapes.hpp"

using namespace heed;
using namespace test;

namespace {

constexpr double bound = 1e-5;

struct static_width : axis<24> {};
struct static_key : axis<300> {};

shape long_shape(generator& random) {
  return {1, 1 + random.below(2), 1, 150 + random.below(300), 200 + random.below(500), 16, 16};
}

template <class Body> void for_long_problems(int count, std::uint64_t seed, Body body) {
  generator random(seed);
  for (int n = 0; n < count; ++n) {
    shape s = long_shape(random);
    s.kv_heads = s.heads;
    const problem p(s, seed * 1000 + static_cast<std::uint64_t>(3 * n));
    BOOST_TEST_CONTEXT(p.extents.name()) body(p, random);
  }
}

template <class Keep> grid<4> masked(const problem& p, Keep keep) {
  auto terms = p.terms();
  terms.keep = [&](auto, auto, auto i, auto j) { return keep(i, j); };
  return p.attend(terms).context;
}

template <class Condition> auto attend_where(const problem& p, const Condition& keep) {
  return dot<key>(softmax<key>(where(keep, p.scores())), p.values());
}

template <class E> void check_context(const E& context, const grid<4>& want) {
  check<batch, head, query, d_value>(context, want, bound, {1, 2});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_shapes_long)

BOOST_AUTO_TEST_CASE(causal_and_window) {
  for_long_problems(3, 31, [](const problem& p, generator& random) {
    const std::ptrdiff_t past = random.below(p.extents.keys), n = 1 + random.below(200);
    check_context(attend_where(p, causal<query, key>(past)), masked(p, [&](auto i, auto j) { return j <= i + past; }));
    check_context(attend_where(p, window<query, key>(n, past)),
                  masked(p, [&](auto i, auto j) { return j <= i + past && i + past - j < n; }));
  });
}

BOOST_AUTO_TEST_CASE(documents_of_random_length) {
  for_long_problems(3, 32, [](const problem& p, generator& random) {
    tensor<std::int32_t, query> of_query{query{p.extents.queries}};
    tensor<std::int64_t, key> of_key{key{p.extents.keys}};
    int document = 0;
    for (auto& id : of_query) id = document += random.below(40) == 0;
    document = 0;
    for (auto& id : of_key) id = document += random.below(60) == 0;
    const auto rule = [&](auto i, auto j) { return of_query(i) == of_key(j) && j <= i + 50; };
    check_context(attend_where(p, of_query == of_key && index<key>() <= index<query>() + 50), masked(p, rule));
  });
}

BOOST_AUTO_TEST_CASE(conditions_with_quotients_and_remainders) {
  for_long_problems(2, 33, [](const problem& p, generator& random) {
    const std::ptrdiff_t block = 5 + random.below(60);
    check_context(attend_where(p, index<query>() / block == index<key>() / block || index<key>() % 64 == 0),
                  masked(p, [&](auto i, auto j) { return i / block == j / block || j % 64 == 0; }));
    check_context(attend_where(p, (index<key>() - index<query>()) % block == 0),
                  masked(p, [&](auto i, auto j) { return (j - i) % block == 0; }));
    check_context(attend_where(p, !(index<key>() > index<query>() && index<key>() < index<query>() + 2 * block)),
                  masked(p, [&](auto i, auto j) { return !(j > i && j < i + 2 * block); }));
  });
}

BOOST_AUTO_TEST_CASE(sparse_dense_masks) {
  for_long_problems(2, 34, [](const problem& p, generator& random) {
    tensor<bool, query, key> keep{query{p.extents.queries}, key{p.extents.keys}};
    const std::ptrdiff_t rarity = 1 + random.below(400);
    for (bool& element : keep) element = random.below(rarity) == 0;
    check_context(attend_where(p, keep), masked(p, [&](auto i, auto j) { return keep(i, j); }));
    tensor<float, query, key> bias{query{p.extents.queries}, key{p.extents.keys}};
    for (std::ptrdiff_t i = 0; i < bias.size(); ++i)
      bias.data()[i] = keep.data()[i] ? static_cast<float>(random.normal()) : -std::numeric_limits<float>::infinity();
    auto terms = p.terms();
    terms.bias = [&](auto, auto, auto i, auto j) { return static_cast<double>(bias(i, j)); };
    check_context(dot<key>(softmax<key>(p.scores() + bias), p.values()), p.attend(terms).context);
  });
}

// Scores that rise along the keys make every block raise the maximum; those that fall make it stand.
BOOST_AUTO_TEST_CASE(a_maximum_that_moves) {
  for_long_problems(2, 35, [](const problem& p, generator&) {
    for (const double slope : {0.03125, -0.03125, 20.0, -20.0}) {
      auto terms = p.terms();
      terms.bias = [&](auto, auto, auto, auto j) { return slope * static_cast<double>(j); };
      const auto scores = p.scores() + index<key>() * static_cast<float>(slope);
      const auto want = p.attend(terms);
      check_context(dot<key>(softmax<key>(scores), p.values()), want.context);
      check<batch, head, query>(log_sum_exp<key>(scores), want.log_sum_exp, bound, {1, 2});
    }
  });
}

// Heads inside, width outside, keys backwards, one row for all queries: whatever memory looks like.
BOOST_AUTO_TEST_CASE(foreign_layouts) {
  const int heads = 2, queries = 150, keys = 260, width = 24;
  const auto q = normal<float, query, head, d_head>(1, query{queries}, head{heads}, d_head{width});
  const auto k = normal<float, d_head, head, key>(2, d_head{width}, head{heads}, key{keys});
  const auto v = normal<float, key, head, d_value>(3, key{keys}, head{heads}, d_value{width});
  const view<const float, head, key, d_value> backwards(&v(keys - 1, 0, 0), head{heads}, key{keys}, d_value{width},
                                                        strides{width, -heads * width, 1});
  const view<const float, head, query, d_head> one_row(&q(3, 0, 0), head{heads}, query{queries}, d_head{width},
                                                       strides{width, 0, 1});
  const auto keep = index<key>() <= index<query>() + 100;
  const auto grid_with = [&](auto element, int length) {
    return make_grid([&](auto, auto h, auto i, auto d) { return static_cast<double>(element(h, i, d)); }, 1, heads,
                     length, width);
  };
  const auto k_grid = grid_with([&](auto h, auto j, auto d) { return k(d, h, j); }, keys);
  reference::attention_terms terms;
  terms.scale = 0.2;
  terms.keep = [](auto, auto, auto i, auto j) { return j <= i + 100; };

  const auto scores = where(keep, dot<d_head>(q, k) * 0.2);
  const auto plain =
      reference::attention(grid_with([&](auto h, auto i, auto d) { return q(i, h, d); }, queries), k_grid,
                           grid_with([&](auto h, auto j, auto d) { return backwards(h, j, d); }, keys), terms);
  check<head, query, d_value>(dot<key>(softmax<key>(scores), backwards), plain.context, bound, {1, 2});
  const auto repeated =
      reference::attention(grid_with([&](auto h, auto, auto d) { return q(3, h, d); }, queries), k_grid,
                           grid_with([&](auto h, auto j, auto d) { return v(j, h, d); }, keys), terms);
  const auto other_scores = where(keep, dot<d_head>(k, one_row) * 0.2);
  check<head, query, d_value>(dot<key>(softmax<key>(other_scores), v), repeated.context, bound, {1, 2});
}

BOOST_AUTO_TEST_CASE(extents_in_the_types) {
  const auto q = normal<float, query, static_width>(1, query{70});
  const auto k = normal<float, static_key, static_width>(2), v = normal<float, static_key, static_width>(3);
  const auto keep = index<static_key>() <= index<query>() + 200;
  const auto context = dot<static_key>(softmax<static_key>(where(keep, dot<static_width>(q, k) / 5.0)), v);
  static_assert(has_axes<decltype(context), query, static_width>);
  const auto lift = [](const auto& x, int length) {
    grid<4> result(1, 1, length, 24);
    result.numbers = numbers_of(x);
    return result;
  };
  reference::attention_terms terms;
  terms.scale = 0.2;
  terms.keep = [](auto, auto, auto i, auto j) { return j <= i + 200; };
  check(context, reference::attention(lift(q, 70), lift(k, 300), lift(v, 300), terms).context, bound, {1, 2});
}

BOOST_AUTO_TEST_SUITE_END()
