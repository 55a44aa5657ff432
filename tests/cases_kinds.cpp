// SPDX-License-Identifier: BSL-1.0
// In: the kinds of the numbered cases of layout and of machines in other sizes and types than those of cases_layout.cpp and
// cases_machine.cpp. Out: what plain loops give, and the refusals.
// Next: cases_machine.cpp.
#include "support/small.hpp"

#include <cstdint>
#include <tuple>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

using all_types = std::tuple<std::int32_t, std::int64_t, bf16, f16, float, double>;
using real_types = std::tuple<bf16, double>;

struct projected : axis<> {};
struct twelve : axis<12> {};
struct other : axis<> {};

/// Whole numbers, which every type holds.
template <class T, class... A, class... Extent> auto whole(std::uint64_t seed, Extent... extents) {
  auto result = integers<T, A...>(17, seed, extents...);
  for (auto& element : result) element = to_element<T>(to_number(element) - 8);
  return result;
}

template <class Action> bool refused(Action action) { return static_cast<bool>(throws<shape_error>(action)); }

double slope(int head, int heads) {
  int power = 1;
  while (2 * power <= heads) power *= 2;
  return head < power ? std::exp2(-8.0 * (head + 1) / power) : std::exp2(-4.0 * (2 * (head - power) + 1) / power);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cases_kinds)

BOOST_AUTO_TEST_CASE(case_34_35_slopes_of_any_number_of_heads) {
  for (const int heads : {0, 1, 2, 3, 5, 7, 8, 12, 16, 20, 24, 32, 40, 63, 64, 65, 71, 128}) {
    const auto want = make_grid([&](ptrdiff_t h) { return slope(static_cast<int>(h), heads); }, heads);
    BOOST_TEST(agrees(evaluate(alibi_slopes<head>(heads)), want, 1e-7));
    BOOST_TEST(agrees(evaluate(alibi_slopes<head, double>(heads)), want, 1e-15));
    for (const int past : {0, 3, 1000}) {
      const auto biases = alibi<query, key>(alibi_slopes<head, double>(heads), past);
      const auto distances =
          make_grid([&](ptrdiff_t h, ptrdiff_t i, ptrdiff_t j) { return want(h) * static_cast<double>(j - i - past); },
                    heads, 3, 19);
      check<head, query, key>(biases + tensor<double, query, key>{query{3}, key{19}}, distances, 1e-14, one_to_five);
    }
  }
  BOOST_TEST(agrees(evaluate(alibi_slopes<twelve>()), evaluate(alibi_slopes<head>(12)), 0));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_42_other_lengths_than_the_keys, T, real_types) {
  for (const int queries : {0, 1, 70})
    for (const int keys : {0, 1, 5, 64, 257})
      for (const int values : {0, 1, 5, 6, 65}) {
        const view<const T, query, d_head> q(nullptr, query{queries}, d_head{4});
        const view<const T, key, d_head> k(nullptr, key{keys}, d_head{4});
        const view<const T, key, d_value> v(nullptr, key{values}, d_value{4});
        BOOST_TEST(refused([&] { (void)attend(dot<d_head>(q, k), v); }) == (keys != values));
        const view<const bool, query, key> mask(nullptr, query{queries}, key{values});
        BOOST_TEST(refused([&] { (void)where(mask, dot<d_head>(q, k)); }) == (keys != values));
      }
}

