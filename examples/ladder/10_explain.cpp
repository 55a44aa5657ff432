// SPDX-License-Identifier: BSL-1.0
// Step 10: the plan of a formula: its passes, loops, bytes, and why something is stored. It is made by the code that
// runs, so it cannot disagree. Next: ../multi_head.cpp at the size of the paper, ../../docs/tour.md.
#include "ladder.hpp"

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};
struct model : heed::axis<512> {};

int main() {
  using namespace heed;
  tensor<float, query, model> x{query{100}};
  tensor<float, model, head, d_head> w_q, w_k, w_v;
  tensor<float, head, d_head, model> w_o;
  auto q = dot<model>(x, w_q);
  auto k = dot<model>(rename<query, key>(x), w_k);
  auto v = dot<model>(rename<query, key>(x), w_v);
  auto s = where(causal<query, key>(), softcap(dot<d_head>(q, k) / 8.f, 30));
  auto y = x + dot<head, d_head>(dot<key>(softmax<key>(s), v), w_o);

  // Scale, cap, mask and softmax are part of the attention; the residual is part of the output projection.
  std::cout << explain(y) << '\n';

  // A gate made of scores beside the softmax does not stream. It is stored, and said to be; a limit refuses it.
  auto gated = dot<key>(softmax<key>(s) * sigmoid(s), v);
  static_assert(!streams<decltype(gated)>);
  for (auto const& stage : explain(gated).stages)
    if (!stage.why_stored.empty()) std::cout << stage.stores << ": " << stage.why_stored << '\n';
  try {
    evaluate(policy{.store_limit = 1 << 20}, gated);
  } catch (std::exception const& error) {
    std::cout << error.what() << '\n';
  }
}

// Output:
// 1. contraction: dot<model=512>([query, model], [model, head, d_head]); dot<model=512>([key, model], [model, head, d_head]); dot<model=512>([key, model], [model, head, d_head])
//    parallel over query=100; key=100; key=100; vectors along head=8 x d_head=64
//    stores [query=100 x head=8 x d_head=64]; [key=100 x head=8 x d_head=64]; [key=100 x head=8 x d_head=64], 614400 bytes (a contraction that is read more than once or under other loops)
// 2. attention: dot<key=100>(softmax<key=100>(where((key <= query), softcap(dot<d_head=64>([query, head, d_head], [key, head, d_head])))), [key, head, d_head])
//    parallel over head=8 x query=100; vectors along query=100 (scores), d_head=64 (values); streams key=100
//    stores [query=100 x head=8 x d_head=64], 204800 bytes (a contraction that is read more than once or under other loops)
// 3. contraction: ([query, model] + dot<head=8 x d_head=64>([query, head, d_head], [head, d_head, model]))
//    parallel over query=100; vectors along model=512
//    stores [query=100 x model=512]
// 2.302e+08 floating-point operations, 6.857e+06 bytes moved, 819200 bytes stored between stages
//
// [query=100 x head=8 x d_head=64]; [key=100 x head=8 x d_head=64]; [key=100 x head=8 x d_head=64]: a contraction that is read more than once or under other loops
// [query=100 x head=8 x key=100]: used more than once
// [key=100 x query=100]: a keep-set beside a stored result
