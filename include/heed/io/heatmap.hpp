// SPDX-License-Identifier: BSL-1.0
// In: attention weights [head, query, key] or [layer, head, query, key] in a tensor or view, and what the tokens are
// called. Out: a page that shows them in a browser without any network (HTML), a picture (SVG), or just the figures.
// Not part of heed.hpp: include it where it is wanted. Next to read: heatmap/habits.hpp, then heatmap/page.hpp.
#pragma once

#include "../tensor.hpp"
#include "heatmap/habits.hpp"
#include "heatmap/page.hpp"
#include "heatmap/picture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heed::detail {

struct heatmap_word {
  static constexpr std::string_view name = "heatmap";
};

[[noreturn]] inline void refuse_heatmap(std::string const& what) { throw shape_error("heatmap: " + what); }

/// Everything that can be wrong with the labels, before anything is drawn.
inline void check_labels(weight_maps const& maps, io::heatmap_text const& text,
                         std::array<std::string, 4> const& names) {
  const auto extent_is = [&](std::size_t axis, extent_t extent) {
    return "axis " + names[axis] + " has extent " + std::to_string(extent);
  };
  const std::array<extent_t, 4> extents{maps.layers, maps.heads, maps.queries, maps.keys};
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (extents[axis] == 0) detail::refuse_heatmap(extent_is(axis, 0) + ", there is nothing to draw");
  if (text.keys.size() != static_cast<std::size_t>(maps.keys))
    detail::refuse_heatmap(extent_is(3, maps.keys) + " where " + std::to_string(text.keys.size()) +
                           " keys have labels");
  if (!text.queries.empty() && text.queries.size() != static_cast<std::size_t>(maps.queries))
    detail::refuse_heatmap(extent_is(2, maps.queries) + " where " + std::to_string(text.queries.size()) +
                           " queries have labels");
  if (text.queries.empty() && maps.queries > maps.keys)
    detail::refuse_heatmap(extent_is(2, maps.queries) + ", more than " + names[3] + " with " +
                           std::to_string(maps.keys) + "; queries that are none of the keys need labels of their own");
  for (std::size_t at = 0; at < text.separators.size(); ++at) {
    const extent_t key = text.separators[at];
    if (key < 0 || key >= maps.keys)
      detail::refuse_heatmap("separator " + std::to_string(key) + " is none of the " + std::to_string(maps.keys) +
                             " keys");
    if (std::find(text.separators.begin(), text.separators.begin() + static_cast<extent_t>(at), key) !=
        text.separators.begin() + static_cast<extent_t>(at))
      detail::refuse_heatmap("separator " + std::to_string(key) + " is named twice");
  }
}

inline void check_weights(weight_maps& maps, std::array<std::string, 4> const& names) {
  constexpr double slack = 1e-2;  // a softmax stored in bf16 may end a little above 1
  for (std::size_t at = 0; at < maps.values.size(); ++at) {
    double& weight = maps.values[at];
    if (weight >= 0 && weight <= 1 + slack) {
      weight = std::min(weight, 1.);
      continue;
    }
    auto rest = static_cast<extent_t>(at);
    const extent_t key = rest % maps.keys, query = (rest /= maps.keys) % maps.queries;
    const extent_t head = (rest /= maps.queries) % maps.heads, layer = rest / maps.heads;
    throw std::invalid_argument(
        "heatmap: the weight at " + (maps.has_layers ? names[0] + ' ' + std::to_string(layer) + ", " : "") + names[1] +
        ' ' + std::to_string(head) + ", " + names[2] + ' ' + std::to_string(query) + ", " + names[3] + ' ' +
        std::to_string(key) + " is " + std::to_string(weight) + ", not within 0 to 1");
  }
}

/// The weights as numbers in the order [layer, head, query, key], after all checks.
template <class T, class... A, class... Chosen>
weight_maps maps_of(leaf<T, axes<A...>> const& weights, axes<Chosen...>, io::heatmap_text const& text) {
  using order = std::conditional_t<sizeof...(Chosen) == 0, axes<A...>, axes<Chosen...>>;
  static_assert(sizeof...(A) == 3 || sizeof...(A) == 4,
                "heatmap: the weights are [head, query, key], maybe with a layer in front");
  static_assert(distinct<order> && same_set<order, axes<A...>>,
                "heatmap<layer, head, query, key>(weights): the axes named are not those of the weights");
  return [&]<class... O>(axes<O...>) {
    constexpr std::size_t layers = sizeof...(O) - 3;
    std::array<extent_t, 4> extents{1, 1, 1, 1}, strides{};
    std::array<std::string, 4> names{"layer"};
    std::size_t axis = 1 - layers;
    ((extents[axis] = weights.template extent<O>(), strides[axis] = weights.template stride<O>(),
      names[axis] = detail::axis_name<O>(), ++axis),
     ...);

    weight_maps maps{extents[0], extents[1], extents[2], extents[3], layers == 1, {}};
    detail::check_labels(maps, text, names);
    maps.values.reserve(static_cast<std::size_t>(weights.size()));
    for (extent_t layer = 0; layer < maps.layers; ++layer)
      for (extent_t head = 0; head < maps.heads; ++head)
        for (extent_t query = 0; query < maps.queries; ++query)
          for (extent_t key = 0; key < maps.keys; ++key)
            maps.values.push_back(static_cast<double>(static_cast<value_of_t<T>>(
                weights.data[layer * strides[0] + head * strides[1] + query * strides[2] + key * strides[3]])));
    detail::check_weights(maps, names);
    return maps;
  }(order{});
}

}  // namespace heed::detail

