// SPDX-License-Identifier: BSL-1.0
// In: small inputs on which attention code has been seen to fail: sizes, tails, zero extents, heads, packed
// projections, rotary pairs, large offsets. Out: the right values, under fused and unfused and with 1 to 5
// threads.
// Next: cases_regimes.cpp.
#include "support/small.hpp"

using namespace heed;
using namespace test;

BOOST_AUTO_TEST_SUITE(cases_layout)

// V longer than K is refused before anything is read.
BOOST_AUTO_TEST_CASE(case_42_values_longer_than_keys) {
  const tensor<float, query, d_head> q{query{2}, d_head{4}};
  const tensor<float, key, d_head> k{key{5}, d_head{4}};
  const view<const float, key, d_value> v(nullptr, key{6}, d_value{4});
  BOOST_TEST(throws<shape_error>([&] { (void)attend(dot<d_head>(q, k), v); }));
}

// No query, no batch, no key.
BOOST_AUTO_TEST_CASE(case_43_zero_extents) {
  const auto attend_of = [](int batches, int queries, int keys) {
    const auto q = normal<float, batch, query, d_head>(1, batch{batches}, query{queries}, d_head{8});
    const auto k = normal<float, batch, key, d_head>(2, batch{batches}, key{keys}, d_head{8});
    const auto v = normal<float, batch, key, d_value>(3, batch{batches}, key{keys}, d_value{4});
    const auto scores = dot<d_head>(q, k);
    return std::pair(attend(scores, v), log_sum_exp<key>(scores));
  };
  for (const regime& each : regimes(one_to_five)) BOOST_TEST_CONTEXT(each.name()) {
      const auto run = [&](int batches, int queries, int keys) {
        const auto [context, lse] = attend_of(batches, queries, keys);
        return evaluate(each.policy(), context, lse);
      };
      const auto [no_query, no_query_lse] = run(2, 0, 5);
      BOOST_TEST(no_query.size() == 0);
      BOOST_TEST(no_query_lse.size() == 0);
      const auto [no_batch, no_batch_lse] = run(0, 3, 5);
      BOOST_TEST(no_batch.size() == 0);
      BOOST_TEST(no_batch.extent<query>() == 3);
      const auto [no_key, no_key_lse] = run(2, 3, 0);
      BOOST_TEST(agrees(no_key, std::vector<double>(2 * 3 * 4, 0.0), 0));
      BOOST_TEST(agrees(no_key_lse, std::vector<double>(2 * 3, -infinity), 0));
    }
}

// Heads that do not divide are a sentence, never a trap in a division.
BOOST_AUTO_TEST_CASE(case_44_heads_that_do_not_divide) {
  const tensor<float, query, head, d_head> four{query{2}, head{4}, d_head{8}}, five{query{2}, head{5}, d_head{8}};
  for (const int groups : {0, 1, 4}) {
    BOOST_TEST(throws<shape_error>([&] { (void)split<head, kv_head, group>(four, kv_head{0}, group{groups}); }));
    BOOST_TEST(throws<shape_error>([&] { (void)split<head, kv_head, group>(five, kv_head{2}, group{groups}); }));
  }
  BOOST_TEST(throws<shape_error>([&] { (void)split<head, kv_head, group>(five, kv_head{2}, group{2}); }));
  BOOST_TEST(throws<shape_error>([&] { (void)split<head, kv_head, group>(five, kv_head{2}, group{3}); }));
}

// Widths and lengths off the vector and off the tile: nothing beyond the end is read, and no key beyond it is counted.
// Every buffer is followed by NaN.
BOOST_AUTO_TEST_CASE(case_46_tails) {
  const auto guarded = [](extent_t count, float number) {
    std::vector<float> buffer(static_cast<std::size_t>(count + 64), std::numeric_limits<float>::quiet_NaN());
    std::fill_n(buffer.begin(), count, number);
    return buffer;
  };
  for (const int width : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 80, 120, 256})
    for (const int keys : {1, 31, 32, 33, 63, 64, 65, 127, 128, 129})
      for (const int queries : {1, 3, 17}) {
        const auto q_buffer = guarded(queries * width, 0), k_buffer = guarded(keys * width, 2);
        const auto v_buffer = guarded(keys * width, 1);
        const view<const float, query, d_head> q(q_buffer.data(), query{queries}, d_head{width});
        const view<const float, key, d_head> k(k_buffer.data(), key{keys}, d_head{width});
        const view<const float, key, d_value> v(v_buffer.data(), key{keys}, d_value{width});
        const std::vector<double> ones(static_cast<std::size_t>(queries * width), 1.0);
        BOOST_TEST_CONTEXT("d_head " << width << ", key " << keys << ", query " << queries)
        check(attend(dot<d_head>(q, k), v), ones, 1e-6, one_to_five);
      }
}

