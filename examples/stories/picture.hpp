// SPDX-License-Identifier: BSL-1.0
// In: the weights of a model, the tokens of a story. Out: what each head of each layer reads, as a tensor and a page.
// Next to read: main.cpp; heed/io/heatmap.hpp.

#pragma once

#include "model.hpp"
#include "pipeline.hpp"
#include "tokenizer.hpp"
#include <heed/heed.hpp>
#include <heed/io/heatmap.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stories {

struct layer : heed::axis<> {};
struct head : heed::axis<> {};  // kv_head and group together

// The weights of every head over a text that is read at once.
inline heed::tensor<float, layer, head, query, key> attention_over(checkpoint const& weights,
                                                                   std::vector<std::int32_t> const& ids) {
  const dimensions size = weights.size();
  heed::tensor<float, layer, head, query, key> all{layer{size.layers}, head{size.heads}, query{ids.size()},
                                                   key{ids.size()}};
  decoder model_in_text(weights);
  model_in_text.read(ids, [&](std::size_t number, auto const& block) {
    const heed::tensor one = heed::evaluate<kv_head, group, query, key>(block.probabilities);
    std::copy(one.begin(), one.end(), all.begin() + static_cast<heed::extent_t>(number) * one.size());
  });
  return all;
}

// Writes `path`, a page (.html) or a picture (.svg). Sentences end with the separators.
inline void write_picture(std::filesystem::path const& path, checkpoint const& weights, tokenizer const& tokens,
                          std::vector<std::int32_t> const& ids) {
  heed::io::heatmap_text text{.title = "What the story's tokens read",
                              .note = "The weights of self-attention while the model reads its story once more."};
  for (const std::int32_t id : ids) {
    const std::string label = id == tokenizer::beginning ? "<s>" : tokens.decode(tokenizer::end, id);
    if (label == "." || label == "!" || label == "?")
      text.separators.push_back(static_cast<heed::extent_t>(text.keys.size()));
    text.keys.push_back(label);
  }
  heed::io::write_heatmap(path, attention_over(weights, ids), text);
}

}  // namespace stories