namespace heed::io {

/// The six figures of each head and a name for its habit, layer by layer:
///
///     for (auto const& h : heed::io::head_habits(weights, {.keys = tokens})) use(h.head, h.name, h.previous);
///
/// Weights, axes, text and errors are as in heatmap_page.
template <class... Axes, class Weights>
std::vector<head_habit> head_habits(Weights const& weights, heatmap_text const& text) {
  if constexpr (heed::detail::stored<Weights>)
    return detail::habits_of(detail::maps_of(weights.heed_leaf(), axes<Axes...>{}, text), text);
  else
    return heed::detail::refuse_unevaluated<heed::detail::heatmap_word, Weights>(), std::vector<head_habit>{};
}

/// A page (HTML, one file, nothing is loaded): a small map for each head, a large one for the pointer and the keyboard,
/// the text shaded by what a query reads, and the table of habits.
///
///     auto w = evaluate<head, query, key>(softmax<key>(scores));
///     std::string page = heed::io::heatmap_page(w, {.title = "Layer 3", .keys = tokens});
///
/// `weights` is a tensor or view [head, query, key] or [layer, head, query, key]; the axes may have any names and are
/// told apart by their order in its type, or named here in this order: `heatmap_page<head, query, key>(w, text)`.
/// Weights lie within 0 to 1 and are stored in 16 bits each. Throws heed::shape_error where labels and extents differ
/// or an extent is 0, std::invalid_argument for a weight that is none.
template <class... Axes, class Weights> std::string heatmap_page(Weights const& weights, heatmap_text const& text) {
  if constexpr (heed::detail::stored<Weights>)
    return detail::page_of(detail::maps_of(weights.heed_leaf(), axes<Axes...>{}, text), text);
  else
    return heed::detail::refuse_unevaluated<heed::detail::heatmap_word, Weights>(), std::string{};
}

/// The same maps as a picture (SVG): a row of maps for each layer, a map for each head, named by its habit; the tokens
/// stand beside the map where there is just one. Takes and throws what heatmap_page does.
///
///     std::string picture = heed::io::heatmap_picture(weights, {.title = "Layer 3", .keys = tokens});
template <class... Axes, class Weights> std::string heatmap_picture(Weights const& weights, heatmap_text const& text) {
  if constexpr (heed::detail::stored<Weights>)
    return detail::picture_of(detail::maps_of(weights.heed_leaf(), axes<Axes...>{}, text), text);
  else
    return heed::detail::refuse_unevaluated<heed::detail::heatmap_word, Weights>(), std::string{};
}

/// Writes the page to NAME.html or the picture to NAME.svg:
///
///     heed::io::write_heatmap("heads.html", weights, {.title = "Layer 3", .keys = tokens});
///
/// Nothing is written unless all of it could be made. Throws what heatmap_page does, std::invalid_argument for another
/// kind of name, std::runtime_error where the file can't be written.
template <class... Axes, class Weights>
void write_heatmap(std::filesystem::path const& path, Weights const& weights, heatmap_text const& text) {
  if constexpr (!heed::detail::stored<Weights>)
    heed::detail::refuse_unevaluated<heed::detail::heatmap_word, Weights>();
  else {
    const std::filesystem::path kind = path.extension();
    if (kind != ".html" && kind != ".svg")
      throw std::invalid_argument("heatmap: " + path.string() + " ends neither in .html nor in .svg");
    const std::string content =
        kind == ".html" ? io::heatmap_page<Axes...>(weights, text) : io::heatmap_picture<Axes...>(weights, text);
    std::ofstream file(path, std::ios::binary);
    if (!file.write(content.data(), static_cast<std::streamsize>(content.size())).flush())
      throw std::runtime_error("heatmap: " + path.string() + " can't be written");
  }
}

}  // namespace heed::io
