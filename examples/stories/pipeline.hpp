// SPDX-License-Identifier: BSL-1.0
// In: the weights of a model (model.hpp) and token ids.
// Out: the logits of the next token, and stories; block() is the formula, decoder keeps what was read so far.
// Next to read: tokenizer.hpp, or main.cpp.

#pragma once

#include "model.hpp"
#include <heed/heed.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace stories {

// The keys and values of one layer, for every position that is kept.
template <class... Batch> struct layer_cache {
  heed::kv_cache<float, key, Batch..., kv_head, d_head> keys, values;

  layer_cache(dimensions const& size, heed::extent_t capacity, Batch const&... batch)
      : keys(key{capacity}, batch..., kv_head{size.kv_heads}, d_head{size.head_width()}),
        values(key{capacity}, batch..., kv_head{size.kv_heads}, d_head{size.head_width()}) {}

  // Forgets all but the first `sinks` positions and the last `recent` ones. `gone` counts all that were ever forgotten:
  // the sinks are turned on by so many positions that they stand right before the recent ones again (Xiao et al. 2023:
  // positions are those within the cache).
  void forget(heed::policy const& how, heed::extent_t sinks, heed::extent_t recent, heed::extent_t gone) {
    using namespace heed;
    const extent_t length = keys.length();
    if (!sinks_) sinks_ = evaluate<key, Batch..., kv_head, d_head>(how, slice<key>(keys.view(), 0, sinks));
    const tensor last = evaluate<key, Batch..., kv_head, d_head>(how, slice<key>(keys.view(), length - recent, length));
    keys.truncate(0);
    keys.append(how, rope<d_head, key>(*sinks_, rope_pairs::interleaved, 10000, gone - index<key>()));
    keys.append(how, last);
    values.drop(sinks, length - recent);
  }

 private:
  std::optional<heed::tensor<float, key, Batch..., kv_head, d_head>> sinks_;  // as they were read
};

// Every line of the formula that somebody may want to look at. All of them are expressions: what is not asked for
// is not computed, and what is asked for is computed by the very same formula.
template <class Scores, class Probabilities, class Context, class Attention, class Output> struct block_expressions {
  Scores scores;                // [query, kv_head, group, key]
  Probabilities probabilities;  // [query, kv_head, group, key]
  Context context;              // [query, kv_head, group, d_head]
  Attention attention_out;      // [query, model]
  Output output;                // [query, model]
};

template <class Scores, class Probabilities, class Context, class Attention, class Output>
block_expressions(Scores, Probabilities, Context, Attention, Output)
    -> block_expressions<Scores, Probabilities, Context, Attention, Output>;

// feed_forward(x) = W_down (silu(W_gate x) * W_up x)
inline auto feed_forward(auto const& x, layer_weights const& w) {
  using namespace heed;
  return dot<hidden>(silu(dot<model>(x, w.w_gate)) * dot<model>(x, w.w_up), w.w_down);
}

// One decoder block for the positions `first`, `first + 1`, ... that x holds:
//
//     h = x + W_O attention(rms_norm(x)),      output = h + feed_forward(rms_norm(h))
//
// Keys and values are appended to the cache first, so that a position sees itself. `first` is a number, or an integer
// for each sequence of a batch; `visible` is the mask, over query, key and maybe the batch. With a batch, every shape
// below starts with it.
template <class... Batch>
auto block(heed::policy const& how, auto const& x, layer_weights const& w, layer_cache<Batch...>& cache,
           auto const& first, auto const& visible) {
  using namespace heed;
  const float scale = 1.f / std::sqrt(static_cast<float>(w.w_q.extent<d_head>()));
  const auto positioned = [&](auto const& e) { return rope<d_head, query>(e, rope_pairs::interleaved, 10000, first); };

  auto normal = rms_norm<model>(x, w.attention_gain);
  auto q = expect<Batch..., query, kv_head, group, d_head>(positioned(dot<model>(normal, w.w_q)));
  auto k = expect<Batch..., query, kv_head, d_head>(positioned(dot<model>(normal, w.w_k)));
  auto v = expect<Batch..., query, kv_head, d_head>(dot<model>(normal, w.w_v));
  cache.keys.append(how, rename<query, key>(k));
  cache.values.append(how, rename<query, key>(v));

  auto scores = where(visible, dot<d_head>(q, cache.keys.view()) * scale);
  auto probabilities = softmax<key>(scores);
  auto context = dot<key>(probabilities, cache.values.view());
  auto attention_out = expect<Batch..., query, model>(dot<kv_head, group, d_head>(context, w.w_o));

  auto h = x + attention_out;
  auto output = expect<Batch..., query, model>(h + feed_forward(rms_norm<model>(h, w.feed_forward_gain), w));
  return block_expressions{scores, probabilities, context, attention_out, output};
}

