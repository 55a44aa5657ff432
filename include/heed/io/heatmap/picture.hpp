// SPDX-License-Identifier: BSL-1.0
// In: weights and labels, sizes already checked. Out: one SVG picture, a row of maps for each layer.
// A map is at most 31 paths, one for each colour above the paper's; neighbours of one colour are one stroke.
// Next to read: colours.hpp.
#pragma once

#include "colours.hpp"
#include "habits.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed::detail {

constexpr int picture_colours = 32;

/// The colour of a weight. The root shows small weights, which are most of them.
inline int picture_colour(double weight) {
  return static_cast<int>(std::lround(std::sqrt(weight) * (picture_colours - 1)));
}

inline std::string picture_map(weight_maps const& maps, extent_t layer, extent_t head) {
  std::array<std::string, picture_colours> strokes;
  for (extent_t query = 0; query < maps.queries; ++query) {
    double const* weights = maps.row(layer, head, query);
    for (extent_t key = 0; key < maps.keys;) {
      const int colour = detail::picture_colour(weights[key]);
      extent_t end = key + 1;
      while (end < maps.keys && detail::picture_colour(weights[end]) == colour) ++end;
      if (colour > 0)
        strokes[static_cast<std::size_t>(colour)] +=
            'M' + std::to_string(key) + ' ' + std::to_string(query) + ".5h" + std::to_string(end - key);
      key = end;
    }
  }
  std::string map;
  for (std::size_t colour = 1; colour < strokes.size(); ++colour)
    if (!strokes[colour].empty())
      map += "<path class=\"c" + std::to_string(colour) + "\" d=\"" + strokes[colour] + "\"/>\n";
  return map;
}

inline std::string picture_style() {
  const auto colours = [](bool dark) {
    std::string rules;
    for (int colour = 0; colour < picture_colours; ++colour)
      rules += ".c" + std::to_string(colour) + (colour == 0 ? "{fill:#" : "{stroke:#") +
               detail::hexadecimal(detail::ramp(colour / (picture_colours - 1.), dark)) + "}";
    return rules;
  };
  return "<style>text{font:12px system-ui,sans-serif;fill:#1c2330}.large{font-size:17px;font-weight:600}"
         ".quiet{fill:#5b6472}.frame{fill:none;stroke:#8b93a1;stroke-width:1}.paper{fill:#fcfcfa}" +
         colours(false) +
         "\n@media (prefers-color-scheme:dark){text{fill:#e8eaee}.quiet{fill:#a4acb8}.frame{stroke:#5d6674}"
         ".paper{fill:#12151b}" +
         colours(true) + "}</style>\n";
}

/// `text` at (x, y).
inline std::string picture_text(double x, double y, std::string const& text, std::string const& attributes = {}) {
  return "<text x=\"" + detail::decimal(x, 1) + "\" y=\"" + detail::decimal(y, 1) + "\"" + attributes + ">" +
         detail::markup(text) + "</text>\n";
}

/// A label as it stands beside a map: what is long is cut.
inline std::string picture_label(std::string const& label) {
  constexpr std::size_t most = 20;
  const std::string whole = detail::visible(label);
  std::size_t bytes = 0;
  for (std::size_t characters = 0; bytes < whole.size(); ++characters) {
    if (characters == most) return whole.substr(0, bytes) + "\u2026";
    bytes += detail::utf8_length(std::string_view(whole).substr(bytes));
  }
  return whole;
}

/// The width of the longest label, about.
inline double picture_label_width(std::vector<std::string> const& labels) {
  std::ptrdiff_t longest = 0;
  for (std::string const& label : labels) {
    const std::string shown = detail::picture_label(label);
    const auto starts = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; };
    longest = std::max(longest, std::count_if(shown.begin(), shown.end(), starts));
  }
  return 14 + 7.2 * static_cast<double>(longest);
}

