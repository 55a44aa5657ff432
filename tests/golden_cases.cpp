// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: the same numbers from heed in float, for attention of one head or of grouped heads.
// The formulas stand in support/golden_cases.hpp.
// Next: golden_cases_heads.cpp.
#include "support/golden_cases.hpp"

BOOST_AUTO_TEST_SUITE(golden_cases)

BOOST_AUTO_TEST_CASE(self_attention) { test::golden::check_self_attention<float>(); }
BOOST_AUTO_TEST_CASE(causal_attention) { test::golden::check_causal_attention<float>(); }
BOOST_AUTO_TEST_CASE(cross_padded) { test::golden::check_cross_padded<float>(); }
BOOST_AUTO_TEST_CASE(document_prefix) { test::golden::check_document_prefix<float>(); }
BOOST_AUTO_TEST_CASE(gqa_decode) { test::golden::check_gqa_decode<float>(); }

BOOST_AUTO_TEST_SUITE_END()
