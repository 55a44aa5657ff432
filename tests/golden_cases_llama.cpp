// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: the same numbers from heed in float, for a llama block of both rotary pairings.
// The formulas stand in support/golden_cases_layers.hpp.
// Next: laws.cpp.
#include "support/golden_cases_layers.hpp"

BOOST_AUTO_TEST_SUITE(golden_cases_llama)

BOOST_AUTO_TEST_CASE(llama_block_of_both_pairings) { test::golden::check_llama_block_of_both_pairings<float>(); }

BOOST_AUTO_TEST_SUITE_END()
