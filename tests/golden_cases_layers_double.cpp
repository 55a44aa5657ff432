// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: the same numbers from heed in double, for encoder layers.
// The formulas stand in support/golden_cases_layers.hpp.
// Next: golden_cases_llama_double.cpp.
#include "support/golden_cases_layers.hpp"

BOOST_AUTO_TEST_SUITE(golden_cases_layers_double)

BOOST_AUTO_TEST_CASE(encoder_layer_post_norm) { test::golden::check_encoder_layer_post_norm<double>(); }
BOOST_AUTO_TEST_CASE(encoder_layer_pre_norm) { test::golden::check_encoder_layer_pre_norm<double>(); }

BOOST_AUTO_TEST_SUITE_END()
