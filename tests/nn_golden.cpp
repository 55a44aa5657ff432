// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: the same numbers from encoder layers and a llama block of heed::nn, in float.
// The checks stand in support/layers_by_nn.hpp.
// Next: nn_golden_double.cpp.
#include "support/layers_by_nn.hpp"

BOOST_AUTO_TEST_SUITE(nn_golden)

BOOST_AUTO_TEST_CASE(encoder_layers) { test::golden::check_encoder_by_nn<float>(); }
BOOST_AUTO_TEST_CASE(llama_block_of_both_pairings) { test::golden::check_llama_by_nn<float>(); }

BOOST_AUTO_TEST_SUITE_END()
