// SPDX-License-Identifier: BSL-1.0
// In: coordinates and integer tensors. Out: index expressions (they may span any axes), causal, window, alibi and the
// selecting form of where, each against plain loops.
// Next: words_exclusion.cpp, the excluding form of where.
#include "support/schedules.hpp"

#include <cstdint>
#include <limits>

using namespace heed;
using namespace test;

namespace {

struct static_key : axis<5> {};

/// Ones of [query, key] as floats, so that a condition has something to be broadcast over.
auto ones(std::ptrdiff_t queries, std::ptrdiff_t keys) {
  tensor<float, query, key> x{query{queries}, key{keys}};
  for (float& element : x) element = 1;
  return x;
}

/// Where the condition holds as 1, elsewhere 0.
template <class Condition> auto shown(const Condition& condition, std::ptrdiff_t queries, std::ptrdiff_t keys) {
  return where(condition, ones(queries, keys), 0);
}

template <class Rule> std::vector<double> table_of(std::ptrdiff_t queries, std::ptrdiff_t keys, Rule rule) {
  return make_grid([&](std::ptrdiff_t i, std::ptrdiff_t j) { return static_cast<double>(rule(i, j)); }, queries, keys)
      .numbers;
}

}  // namespace

// One element at a time and by vectors (kernel_pack), a division by 0 gives 0 and leaves 0.
static_assert(heed::detail::ops::floor_div(-44, 0) == 0 && heed::detail::ops::floor_mod(-44, 0) == 0);
static_assert(heed::detail::ops::floor_div(-7, 2) == -4 && heed::detail::ops::floor_mod(-7, 2) == 1);

BOOST_AUTO_TEST_SUITE(words_index)

BOOST_AUTO_TEST_CASE(coordinates) {
  const auto x = ones(3, 5);
  check(x * index<key>(), table_of(3, 5, [](auto, auto j) { return j; }), 0);
  check(x + index<query>() * 10 + index<key>(), table_of(3, 5, [](auto i, auto j) { return 1 + 10 * i + j; }), 0);
  check(x * ((index<key>() - index<query>()) / 2),
        table_of(3, 5, [](auto i, auto j) { return reference::quotient_down(j - i, 2); }), 0);
  check(x * ((index<key>() - 2 * index<query>()) % 3),
        table_of(3, 5, [](auto i, auto j) { return reference::remainder_down(j - 2 * i, 3); }), 0);
  check(index<static_key>() * index<static_key>(), {0, 1, 4, 9, 16}, 0);  // the extent is in the type
}

/// Places that lack an extent have it from the other operand: the mean place that is attended to, weights by distance.
BOOST_AUTO_TEST_CASE(coordinates_as_an_operand_of_dot) {
  const auto x = ones(3, 5);
  const auto places = cast<float>(index<key>());
  check(dot<key>(x, places), {10, 10, 10}, 0);
  check(dot<key>(places, x), {10, 10, 10}, 0);
  check(dot<key>(softmax<key>(x), places), {2, 2, 2}, 1e-6);
  check(dot<key>(places * 2, softmax<key>(where(index<key>() <= index<query>(), x))), {0, 1, 2}, 1e-6);
  const auto left = normal<float, query, d_head>(1, query{3}, d_head{4});
  const auto scores = dot<d_head>(left, normal<float, key, d_head>(2, key{5}, d_head{4})) * 0;
  check(dot<key>(sigmoid(scores), places), {5, 5, 5}, 1e-6);
  check(dot<key>(softmax<key>(scores), places), {2, 2, 2}, 1e-6);
  const auto slope = row<float, query>({0, 0, 1});
  const auto by_distance = where(index<key>() == index<query>(), 4.F, 0.F) * slope;
  check(dot<key>(abs(by_distance), at<query>(x, 0)), {0, 0, 4}, 0);
  check(mean<query>(dot<key>(abs(by_distance), at<query>(x, 0))), {4. / 3}, 1e-6);
}

