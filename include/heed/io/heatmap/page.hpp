// SPDX-License-Identifier: BSL-1.0
// In: weights and labels, sizes already checked. Out: one HTML page. The table of habits is plain HTML; the maps are
// drawn by the script of page_script.hpp from weights in base64, two bytes each, low byte first: w = bytes / 65535.
// Next to read: page_style.hpp, page_script.hpp.
#pragma once

#include "colours.hpp"
#include "habits.hpp"
#include "page_script.hpp"
#include "page_style.hpp"
#include "text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::detail {

inline std::string counted(extent_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + ' ' + std::string(count == 1 ? one : many);
}

/// "5 layers, 8 heads, 44 queries, 44 keys"
inline std::string sizes_of(weight_maps const& maps) {
  return (maps.has_layers ? detail::counted(maps.layers, "layer", "layers") + ", " : "") +
         detail::counted(maps.heads, "head", "heads") + ", " + detail::counted(maps.queries, "query", "queries") +
         ", " + detail::counted(maps.keys, "key", "keys");
}

inline std::string weights_in_base64(weight_maps const& maps) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * maps.values.size());
  for (const double weight : maps.values) {
    const auto stored = static_cast<unsigned>(std::lround(weight * 65535));
    bytes.push_back(static_cast<std::uint8_t>(stored & 255u));
    bytes.push_back(static_cast<std::uint8_t>(stored >> 8));
  }
  return detail::base64(bytes);
}

/// 256 colours of six digits each.
inline std::string ramp_in_hexadecimal(bool dark) {
  std::string text;
  for (int step = 0; step < 256; ++step) text += detail::hexadecimal(detail::ramp(step / 255., dark));
  return text;
}

inline std::string strings_of(std::vector<std::string> const& labels) {
  std::string list = "[";
  for (std::string const& label : labels)
    list += (list.size() == 1 ? "" : ",") + detail::script_string(detail::visible(label));
  return list + ']';
}

/// What the script reads beside the weights.
inline std::string script_data(weight_maps const& maps, io::heatmap_text const& text) {
  return "{\"layers\":" + std::to_string(maps.layers) + ",\"heads\":" + std::to_string(maps.heads) +
         ",\"rows\":" + std::to_string(maps.queries) + ",\"columns\":" + std::to_string(maps.keys) +
         ",\"queries\":" + detail::strings_of(text.queries) + ",\"keys\":" + detail::strings_of(text.keys) +
         ",\"light\":\"" + detail::ramp_in_hexadecimal(false) + "\",\"dark\":\"" + detail::ramp_in_hexadecimal(true) +
         "\"}";
}

/// One row of the table: the figures, each with a bar as long as its share of `whole`.
inline std::string habit_row(io::head_habit const& habit, bool has_layers, bool has_separators) {
  const auto cell = [](double value, double whole) {
    return "<td style=\"--part:" + detail::decimal(whole > 0 ? value / whole : 0, 3) + "\">" +
           detail::decimal(value, 2) + "</td>";
  };
  const std::string layer = std::to_string(habit.layer), head = std::to_string(habit.head);
  const std::string name(habit.name);
  return "<tr data-layer=\"" + layer + "\" data-head=\"" + head + "\"><th scope=\"row\"><button type=\"button\">" +
         (has_layers ? layer + '.' : "") + head + "</button></th><td class=\"name\">" + name + "</td>" +
         cell(habit.same, 1) + cell(habit.previous, 1) + cell(habit.next, 1) + cell(habit.first, 1) +
         (has_separators ? cell(habit.separator, 1) : "<td>\u2013</td>") + cell(habit.entropy, habit.reachable) +
         "</tr>\n";
}

inline std::string habit_table(weight_maps const& maps, io::heatmap_text const& text) {
  const auto column = [](std::string_view full, std::string_view brief) {
    return "<th scope=\"col\" aria-label=\"" + std::string(full) + "\"><span class=\"full\">" + std::string(full) +
           "</span><span class=\"brief\">" + std::string(brief) + "</span></th>";
  };
  std::string table =
      "<table id=\"habits\"><thead><tr>" + (maps.has_layers ? column("layer.head", "head") : column("head", "head")) +
      "<th scope=\"col\">habit</th>" + column("same", "same") + column("previous", "prev") + column("next", "next") +
      column("first", "first") + column("separator", "sep") + column("entropy", "bits") + "</tr></thead><tbody>\n";
  for (io::head_habit const& habit : detail::habits_of(maps, text))
    table += detail::habit_row(habit, maps.has_layers, !text.separators.empty());
  return table + "</tbody></table>";
}

inline std::string slider(std::string_view name, std::string_view label, extent_t count) {
  const std::string id(name);
  return "<label" + std::string(count == 1 ? " hidden" : "") + ">" + std::string(label) +
         " <input type=\"range\" id=\"" + id + "\" min=\"0\" max=\"" + std::to_string(count - 1) +
         "\" value=\"0\"><output id=\"" + id + "-shown\">0</output></label>\n";
}

inline std::string page_of(weight_maps const& maps, io::heatmap_text const& text) {
  const std::string title = detail::markup(text.title);
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<title>" +
      title + "</title>\n<style>" + std::string(page_style) + "</style>\n</head>\n<body>\n<header>\n<h1>" + title +
      "</h1>\n" + (text.note.empty() ? "" : "<p>" + detail::markup(text.note) + "</p>\n") + "<p class=\"quiet\">" +
      detail::sizes_of(maps) + "</p>\n</header>\n<noscript><p>The maps are drawn by a script; the table needs none." +
      "</p></noscript>\n<form id=\"controls\">\n" + detail::slider("layer", "Layer", maps.layers) +
      detail::slider("head", "Head", maps.heads) + std::string(page_controls) + "</form>\n" + std::string(page_maps) +
      detail::habit_table(maps, text) + std::string(page_legend);
  page += "<script type=\"application/json\" id=\"data\">" + detail::script_data(maps, text) + "</script>\n";
  page += "<script type=\"text/plain\" id=\"weights\">" + detail::weights_in_base64(maps) + "</script>\n";
  page += "<script>" + std::string(page_script) + "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace heed::detail
