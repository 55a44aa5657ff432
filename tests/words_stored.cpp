// SPDX-License-Identifier: BSL-1.0
// In: formulas, most over dots of queries and keys, with widths that are known at compile time and with such that are not.
// Out: `streams` and the plan say the same: true where nothing of the size of queries x keys is stored, false where it is.
// Next: words_memory.cpp.
#include "support/schedules.hpp"

#include <tuple>
#include <type_traits>

using namespace heed;
using namespace test;

namespace {

constexpr int queries = 300, keys = 320, width = 8, inputs = 12;
constexpr std::size_t bytes_of_scores = std::size_t{4} * queries * keys;

struct static_width : axis<width> {};
struct static_value : axis<width> {};
struct static_model : axis<inputs> {};
struct block : axis<> {};
struct in_block : axis<8> {};
struct part : axis<2> {};
struct mixed : axis<> {};
struct bucket : axis<> {};
struct vocabulary : axis<> {};
struct other_key : axis<> {};

template <class A> inline constexpr std::ptrdiff_t length = width;
template <> inline constexpr std::ptrdiff_t length<batch> = 2;
template <> inline constexpr std::ptrdiff_t length<head> = 2;
template <> inline constexpr std::ptrdiff_t length<group> = 2;
template <> inline constexpr std::ptrdiff_t length<query> = queries;
template <> inline constexpr std::ptrdiff_t length<key> = keys;
template <> inline constexpr std::ptrdiff_t length<model> = inputs;
template <> inline constexpr std::ptrdiff_t length<hidden> = keys;
template <> inline constexpr std::ptrdiff_t length<vocabulary> = keys;

/// A tensor of these axes; nothing is computed here, so zeros do.
template <class... A> tensor<float, A...> of() {
  const auto extent = []<class X>(std::type_identity<X>) {
    if constexpr (is_dynamic<X>)
      return std::tuple<X>(X{length<X>});
    else
      return std::tuple<>();
  };
  return std::apply([](auto... extents) { return tensor<float, A...>{extents...}; },
                    std::tuple_cat(extent(std::type_identity<A>{})...));
}

/// A plan is the same for widths of either kind: one of them does.
template <bool Streams, bool Planned, class E> void check_plan(int line, const E& e) {
  static_assert(streams<E> == Streams);
  if constexpr (Planned) {
    const std::size_t stored = explain(e).bytes_stored;
    BOOST_TEST((stored < bytes_of_scores) == Streams, "line " << line << " stores " << stored << " bytes");
  }
}
template <class E> void check_refused(const E& e) {
  BOOST_TEST(throws<shape_error>([&] { (void)explain(policy{.store_limit = bytes_of_scores - 1}, e); }));
}
#define STREAMS(...) check_plan<true, planned>(__LINE__, __VA_ARGS__)
#define STORES(...) check_plan<false, planned>(__LINE__, __VA_ARGS__)

/// The widths of queries and keys, of values, of a layer.
template <class D, class V, class M> struct problem {
  tensor<float, batch, query, D> q = of<batch, query, D>();
  tensor<float, batch, key, D> k = of<batch, key, D>();
  tensor<float, batch, key, V> v = of<batch, key, V>();
  tensor<float, batch, query, M> x = of<batch, query, M>();
  tensor<float, batch, key, M> y = of<batch, key, M>();
  tensor<float, M, head, D> w_q = of<M, head, D>(), w_k = of<M, head, D>();
  tensor<float, M, head, V> w_v = of<M, head, V>();
  tensor<float, head, V, M> w_o = of<head, V, M>();
  tensor<float, M, head> w_gate = of<M, head>();
};

template <class D, class V, class M> void check_streamed() {
  constexpr bool planned = is_dynamic<D>;
  const problem<D, V, M> p;
  const auto& [q, k, v, x, y, w_q, w_k, w_v, w_o, w_gate] = p;
  const auto s = dot<D>(q, k) / 8.0F;
  const auto w = softmax<key>(s);
  const auto bias = of<query, key>();

  STREAMS(s);
  STREAMS(dot<key>(w, v));
  STREAMS(dot<key>(v, w));
  STREAMS(dot<key>(softmax<key>(where(causal<query, key>(keys - queries), s)), v));
  STREAMS(dot<key>(softmax<key>(where(bias > 0, softcap(s, 30) + bias)), v));
  STREAMS(dot<key>(dropout(w * 2, 0.1, 7), v));
  STREAMS(dot<key>(softmax<key>(s, 0), v) + 1);
  STREAMS(dot<key>(w - softmax<key>(s * 0.5F) * 0.3F, v));
  STREAMS(dot<key>(sigmoid(s - 5), v));
  STREAMS(dot<key>(pow(relu(s), 2), v));
  STREAMS(dot<key>(s, v));
  STREAMS(dot<key>(exp(s), v) / sum<key>(exp(s)));
  STREAMS(log_sum_exp<key>(s));
  STREAMS(max<key>(s));
  STREAMS(mean<key>(s));
  STREAMS(sum<key>(exp(s)));
  STREAMS(sum<query>(max<key>(s)));
  STREAMS(dot<key>(s - mean<key>(s), v));
  STREAMS(dot<key>(softmax<key>(s - max<key>(s)), v));
  STREAMS(dot<other_key>(softmax<other_key>(rename<key, other_key>(s)), rename<key, other_key>(v)));

  // buckets of distances, each with a vector
  const auto distance = min(max(index<key>() - index<query>(), -3), 3) + 3;
  STREAMS(dot<key>(softmax<key>(s + take<bucket>(dot<D>(q, of<bucket, D>()), distance)), v));
  // keys in another order, older ones before them
  const auto order = tensor<std::int64_t, key>{key{keys}};
  STREAMS(dot<key>(softmax<key>(dot<D>(q, take<key>(k, order))), v));
  STREAMS(dot<key>(softmax<key>(dot<D>(q, concat<key>(k, k))), concat<key>(v, v)));
}

template <class D, class V, class M> void check_projected() {
  constexpr bool planned = is_dynamic<D>;
  const problem<D, V, M> p;
  const auto& [q, k, v, x, y, w_q, w_k, w_v, w_o, w_gate] = p;
  constexpr rope_pairs pairs = rope_pairs::half;
  const auto p_q = dot<M>(x, w_q);
  const auto p_k = dot<M>(y, w_k);
  const auto p_v = dot<M>(y, w_v);
  const auto layer = [&](const auto& some_q, const auto& some_k, const auto& some_v) {
    return p.x + dot<head, V>(dot<key>(softmax<key>(dot<D>(some_q, some_k) / 3), some_v), p.w_o);
  };
  STREAMS(p_q);
  STREAMS(dot<D>(p_q, p_k));
  STREAMS(layer(p_q, p_k, p_v));
  STREAMS(layer(rope<D, query>(p_q, pairs), rope<D, key>(p_k, pairs), p_v));
  STREAMS(layer(rms_norm<D>(p_q, 1), rms_norm<D>(p_k, 1), p_v));
  STREAMS(layer(p_q, concat<key>(p_k, p_k), concat<key>(p_v, p_v)));
  STREAMS(layer_norm<M>(layer(p_q, p_k, p_v), 1, 0));
  STREAMS(layer(let(p_q), let(p_k), let(p_v)));
  // one head of keys for all; several queries a head
  STREAMS(layer(p_q, at<head>(p_k, 0), at<head>(p_v, 0)));
  const auto grouped = dot<M>(x, of<M, head, group, D>());
  STREAMS(dot<key>(softmax<key>(dot<D>(grouped, p_k)), p_v));
  // gates of a key, and a running sum of them
  const auto gate = dot<M>(y, w_gate);
  STREAMS(dot<key>(softmax<key>(dot<D>(p_q, p_k)) * sigmoid(gate), p_v));
  STREAMS(dot<key>(softmax<key>(dot<D>(p_q, p_k) - cumsum<key>(log(sigmoid(gate)))), p_v));
  STREAMS(dot<key>(softmax<key>(dot<D>(p_q, p_k) - let(cumsum<key>(log(sigmoid(gate))))), p_v));
  // a loss over a vocabulary, a feed-forward network
  const auto logits = dot<M>(at<batch>(x, 0), of<M, vocabulary>());
  STREAMS(log_sum_exp<vocabulary>(logits));
  const auto up = of<M, hidden>();
  STREAMS(dot<hidden>(gelu(dot<M>(x, up)), of<hidden, M>()));
}

template <class D, class V, class M> void check_stored() {
  constexpr bool planned = is_dynamic<D>;
  const problem<D, V, M> p;
  const auto& [q, k, v, x, y, w_q, w_k, w_v, w_o, w_gate] = p;
  const auto s = dot<D>(q, k) / 8.0F;
  const auto w = softmax<key>(s);
  const auto context = [&](const auto& scores) { return dot<key>(softmax<key>(scores), p.v); };

  STORES(w);
  STORES(context(w));
  STORES(dot<key>(softmax<query>(s), v));
  STORES(dot<key>(w * w, v));
  STORES(dot<key>(w * exp(softmax<key>(s * 2)), v));
  STORES(dot<key>(w * sigmoid(s), v));
  STORES(context(where(s > 0, s)));
  STORES(context(s + softmax<key>(s)));
  STORES(dot<query>(w, q));
  STORES(sum<query>(w));
  STORES(sum<key>(w * log(w + 1e-9F)));
  // the whole row is needed
  STORES(variance<key>(s));
  STORES(argmax<key>(s));
  STORES(cumsum<key>(s));
  STORES(dot<key>(cumsum<key>(s), v));
  STORES(dot<key>(layer_norm<key>(s, 1, 0), v));
  STORES(context(cumsum<key>(s)));
  STORES(sum<query, key>(s));
  // elements elsewhere
  const auto order = tensor<std::int64_t, key>{key{keys}};
  STORES(context(roll<key>(s, 1)));
  STORES(context(roll<query>(s, 1)));
  STORES(dot<key>(roll<key>(s, 1), v));
  STORES(dot<key>(softmax<key>(slice<key>(s, 3, 60)), slice<key>(v, 3, 60)));
  STORES(dot<key>(softmax<key>(concat<key>(s, s)), concat<key>(v, v)));
  STORES(context(at<part>(stack<part>(s, s), 0)));
  STORES(context(take<key>(s, order)));
  STORES(context(let(s)));
  STORES(dot<key>(let(w), v));
  STORES(max<key>(roll<key>(s, 1)));
  const auto in_blocks = [](const auto& e) { return split<key, block, in_block>(e, block{keys / 8}); };
  STORES(dot<block, in_block>(softmax<block, in_block>(in_blocks(s)), in_blocks(v)));
  STORES(context(merge<block, in_block, key>(dot<D>(q, in_blocks(k)))));
  // a loss that looks one logit up
  const auto logits = dot<M>(at<batch>(x, 0), of<M, vocabulary>());
  STORES(log_sum_exp<vocabulary>(logits) - take<vocabulary>(logits, tensor<std::int64_t, query>{query{queries}}));
  // heads are mixed before the softmax, compete with each other, or are summed
  const auto p_q = dot<M>(x, w_q);
  const auto p_k = dot<M>(y, w_k);
  const auto heads = dot<D>(p_q, p_k);
  STORES(context(dot<head>(heads, of<head, mixed>())));
  STORES(dot<key>(softmax<head>(heads), v));
  // more dots than a tile has room for
  STORES(dot<key>(sigmoid(s + dot<D>(q, k) + dot<D>(q, k) + dot<D>(q, k) + dot<D>(q, k)), v));
  // a masked operand
  STORES(context(dot<D>(where(q > 0, q), k)));
}

/// Without an axis that queries and keys share, scores have the axes of a projection: the contracted one tells.
void check_shared_by_none() {
  constexpr bool planned = true;
  const auto q = of<query, static_width>();
  const auto k = of<key, static_width>();
  const auto v = of<key, static_value>();
  const auto s = dot<static_width>(q, k);
  STREAMS(dot<key>(softmax<key>(s), v));
  STREAMS(dot<static_value>(dot<key>(sigmoid(s), v), of<static_value, model>()));
  STORES(dot<key>(softmax<key>(roll<key>(s, 1)), v));
  STORES(dot<key>(cumsum<key>(s), v));
  STORES(dot<key>(let(s), v));
  STORES(variance<key>(s));
  STORES(argmax<key>(s));
  STORES(sum<query, key>(s));
  check_refused(dot<key>(softmax<key>(roll<key>(s, 1)), v));
  check_refused(variance<key>(s));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_stored)

BOOST_AUTO_TEST_CASE(what_streams) {
  check_streamed<static_width, static_value, static_model>();
  check_streamed<d_head, d_value, model>();
}
BOOST_AUTO_TEST_CASE(projections_are_no_scores) {
  check_projected<static_width, static_value, static_model>();
  check_projected<d_head, d_value, model>();
}
BOOST_AUTO_TEST_CASE(what_is_stored) {
  check_stored<static_width, static_value, static_model>();
  check_stored<d_head, d_value, model>();
}
BOOST_AUTO_TEST_CASE(what_the_contracted_axis_tells) { check_shared_by_none(); }

BOOST_AUTO_TEST_SUITE_END()
