// SPDX-License-Identifier: BSL-1.0
// In: queries, keys and values of several heads. Out: softmax attention whose variants differ in what heads share: keys
// and values, a latent vector, scores, layers. Heads that share have no axis for it, so nothing is repeated.
// Next: normalisations.cpp.
#include "variant.hpp"

namespace test::variants {
namespace {

struct latent : axis<> {};
struct rotary : axis<> {};
struct mixed : axis<> {};
struct mixed_again : axis<> {};

/// Grouped-query attention: a group of query heads reads the keys and values of one head.
/// Source: Ainslie et al. 2023, GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints.
auto grouped_query(const auto& q, const auto& k, const auto& v) {
  const auto grouped = split<head, kv_head, group>(q, kv_head{2}, group{3});
  const auto scores = dot<d_head>(grouped, k) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
}

/// Multi-query attention: all heads read the same keys and values.
/// Source: Shazeer 2019, Fast Transformer Decoding: One Write-Head is All You Need.
auto multi_query(const auto& q, const auto& k, const auto& v) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
}

/// Multi-head latent attention, weights absorbed: heads attend to one latent vector for each position, which serves as
/// key and as value, beside a rotary key that they share.
/// Source: DeepSeek-AI 2024, DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model.
auto latent_attention(const auto& q, const auto& q_rotary, const auto& c, const auto& k_rotary, const auto& w_uk,
                      const auto& w_uv) {
  const auto scores = dot<latent>(dot<d_head>(q, w_uk), c) + dot<rotary>(q_rotary, k_rotary);
  const auto weights = softmax<key>(where(causal<query, key>(), scores / std::sqrt(24.0)));
  return dot<latent>(dot<key>(weights, c), w_uv);
}

/// Differential attention: a second softmax is subtracted, so that what both attend to cancels out.
/// Source: Ye et al. 2024, Differential Transformer.
auto differential(const auto& q_1, const auto& k_1, const auto& q_2, const auto& k_2, const auto& v,
                  const auto& lambda) {
  const auto first = softmax<key>(where(causal<query, key>(), dot<d_head>(q_1, k_1) / std::sqrt(16.0)));
  const auto second = softmax<key>(where(causal<query, key>(), dot<d_head>(q_2, k_2) / std::sqrt(16.0)));
  return dot<key>(first - lambda * second, v);
}

/// Talking heads: scores are mixed across heads before the softmax, weights after it.
/// Source: Shazeer, Lan, Cheng, Ding, Hou 2020, Talking-Heads Attention.
/// Stored: a mixed score needs the scores of all heads, which no tile of one head holds.
auto talking_heads(const auto& q, const auto& k, const auto& v, const auto& w_l, const auto& w_w) {
  const auto weights = softmax<key>(dot<head>(dot<d_head>(q, k), w_l));
  return dot<key>(dot<mixed>(weights, w_w), v);
}

/// Talking heads again, the products in another order: mixed scores are scores of queries that hold all heads, and
/// weights are mixed after they met the values.
/// Source: Shazeer, Lan, Cheng, Ding, Hou 2020, Talking-Heads Attention.
auto talking_heads_streamed(const auto& q, const auto& k, const auto& v, const auto& w_l, const auto& w_w) {
  const auto mixed_q = broadcast<mixed>(q, mixed{4}) * w_l;
  const auto contexts = dot<key>(softmax<key>(dot<head, d_head>(mixed_q, k)), v);
  return dot<mixed>(contexts, w_w);
}

/// Cross-layer attention: the second layer has queries of its own and reads the first one's keys and values.
/// Source: Brandon et al. 2024, Reducing Transformer Key-Value Cache Size with Cross-Layer Attention.
auto cross_layer(const auto& x, const auto& k, const auto& v, const auto& w_q1, const auto& w_q2, const auto& w_o) {
  const auto read = [&](const auto& q) { return dot<key>(softmax<key>(dot<d_head>(q, k) / std::sqrt(16.0)), v); };
  const auto first = x + dot<head, d_value>(read(dot<model>(x, w_q1)), w_o);
  return read(dot<model>(first, w_q2));
}

auto q_of(std::uint32_t seed, std::ptrdiff_t length, std::ptrdiff_t heads = 2) {
  return input<head, query, d_head>(seed, head{heads}, query{length}, d_head{16});
}
auto k_of(std::uint32_t seed, std::ptrdiff_t length, std::ptrdiff_t heads = 2) {
  return input<head, key, d_head>(seed, head{heads}, key{length}, d_head{16});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variants_heads)

BOOST_AUTO_TEST_CASE(grouped_query_streams) {
  check_variant("grouped_query", [](int scale) {
    const std::ptrdiff_t n = 101 * scale;
    return grouped_query(q_of(1, n, 6), input<kv_head, key, d_head>(2, kv_head{2}, key{n}, d_head{16}),
                         input<kv_head, key, d_value>(3, kv_head{2}, key{n}, d_value{5}));
  });
}

BOOST_AUTO_TEST_CASE(multi_query_streams) {
  check_variant("multi_query", [](int scale) {
    const std::ptrdiff_t n = 101 * scale;
    return multi_query(q_of(1, n, 6), input<key, d_head>(2, key{n}, d_head{16}),
                       input<key, d_value>(3, key{n}, d_value{5}));
  });
}

BOOST_AUTO_TEST_CASE(latent_attention_streams) {
  check_variant("latent_attention", [](int scale) {
    const std::ptrdiff_t n = 101 * scale;
    return latent_attention(q_of(1, n, 3), input<head, query, rotary>(2, head{3}, query{n}, rotary{8}),
                            input<key, latent>(3, key{n}, latent{24}), input<key, rotary>(4, key{n}, rotary{8}),
                            weight<head, d_head, latent>(5, head{3}, d_head{16}, latent{24}),
                            weight<head, latent, d_value>(6, head{3}, latent{24}, d_value{5}));
  });
}

BOOST_AUTO_TEST_CASE(differential_streams) {
  check_variant("differential", [](int scale) {
    const std::ptrdiff_t n = 101 * scale;
    return differential(q_of(1, n), k_of(2, n), q_of(3, n), k_of(4, n),
                        input<head, key, d_value>(5, head{2}, key{n}, d_value{5}), input<head>(6, head{2}));
  });
}

BOOST_AUTO_TEST_CASE(talking_heads_stores) {
  check_stored_variant("talking_heads", [](int scale) {
    const std::ptrdiff_t n = 53 * scale;
    return talking_heads(
        q_of(1, n, 3), k_of(2, n, 3), input<mixed_again, key, d_value>(3, mixed_again{2}, key{n}, d_value{5}),
        weight<head, mixed>(4, head{3}, mixed{4}), weight<mixed, mixed_again>(5, mixed{4}, mixed_again{2}));
  });
}

BOOST_AUTO_TEST_CASE(talking_heads_streamed_streams) {
  check_variant("talking_heads_streamed", [](int scale) {
    const std::ptrdiff_t n = 53 * scale;
    return talking_heads_streamed(
        q_of(1, n, 3), k_of(2, n, 3), input<mixed_again, key, d_value>(3, mixed_again{2}, key{n}, d_value{5}),
        weight<head, mixed>(4, head{3}, mixed{4}), weight<mixed, mixed_again>(5, mixed{4}, mixed_again{2}));
  });
}

BOOST_AUTO_TEST_CASE(cross_layer_streams) {
  check_variant("cross_layer", [](int scale) {
    const std::ptrdiff_t n = 53 * scale;
    return cross_layer(input<query, model>(1, query{n}, model{24}), k_of(2, n),
                       input<head, key, d_value>(3, head{2}, key{n}, d_value{5}),
                       weight<model, head, d_head>(4, model{24}, head{2}, d_head{16}),
                       weight<model, head, d_head>(5, model{24}, head{2}, d_head{16}),
                       weight<head, d_value, model>(6, head{2}, d_value{5}, model{24}));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace test::variants
