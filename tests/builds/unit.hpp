// SPDX-License-Identifier: BSL-1.0
// In: queries, keys and values. Out: attention over them by the unit that was compiled for every x86-64, and by the one that
// was compiled for AVX2; both see the same types.
// Next: unit.cpp, compiled twice.
#pragma once

#include <heed/policy.hpp>
#include <heed/tensor.hpp>

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<16> {};

using queries = heed::tensor<float, query, d_head>;
using keys = heed::tensor<float, key, d_head>;

namespace unit_sse {
queries attention(queries const& q, keys const& k, keys const& v, heed::policy const& how);
bool refuses(queries const& q, keys const& k);
}  // namespace unit_sse
namespace unit_avx2 {
queries attention(queries const& q, keys const& k, keys const& v, heed::policy const& how);
bool refuses(queries const& q, keys const& k);
}  // namespace unit_avx2
