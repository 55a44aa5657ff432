// SPDX-License-Identifier: BSL-1.0
// In: tables and ids, probabilities. Out: take in all its forms, dropout; against plain loops.
// Next: words_rope.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

struct vocabulary : axis<> {};
struct distance_axis : axis<> {};
struct query_block : axis<> {};
struct key_block : axis<> {};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_gather)

BOOST_AUTO_TEST_CASE(rows_of_a_table) {
  const auto embedding = counted<float, vocabulary, model>(vocabulary{5}, model{3});
  const auto ids = table<std::int32_t, batch, query>(2, {4, 0, 1, 1});
  const auto taken = take<vocabulary>(embedding, ids);
  static_assert(has_axes<decltype(taken), batch, query, model>);
  static_assert(std::is_same_v<std::remove_const_t<decltype(taken)>::axes_type, axes<batch, query, model>>);
  check(taken, {12, 13, 14, 0, 1, 2, 3, 4, 5, 3, 4, 5}, 0);
  check(take<vocabulary>(embedding * 2, ids) + 1, {25, 27, 29, 1, 3, 5, 7, 9, 11, 7, 9, 11}, 0);
  check(take<vocabulary>(embedding, row<std::int64_t, query>({2})), {6, 7, 8}, 0);
  check(take<vocabulary>(embedding, (row<std::int64_t, query>({2, 3}) + 1) % 4), {9, 10, 11, 0, 1, 2}, 0);
  check(take<model>(embedding, row<std::int64_t, query>({2, 0})), {2, 0, 5, 3, 8, 6, 11, 9, 14, 12}, 0);
  check(dot<model>(take<vocabulary>(embedding, ids), row<float, model>({1, 0, -1})), {-2, -2, -2, -2}, 0);
}

// Axes that the table and the ids share are aligned: one id a row chooses from that row.
BOOST_AUTO_TEST_CASE(shared_axes_are_aligned) {
  const auto logits = table<float, query, vocabulary>(3, {10, 11, 12, 20, 21, 22, 30, 31, 32});
  const auto ids = row<std::int64_t, query>({2, 0, 1});
  check(take<vocabulary>(logits, ids), {12, 20, 31}, 0);
  const auto losses = log_sum_exp<vocabulary>(logits) - take<vocabulary>(logits, ids);
  const double tail = std::log(1 + std::exp(-1.0) + std::exp(-2.0));
  check(losses, {tail, 2 + tail, 1 + tail}, 1e-5);
}

// Relative positions: a bias gathered by an index expression, inside a streamed softmax.
BOOST_AUTO_TEST_CASE(ids_from_coordinates) {
  const auto bias = normal<float, head, distance_axis>(1, head{2}, distance_axis{9});
  const auto q = normal<float, head, query, d_head>(2, head{2}, query{7}, d_head{8});
  const auto k = normal<float, head, key, d_head>(3, head{2}, key{11}, d_head{8});
  const auto v = normal<float, head, key, d_value>(4, head{2}, key{11}, d_value{8});
  const auto clipped = min(max(index<key>() - index<query>(), -4), 4) + 4;
  const auto context = dot<key>(softmax<key>(dot<d_head>(q, k) + take<distance_axis>(bias, clipped)), v);
  static_assert(streams<decltype(context)>);
  const auto bias_grid = grid_of(bias);
  reference::attention_terms terms;
  terms.bias = [&](auto, auto h, auto i, auto j) { return bias_grid(h, std::clamp<std::ptrdiff_t>(j - i, -4, 4) + 4); };
  const auto lift = [](const grid<3>& x) {
    grid<4> result(1, x.extents[0], x.extents[1], x.extents[2]);
    result.numbers = x.numbers;
    return result;
  };
  const auto want = reference::attention(lift(grid_of(q)), lift(grid_of(k)), lift(grid_of(v)), terms);
  check<head, query, d_value>(context, want.context, 1e-5);
}

// A layout by blocks of both axes, gathered twice: a mask that is never spread out, and whose blocks are told apart.
BOOST_AUTO_TEST_CASE(a_gathered_table_is_gathered_from) {
  const auto q = normal<float, query, d_head>(1, query{40}, d_head{8});
  const auto k = normal<float, key, d_head>(2, key{50}, d_head{8});
  const auto v = normal<float, key, d_value>(3, key{50}, d_value{8});
  const auto layout = table<bool, query_block, key_block>(3, {1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1});
  const auto keep = take<key_block>(take<query_block>(layout, index<query>() / 16), index<key>() / 16);
  const auto context = dot<key>(softmax<key>(where(keep, dot<d_head>(q, k))), v);
  static_assert(streams<decltype(context)>);
  BOOST_TEST(explain(context).bytes_stored == 0U);
  const auto other_way = take<query_block>(take<key_block>(layout, index<key>() / 16), index<query>() / 16);
  tensor<bool, query, key> spread{query{40}, key{50}};
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 50; ++j) spread(i, j) = layout(i / 16, j / 16);
  const auto want = evaluate(unfused, dot<key>(softmax<key>(where(spread, dot<d_head>(q, k))), v));
  check(context, want, 1e-5);
  check(dot<key>(softmax<key>(where(other_way, dot<d_head>(q, k))), v), want, 1e-5);

  const auto kept_in = [&](extent_t q0, extent_t q1, extent_t k0, extent_t k1) {  // 0 nothing, 2 all, 1 look
    const extent_t low[] = {q0, k0}, high[] = {q1, k1};
    return heed::plan::keeps_of(
        heed::plan::bound_of<axes<query, key>, std::remove_const_t<decltype(keep)>>::go(keep, low, high));
  };
  BOOST_TEST(kept_in(0, 16, 16, 32) == 0);
  BOOST_TEST(kept_in(0, 16, 32, 48) == 2);
  BOOST_TEST(kept_in(0, 17, 32, 48) == 1);
  BOOST_TEST(kept_in(16, 40, 48, 50) == 1);
  BOOST_TEST(kept_in(20, 30, 0, 16) == 0);
  BOOST_TEST(kept_in(32, 40, 0, 48) == 0);
}

