// SPDX-License-Identifier: BSL-1.0
// Step 3: a mask is a condition over coordinates; where(condition, scores) excludes the rest. Next: 04_heads.cpp.
#include "ladder.hpp"

#include <cstdint>
#include <limits>

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_value : heed::axis<1> {};

int main() {
  using namespace heed;
  // Equal scores, so that the weights show the mask alone.
  tensor<float, batch, query, key> scores{batch{2}, query{3}, key{3}};

  // index<query>() is the coordinate along query. causal<query, key>() is short for this condition.
  auto causal_weights = softmax<key>(where(index<key>() <= index<query>(), scores));
  print("causal, of the first sequence", evaluate(at<batch>(causal_weights, 0)));

  // Conditions join with && || !; a tensor of integers may stand in them: here one length for each sequence.
  tensor<std::int32_t, batch> length{batch{2}};
  set(length, {2, 0});
  auto keep = causal<query, key>() && index<key>() < length;
  auto weights = softmax<key>(where(keep, scores));
  print("causal and padded: lengths 2 and 0", evaluate(weights));

  // An excluded key never reaches the output, whatever its value is; a row that excludes all is 0, not NaN.
  tensor<float, batch, key, d_value> v{batch{2}, key{3}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  set(v, {1, 2, nan, nan, nan, nan});
  print("context", evaluate(dot<key>(weights, v)));

  // A tensor of truth values is a mask like any other, and gives the same bits. Conditions have no extents of their own:
  // broadcast says them.
  auto extents = broadcast<query, key>(length == length, query{3}, key{3});
  tensor<bool, batch, query, key> dense = evaluate<batch, query, key>(keep && extents);
  return identical(evaluate(softmax<key>(where(dense, scores))), evaluate(weights)) ? 0 : 1;
}

// Output:
// causal, of the first sequence
//    1.00   0.00   0.00
//    0.50   0.50   0.00
//    0.33   0.33   0.33
// causal and padded: lengths 2 and 0
//    1.00   0.00   0.00
//    0.50   0.50   0.00
//    0.50   0.50   0.00
//    0.00   0.00   0.00
//    0.00   0.00   0.00
//    0.00   0.00   0.00
// context
//    1.00
//    1.50
//    1.50
//    0.00
//    0.00
//    0.00
