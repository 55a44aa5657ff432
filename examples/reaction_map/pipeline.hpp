// SPDX-License-Identifier: BSL-1.0
// In: an ALBERT trained on chemical reactions (Schwaller et al., Science Advances 7, eabe4166, 2021), and reactions in
// SMILES, reactants>>products. Out: which reactant atom each product atom comes from: head 5 of layer 10 looks there.
// Next to read: main.cpp.
#pragma once

#include "../bert/layer.hpp"
#include "reaction.hpp"

#include <optional>

namespace reaction_map {

using namespace bert;

constexpr extent_t model_width = 256, head_count = 8, hidden_width = 512, embedding_width = 128;
constexpr int layer_count = 12, map_layer = 10, map_head = 5;

using weights_by_position = heed::tensor<float, batch, query, key>;

struct product_atom {
  std::string token;
  std::optional<std::size_t> from;  // a reactant atom, in reading order; none has its element if there is none
};

class mapper {
 public:
  explicit mapper(std::filesystem::path const& folder)
      : mapper(heed::io::safetensors_file(folder / "encoder.safetensors"), vocabulary(lines_of(folder / "vocab.txt"))) {
  }

  token_ids ids_of(reaction const& r) const {
    token_ids ids;
    for (std::string const& each : r.tokens) ids.push_back(vocabulary_(each));
    return ids;
  }

  // The whole encoder: the states after its last layer, and what the head that carries the map looks at.
  std::pair<heed::tensor<float, batch, query, model<model_width>>, weights_by_position> encode(
      padded_batch const& input) const {
    using namespace heed;
    tensor x = evaluate(dot<model<embedding_width>>(embed_(input.ids), w_in_) + b_in_);
    weights_by_position looks;
    for (int number = 0; number < layer_count; ++number) {  // all layers have the same weights
      const auto expressions = layer(x, layer_, input.lengths);
      if (number != map_layer)
        x = evaluate(expressions.output);
      else
        std::tie(x, looks) = evaluate(expressions.output, at<head<head_count>>(expressions.weights, map_head));
    }
    return {std::move(x), std::move(looks)};
  }

  // For each product atom the reactant atom of its element for which both look at each other most.
  std::vector<std::vector<product_atom>> maps(std::vector<reaction> const& reactions) const {
    using namespace heed;
    std::vector<token_ids> ids;
    for (reaction const& each : reactions) ids.push_back(ids_of(each));
    const padded_batch input(ids);
    const weights_by_position looks = encode(input).second;

    const extent_t length = input.ids.extent<query>();
    tensor<bool, batch, query, key> alike{batch{reactions.size()}, query{length}, key{length}};
    for (std::size_t b = 0; b < reactions.size(); ++b)
      for (std::size_t i = 0; i < ids[b].size(); ++i)
        for (std::size_t j = 0; j < ids[b].size(); ++j) alike(b, i, j) = reactions[b].alike(i, j);
    struct other : axis<> {};
    const auto back = rename<other, key>(rename<key, query>(rename<query, other>(looks)));
    const tensor<std::int64_t, batch, query> from = evaluate(argmax<key>(where(alike, looks + back)));

    std::vector<std::vector<product_atom>> result;
    for (std::size_t b = 0; b < reactions.size(); ++b) result.push_back(map_of(reactions[b], &from(b, 0)));
    return result;
  }

 private:
  mapper(heed::io::safetensors_file const& file, vocabulary known)
      : vocabulary_(std::move(known)),
        embed_(file, "albert.embeddings."),
        w_in_(file.read<float, model<model_width>, model<embedding_width>>(in_ + ".weight")),
        b_in_(file.read<float, model<model_width>>(in_ + ".bias")),
        layer_(read_layer<model_width, head_count, hidden_width>(file, names())) {}

  static layer_names names() {
    const std::string layer = "albert.encoder.albert_layer_groups.0.albert_layers.0.", attention = layer + "attention.";
    return {attention + "query",     attention + "key", attention + "value",  attention + "dense",
            attention + "LayerNorm", layer + "ffn",     layer + "ffn_output", layer + "full_layer_layer_norm"};
  }

  // `from` has for each position the position that argmax chose, whatever it is where none was alike.
  static std::vector<product_atom> map_of(reaction const& r, const std::int64_t* from) {
    std::vector<product_atom> atoms;
    for (std::size_t i = r.arrow + 1; i < r.tokens.size(); ++i) {
      if (r.elements[i].empty()) continue;
      const auto chosen = static_cast<std::size_t>(from[i]);
      atoms.push_back({r.tokens[i], std::nullopt});
      if (!r.alike(i, chosen)) continue;
      const auto before = [&](std::size_t end) {
        return std::count_if(r.elements.begin(), r.elements.begin() + static_cast<std::ptrdiff_t>(end),
                             [](std::string const& e) { return !e.empty(); });
      };
      atoms.back().from = static_cast<std::size_t>(before(chosen));
    }
    return atoms;
  }

  inline static const std::string in_ = "albert.encoder.embedding_hidden_mapping_in";
  vocabulary vocabulary_;
  embeddings<embedding_width> embed_;
  heed::tensor<float, model<model_width>, model<embedding_width>> w_in_;
  heed::tensor<float, model<model_width>> b_in_;
  layer_parameters<model_width, head_count, hidden_width> layer_;
};

}  // namespace reaction_map
