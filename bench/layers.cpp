// SPDX-License-Identifier: BSL-1.0
// links: benchmark
// In: nothing, or Google Benchmark's flags. Out: one layer with the shapes of known models, its attention alone and the whole
// block: a prompt of 512 and of 2048 tokens and the step after 2048 of them, fused and node by node, with the size of the layer's
// cache; an attention layer in one plan against its contractions apart; and what a layer of 16 tokens costs beside its kernels,
// in microseconds (us_each). GPT-3's block of 1.8e9 parameters takes minutes a line and about 16 GiB; --benchmark_filter=GPT-2
// chooses.
// Next: contraction.cpp, the products inside.
#include "inputs.hpp"
#include "measure.hpp"
#include <heed/nn.hpp>

using namespace bench;
namespace nn = heed::nn;

namespace {

struct source : heed::axis<> {};
struct model : heed::axis<> {};
struct hidden : heed::axis<> {};
using tokens = heed::tensor<float, batch, query, model>;

/// One layer of a model and what it is asked for: `queries` tokens behind `cached` ones.
struct sizes {
  char const* name;
  extent_t model, heads, kv_heads, width, hidden;
  extent_t queries = 512, cached = 0, sequences = 1;

  extent_t keys() const { return queries + cached; }
};
std::string to_string(sizes const& s) {
  return std::string(s.name) + (s.sequences > 1 ? "/" + std::to_string(s.sequences) + "_times" : "") +
         (s.cached > 0 ? "/step_after_" + std::to_string(s.cached) : "/" + std::to_string(s.queries));
}

/// Small, as weights are: scores stay near 0, and norms have something to divide by.
template <class P> void fill_parameters(P& p) {
  std::uint32_t seed = 1;
  nn::for_each_parameter(p, [&](auto& w) {
    fill(w, ++seed);
    for (float& x : w) x *= 0.01F;
  });
}

// ---------------------------------------------------------------- what the models are made of
/// The decoder layer of GPT-2 and GPT-3 (Radford et al. 2019, Brown et al. 2020).
struct gpt {
  using attention = nn::biased_attention_parameters<float, ::model, head, d_head>;
  using block = nn::encoder_layer_parameters<attention, nn::biased_feed_forward_parameters<float, ::model, ::hidden>,
                                             nn::layer_norm_parameters<float, ::model>>;
  using cache = nn::attention_cache<float, attention, key, batch>;
  static constexpr bool causal = true;

  static attention attention_of(sizes const& s) { return attention(::model{s.model}, head{s.heads}, d_head{s.width}); }
  static block block_of(sizes const& s) {
    return block(::model{s.model}, head{s.heads}, d_head{s.width}, ::hidden{s.hidden});
  }
  static cache cache_of(sizes const& s) { return cache(key{s.keys()}, batch{1}, head{s.heads}, d_head{s.width}); }
  static auto prompt(tokens const& x, attention const& p) {
    return nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{});
  }
  static auto prompt(tokens const& x, block const& p) {
    return nn::encoder_layer<query, key>(nn::pre_norm, x, p, nn::activations::gelu_tanh, nn::causal_mask<query, key>{});
  }
  static auto step(tokens const& x, attention const& p, cache& c) {
    return nn::multi_head_attention<query, key>(x, p, c);
  }
  static auto step(tokens const& x, block const& p, cache& c) {
    return nn::decoder_layer<query, key>(nn::pre_norm, x, p, c, nn::activations::gelu_tanh);
  }
};
/// The encoder layer of BERT (Devlin et al. 2019).
struct bert : gpt {
  static constexpr bool causal = false;
  static auto prompt(tokens const& x, attention const& p) { return nn::multi_head_attention<query, key>(x, p); }
  static auto prompt(tokens const& x, block const& p) {
    return nn::encoder_layer<query, key>(nn::post_norm, x, p, nn::activations::gelu);
  }
};
/// The decoder layer of LLaMA 3 (Touvron et al. 2023, with grouped heads).
struct llama {
  using attention = nn::grouped_attention_parameters<float, ::model, kv_head, group, d_head>;
  using block = nn::encoder_layer_parameters<attention, nn::gated_feed_forward_parameters<float, ::model, ::hidden>,
                                             nn::rms_norm_parameters<float, ::model>>;
  using cache = nn::attention_cache<float, attention, key, batch>;
  static constexpr bool causal = true;
  static constexpr nn::rotary<d_head, query> positions{.pairs = heed::rope_pairs::half, .base = 500000};

