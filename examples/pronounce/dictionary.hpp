// SPDX-License-Identifier: BSL-1.0
// In: a text file of words and their pronunciations; what a search found for these words.
// Out: how many words are exact, and how many edits lie between what was found and what is listed.
// Next to read: main.cpp.

#pragma once

#include "search.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace pronounce {

// A line is a word and its pronunciations, with a tab before each; a line that starts with # is a comment.
struct entry {
  std::string text;
  std::vector<std::int32_t> letters;
  std::vector<std::vector<std::int32_t>> listed;
};

inline std::vector<entry> read_dictionary(std::filesystem::path const& path, weights const& w,
                                          std::size_t first = std::numeric_limits<std::size_t>::max()) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < w.phonemes.size(); ++i) numbers[w.phonemes[i]] = static_cast<std::int32_t>(i);

  std::vector<entry> entries;
  for (std::string line; entries.size() < first && std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> fields = split_text(line, '\t');
    entry one{.text = fields.front(), .letters = w.spell(fields.front()), .listed = {}};
    for (std::size_t i = 1; i < fields.size(); ++i) {
      auto& listed = one.listed.emplace_back();
      for (std::string const& name : split_text(fields[i], ' ')) {
        const auto found = numbers.find(name);
        if (found == numbers.end()) throw std::runtime_error(path.string() + ": there is no phoneme " + name);
        listed.push_back(found->second);
      }
    }
    if (one.listed.empty()) throw std::runtime_error(path.string() + ": no pronunciation of " + one.text);
    entries.push_back(std::move(one));
  }
  return entries;
}

// Insertions, deletions and replacements that make one of the other (Levenshtein 1966).
inline std::int64_t edit_distance(std::vector<std::int32_t> const& a, std::vector<std::int32_t> const& b) {
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::int64_t{0});
  for (const std::int32_t one : a) {
    std::int64_t diagonal = row[0]++;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::int64_t replaced = diagonal + (one == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({diagonal + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

// A word counts against the nearest of its listed pronunciations, of several against the shortest.
struct figures {
  std::int64_t words = 0, exact = 0, edits = 0, phonemes = 0;

  void count(entry const& word, std::vector<std::int32_t> const& found) {
    std::pair best{std::numeric_limits<std::int64_t>::max(), std::int64_t{0}};
    for (auto const& listed : word.listed)
      best = std::min(best, {edit_distance(found, listed), static_cast<std::int64_t>(listed.size())});
    words += 1, exact += best.first == 0, edits += best.first, phonemes += best.second;
  }
  double exact_percent() const { return 100. * static_cast<double>(exact) / static_cast<double>(words); }
  double error_percent() const { return 100. * static_cast<double>(edits) / static_cast<double>(phonemes); }
};

inline figures evaluate_words(weights const& w, std::vector<entry> const& entries, search_options const& options,
                              heed::policy const& how = {}) {
  std::vector<std::vector<std::int32_t>> words;
  for (entry const& one : entries) words.push_back(one.letters);
  const auto found = search_all(w, words, options, how);
  figures result;
  for (std::size_t i = 0; i < entries.size(); ++i) result.count(entries[i], found[i].front().phonemes);
  return result;
}

}  // namespace pronounce
