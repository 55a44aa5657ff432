// SPDX-License-Identifier: BSL-1.0
// In: queries, keys, values. Out: attention without a softmax over all pairs, or with one whose scores decay: products
// in another order, retention, gates; and attention that makes one vector of a sequence.
// Next: vision.cpp.
#include "variant.hpp"

namespace test::variants {
namespace {

/// Linear attention, not causal: keys meet values first, so that no score is computed at all.
/// Source: Katharopoulos, Vyas, Pappas, Fleuret 2020, Transformers are RNNs: Fast Autoregressive Transformers with Linear
/// Attention.
auto linear_attention(const auto& q, const auto& k, const auto& v) {
  const auto feature = [](const auto& x) { return where(x > 0, x + 1, exp(x)); };
  const auto total = dot<d_head>(feature(q), sum<key>(feature(k)));
  return dot<d_head>(feature(q), dot<key>(feature(k), v)) / total;
}

/// Retention in its parallel form: scores decay with the distance, by a factor for each head.
/// Source: Sun et al. 2023, Retentive Network: A Successor to Transformer for Large Language Models.
auto retention(const auto& q, const auto& k, const auto& v, const auto& gamma) {
  const auto decay = exp(log(gamma) * (index<query>() - index<key>()));
  return dot<key>(where(causal<query, key>(), dot<d_head>(q, k) * decay), v);
}

/// Forgetting attention: a gate at each position lowers the scores of all that came before it.
/// Source: Lin, Nikishin, He, Courville 2025, Forgetting Transformer: Softmax Attention with a Forget Gate.
auto forgetting_gate(const auto& q, const auto& k, const auto& v, const auto& gate) {
  const auto kept = let(cumsum<query>(log(sigmoid(gate))));
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0) + kept - rename<query, key>(kept);
  return dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
}

/// Additive attention: a small network, not a product, scores each pair.
/// Source: Bahdanau, Cho, Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate.
/// Stored: a score sums a function of query and key together, so it is no product of one with the other, and only
/// products are computed a tile at a time.
auto additive_attention(const auto& q, const auto& k, const auto& v, const auto& w) {
  const auto both = broadcast<key>(q, key{k.template extent<key>()}) + k;
  return dot<key>(softmax<key>(dot<hidden>(tanh(both), w)), v);
}

/// Attention pooling: one learned query makes one vector of a sequence.
/// Source: Yang et al. 2016, Hierarchical Attention Networks for Document Classification.
auto attention_pooling(const auto& x, const auto& length, const auto& w, const auto& b, const auto& u) {
  const auto scores = dot<hidden>(tanh(dot<model>(x, w) + b), u);
  return dot<key>(softmax<key>(where(index<key>() < length, scores)), x);
}

/// Masked mean pooling: the mean over the positions that are no padding.
/// Source: Reimers, Gurevych 2019, Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks.
auto masked_mean_pooling(const auto& x, const auto& length) { return mean<key>(where(index<key>() < length, x)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(variants_linear)

BOOST_AUTO_TEST_CASE(linear_attention_streams) {
  check_variant("linear_attention", [](int scale) {
    const two_heads p(101 * scale);
    return linear_attention(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(retention_streams) {
  check_variant("retention", [](int scale) {
    const two_heads p(101 * scale);
    return retention(p.q, p.k, p.v, row<float, head>({0.96875, 0.984375}));
  });
}

BOOST_AUTO_TEST_CASE(forgetting_gate_streams) {
  check_variant("forgetting_gate", [](int scale) {
    const two_heads p(101 * scale);
    return forgetting_gate(p.q, p.k, p.v, input<head, query>(4, head{2}, query{101 * scale}) + 2);
  });
}

BOOST_AUTO_TEST_CASE(additive_attention_stores) {
  check_stored_variant("additive_attention", [](int scale) {
    const auto q = input<query, hidden>(1, query{13 * scale}, hidden{24});
    const auto k = input<key, hidden>(2, key{101 * scale}, hidden{24});
    return additive_attention(q, k, input<key, d_value>(3, key{101 * scale}, d_value{5}), input<hidden>(4, hidden{24}));
  });
}

BOOST_AUTO_TEST_CASE(attention_pooling_streams) {
  check_variant("attention_pooling", [](int scale) {
    const auto x = input<batch, key, model>(1, batch{3}, key{101 * scale}, model{24});
    return attention_pooling(x, row<std::int32_t, batch>({101, 1, 67}), weight<model, hidden>(2, model{24}, hidden{17}),
                             input<hidden>(3, hidden{17}), input<hidden>(4, hidden{17}));
  });
}

BOOST_AUTO_TEST_CASE(masked_mean_pooling_streams) {
  check_variant("masked_mean_pooling", [](int scale) {
    const auto x = input<batch, key, model>(1, batch{3}, key{101 * scale}, model{24});
    return masked_mean_pooling(x, row<std::int32_t, batch>({101, 1, 67}));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace test::variants
