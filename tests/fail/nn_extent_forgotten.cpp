// SPDX-License-Identifier: BSL-1.0
// In: parameters one of whose dynamic axes is given no extent.
// Out: one error for the struct, not one for each of its tensors.
// Next: nn_memory_without_keys.cpp.
// expect: needs it by name, once
// expect: head
// expect(gcc): attention: each axis.*given \(model\), wanted \(model, head\)
#include <heed/nn.hpp>

namespace {

struct model : heed::axis<> {};
struct head : heed::axis<> {};
struct d_head : heed::axis<64> {};

}  // namespace

int main() {
#ifdef HEED_MISTAKE
  const heed::nn::attention_parameters<float, model, head, d_head> p{model{512}};
#else
  const heed::nn::attention_parameters<float, model, head, d_head> p{model{512}, head{8}};
#endif
  (void)heed::nn::parameter_count(p);
}