  static attention attention_of(sizes const& s) {
    return attention(::model{s.model}, kv_head{s.kv_heads}, group{s.heads / s.kv_heads}, d_head{s.width});
  }
  static block block_of(sizes const& s) {
    return block(::model{s.model}, kv_head{s.kv_heads}, group{s.heads / s.kv_heads}, d_head{s.width},
                 ::hidden{s.hidden});
  }
  static cache cache_of(sizes const& s) { return cache(key{s.keys()}, batch{1}, kv_head{s.kv_heads}, d_head{s.width}); }
  static auto prompt(tokens const& x, attention const& p) {
    return nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{}, positions);
  }
  static auto prompt(tokens const& x, block const& p) {
    return nn::encoder_layer<query, key>(nn::pre_norm, x, p, nn::activations::silu, nn::causal_mask<query, key>{},
                                         positions);
  }
  static auto step(tokens const& x, attention const& p, cache& c) {
    return nn::multi_head_attention<query, key>(x, p, c, nn::causal_mask<query, key>{}, positions);
  }
  static auto step(tokens const& x, block const& p, cache& c) {
    return nn::decoder_layer<query, key>(nn::pre_norm, x, p, c, nn::activations::silu, nn::causal_mask<query, key>{},
                                         positions);
  }
};

/// The decoder layer of T5 (Raffel et al. 2020); its attention alone is the one to the encoder's tokens, as many as its own.
struct t5 {
  using attention = nn::attention_parameters<float, ::model, head, d_head>;
  using block =
      nn::decoder_layer_parameters<attention, attention, nn::feed_forward_parameters<float, ::model, ::hidden>,
                                   nn::rms_norm_parameters<float, ::model>>;
  using grown = nn::attention_cache<float, attention, key, batch>;
  using read = heed::tensor<float, batch, source, head, d_head>;
  struct cache : grown {
    nn::projected_memory<read, read> memory;
  };
  static constexpr bool causal = true;

  static attention attention_of(sizes const& s) { return attention(::model{s.model}, head{s.heads}, d_head{s.width}); }
  static block block_of(sizes const& s) {
    return block(::model{s.model}, head{s.heads}, d_head{s.width}, ::hidden{s.hidden});
  }
  static cache cache_of(sizes const& s) {
    auto const made = [&](std::uint32_t seed) {
      return filled<read>(seed, batch{1}, source{s.cached}, head{s.heads}, d_head{s.width});
    };
    return {grown(key{s.keys()}, batch{1}, head{s.heads}, d_head{s.width}), {made(5), made(6)}};
  }
  static auto prompt(tokens const& x, attention const& p) {
    return nn::multi_head_attention<source>(x, heed::rename<query, source>(x), p);
  }
  static auto prompt(tokens const& x, block const& p) {
    return nn::decoder_layer<query, key, source>(nn::pre_norm, x, heed::rename<query, source>(x), p);
  }
  static auto step(tokens const& x, attention const& p, cache& c) {
    return nn::multi_head_attention<source>(x, c.memory, p);
  }
  static auto step(tokens const& x, block const& p, cache& c) {
    return nn::decoder_layer<query, key, source>(nn::pre_norm, x, c.memory, p, static_cast<grown&>(c));
  }
};

// ---------------------------------------------------------------- jobs
/// One layer's keys and values of the cached tokens.
double cache_bytes(sizes const& s) {
  return 2.0 * sizeof(float) * static_cast<double>(s.kv_heads * s.keys()) * static_cast<double>(s.width);
}
template <class Layer, class P> inline constexpr bool reads_memory = false;
template <class P> inline constexpr bool reads_memory<t5, P> = true;

/// What the layer's contractions need, without the pairs that a causal mask leaves out.
template <class Layer, class P> double operations_of(sizes const& s, P const& p) {
  constexpr bool cross = reads_memory<Layer, P>, self = !cross || std::is_same_v<P, typename Layer::block>;
  double const masked = 2.0 * static_cast<double>(s.sequences * s.heads * s.width) * static_cast<double>(s.queries) *
                        static_cast<double>(s.queries - 1);
  return static_cast<double>(nn::floating_point_operations(
             p, {.queries = s.queries, .memory = cross ? s.queries : -1, .sequences = s.sequences})) -
         (Layer::causal && self ? masked : 0);
}
/// A step reads weights and cache once: bytes are its measure.
template <class P> double bytes_of(sizes const& s, P const& p, double caches) {
  return static_cast<double>(nn::parameter_count(p)) * sizeof(float) + caches * cache_bytes(s);
}
template <class P> job noted(job j, sizes const& s, P const& p) {
  j.notes["parameters_millions"] = static_cast<double>(nn::parameter_count(p)) / 1e6;
  j.notes["cache_MiB"] = cache_bytes(s) / 1024 / 1024;
  return j;
}

