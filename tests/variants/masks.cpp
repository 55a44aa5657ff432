// SPDX-License-Identifier: BSL-1.0
// In: queries, keys, values of one length. Out: softmax attention whose variants differ in the keys that a query sees.
// What is excluded is skipped block by block, whatever the condition is made of.
// Next: positions.cpp.
#include "variant.hpp"

namespace test::variants {
namespace {

struct query_block : axis<> {};
struct key_block : axis<> {};

/// Causal attention: a position sees itself and what came before.
/// Source: Vaswani et al. 2017, Attention Is All You Need.
auto causal_attention(const auto& q, const auto& k, const auto& v) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
}

/// Sliding window: a position sees itself and the 63 positions before it.
/// Source: Jiang et al. 2023, Mistral 7B.
auto sliding_window(const auto& q, const auto& k, const auto& v) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0);
  return dot<key>(softmax<key>(where(window<query, key>(64), scores)), v);
}

/// Dilated window: every third position among the last 96.
/// Source: Beltagy, Peters, Cohan 2020, Longformer: The Long-Document Transformer (section 3.1).
auto dilated_window(const auto& q, const auto& k, const auto& v) {
  const auto back = index<query>() - index<key>();
  const auto keep = back % 3 == 0 && back >= 0 && back < 96;
  return dot<key>(softmax<key>(where(keep, dot<d_head>(q, k) / std::sqrt(16.0))), v);
}

/// Prefix language model: the first 37 positions see each other, the rest is causal.
/// Source: Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer.
auto prefix_attention(const auto& q, const auto& k, const auto& v) {
  const auto keep = index<key>() <= index<query>() || index<key>() < 37;
  return dot<key>(softmax<key>(where(keep, dot<d_head>(q, k) / std::sqrt(16.0))), v);
}

/// Packed documents: causal, and only within the document that the position belongs to.
/// Source: Krell, Kosec, Perez, Fitzgibbon 2021, Efficient Sequence Packing without Cross-contamination.
auto packed_documents(const auto& q, const auto& k, const auto& v, const auto& document) {
  const auto keep = document == rename<query, key>(document) && causal<query, key>();
  return dot<key>(softmax<key>(where(keep, dot<d_head>(q, k) / std::sqrt(16.0))), v);
}

/// Block-sparse attention: blocks of 16 positions see the blocks that a table of truth values names.
/// Source: Child, Gray, Radford, Sutskever 2019, Generating Long Sequences with Sparse Transformers.
auto block_sparse(const auto& q, const auto& k, const auto& v, const auto& layout) {
  const auto keep = take<key_block>(take<query_block>(layout, index<query>() / 16), index<key>() / 16);
  return dot<key>(softmax<key>(where(keep, dot<d_head>(q, k) / std::sqrt(16.0))), v);
}

/// Global and local attention: a window of 33 around each position, and four positions that see and are seen by all.
/// Source: Beltagy, Peters, Cohan 2020, Longformer: The Long-Document Transformer.
auto global_and_local(const auto& q, const auto& k, const auto& v) {
  const auto local = abs(index<query>() - index<key>()) <= 16;
  const auto keep = local || index<key>() < 4 || index<query>() < 4;
  return dot<key>(softmax<key>(where(keep, dot<d_head>(q, k) / std::sqrt(16.0))), v);
}

/// Chunked local attention: causal within chunks of 48 positions.
/// Source: Parmar et al. 2018, Image Transformer (one-dimensional local attention).
auto chunked_local(const auto& q, const auto& k, const auto& v) {
  const auto keep = index<query>() / 48 == index<key>() / 48 && causal<query, key>();
  return dot<key>(softmax<key>(where(keep, dot<d_head>(q, k) / std::sqrt(16.0))), v);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variants_masks)

BOOST_AUTO_TEST_CASE(causal_attention_streams) {
  check_variant("causal_attention", [](int scale) {
    const two_heads p(101 * scale);
    return causal_attention(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(sliding_window_streams) {
  check_variant("sliding_window", [](int scale) {
    const two_heads p(203 * scale);
    return sliding_window(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(dilated_window_streams) {
  check_variant("dilated_window", [](int scale) {
    const two_heads p(203 * scale);
    return dilated_window(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(prefix_attention_streams) {
  check_variant("prefix_attention", [](int scale) {
    const two_heads p(101 * scale);
    return prefix_attention(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(packed_documents_streams) {
  check_variant("packed_documents", [](int scale) {
    const two_heads p(101 * scale);
    tensor<std::int32_t, query> document{query{101 * scale}};
    for (std::ptrdiff_t i = 0; i < 101 * scale; ++i) document(i) = (i >= 23) + (i >= 24) + (i >= 77);
    return packed_documents(p.q, p.k, p.v, document);
  });
}

BOOST_AUTO_TEST_CASE(block_sparse_streams) {
  check_variant("block_sparse", [](int scale) {
    const two_heads p(203 * scale);
    tensor<bool, query_block, key_block> layout{query_block{13 * scale}, key_block{13 * scale}};
    for (std::ptrdiff_t i = 0; i < 13 * scale; ++i)
      for (std::ptrdiff_t j = 0; j < 13 * scale; ++j) layout(i, j) = j <= i && (i - j < 2 || j % 4 == 3);
    return block_sparse(p.q, p.k, p.v, layout);
  });
}

BOOST_AUTO_TEST_CASE(global_and_local_streams) {
  check_variant("global_and_local", [](int scale) {
    const two_heads p(203 * scale);
    return global_and_local(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_CASE(chunked_local_streams) {
  check_variant("chunked_local", [](int scale) {
    const two_heads p(203 * scale);
    return chunked_local(p.q, p.k, p.v);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace test::variants
