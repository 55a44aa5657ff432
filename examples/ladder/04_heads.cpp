// SPDX-License-Identifier: BSL-1.0
// Step 4: heads are one more axis that queries, keys and values share. Next: 05_cross_attention.cpp.
#include "ladder.hpp"

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<2> {};
struct d_head : heed::axis<4> {};
struct model : heed::axis<8> {};

int main() {
  using namespace heed;
  tensor<float, batch, query, model> x{batch{1}, query{3}};
  tensor<float, model, head, d_head> w_q, w_k, w_v;  // all extents known: none to give
  tensor<float, head, d_head, model> w_o;
  set_waves(x, 1, 0), set_waves(w_q, 1, 1), set_waves(w_k, 1, 2), set_waves(w_v, 1, 3), set_waves(w_o, 1, 4);

  // A sequence attends to itself: its tokens are queries here and keys there, so one side gets another name.
  auto tokens = rename<query, key>(x);

  // No transpose, no reshape, no unsqueeze: batch and head are shared, so they stay; model is named, so it goes.
  auto q = dot<model>(x, w_q);       // [batch, query, head, d_head]
  auto k = dot<model>(tokens, w_k);  // [batch, key, head, d_head]
  auto v = dot<model>(tokens, w_v);  // [batch, key, head, d_head]
  auto weights = softmax<key>(where(causal<query, key>(), dot<d_head>(q, k) / std::sqrt(4.f)));

  // expect is the shape comment, checked by the compiler.
  auto c = expect<batch, query, head, d_head>(dot<key>(weights, v));
  auto y = expect<batch, query, model>(dot<head, d_head>(c, w_o));

  print("weights [batch, head, query, key]", evaluate<batch, head, query, key>(weights));
  print("output [batch, query, model]", evaluate(y));
}

// Output:
// weights [batch, head, query, key]
//    1.00   0.00   0.00
//    0.34   0.66   0.00
//    0.28   0.68   0.04
//    1.00   0.00   0.00
//    0.08   0.92   0.00
//    0.11   0.01   0.88
// output [batch, query, model]
//   -4.08  -2.31  -0.64   1.05  -2.28   3.03  -0.15  -0.39
//   -1.54  -1.83  -0.59   1.47  -0.27   0.64   0.70   2.20
//   -0.61  -1.24   2.06   1.42  -0.09   1.04   1.80  -0.42