/// The inputs of one comparison. The parameters are shared: those of GPT-3's block are 7 GB.
template <class P> struct layer {
  sizes shape;
  tokens x;
  std::shared_ptr<P> parameters;

  layer(sizes const& s, P p)
      : shape(s),
        x(filled<tokens>(99, batch{s.sequences}, query{s.queries}, model{s.model})),
        parameters(std::make_shared<P>(std::move(p))) {
    fill_parameters(*parameters);
  }
};
template <class Layer> struct attention_of : layer<typename Layer::attention> {
  explicit attention_of(sizes const& s) : layer<typename Layer::attention>(s, Layer::attention_of(s)) {}
};
template <class Layer> struct block_of : layer<typename Layer::block> {
  explicit block_of(sizes const& s) : layer<typename Layer::block>(s, Layer::block_of(s)) {}
};

template <class Layer, class P> job prompt(layer<P> const& in, heed::schedule schedule) {
  auto const out = std::make_shared<tokens>(in.x);
  auto const memory = std::make_shared<heed::workspace>();
  auto const y = Layer::prompt(in.x, *in.parameters);
  auto const run = [=](int threads) {
    heed::evaluate_into(heed::policy{.schedule = schedule, .threads = threads, .memory = memory.get()}, *out, y);
  };
  return noted({.run = run, .operations = operations_of<Layer>(in.shape, *in.parameters)}, in.shape, *in.parameters);
}
/// A step makes its expression, too: the key and the value of the new token are computed and appended on the way.
template <class Layer, class P> job step(layer<P> const& in, heed::schedule schedule) {
  using Cache = typename Layer::cache;
  using Keys = heed::tensor<float, batch, key, typename Layer::attention::kv_head_axis, d_head>;
  auto const out = std::make_shared<tokens>(in.x);
  auto const memory = std::make_shared<heed::workspace>();
  auto const cache = std::make_shared<Cache>(Layer::cache_of(in.shape));
  extent_t const past = in.shape.cached;
  auto const made = [&](std::uint32_t seed) {
    return filled<Keys>(seed, batch{1}, key{past}, typename Layer::attention::kv_head_axis{in.shape.kv_heads},
                        d_head{in.shape.width});
  };
  cache->append(made(3), made(4));
  auto const run = [=, x = in.x, p = in.parameters](int threads) {
    auto const how = heed::policy{.schedule = schedule, .threads = threads, .memory = memory.get()};
    cache->truncate(past);
    cache->how = how;
    heed::evaluate_into(how, *out, Layer::step(x, *p, *cache));
  };
  constexpr bool both = reads_memory<Layer, P> && std::is_same_v<P, typename Layer::block>;
  return noted({.run = run, .bytes = bytes_of(in.shape, *in.parameters, both ? 2 : 1)}, in.shape, *in.parameters);
}

template <class Inputs> std::vector<formula<Inputs>> both(job make(Inputs const&, heed::schedule)) {
  return {{"fused", [make](Inputs const& in) { return make(in, heed::fused); }},
          {"unfused", [make](Inputs const& in) { return make(in, heed::unfused); }}};
}
template <class Layer, bool Steps, class Inputs> void lines(std::string const& name, sizes s) {
  for (extent_t const length : {512, 2048}) {
    s.queries = length;
    compare<Inputs>(name, s, both<Inputs>([](Inputs const& in, heed::schedule how) { return prompt<Layer>(in, how); }),
                    {.threads = {0}});
  }
  if constexpr (Steps) {
    s.queries = 1;
    s.cached = 2048;
    compare<Inputs>(name, s, both<Inputs>([](Inputs const& in, heed::schedule how) { return step<Layer>(in, how); }),
                    {.threads = {0}});
  }
}
template <class Layer, bool Steps = true> void all_of(sizes const& s) {
  lines<Layer, Steps, attention_of<Layer>>("attention", s);
  lines<Layer, Steps, block_of<Layer>>("block", s);
}

