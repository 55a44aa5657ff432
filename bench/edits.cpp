// SPDX-License-Identifier: BSL-1.0
// links: benchmark
// In: nothing, or Google Benchmark's flags. Out: what edits of scores and weights cost beside plain attention, on one thread.
// percent_of_peak counts the kept pairs of query and key alone; percent_of_tiles is the share of tiles of 64 queries x 96 keys
// that hold any, over_tiles the ratio to plain divided by it: 1 where a mask costs nothing but the tiles that it touches.
// Next to read: reductions.cpp, formulas beyond softmax.
#include "inputs.hpp"
#include "measure.hpp"

#include <algorithm>

using namespace bench;

namespace {

using keep_function = bool (*)(extent_t query, extent_t key);
bool lower(extent_t i, extent_t j) { return j <= i; }
bool in_window(extent_t i, extent_t j) { return j <= i && i - j < 256; }
bool after_prefix(extent_t i, extent_t j) { return j < 256 || j <= i; }
bool same_document(extent_t i, extent_t j) { return i / 200 == j / 200; }
bool every_third(extent_t i, extent_t j) { return (i + j) % 3 != 0; }

struct share {
  double pairs = 1, tiles = 1;
};
share kept(extent_t queries, extent_t keys, keep_function keep) {
  if (keep == nullptr) return {};
  constexpr extent_t tile_queries = 64, tile_keys = 96;
  extent_t pairs = 0, tiles = 0, all = 0;
  for (extent_t i0 = 0; i0 < queries; i0 += tile_queries)
    for (extent_t j0 = 0; j0 < keys; j0 += tile_keys, ++all) {
      extent_t const before = pairs;
      for (extent_t i = i0; i < std::min(i0 + tile_queries, queries); ++i)
        for (extent_t j = j0; j < std::min(j0 + tile_keys, keys); ++j) pairs += keep(i, j);
      tiles += pairs > before;
    }
  auto const of = [](extent_t part, extent_t whole) { return static_cast<double>(part) / static_cast<double>(whole); };
  return {of(pairs, queries * keys), of(tiles, all)};
}

/// weights_of(scores) times v; `keep` says which pairs it keeps, null: all.
template <class Weights> auto weighted(Weights weights_of, keep_function keep = nullptr) {
  return [=](heads_of<> const& in) {
    share const part = kept(in.shape.queries, in.shape.keys, keep);
    job j = of_operations(runs(heed::dot<key>(weights_of(in.scores()), in.v)), part.pairs * in.shape.operations());
    j.part = keep ? part.tiles : 0;
    return j;
  };
}
/// softmax(edit(scores)) times v.
template <class Edit> auto edited(Edit edit, keep_function keep = nullptr) {
  return weighted([edit](auto const& s) { return heed::softmax<key>(edit(s)); }, keep);
}

auto const plain = [](auto const& s) { return s; };
auto const causal = [](auto const& s) { return heed::where(heed::causal<query, key>(), s); };
auto const window = [](auto const& s) { return heed::where(heed::window<query, key>(256), s); };

auto const alibi = [](auto const& s) {
  auto const slopes = heed::alibi_slopes<head>(s.template extent<head>());
  return heed::where(heed::causal<query, key>(), s + heed::alibi<query, key>(slopes));
};
auto const alibi_two_sided = [](auto const& s) {
  auto const slopes = heed::alibi_slopes<head>(s.template extent<head>());
  return s - slopes * heed::abs(heed::index<key>() - heed::index<query>());
};
auto const softcap = [](auto const& s) { return heed::softcap(s, 30); };
auto const bias = [](auto const& s) {
  using pairs = heed::tensor<float, query, key>;
  return s + filled<pairs>(4, query{s.template extent<query>()}, key{s.template extent<key>()});
};
auto const bias_a_head = [](auto const& s) {
  using pairs = heed::tensor<float, head, query, key>;
  return s + filled<pairs>(4, head{s.template extent<head>()}, query{s.template extent<query>()},
                           key{s.template extent<key>()});
};

/// The mask as bytes, or as a bias of 0 and -infinity.
template <class T> auto stored_mask(keep_function keep) {
  return [keep](auto const& s) {
    heed::tensor<T, query, key> mask{query{s.template extent<query>()}, key{s.template extent<key>()}};
    for (extent_t i = 0; i < mask.template extent<query>(); ++i)
      for (extent_t j = 0; j < mask.template extent<key>(); ++j) {
        if constexpr (std::is_same_v<T, bool>)
          mask(i, j) = keep(i, j);
        else
          mask(i, j) = keep(i, j) ? 0 : -heed::kernel::infinity<T>;
      }
    if constexpr (std::is_same_v<T, bool>)
      return heed::where(mask, s);
    else
      return s + mask;
  };
}
auto const documents = [](auto const& s) {
  heed::tensor<std::int32_t, query> of_query{query{s.template extent<query>()}};
  heed::tensor<std::int32_t, key> of_key{key{s.template extent<key>()}};
  for (extent_t i = 0; i < of_query.size(); ++i) of_query(i) = static_cast<std::int32_t>(i / 200);
  for (extent_t j = 0; j < of_key.size(); ++j) of_key(j) = static_cast<std::int32_t>(j / 200);
  return heed::where(of_query == of_key, s);
};
auto const prefix = [](auto const& s) {
  return heed::where(heed::index<key>() < 256 || heed::index<key>() <= heed::index<query>(), s);
};

/// Four sequences of 1, 3/4, 1/2 and 1/5 of the keys.
template <bool Padded> job lengths(heads_of<> const& in) {
  heed::tensor<std::int32_t, batch> length{batch{4}};
  double kept_keys = 0, tiles = 0;
  for (extent_t b = 0; b < 4; ++b) {
    constexpr double part[] = {1, 0.75, 0.5, 0.2};
    length(b) = static_cast<std::int32_t>(part[b] * static_cast<double>(in.shape.keys));
    kept_keys += length(b);
    tiles += (length(b) + 95) / 96;
  }
  if constexpr (!Padded) return of_operations(runs(attend(in.scores(), in.v)), in.shape.operations());
  job j = of_operations(runs(attend(heed::where(heed::index<key>() < length, in.scores()), in.v)),
                        in.shape.operations() * kept_keys / 4 / static_cast<double>(in.shape.keys));
  j.part = tiles / 4 / static_cast<double>((in.shape.keys + 95) / 96);
  return j;
}

/// One head, so many queries and keys that most of the time could go into finding the tiles: microseconds a query.
job long_window(shape const& s) {
  heads_of<> const in(s);
  job j = of_operations(runs(attend(window(in.scores()), in.v)),
                        4 * 256. * static_cast<double>(s.queries) * static_cast<double>(s.width));
  j.items = static_cast<double>(s.queries);
  return j;
}
formula<shape> window_of_length(extent_t n) {
  return {"queries:" + std::to_string(n), [n](shape s) { return s.queries = s.keys = n, long_window(s); }};
}

}  // namespace

