// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: the same numbers from heed in float, for multi-head attention and the formula with everything;
// and that the reference of the other tests agrees with the goldens.
// Next: golden_cases_layers.cpp.
#include "support/golden_cases_heads.hpp"

#include <cmath>

using namespace test;

BOOST_AUTO_TEST_SUITE(golden_cases_heads)

BOOST_AUTO_TEST_CASE(multi_head_causal) { test::golden::check_multi_head_causal<float>(); }
BOOST_AUTO_TEST_CASE(window_alibi_softcap_sink) { test::golden::check_window_alibi_softcap_sink<float>(); }

// The reference of these tests and the goldens come from different hands.
BOOST_AUTO_TEST_CASE(the_reference_of_the_tests_agrees) {
  const auto one_batch = [](const grid<3>& x) {
    grid<4> result(1, x.extents[0], x.extents[1], x.extents[2]);
    result.numbers = x.numbers;
    return result;
  };
  const auto slopes = grid_of(load<double, head>("window_alibi_softcap_sink/slopes"));
  const auto sink = grid_of(load<double, head>("window_alibi_softcap_sink/sink"));
  reference::attention_terms terms;
  terms.scale = 1 / std::sqrt(8.0);
  terms.cap = 2.5;
  terms.keep = [](auto, auto, auto i, auto j) { return j <= i + 14 && i + 14 - j < 5; };
  terms.bias = [&](auto, auto h, auto i, auto j) { return slopes(h) * static_cast<double>(j - i - 14); };
  terms.sink = [&](auto, auto h) { return sink(h); };
  const auto values =
      reference::attention(one_batch(grid_of(load<double, head, query, d_head>("window_alibi_softcap_sink/q"))),
                           one_batch(grid_of(load<double, head, key, d_head>("window_alibi_softcap_sink/k"))),
                           one_batch(grid_of(load<double, head, key, d_head>("window_alibi_softcap_sink/v"))), terms);
  const auto want_context = load<double, head, query, d_head>("window_alibi_softcap_sink/context");
  const auto want_weights = load<double, head, query, key>("window_alibi_softcap_sink/weights");
  BOOST_TEST(agrees(values.context, want_context, 1e-14));
  BOOST_TEST(agrees(values.weights, want_weights, 1e-14));
}

BOOST_AUTO_TEST_SUITE_END()