// Looks at nothing; what decoder::read calls for each layer unless it is told otherwise.
struct no_look {
  void operator()(std::size_t, auto const&) const {}
};

// How a text is read.
struct reading {
  static constexpr heed::extent_t all = std::numeric_limits<heed::extent_t>::max();

  heed::schedule schedule = heed::fused;
  heed::extent_t chunk = all;   // so many tokens of a prompt at once
  heed::extent_t window = all;  // a position sees so many, itself included,
  heed::extent_t sinks = 4;     // and the first ones of the text

  reading() = default;
  reading(heed::schedule how) : schedule(how) {}  // NOLINT: a schedule alone says enough
};

// A model in the middle of a text. With a window, the text may go on for ever: the cache keeps the sinks and a little
// more than the window, and no two tokens that see each other are further apart in it than the model was trained for.
class decoder {
 public:
  explicit decoder(checkpoint const& weights, reading manner = {}) : weights_(&weights), manner_(manner) {
    using heed::extent_t;
    const extent_t longest = weights.size().longest;
    if (manner_.chunk < 1) throw std::invalid_argument("a chunk has at least one token");
    if (manner_.window < 1 || manner_.sinks < 0)
      throw std::invalid_argument("a window has at least one token, and no less than none are sinks");
    extent_t capacity = longest;
    if (slides()) {
      if (manner_.window > longest || manner_.sinks > longest - manner_.window)
        throw std::invalid_argument("window and sinks together have at most " + std::to_string(longest) + " tokens");
      // Forgetting copies the cache, so it waits until there are several to forget.
      constexpr extent_t most_at_once = 64;
      capacity = std::min(longest, manner_.sinks + manner_.window - 1 + most_at_once);
      manner_.chunk = std::min(manner_.chunk, capacity - manner_.sinks - manner_.window + 1);
    }
    how_.schedule = manner_.schedule;
    how_.memory = &memory_;
    caches_.reserve(weights.layers().size());
    for (std::size_t layer = 0; layer < weights.layers().size(); ++layer)
      caches_.emplace_back(weights.size(), capacity);
  }

  decoder(decoder const&) = delete;  // how_ points into this object
  decoder& operator=(decoder const&) = delete;

  heed::extent_t length() const { return kept() + gone_; }                     // of the text that was read
  heed::extent_t kept() const { return caches_.front().keys.length(); }        // positions in the cache
  heed::extent_t capacity() const { return caches_.front().keys.capacity(); }  // for so many there is room

  // Reads `ids` in chunks, and returns the logits of the token that comes next.
  // `look(layer, block)` is called with each layer's expressions, for each chunk.
  template <class Look = no_look>
  heed::tensor<float, token> read(std::vector<std::int32_t> const& ids, Look&& look = {}) {
    using heed::extent_t;
    const extent_t count = static_cast<extent_t>(ids.size());
    if (count == 0) throw std::invalid_argument("there is no token to read");
    if (!slides() && count > capacity() - kept())
      throw std::length_error("the model reads at most " + std::to_string(capacity()) + " tokens");
    heed::tensor<float, token> logits;
    for (extent_t from = 0, to = 0; from < count; from = to) {
      to = from + std::min(manner_.chunk, count - from);
      logits = read_chunk({ids.begin() + from, ids.begin() + to}, look);
    }
    return logits;
  }

 private:
  bool slides() const { return manner_.window != reading::all; }

