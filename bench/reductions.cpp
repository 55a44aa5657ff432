// SPDX-License-Identifier: BSL-1.0
// links: benchmark
// In: nothing, or Google Benchmark's flags. Out: formulas that stream though nobody has fused them by hand, each beside softmax
// attention of the same shape: its share of the multiply-add peak, on one thread.
// Next to read: strides.cpp, attention over foreign layouts.
#include "inputs.hpp"
#include "measure.hpp"

#include <tuple>

using namespace bench;

namespace {

struct distance : heed::axis<> {};
struct rotary : heed::axis<> {};
struct token : heed::axis<> {};
struct model : heed::axis<> {};
struct vocabulary : heed::axis<> {};
struct query_row : heed::axis<> {};
struct query_column : heed::axis<> {};
struct key_row : heed::axis<> {};
struct key_column : heed::axis<> {};

using heads = heed::tensor<float, batch, head, query, d_head>;
using keys_of_heads = heed::tensor<float, batch, head, key, d_head>;

/// weights_of(in) times v.
template <class Weights> auto weighted(Weights weights_of, double part = 1) {
  return [=](heads_of<> const& in) {
    return of_operations(runs(heed::dot<key>(weights_of(in), in.v)), part * in.shape.operations());
  };
}

auto const softmax = [](auto const& in) { return heed::softmax<key>(in.scores()); };
auto const causal_softmax = [](auto const& in) {
  return heed::softmax<key>(heed::where(heed::causal<query, key>(), in.scores()));
};
auto const sigmoid = [](auto const& in) { return heed::sigmoid(in.scores() - 7); };
auto const squared_relu = [](auto const& in) {
  auto const positive = heed::relu(in.scores());
  return positive * positive;
};
/// Two softmaxes, one subtracted: two streams, twice the operations.
auto const differential = [](auto const& in) {
  auto const& s = in.shape;
  auto const q = filled<heads>(4, batch{s.batch}, head{s.heads}, query{s.queries}, d_head{s.width});
  auto const k = filled<keys_of_heads>(5, batch{s.batch}, head{s.heads}, key{s.keys}, d_head{s.width});
  return heed::softmax<key>(in.scores()) - 0.3F * heed::softmax<key>(heed::dot<d_head>(q, k) / 8);
};
/// Decay by distance, without a softmax: exp(slope (key - query)) for the keys that are not later.
auto const retention = [](auto const& in) {
  auto const decay = heed::alibi<query, key>(heed::alibi_slopes<head>(in.shape.heads));
  return heed::where(heed::causal<query, key>(), in.scores() * heed::exp(decay));
};
/// A bias for each distance, clipped, from a table.
auto const relative = [](auto const& in) {
  using by_distance = heed::tensor<float, head, distance>;
  auto const table = filled<by_distance>(4, head{in.shape.heads}, distance{257});
  auto const clipped = heed::min(heed::max(heed::index<key>() - heed::index<query>(), -128), 128) + 128;
  return heed::softmax<key>(in.scores() + heed::take<distance>(table, clipped));
};

/// Several results of one run.
template <class First, class Second> job runs_both(First const& first, Second const& second) {
  auto out = std::make_shared<decltype(heed::evaluate(first, second))>(heed::evaluate(first, second));
  auto memory = std::make_shared<heed::workspace>();
  return {.run = [=](int threads) {
    auto& [a, b] = *out;
    heed::evaluate_into(heed::policy{.threads = threads, .memory = memory.get()}, std::tie(a, b), first, second);
  }};
}
job with_log_sum_exp(heads_of<> const& in) {
  auto const scores = in.scores();  // once: two calls would make two dots
  return of_operations(runs_both(attend(scores, in.v), heed::log_sum_exp<key>(scores)), in.shape.operations());
}
job with_weights(heads_of<> const& in) {
  auto const weights = heed::softmax<key>(in.scores());
  return of_operations(runs_both(heed::dot<key>(weights, in.v), weights), in.shape.operations());
}
job log_sum_exp(heads_of<> const& in) {
  return of_operations(runs(heed::log_sum_exp<key>(in.scores())), in.shape.operations() / 2);
}

/// For each query the best key, summed over the queries; heads stand for documents where queries lack the axis.
job max_sim(heads_of<> const& in) {
  return of_operations(runs(heed::sum<query>(heed::max<key>(in.scores()))), in.shape.operations() / 2);
}
job max_sim_of_documents(heads_of<> const& in) {
  auto const& s = in.shape;
  using one_query = heed::tensor<float, query, d_head>;
  auto const q = filled<one_query>(4, query{s.queries}, d_head{s.width});
  return of_operations(runs(heed::sum<query>(heed::max<key>(heed::dot<d_head>(q, in.k)))), s.operations() / 2);
}

/// One buffer as keys and values of all heads, and a second dot for the rotary part (64 wide).
job latent(shape const& s) {
  using latent_queries = heed::tensor<float, head, query, d_head>;
  using latent_keys = heed::tensor<float, key, d_head>;
  using rotary_queries = heed::tensor<float, head, query, rotary>;
  using rotary_keys = heed::tensor<float, key, rotary>;
  auto const q = filled<latent_queries>(1, head{s.heads}, query{s.queries}, d_head{s.width});
  auto const k = filled<latent_keys>(2, key{s.keys}, d_head{s.width});
  auto const q_rotary = filled<rotary_queries>(3, head{s.heads}, query{s.queries}, rotary{64});
  auto const k_rotary = filled<rotary_keys>(4, key{s.keys}, rotary{64});
  auto const scores = heed::dot<d_head>(q, k) + heed::dot<rotary>(q_rotary, k_rotary);
  return of_operations(runs(attend(scores / 24, k)), 2 * s.pairs() * static_cast<double>(2 * s.width + 64));
}

/// The loss over a vocabulary, or its logits alone, stored.
template <bool Stored> job logits(shape const& s) {
  using tokens = heed::tensor<float, token, model>;
  using embedding = heed::tensor<float, vocabulary, model>;
  auto const x = filled<tokens>(1, token{s.queries}, model{s.width});
  auto const w = filled<embedding>(2, vocabulary{s.keys}, model{s.width});
  auto const all = heed::dot<model>(x, w) / 100;
  double const operations = 2 * s.pairs() * static_cast<double>(s.width);
  if constexpr (Stored)
    return of_operations(runs(all), operations);
  else
    return of_operations(runs(heed::log_sum_exp<vocabulary>(all)), operations);
}

/// A picture of 32 x 32: each query sees 7 x 7 keys around it, axes split by row and column, or all keys.
template <bool Near> job picture(shape const& s) {
  using pixels_of_queries = heed::tensor<float, head, query_row, query_column, d_head>;
  using pixels_of_keys = heed::tensor<float, head, key_row, key_column, d_head>;
  extent_t const side = static_cast<extent_t>(std::sqrt(static_cast<double>(s.queries)));
  auto const q = filled<pixels_of_queries>(1, head{s.heads}, query_row{side}, query_column{side}, d_head{s.width});
  auto const k = filled<pixels_of_keys>(2, head{s.heads}, key_row{side}, key_column{side}, d_head{s.width});
  auto const v = filled<pixels_of_keys>(3, head{s.heads}, key_row{side}, key_column{side}, d_head{s.width});
  auto const scores = heed::dot<d_head>(q, k) / 8;
  auto const attend_pixels = [&](auto const& x) {
    return heed::dot<key_row, key_column>(heed::softmax<key_row, key_column>(x), v);
  };
  if constexpr (!Near) return of_operations(runs(attend_pixels(scores)), s.operations());
  auto const rows = heed::index<query_row>() - heed::index<key_row>();
  auto const columns = heed::index<query_column>() - heed::index<key_column>();
  auto const near = rows <= 3 && rows >= -3 && columns <= 3 && columns >= -3;
  double seen = 0;  // rows of keys that a row of queries sees
  for (extent_t i = 0; i < side; ++i)
    seen += static_cast<double>(std::min(i + 3, side - 1) - std::max(i - 3, extent_t{0}) + 1);
  double const part = seen / static_cast<double>(side * side);
  job j = of_operations(runs(attend_pixels(heed::where(near, scores))), part * part * s.operations());
  j.notes["percent_of_rows"] = 100 * part;
  return j;
}

}  // namespace

