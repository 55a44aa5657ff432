// SPDX-License-Identifier: BSL-1.0
// In: extents and arguments that do not fit. Out: an exception of the promised type, thrown where the operation is
// written, with a sentence that names the operation, the axis and both sides; and nothing written.
// Next: lifetime.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace heed;
using namespace test;

namespace {

struct static_width : axis<6> {};

template <class Action> void refused(Action action, std::initializer_list<const char*> words = {}) {
  BOOST_TEST(throws<shape_error>(action));
  const std::string text = message_of<shape_error>(action);
  for (const char* const word : words)
    BOOST_TEST(text.find(word) != std::string::npos, "\"" << word << "\" is missing in: " << text);
}

/// Memory that cannot be read: whatever is checked has to be checked before.
template <class... A, class... Extent> view<const float, A...> nowhere(Extent... extents) {
  return view<const float, A...>(nullptr, extents...);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(errors_runtime)

BOOST_AUTO_TEST_CASE(a_shape_error_is_an_invalid_argument) {
  static_assert(std::is_base_of_v<std::invalid_argument, shape_error>);
}

BOOST_AUTO_TEST_CASE(contractions) {
  const auto left = nowhere<batch, query, d_head>(batch{2}, query{3}, d_head{4});
  const auto right = nowhere<batch, key, d_head>(batch{3}, key{3}, d_head{4});
  const std::string text = message_of<shape_error>([&] { (void)dot<d_head>(left, right); });
  BOOST_TEST(text == "dot: axis batch has extent 2 in the left operand and 3 in the right operand");
  const auto narrow = nowhere<key, d_head>(key{3}, d_head{5});
  refused([&] { (void)dot<d_head>(left, narrow); }, {"dot", "d_head", "4", "5", "left operand", "right operand"});
  refused([&] { (void)dot<d_head>(left * 2, relu(narrow)); }, {"dot", "d_head", "4", "5"});
}

BOOST_AUTO_TEST_CASE(elementwise_operations) {
  const auto x = nowhere<query, key>(query{2}, key{3});
  const auto y = nowhere<key>(key{4});
  refused([&] { (void)(x + y); }, {"key", "3", "4"});
  refused([&] { (void)(y - x); }, {"key", "4", "3"});
  refused([&] { (void)(x * y); }, {"key"});
  refused([&] { (void)(x == y); }, {"key"});
  refused([&] { (void)min(x, y); }, {"min", "key"});
  refused([&] { (void)pow(x, y); }, {"pow", "key"});
  const view<const bool, key> keep(nullptr, key{4});
  refused([&] { (void)where(keep, x); }, {"where", "key", "4", "3"});
  refused([&] { (void)where(keep, x, x); }, {"where", "key"});
  const view<const std::int64_t, query> document(nullptr, query{5});
  refused([&] { (void)where(document == 0, x); }, {"where", "query", "5", "2"});
  refused([&] { (void)broadcast<batch>(x + y, batch{2}); }, {"key"});
}

BOOST_AUTO_TEST_CASE(reductions_and_norms) {
  const auto x = nowhere<query, key>(query{2}, key{3});
  const auto sink = nowhere<query>(query{3});
  refused([&] { (void)softmax<key>(x, sink); }, {"softmax", "query", "2", "3"});
  refused([&] { (void)log_sum_exp<key>(x, sink); }, {"log_sum_exp", "query"});
  const auto gamma = nowhere<key>(key{4});
  refused([&] { (void)layer_norm<key>(x, gamma, gamma); }, {"key", "3", "4"});
  refused([&] { (void)rms_norm<key>(x, gamma); }, {"key", "3", "4"});
}

BOOST_AUTO_TEST_CASE(masks_that_need_equal_extents) {
  const auto x = nowhere<query, key>(query{2}, key{5});
  refused([&] { (void)evaluate(where(causal<query, key>(), x)); }, {"causal", "query", "key", "2", "5"});
  refused([&] { (void)evaluate(unfused, where(causal<query, key>() && index<key>() > 0, x)); }, {"causal"});
  refused([&] { (void)where(causal<query, key>(), x); }, {"causal"});  // as soon as both are known
}

BOOST_AUTO_TEST_CASE(words_of_shape) {
  const auto x = nowhere<query, model>(query{2}, model{6});
  refused([&] { (void)split<model, head, d_head>(x, head{4}, d_head{2}); }, {"split", "model", "head", "d_head", "6"});
  refused([&] { (void)split<model, head, static_width>(x, head{2}); }, {"split", "model", "6"});
  refused([&] { (void)slice<model>(x, 2, 7); }, {"slice", "model", "7", "6"});
  refused([&] { (void)slice<model>(x, -1, 3); }, {"slice", "model", "-1"});
  refused([&] { (void)slice<model>(x, 4, 3); }, {"slice", "model"});
  const auto wide = nowhere<query, static_width>(query{2});
  struct four : axis<4> {};
  refused([&] { (void)slice<static_width, four>(wide, 3); }, {"slice", "static_width"});
  refused([&] { (void)slice<static_width, four>(wide, -1); }, {"slice", "static_width"});
  refused([&] { (void)at<model>(x, 6); }, {"at", "model", "6"});
  refused([&] { (void)at<model>(x, -1); }, {"at", "model", "-1"});
  refused([&] { (void)rename<model, four>(x); }, {"rename", "model", "4", "6"});
  const auto y = nowhere<query, model>(query{3}, model{6});
  refused([&] { (void)concat<model>(x, y); }, {"concat", "query", "2", "3"});
  refused([&] { (void)stack<batch>(x, y); }, {"stack", "query", "2", "3"});
  const auto odd = nowhere<query, model>(query{2}, model{5});
  refused([&] { (void)rope<model, query>(odd, rope_pairs::half); }, {"rope", "model", "5"});
  const auto halves = nowhere<query, hidden>(query{2}, hidden{2});
  refused([&] { (void)rope<model, hidden>(x, rope_pairs::half, halves, halves); }, {"rope", "model", "3", "2"});
}

BOOST_AUTO_TEST_CASE(destinations) {
  const auto x = nowhere<query, key>(query{2}, key{3});
  tensor<float, query, key> other{query{2}, key{4}};
  refused([&] { evaluate_into(other, x); }, {"key", "3", "4"});
  refused([&] { evaluate_into(unfused, slice<key>(other, 0, 2), x); }, {"key", "2", "3"});
  tensor<float, query> fits{query{2}};
  refused([&] { evaluate_into(std::tie(fits, other), sum<key>(x), x); }, {"key"});  // before anything is read
}

BOOST_AUTO_TEST_CASE(extents) {
  for (const int n : {-1, -5, std::numeric_limits<int>::min()}) refused([&] { (void)key{n}; }, {"extent"});
  refused([] { (void)key{std::numeric_limits<std::uint64_t>::max()}; });  // does not fit
  // products that do not fit into 64 bits
  const extent_t large = extent_t{1} << 40;
  refused([&] { tensor<float, query, key>{query{large}, key{large}}; });
  refused([&] { (void)nowhere<query, key>(query{large}, key{large}); });
  refused([&] { tensor<double, query>{query{std::numeric_limits<extent_t>::max() / 4}}; });  // of bytes
#if !defined(__SANITIZE_ADDRESS__)                                                           // which ends the program
  // what fits and is not there is a bad_alloc
  BOOST_TEST(throws<std::bad_alloc>([&] { tensor<float, query>{query{extent_t{1} << 55}}; }));
#endif
}

// An index expression has no extent of its own, and nothing gives it one.
BOOST_AUTO_TEST_CASE(undetermined_extents) {
  refused([] { (void)evaluate(index<query>() + 0); }, {"query"});
  refused([] { (void)evaluate(unfused, index<query>() - index<key>()); });
}

BOOST_AUTO_TEST_CASE(ids_out_of_range) {
  const auto embedding = counted<float, query, model>(query{4}, model{3});
  for (const std::int64_t bad : {std::int64_t{4}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    auto ids = row<std::int64_t, key>({0, 3, 2});
    ids(1) = bad;
    const auto taken = take<query>(embedding, ids);
    for (const regime& each : regimes()) BOOST_TEST_CONTEXT(each.name() << ", id " << bad) {
        BOOST_TEST(throws<std::out_of_range>([&] { (void)evaluate(each.policy(), taken * 2); }));
        tensor<float, key, model> untouched{key{3}, model{3}};
        for (float& element : untouched) element = -7;
        BOOST_TEST(throws<std::out_of_range>([&] { evaluate_into(each.policy(), untouched, taken); }));
        for (const float element : untouched) BOOST_TEST(element == -7);
        tensor<float, key> totals{key{3}};
        for (float& element : totals) element = -7;
        BOOST_TEST(throws<std::out_of_range>([&] { evaluate_into(each.policy(), totals, sum<model>(taken)); }));
        for (const float element : totals) BOOST_TEST(element == -7);
      }
  }
  const auto good = take<query>(embedding, row<std::int64_t, key>({3, 0, 3}));
  check(good, {9, 10, 11, 0, 1, 2, 9, 10, 11}, 0);
}

BOOST_AUTO_TEST_CASE(arguments_of_softcap_and_dropout) {
  const auto x = row<float, key>({1, 2});
  const auto wrong = [](auto action) { BOOST_TEST(throws<std::invalid_argument>(action)); };
  for (const double cap : {-1.0, -infinity, not_a_number}) wrong([&] { (void)softcap(x, cap); });
  for (const double p : {-0.1, 1.1, infinity, not_a_number}) wrong([&] { (void)dropout(x, p, 1); });
  (void)softcap(x, 0);
  (void)softcap(x, infinity);
  (void)dropout(x, 0.0, 1);
  (void)dropout(x, 1.0, 1);
}

BOOST_AUTO_TEST_CASE(caches) {
  kv_cache<float, key, batch, d_head> cache{key{4}, batch{2}, d_head{3}};
  const auto rows = tensor<float, batch, key, d_head>{batch{2}, key{3}, d_head{3}};
  cache.append(rows);
  refused([&] { cache.append(rows); }, {"4"});
  refused([&] { cache.append(nowhere<batch, key, d_head>(batch{3}, key{1}, d_head{3})); }, {"batch", "3", "2"});
  refused([&] { cache.truncate(4); });
  refused([&] { cache.truncate(-1); });
  refused([&] { cache.drop(1, 4); });
  refused([&] { cache.drop(2, 1); });
  BOOST_TEST(cache.length() == 3);
}

BOOST_AUTO_TEST_SUITE_END()
