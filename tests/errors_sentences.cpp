// SPDX-License-Identifier: BSL-1.0
// In: extents and arguments that do not fit. Out: the whole text of every exception; docs/errors.md lists them from here.
// The views have no memory at all, so whatever refuses has read nothing; destinations are looked at afterwards.
// Next: lifetime.cpp.
#include "support/schedules.hpp"

#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace heed;
using namespace test;

namespace {

struct four : axis<4> {};
struct eight : axis<8> {};
struct part : axis<> {};

template <class Exception = shape_error, class Action> void says(const char* const sentence, Action action) {
  BOOST_TEST(message_of<Exception>(action) == sentence);
}

/// Memory that is not there.
template <class... A, class... Extent> view<const float, A...> nowhere(Extent... extents) {
  return view<const float, A...>(nullptr, extents...);
}
/// A destination, and whether it is as it was.
template <class... A> struct untouched {
  tensor<float, A...> result;
  explicit untouched(auto... extents) : result(extents...) { std::fill(result.begin(), result.end(), -7.F); }
  ~untouched() { BOOST_TEST(std::count(result.begin(), result.end(), -7.F) == result.size()); }
};

const auto q = nowhere<batch, query, d_head>(batch{2}, query{3}, d_head{4});
const auto k = nowhere<batch, key, d_head>(batch{3}, key{5}, d_head{4});
const auto scores = nowhere<query, key>(query{3}, key{5});
const auto x = nowhere<query, model>(query{3}, model{6});

}  // namespace

BOOST_AUTO_TEST_SUITE(errors_sentences)

BOOST_AUTO_TEST_CASE(data) {
  says("axis: an extent must lie in 0 .. 2^63 - 1, not -1", [] { (void)key{-1}; });
  says("tensor: the product of the extents does not fit into 64 bits", [] {
    tensor<float, query, key>{query{extent_t{1} << 40}, key{extent_t{1} << 40}};
  });
  const auto wide = broadcast<query>(nowhere<key>(key{extent_t{1} << 40}), query{extent_t{1} << 40});
  says("evaluate: the product of the extents does not fit into 64 bits", [&] { evaluate(sum<query, key>(wide)); });
  says("merge: query x key is 1099511627776 x 1099511627776, which does not fit into 64 bits",
       [&] { (void)merge<query, key, part>(wide); });
  const view<const bool, key> flags(nullptr, key{extent_t{1} << 62});
  says("concat: the extents of axis key do not add up within 64 bits", [&] { (void)concat<key>(flags, flags); });
}

BOOST_AUTO_TEST_CASE(two_operands) {
  says("dot: axis batch has extent 2 in the left operand and 3 in the right operand", [] { (void)dot<d_head>(q, k); });
  const auto bias = nowhere<key>(key{4});
  says("operator+: axis key has extent 5 in the left operand and 4 in the right operand",
       [&] { (void)(scores + bias); });
  const view<const bool, key> keep(nullptr, key{4});
  says("where: axis key has extent 4 in the left operand and 5 in the right operand",
       [&] { (void)where(keep, scores); });
  const auto sink = nowhere<query>(query{2});
  says("softmax: axis query has extent 2 in the left operand and 3 in the right operand",
       [&] { (void)softmax<key>(scores, sink); });
  says("concat: axis batch has extent 2 in the left operand and 3 in the right operand",
       [] { (void)concat<key>(rename<query, key>(q), k); });
  says("stack: axis batch has extent 2 in the left operand and 3 in the right operand",
       [] { (void)stack<part>(rename<query, key>(q), k); });
  const view<const int, query> ids(nullptr, query{2});
  says("take: axis query has extent 3 in the left operand and 2 in the right operand",
       [&] { (void)take<key>(scores, ids); });
}

BOOST_AUTO_TEST_CASE(masks) {
  says(
      "causal: axis query has extent 3 and axis key has extent 5: say where the diagonal starts, causal<query, "
      "key>(past)",
      [] { (void)where(causal<query, key>(), scores); });
  says("alibi_slopes: the number of heads must be given", [] { (void)alibi_slopes<head>(); });
  says("alibi_slopes: axis eight has extent 8 in the left operand and 7 in the right operand",
       [] { (void)alibi_slopes<eight>(7); });
}