int main(int count, char** arguments) {
  setting const one{.threads = {1}, .seconds = 4};
  compare<heads_of<>>("reduction", shape{1, 12, 1024, 1024, 64},
                      {{"softmax", weighted(softmax)},
                       {"softmax_causal", weighted(causal_softmax, 1025. / 2048)},
                       {"sigmoid", weighted(sigmoid)},
                       {"squared_relu", weighted(squared_relu)},
                       {"differential", weighted(differential, 2)},
                       {"retention", weighted(retention, 1025. / 2048), "softmax_causal"},
                       {"relative_bias", weighted(relative)},
                       {"log_sum_exp", log_sum_exp},
                       {"max_sim", max_sim},
                       {"context_and_log_sum_exp", with_log_sum_exp},
                       {"context_and_weights", with_weights}},
                      one);
  compare<heads_of<>>("documents", shape{1, 256, 32, 180, 128},
                      {{"softmax", weighted(softmax)}, {"max_sim", max_sim_of_documents}}, one);
  compare<shape>("latent", shape{1, 16, 256, 1024, 512},
                 {{"softmax", [](shape const& s) { return weighted(softmax)(heads_of<>(s)); }}, {"latent", latent}},
                 one);
  compare<shape>("vocabulary", shape{1, 1, 256, 32000, 768},
                 {{"logits_stored", logits<true>}, {"log_sum_exp", logits<false>}}, one);
  compare<shape>("picture", shape{1, 12, 1024, 1024, 64},
                 {{"softmax", [](shape const& s) { return weighted(softmax)(heads_of<>(s)); }},
                  {"all", picture<false>},
                  {"near", picture<true>}},
                 one);
  return bench::run(count, arguments);
}
