// SPDX-License-Identifier: BSL-1.0
// One attention, its extents open: what a user's first file compiles.
#include <heed/heed.hpp>

struct batch : heed::axis<> {};
struct head : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<64> {};
struct d_value : heed::axis<64> {};

auto attention(heed::tensor<float, batch, head, query, d_head> const& q,
               heed::tensor<float, batch, head, key, d_head> const& k,
               heed::tensor<float, batch, head, key, d_value> const& v) {
  return heed::evaluate(heed::dot<key>(heed::softmax<key>(0.125f * heed::dot<d_head>(q, k)), v));
}
