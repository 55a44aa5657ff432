// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: what the examples in the comments of the headers talk about: axes, tensors, and for each header what
// its own examples have beside them. tools/check_reference compiles it with them; nothing runs.
#pragma once

#include <heed/heed.hpp>
#include <heed/io/heatmap.hpp>
#include <heed/io/npy.hpp>
#include <heed/io/print.hpp>
#include <heed/io/safetensors.hpp>
#include <heed/nn.hpp>
#if __has_include(<Eigen/Dense>)
#include <heed/interop/eigen.hpp>

#include <Eigen/Dense>
#endif
#if __has_include(<xtensor/xadapt.hpp>)
#include <heed/interop/xtensor.hpp>

#include <xtensor/xio.hpp>
#include <xtensor/xmath.hpp>
#endif
#if __has_include(<dlpack/dlpack.h>)
#include <heed/interop/dlpack.hpp>
#endif
#include <heed/interop/mdspan.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

/// An array of a program's own, for interop/view_of.hpp.
struct image {
  float* pixels() { return nullptr; }
  float const* pixels() const { return nullptr; }
  std::ptrdiff_t rows() const { return 4; }
  std::ptrdiff_t columns() const { return 6; }
};

namespace reference {

using namespace heed;

struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct position : axis<> {};
struct token : axis<> {};
struct source : axis<> {};
struct word : axis<> {};
struct distance : axis<> {};
struct part : axis<> {};
struct layer : axis<> {};
struct input : axis<> {};
struct output : axis<> {};
struct head : axis<8> {};
struct kv_head : axis<2> {};
struct group : axis<4> {};
struct d_head : axis<64> {};
struct half : axis<32> {};
struct model : axis<512> {};
struct hidden : axis<2048> {};
struct projections : axis<1536> {};

inline tensor<float, batch, query, model> x, a;
inline tensor<float, batch, source, model> memory;
inline tensor<float, model, head, d_head> w_q, w_k, w_v;
inline tensor<float, head, d_head, model> w_o;
inline tensor<float, batch, query, head, d_head> q;
inline tensor<float, batch, key, head, d_head> k, v;
inline tensor<float, query, key> bias;
inline tensor<bool, batch, key> keep;
inline tensor<int, batch> length;
inline tensor<float, head> sink;
inline tensor<float, model> gamma, beta, gain;
inline tensor<float, model, hidden> w_1;
inline tensor<float, hidden> b_1;
inline tensor<float, batch, word> logits;
inline tensor<float, word, model> table;
inline tensor<int, query> ids;
inline tensor<int, batch> past;
inline kv_cache<float, key, batch, head, d_head> cache{key{16}, batch{1}};
inline auto s = dot<d_head>(q, k);  // [batch, query, head, key]
inline tensor<float, head, query, key> weights;

namespace of_ops_dot {
inline tensor<float, batch, query, head, d_head> c;
}  // namespace of_ops_dot

namespace of_ops_reduce {
constexpr int separator = 102;
inline tensor<int, batch, token> ids;
}  // namespace of_ops_reduce

namespace of_ops_shape {
inline tensor<float, query, head, d_head> context;
inline tensor<float, batch, query, model> y;
inline tensor<float, batch, query, projections> qkv;
inline tensor<int, batch, token> ids;
}  // namespace of_ops_shape

namespace of_ops_gather {
constexpr int longest = 128;
inline tensor<float, head, distance> learnt;
inline tensor<float, position, d_head> cosines, sines;
inline tensor<float, model> w;
inline tensor<float, batch, query, head, d_head> context_a, context_b;
inline tensor<float, batch, query, head> lse_a, lse_b;
}  // namespace of_ops_gather

namespace of_ops_rope {
inline tensor<float, query, half> cosines, sines;
}  // namespace of_ops_rope

namespace of_evaluate {
inline tensor<float, batch, query, head, d_head> y;
}  // namespace of_evaluate

namespace of_nn_attention {
inline nn::attention_parameters<float, model, head, d_head> p;
}  // namespace of_nn_attention

namespace of_nn_attend {
inline nn::attention_parameters<float, model, head, d_head> p;
}  // namespace of_nn_attend

namespace of_nn_attention_cache {
using attention = nn::attention_parameters<float, model, head, d_head>;
inline attention p;
inline nn::attention_cache<float, attention, key, batch> cache{key{16}, batch{1}};
}  // namespace of_nn_attention_cache

namespace of_nn_choices {
inline nn::attention_parameters<float, model, head, d_head> p;
inline nn::feed_forward_parameters<float, model, hidden> f;
}  // namespace of_nn_choices

namespace of_nn_grouped_attention {
inline nn::grouped_attention_parameters<float, model, kv_head, group, d_head> p;
}  // namespace of_nn_grouped_attention

namespace of_nn_norm {
inline nn::layer_norm_parameters<float, model> norm;
inline nn::feed_forward_parameters<float, model, hidden> p;
}  // namespace of_nn_norm

using attention = nn::attention_parameters<float, model, head, d_head>;
using feed_forward = nn::feed_forward_parameters<float, model, hidden>;
using norm = nn::layer_norm_parameters<float, model>;

namespace of_nn_encoder {
inline nn::encoder_layer_parameters<reference::attention, reference::feed_forward, norm> p;
}  // namespace of_nn_encoder

namespace of_nn_decoder {
inline nn::decoder_layer_parameters<attention, attention, feed_forward, norm> p;
inline nn::encoder_layer_parameters<attention, feed_forward, norm> without_memory;
inline nn::attention_cache<float, attention, key, batch> cache{key{16}, batch{1}};
}  // namespace of_nn_decoder

namespace of_nn_parameters {
inline nn::attention_parameters<float, model, head, d_head> p;
}  // namespace of_nn_parameters

inline std::vector<std::string> tokens;

namespace of_io_heatmap {
template <class... T> void use(T const&...) {}
inline auto scores = dot<batch, d_head>(q, k);  // [query, head, key]
}  // namespace of_io_heatmap

namespace of_io_npy {
inline tensor<float, output, input> w;
}  // namespace of_io_npy

namespace of_io_safetensors {
inline tensor<float, output, input> w;
}  // namespace of_io_safetensors

namespace of_interop_eigen {
inline tensor<float, query, key> weights;
}  // namespace of_interop_eigen

namespace of_interop_xtensor {
inline tensor<float, query, key> weights;
}  // namespace of_interop_xtensor

namespace of_interop_mdspan {
inline tensor<float, key, d_head> keys;
}  // namespace of_interop_mdspan

#if __has_include(<dlpack/dlpack.h>)
namespace of_interop_dlpack {
inline auto e = softmax<key>(s);
inline void give(DLManagedTensor*) {}
inline DLManagedTensor* managed;
inline DLTensor lent;
}  // namespace of_interop_dlpack
#endif

}  // namespace reference
