// SPDX-License-Identifier: BSL-1.0
// In: attention weights [layer, head, query, key] and what the tokens are called, sizes already checked.
// Out: what each head does with them, in six numbers and a name.
// Next to read: page.hpp and picture.hpp, which show both.
#pragma once

#include "../../axis.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed::io {

/// What the maps of attention weights are labelled with.
///
///     heed::io::heatmap_text text{.title = "Layer 3", .keys = tokens, .separators = {0}};
///     std::string page = heed::io::heatmap_page(weights, text);
struct heatmap_text {
  std::string title = "Attention";        ///< above all maps
  std::string note = {};                  ///< a sentence below the title
  std::vector<std::string> keys = {};     ///< a label for each key
  std::vector<std::string> queries = {};  ///< a label for each query; none: the queries are the last of the keys
  std::vector<extent_t> separators = {};  ///< which of the keys are separators (end of sentence, [SEP], a full stop)
};

/// What a head does on the average over its queries. A query at position i is compared with the keys i, i - 1 and
/// i + 1; a query without such a key, or without any weight, is left out of that mean.
///
///     heed::io::head_habit first_head = heed::io::head_habits(weights, {.keys = tokens}).front();
///     double how_sharp = first_head.entropy / first_head.reachable;
struct head_habit {
  extent_t layer = 0;               ///< counted from 0
  extent_t head = 0;                ///< counted from 0
  double same = 0;                  ///< mean weight on the key at the query's own place
  double previous = 0;              ///< before it
  double next = 0;                  ///< behind it
  double first = 0;                 ///< mean weight on the first key, often a sink (Xiao et al. 2023)
  double separator = 0;             ///< mean of the sum of the weights on separators
  double entropy = 0;               ///< mean of -sum_k w log2 w in bits, of weights that are divided by their sum
  double reachable = 0;             ///< mean of log2 of the number of keys with any weight: the entropy's upper limit
  std::string_view name = "mixed";  ///< what the head does most
};

}  // namespace heed::io

namespace heed::detail {

/// Weights as the pictures need them: row-major [layer, head, query, key], each within 0 to 1.
struct weight_maps {
  extent_t layers = 1, heads = 1, queries = 1, keys = 1;
  bool has_layers = false;  // the weights came with an axis of layers
  std::vector<double> values;

  double const* row(extent_t layer, extent_t head, extent_t query) const {
    return values.data() + ((layer * heads + head) * queries + query) * keys;
  }
};

/// The place of the first query among the keys.
inline extent_t first_position(weight_maps const& maps, io::heatmap_text const& text) {
  return text.queries.empty() ? maps.keys - maps.queries : 0;
}

/// The name of the largest of the five means if it is 0.4 or more; else a head whose entropy is 0.9 of the reachable or
/// more is broad, and one that has half of its weight around the query's own place reads nearby tokens.
inline std::string_view habit_name(io::head_habit const& habit) {
  struct candidate {
    double weight;
    std::string_view name;
  };
  const std::array<candidate, 5> candidates{{{habit.first, "first token"},
                                             {habit.same, "diagonal"},
                                             {habit.previous, "previous token"},
                                             {habit.next, "next token"},
                                             {habit.separator, "separator"}}};
  candidate best{0.4, "mixed"};
  for (candidate const& one : candidates)
    if (one.weight > best.weight || (one.weight == best.weight && best.name == "mixed")) best = one;
  if (best.name != "mixed") return best.name;
  if (habit.reachable > 0 && habit.entropy >= 0.9 * habit.reachable) return "broad";
  return habit.same + habit.previous + habit.next >= 0.5 ? "nearby tokens" : "mixed";
}

inline io::head_habit habit_of(weight_maps const& maps, io::heatmap_text const& text, extent_t layer, extent_t head) {
  io::head_habit habit{.layer = layer, .head = head};
  const extent_t first_query = detail::first_position(maps, text);
  struct mean {
    double sum = 0;
    extent_t count = 0;
    void add(double value) { sum += value, ++count; }
    double value() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  } same, previous, next, first, separator, entropy, reachable;

  for (extent_t query = 0; query < maps.queries; ++query) {
    double const* weights = maps.row(layer, head, query);
    double total = 0, bits = 0, on_separators = 0;
    extent_t reached = 0;
    for (extent_t key = 0; key < maps.keys; ++key) total += weights[key];
    if (!(total > 0)) continue;
    for (extent_t key = 0; key < maps.keys; ++key)
      if (const double part = weights[key] / total; part > 0) bits -= part * std::log2(part), ++reached;
    for (const extent_t key : text.separators) on_separators += weights[key];

    const extent_t position = first_query + query;
    if (position < maps.keys) same.add(weights[position]);
    if (position >= 1 && position - 1 < maps.keys) previous.add(weights[position - 1]);
    if (position + 1 < maps.keys) next.add(weights[position + 1]);
    first.add(weights[0]);
    separator.add(on_separators);
    entropy.add(bits);
    reachable.add(std::log2(static_cast<double>(reached)));
  }
  habit.same = same.value(), habit.previous = previous.value(), habit.next = next.value();
  habit.first = first.value(), habit.separator = separator.value();
  habit.entropy = entropy.value(), habit.reachable = reachable.value();
  habit.name = detail::habit_name(habit);
  return habit;
}

inline std::vector<io::head_habit> habits_of(weight_maps const& maps, io::heatmap_text const& text) {
  std::vector<io::head_habit> habits;
  for (extent_t layer = 0; layer < maps.layers; ++layer)
    for (extent_t head = 0; head < maps.heads; ++head) habits.push_back(detail::habit_of(maps, text, layer, head));
  return habits;
}

}  // namespace heed::detail
