// SPDX-License-Identifier: BSL-1.0
// In: an attention cell and its arrays. Out: what the compositions of other libraries share: operands by head, what is
// added to the scores, the result.
// Next to read: libraries.cpp, the compositions.
#pragma once

#include "cell.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace peers {

/// Whether query i of sequence b sees key j.
inline bool keeps(cell const& c, std::int64_t b, std::int64_t i, std::int64_t j) {
  std::int64_t const at = i + c.keys - c.queries;
  if (c.kind == "causal" || c.kind == "alibi") return j <= at;
  if (c.kind == "window") return j <= at && at - j < window;
  if (c.kind == "documents") return j <= at && at / document == j / document;
  if (c.kind == "padding") return j < length_of(c, b);
  return true;
}

struct operands {
  cell c;
  std::shared_ptr<std::vector<float>> q, k, v, bias, mask, out;

  operands(cell const& of, arrays const& in) : c(of) {
    refuse_all_but({"full", "causal", "window", "documents", "bias", "padding"});
    auto const keep = [](std::vector<float> values) { return std::make_shared<std::vector<float>>(std::move(values)); };
    q = keep(in.at("q")), k = keep(in.at("k")), v = keep(in.at("v")), out = keep(std::vector<float>(q->size()));
    if (c.kind == "full") {  // the queries of a group of heads lie one after the other: more queries of one head
      c.queries *= c.heads / c.kv_heads;
      c.heads = c.kv_heads;
      return;
    }
    if (c.kind == "bias") {
      bias = keep(in.at("bias"));
      return;
    }
    std::int64_t const sequences = c.kind == "padding" ? c.batch : 1;
    mask = keep(std::vector<float>(static_cast<std::size_t>(sequences * c.queries * c.keys)));
    for (std::int64_t b = 0, at = 0; b < sequences; ++b)
      for (std::int64_t i = 0; i < c.queries; ++i)
        for (std::int64_t j = 0; j < c.keys; ++j)
          (*mask)[static_cast<std::size_t>(at++)] = keeps(c, b, i, j) ? 0 : -std::numeric_limits<float>::infinity();
  }

  float* queries(std::int64_t b, std::int64_t h) const { return q->data() + at(b, h); }
  float* contexts(std::int64_t b, std::int64_t h) const { return out->data() + at(b, h); }
  float* keys(std::int64_t b, std::int64_t h) const {
    return k->data() + (b * c.kv_heads + h / (c.heads / c.kv_heads)) * c.keys * c.width;
  }
  float* values(std::int64_t b, std::int64_t h) const {
    return v->data() + (b * c.kv_heads + h / (c.heads / c.kv_heads)) * c.keys * c.width;
  }
  /// Added to the scores of a head, or null.
  float* added(std::int64_t b, std::int64_t h) const {
    if (bias) return bias->data() + h * c.queries * c.keys;
    if (mask) return mask->data() + (c.kind == "padding" ? b : 0) * c.queries * c.keys;
    return nullptr;
  }
  float scale() const { return 1 / std::sqrt(static_cast<float>(c.width)); }

  implementation made(std::function<void(int)> run) const {
    return {.run = std::move(run), .result = [kept = out] { return std::span<float const>(*kept); }};
  }

 private:
  std::int64_t at(std::int64_t b, std::int64_t h) const { return (b * c.heads + h) * c.queries * c.width; }
  void refuse_all_but(std::initializer_list<char const*> kinds) const {
    if (std::none_of(kinds.begin(), kinds.end(), [&](char const* kind) { return c.kind == kind; }))
      throw unsupported(c.kind);
  }
};

}  // namespace peers