/// The tokens beside a map at (left, top) whose cells are `cell` wide: as many as fit.
inline std::string picture_labels(std::vector<std::string> const& queries, std::vector<std::string> const& keys,
                                  double left, double top, double cell) {
  const std::size_t every = cell >= 11 ? 1 : static_cast<std::size_t>(std::ceil(11 / cell));
  const auto middle = [&](std::size_t number) { return (static_cast<double>(number) + 0.5) * cell + 4; };
  std::string labels;
  for (std::size_t query = 0; query < queries.size(); query += every)
    labels += detail::picture_text(left - 6, top + middle(query), detail::picture_label(queries[query]),
                                   " text-anchor=\"end\"");
  for (std::size_t key = 0; key < keys.size(); key += every) {
    const std::string turned =
        " transform=\"rotate(-90 " + detail::decimal(left + middle(key), 1) + ' ' + detail::decimal(top - 6, 1) + ")\"";
    labels += detail::picture_text(left + middle(key), top - 6, detail::picture_label(keys[key]), turned);
  }
  return labels;
}

inline std::string picture_of(weight_maps const& maps, io::heatmap_text const& text) {
  const bool alone = maps.layers * maps.heads == 1;
  const extent_t across = maps.has_layers ? maps.heads : std::min<extent_t>(maps.heads, 4);
  const extent_t down = maps.has_layers ? maps.layers : (maps.heads + across - 1) / across;
  const auto real = [](extent_t n) { return static_cast<double>(n); };
  const double cell =
      (alone ? std::clamp(560 / real(maps.keys), 4., 22.) : 132 / real(std::max(maps.keys, maps.queries)));
  const double width = cell * real(maps.keys), height = cell * real(maps.queries), gap = 18, caption = 20;
  std::vector<std::string> queries = text.queries;
  if (queries.empty()) queries.assign(text.keys.begin() + detail::first_position(maps, text), text.keys.end());
  const double left = 24 + (alone ? detail::picture_label_width(queries) : 0);
  const double top = (text.note.empty() ? 62 : 82) + (alone ? detail::picture_label_width(text.keys) : 0);
  const double step_x = std::max(width, alone ? 0. : 132.) + gap, step_y = height + caption + gap;
  const double whole_width = std::max(left + real(across) * step_x - gap + 24, 380.);
  const double whole_height = top + real(down) * step_y - gap + 24;

  const std::string size = detail::decimal(whole_width, 0) + "\" height=\"" + detail::decimal(whole_height, 0);
  std::string picture = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
                        detail::decimal(whole_width, 0) + ' ' + detail::decimal(whole_height, 0) +
                        "\" role=\"img\">\n<title>" + detail::markup(text.title) + "</title>\n" +
                        detail::picture_style() + "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" +
                        detail::picture_text(24, 36, text.title, " class=\"large\"");
  if (!text.note.empty()) picture += detail::picture_text(24, 58, text.note, " class=\"quiet\"");

  for (io::head_habit const& habit : detail::habits_of(maps, text)) {
    const extent_t column = maps.has_layers ? habit.head : habit.head % across;
    const extent_t row = maps.has_layers ? habit.layer : habit.head / across;
    const double x = left + real(column) * step_x, y = top + real(row) * step_y;
    const std::string number = (maps.has_layers ? std::to_string(habit.layer) + '.' : "") + std::to_string(habit.head);
    picture += "<svg x=\"" + detail::decimal(x, 1) + "\" y=\"" + detail::decimal(y, 1) + "\" width=\"" +
               detail::decimal(width, 1) + "\" height=\"" + detail::decimal(height, 1) + "\" viewBox=\"0 0 " +
               std::to_string(maps.keys) + ' ' + std::to_string(maps.queries) +
               "\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">\n<rect class=\"c0\" width=\"100%\" "
               "height=\"100%\"/>\n" +
               detail::picture_map(maps, habit.layer, habit.head) + "</svg>\n<rect class=\"frame\" x=\"" +
               detail::decimal(x, 1) + "\" y=\"" + detail::decimal(y, 1) + "\" width=\"" + detail::decimal(width, 1) +
               "\" height=\"" + detail::decimal(height, 1) + "\"/>\n" +
               detail::picture_text(x, y + height + 15, number + "  " + std::string(habit.name), " class=\"quiet\"");
  }
  if (alone) picture += detail::picture_labels(queries, text.keys, left, top, cell);
  return picture + "</svg>\n";
}

}  // namespace heed::detail