BOOST_AUTO_TEST_CASE(integer_tensors_in_index_expressions) {
  const auto document = row<std::int32_t, query>({0, 0, 1, 1, 1, 2});
  const auto length = row<std::int64_t, batch>({2, 0, 5});
  const auto allowed = row<bool, key>({1, 0, 1, 1, 0, 1});
  const auto same = document == rename<query, key>(document);
  check(shown(same && index<key>() <= index<query>(), 6, 6),
        table_of(6, 6,
                 [](auto i, auto j) {
                   const int documents[] = {0, 0, 1, 1, 1, 2};
                   return documents[i] == documents[j] && j <= i;
                 }),
        0);
  check(shown(!same || allowed, 6, 6),
        table_of(6, 6,
                 [](auto i, auto j) {
                   const int documents[] = {0, 0, 1, 1, 1, 2};
                   const bool may[] = {true, false, true, true, false, true};
                   return documents[i] != documents[j] || may[j];
                 }),
        0);
  const auto x = broadcast<batch>(row<float, key>({1, 1, 1, 1, 1, 1}), batch{3});
  check(where(index<key>() < length, x, 0), {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0}, 0);
  check(where(index<key>() >= length - 1 && index<key>() < length + 1, x, 0),
        {0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, 0);
}

/// Positions apart by anything from nothing to more than 64 bits tell apart, as `std::int64_t` counts: modulo 2^64.
BOOST_AUTO_TEST_CASE(differences_and_comparisons_at_all_sizes) {
  const auto wrapped = [](std::int64_t a, std::int64_t b, bool minus) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<std::int64_t>(minus ? x - y : x + y);
  };
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t shifts[] = {0,       1,       -7,           1 << 22,      -(1 << 22),     (1 << 24) + 1,
                                 1 << 30, largest, largest - 40, -largest - 1, -largest + 130, std::int64_t{1} << 61};
  for (const std::int64_t shift : shifts)
    for (const std::ptrdiff_t keys : {1, 15, 16, 17, 33, 64, 67}) {
      const std::ptrdiff_t queries = 5;
      const auto by_hand = [&](auto rule) {
        return table_of(queries, keys, [&](auto i, auto j) { return rule(wrapped(i, shift, false), j); });
      };
      const auto i = index<query>() + shift;
      const auto j = index<key>();
      for (const bool lanes_are_queries : {false, true}) {
        const auto look = [&](const auto& e, const std::vector<double>& expected) {
          if (!lanes_are_queries) return check(e, expected, 0);
          tensor<float, key, query> across{key{keys}, query{queries}};
          evaluate_into(across, e);
          for (std::ptrdiff_t a = 0; a < queries; ++a)
            for (std::ptrdiff_t b = 0; b < keys; ++b)
              BOOST_TEST(across(b, a) == expected[static_cast<std::size_t>(a * keys + b)]);
        };
        const auto shown_here = [&](const auto& condition) { return shown(condition, queries, keys); };
        look(shown_here(j <= i), by_hand([](auto a, auto b) { return b <= a; }));
        look(shown_here(j < i), by_hand([](auto a, auto b) { return b < a; }));
        look(shown_here(i > j - 3), by_hand([](auto a, auto b) { return a > b - 3; }));
        look(shown_here(i - j >= 2), by_hand([&](auto a, auto b) { return wrapped(a, b, true) >= 2; }));
        look(ones(queries, keys) * (j - i),
             by_hand([&](auto a, auto b) { return static_cast<double>(static_cast<float>(wrapped(b, a, true))); }));
        look(ones(queries, keys) * heed::abs(-(i - j) + 1), by_hand([&](auto a, auto b) {
               const std::int64_t d = wrapped(wrapped(0, wrapped(a, b, true), true), 1, false);
               const std::int64_t size = d < 0 ? wrapped(0, d, true) : d;
               return static_cast<double>(static_cast<float>(size));
             }));
      }
    }
}

