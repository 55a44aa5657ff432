// SPDX-License-Identifier: BSL-1.0
// In: an attention cell. Out: heed's formula for it, fused or node by node.
// Next to read: heed_layers.cpp.
#include "heed_run.hpp"

#include <cmath>

namespace peers {
namespace {

struct batch : heed::axis<> {};
struct head : heed::axis<> {};
struct kv_head : heed::axis<> {};
struct group : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<> {};
struct d_value : heed::axis<> {};

/// Every query head has keys of its own.
struct heads {
  heed::tensor<float, batch, head, query, d_head> q;
  heed::tensor<float, batch, head, key, d_head> k;
  heed::tensor<float, batch, head, key, d_value> v;

  heads(cell const& c, arrays const& in)
      : q(batch{c.batch}, head{c.heads}, query{c.queries}, d_head{c.width}),
        k(batch{c.batch}, head{c.heads}, key{c.keys}, d_head{c.width}),
        v(batch{c.batch}, head{c.heads}, key{c.keys}, d_value{c.width}) {
    copy(in.at("q"), q), copy(in.at("k"), k), copy(in.at("v"), v);
  }
};
/// Groups of query heads share keys and values.
struct groups {
  heed::tensor<float, batch, kv_head, group, query, d_head> q;
  heed::tensor<float, batch, kv_head, key, d_head> k;
  heed::tensor<float, batch, kv_head, key, d_value> v;

  groups(cell const& c, arrays const& in)
      : q(batch{c.batch}, kv_head{c.kv_heads}, group{c.heads / c.kv_heads}, query{c.queries}, d_head{c.width}),
        k(batch{c.batch}, kv_head{c.kv_heads}, key{c.keys}, d_head{c.width}),
        v(batch{c.batch}, kv_head{c.kv_heads}, key{c.keys}, d_value{c.width}) {
    copy(in.at("q"), q), copy(in.at("k"), k), copy(in.at("v"), v);
  }
};

template <class Inputs, class Edit> implementation attend(cell const& c, Inputs const& in, bool fused, Edit edit) {
  auto const s = heed::dot<d_head>(in.q, in.k) / std::sqrt(static_cast<float>(c.width));
  return heed_run(heed::dot<key>(heed::softmax<key>(edit(s)), in.v), fused);
}

heed::tensor<std::int32_t, key> documents_of_keys(cell const& c) {
  heed::tensor<std::int32_t, key> of{key{c.keys}};
  for (std::int64_t j = 0; j < c.keys; ++j) of(j) = static_cast<std::int32_t>(j / document);
  return of;
}
heed::tensor<std::int32_t, batch> lengths(cell const& c) {
  heed::tensor<std::int32_t, batch> length{batch{c.batch}};
  for (std::int64_t b = 0; b < c.batch; ++b) length(b) = static_cast<std::int32_t>(length_of(c, b));
  return length;
}

}  // namespace

implementation heed_attention(cell const& c, arrays const& data, bool fused) {
  if (c.kv_heads != c.heads) {
    groups const in(c, data);
    if (c.kind == "full") return attend(c, in, fused, [](auto const& s) { return s; });
    if (c.kind == "causal")
      return attend(c, in, fused,
                    [&](auto const& s) { return heed::where(heed::causal<query, key>(c.keys - c.queries), s); });
    throw unsupported("grouped heads with " + c.kind);
  }
  heads const in(c, data);
  if (c.kind == "full") return attend(c, in, fused, [](auto const& s) { return s; });
  if (c.kind == "causal")
    return attend(c, in, fused, [](auto const& s) { return heed::where(heed::causal<query, key>(), s); });
  if (c.kind == "window")
    return attend(c, in, fused, [](auto const& s) { return heed::where(heed::window<query, key>(window), s); });
  if (c.kind == "documents")
    return attend(c, in, fused, [&](auto const& s) {
      auto const of_key = documents_of_keys(c);
      auto const of_query = heed::evaluate(heed::rename<key, query>(of_key));
      return heed::where(of_query == of_key && heed::causal<query, key>(), s);
    });
  if (c.kind == "alibi")
    return attend(c, in, fused, [&](auto const& s) {
      auto const slopes = heed::alibi_slopes<head>(c.heads);
      return heed::where(heed::causal<query, key>(), s + heed::alibi<query, key>(slopes));
    });
  if (c.kind == "softcap") return attend(c, in, fused, [](auto const& s) { return heed::softcap(s, softcap); });
  if (c.kind == "bias")
    return attend(c, in, fused, [&](auto const& s) {
      heed::tensor<float, head, query, key> bias{head{c.heads}, query{c.queries}, key{c.keys}};
      copy(data.at("bias"), bias);
      return s + bias;
    });
  if (c.kind == "padding")
    return attend(c, in, fused, [&](auto const& s) { return heed::where(heed::index<key>() < lengths(c), s); });
  throw unsupported(c.kind);
}

}  // namespace peers
