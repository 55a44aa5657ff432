// SPDX-License-Identifier: BSL-1.0
// In: the weights of a model and several prompts, each of its own length.
// Out: their stories, all written at once, token for token what write_story writes for each alone.
// Next to read: main.cpp.

#pragma once

#include "model.hpp"
#include "pipeline.hpp"
#include <heed/heed.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace stories {

struct batch : heed::axis<> {};  // the stories

// Several texts in one cache. They are aligned at their ends: story b starts at place starts(b) of the cache, and what
// lies before it is never seen. So all of them grow by one place a step, and the last logits stand side by side.
class batch_decoder {
 public:
  using token_ids = std::vector<std::int32_t>;

  // Reads the prompts; there is room until each story has `length` tokens.
  batch_decoder(checkpoint const& weights, heed::schedule schedule, std::vector<token_ids> const& prompts,
                std::size_t length)
      : weights_(&weights),
        starts_(batch{prompts.size()}) {
    if (prompts.empty()) throw std::invalid_argument("there is no prompt");
    how_.schedule = schedule;
    how_.memory = &memory_;
    const auto shorter = [](token_ids const& one, token_ids const& other) { return one.size() < other.size(); };
    const auto [least, most] = std::minmax_element(prompts.begin(), prompts.end(), shorter);
    if (least->empty()) throw std::invalid_argument("there is no token to read");
    length = std::max(length, most->size());
    if (const auto longest = weights.size().longest; length > static_cast<std::size_t>(longest))
      throw std::length_error("the model reads at most " + std::to_string(longest) + " tokens");
    const auto places = static_cast<heed::extent_t>(most->size());
    for (std::size_t story = 0; story < prompts.size(); ++story)
      starts_.data()[story] = places - static_cast<heed::extent_t>(prompts[story].size());
    const auto capacity = static_cast<heed::extent_t>(most->size() + length - least->size());
    for (std::size_t layer = 0; layer < weights.layers().size(); ++layer)
      caches_.emplace_back(weights.size(), capacity, batch{prompts.size()});

    heed::tensor<std::int32_t, batch, query> ids{batch{prompts.size()}, query{places}};
    for (std::size_t story = 0; story < prompts.size(); ++story)
      std::copy(prompts[story].begin(), prompts[story].end(),
                ids.begin() + static_cast<heed::extent_t>(story) * places + starts_.data()[story]);
    read(ids);
  }

  batch_decoder(batch_decoder const&) = delete;  // how_ points into this object
  batch_decoder& operator=(batch_decoder const&) = delete;

  // The logits of each story's next token.
  heed::tensor<float, batch, token> const& logits() const { return logits_; }

  // One more token for each story.
  void read(token_ids const& next) {
    heed::tensor<std::int32_t, batch, query> ids{batch{next.size()}, query{1}};
    std::copy(next.begin(), next.end(), ids.begin());
    read(ids);
  }

 private:
  void read(heed::tensor<std::int32_t, batch, query> const& ids) {
    using namespace heed;
    const extent_t past = caches_.front().keys.length();
    const auto first = past - starts_;  // [batch], below 0 where a story has not begun
    const auto visible = causal<query, key>(past) && index<key>() >= starts_;
    tensor<float, batch, query, model> x = evaluate(how_, take<token>(weights_->embedding(), ids));
    for (std::size_t layer = 0; layer < caches_.size(); ++layer) {
      const auto expressions = block(how_, x, weights_->layers()[layer], caches_[layer], first, visible);
      x = evaluate(how_, expressions.output);
    }
    auto last = rms_norm<model>(at<query>(x, ids.extent<query>() - 1), weights_->final_gain());
    logits_ = evaluate<batch, token>(how_, dot<model>(last, weights_->classifier()));
  }

  checkpoint const* weights_;
  heed::workspace memory_;
  heed::policy how_;
  heed::tensor<std::int64_t, batch> starts_;
  std::vector<layer_cache<batch>> caches_;
  heed::tensor<float, batch, token> logits_;
};

// Writes a story for each prompt until each has `length` tokens or was ended by the model. Every story draws from a
// sampler of its own, a copy of `choose`. The seconds are those of all stories together.
inline std::vector<story> write_stories(checkpoint const& weights, heed::schedule schedule,
                                        std::vector<std::vector<std::int32_t>> const& prompts, std::size_t length,
                                        sampler const& choose) {
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  constexpr std::int32_t beginning = 1, end = 2;
  std::vector<story> result;
  for (auto const& prompt : prompts) result.push_back({.ids = prompt, .prompt_length = prompt.size()});
  std::vector<sampler> samplers(prompts.size(), choose);
  std::vector<std::int32_t> next(prompts.size(), end);  // what has ended reads on, unseen

  const auto start_of_reading = clock::now();
  batch_decoder model_in_texts(weights, schedule, prompts, length);
  const double time_of_reading = seconds_since(start_of_reading);
  const auto start_of_writing = clock::now();
  std::vector<bool> ended(prompts.size(), false);
  for (;;) {
    for (std::size_t at = 0; at < prompts.size(); ++at) {
      ended[at] = ended[at] || result[at].ids.size() >= length;
      if (ended[at]) continue;
      const heed::tensor<float, token> logits =
          heed::evaluate(heed::at<batch>(model_in_texts.logits(), static_cast<heed::extent_t>(at)));
      next[at] = samplers[at](logits);
      ended[at] = next[at] == beginning || next[at] == end;
      if (!ended[at]) result[at].ids.push_back(next[at]);
      ended[at] = ended[at] || result[at].ids.size() == length;
    }
    if (std::all_of(ended.begin(), ended.end(), [](bool done) { return done; })) break;
    model_in_texts.read(next);
  }
  for (story& one : result) one.reading = time_of_reading, one.writing = seconds_since(start_of_writing);
  return result;
}

}  // namespace stories
