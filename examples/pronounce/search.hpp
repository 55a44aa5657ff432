// SPDX-License-Identifier: BSL-1.0
// In: the letters of many words. Out: the pronunciations of each, by greedy or beam search, in batches.
// Next to read: dictionary.hpp, which counts how many are right; main.cpp.

#pragma once

#include "speaker.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace pronounce {

struct pronunciation {
  std::vector<std::int32_t> phonemes;  // without the end
  float log_probability = 0;
  bool ended = false;  // false: cut off at the longest that the model writes
};

struct search_options {
  heed::extent_t beams = 1;   // pronunciations of a word that are followed at once; 1 is greedy search
  bool alternatives = false;  // go on until all beams have ended; otherwise until the best of each word has
  std::size_t batch = 256;    // words at once
};

// One word's beams, best first.
class word_search {
 public:
  explicit word_search(heed::extent_t beams) : beams_(static_cast<std::size_t>(beams)) {
    for (pronunciation& one : beams_) one.log_probability = -std::numeric_limits<float>::infinity();
    beams_.front().log_probability = 0;  // the others are copies of it, which no step chooses
  }

  // Goes one phoneme on; log_probability(b, p) is that of phoneme p after beam b. Returns which beam each beam goes on
  // from.
  template <class LogProbability> std::vector<std::int32_t> advance(LogProbability const& log_probability) {
    struct candidate {
      float total;
      std::int32_t from, next;
    };
    std::vector<candidate> candidates;
    for (std::size_t b = 0; b < beams_.size(); ++b) {
      const auto from = static_cast<std::int32_t>(b);
      if (beams_[b].ended)
        candidates.push_back({beams_[b].log_probability, from, end_of_pronunciation});
      else
        for (std::int32_t p = 0; p < phoneme::static_extent; ++p)
          candidates.push_back({beams_[b].log_probability + log_probability(from, p), from, p});
    }
    const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(beams_.size());
    std::ranges::partial_sort(candidates, middle, [](candidate const& a, candidate const& b) {
      return std::tuple(-a.total, a.from, a.next) < std::tuple(-b.total, b.from, b.next);
    });

    std::vector<pronunciation> longer;
    std::vector<std::int32_t> parents;
    for (auto one = candidates.begin(); one != middle; ++one) {
      longer.push_back(beams_[static_cast<std::size_t>(one->from)]);
      parents.push_back(one->from);
      longer.back().log_probability = one->total;
      if (one->next == end_of_pronunciation)
        longer.back().ended = true;
      else
        longer.back().phonemes.push_back(one->next);
    }
    beams_ = std::move(longer);
    return parents;
  }

  // What the model is given next: the last phoneme; what comes after an end is not used.
  std::int32_t last(std::size_t b) const {
    return beams_[b].ended || beams_[b].phonemes.empty() ? end_of_pronunciation : beams_[b].phonemes.back();
  }
  // Probabilities only fall, so a best beam that has ended stays the best.
  bool done(bool alternatives) const {
    return alternatives ? std::ranges::all_of(beams_, &pronunciation::ended) : beams_.front().ended;
  }
  std::vector<pronunciation> const& beams() const { return beams_; }

 private:
  std::vector<pronunciation> beams_;
};

// Words of one batch; best first for each.
inline std::vector<std::vector<pronunciation>> search_batch(weights const& w,
                                                            std::vector<std::vector<std::int32_t>> const& words,
                                                            search_options const& options, heed::policy const& how) {
  using namespace heed;
  const extent_t count = static_cast<extent_t>(words.size()), beams = options.beams;
  reading reader(w, spelled_words(words), beams, how);
  std::vector<word_search> searches(words.size(), word_search(beams));
  tensor<std::int32_t, word, beam, step> given{word{count}, beam{beams}, step{1}};
  std::ranges::fill(given, end_of_pronunciation);
  tensor<std::int32_t, word, beam> parents{word{count}, beam{beams}};

  while (reader.length() + 1 < longest) {
    const tensor<float, word, beam, step, phoneme> logits = reader.logits(given);
    const tensor<float, word, beam, step, phoneme> likely = evaluate(how, logits - log_sum_exp<phoneme>(logits));
    bool done = true, moved = false;
    for (extent_t i = 0; i < count; ++i) {
      word_search& search = searches[static_cast<std::size_t>(i)];
      if (!search.done(options.alternatives)) {
        const auto from = search.advance([&](std::int32_t b, std::int32_t p) { return likely(i, b, 0, p); });
        for (extent_t b = 0; b < beams; ++b) parents(i, b) = from[static_cast<std::size_t>(b)];
      } else
        for (extent_t b = 0; b < beams; ++b) parents(i, b) = static_cast<std::int32_t>(b);
      for (extent_t b = 0; b < beams; ++b) {
        given(i, b, 0) = search.last(static_cast<std::size_t>(b));
        moved = moved || parents(i, b) != b;
      }
      done = done && search.done(options.alternatives);
    }
    if (done) break;
    if (moved) reader.reorder(parents);
  }

  std::vector<std::vector<pronunciation>> found;
  for (word_search const& search : searches) found.push_back(search.beams());
  return found;
}

// The same for any number of words, in their order. Words of about one length share a batch: there is little padding.
inline std::vector<std::vector<pronunciation>> search_all(weights const& w,
                                                          std::vector<std::vector<std::int32_t>> const& words,
                                                          search_options const& options, heed::policy const& how = {}) {
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return words[i].size(); });
  std::vector<std::vector<pronunciation>> found(words.size());
  for (std::size_t from = 0; from < order.size(); from += options.batch) {
    const std::size_t to = std::min(order.size(), from + options.batch);
    std::vector<std::vector<std::int32_t>> batch;
    for (std::size_t i = from; i < to; ++i) batch.push_back(words[order[i]]);
    auto of_batch = search_batch(w, batch, options, how);
    for (std::size_t i = from; i < to; ++i) found[order[i]] = std::move(of_batch[i - from]);
  }
  return found;
}

}  // namespace pronounce
