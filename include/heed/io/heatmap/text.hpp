// SPDX-License-Identifier: BSL-1.0
// In: labels as a tokenizer gives them, any bytes. Out: the same as text of a page, of a picture and of a script's data,
// where no label can end a tag or a string; and bytes as base64.
// Next to read: habits.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace heed::detail {

/// The length of the well-formed UTF-8 character that `text` starts with; 0 where there is none.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
  const auto follows = [&](std::size_t at) { return (byte(at) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0), second = byte(1);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (!follows(1) || !follows(2) || (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0)) return 0;
    return 3;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (!follows(1) || !follows(2) || !follows(3) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second >= 0x90))
      return 0;
    return 4;
  }
  return 0;
}

/// What a reader sees of a token: a space as a middle dot, line ends and tabs as arrows, what is no text as U+FFFD; an
/// empty label as the sign of the empty set.
inline std::string visible(std::string_view label) {
  if (label.empty()) return "\u2205";
  std::string shown;
  while (!label.empty()) {
    const std::size_t length = detail::utf8_length(label);
    const char first = label.front();
    if (first == ' ')
      shown += "\u00B7";
    else if (first == '\n')
      shown += "\u21B5";
    else if (first == '\t')
      shown += "\u21E5";
    else if (length == 0 || static_cast<unsigned char>(first) < 0x20 || first == 0x7F)
      shown += "\uFFFD";
    else
      shown += label.substr(0, length);
    label.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

/// Well-formed text for HTML and XML, within an element or a quoted attribute.
inline std::string markup(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t length = detail::utf8_length(text);
    const char first = text.front();
    if (first == '&')
      escaped += "&amp;";
    else if (first == '<')
      escaped += "&lt;";
    else if (first == '>')
      escaped += "&gt;";
    else if (first == '"')
      escaped += "&quot;";
    else if (first == '\'')
      escaped += "&#39;";
    else if (length == 0 || (static_cast<unsigned char>(first) < 0x20 && first != '\n' && first != '\t') ||
             first == 0x7F)
      escaped += "\uFFFD";
    else
      escaped += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

/// A JSON string that may stand within a script element: everything that HTML could read as a tag is written as a code.
inline std::string script_string(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = detail::utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (length == 0) {
      quoted += "\uFFFD";
    } else if (first < 0x20 || first == 0x7F ||
               std::string_view("\"\\<>&'/").find(text.front()) != std::string_view::npos) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(first));
      quoted += code.data();
    } else if (character == "\u2028" || character == "\u2029") {  // line ends to a script, but not to JSON
      quoted += character == "\u2028" ? "\\u2028" : "\\u2029";
    } else {
      quoted += character;
    }
    text.remove_prefix(character.size());
  }
  return quoted + '"';
}

/// RFC 4648, with padding.
inline std::string base64(std::vector<std::uint8_t> const& bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    std::uint32_t group = 0;
    for (std::size_t byte = 0; byte < 3; ++byte) group = group << 8 | (byte < count ? bytes[at + byte] : 0u);
    for (std::size_t digit = 0; digit < 4; ++digit)
      text += digit <= count ? digits[group >> (18 - 6 * digit) & 63u] : '=';
  }
  return text;
}

/// "0.125" for (0.125, 3).
inline std::string decimal(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace heed::detail