BOOST_AUTO_TEST_CASE(causal_masks) {
  const auto rule = [](std::ptrdiff_t past) { return [past](auto i, auto j) { return j <= i + past; }; };
  check(shown(causal<query, key>(), 4, 4), table_of(4, 4, rule(0)), 0);
  for (const extent_t past : {-2, 0, 1, 3, 100})
    check(shown(causal<query, key>(past), 3, 5), table_of(3, 5, rule(past)), 0);
  const auto past = row<int, batch>({0, 2});
  const auto x = broadcast<batch>(ones(2, 4), batch{2});
  check(where(causal<query, key>(past), x, 0), {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}, 0);
}

BOOST_AUTO_TEST_CASE(window_masks) {
  for (const extent_t n : {0, 1, 2, 3, 10})
    for (const extent_t past : {0, 2}) {
      const auto want = table_of(4, 6, [&](auto i, auto j) { return j <= i + past && i + past - j < n; });
      check(shown(window<query, key>(n, past), 4, 6), want, 0);
    }
  check(shown(window<query, key>(2), 3, 3), {1, 0, 0, 1, 1, 0, 0, 1, 1}, 0);
  check(shown(window<query, key>(std::numeric_limits<extent_t>::max()), 3, 3), {1, 0, 0, 1, 1, 0, 1, 1, 1}, 0);
  const auto past = row<std::int64_t, batch>({0, 1});
  const auto x = broadcast<batch>(ones(2, 3), batch{2});
  check(where(window<query, key>(1, past), x, 0), {1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1}, 0);
}

BOOST_AUTO_TEST_CASE(alibi_biases) {
  const auto slopes = row<float, head>({0.5, 0.25});
  const auto zero = broadcast<head>(ones(2, 3) * 0, head{2});
  check(zero + alibi<query, key>(slopes), {0, .5, 1, -.5, 0, .5, 0, .25, .5, -.25, 0, .25}, 0);
  check(zero + alibi<query, key>(slopes, 2), {-1, -.5, 0, -1.5, -1, -.5, -.5, -.25, 0, -.75, -.5, -.25}, 0);
  check(zero + slopes * (index<key>() - index<query>()), {0, .5, 1, -.5, 0, .5, 0, .25, .5, -.25, 0, .25}, 0);
}

BOOST_AUTO_TEST_CASE(where_selects) {
  const auto a = counted<float, query, key>(query{2}, key{3});
  const auto yes = row<bool, key>({1, 0, 1});
  check(where(yes, a, -a), {0, -1, 2, 3, -4, 5}, 0);
  check(where(yes, a, 7), {0, 7, 2, 3, 7, 5}, 0);
  check(where(yes, 7, a), {7, 1, 7, 7, 4, 7}, 0);
  check(where(a > 2, a * 10, a), {0, 1, 2, 30, 40, 50}, 0);
  check(a + where(index<key>() == index<query>(), 100.0F, 0.0F), {100, 1, 2, 3, 104, 5}, 0);
  // it excludes nothing, not even where a branch that is not taken holds NaN
  const auto nan = row<float, key>({not_a_number, 1, not_a_number});
  check(where(yes, 0, broadcast<query>(nan, query{2})), {0, 1, 0, 0, 1, 0}, 0);
  check(sum<key>(where(yes, a, 0)), {2, 8}, 0);
  check(mean<key>(where(yes, a, 0)), {2.0 / 3, 8.0 / 3}, 1e-6);
}

// Numbers take the tensor's type, coordinates that met one first as well.
BOOST_AUTO_TEST_CASE(numbers_beside_coordinates_take_the_type_of_the_tensor) {
  const tensor<float, query, key> x{query{2}, key{3}};
  const auto half = evaluate(x + index<key>() * 0.5);
  static_assert(std::is_same_v<decltype(half)::value_type, float>);
  BOOST_TEST(half(1, 2) == 1);
  BOOST_TEST(evaluate(x + where(index<key>() > 1, 0.0, -1.0))(0, 1) == -1);
}

BOOST_AUTO_TEST_SUITE_END()