  template <class Look> heed::tensor<float, token> read_chunk(std::vector<std::int32_t> const& ids, Look& look) {
    using namespace heed;
    const extent_t count = static_cast<extent_t>(ids.size());
    tensor<std::int32_t, query> positions{query{count}};
    std::copy(ids.begin(), ids.end(), positions.begin());
    make_room(count);
    const extent_t past = kept(), first = length();
    const auto place = index<query>() + past;  // of a query in the cache
    const auto visible =
        causal<query, key>(past) && (place - index<key>() < manner_.window || index<key>() < manner_.sinks);

    tensor<float, query, model> x = evaluate(how_, take<token>(weights_->embedding(), positions));
    for (std::size_t layer = 0; layer < caches_.size(); ++layer) {
      const auto expressions = block(how_, x, weights_->layers()[layer], caches_[layer], first, visible);
      look(layer, expressions);
      x = evaluate(how_, expressions.output);
    }
    auto last = rms_norm<model>(at<query>(x, count - 1), weights_->final_gain());
    return evaluate(how_, dot<model>(last, weights_->classifier()));
  }

  void make_room(heed::extent_t count) {
    if (count <= capacity() - kept()) return;
    const heed::extent_t recent = manner_.window - 1;
    gone_ += kept() - manner_.sinks - recent;
    for (auto& cache : caches_) cache.forget(how_, manner_.sinks, recent, gone_);
  }

  checkpoint const* weights_;
  reading manner_;
  heed::workspace memory_;
  heed::policy how_;
  std::vector<layer_cache<>> caches_;
  heed::extent_t gone_ = 0;
};

// Chooses the next token: temperature 0 takes the likeliest (of equals the lowest id), any other draws.
class sampler {
 public:
  sampler(float temperature, std::uint64_t seed) : temperature_(temperature), generator_(seed) {}

  std::int32_t operator()(heed::tensor<float, token> const& logits) {
    using namespace heed;
    if (!(temperature_ > 0.f)) return static_cast<std::int32_t>(evaluate(argmax<token>(logits))());
    const tensor<float, token> likelihood = evaluate(cumsum<token>(softmax<token>(logits / temperature_)));
    // 53 random bits: the same draw with every standard library, which their distributions do not promise.
    const double draw = static_cast<double>(generator_() >> 11) * 0x1p-53;
    const auto found = std::upper_bound(likelihood.begin(), likelihood.end(), static_cast<float>(draw));
    return static_cast<std::int32_t>(std::min(found - likelihood.begin(), likelihood.size() - 1));
  }

 private:
  float temperature_;
  std::mt19937_64 generator_;
};

// A text and how long it took, in seconds, without the time that the caller spent on showing it.
struct story {
  std::vector<std::int32_t> ids;  // the prompt, then what the model wrote
  std::size_t prompt_length = 0;
  double reading = 0, writing = 0;

  double tokens_per_second() const {
    const auto written = static_cast<double>(ids.size() - prompt_length);
    return written > 0 ? written / writing : 0.;
  }
};

// Reads the prompt and writes token by token until the story has `length` tokens, prompt included, or the
// model ends it. `show(id)` is called for each new token as soon as it is known.
template <class Show>
story write_story(checkpoint const& weights, reading manner, std::vector<std::int32_t> const& prompt,
                  std::size_t length, sampler choose, Show&& show) {
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  constexpr std::int32_t beginning = 1, end = 2;

  decoder model_in_text(weights, manner);
  story result{.ids = prompt, .prompt_length = prompt.size()};
  const auto start_of_reading = clock::now();
  heed::tensor<float, token> logits = model_in_text.read(prompt);
  result.reading = seconds_since(start_of_reading);

  while (result.ids.size() < length) {
    const auto start = clock::now();
    const std::int32_t id = choose(logits);
    if (id == beginning || id == end) break;
    result.writing += seconds_since(start);
    show(id);
    result.ids.push_back(id);
    if (result.ids.size() == length) break;
    const auto start_of_step = clock::now();
    logits = model_in_text.read({id});
    result.writing += seconds_since(start_of_step);
  }
  return result;
}

}  // namespace stories
