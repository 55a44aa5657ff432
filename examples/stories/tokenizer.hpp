// SPDX-License-Identifier: BSL-1.0
// In: the path of a llama2.c tokenizer file; then text, or token ids.
// Out: token ids, or text. A bad file is a std::runtime_error with one clear sentence.
// Next to read: main.cpp, which puts text, tokens and model together.

#pragma once

#include "model.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stories {

class tokenizer {
 public:
  static constexpr std::int32_t beginning = 1, end = 2;

  // File: int32 longest token; then for each token float32 score, int32 length, bytes.
  tokenizer(std::filesystem::path const& path, heed::extent_t vocabulary) {
    constexpr std::int32_t most_bytes = 4096;
    reader file(path);
    const auto longest = file.value<std::int32_t>("the header of 4 bytes");
    if (longest < 1 || longest > most_bytes)
      file.fail("the longest token is said to have " + std::to_string(longest) + " bytes, not within 1 to " +
                std::to_string(most_bytes));
    for (heed::extent_t id = 0; id < vocabulary; ++id) {
      const std::string what = "token " + std::to_string(id) + " of " + std::to_string(vocabulary);
      const auto score = file.value<float>(what);
      const auto length = file.value<std::int32_t>(what);
      if (length < 0 || length > most_bytes)
        file.fail(what + " is said to have " + std::to_string(length) + " bytes, not within 0 to " +
                  std::to_string(most_bytes));
      std::string text(static_cast<std::size_t>(length), '\0');
      file.bytes(text.data(), length, what);
      ids_.emplace(text, static_cast<std::int32_t>(id));  // of equal texts the first one counts
      tokens_.push_back({std::move(text), score});
    }
    if (file.left() != 0)
      file.fail(std::to_string(file.left()) + " bytes follow the last of " + std::to_string(vocabulary) +
                " tokens; this is another model's tokenizer");
  }

  // BOS; a space; a token for each character (for each byte, where the character has none); then, again and again,
  // the two neighbours whose joined token has the best score become one.
  std::vector<std::int32_t> encode(std::string_view text) const {
    std::vector<std::int32_t> ids{beginning};
    if (text.empty()) return ids;
    append_character(ids, " ");
    while (!text.empty()) {
      const std::size_t length = std::min(character_length(text), text.size());
      append_character(ids, text.substr(0, length));
      text.remove_prefix(length);
    }
    while (merge_best_pair(ids)) {
    }
    return ids;
  }

  // The text of `id` after the token `previous`: the space that encode puts in front is taken off again.
  std::string decode(std::int32_t previous, std::int32_t id) const {
    if (id == beginning || id == end) return {};
    std::string_view text = piece(id);
    if (previous == beginning && text.starts_with(' ')) text.remove_prefix(1);
    if (text.size() == 6 && text.starts_with("<0x") && text.ends_with('>')) {
      const int high = hexadecimal(text[3]), low = hexadecimal(text[4]);
      if (high >= 0 && low >= 0) return std::string(1, static_cast<char>(high * 16 + low));
    }
    return std::string(text);
  }

  std::string decode(std::vector<std::int32_t> const& ids) const {
    std::string text;
    for (std::size_t at = 0; at < ids.size(); ++at) text += decode(at == 0 ? end : ids[at - 1], ids[at]);
    return text;
  }

 private:
  struct entry {
    std::string text;
    float score;
  };

  std::string const& piece(std::int32_t id) const { return tokens_.at(static_cast<std::size_t>(id)).text; }

  // Bytes of the UTF-8 character in front; a stray byte stands for itself.
  static std::size_t character_length(std::string_view text) {
    const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; };
    std::size_t length = 1;
    while (length < 4 && length < text.size() && continues(text[length])) ++length;
    return length;
  }

  static int hexadecimal(char digit) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::size_t at = digits.find(digit);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
  }

  void append_character(std::vector<std::int32_t>& ids, std::string_view character) const {
    if (const auto found = ids_.find(std::string(character)); found != ids_.end()) {
      ids.push_back(found->second);
      return;
    }
    constexpr std::int32_t first_byte_token = 3;
    for (const char byte : character) {
      const std::int32_t id = static_cast<unsigned char>(byte) + first_byte_token;
      if (static_cast<std::size_t>(id) >= tokens_.size())
        throw std::runtime_error("the vocabulary has no token for '" + std::string(character) + "'");
      ids.push_back(id);
    }
  }

  bool merge_best_pair(std::vector<std::int32_t>& ids) const {
    float best_score = -std::numeric_limits<float>::infinity();
    std::int32_t best_id = -1;
    std::size_t best_at = 0;
    for (std::size_t at = 1; at + 1 < ids.size(); ++at) {  // BOS, in front, is no text
      const auto found = ids_.find(piece(ids[at]) + piece(ids[at + 1]));
      if (found == ids_.end()) continue;
      const float score = tokens_[static_cast<std::size_t>(found->second)].score;
      if (score > best_score) {
        best_score = score;
        best_id = found->second;
        best_at = at;
      }
    }
    if (best_id < 0) return false;
    ids[best_at] = best_id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
    return true;
  }

  std::vector<entry> tokens_;
  std::unordered_map<std::string, std::int32_t> ids_;
};

}  // namespace stories
