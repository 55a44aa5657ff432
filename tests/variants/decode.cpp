// SPDX-License-Identifier: BSL-1.0
// In: queries of one sequence and keys of another, or of a cache. Out: attention across sequences: to a memory, to a
// cache whose sequences have lengths of their own or lie in pages, to parts that are put together; and a search.
// Next: variant.hpp, if it was not read first.
#include "variant.hpp"

namespace test::variants {
namespace {

struct page : axis<> {};
struct place : axis<> {};

/// Cross-attention: queries of a decoder, keys and values of an encoder, whose padding is not seen.
/// Source: Vaswani et al. 2017, Attention Is All You Need.
auto cross_attention(const auto& q, const auto& k, const auto& v, const auto& length) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(index<key>() < length, scores)), v);
}

/// Late interaction (MaxSim): each word of a question looks for its best match in a document.
/// Source: Khattab, Zaharia 2020, ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction
/// over BERT.
auto max_sim(const auto& q, const auto& k, const auto& length) {
  return sum<query>(max<key>(where(index<key>() < length, dot<d_head>(q, k))));
}

/// Ring attention: attention over the keys that one host holds, then over those of the next, put together.
/// Source: Liu, Zaharia, Abbeel 2023, Ring Attention with Blockwise Transformers for Near-Infinite Context.
auto ring_by_combine(const auto& here, const auto& here_v, const auto& there, const auto& there_v) {
  const auto context = [](const auto& scores, const auto& v) { return dot<key>(softmax<key>(scores), v); };
  return combine(context(here, here_v), log_sum_exp<key>(here), context(there, there_v), log_sum_exp<key>(there)).first;
}

/// Ragged decoding: one query for each sequence of a batch, each with a length of its own.
/// Source: Yu, Jeong, Kim, Kim, Chun 2022, Orca: A Distributed Serving System for Transformer-Based Generative Models.
auto ragged_decode(const auto& q, const auto& k, const auto& v, const auto& length) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(index<key>() < length, scores)), v);
}

/// Paged decoding: keys and values lie in pages of 16 positions, which a table names for each sequence.
/// Source: Kwon et al. 2023, Efficient Memory Management for Large Language Model Serving with PagedAttention.
auto paged_decode(const auto& q, const auto& k_pool, const auto& v_pool, const auto& pages, const auto& length) {
  const auto scores = dot<d_head>(q, take<page>(k_pool, pages)) / std::sqrt(16.0);
  const auto kept = where(index<key>() * 16 + index<place>() < length, scores);
  return dot<key, place>(softmax<key, place>(kept), take<page>(v_pool, pages));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variants_decode)

BOOST_AUTO_TEST_CASE(cross_attention_streams) {
  check_variant("cross_attention", [](int scale) {
    const std::ptrdiff_t n = 101 * scale;
    const auto q = input<batch, head, query, d_head>(1, batch{2}, head{2}, query{13 * scale}, d_head{16});
    const auto k = input<batch, head, key, d_head>(2, batch{2}, head{2}, key{n}, d_head{16});
    const auto v = input<batch, head, key, d_value>(3, batch{2}, head{2}, key{n}, d_value{5});
    return cross_attention(q, k, v, row<std::int32_t, batch>({101, 66}));
  });
}

BOOST_AUTO_TEST_CASE(max_sim_streams) {
  check_variant("max_sim", [](int scale) {
    const auto q = input<query, d_head>(1, query{13 * scale}, d_head{16});
    const auto k = input<batch, key, d_head>(2, batch{3}, key{101 * scale}, d_head{16});
    return max_sim(q, k, row<std::int32_t, batch>({101, 66, 1}));
  });
}

BOOST_AUTO_TEST_CASE(ring_by_combine_streams) {
  check_variant("ring_by_combine", [](int scale) {
    const std::ptrdiff_t n = 101 * scale;
    const auto q = input<head, query, d_head>(1, head{2}, query{n}, d_head{16});
    const auto scores = [&](std::uint32_t seed) {
      return dot<d_head>(q, input<head, key, d_head>(seed, head{2}, key{n}, d_head{16})) / std::sqrt(16.0);
    };
    return ring_by_combine(scores(2), input<head, key, d_value>(3, head{2}, key{n}, d_value{5}), scores(4),
                           input<head, key, d_value>(5, head{2}, key{n}, d_value{5}));
  });
}

BOOST_AUTO_TEST_CASE(ragged_decode_streams) {
  check_variant("ragged_decode", [](int scale) {
    const auto q = input<batch, kv_head, group, d_head>(1, batch{3}, kv_head{2}, group{3}, d_head{16});
    const auto k = input<batch, kv_head, key, d_head>(2, batch{3}, kv_head{2}, key{203 * scale}, d_head{16});
    const auto v = input<batch, kv_head, key, d_value>(3, batch{3}, kv_head{2}, key{203 * scale}, d_value{5});
    return ragged_decode(q, k, v, row<std::int32_t, batch>({203, 1, 130}));
  });
}

BOOST_AUTO_TEST_CASE(paged_decode_streams) {
  check_variant("paged_decode", [](int scale) {
    const auto q = input<batch, head, d_head>(1, batch{3}, head{2}, d_head{16});
    const auto k = input<page, place, head, d_head>(2, page{20}, place{16}, head{2}, d_head{16});
    const auto v = input<page, place, head, d_value>(3, page{20}, place{16}, head{2}, d_value{5});
    tensor<std::int32_t, batch, key> pages{batch{3}, key{5 * scale}};
    for (std::ptrdiff_t b = 0; b < 3; ++b)
      for (std::ptrdiff_t j = 0; j < 5 * scale; ++j) pages(b, j) = static_cast<std::int32_t>((7 * j + 3 * b + 2) % 20);
    return paged_decode(q, k, v, pages, row<std::int32_t, batch>({80, 1, 67}));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace test::variants
