// SPDX-License-Identifier: BSL-1.0
// In: self-attention in which queries and keys still share one axis, so that the scores are a batch of numbers.
// Out: one error at the mask, though softmax and the product with v would fail too.
// Next: output_weight_of_another_model.cpp.
// expect: where: the condition has axes
// expect: query
// expect: position
// expect(gcc): that the values lack.*values \(position, head\) \(a forgotten rename
#include <heed/heed.hpp>

namespace {

struct position : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, position, head, d_head> x{position{5}};
#ifdef HEED_MISTAKE
  const auto q = x, k = x, v = x;
#else
  const auto q = heed::rename<position, query>(x);
  const auto k = heed::rename<position, key>(x), v = k;
#endif
  const auto scores = heed::where(heed::index<key>() <= heed::index<query>(), heed::dot<d_head>(q, k) / 8.0);
  const auto context = heed::dot<key>(heed::softmax<key>(scores), v);
  (void)heed::evaluate(context);
}
