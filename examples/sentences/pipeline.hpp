// SPDX-License-Identifier: BSL-1.0
// In: the folder of all-MiniLM-L6-v2 (model.safetensors, vocab.txt) and sentences. Out: an embedding of length one for
// each; sentences that mean the same have a large dot product (Reimers and Gurevych 2019; Wang et al. 2020).
// Next to read: main.cpp.
#pragma once

#include "../bert/layer.hpp"
#include "word_piece.hpp"

namespace sentences {

using namespace bert;

constexpr extent_t model_width = 384, head_count = 12, hidden_width = 1536;
constexpr int layer_count = 6;
constexpr std::size_t longest_input = 256;  // tokens; what follows is not read, as the model's authors do

using sentence_embeddings = heed::tensor<float, batch, model<model_width>>;

class encoder {
 public:
  explicit encoder(std::filesystem::path const& folder)
      : encoder(heed::io::safetensors_file(folder / "model.safetensors"), vocabulary(lines_of(folder / "vocab.txt"))) {}

  token_ids ids_of(std::string_view sentence) const { return tokenize_(sentence, longest_input); }

  sentence_embeddings embed(std::vector<std::string> const& sentences) const {
    std::vector<token_ids> ids;
    for (std::string const& each : sentences) ids.push_back(ids_of(each));
    return embed(padded_batch(ids));
  }
  // The mean over a sentence's tokens of what the last layer says of them, scaled to length one.
  sentence_embeddings embed(padded_batch const& input, heed::policy const& how = {}) const {
    using namespace heed;
    tensor x = evaluate(how, embed_(input.ids));
    for (auto const& each : layers_) x = evaluate(how, layer(x, *each, input.lengths).output);
    const auto total = mean<query>(where(index<query>() < input.lengths, x));
    return evaluate(how, total / sqrt(sum<model<model_width>>(total * total)));
  }

 private:
  encoder(heed::io::safetensors_file const& file, vocabulary known)
      : tokenize_(std::move(known)),
        embed_(file, "embeddings.") {
    for (int number = 0; number < layer_count; ++number)
      layers_.push_back(heed::nn::packed(read_layer<model_width, head_count, hidden_width>(file, names(number))));
  }

  static layer_names names(int number) {
    const std::string layer = "encoder.layer." + std::to_string(number) + ".", self = layer + "attention.self.";
    const std::string attention = layer + "attention.output.", output = layer + "output.";
    return {self + "query",          self + "key",
            self + "value",          attention + "dense",
            attention + "LayerNorm", layer + "intermediate.dense",
            output + "dense",        output + "LayerNorm"};
  }

  word_piece tokenize_;
  embeddings<model_width> embed_;
  std::vector<std::shared_ptr<layer_parameters<model_width, head_count, hidden_width> const>> layers_;
};

}  // namespace sentences
