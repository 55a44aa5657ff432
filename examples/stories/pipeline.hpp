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
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace stories {

// The keys and values of one layer, for every position so far.
struct layer_cache {
  heed::kv_cache<float, key, kv_head, d_head> keys, values;

  explicit layer_cache(dimensions const& size)
      : keys(key{size.longest}, kv_head{size.kv_heads}, d_head{size.head_width()}),
        values(key{size.longest}, kv_head{size.kv_heads}, d_head{size.head_width()}) {}
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

// One decoder block for the positions `past`, `past + 1`, ... that x holds:
//
//     h = x + W_O attention(rms_norm(x)),      output = h + feed_forward(rms_norm(h))
//
// Keys and values are appended to the cache first, so that a position sees itself and all before it.
inline auto block(heed::policy const& how, heed::tensor<float, query, model> const& x, layer_weights const& w,
                  layer_cache& cache) {
  using namespace heed;
  const extent_t past = cache.keys.length();
  const float scale = 1.f / std::sqrt(static_cast<float>(w.w_q.extent<d_head>()));
  const auto positioned = [past](auto const& e) {
    return rope<d_head, query>(e, rope_pairs::interleaved, 10000, past);
  };

  auto normal = rms_norm<model>(x, w.attention_gain);
  auto q = expect<query, kv_head, group, d_head>(positioned(dot<model>(normal, w.w_q)));
  auto k = expect<query, kv_head, d_head>(positioned(dot<model>(normal, w.w_k)));
  auto v = expect<query, kv_head, d_head>(dot<model>(normal, w.w_v));
  cache.keys.append(how, rename<query, key>(k));
  cache.values.append(how, rename<query, key>(v));

  auto scores = where(causal<query, key>(past), dot<d_head>(q, cache.keys.view()) * scale);
  auto probabilities = softmax<key>(scores);
  auto context = dot<key>(probabilities, cache.values.view());
  auto attention_out = expect<query, model>(dot<kv_head, group, d_head>(context, w.w_o));

  auto h = x + attention_out;
  auto output = expect<query, model>(h + feed_forward(rms_norm<model>(h, w.feed_forward_gain), w));
  return block_expressions{scores, probabilities, context, attention_out, output};
}

// Looks at nothing; what decoder::read calls for each layer unless it is told otherwise.
struct no_look {
  void operator()(std::size_t, auto const&) const {}
};

// A model in the middle of a text.
class decoder {
 public:
  explicit decoder(checkpoint const& weights, heed::schedule schedule = heed::fused) : weights_(&weights) {
    how_.schedule = schedule;
    how_.memory = &memory_;
    caches_.reserve(weights.layers().size());
    for (std::size_t layer = 0; layer < weights.layers().size(); ++layer) caches_.emplace_back(weights.size());
  }

  decoder(decoder const&) = delete;  // how_ points into this object
  decoder& operator=(decoder const&) = delete;

  // The number of tokens read so far.
  heed::extent_t length() const { return caches_.front().keys.length(); }

  // Reads `ids`, all of them at once, and returns the logits of the token that comes next.
  // `look(layer, block)` is called with each layer's expressions.
  template <class Look = no_look>
  heed::tensor<float, token> read(std::vector<std::int32_t> const& ids, Look&& look = {}) {
    using namespace heed;
    const extent_t count = static_cast<extent_t>(ids.size()), longest = weights_->size().longest;
    if (count == 0) throw std::invalid_argument("there is no token to read");
    if (count > longest - length())
      throw std::length_error("the model reads at most " + std::to_string(longest) + " tokens");
    tensor<std::int32_t, query> positions{query{count}};
    std::copy(ids.begin(), ids.end(), positions.begin());

    tensor<float, query, model> x = evaluate(how_, take<token>(weights_->embedding(), positions));
    for (std::size_t layer = 0; layer < caches_.size(); ++layer) {
      const auto expressions = block(how_, x, weights_->layers()[layer], caches_[layer]);
      look(layer, expressions);
      x = evaluate(how_, expressions.output);
    }
    auto last = rms_norm<model>(at<query>(x, count - 1), weights_->final_gain());
    return evaluate(how_, dot<model>(last, weights_->classifier()));
  }

 private:
  checkpoint const* weights_;
  heed::workspace memory_;
  heed::policy how_;
  std::vector<layer_cache> caches_;
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

// Reads the prompt at once and writes token by token until the story has `length` tokens, prompt included, or the
// model ends it. `show(id)` is called for each new token as soon as it is known.
template <class Show>
story write_story(checkpoint const& weights, heed::schedule schedule, std::vector<std::int32_t> const& prompt,
                  std::size_t length, sampler choose, Show&& show) {
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  constexpr std::int32_t beginning = 1, end = 2;

  decoder model_in_text(weights, schedule);
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
