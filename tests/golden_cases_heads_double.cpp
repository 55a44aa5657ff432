// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: the same numbers from heed in double, for multi-head attention and the formula with
// everything. The formulas stand in support/golden_cases_heads.hpp.
// Next: golden_cases_layers_double.cpp.
#include "support/golden_cases_heads.hpp"

BOOST_AUTO_TEST_SUITE(golden_cases_heads_double)

BOOST_AUTO_TEST_CASE(multi_head_causal) { test::golden::check_multi_head_causal<double>(); }
BOOST_AUTO_TEST_CASE(window_alibi_softcap_sink) { test::golden::check_window_alibi_softcap_sink<double>(); }

BOOST_AUTO_TEST_SUITE_END()
