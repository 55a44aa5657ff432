// SPDX-License-Identifier: BSL-1.0
// In: tensors of bf16, f16, bool, int32, int64, double. Out: storage narrows, arithmetic does not: values and scores of
// narrow tensors are float, destinations convert, attention over them is that over the rounded numbers.
// Next: errors_runtime.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

using narrow_types = std::tuple<bf16, f16>;

}  // namespace

BOOST_AUTO_TEST_SUITE(storage_types)

BOOST_AUTO_TEST_CASE_TEMPLATE(arithmetic_is_float, T, narrow_types) {
  static_assert(sizeof(T) == 2);
  const auto x = row<T, key>({1, 2, 3, 0.5});
  static_assert(std::is_same_v<typename decltype(x * 2)::value_type, float>);
  static_assert(std::is_same_v<decltype(evaluate(x * 2)), tensor<float, key>>);
  check(x * 1000.125, {1000.125, 2000.25, 3000.375, 500.0625}, 1e-7);  // not representable in two bytes
  check(x + row<float, key>({0.001, 0.002, 0.003, 0.004}), {1.001, 2.002, 3.003, 0.504}, 1e-6);
  check(sum<key>(x), {6.5}, 0);
  check(cast<double>(x), {1, 2, 3, 0.5}, 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(destinations_round_to_nearest, T, narrow_types) {
  const auto x = normal<float, query, key>(1, query{7}, key{33});
  for (const regime& each : regimes({1, 2})) {
    tensor<T, query, key> narrow{query{7}, key{33}};
    evaluate_into(each.policy(), narrow, x * 3);
    std::vector<double> want;
    for (const float number : x) want.push_back(to_number(T(number * 3)));
    BOOST_TEST(agrees(narrow, want, 0));
    tensor<T, key, query> turned{query{7}, key{33}};
    evaluate_into(each.policy(), turned, x * 3);
    const auto back = evaluate<query, key>(turned * 1);
    BOOST_TEST(agrees(back, want, 0));
  }
}

BOOST_AUTO_TEST_CASE(single_numbers_round_as_ieee_does) {
  const auto as = []<class T>(T, double number) {
    tensor<T, key> t{key{1}};
    evaluate_into(t, row<float, key>({number}));
    return to_number(t(0));
  };
  BOOST_TEST(as(bf16{}, 1.00390625) == 1);         // a tie, to even
  BOOST_TEST(as(bf16{}, 1.01171875) == 1.015625);  // a tie, to even
  BOOST_TEST(as(bf16{}, 1.005) == 1.0078125);
  BOOST_TEST(as(bf16{}, 3.4e38) == infinity);
  BOOST_TEST(as(f16{}, 65504) == 65504);
  BOOST_TEST(as(f16{}, 65519) == 65504);
  BOOST_TEST(as(f16{}, 65520) == infinity);
  BOOST_TEST(as(f16{}, 1.00048828125) == 1);  // a tie, to even
  BOOST_TEST(as(f16{}, 6e-8) == 0x1p-24);     // the smallest subnormal
  BOOST_TEST(as(f16{}, -infinity) == -infinity);
  BOOST_TEST(std::isnan(as(f16{}, not_a_number)));
  BOOST_TEST(std::isnan(as(bf16{}, not_a_number)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(attention_over_narrow_tensors, T, narrow_types) {
  for (const int queries : {1, 19, 70}) {
    const auto q = normal<T, head, query, d_head>(1, head{2}, query{queries}, d_head{16});
    const auto k = normal<T, head, key, d_head>(2, head{2}, key{90}, d_head{16});
    const auto v = normal<T, head, key, d_value>(3, head{2}, key{90}, d_value{16});
    const auto context = dot<key>(softmax<key>(dot<d_head>(q, k) * 0.25F), v);
    static_assert(streams<decltype(context)>);
    const auto lift = [](const grid<3>& x) {
      grid<4> result(1, x.extents[0], x.extents[1], x.extents[2]);
      result.numbers = x.numbers;
      return result;
    };
    reference::attention_terms terms;
    terms.scale = 0.25;
    const auto want = reference::attention(lift(grid_of(q)), lift(grid_of(k)), lift(grid_of(v)), terms);
    check(context, want.context, 1e-5, {1, 2});
  }
}

BOOST_AUTO_TEST_CASE(products_of_narrow_weights) {
  const auto x = normal<float, query, model>(1, query{9}, model{64});
  const auto w = normal<bf16, model, hidden>(2, model{64}, hidden{40});
  const auto want = reference::matmul(grid_of(x), grid_of(w));
  check(dot<model>(x, w), want, 1e-5);
  check(dot<model>(x, packed<model>(w)), want, 1e-5);
}

BOOST_AUTO_TEST_CASE(masks_are_arrays_of_bytes) {
  tensor<bool, query, key> keep{query{2}, key{3}};
  static_assert(std::is_same_v<decltype(keep.data()), bool*>);
  keep(0, 1) = keep(1, 2) = true;
  BOOST_TEST(agrees(keep, {0, 1, 0, 0, 0, 1}, 0));
  tensor<bool, query, key> other{query{2}, key{3}};
  evaluate_into(other, !keep);
  BOOST_TEST(agrees(other, {1, 0, 1, 1, 1, 0}, 0));
  const tensor<bool, query> any = evaluate(max<key>(cast<std::int32_t>(keep)) > 0);
  BOOST_TEST(agrees(any, {1, 1}, 0));
  bool bytes[3] = {true, false, true};
  const view<const bool, key> foreign(bytes, key{3});
  check(where(foreign, row<float, key>({1, 2, 3}), 0), {1, 0, 3}, 0);
}

BOOST_AUTO_TEST_CASE(integers_of_both_widths) {
  const auto narrow = row<std::int32_t, key>({1, -2, 3});
  const auto wide = row<std::int64_t, key>({10, 20, 30});
  check(narrow + wide, {11, 18, 33}, 0);
  check(narrow * index<key>(), {0, -2, 6}, 0);
  tensor<std::int32_t, key> into{key{3}};
  evaluate_into(into, narrow * 2);
  BOOST_TEST(agrees(into, {2, -4, 6}, 0));
  tensor<std::int64_t, key> into_wide{key{3}};
  evaluate_into(into_wide, wide - narrow);
  BOOST_TEST(agrees(into_wide, {9, 22, 27}, 0));
}

BOOST_AUTO_TEST_CASE(float_and_double_destinations_convert) {
  const auto x = row<double, key>({0.1, 0.2, 0.3});
  tensor<float, key> narrow{key{3}};
  evaluate_into(narrow, x * 2);
  BOOST_TEST(narrow(0) == 0.2F);
  tensor<double, key> wide{key{3}};
  evaluate_into(wide, narrow * 1);
  BOOST_TEST(wide(0) == static_cast<double>(0.2F));
}

BOOST_AUTO_TEST_SUITE_END()