int main(int count, char** arguments) {
  setting const one{.threads = {1}, .seconds = 4};
  shape const middle{1, 12, 1024, 1024, 64};
  compare<heads_of<>>(
      "edit", middle,
      {{"plain", edited(plain)},
       {"causal", edited(causal, lower)},
       {"causal_bytes", edited(stored_mask<bool>(lower), lower), "causal"},
       {"causal_bias", edited(stored_mask<float>(lower), lower), "causal"},
       {"window_256", edited(window, in_window)},
       {"alibi_causal", edited(alibi, lower), "causal"},
       {"alibi_two_sided", edited(alibi_two_sided)},
       {"softcap", edited(softcap)},
       {"bias_query_key", edited(bias)},
       {"bias_head_query_key", edited(bias_a_head)},
       {"bytes_everywhere_mixed", edited(stored_mask<bool>(every_third), every_third)},
       {"documents_of_200", edited(documents, same_document)},
       {"prefix_256", edited(prefix, after_prefix)},
       {"dropout", weighted([](auto const& s) { return heed::dropout(heed::softmax<key>(s), 0.1, 7); })}},
      one);
  compare<heads_of<>>(
      "edit", shape{1, 12, 4096, 4096, 64},
      {{"plain", edited(plain)}, {"causal", edited(causal, lower)}, {"window_256", edited(window, in_window)}}, one);
  compare<heads_of<>>("lengths", shape{4, 12, 512, 512, 64}, {{"plain", lengths<false>}, {"padded", lengths<true>}},
                      one);
  compare<shape>("window_256_of", shape{1, 1, 524288, 524288, 64},
                 {window_of_length(8192), window_of_length(65536), window_of_length(524288)}, one);
  return bench::run(count, arguments);
}
