// SPDX-License-Identifier: BSL-1.0
// In: a BERT's weights in a safetensors file, [out, in]. Out: its embeddings and layers as parameters of heed::nn, and
// what they compute of a padded batch (Devlin et al. 2018; ALBERT, Lan et al. 2019, is made of the same parts).
// Next to read: ../sentences/pipeline.hpp or ../reaction_map/pipeline.hpp, two models made of them.
#pragma once

#include "vocabulary.hpp"
#include <heed/io/safetensors.hpp>
#include <heed/nn.hpp>

namespace bert {

using heed::extent_t;

struct token : heed::axis<> {};     // the entries of the vocabulary
struct position : heed::axis<> {};  // the positions that were trained
struct kind : heed::axis<2> {};     // first or second sentence; all tokens here are of the first

template <extent_t N> struct model : heed::axis<N> {};   // width of the residual stream, or of the embeddings
template <extent_t N> struct hidden : heed::axis<N> {};  // width inside the feed-forward network
template <extent_t N> struct head : heed::axis<N> {};
template <extent_t N> struct d_head : heed::axis<N> {};
template <extent_t N> struct heads : heed::axis<N> {};  // head and d_head as one axis, as files store them

constexpr double eps = 1e-12;  // of every norm

template <extent_t Model>
heed::nn::layer_norm_parameters<float, model<Model>> read_norm(heed::io::safetensors_file const& file,
                                                               std::string const& name) {
  heed::nn::layer_norm_parameters<float, model<Model>> norm;
  norm.gamma = file.read<float, model<Model>>(name + ".weight");
  norm.beta = file.read<float, model<Model>>(name + ".bias");
  norm.eps = eps;
  return norm;
}

// norm(word + position + kind): ids [batch, query] to [batch, query, model].
template <extent_t Model> class embeddings {
 public:
  embeddings(heed::io::safetensors_file const& file, std::string const& prefix)
      : words_(file.read<float, token, model<Model>>(prefix + "word_embeddings.weight")),
        positions_(file.read<float, position, model<Model>>(prefix + "position_embeddings.weight")),
        kinds_(file.read<float, kind, model<Model>>(prefix + "token_type_embeddings.weight")),
        norm_(read_norm<Model>(file, prefix + "LayerNorm")) {}

  auto operator()(heed::tensor<std::int32_t, batch, query> const& ids) const {
    using namespace heed;
    const extent_t length = ids.template extent<query>(), most = positions_.template extent<position>();
    if (length > most)
      throw std::length_error("a sequence has " + std::to_string(length) + " tokens, the model reads at most " +
                              std::to_string(most));
    const auto positions = rename<position, query>(slice<position>(positions_, 0, length));
    return norm_(take<token>(words_, ids) + positions + at<kind>(kinds_, 0));
  }

 private:
  heed::tensor<float, token, model<Model>> words_;
  heed::tensor<float, position, model<Model>> positions_;
  heed::tensor<float, kind, model<Model>> kinds_;
  heed::nn::layer_norm_parameters<float, model<Model>> norm_;
};

template <extent_t Model, extent_t Heads, extent_t Hidden>
using layer_parameters = heed::nn::encoder_layer_parameters<
    heed::nn::biased_attention_parameters<float, model<Model>, head<Heads>, d_head<Model / Heads>>,
    heed::nn::biased_feed_forward_parameters<float, model<Model>, hidden<Hidden>>,
    heed::nn::layer_norm_parameters<float, model<Model>>>;

// How a file calls the parts of a layer, each of which has a .weight and a .bias.
struct layer_names {
  std::string query, key, value, attention_output, attention_norm, inner, output, output_norm;
};

template <extent_t Model, extent_t Heads, extent_t Hidden>
layer_parameters<Model, Heads, Hidden> read_layer(heed::io::safetensors_file const& file, layer_names const& names) {
  using namespace heed;
  using head_axis = head<Heads>;
  using d_head_axis = d_head<Model / Heads>;
  const auto by_head = [](auto const& e) { return split<heads<Model>, head_axis, d_head_axis>(e); };
  const auto weight = [&](std::string const& name) {
    const tensor w = file.read<float, heads<Model>, model<Model>>(name + ".weight");
    return evaluate<model<Model>, head_axis, d_head_axis>(by_head(w));
  };
  const auto bias = [&](std::string const& name) {
    const tensor b = file.read<float, heads<Model>>(name + ".bias");
    return evaluate(by_head(b));
  };

  layer_parameters<Model, Heads, Hidden> p;
  auto& attention = p.attention;
  attention.w_q = weight(names.query), attention.b_q = bias(names.query);
  attention.w_k = weight(names.key), attention.b_k = bias(names.key);
  attention.w_v = weight(names.value), attention.b_v = bias(names.value);
  const tensor w_o = file.read<float, model<Model>, heads<Model>>(names.attention_output + ".weight");
  attention.w_o = evaluate<head_axis, d_head_axis, model<Model>>(by_head(w_o));
  attention.b_o = file.read<float, model<Model>>(names.attention_output + ".bias");
  p.attention_norm = read_norm<Model>(file, names.attention_norm);

  const tensor w_1 = file.read<float, hidden<Hidden>, model<Model>>(names.inner + ".weight");
  const tensor w_2 = file.read<float, model<Model>, hidden<Hidden>>(names.output + ".weight");
  p.feed_forward.w_1 = evaluate<model<Model>, hidden<Hidden>>(w_1);
  p.feed_forward.w_2 = evaluate<hidden<Hidden>, model<Model>>(w_2);
  p.feed_forward.b_1 = file.read<float, hidden<Hidden>>(names.inner + ".bias");
  p.feed_forward.b_2 = file.read<float, model<Model>>(names.output + ".bias");
  p.feed_forward_norm = read_norm<Model>(file, names.output_norm);
  return p;
}

// What a layer computes, and what its heads look at: both are expressions, computed only if they are asked for.
template <class Output, class Weights> struct layer_expressions {
  Output output;    // [batch, query, model]
  Weights weights;  // [batch, query, head, key]
};
template <class Output, class Weights> layer_expressions(Output, Weights) -> layer_expressions<Output, Weights>;

// norm(h + feed_forward(h)) with h = norm(x + attention(x)); padding is not attended to.
template <class X, class P> auto layer(X const& x, P const& p, heed::tensor<std::int64_t, batch> const& lengths) {
  using namespace heed;
  const auto attention = nn::multi_head_attention_parts<query, key>(x, p.attention, nn::keep(index<key>() < lengths));
  const auto h = p.attention_norm(x + attention.output);
  const auto output = nn::residual(nn::post_norm, h, p.feed_forward_norm, [&](auto const& e) {
    return nn::feed_forward(e, p.feed_forward, nn::activations::gelu);
  });
  return layer_expressions{output, attention.weights};
}

}  // namespace bert