BOOST_AUTO_TEST_CASE(case_44_any_number_of_heads) {
  for (int heads = 0; heads <= 12; ++heads) {
    const tensor<float, query, head, d_head> q{query{1}, head{heads}, d_head{2}};
    for (int kv = 0; kv <= 6; ++kv)
      for (int groups = 0; groups <= 6; ++groups)
        BOOST_TEST(refused([&] { (void)split<head, kv_head, group>(q, kv_head{kv}, group{groups}); }) ==
                   (kv * groups != heads));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cases_51_54_packed_projections, T, all_types) {
  for (const int queries : {0, 1, 3, 131})
    for (const int kv : {1, 3})
      for (const int groups : {1, 4})
        for (const int width : {1, 2, 17}) {
          const int q_width = kv * groups * width, all = q_width + 2 * kv * width;
          const auto x = whole<T, query, projected>(3, query{queries}, projected{all});
          const auto heads = split<head, kv_head, group>(
              split<projected, head, d_head>(slice<projected>(x, 0, q_width), head{kv * groups}, d_head{width}),
              kv_head{kv}, group{groups});
          const auto values =
              split<projected, kv_head, d_head>(slice<projected>(x, all - kv * width, all), kv_head{kv}, d_head{width});
          const auto numbers = grid_of(x);
          check<kv_head, group, query, d_head>(
              heads,
              make_grid([&](auto h, auto g, auto i, auto d) { return numbers(i, (h * groups + g) * width + d); }, kv,
                        groups, queries, width),
              0, one_to_five);
          check<kv_head, query, d_head>(
              values,
              make_grid([&](auto h, auto i, auto d) { return numbers(i, all - kv * width + h * width + d); }, kv,
                        queries, width),
              0, one_to_five);
        }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_57_rotary_pairs, T, real_types) {
  for (const int queries : {0, 1, 17})
    for (const int width : {0, 2, 34, 128})
      for (const int past : {0, 1, 4000})
        for (const bool interleaved : {true, false}) {
          const auto x = normal<T, query, d_head>(1, query{queries}, d_head{width});
          const auto pairs = interleaved ? rope_pairs::interleaved : rope_pairs::half;
          check(rope<d_head, query>(x, pairs, 10000, past), reference::rope(grid_of(x), interleaved, 10000, past),
                std::is_same_v<T, double> ? 1e-11 : 1e-5, one_to_five);
        }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_65_results_over_operands, T, all_types) {
  for (const int n : {0, 1, 3, 17, 1031})
    for (const regime& each : regimes(one_to_five)) {
      const auto before = whole<T, key>(5, key{n});
      auto a = before;
      evaluate_into(each.policy(), a, a - 2 * a);
      std::vector<double> want;
      for (const T& element : before) want.push_back(-to_number(element));
      BOOST_TEST(agrees(a, want, 0));
      tensor<T, key> shifted{key{n + 1}};  // each element becomes the one before it, plus one
      for (int j = 0; j <= n; ++j) shifted(j) = to_element<T>(j % 100);
      evaluate_into(each.policy(), slice<key>(shifted, 1, n + 1), slice<key>(shifted, 0, n) + 1);
      bool right = to_number(shifted(0)) == 0;
      for (int j = 1; j <= n; ++j) right = right && to_number(shifted(j)) == (j - 1) % 100 + 1;
      BOOST_TEST(right, each.name() << ", " << n);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_65_attention_over_its_operands, T, real_types) {
  for (const auto& [queries, keys] : {std::pair{1, 1}, {1, 130}, {3, 31}, {70, 65}})
    for (const regime& each : regimes()) {
      auto q = normal<T, query, d_head>(1, query{queries}, d_head{8});
      const auto k = normal<T, key, d_head>(2, key{keys}, d_head{8}),
                 values = normal<T, key, d_head>(3, key{keys}, d_head{8});
      const auto v = rename<d_head, d_value>(values);
      tensor<T, query, d_value> want{query{queries}, d_value{8}};
      evaluate_into(each.policy(), want, attend(dot<d_head>(q, k), v));
      evaluate_into(each.policy(), q, rename<d_value, d_head>(attend(dot<d_head>(q, k), v)));
      BOOST_TEST(agrees(q, numbers_of(want), 0), each.name() << ", " << queries << " queries, " << keys << " keys");
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_67_branches_and_columns, T, all_types) {
  for (const int rows : {1, 2, 17})
    for (const int columns : {1, 3, 70})
      for (const regime& each : regimes()) {
        const auto numbers = whole<T, key, query>(7, key{columns}, query{rows});
        auto memory = numbers;  // its elements lie by columns for the view
        const view<T, query, key> by_columns(memory.data(), query{rows}, key{columns}, strides{1, rows});
        evaluate_into(each.policy(), by_columns, by_columns * 2);
        std::vector<double> want;
        for (const T& element : numbers) want.push_back(2 * to_number(element));
        BOOST_TEST(agrees(memory, want, 0));
        auto moved = numbers;
        evaluate_into(each.policy(), moved, roll<key>(numbers, 1));
        for (const bool turned : {false, true}) {
          const tensor<T, key, query> chosen = turned ? moved : numbers;
          bool right = true;
          for (int j = 0; j < columns; ++j)
            right = right && to_number(chosen(j, 0)) == to_number(numbers(turned ? (j + columns - 1) % columns : j, 0));
          BOOST_TEST(right);
        }
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_68_contractions, T, real_types) {  // of whole numbers: refused, fail/dot.cpp
  for (const int rows : {0, 1, 2, 7, 33, 130})
    for (const int columns : {1, 2, 17, 65}) {
      const auto a = whole<T, query, key>(1, query{rows}, key{columns});
      const auto x = whole<T, query>(2, query{rows});
      const auto numbers = grid_of(a);
      const auto factors = grid_of(x);
      const auto want = make_grid(
          [&](ptrdiff_t j) {
            double total = 0;
            for (ptrdiff_t i = 0; i < rows; ++i) total += numbers(i, j) * factors(i);
            return total;
          },
          columns);
      check(dot<query>(a, x), want, 0, one_to_five);
      check(dot<query>(x, a), want, 0, one_to_five);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_68_outer_products, T, all_types) {
  for (const int rows : {0, 1, 7, 130})
    for (const int columns : {1, 17, 65}) {
      const auto x = whole<T, query>(2, query{rows});
      const auto y = whole<T, other>(3, other{columns});
      const auto left = grid_of(x), right = grid_of(y);
      check<query, other>(broadcast<other>(x, other{columns}) * y,
                          make_grid([&](auto i, auto j) { return left(i) * right(j); }, rows, columns), 0, one_to_five);
    }
}

BOOST_AUTO_TEST_SUITE_END()
