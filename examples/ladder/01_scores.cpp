// SPDX-License-Identifier: BSL-1.0
// Step 1: axes are types, a contraction names the axis that it sums over. Next: 02_softmax.cpp.
#include "ladder.hpp"

// A tag is an axis. Its extent stands in the type, or is given at run time.
struct query : heed::axis<> {};    // tokens that ask
struct key : heed::axis<> {};      // tokens that answer
struct d_head : heed::axis<2> {};  // what both are described by

int main() {
  using namespace heed;
  tensor<float, query, d_head> q{query{3}};  // a static axis takes no extent
  tensor<float, key, d_head> k{key{4}};
  set(q, {1, 0,  //
          0, 1,  //
          1, 1});
  set(k, {2, 0,   //
          0, 2,   //
          1, -1,  //
          3, 3});

  // scores[query, key] = sum over d_head of q[query, d_head] * k[key, d_head]. Nothing is computed in this line: s is an
  // expression, and its axes are part of its type.
  auto s = dot<d_head>(q, k);
  static_assert(has_axes<decltype(s), query, key>);
  std::cout << s.extent<query>() << " queries, " << s.extent<key>() << " keys\n";

  // evaluate computes it. Which axis comes first in memory is for the reader to choose, not for the formula.
  print("scores [query, key]", evaluate(s), 0);
  print("scores [key, query]", evaluate<key, query>(s), 0);

  // Scalars and functions are elementwise, as on paper.
  print("scaled [query, key]", evaluate(s / std::sqrt(2.f)));

  // dot<key>(q, k) would not compile: "dot over axis key: the left operand has no such axis, it has (query, d_head)".
}

// Output:
// 3 queries, 4 keys
// scores [query, key]
//     2    0    1    3
//     0    2   -1    3
//     2    2    0    6
// scores [key, query]
//     2    0    2
//     0    2    2
//     1   -1    0
//     3    3    6
// scaled [query, key]
//    1.41   0.00   0.71   2.12
//    0.00   1.41  -0.71   2.12
//    1.41   1.41   0.00   4.24