BOOST_AUTO_TEST_CASE(shapes) {
  says("rename: axis model has extent 6, but four has 4", [] { (void)rename<model, four>(x); });
  says("split: axis model has extent 6, but head x d_head is 4 x 2",
       [] { (void)split<model, head, d_head>(x, head{4}, d_head{2}); });
  says("split: give the extents of head and d_head", [] { (void)split<model, head, d_head>(x, head{0}); });
  says("merge: query x model is 3 x 6, but eight has extent 8", [] { (void)merge<query, model, eight>(x); });
  says("slice: axis model has extent 6, asked for 2 to 7", [] { (void)slice<model>(x, 2, 7); });
  says("slice: axis model has extent 6, asked for 4 from 3", [] { (void)slice<model, four>(x, 3); });
  says("at: axis model has extent 6, asked for element 6", [] { (void)at<model>(x, 6); });
  says("roll: no operand gives axis query an extent", [] { (void)roll<query>(index<query>(), 1); });
  const auto odd = nowhere<query, model>(query{3}, model{5});
  says("rope: axis model has the odd extent 5", [&] { (void)rope<model, query>(odd, rope_pairs::half); });
  const auto table = nowhere<query, hidden>(query{3}, hidden{2});
  says("rope: axis hidden has extent 2, half of model is 3",
       [&] { (void)rope<model, hidden>(x, rope_pairs::half, table, table); });
}

BOOST_AUTO_TEST_CASE(arguments) {
  says<std::invalid_argument>("softcap: the cap must be 0 or more, not -1.000000", [] { (void)softcap(scores, -1); });
  says<std::invalid_argument>("dropout: the probability must lie in [0, 1], not 1.500000",
                              [] { (void)dropout(scores, 1.5, 1); });
}

BOOST_AUTO_TEST_CASE(results) {
  says("evaluate: no operand gives axis query an extent", [] { (void)evaluate(index<query>() + 0); });
  untouched<query, key> to(query{3}, key{4});
  says("evaluate: axis key has extent 5 in the expression and 4 in the destination",
       [&] { evaluate_into(to.result, scores); });
  untouched<query> sums(query{3});
  says("evaluate: axis key has extent 5 in the expression and 4 in the destination",
       [&] { evaluate_into(std::tie(sums.result, to.result), sum<key>(scores), scores); });
}

BOOST_AUTO_TEST_CASE(limits) {
  // 3 x 5 floats
  says(
      "evaluate: the plan would store 60 bytes between its stages, more than the limit of 32; the last of them would "
      "be "
      "softmax with axes (query, key): a reduction whose rows end before it is read",
      [] { (void)evaluate(policy{.schedule = unfused, .store_limit = 32}, softmax<key>(scores) * 2); });
  workspace memory;
  const workspace::lease other_run(&memory);
  says<std::logic_error>("workspace: two runs use it at the same time",
                         [&] { (void)evaluate(policy{.memory = &memory}, scores * 2); });
}

BOOST_AUTO_TEST_CASE(out_of_range) {
  const auto table = counted<float, query, model>(query{4}, model{3});
  const auto ids = row<std::int64_t, key>({0, 4, 2});
  untouched<key, model> to(key{3}, model{3});
  says<std::out_of_range>("take: id 4 lies outside axis query of extent 4",
                          [&] { evaluate_into(to.result, take<query>(table, ids)); });
}

BOOST_AUTO_TEST_CASE(caches) {
  kv_cache<float, key, batch, d_head> cache{key{4}, batch{2}, d_head{3}};
  const auto rows = counted<float, batch, key, d_head>(batch{2}, key{3}, d_head{3});
  cache.append(rows);
  const auto before = evaluate(cache.view());
  says("kv_cache: 3 of 4 places of axis key are filled, 3 more do not fit", [&] { cache.append(rows); });
  says("evaluate: axis batch has extent 3 in the expression and 2 in the destination",
       [&] { cache.append(nowhere<batch, key, d_head>(batch{3}, key{1}, d_head{3})); });
  says("kv_cache: cannot keep 4 of 3 keys", [&] { cache.truncate(4); });
  says("kv_cache: cannot drop 1 to 4 of 3 keys", [&] { cache.drop(1, 4); });
  const view<const int, batch> beams(nullptr, batch{3});
  says("kv_cache: axis batch has extent 2, the ids have 3", [&] { cache.reorder<batch>(beams); });
  BOOST_TEST(cache.length() == 3);
  BOOST_TEST(identical(evaluate(cache.view()), before));
}

BOOST_AUTO_TEST_SUITE_END()
