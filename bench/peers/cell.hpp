// SPDX-License-Identifier: BSL-1.0
// In: the numbers of a cell of the comparison. Out: its inputs, the same for every program that takes part, and what an
// implementation offers to be timed.
// Next to read: server.cpp, which answers the driver, or heed_attention.cpp, the formulas.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

/// Attention: q [batch, heads, queries, width], k and v [batch, kv_heads, keys, width]. A layer: x [batch, queries,
/// heads * width], hidden units inside its feed-forward network; where it has a past, that of keys - queries positions.
/// Sentences: the first `batch` of sentences.txt, queries and keys the tokens of the longest.
struct cell {
  std::string kind;  // the edit of the scores, or the kind of layer
  std::int64_t batch, heads, kv_heads, queries, keys, width, hidden;

  std::int64_t model() const { return heads * width; }
};

/// How long the documents of "documents" are, how far "window" looks back, how far "softcap" lets a score go.
constexpr std::int64_t document = 200, window = 256;
constexpr float softcap = 30;
/// The keys that sequence b of "padding" has.
inline std::int64_t length_of(cell const& c, std::int64_t b) {
  return c.batch < 2 ? c.keys : c.keys - b * c.keys * 4 / 5 / (c.batch - 1);
}

/// Numbers in [-1, 1), the same in every run.
inline std::vector<float> numbers(std::int64_t count, std::uint32_t seed, float scale = 1) {
  std::vector<float> result(static_cast<std::size_t>(count));
  for (float& x : result) {
    seed = seed * 1664525u + 1013904223u;
    x = scale * (static_cast<float>(seed >> 8) * 0x1p-23F - 1);
  }
  return result;
}

/// The arrays of a cell by name, as the other programs find them in its folder.
using arrays = std::map<std::string, std::vector<float>>;
/// Token ids [batch, queries] and the lengths [batch] of sentences; sets the extents of the cell that they decide.
arrays sentences_of(cell& c);
inline arrays inputs_of(cell const& c) {
  arrays in;
  if (c.kind == "encoder_layer") {
    std::int64_t const m = c.model(), h = c.hidden;
    float const narrow = 1 / std::sqrt(static_cast<float>(m)), wide = 1 / std::sqrt(static_cast<float>(h));
    in["x"] = numbers(c.batch * c.queries * m, 1);
    for (std::uint32_t i = 0; char const* name : {"w_q", "w_k", "w_v", "w_o"})
      in[name] = numbers(m * m, 2 + i++, narrow);
    for (std::uint32_t i = 0; char const* name : {"b_q", "b_k", "b_v", "b_o", "b_2"})
      in[name] = numbers(m, 12 + i++, 0.1f);
    in["w_1"] = numbers(m * h, 6, narrow);
    in["b_1"] = numbers(h, 7, 0.1f);
    in["w_2"] = numbers(h * m, 8, wide);
    return in;
  }
  if (c.kind == "decoder_layer") {
    std::int64_t const m = c.model(), shared = c.kv_heads * c.width, h = c.hidden;
    float const narrow = 1 / std::sqrt(static_cast<float>(m)), wide = 1 / std::sqrt(static_cast<float>(h));
    in["x"] = numbers(c.batch * c.queries * m, 1);
    in["w_q"] = numbers(m * m, 2, narrow), in["w_o"] = numbers(m * m, 3, narrow);
    in["w_k"] = numbers(m * shared, 4, narrow), in["w_v"] = numbers(m * shared, 5, narrow);
    in["w_gate"] = numbers(m * h, 6, narrow), in["w_up"] = numbers(m * h, 7, narrow);
    in["w_down"] = numbers(h * m, 8, wide);
    in["past_k"] = numbers(c.batch * shared * (c.keys - c.queries), 9);
    in["past_v"] = numbers(c.batch * shared * (c.keys - c.queries), 10);
    return in;
  }
  in["q"] = numbers(c.batch * c.heads * c.queries * c.width, 1, 2);
  in["k"] = numbers(c.batch * c.kv_heads * c.keys * c.width, 2, 2);
  in["v"] = numbers(c.batch * c.kv_heads * c.keys * c.width, 3, 2);
  if (c.kind == "bias") in["bias"] = numbers(c.heads * c.queries * c.keys, 4);
  return in;
}

/// One way to compute a cell: `run` with a number of threads, `result` after it.
struct implementation {
  std::function<void(int threads)> run;
  std::function<std::span<float const>()> result;
};

/// By name; a maker throws `unsupported` where it has nothing for a kind.
struct unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};
using maker = std::function<implementation(cell const&, arrays const&)>;

implementation heed_attention(cell const&, arrays const&, bool fused);
implementation heed_layer(cell const&, arrays const&, bool fused);
implementation heed_sentences(cell const&, arrays const&, bool fused);
/// The other libraries that this program is built with, and how they name their versions.
std::map<std::string, maker> libraries();
std::map<std::string, std::string> versions();
implementation xtensor(cell const&, arrays const&);
std::string xtensor_version();

}  // namespace peers
