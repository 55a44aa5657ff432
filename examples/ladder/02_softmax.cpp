// SPDX-License-Identifier: BSL-1.0
// Step 2: softmax over the keys, and attention, which is a mean of values with these weights. Next: 03_masks.cpp.
#include "ladder.hpp"

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<2> {};
struct d_value : heed::axis<3> {};  // values have a width of their own

int main() {
  using namespace heed;
  tensor<float, query, d_head> q{query{2}};
  tensor<float, key, d_head> k{key{3}};
  tensor<float, key, d_value> v{key{3}};
  set(q, {4, 0,  //
          0, 1});
  set(k, {1, 0,  //
          0, 1,  //
          0, 0});
  set(v, {10, 0, 0,  //
          0, 10, 0,  //
          0, 0, 10});

  // Attention(Q, K, V) = softmax(Q K^T / sqrt(d_head)) V (Vaswani et al. 2017, equation 1)
  auto scores = dot<d_head>(q, k) / std::sqrt(2.f);
  auto weights = softmax<key>(scores);  // [query, key], each row sums to one
  auto context = dot<key>(weights, v);  // [query, d_value]

  // The context alone never stores [query, key]: scores and weights exist a tile at a time.
  static_assert(streams<decltype(context)>);
  print("context", evaluate(context));

  // Whoever wants to see the weights asks for them; one run gives both.
  auto [c, w] = evaluate(context, weights);
  print("weights", w);
  print("their sums", evaluate(sum<key>(w)));
  print("context, of the same run", c);

  // The rest of softmax, where it is needed: log of the sum of exp(scores).
  print("log-sum-exp", evaluate(log_sum_exp<key>(scores)));
}

// Output:
// context
//    8.94   0.53   0.53
//    2.48   5.03   2.48
// weights
//    0.89   0.05   0.05
//    0.25   0.50   0.25
// their sums
//    1.00   1.00
// context, of the same run
//    8.94   0.53   0.53
//    2.48   5.03   2.48
// log-sum-exp
//    2.94   1.39
