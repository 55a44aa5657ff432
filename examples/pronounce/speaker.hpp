// SPDX-License-Identifier: BSL-1.0
// In: the weights (model.hpp) and the letters of many words.
// Out: the logits of their phonemes, step by step; encode_layer and decode_layer are the formulas, reading is a batch
// of words whose pronunciations are under way.
// Next to read: search.hpp, which chooses among the phonemes.

#pragma once

#include "model.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pronounce {

// Letters of several words, padded to the longest with 0, which nothing reads: the masks see the lengths.
struct spelled_words {
  heed::tensor<std::int32_t, word, letter> letters;
  heed::tensor<std::int32_t, word> lengths;

  explicit spelled_words(std::vector<std::vector<std::int32_t>> const& words)
      : letters(word{words.size()}, letter{longest_of(words)}),
        lengths(word{words.size()}) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto row = static_cast<heed::extent_t>(i);
      lengths(row) = static_cast<std::int32_t>(words[i].size());
      for (std::size_t j = 0; j < words[i].size(); ++j) letters(row, static_cast<heed::extent_t>(j)) = words[i][j];
    }
  }

 private:
  static std::size_t longest_of(std::vector<std::vector<std::int32_t>> const& words) {
    std::size_t most = 0;
    for (auto const& one : words) most = std::max(most, one.size());
    return most;
  }
};

using cache = heed::nn::attention_cache<float, attention, past, word, beam>;
using memory = heed::nn::projected_memory<heed::tensor<float, word, letter, head, d_head>,
                                          heed::tensor<float, word, letter, head, d_head>>;

// [word, letter, model] to the same: a letter looks at all letters of its word, by their distance.
inline auto encode_layer(heed::tensor<float, word, letter, model> const& x,
                         heed::tensor<std::int32_t, word> const& lengths, encoder_layer const& w) {
  using namespace heed;
  return expect<word, letter, model>(nn::encoder_layer<letter, letter_key>(
      nn::pre_norm, x, w, nn::activations::silu, nn::keep(index<letter_key>() < lengths),
      nn::rotary<d_head, letter>{rope_pairs::half, rotary_base}));
}

// [word, beam, step, model] to the same: a phoneme looks at those before it, then at the letters of its word, which all
// beams share. The keys and values of x are appended to the cache at once.
inline auto decode_layer(heed::tensor<float, word, beam, step, model> const& x, memory const& from,
                         heed::tensor<std::int32_t, word> const& lengths, decoder_layer const& w, cache& so_far) {
  using namespace heed;
  return expect<word, beam, step, model>(nn::decoder_layer<step, past, letter>(
      nn::pre_norm, x, from, w, so_far, nn::activations::silu, nn::causal_mask<step, past>{},
      nn::keep(index<letter>() < lengths), nn::rotary<d_head, step>{rope_pairs::half, rotary_base}));
}

// Where the cross-attention of a layer looks: [word, beam, step, head, letter].
inline auto cross_weights(heed::tensor<float, word, beam, step, model> const& x, memory const& from,
                          heed::tensor<std::int32_t, word> const& lengths, decoder_layer const& w, cache& so_far) {
  using namespace heed;
  const auto h = nn::residual(nn::pre_norm, x, w.attention_norm, [&](auto const& n) {
    return nn::multi_head_attention<step, past>(n, w.attention, so_far, nn::causal_mask<step, past>{},
                                                nn::rotary<d_head, step>{rope_pairs::half, rotary_base});
  });
  return nn::multi_head_attention_parts<letter>(w.cross_attention_norm(h), from, w.cross_attention,
                                                nn::keep(index<letter>() < lengths))
      .weights;
}

// Words that have been read, with `beams` pronunciations of each under way.
class reading {
 public:
  reading(weights const& w, spelled_words const& words, heed::extent_t beams, heed::policy const& how = {})
      : weights_(&w),
        how_(how),
        lengths_(words.lengths) {
    using namespace heed;
    const extent_t count = words.letters.extent<word>(), letters = words.letters.extent<letter>();
    tensor<float, word, letter, model> x = evaluate(
        how_, take<letter_kind>(w.letter_embedding, words.letters) + slice<letter>(w.letter_position, 0, letters));
    for (encoder_layer const& layer : w.encoder) x = evaluate(how_, encode_layer(x, lengths_, layer));
    x = evaluate(how_, w.encoder_norm(x));
    for (decoder_layer const& layer : w.decoder) {
      const auto projected = nn::project_memory(x, layer.cross_attention);
      auto [keys, values] = evaluate(how_, projected.keys, projected.values);
      memories_.push_back({std::move(keys), std::move(values)});
      caches_.emplace_back(past{longest}, word{count}, beam{beams});
      caches_.back().how = how_;
    }
  }

  heed::extent_t length() const { return caches_.front().length(); }

  // The logits of the phonemes that follow each of `given`, which come after what was given so far. What comes first in
  // a pronunciation is the end.
  heed::tensor<float, word, beam, step, phoneme> logits(heed::tensor<std::int32_t, word, beam, step> const& given) {
    using namespace heed;
    tensor<float, word, beam, step, model> x = embedded(given);
    for (std::size_t i = 0; i < caches_.size(); ++i)
      x = evaluate(how_, decode_layer(x, memories_[i], lengths_, weights_->decoder[i], caches_[i]));
    return evaluate(how_, dot<model>(weights_->decoder_norm(x), weights_->w_logits));
  }

  // The weights of each layer's cross-attention for the same.
  std::vector<heed::tensor<float, word, beam, step, head, letter>> looks(
      heed::tensor<std::int32_t, word, beam, step> const& given) {
    using namespace heed;
    std::vector<tensor<float, word, beam, step, head, letter>> found;
    tensor<float, word, beam, step, model> x = embedded(given);
    for (std::size_t i = 0; i < caches_.size(); ++i) {
      const extent_t before = caches_[i].length();
      found.push_back(evaluate(how_, cross_weights(x, memories_[i], lengths_, weights_->decoder[i], caches_[i])));
      caches_[i].truncate(before);
      x = evaluate(how_, decode_layer(x, memories_[i], lengths_, weights_->decoder[i], caches_[i]));
    }
    return found;
  }

  // Beam i of a word goes on from what was its beam parents(word, i).
  void reorder(heed::tensor<std::int32_t, word, beam> const& parents) {
    for (cache& one : caches_) {
      one.keys.reorder<beam>(parents);
      one.values.reorder<beam>(parents);
    }
  }

 private:
  heed::tensor<float, word, beam, step, model> embedded(heed::tensor<std::int32_t, word, beam, step> const& given) {
    using namespace heed;
    const extent_t first = length(), steps = given.extent<step>();
    if (steps > longest - first)
      throw std::length_error("a pronunciation has at most " + std::to_string(longest) + " phonemes, its end included");
    return evaluate(how_, take<phoneme>(weights_->phoneme_embedding, given) +
                              slice<step>(weights_->phoneme_position, first, first + steps));
  }

  weights const* weights_;
  heed::policy how_;
  heed::tensor<std::int32_t, word> lengths_;
  std::vector<memory> memories_;
  std::vector<cache> caches_;
};

}  // namespace pronounce
