// SPDX-License-Identifier: BSL-1.0
// In: random matrices of awkward sizes, in every layout and storage type. Out: their products, bit by bit what one chain of
// multiply-adds for each 256 contracted elements gives, however many rows there are and wherever they lie.
// Next: words_plan.cpp, how the stages of an expression are planned.
#include "support/schedules.hpp"

#include <cmath>

using namespace heed;
using namespace test;

namespace {

struct place : axis<> {};

template <class T> T chained(T a, T b, T c) {
#if defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// The rule of design.md, spelled out: element(k) gives the two factors.
template <class T, class Element> T chain(extent_t depth, Element element) {
  T total = 0;
  for (extent_t d = 0; d < depth; d += 256) {
    T sum = 0;
    for (extent_t k = d; k < std::min(depth, d + 256); ++k) {
      auto const [a, b] = element(k);
      sum = chained<T>(a, b, sum);
    }
    total = d == 0 ? sum : total + sum;
  }
  return total;
}

struct sizes {
  int rows, columns, depth;
};
std::ostream& operator<<(std::ostream& out, sizes const& s) {
  return out << s.rows << 'x' << s.columns << 'x' << s.depth;
}
const sizes awkward[] = {{0, 5, 3},     {5, 0, 3},      {5, 3, 0},      {1, 1, 1},     {1, 7, 300},    {2, 200, 257},
                         {3, 1000, 31}, {4, 193, 1030}, {1, 131, 4},    {5, 64, 256},  {6, 65, 255},   {7, 17, 513},
                         {12, 63, 64},  {13, 129, 257}, {64, 64, 64},   {97, 33, 100}, {121, 193, 13}, {131, 257, 1025},
                         {17, 1, 40},   {40, 2, 300},   {200, 31, 1500}};

template <class T, class Got> void check_bits(Got const& got, std::vector<T> const& want) {
  BOOST_TEST_REQUIRE(std::ssize(want) == std::distance(got.begin(), got.end()));
  std::size_t i = 0, wrong = 0;
  for (auto const& each : got) wrong += each != want[i++];
  BOOST_TEST(wrong == 0U);
}

/// x w in all layouts of both, and of the result.
template <class T> void check_layouts(sizes const& s) {
  query const rows{s.rows};
  model const depth{s.depth};
  hidden const columns{s.columns};
  auto const x = normal<T, query, model>(1, rows, depth);
  auto const w = normal<T, model, hidden>(2, depth, columns);
  std::vector<T> want, turned(static_cast<std::size_t>(s.rows) * static_cast<std::size_t>(s.columns));
  for (extent_t i = 0; i < s.rows; ++i)
    for (extent_t j = 0; j < s.columns; ++j) {
      want.push_back(chain<T>(s.depth, [&](extent_t k) { return std::pair(x(i, k), w(k, j)); }));
      turned[static_cast<std::size_t>(j * s.rows + i)] = want.back();
    }
  auto const x_turned = evaluate<model, query>(x + T(0));
  auto const w_turned = evaluate<hidden, model>(w + T(0));
  for (int const threads : {1, 3}) {
    policy const p{.threads = threads};
    BOOST_TEST_CONTEXT(s << ", threads " << threads) {
      check_bits(evaluate(p, dot<model>(x, w)), want);
      check_bits(evaluate(p, dot<model>(x_turned, w)), want);
      check_bits(evaluate(p, dot<model>(x, w_turned)), want);
      check_bits(evaluate(p, dot<model>(x_turned, w_turned)), want);
      check_bits(evaluate(p, dot<model>(x, packed<model>(w))), want);
      check_bits(evaluate<hidden, query>(p, dot<model>(x, w)), turned);
      check_bits(evaluate<hidden, query>(p, dot<model>(x_turned, w_turned)), turned);
      check_bits(evaluate(p, dot<model>(slice<model>(x, 0, s.depth), w)), want);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(contract_shapes)

BOOST_AUTO_TEST_CASE(layouts_of_floats) {
  for (sizes const& s : awkward) check_layouts<float>(s);
}
BOOST_AUTO_TEST_CASE(layouts_of_doubles) {
  for (sizes const& s : awkward) check_layouts<double>(s);
}

BOOST_AUTO_TEST_CASE(each_number_of_few_rows) {
  for (int rows = 1; rows <= 26; ++rows) check_layouts<float>({rows, 193 + rows, 258 + rows % 8});
}

BOOST_AUTO_TEST_CASE(narrow_storage_is_widened_on_the_way) {
  for (sizes const& s : awkward) {
    auto const x = normal<bf16, query, model>(1, query{s.rows}, model{s.depth});
    auto const w = normal<f16, model, hidden>(2, model{s.depth}, hidden{s.columns});
    std::vector<float> want;
    for (extent_t i = 0; i < s.rows; ++i)
      for (extent_t j = 0; j < s.columns; ++j)
        want.push_back(chain<float>(s.depth, [&](extent_t k) { return std::pair<float, float>(x(i, k), w(k, j)); }));
    for (int const threads : {1, 2}) BOOST_TEST_CONTEXT(s << ", threads " << threads) {
        policy const p{.threads = threads};
        check_bits(evaluate(p, dot<model>(x, w)), want);
        tensor<bf16, query, hidden> narrow{query{s.rows}, hidden{s.columns}};
        evaluate_into(p, narrow, dot<model>(x, w));
        std::vector<bf16> const rounded(want.begin(), want.end());
        check_bits(narrow, rounded);
      }
  }
}

BOOST_AUTO_TEST_CASE(rows_apart_batches_and_several_axes) {
  for (int const depth : {40, 300, 1100})
    for (int const queries : {1, 5, 130}) {
      // rows: batch and query, cut out of something larger, so that no one stride serves both
      auto const large = normal<float, batch, query, place>(1, batch{3}, query{queries + 2}, place{depth + 3});
      auto const x = rename<place, model>(slice<place>(slice<query>(large, 1, queries + 1), 2, depth + 2));
      auto const w = normal<float, model, head, d_head>(2, model{depth}, head{3}, d_head{48});
      std::vector<float> want;  // [batch, head, query, d_head]: columns in two axes, apart in the result
      for (extent_t b = 0; b < 3; ++b)
        for (extent_t h = 0; h < 3; ++h)
          for (extent_t q = 0; q < queries; ++q)
            for (extent_t j = 0; j < 48; ++j)
              want.push_back(
                  chain<float>(depth, [&](extent_t k) { return std::pair(large(b, q + 1, k + 2), w(k, h, j)); }));
      for (int const threads : {1, 4}) BOOST_TEST_CONTEXT(depth << ", " << queries << ", threads " << threads)
      check_bits(evaluate<batch, head, query, d_head>(policy{.threads = threads}, dot<model>(x, w)), want);
    }
}

BOOST_AUTO_TEST_CASE(parts_of_packed_weights) {
  // what is cut out of packed weights, or contracted over another axis, must not be taken for the whole
  auto const w = normal<float, model, hidden>(2, model{300}, hidden{200});
  auto const ready = packed<model>(w);
  for (int const rows : {1, 3, 40}) {
    auto const x = normal<float, query, model>(1, query{rows}, model{300});
    auto const y = normal<float, query, hidden>(1, query{rows}, hidden{200});
    auto const middle = evaluate(slice<model>(x, 100, 200));
    BOOST_TEST(same_bits(evaluate(dot<model>(x, ready)), evaluate(dot<model>(x, w))));
    BOOST_TEST(same_bits(evaluate(dot<hidden>(y, ready)), evaluate(dot<hidden>(y, w))));
    BOOST_TEST(same_bits(evaluate(dot<model>(middle, slice<model>(ready, 100, 200))),
                         evaluate(dot<model>(middle, slice<model>(w, 100, 200)))));
    BOOST_TEST(same_bits(evaluate(dot<model>(x, slice<hidden>(ready, 0, 100))),
                         evaluate(dot<model>(x, slice<hidden>(w, 0, 100)))));
    auto const heads = evaluate(dot<model>(x, split<hidden, head, d_head>(w, head{4}, d_head{50})));
    BOOST_TEST(same_bits(evaluate(dot<model>(x, split<hidden, head, d_head>(ready, head{4}, d_head{50}))), heads));
  }
}

BOOST_AUTO_TEST_CASE(large_results_go_past_the_caches) {
  auto const x = normal<float, query, model>(1, query{2100}, model{20});
  auto const w = normal<float, model, hidden>(2, model{20}, hidden{2048});
  for (int const threads : {1, 2}) {
    policy const p{.threads = threads};
    auto const whole = evaluate(p, dot<model>(x, w));
    auto const part = evaluate(p, dot<model>(slice<query>(x, 700, 900), w));
    BOOST_TEST(same_bits(part, evaluate(slice<query>(whole, 700, 900))));
  }
}

BOOST_AUTO_TEST_CASE(many_small_products) {
  for (int const count : {1, 2, 9})
    for (sizes const& s : {sizes{100, 64, 100}, {33, 100, 64}, {3, 300, 20}, {70, 70, 1100}}) {
      auto const a = normal<float, batch, query, key>(1, batch{count}, query{s.rows}, key{s.depth});
      auto const v = normal<float, batch, key, d_value>(2, batch{count}, key{s.depth}, d_value{s.columns});
      std::vector<float> want;
      for (extent_t b = 0; b < count; ++b)
        for (extent_t i = 0; i < s.rows; ++i)
          for (extent_t j = 0; j < s.columns; ++j)
            want.push_back(chain<float>(s.depth, [&](extent_t k) { return std::pair(a(b, i, k), v(b, k, j)); }));
      for (int const threads : {1, 2, 5}) BOOST_TEST_CONTEXT(count << " times " << s << ", threads " << threads)
      check_bits(evaluate(policy{.threads = threads}, dot<key>(a, v)), want);
    }
}

BOOST_AUTO_TEST_CASE(epilogues_see_each_element_once) {
  for (sizes const& s : awkward) {
    auto const x = normal<float, query, model>(1, query{s.rows}, model{s.depth});
    auto const w = normal<float, model, hidden>(2, model{s.depth}, hidden{s.columns});
    auto const bias = normal<float, hidden>(3, hidden{s.columns});
    auto const residual = normal<float, query, hidden>(4, query{s.rows}, hidden{s.columns});
    auto const product = evaluate(dot<model>(x, w));
    auto const want = evaluate(silu(product + bias) + residual);
    std::vector<double> const numbers(want.begin(), want.end());
    for (int const threads : {1, 3}) BOOST_TEST_CONTEXT(s << ", threads " << threads) {
        policy const p{.threads = threads};
        auto const e = silu(dot<model>(x, w) + bias) + residual;
        BOOST_TEST(agrees(evaluate(p, e), numbers, 1e-6));
        auto into = residual;  // the destination is an operand as well
        evaluate_into(p, into, silu(dot<model>(x, w) + bias) + into);
        BOOST_TEST(agrees(into, numbers, 1e-6));
        auto const kept = where(index<hidden>() <= index<query>(), dot<model>(x, w));
        auto const want_kept = evaluate(where(index<hidden>() <= index<query>(), product));
        BOOST_TEST(same_bits(evaluate(p, kept), want_kept));
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()
