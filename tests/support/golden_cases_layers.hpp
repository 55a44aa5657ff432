// SPDX-License-Identifier: BSL-1.0
// In: tests/golden. Out: for each element type T, the checks that heed gives the same numbers for whole layers: the
// encoder layer with norms after and before its sub-layers, the llama block with both rotary pairings; fused and
// unfused.
// Next: the tests that instantiate these checks.
#pragma once
#include "schedules.hpp"

#include <cmath>

namespace test::golden {

using namespace heed;

template <class T> constexpr double bound = sizeof(T) == 4 ? 1e-5 : 1e-12;

template <class T> struct encoder_weights {
  tensor<T, model, head, d_head> w_q = load<T, model, head, d_head>("encoder_layer/w_q");
  tensor<T, model, head, d_head> w_k = load<T, model, head, d_head>("encoder_layer/w_k");
  tensor<T, model, head, d_head> w_v = load<T, model, head, d_head>("encoder_layer/w_v");
  tensor<T, head, d_head, model> w_o = load<T, head, d_head, model>("encoder_layer/w_o");
  tensor<T, model, hidden> w_1 = load<T, model, hidden>("encoder_layer/w_1");
  tensor<T, hidden, model> w_2 = load<T, hidden, model>("encoder_layer/w_2");
  tensor<T, hidden> b_1 = load<T, hidden>("encoder_layer/b_1");
  tensor<T, model> b_2 = load<T, model>("encoder_layer/b_2");
  tensor<T, model> gamma_1 = load<T, model>("encoder_layer/gamma_1"), beta_1 = load<T, model>("encoder_layer/beta_1");
  tensor<T, model> gamma_2 = load<T, model>("encoder_layer/gamma_2"), beta_2 = load<T, model>("encoder_layer/beta_2");
};

template <class X, class T> auto self_attention(const X& x, const encoder_weights<T>& w) {  // [query, model]
  const auto q = dot<model>(x, w.w_q);
  const auto k = rename<query, key>(dot<model>(x, w.w_k));
  const auto v = rename<query, key>(dot<model>(x, w.w_v));
  const auto weights = softmax<key>(dot<d_head>(q, k) / std::sqrt(4.0));
  return dot<head, d_head>(dot<key>(weights, v), w.w_o);
}

/// The standard deviation plus a small number below the line, as the annotated transformer has it.
template <class X, class Gamma, class Beta> auto deviation_norm(const X& x, const Gamma& gamma, const Beta& beta) {
  return gamma * ((x - mean<model>(x)) / (sqrt(variance<model>(x)) + 1e-6)) + beta;
}

template <class T> struct llama_weights {
  tensor<T, model, kv_head, group, d_head> w_q = load<T, model, kv_head, group, d_head>("llama_block/w_q");
  tensor<T, model, kv_head, d_head> w_k = load<T, model, kv_head, d_head>("llama_block/w_k");
  tensor<T, model, kv_head, d_head> w_v = load<T, model, kv_head, d_head>("llama_block/w_v");
  tensor<T, kv_head, group, d_head, model> w_o = load<T, kv_head, group, d_head, model>("llama_block/w_o");
  tensor<T, model, hidden> w_gate = load<T, model, hidden>("llama_block/w_gate");
  tensor<T, model, hidden> w_up = load<T, model, hidden>("llama_block/w_up");
  tensor<T, hidden, model> w_down = load<T, hidden, model>("llama_block/w_down");
  tensor<T, model> norm_1 = load<T, model>("llama_block/norm_1"), norm_2 = load<T, model>("llama_block/norm_2");
};

template <class X, class T> auto llama_block(const X& x, const llama_weights<T>& w, rope_pairs pairs) {
  const auto n = rms_norm<model>(x, w.norm_1);
  const auto q = rope<d_head, query>(dot<model>(n, w.w_q), pairs, 10000, 3);
  const auto k = rope<d_head, key>(rename<query, key>(dot<model>(n, w.w_k)), pairs, 10000, 3);
  const auto v = rename<query, key>(dot<model>(n, w.w_v));
  const auto weights = softmax<key>(where(causal<query, key>(), dot<d_head>(q, k) / std::sqrt(4.0)));
  const auto h = x + dot<kv_head, group, d_head>(dot<key>(weights, v), w.w_o);
  const auto m = rms_norm<model>(h, w.norm_2);
  return h + dot<hidden>(silu(dot<model>(m, w.w_gate)) * dot<model>(m, w.w_up), w.w_down);
}

template <class T> void check_encoder_layer_post_norm() {
  const auto x = load<T, query, model>("encoder_layer/x");
  const encoder_weights<T> w;
  const auto h = deviation_norm(x + self_attention(x, w), w.gamma_1, w.beta_1);
  const auto fed_forward = dot<hidden>(relu(dot<model>(h, w.w_1) + w.b_1), w.w_2) + w.b_2;
  const auto y = deviation_norm(h + fed_forward, w.gamma_2, w.beta_2);
  check(y, load<double, query, model>("encoder_layer/post_norm"), bound<T>, {1, 3});
}

template <class T> void check_encoder_layer_pre_norm() {
  const auto x = load<T, query, model>("encoder_layer/x");
  const encoder_weights<T> w;
  const auto h = x + self_attention(layer_norm<model>(x, w.gamma_1, w.beta_1), w);
  const auto n = layer_norm<model>(h, w.gamma_2, w.beta_2);
  const auto y = h + dot<hidden>(gelu(dot<model>(n, w.w_1) + w.b_1), w.w_2) + w.b_2;
  check(y, load<double, query, model>("encoder_layer/pre_norm"), bound<T>, {1, 3});
}

template <class T> void check_llama_block_of_both_pairings() {
  const auto x = load<T, query, model>("llama_block/x");
  const llama_weights<T> w;
  check(llama_block(x, w, rope_pairs::interleaved), load<double, query, model>("llama_block/y_interleaved"), bound<T>,
        {1, 3});
  check(llama_block(x, w, rope_pairs::half), load<double, query, model>("llama_block/y_half"), bound<T>, {1, 3});
}

}  // namespace test::golden