// Offsets beyond 2^31: positions are computed, nothing is allocated or read.
BOOST_AUTO_TEST_CASE(case_47_large_offsets) {
  float* const nowhere = nullptr;
  const view<float, batch, head, query, key> v(nowhere, batch{20}, head{32}, query{2000}, key{2000});
  BOOST_TEST(v.size() == 2560000000);
  const extent_t last =
      19 * v.stride<batch>() + 31 * v.stride<head>() + 1999 * v.stride<query>() + 1999 * v.stride<key>();
  BOOST_TEST(last == 2559999999);
  const view<float, query, model> half(nowhere, query{524288}, model{8192 / 2});
  BOOST_TEST(half.size() == 2147483648);
  BOOST_TEST(half.stride<query>() * half.extent<query>() == 2147483648);
}

// Neighbouring heads share a key-value head: repeated, not tiled.
BOOST_AUTO_TEST_CASE(case_49_52_groups) {
  const auto q = split<head, kv_head, group>(tensor<float, head, query, d_head>{head{4}, query{1}, d_head{1}},
                                             kv_head{2}, group{2});
  const tensor<float, kv_head, key, d_head> k{kv_head{2}, key{3}, d_head{1}};
  tensor<float, kv_head, key, d_value> v{kv_head{2}, key{3}, d_value{1}};
  for (int j = 0; j < 3; ++j) {
    v(0, j, 0) = 10;
    v(1, j, 0) = 20;
  }
  const auto context = merge<kv_head, group, head>(attend(dot<d_head>(q, k), v));
  static_assert(has_axes<decltype(context), head, query, d_value>);
  check<head, query, d_value>(context, {10, 10, 20, 20}, 1e-6, one_to_five);
}

struct packed_width : axis<8> {};
struct q_width : axis<4> {};
struct kv_width : axis<2> {};

// Packed q, k and v come apart where they are written, not in three equal parts.
BOOST_AUTO_TEST_CASE(case_51_packed_projections) {
  tensor<float, query, packed_width> packed_row{query{2}};
  for (extent_t i = 0; i < 16; ++i) packed_row.data()[i] = static_cast<float>(i);
  const auto q = slice<packed_width, q_width>(packed_row, 0);
  const auto k = slice<packed_width, kv_width>(packed_row, 4);
  const auto v = slice<packed_width, kv_width>(packed_row, 6);
  check(q, {0, 1, 2, 3, 8, 9, 10, 11}, 0, one_to_five);
  check(k, {4, 5, 12, 13}, 0, one_to_five);
  check(v, {6, 7, 14, 15}, 0, one_to_five);
  const auto heads = split<q_width, head, d_head>(q, head{2}, d_head{2});
  check<head, query, d_head>(heads, {0, 1, 8, 9, 2, 3, 10, 11}, 0, one_to_five);
}

// Heads are the major part of the width: splitting is not reinterpreting.
BOOST_AUTO_TEST_CASE(case_54_heads_of_a_width) {
  const auto x = table<float, query, model>(2, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto heads = split<model, head, d_head>(x, head{2}, d_head{2});
  check<head, query, d_head>(heads, {0, 1, 4, 5, 2, 3, 6, 7}, 0, one_to_five);
}

// Which numbers rotate together is said by name.
BOOST_AUTO_TEST_CASE(case_57_rotary_pairs) {
  const auto x = table<float, query, d_head>(2, {1, 2, 3, 4, 1, 2, 3, 4});
  check(rope<d_head, query>(x, rope_pairs::interleaved), {1, 2, 3, 4, -1.142640, 1.922076, 2.959851, 4.029800}, 1e-6,
        one_to_five);
  check(rope<d_head, query>(x, rope_pairs::half), {1, 2, 3, 4, -1.984111, 1.959901, 2.462378, 4.019800}, 1e-6,
        one_to_five);
}

BOOST_AUTO_TEST_SUITE_END()
