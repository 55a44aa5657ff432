// SPDX-License-Identifier: BSL-1.0
// In: a feed-forward network that is as wide inside as outside, and calls both widths by one tag.
// Out: one error for the struct, not one for each of its weights and for what is made of them.
// Next: nn_input_of_another_model.cpp.
// expect: an axis occurs twice
// expect: model
// expect(gcc): feed_forward: an axis occurs twice in the parameter with axes \(model, model\)
#include <heed/nn.hpp>

namespace {

struct query : heed::axis<> {};
struct model : heed::axis<64> {};
struct hidden : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, query, model> x{query{5}};
#ifdef HEED_MISTAKE
  const heed::nn::biased_feed_forward_parameters<float, model, model> p;
#else
  const heed::nn::biased_feed_forward_parameters<float, model, hidden> p;
#endif
  (void)heed::evaluate(heed::nn::feed_forward(x, p));
}
