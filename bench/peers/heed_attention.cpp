// SPDX-License-Identifier: BSL-1.0
// In: an attention cell. Out: heed's formula for it, fused or node by node.
// Next to read: heed_layers.cpp.
#include "../inputs.hpp"
#include "heed_run.hpp"

#include <cmath>

namespace peers {
namespace {

using bench::batch, bench::d_head, bench::head, bench::key, bench::query;

bench::shape shape_of(cell const& c) { return {c.batch, c.heads, c.queries, c.keys, c.width, c.kv_heads}; }

template <class Inputs, class Edit> implementation attend(Inputs const& in, bool fused, Edit edit) {
  return heed_run(bench::attend(edit(in.scores()), in.v), fused);
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
    bench::groups_of<> const in(shape_of(c));
    if (c.kind == "full") return attend(in, fused, [](auto const& s) { return s; });
    if (c.kind == "causal")
      return attend(in, fused,
                    [&](auto const& s) { return heed::where(heed::causal<query, key>(c.keys - c.queries), s); });
    throw unsupported("grouped heads with " + c.kind);
  }
  bench::heads_of<> const in(shape_of(c));
  if (c.kind == "full") return attend(in, fused, [](auto const& s) { return s; });
  if (c.kind == "causal")
    return attend(in, fused, [](auto const& s) { return heed::where(heed::causal<query, key>(), s); });
  if (c.kind == "window")
    return attend(in, fused, [](auto const& s) { return heed::where(heed::window<query, key>(window), s); });
  if (c.kind == "documents")
    return attend(in, fused, [&](auto const& s) {
      auto const of_key = documents_of_keys(c);
      auto const of_query = heed::evaluate(heed::rename<key, query>(of_key));
      return heed::where(of_query == of_key && heed::causal<query, key>(), s);
    });
  if (c.kind == "alibi")
    return attend(in, fused, [&](auto const& s) {
      auto const slopes = heed::alibi_slopes<head>(c.heads);
      return heed::where(heed::causal<query, key>(), s + heed::alibi<query, key>(slopes));
    });
  if (c.kind == "softcap") return attend(in, fused, [](auto const& s) { return heed::softcap(s, softcap); });
  if (c.kind == "bias")
    return attend(in, fused, [&](auto const& s) {
      heed::tensor<float, head, query, key> bias{head{c.heads}, query{c.queries}, key{c.keys}};
      copy(data.at("bias"), bias);
      return s + bias;
    });
  if (c.kind == "padding")
    return attend(in, fused, [&](auto const& s) { return heed::where(heed::index<key>() < lengths(c), s); });
  throw unsupported(c.kind);
}

}  // namespace peers
