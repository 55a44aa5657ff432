// SPDX-License-Identifier: BSL-1.0
// In: an expression stored into a tensor that lacks one of its axes.
// Out: one error, which names what is lacking.
// Next: split_of_another_product.cpp.
// expect: the tensor lacks|does not fit|other axes
// expect: head
// expect(gcc): does not fit a tensor with axes \(query, d_head\): the tensor lacks \(head\)
#include <heed/heed.hpp>

namespace {

struct query : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, query, head, d_head> context{query{5}};
#ifdef HEED_MISTAKE
  heed::tensor<float, query, d_head> result{query{5}};
#else
  heed::tensor<float, query, head, d_head> result{query{5}};
#endif
  heed::evaluate_into(result, context * 2);
}
