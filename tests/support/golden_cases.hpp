// SPDX-License-Identifier: BSL-1.0
// In: tests/golden (float64, made by another program). Out: for each element type T, the checks that heed gives the
// same numbers for attention of one head or of grouped heads, fused and unfused.
// Next: golden_cases_heads.hpp.
#pragma once
#include "schedules.hpp"

#include <cmath>
#include <cstdint>

namespace test::golden {

using namespace heed;

struct d_k : axis<> {};
struct d_v : axis<> {};

template <class T> constexpr double bound = sizeof(T) == 4 ? 1e-5 : 1e-12;

/// Context and weights from one evaluation, under every regime.
template <class Context, class Weights, class WantContext, class WantWeights>
void check_both(const Context& context, const Weights& weights, const WantContext& want_context,
                const WantWeights& want_weights) {
  using element = typename Context::value_type;
  for (const regime& each : regimes({1, 3})) {
    const auto [c, w] = evaluate(each.policy(), context, weights);
    BOOST_TEST_CONTEXT(each.name()) {
      BOOST_TEST(agrees(c, want_context, bound<element>));
      BOOST_TEST(agrees(w, want_weights, bound<element>));
      BOOST_TEST(agrees(evaluate(each.policy(), context), want_context, bound<element>));
    }
  }
}

template <class T> void check_self_attention() {
  const auto x = load<T, query, model>("self_attention/x");
  const auto w_q = load<T, model, d_k>("self_attention/w_q"), w_k = load<T, model, d_k>("self_attention/w_k");
  const auto w_v = load<T, model, d_v>("self_attention/w_v");

  const auto q = dot<model>(x, w_q);
  const auto k = dot<model>(rename<query, key>(x), w_k);
  const auto v = dot<model>(rename<query, key>(x), w_v);
  const auto weights = softmax<key>(dot<d_k>(q, k) / std::sqrt(4.0));
  const auto context = dot<key>(weights, v);

  check_both(context, weights, load<double, query, d_v>("self_attention/context"),
             load<double, query, key>("self_attention/weights"));
}

template <class T> void check_causal_attention() {
  const auto x = load<T, query, model>("causal/x");
  const auto w_q = load<T, model, d_k>("causal/w_q"), w_k = load<T, model, d_k>("causal/w_k");
  const auto w_v = load<T, model, d_v>("causal/w_v");

  const auto q = dot<model>(x, w_q);
  const auto k = dot<model>(rename<query, key>(x), w_k);
  const auto v = dot<model>(rename<query, key>(x), w_v);
  const auto scores = where(index<key>() <= index<query>(), dot<d_k>(q, k) / std::sqrt(4.0));
  const auto weights = softmax<key>(scores);

  check_both(dot<key>(weights, v), weights, load<double, query, d_v>("causal/context"),
             load<double, query, key>("causal/weights"));
}

template <class T> void check_cross_padded() {
  const auto x_query = load<T, batch, query, model>("cross_padded/x_query");
  const auto x_key = load<T, batch, key, model>("cross_padded/x_key");
  const auto w_q = load<T, model, d_k>("cross_padded/w_q"), w_k = load<T, model, d_k>("cross_padded/w_k");
  const auto w_v = load<T, model, d_v>("cross_padded/w_v");
  const auto length = load<std::int64_t, batch>("cross_padded/length");

  const auto q = dot<model>(x_query, w_q);
  const auto k = dot<model>(x_key, w_k);
  const auto v = dot<model>(x_key, w_v);
  const auto weights = softmax<key>(where(index<key>() < length, dot<d_k>(q, k) / std::sqrt(8.0)));

  check_both(dot<key>(weights, v), weights, load<double, batch, query, d_v>("cross_padded/context"),
             load<double, batch, query, key>("cross_padded/weights"));
}

template <class T> void check_document_prefix() {
  const auto q = load<T, query, d_head>("document_prefix/q");
  const auto k = load<T, key, d_head>("document_prefix/k");
  const auto v = load<T, key, d_head>("document_prefix/v");
  const auto document = load<std::int64_t, query>("document_prefix/document");

  const auto same_document = document == rename<query, key>(document);
  const auto keep = (same_document && index<key>() <= index<query>()) || index<key>() < 2;
  const auto weights = softmax<key>(where(keep, dot<d_head>(q, k) / std::sqrt(8.0)));

  check_both(dot<key>(weights, v), weights, load<double, query, d_head>("document_prefix/context"),
             load<double, query, key>("document_prefix/weights"));
}

template <class T> void check_gqa_decode() {
  const auto q = load<T, batch, kv_head, group, query, d_head>("gqa_decode/q");
  const auto k = load<T, batch, kv_head, key, d_head>("gqa_decode/k");  // no axis group: never repeated
  const auto v = load<T, batch, kv_head, key, d_head>("gqa_decode/v");

  const auto weights = softmax<key>(dot<d_head>(q, k) / std::sqrt(16.0));
  const auto context = dot<key>(weights, v);
  static_assert(streams<decltype(context)>);

  check_both(expect<batch, kv_head, group, query, d_head>(context), weights,
             load<double, batch, kv_head, group, query, d_head>("gqa_decode/context"),
             load<double, batch, kv_head, group, query, key>("gqa_decode/weights"));
}

}  // namespace test::golden
