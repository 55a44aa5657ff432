// SPDX-License-Identifier: BSL-1.0
// Step 7: an encoder layer, ready-made and by hand, which is the same formula. Next: 08_score_edits.cpp.
#include "ladder.hpp"
#include <heed/nn.hpp>

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<2> {};
struct d_head : heed::axis<4> {};
struct model : heed::axis<8> {};
struct hidden : heed::axis<32> {};

using attention = heed::nn::attention_parameters<float, model, head, d_head>;
using feed_forward = heed::nn::feed_forward_parameters<float, model, hidden>;
using layer = heed::nn::encoder_layer_parameters<attention, feed_forward, heed::nn::rms_norm_parameters<float, model>>;

int main() {
  using namespace heed;
  layer p;
  tensor<float, query, model> x{query{6}};
  set_waves(x, 1, 0);
  double phase = 1;
  nn::for_each_parameter(p, [&](auto& tensor) { set_waves(tensor, 0.5, phase++); });

  auto ready_made = nn::encoder_layer<query, key>(nn::pre_norm, x, p, nn::activations::gelu);

  // The same by hand: two sub-layers, each h = x + f(norm(x)).
  auto const& [a, norm_1, f, norm_2] = p;
  auto n = rms_norm<model>(x, norm_1.gain);
  auto q = dot<model>(n, a.w_q);
  auto k = rename<query, key>(dot<model>(n, a.w_k));
  auto v = rename<query, key>(dot<model>(n, a.w_v));
  auto context = dot<key>(softmax<key>(dot<d_head>(q, k) / std::sqrt(4.f)), v);
  auto h = x + dot<head, d_head>(context, a.w_o);
  auto by_hand = h + dot<hidden>(gelu(dot<model>(rms_norm<model>(h, norm_2.gain), f.w_1)), f.w_2);

  const auto y = evaluate(ready_made);
  const tensor<float> difference = evaluate(max<query, model>(abs(y - by_hand)));
  std::cout << "difference between the two: " << (difference() < 1e-5f ? "none" : "TOO MUCH") << '\n';

  std::cout << "parameters: " << nn::parameter_count(p)
            << "\noperations for 6 tokens: " << nn::floating_point_operations(p, {.queries = 6}) << '\n';
  print("output [query, model]", y);
}

// Output:
// difference between the two: none
// parameters: 784
// operations for 6 tokens: 10368
// output [query, model]
//    0.89   0.75   0.49  -0.45  -0.73  -1.50  -0.54   0.81
//    1.63   0.54   0.97  -1.13   1.08  -1.59  -1.23   1.07
//    0.61   0.74   1.07   0.34  -0.43  -0.54  -1.44   0.03
//    1.05  -0.03   0.65   0.35   1.67  -0.88   0.54   0.73
//    2.25   1.57  -0.77  -0.54   0.58  -0.84  -0.75   0.81
//    2.45   1.47   0.15  -0.90  -0.56  -1.28  -1.30   1.38
