// SPDX-License-Identifier: BSL-1.0
// In: the path of a .safetensors file with the weights of the pronouncing model.
// Out: these weights as the parameter structs of heed::nn, and the letters and phonemes that they are for.
// Next to read: speaker.hpp, the formulas that these weights are for.

#pragma once

#include <heed/io/safetensors.hpp>
#include <heed/nn.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pronounce {

// The axes of a run: a batch of words, for each several pronunciations that are followed at once.
struct word : heed::axis<> {};
struct beam : heed::axis<> {};
struct letter : heed::axis<> {};      // positions in a word, as queries of the encoder and as keys of the decoder
struct letter_key : heed::axis<> {};  // the same as keys of the encoder
struct step : heed::axis<> {};        // positions of a pronunciation that are computed now
struct past : heed::axis<> {};        // positions so far

// The axes of the weights.
struct letter_kind : heed::axis<30> {};  // a to z, ' - and ., the end of the word
struct phoneme : heed::axis<40> {};      // the end first, which is also what a pronunciation starts from
struct head : heed::axis<4> {};
struct d_head : heed::axis<24> {};
struct model : heed::axis<96> {};
struct hidden : heed::axis<176> {};

inline constexpr heed::extent_t longest = 32;  // letters of a word, phonemes of a pronunciation, with their end
inline constexpr double rotary_base = 100;     // words are short
inline constexpr std::int32_t end_of_pronunciation = 0;

using attention = heed::nn::attention_parameters<float, model, head, d_head>;
using feed_forward = heed::nn::gated_feed_forward_parameters<float, model, hidden>;
using layer_norm = heed::nn::layer_norm_parameters<float, model>;
using encoder_layer = heed::nn::encoder_layer_parameters<attention, feed_forward, layer_norm>;
using decoder_layer = heed::nn::decoder_layer_parameters<attention, attention, feed_forward, layer_norm>;

struct weights {
  heed::tensor<float, letter_kind, model> letter_embedding;
  heed::tensor<float, letter, model> letter_position;
  heed::tensor<float, phoneme, model> phoneme_embedding;
  heed::tensor<float, step, model> phoneme_position;
  std::array<encoder_layer, 3> encoder;
  std::array<decoder_layer, 2> decoder;
  layer_norm encoder_norm, decoder_norm;
  heed::tensor<float, model, phoneme> w_logits;

  std::string letters;                // the character of each letter_kind but the last, the end of the word
  std::vector<std::string> phonemes;  // their names, the end first

  explicit weights(std::filesystem::path const& path);

  heed::extent_t count() const;

  /// The kinds of the letters of a word and its end; std::invalid_argument where it has others, or too many.
  std::vector<std::int32_t> spell(std::string_view text) const;
};

// What follows reads the file: each tensor has the name of its place, with dots.
inline void read_part(heed::io::safetensors_file const& file, std::string const& name, attention& to) {
  to.w_q = file.read<float, model, head, d_head>(name + ".w_q");
  to.w_k = file.read<float, model, head, d_head>(name + ".w_k");
  to.w_v = file.read<float, model, head, d_head>(name + ".w_v");
  to.w_o = file.read<float, head, d_head, model>(name + ".w_o");
}
inline void read_part(heed::io::safetensors_file const& file, std::string const& name, feed_forward& to) {
  to.w_gate = file.read<float, model, hidden>(name + ".w_gate");
  to.w_up = file.read<float, model, hidden>(name + ".w_up");
  to.w_down = file.read<float, hidden, model>(name + ".w_down");
}
inline void read_part(heed::io::safetensors_file const& file, std::string const& name, layer_norm& to) {
  to.gamma = file.read<float, model>(name + ".gamma");
  to.beta = file.read<float, model>(name + ".beta");
}
// An encoder layer, or a decoder layer: one with cross-attention.
template <class Layer> void read_part(heed::io::safetensors_file const& file, std::string const& name, Layer& to) {
  read_part(file, name + ".attention", to.attention);
  read_part(file, name + ".attention_norm", to.attention_norm);
  if constexpr (requires { to.cross_attention; }) {
    read_part(file, name + ".cross_attention", to.cross_attention);
    read_part(file, name + ".cross_attention_norm", to.cross_attention_norm);
  }
  read_part(file, name + ".feed_forward", to.feed_forward);
  read_part(file, name + ".feed_forward_norm", to.feed_forward_norm);
}

inline std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

inline weights::weights(std::filesystem::path const& path) {
  const heed::io::safetensors_file file(path);
  letter_embedding = file.read<float, letter_kind, model>("letter_embedding");
  letter_position = file.read<float, letter, model>("letter_position", letter{longest});
  phoneme_embedding = file.read<float, phoneme, model>("phoneme_embedding");
  phoneme_position = file.read<float, step, model>("phoneme_position", step{longest});
  for (std::size_t i = 0; i < encoder.size(); ++i) read_part(file, "encoder." + std::to_string(i), encoder[i]);
  for (std::size_t i = 0; i < decoder.size(); ++i) read_part(file, "decoder." + std::to_string(i), decoder[i]);
  read_part(file, "encoder_norm", encoder_norm);
  read_part(file, "decoder_norm", decoder_norm);
  w_logits = file.read<float, model, phoneme>("w_logits");

  const auto text = [&](std::string const& key) -> std::string const& {
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end()) throw std::runtime_error(path.string() + ": its metadata has no " + key);
    return found->second;
  };
  letters = text("letters");
  phonemes = split_text(text("phonemes"), ' ');
  if (letters.size() + 1 != letter_kind::static_extent || phonemes.size() != phoneme::static_extent)
    throw std::runtime_error(path.string() + ": its metadata names " + std::to_string(letters.size()) +
                             " letters and " + std::to_string(phonemes.size()) + " phonemes");
}

inline heed::extent_t weights::count() const {
  heed::extent_t n = letter_embedding.size() + letter_position.size() + phoneme_embedding.size() +
                     phoneme_position.size() + w_logits.size() + heed::nn::parameter_count(encoder_norm) +
                     heed::nn::parameter_count(decoder_norm);
  for (encoder_layer const& one : encoder) n += heed::nn::parameter_count(one);
  for (decoder_layer const& one : decoder) n += heed::nn::parameter_count(one);
  return n;
}

inline std::vector<std::int32_t> weights::spell(std::string_view text) const {
  if (text.empty() || text.size() >= static_cast<std::size_t>(longest))
    throw std::invalid_argument("'" + std::string(text) + "' has " + std::to_string(text.size()) +
                                " letters, not 1 to " + std::to_string(longest - 1));
  std::vector<std::int32_t> spelled;
  for (const char c : text) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::size_t kind = letters.find(small);
    if (kind == std::string::npos)
      throw std::invalid_argument("'" + std::string(text) + "' has another character than " + letters);
    spelled.push_back(static_cast<std::int32_t>(kind));
  }
  spelled.push_back(static_cast<std::int32_t>(letters.size()));
  return spelled;
}

}  // namespace pronounce
