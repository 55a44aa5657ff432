// SPDX-License-Identifier: BSL-1.0
// In: text in UTF-8. Out: the tokens of an uncased BERT: words in lower case without accents, cut into the longest
// pieces that the vocabulary has (WordPiece). What looks like a special token in a text is text.
// Next to read: pipeline.hpp.
#pragma once

#include "../bert/vocabulary.hpp"
#include "characters.hpp"

namespace sentences {

// The next character; bytes that are no UTF-8 give U+FFFD.
inline char32_t take_character(std::string_view& text) {
  constexpr char32_t wrong = 0xFFFD;
  const auto byte = [&](std::size_t at) { return static_cast<char32_t>(static_cast<unsigned char>(text[at])); };
  const char32_t first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  char32_t c = length <= 1 ? first : first & (0x7FU >> length);
  std::size_t taken = 1;
  while (taken < length && taken < text.size() && (byte(taken) & 0xC0U) == 0x80U) c = c << 6 | (byte(taken++) & 0x3FU);
  text.remove_prefix(taken);
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool good = length > 0 && taken == length && c >= least[length] && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  return good ? c : wrong;
}

inline void append_character(std::string& to, char32_t c) {
  const auto put = [&](char32_t byte) { to += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800)
    put(0xC0 | c >> 6);
  else {
    if (c < 0x10000)
      put(0xE0 | c >> 12);
    else
      put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

inline bool is_space(char32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}
// Ideographs are words of their own.
inline bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}
inline bool is_punctuation(char32_t c) {
  const bool symbol =
      c == '$' || c == '+' || c == '<' || c == '=' || c == '>' || c == '^' || c == '`' || c == '|' || c == '~';
  return symbol || is_in(punctuation, c);
}

// Words and marks of punctuation, in lower case and without accents.
inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (is_space(c)) {
      end_word();
    } else if (c == 0 || c == 0xFFFD || is_in(unseen, c) || is_in(marks, c)) {
      continue;
    } else if (is_ideograph(c) || is_punctuation(c)) {
      end_word();
      append_character(word, bare(c));
      end_word();
    } else {
      append_character(word, bare(c));
    }
  }
  end_word();
  return words;
}

class word_piece {
 public:
  explicit word_piece(bert::vocabulary known) : known_(std::move(known)) {}

  // [CLS] pieces [SEP]: at most `most` ids.
  bert::token_ids operator()(std::string_view text, std::size_t most) const {
    bert::token_ids ids{known_("[CLS]")};
    for (std::string const& word : words_of(text)) append_pieces(ids, word);
    if (ids.size() + 1 > most) ids.resize(most - 1);
    ids.push_back(known_("[SEP]"));
    return ids;
  }

 private:
  // The longest piece that the vocabulary has, then the longest that goes on, ...; a word with a part that it lacks, or
  // of more than a hundred characters, is unknown.
  void append_pieces(bert::token_ids& ids, std::string const& word) const {
    constexpr std::ptrdiff_t longest = 100;
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    const std::size_t before = ids.size();
    std::string_view left = word;
    while (!left.empty() && std::count_if(word.begin(), word.end(), begins) <= longest) {
      std::size_t length = left.size();
      const auto piece = [&] { return (left.size() < word.size() ? "##" : "") + std::string(left.substr(0, length)); };
      while (length > 0 && !known_.contains(piece())) {
        --length;
        while (length > 0 && !begins(left[length])) --length;
      }
      if (length == 0) break;
      ids.push_back(known_(piece()));
      left.remove_prefix(length);
    }
    if (left.empty()) return;
    ids.resize(before);
    ids.push_back(known_("[UNK]"));
  }

  bert::vocabulary known_;
};

}  // namespace sentences
