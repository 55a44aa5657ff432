// SPDX-License-Identifier: BSL-1.0
// In: keys and values that arrive in chunks. Out: what the words about kv_cache promise: append, view, length,
// truncate, drop, reorder, and a refusal past the capacity that changes nothing.
// Next: storage_types.cpp.
#include "support/schedules.hpp"

#include <cstdint>

using namespace heed;
using namespace test;

namespace {

struct static_head : axis<2> {};
struct static_width : axis<3> {};

using cache_type = kv_cache<float, key, batch, d_head>;

/// Rows from .. to - 1 of two batches: the number is 1000 batch + 10 row + column.
auto rows(int from, int to) {
  tensor<float, batch, key, d_head> x{batch{2}, key{to - from}, d_head{3}};
  for (int b = 0; b < 2; ++b)
    for (int j = from; j < to; ++j)
      for (int d = 0; d < 3; ++d) x(b, j - from, d) = static_cast<float>(1000 * b + 10 * j + d);
  return x;
}

/// What the cache holds, batch by batch, as the row each place came from.
std::vector<double> origins(const cache_type& cache, extent_t b) {
  const auto held = evaluate<batch, key, d_head>(cache.view());
  std::vector<double> result;
  for (extent_t j = 0; j < cache.length(); ++j) {
    const auto first = static_cast<double>(held(b, j, 0));
    for (extent_t d = 0; d < 3; ++d) BOOST_TEST(static_cast<double>(held(b, j, d)) == first + static_cast<double>(d));
    result.push_back(first / 10);
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_cache)

BOOST_AUTO_TEST_CASE(appends_and_views) {
  cache_type cache{key{8}, batch{2}, d_head{3}};
  BOOST_TEST(cache.length() == 0);
  BOOST_TEST(evaluate(cache.view()).size() == 0);
  cache.append(rows(0, 3));
  BOOST_TEST(cache.length() == 3);
  cache.append(unfused, rows(3, 4));
  cache.append(policy{.threads = 2}, rows(4, 4));      // nothing
  cache.append(policy{.threads = 2}, rows(4, 6) + 0);  // an expression
  BOOST_TEST(cache.length() == 6);
  BOOST_TEST(cache.view().template extent<key>() == 6);
  static_assert(has_axes<decltype(cache.view()), batch, key, d_head>);
  const auto held = evaluate<batch, key, d_head>(cache.view());
  BOOST_TEST(identical(held, rows(0, 6)));
  check<batch, d_head>(sum<key>(cache.view()), {150, 156, 162, 6150, 6156, 6162}, 0);
  const auto turned = evaluate<key, d_head, batch>(rows(6, 8));  // the order of axes is the cache's business
  cache.append(turned);
  const auto full = evaluate<batch, key, d_head>(cache.view());
  BOOST_TEST(identical(full, rows(0, 8)));
}

BOOST_AUTO_TEST_CASE(past_the_capacity) {
  cache_type cache{key{4}, batch{2}, d_head{3}};
  cache.append(rows(0, 3));
  BOOST_TEST(throws<shape_error>([&] { cache.append(rows(3, 5)); }));
  BOOST_TEST(cache.length() == 3);
  const auto held = evaluate<batch, key, d_head>(cache.view());
  BOOST_TEST(identical(held, rows(0, 3)));
  cache.append(rows(3, 4));
  BOOST_TEST(throws<shape_error>([&] { cache.append(unfused, rows(4, 5)); }));
  BOOST_TEST(agree(origins(cache, 0), {0, 1, 2, 3}, 0));
}

BOOST_AUTO_TEST_CASE(truncation_and_dropping) {
  cache_type cache{key{8}, batch{2}, d_head{3}};
  cache.append(rows(0, 7));
  cache.truncate(5);
  BOOST_TEST(cache.length() == 5);
  BOOST_TEST(agree(origins(cache, 0), {0, 1, 2, 3, 4}, 0));
  cache.drop(1, 3);
  BOOST_TEST(cache.length() == 3);
  BOOST_TEST(agree(origins(cache, 0), {0, 3, 4}, 0));
  BOOST_TEST(agree(origins(cache, 1), {100, 103, 104}, 0));
  cache.append(rows(7, 9));
  BOOST_TEST(agree(origins(cache, 1), {100, 103, 104, 107, 108}, 0));
  cache.drop(0, 2);
  cache.drop(1, 1);
  BOOST_TEST(agree(origins(cache, 0), {4, 7, 8}, 0));
  cache.truncate(0);
  BOOST_TEST(cache.length() == 0);
  cache.append(rows(2, 3));
  BOOST_TEST(agree(origins(cache, 0), {2}, 0));
}

BOOST_AUTO_TEST_CASE(reordering_a_batch) {
  cache_type cache{key{8}, batch{2}, d_head{3}};
  cache.append(rows(0, 3));
  cache.template reorder<batch>(row<std::int64_t, batch>({1, 0}));
  BOOST_TEST(agree(origins(cache, 0), {100, 101, 102}, 0));
  BOOST_TEST(agree(origins(cache, 1), {0, 1, 2}, 0));
  cache.template reorder<batch>(row<std::int64_t, batch>({1, 1}));
  BOOST_TEST(agree(origins(cache, 0), {0, 1, 2}, 0));
  BOOST_TEST(agree(origins(cache, 1), {0, 1, 2}, 0));
  cache.append(rows(3, 4));
  BOOST_TEST(agree(origins(cache, 1), {0, 1, 2, 103}, 0));
  BOOST_TEST(throws<std::out_of_range>([&] { cache.template reorder<batch>(row<std::int64_t, batch>({0, 2})); }));
}

BOOST_AUTO_TEST_CASE(axes_of_static_extent_are_left_out) {
  kv_cache<float, key, static_head, static_width> cache{key{4}};
  tensor<float, key, static_head, static_width> x{key{2}};
  for (extent_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  cache.append(x);
  cache.append(x * 10);
  check<key, static_head, static_width>(slice<key>(cache.view(), 1, 3), {6, 7, 8, 9, 10, 11, 0, 10, 20, 30, 40, 50}, 0);
}

// Sequences of different length in one batch: their lengths in an integer tensor, and a mask.
BOOST_AUTO_TEST_CASE(sequences_of_different_length) {
  cache_type keys{key{8}, batch{2}, d_head{3}}, values{key{8}, batch{2}, d_head{3}};
  keys.append(rows(0, 5) * 0);
  values.append(rows(0, 5));
  const auto length = row<std::int32_t, batch>({2, 5});
  const tensor<float, batch, query, d_head> q{batch{2}, query{1}, d_head{3}};
  const auto scores = where(index<key>() < length, dot<d_head>(q, keys.view()));
  check<batch, query, d_head>(dot<key>(softmax<key>(scores), values.view()), {5, 6, 7, 1020, 1021, 1022}, 1e-6);
}

// A narrow cache holds what is appended, rounded.
BOOST_AUTO_TEST_CASE(narrow_storage) {
  kv_cache<bf16, key, batch, d_head> cache{key{4}, batch{2}, d_head{3}};
  cache.append(rows(0, 2) / 1024);
  const auto held = numbers_of(evaluate<batch, key, d_head>(cache.view()));
  std::vector<double> want;
  for (const float number : rows(0, 2)) want.push_back(static_cast<double>(static_cast<float>(bf16(number / 1024))));
  BOOST_TEST(agree(held, want, 0));
}

BOOST_AUTO_TEST_SUITE_END()