/// What one plan is measured against: each projection a contraction of its own into [batch, query, head, d_head], then the same
/// attention, then the last projection.
template <class P> job apart(layer<P> const& in) {
  using Queries = heed::tensor<float, batch, query, head, d_head>;
  using Keys = heed::tensor<float, batch, key, head, d_head>;
  struct buffers {
    Queries q, context;
    Keys k, v;
    heed::workspace memory;
  };
  auto const b = std::make_shared<buffers>();
  batch const sequences{in.shape.sequences};
  head const heads{in.shape.heads};
  d_head const width{in.shape.width};
  b->q = b->context = Queries{sequences, query{in.shape.queries}, heads, width};
  b->k = b->v = Keys{sequences, key{in.shape.queries}, heads, width};
  auto const out = std::make_shared<tokens>(in.x);
  auto const run = [=](int threads) {
    auto const& p = *in.parameters;
    auto const how = heed::policy{.threads = threads, .memory = &b->memory};
    auto const memory = heed::rename<query, key>(in.x);
    heed::evaluate_into(how, b->q, heed::dot<model>(in.x, p.w_q) + p.b_q);
    heed::evaluate_into(how, b->k, heed::dot<model>(memory, p.w_k) + p.b_k);
    heed::evaluate_into(how, b->v, heed::dot<model>(memory, p.w_v) + p.b_v);
    auto const scores = heed::dot<d_head>(b->q, b->k) / std::sqrt(static_cast<float>(in.shape.width));
    heed::evaluate_into(how, b->context, heed::dot<key>(heed::softmax<key>(scores), b->v));
    heed::evaluate_into(how, *out, heed::dot<head, d_head>(b->context, p.w_o) + p.b_o);
  };
  return noted({.run = run, .operations = operations_of<bert>(in.shape, *in.parameters)}, in.shape, *in.parameters);
}
void one_plan(sizes const& s) {
  using Inputs = attention_of<bert>;
  compare<Inputs>("projections", s,
                  {{"one_plan", [](Inputs const& in) { return prompt<bert>(in, heed::fused); }},
                   {"apart", [](Inputs const& in) { return apart(in); }}},
                  {.threads = {0}});
}

/// What a small layer costs beside its kernels: made anew each time, as a loop over tokens does, and over no tokens, for which the
/// kernels have nothing to do.
template <class Layer, class P> job made_each_time(layer<P> const& in, extent_t queries, bool runs) {
  auto const x = filled<tokens>(99, batch{1}, query{queries}, model{in.shape.model});
  auto const out = std::make_shared<tokens>(x);
  auto const memory = std::make_shared<heed::workspace>();
  auto const run = [=, p = in.parameters](int threads) {
    auto const y = Layer::prompt(x, *p);
    if (runs)
      heed::evaluate_into(heed::policy{.threads = threads, .memory = memory.get()}, *out, y);
    else
      benchmark::DoNotOptimize(&y);
  };
  return {.run = run, .items = 1};
}
template <class Layer, class Inputs> void small(std::string const& name, sizes const& s) {
  compare<Inputs>(name, s,
                  {{"whole", [](Inputs const& in) { return made_each_time<Layer>(in, in.shape.queries, true); }},
                   {"of_no_tokens", [](Inputs const& in) { return made_each_time<Layer>(in, 0, true); }},
                   {"made_only", [](Inputs const& in) { return made_each_time<Layer>(in, in.shape.queries, false); }}},
                  {.threads = {1}});
}

}  // namespace

int main(int count, char** arguments) {
  sizes const tiny{"tiny", 64, 4, 4, 16, 256, 16};
  small<bert, attention_of<bert>>("attention", tiny);
  small<bert, block_of<bert>>("block", tiny);
  one_plan({"BERT-base", 768, 12, 12, 64, 3072, 1024});
  one_plan({"base", 512, 8, 8, 64, 2048, 100, 0, 32});  // Vaswani et al. 2017
  all_of<gpt>({"GPT-2-117M", 768, 12, 12, 64, 3072});
  all_of<gpt>({"GPT-2-1.5B", 1600, 25, 25, 64, 6400});
  all_of<bert, false>({"BERT-base", 768, 12, 12, 64, 3072});
  all_of<t5>({"T5-base", 768, 12, 12, 64, 3072});
  all_of<llama>({"LLaMA-3-8B", 4096, 32, 8, 128, 14336});
  all_of<llama>({"LLaMA-3-70B", 8192, 64, 8, 128, 28672});
  all_of<gpt>({"GPT-3-175B", 12288, 96, 96, 128, 49152});
  return bench::run(count, arguments);
}
