// SPDX-License-Identifier: BSL-1.0
// In: queries, keys, values. Out: attention whose variants differ in what becomes of a score: how it is bounded, what
// it is divided by, which function of it is a weight.
// Next: linear.cpp.
#include "variant.hpp"

namespace test::variants {
namespace {

/// Soft cap: scores are squeezed into (-30, 30) before the softmax.
/// Source: Gemma Team 2024, Gemma 2: Improving Open Language Models at a Practical Size.
auto soft_cap(const auto& q, const auto& k, const auto& v) {
  const auto scores = softcap(dot<d_head>(q, k), 30);
  return dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
}

/// Attention sink: a learned logit for each head joins the softmax and has no value.
/// Source: Agarwal et al. (OpenAI) 2025, gpt-oss-120b & gpt-oss-20b Model Card, after Xiao et al. 2023, Efficient Streaming
/// Language Models with Attention Sinks.
auto attention_sink(const auto& q, const auto& k, const auto& v, const auto& sink) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(window<query, key>(32), scores), sink), v);
}

/// Softmax plus one: a row may attend to nothing, as if there were one more key of score and value 0.
/// Source: Miller 2023, Attention Is Off By One.
auto softmax_plus_one(const auto& q, const auto& k, const auto& v) {
  return dot<key>(softmax<key>(dot<d_head>(q, k) / std::sqrt(16.0), 0), v);
}

/// Query-key normalisation: scores are cosines times a learned scale.
/// Source: Henry, Dachapally, Pawar, Chen 2020, Query-Key Normalization for Transformers.
auto query_key_norm(const auto& q, const auto& k, const auto& v, float g) {
  const auto unit_q = q * rsqrt(sum<d_head>(q * q));
  const auto unit_k = k * rsqrt(sum<d_head>(k * k));
  return dot<key>(softmax<key>(where(causal<query, key>(), dot<d_head>(unit_q, unit_k) * g)), v);
}

/// Sigmoid attention: each score is a weight on its own; the bias makes up for the number of keys.
/// Source: Ramapuram et al. 2024, Theory, Analysis, and Best Practices for Sigmoid Self-Attention.
auto sigmoid_attention(const auto& q, const auto& k, const auto& v) {
  const auto bias = std::log(static_cast<float>(k.template extent<key>()));
  return dot<key>(sigmoid(dot<d_head>(q, k) / std::sqrt(16.0) - bias), v);
}

/// Squared relu: the mean over the keys of squared positive scores times values.
/// Source: Hua, Dai, Liu, Le 2022, Transformer Quality in Linear Time (the attention of the gated attention unit).
auto squared_relu(const auto& q, const auto& k, const auto& v) {
  const auto scores = where(causal<query, key>(), dot<d_head>(q, k) / std::sqrt(16.0));
  return dot<key>(pow(relu(scores), 2), v) / k.template extent<key>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variants_normalisations)

BOOST_AUTO_TEST_CASE(soft_cap_streams) {
  check_variant("soft_cap", [](int scale) {
    const two_heads p(101 * scale);
    return soft_cap(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(attention_sink_streams) {
  check_variant("attention_sink", [](int scale) {
    const two_heads p(203 * scale);
    return attention_sink(p.q, p.k, p.v, input<head>(4, head{2}));
  });
}

BOOST_AUTO_TEST_CASE(softmax_plus_one_streams) {
  check_variant("softmax_plus_one", [](int scale) {
    const two_heads p(101 * scale);
    return softmax_plus_one(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(query_key_norm_streams) {
  check_variant("query_key_norm", [](int scale) {
    const two_heads p(101 * scale);
    return query_key_norm(p.q, p.k, p.v, 5.5F);
  });
}

BOOST_AUTO_TEST_CASE(sigmoid_attention_streams) {
  check_variant("sigmoid_attention", [](int scale) {
    const two_heads p(101 * scale);
    return sigmoid_attention(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(squared_relu_streams) {
  check_variant("squared_relu", [](int scale) {
    const two_heads p(101 * scale);
    return squared_relu(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace test::variants