BOOST_AUTO_TEST_CASE(dropout_counts_on_coordinates) {
  tensor<float, query, key> ones{query{100}, key{200}};
  for (float& element : ones) element = 1;
  const auto whole = evaluate(dropout(ones, 0.25, 42));
  std::ptrdiff_t kept = 0;
  for (const float element : whole) {
    BOOST_TEST_REQUIRE((element == 0 || distance(static_cast<double>(element), 1 / 0.75) < 1e-6));
    kept += element != 0;
  }
  BOOST_TEST((kept > 14600 && kept < 15400));  // 15000 expected, standard deviation 61
  check(dropout(ones, 0.25, 42), whole, 0);    // the same elements for every schedule and number of threads
  BOOST_TEST(!identical(evaluate(dropout(ones, 0.25, 43)), whole));
  const auto none = evaluate(dropout(ones, 0.0, 42)), all = evaluate(dropout(ones, 1.0, 42));
  BOOST_TEST(identical(none, ones));
  for (const float element : all) BOOST_TEST_REQUIRE(element == 0);
  tensor<float, query, key> infinite{query{1}, key{3}};
  for (float& element : infinite) element = std::numeric_limits<float>::infinity();
  check(dropout(infinite, 1.0, 1), {0, 0, 0}, 0);  // not 0 * infinity
}

// Which elements are kept shows no trace of the grid: rows, pairs of rows and the corners of rectangles are as independent as
// coins. Sums of squares of so many normal deviates lie within 5 standard deviations of their number.
BOOST_AUTO_TEST_CASE(dropout_is_independent_along_both_axes) {
  constexpr int rows = 300, columns = 2048;
  tensor<float, query, key> ones{query{rows}, key{columns}};
  for (float& element : ones) element = 1;
  for (const double p : {0.5, 0.1}) {
    const auto kept = evaluate(dropout(ones, p, 2026) != 0.F);
    const auto deviation = [&](double count, double n, double chance) {
      return (count - n * chance) / std::sqrt(n * chance * (1 - chance));
    };
    double of_rows = 0, of_pairs = 0;
    int pairs = 0;
    for (int i = 0; i < rows; ++i) {
      int single = 0;
      for (int j = 0; j < columns; ++j) single += kept(i, j);
      of_rows += std::pow(deviation(single, columns, 1 - p), 2);
      for (int other = i % 7; other < i; other += 7, ++pairs) {
        int both = 0;
        for (int j = 0; j < columns; ++j) both += kept(i, j) && kept(other, j);
        of_pairs += std::pow(deviation(both, columns, (1 - p) * (1 - p)), 2);
      }
    }
    BOOST_TEST(std::abs(of_rows - rows) < 5 * std::sqrt(2.0 * rows), "rows, p " << p << ": " << of_rows / rows);
    // pairs that share a row are not independent of each other: the rows' own spread comes in twice
    BOOST_TEST(std::abs(of_pairs / pairs - 1) < 0.25, "pairs, p " << p << ": " << of_pairs / pairs);
    // each row in one rectangle only
    double odd = 0, corners = 0;
    for (int i = 0; i + 1 < rows; i += 2)
      for (int j = 0; j + 1 < columns; j += 2, ++corners)
        odd += (kept(i, j) != kept(i, j + 1)) != (kept(i + 1, j) != kept(i + 1, j + 1));
    const double chance = (1 - std::pow(1 - 2 * p, 4)) / 2;
    BOOST_TEST(std::abs(deviation(odd, corners, chance)) < 5, "rectangles, p " << p);
  }
}

// Inside attention the same elements are dropped as outside.
BOOST_AUTO_TEST_CASE(dropout_of_streamed_weights) {
  const auto scores = normal<float, query, key>(1, query{40}, key{70});
  const auto q = normal<float, query, d_head>(2, query{40}, d_head{8});
  const auto k = normal<float, key, d_head>(3, key{70}, d_head{8});
  const auto v = normal<float, key, d_value>(4, key{70}, d_value{8});
  const auto weights = dropout(softmax<key>(dot<d_head>(q, k)), 0.3, 99);
  const auto stored = evaluate(unfused, weights);
  const auto want = evaluate(unfused, dot<key>(stored, v));
  const auto context = dot<key>(weights, v);
  static_assert(streams<decltype(context)>);
  check(context, want, 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
