// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: for each element type T, the checks that heed gives the same numbers for whole multi-head
// attention, and for the formula with everything in it (window, ALiBi, softcap, sink), fused and unfused.
// Next: golden_cases_layers.hpp.
#pragma once
#include "schedules.hpp"

#include <cmath>
#include <tuple>

namespace test::golden {

using namespace heed;

template <class T> constexpr double bound = sizeof(T) == 4 ? 1e-5 : 1e-12;

template <class T> void check_multi_head_causal() {
  const auto x = load<T, batch, query, model>("multi_head_causal/x");
  const auto w_q = load<T, model, head, d_head>("multi_head_causal/w_q");
  const auto w_k = load<T, model, head, d_head>("multi_head_causal/w_k");
  const auto w_v = load<T, model, head, d_head>("multi_head_causal/w_v");
  const auto w_o = load<T, head, d_head, model>("multi_head_causal/w_o");
  const auto want_context = load<double, batch, head, query, d_head>("multi_head_causal/context");
  const auto want_weights = load<double, batch, head, query, key>("multi_head_causal/weights");
  const auto want_y = load<double, batch, query, model>("multi_head_causal/y");

  const auto q = dot<model>(x, w_q);
  const auto k = dot<model>(rename<query, key>(x), w_k);
  const auto v = dot<model>(rename<query, key>(x), w_v);
  const auto scores = where(causal<query, key>(), dot<d_head>(q, k) / std::sqrt(4.0));
  const auto weights = softmax<key>(scores);
  const auto context = dot<key>(weights, v);
  const auto y = dot<head, d_head>(context, w_o);

  auto c = tensor_of_shape<T, batch, head, query, d_head>({2, 4, 10, 4});
  auto w = tensor_of_shape<T, batch, head, query, key>({2, 4, 10, 10});
  for (const regime& each : regimes({1, 3})) BOOST_TEST_CONTEXT(each.name()) {
      evaluate_into(each.policy(), std::tie(c, w), context, weights);  // another order of axes than the formula's
      BOOST_TEST(agrees(c, want_context, bound<T>));
      BOOST_TEST(agrees(w, want_weights, bound<T>));
      BOOST_TEST(agrees(evaluate(each.policy(), y), want_y, bound<T>));
    }
}

template <class T> void check_window_alibi_softcap_sink() {
  const auto q = load<T, head, query, d_head>("window_alibi_softcap_sink/q");
  const auto k = load<T, head, key, d_head>("window_alibi_softcap_sink/k");
  const auto v = load<T, head, key, d_head>("window_alibi_softcap_sink/v");
  const auto slopes = load<T, head>("window_alibi_softcap_sink/slopes");
  const auto sink = load<T, head>("window_alibi_softcap_sink/sink");
  const auto want_context = load<double, head, query, d_head>("window_alibi_softcap_sink/context");
  const auto want_weights = load<double, head, query, key>("window_alibi_softcap_sink/weights");

  const auto capped = softcap(dot<d_head>(q, k) / std::sqrt(8.0), 2.5);
  const auto scores = where(window<query, key>(5, 14), capped + alibi<query, key>(slopes, 14));
  const auto weights = softmax<key>(scores, sink);
  const auto context = dot<key>(weights, v);
  static_assert(streams<decltype(context)>);

  for (const regime& each : regimes({1, 3})) BOOST_TEST_CONTEXT(each.name()) {
      const auto [c, w] = evaluate(each.policy(), context, weights);
      BOOST_TEST(agrees(c, want_context, bound<T>));
      BOOST_TEST(agrees(w, want_weights, bound<T>));
      BOOST_TEST(agrees(evaluate(each.policy(), context), want_context, bound<T>));
    }
}

}  // namespace test::golden
