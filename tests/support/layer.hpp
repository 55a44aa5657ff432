// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: the tensors of a small layer, which programs that count or refuse allocations make expressions of.
// Next: words_memory.cpp, out_of_memory.cpp.
#pragma once
#include "tensors.hpp"

namespace test {

/// The input and the weights of one attention layer.
struct layer_tensors {
  heed::tensor<float, query, model> x = normal<float, query, model>(1, query{40}, model{32});
  heed::tensor<float, model, head, d_head> w_q = normal<float, model, head, d_head>(2, model{32}, head{2}, d_head{16});
  heed::tensor<float, model, head, d_head> w_k = normal<float, model, head, d_head>(3, model{32}, head{2}, d_head{16});
  heed::tensor<float, model, head, d_head> w_v = normal<float, model, head, d_head>(4, model{32}, head{2}, d_head{16});
  heed::tensor<float, head, d_head, model> w_o = normal<float, head, d_head, model>(5, head{2}, d_head{16}, model{32});
};

}  // namespace test
