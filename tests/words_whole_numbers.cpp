// SPDX-License-Identifier: BSL-1.0
// In: numbers of 32 bits whose sums and products need more. Out: whole numbers are computed in 64 bits, whatever is stored
// between the stages; a result of 32 bits keeps the low ones.
// Next: words_functions.cpp.
#include "support/schedules.hpp"

#include <cstdint>
#include <limits>

using namespace heed;
using namespace test;

namespace {

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();

const auto& narrow() {
  static const auto x = row<std::int32_t, key>({largest, lowest, 5, -7, 1 << 30, 123456789});
  return x;
}

/// What a function of one number of 64 bits gives for each of them.
template <class Function> std::vector<double> each(Function function) {
  std::vector<double> result;
  for (const std::int64_t x : narrow()) result.push_back(static_cast<double>(function(x)));
  return result;
}
/// The low 32 bits.
std::int64_t stored(std::int64_t x) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(words_whole_numbers)

BOOST_AUTO_TEST_CASE(arithmetic_of_32_bits_does_not_overflow) {
  const auto& x = narrow();
  const auto f = row<float, key>({1, 2, 3, 4, 5, 6});
  static_assert(std::is_same_v<decltype(x + 1)::value_type, std::int32_t>);
  check(where(x + 1 > 0, f, 0), {1, 0, 3, 0, 5, 6}, 0);
  check(where(let(x + 1) > 0, f, 0), {1, 0, 3, 0, 5, 6}, 0);
  check(sum<key>(where(x - 10 < x * 3, f)), {1 + 3 + 5 + 6}, 0);
  check(cast<double>(x + 1), each([](auto a) { return a + 1; }), 0);
  check(cast<double>(let(-x) * 2 - x), each([](auto a) { return -3 * a; }), 0);
  check(cast<double>(let(x * 4) / 4), each([](auto a) { return a; }), 0);
  check(cast<double>(abs(let(x) - 1)), each([](auto a) { return a < 1 ? 1 - a : a - 1; }), 0);
  check(cast<double>(x + 5000000000), each([](auto a) { return a + 5000000000; }), 0);
  check(cast<double>(where(f < 3, x, 5000000000)), {double{largest}, double{lowest}, 5e9, 5e9, 5e9, 5e9}, 0);
  check(sum<key>(cast<double>(let(x + x) + index<key>())),
        {2.0 * (2147483647.0 - 2147483648.0 - 2 + 1073741824 + 123456789) + 15}, 0);
}

BOOST_AUTO_TEST_CASE(what_a_cast_to_32_bits_names_is_how_a_result_is_stored) {
  const auto wide = row<std::int64_t, key>({1LL << 40, 7, -(1LL << 33) - 1});
  check(cast<double>(cast<std::int32_t>(wide)), {0x1p40, 7, -0x1p33 - 1}, 0);
  check(cast<double>(let(cast<std::int32_t>(wide)) + 1), {0x1p40 + 1, 8, -0x1p33}, 0);
  check(cast<std::int32_t>(wide), {0, 7, -1}, 0);
  check(cast<std::int32_t>(row<float, key>({3e9F, -3.5, 2})), {static_cast<double>(stored(3000000000)), -3, 2}, 0);
  check(cast<double>(let(cast<std::int32_t>(row<float, key>({3e9F, -3.5, 2})))), {3e9, -3, 2}, 0);
}

BOOST_AUTO_TEST_CASE(a_destination_of_32_bits_keeps_the_low_ones) {
  const auto& x = narrow();
  const auto sums = each([](auto a) { return stored(a + 1); });
  check(x + 1, sums, 0);
  check(let(x + 1), sums, 0);
  check(let(x + 3) - 2, sums, 0);
  const auto ones = row<std::int64_t, key>({1, 1, 1, 1, 1, 1});
  for (const regime& each_regime : regimes({1, 3})) BOOST_TEST_CONTEXT(each_regime.name()) {
      tensor<std::int32_t, key> destination{key{6}};
      evaluate_into(each_regime.policy(), destination, x + ones);  // of 64 bits
      BOOST_TEST(agrees(destination, sums, 0));
      tensor<std::int64_t, key> whole{key{6}};
      evaluate_into(each_regime.policy(), whole, x + 1);  // of 32 bits, into 64
      BOOST_TEST(agrees(whole, each([](auto a) { return a + 1; }), 0));
      auto same = x;
      evaluate_into(each_regime.policy(), same, same + 1);
      BOOST_TEST(agrees(same, sums, 0));
    }
  // an excluded element is the lowest that the type holds
  const auto kept = where(index<key>() != 1, row<float, key>({1, 2, 3}));
  check(cast<std::int32_t>(kept), {1, double{lowest}, 3}, 0);
}

BOOST_AUTO_TEST_CASE(stored_elements_under_other_coordinates_are_whole) {
  const auto& x = narrow();
  const auto square = table<std::int32_t, query, key>(2, {largest, 1, lowest, 2, 3, largest});
  check(cast<double>(roll<key>(x * 2, 1)), {2.0 * 123456789, 2.0 * largest, 2.0 * lowest, 10, -14, 0x1p31}, 0);
  check(cast<double>(slice<key>(let(x * 2), 1, 3)), {2.0 * lowest, 10}, 0);
  check(cast<double>(take<key>(x * 2, row<std::int32_t, query>({0, 2, 0}))), {2.0 * largest, 10, 2.0 * largest}, 0);
  check(
      cast<double>(concat<key>(x + x, let(x * 3))),
      [&] {
        auto both = each([](auto a) { return a + a; });
        for (const double more : each([](auto a) { return 3 * a; })) both.push_back(more);
        return both;
      }(),
      0);
  check(cast<double>(merge<key, query, head>(square + 1)),
        {double{largest} + 1, 3, 2, 4, double{lowest} + 1, double{largest} + 1}, 0);
  check(cast<double>(sum<query>(square)), {double{largest} + 2, 4, -1}, 0);
  check(cumsum<key>(square + square), {2.0 * largest, 2.0 * largest + 2, 0, 4, 10, 2.0 * largest + 10}, 0);
  check(max<key>(let(square + largest)), {2.0 * largest, 2.0 * largest}, 0);
}

BOOST_AUTO_TEST_CASE(a_result_that_another_one_reads_is_whole_there) {
  const auto s = table<float, query, key>(2, {1, 5, 2, 9, 3, 3});
  const auto places = cast<std::int32_t>(argmax<key>(s)) + largest;  // 1 and 0 beside the largest
  static_assert(std::is_same_v<decltype(places)::value_type, std::int32_t>);
  for (const regime& each_regime : regimes({1, 3})) BOOST_TEST_CONTEXT(each_regime.name()) {
      const auto [first, second] =
          evaluate(each_regime.policy(), places,
                   where(places > largest, row<float, query>({1, 2}), cast<float>(places - largest)));
      BOOST_TEST(agrees(first, {double{lowest}, double{largest}}, 0));
      BOOST_TEST(agrees(second, {1, 0}, 0));
      const auto [shared, doubled] =
          evaluate(each_regime.policy(), let(narrow() + 1), cast<double>(let(narrow() + 1) * 2));
      BOOST_TEST(agrees(shared, each([](auto a) { return stored(a + 1); }), 0));
      BOOST_TEST(agrees(doubled, each([](auto a) { return 2 * (a + 1); }), 0));
      const auto one = let(narrow() + 1);
      const auto [low, high] = evaluate(each_regime.policy(), one, cast<double>(one * 2));
      BOOST_TEST(agrees(low, each([](auto a) { return stored(a + 1); }), 0));
      BOOST_TEST(agrees(high, each([](auto a) { return 2 * (a + 1); }), 0));
    }
}

BOOST_AUTO_TEST_SUITE_END()
