// SPDX-License-Identifier: BSL-1.0
// In: cross-attention to a memory whose positions are called query, like those that attend to it.
// Out: one error, though keys, values and softmax would fail too.
// Next: nn_axis_in_two_roles.cpp.
// expect: the input has no such axis
// expect: key
// expect(gcc): attention over axis key: the input has no such axis, it has \(query, model\)
#include <heed/nn.hpp>

namespace {

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct model : heed::axis<64> {};
struct head : heed::axis<2> {};
struct d_head : heed::axis<32> {};

}  // namespace

int main() {
  const heed::tensor<float, query, model> x{query{5}}, memory{query{7}};
  const heed::nn::biased_attention_parameters<float, model, head, d_head> p;
#ifdef HEED_MISTAKE
  const auto y = heed::nn::multi_head_attention<key>(x, memory, p);
#else
  const auto y = heed::nn::multi_head_attention<key>(x, heed::rename<query, key>(memory), p);
#endif
  (void)heed::evaluate(y);
}
