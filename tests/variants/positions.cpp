// SPDX-License-Identifier: BSL-1.0
// In: queries and keys. Out: softmax attention whose variants differ in how positions enter: as a bias of the scores,
// as vectors that queries meet, as rotations.
// Next: heads.cpp.
#include "variant.hpp"

namespace test::variants {
namespace {

struct bucket : axis<> {};
struct relative : axis<> {};
struct rotary : axis<> {};
struct half : axis<> {};

constexpr rope_pairs neighbours = rope_pairs::interleaved, halves = rope_pairs::half;

/// ALiBi: a penalty that grows with the distance, by a slope for each head.
/// Source: Press, Smith, Lewis 2022, Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation.
auto alibi_attention(const auto& q, const auto& k, const auto& v) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0) + alibi<query, key>(alibi_slopes<head>(6));
  return dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
}

/// T5 buckets: a learned bias by distance, exact for 8 distances, logarithmic up to 100 (the smaller of both numbers of
/// buckets), for each direction.
/// Source: Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer.
auto t5_buckets(const auto& q, const auto& k, const auto& v, const auto& bias) {
  const auto ahead = index<key>() - index<query>();
  const auto far = min(8 + cast<std::int64_t>(log(max(abs(ahead), 1) / 8.0) * (8 / std::log(100 / 8.0))), 15);
  return dot<key>(softmax<key>(dot<d_head>(q, k) + take<bucket>(bias, min(abs(ahead), far) + 16 * (ahead > 0))), v);
}

/// Relative positions: a key has a vector for its distance from the query beside its own, the same from 16 on.
/// Source: Shaw, Uszkoreit, Vaswani 2018, Self-Attention with Relative Position Representations (equation 4).
auto relative_keys(const auto& q, const auto& k, const auto& v, const auto& r) {
  const auto distance = min(max(index<key>() - index<query>(), -16), 16) + 16;
  const auto scores = dot<d_head>(q, k) + take<relative>(dot<d_head>(q, r), distance);
  return dot<key>(softmax<key>(scores / std::sqrt(16.0)), v);
}

/// Transformer-XL: content and position scores, each with a bias of its own in the query's place. Sines and cosines of
/// the distance are a rotation by the query and one back by the key, so that no table over all distances is met.
/// Source: Dai et al. 2019, Transformer-XL: Attentive Language Models beyond a Fixed-Length Context.
auto transformer_xl(const auto& q, const auto& k, const auto& v, const auto& u, const auto& w, const auto& w_r,
                    const auto& one) {
  const auto by_distance = rope<rotary, query>(dot<d_head>(q + w, w_r), neighbours);
  const auto scores = dot<d_head>(q + u, k) + dot<rotary>(by_distance, rope<rotary, key>(one, neighbours));
  return dot<key>(softmax<key>(where(causal<query, key>(), scores / std::sqrt(16.0))), v);
}

/// Rotary positions: pairs of elements are turned by an angle that grows with the position.
/// Source: Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding.
auto rotary_attention(const auto& q, const auto& k, const auto& v) {
  const auto turned_q = rope<d_head, query>(q, neighbours);
  const auto scores = dot<d_head>(turned_q, rope<d_head, key>(k, neighbours)) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
}

/// Partial rotary: only the first quarter of each head is turned.
/// Source: Black et al. 2022, GPT-NeoX-20B: An Open-Source Autoregressive Language Model.
auto partial_rotary(const auto& q, const auto& k, const auto& v) {
  const auto part_q = concat<d_head>(rope<d_head, query>(slice<d_head>(q, 0, 4), halves), slice<d_head>(q, 4, 16));
  const auto part_k = concat<d_head>(rope<d_head, key>(slice<d_head>(k, 0, 4), halves), slice<d_head>(k, 4, 16));
  return dot<key>(softmax<key>(where(causal<query, key>(), dot<d_head>(part_q, part_k) / std::sqrt(16.0))), v);
}

