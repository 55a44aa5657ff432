// SPDX-License-Identifier: BSL-1.0
// In: nothing but a fixed seed. Out: a small encoder of two layers made of heed::nn: its parameters and operations, the
// plan of a layer, and what a layer's attention looks at.
// Next to read: ../include/heed/nn/encoder.hpp, which is short; multi_head.cpp writes the attention of a layer by hand.

#include <heed/nn.hpp>

#include <array>
#include <iomanip>
#include <iostream>
#include <random>

namespace {

// 1. The names, and what is known at compile time.
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<4> {};
struct d_head : heed::axis<16> {};
struct model : heed::axis<64> {};
struct hidden : heed::axis<256> {};

// 2. A layer is put together from its parts; nn:: has others of each kind.
using layer = heed::nn::encoder_layer_parameters<heed::nn::biased_attention_parameters<float, model, head, d_head>,
                                                 heed::nn::biased_feed_forward_parameters<float, model, hidden>,
                                                 heed::nn::layer_norm_parameters<float, model>>;

static_assert(heed::nn::parameter_count<layer>() == 49'984);

template <class Tensor> void fill_normal(Tensor& tensor, std::mt19937& generator, float deviation) {
  std::normal_distribution<float> normal(0.f, deviation);
  for (float& element : tensor) element = normal(generator);
}

}  // namespace

int main() {
  using namespace heed;
  std::mt19937 generator(1706);
  tensor<float, query, model> x{query{24}};
  fill_normal(x, generator, 1.f);
  std::array<layer, 2> layers;
  for (layer& p : layers) nn::for_each_parameter(p, [&](auto& tensor) { fill_normal(tensor, generator, 1.f / 8.f); });

  const auto operations = nn::floating_point_operations(layers[0], {.queries = x.extent<query>()});
  std::cout << "a layer has " << nn::parameter_count(layers[0]) << " parameters and needs " << operations
            << " operations for " << x.extent<query>() << " tokens\n\n";

  // 3. An encoder is one layer after the other. Each is an expression: nothing is computed before evaluate.
  const auto encode = [](const auto& tokens, const layer& p) {
    return nn::encoder_layer<query, key>(nn::pre_norm, tokens, p, nn::activations::gelu);
  };
  std::cout << "the plan of a layer\n" << explain(encode(x, layers[0])) << '\n';
  for (const layer& p : layers) x = evaluate(encode(x, p));

  // 4. Layers come apart: the first sub-layer by hand, to see where its heads look, on average over the queries.
  const layer& p = layers[0];
  const auto attention = nn::multi_head_attention_parts<query, key>(p.attention_norm(x), p.attention);
  const tensor<float, head, key> looks = evaluate(mean<query>(attention.weights));
  const tensor<std::int64_t, head> most = evaluate(argmax<key>(looks));
  std::cout << "the token that each head looks at most:";
  for (const auto token : most) std::cout << ' ' << token;

  // 5. The usual checks.
  const tensor<float> length = evaluate(mean<query, model>(x * x));
  const tensor<float> total = evaluate(sum<head, key>(looks));
  std::cout << "\nmean square of the result " << std::fixed << std::setprecision(3) << length()
            << ", sum of the weights of " << looks.extent<head>() << " heads " << total() << '\n';
  return total() > 3.999f && total() < 4.001f ? 0 : 1;
}
