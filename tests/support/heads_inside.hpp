// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: one set of queries, keys and values with the heads inside, and their scores.
// Next: laws_schedules.cpp, which holds formulas over them to both schedules.
#pragma once
#include "schedules.hpp"

namespace test {

// Heads inside, as projections give them.
inline const auto& tensors() {
  struct all {
    heed::tensor<float, batch, query, head, d_head> q =
        normal<float, batch, query, head, d_head>(1, batch{2}, query{37}, head{3}, d_head{16});
    heed::tensor<float, batch, key, head, d_head> k =
        normal<float, batch, key, head, d_head>(2, batch{2}, key{150}, head{3}, d_head{16});
    heed::tensor<float, batch, key, head, d_head> v =
        normal<float, batch, key, head, d_head>(3, batch{2}, key{150}, head{3}, d_head{16});
  };
  static const all one;
  return one;
}
inline auto scores() { return heed::dot<d_head>(tensors().q, tensors().k) * 0.25F; }

}  // namespace test