/// YaRN: rotary positions by tables of stretched angles, and sharper scores.
/// Source: Peng, Quesnelle, Fan, Shippole 2023, YaRN: Efficient Context Window Extension of Large Language Models.
auto yarn(const auto& q, const auto& k, const auto& v, const auto& cosines, const auto& sines, double temperature) {
  const auto turned_q = rope<d_head, half>(q, halves, cosines, sines);
  const auto turned_k = rope<d_head, half>(k, halves, rename<query, key>(cosines), rename<query, key>(sines));
  return dot<key>(softmax<key>(dot<d_head>(turned_q, turned_k) / (temperature * std::sqrt(16.0))), v);
}

/// Queries, keys and values of a number of heads.
struct problem {
  tensor<float, head, query, d_head> q;
  tensor<float, head, key, d_head> k;
  tensor<float, head, key, d_value> v;
  explicit problem(std::ptrdiff_t length, std::ptrdiff_t heads = 2)
      : q(input<head, query, d_head>(1, head{heads}, query{length}, d_head{16})),
        k(input<head, key, d_head>(2, head{heads}, key{length}, d_head{16})),
        v(input<head, key, d_value>(3, head{heads}, key{length}, d_value{5})) {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(variants_positions)

BOOST_AUTO_TEST_CASE(alibi_attention_streams) {
  check_variant("alibi_attention", [](int scale) {
    const problem p(101 * scale, 6);
    return alibi_attention(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(t5_buckets_streams) {
  const auto make = [](int scale) {
    const problem p(203 * scale);
    return t5_buckets(p.q, p.k, p.v, input<head, bucket>(4, head{2}, bucket{32}));
  };
  check_variant("t5_buckets", make, 1);  // a logarithm for each pair takes its time
}

BOOST_AUTO_TEST_CASE(relative_keys_streams) {
  check_variant("relative_keys", [](int scale) {
    const problem p(101 * scale);
    return relative_keys(p.q, p.k, p.v, input<relative, d_head>(4, relative{33}, d_head{16}));
  });
}

BOOST_AUTO_TEST_CASE(transformer_xl_streams) {
  check_variant("transformer_xl", [](int scale) {
    const problem p(101 * scale);
    tensor<float, key, rotary> one{key{101 * scale}, rotary{8}};  // sine 0, cosine 1
    for (std::ptrdiff_t j = 0; j < 101 * scale; ++j)
      for (std::ptrdiff_t r = 1; r < 8; r += 2) one(j, r) = 1;
    return transformer_xl(p.q, p.k, p.v, input<head, d_head>(4, head{2}, d_head{16}),
                          input<head, d_head>(5, head{2}, d_head{16}),
                          input<head, d_head, rotary>(6, head{2}, d_head{16}, rotary{8}), one);
  });
}

BOOST_AUTO_TEST_CASE(rotary_attention_streams) {
  check_variant("rotary_attention", [](int scale) {
    const problem p(101 * scale);
    return rotary_attention(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(partial_rotary_streams) {
  check_variant("partial_rotary", [](int scale) {
    const problem p(101 * scale);
    return partial_rotary(p.q, p.k, p.v);
  });
}

// Trained on 64 positions, stretched by 4: fast pairs are kept, slow ones slowed down four times, the rest in between.
BOOST_AUTO_TEST_CASE(yarn_streams) {
  check_variant("yarn", [](int scale) {
    const problem p(101 * scale);
    tensor<float, query, half> cosines{query{101 * scale}, half{8}}, sines{query{101 * scale}, half{8}};
    for (std::ptrdiff_t pair = 0; pair < 8; ++pair) {
      const double angle = std::pow(10000, -2.0 * static_cast<double>(pair) / 16);
      const double turns = 64 * angle / (2 * 3.14159265358979323846);
      const double ramp = std::clamp((turns - 1) / (32 - 1), 0.0, 1.0);
      const double stretched = ramp * angle + (1 - ramp) * angle / 4;
      for (std::ptrdiff_t i = 0; i < 101 * scale; ++i) {
        cosines(i, pair) = static_cast<float>(std::cos(static_cast<double>(i) * stretched));
        sines(i, pair) = static_cast<float>(std::sin(static_cast<double>(i) * stretched));
      }
    }
    const double sharper = 0.1 * std::log(4.0) + 1;
    return yarn(p.q, p.k, p.v, cosines, sines, 1 / (sharper * sharper));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace test::variants
