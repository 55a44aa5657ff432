// SPDX-License-Identifier: BSL-1.0
// In: vocab.txt, a token a line, and token ids by sequence. Out: the id of a token; and sequences of unequal length as
// one padded batch.
// Next to read: layer.hpp, the formula over such a batch.
#pragma once

#include <heed/io/file.hpp>
#include <heed/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bert {

struct batch : heed::axis<> {};  // the sequences that are computed together
struct query : heed::axis<> {};  // the positions of a sequence
struct key : heed::axis<> {};    // the same positions where they are attended to

using token_ids = std::vector<std::int32_t>;

// The folder NAME of trained models in $HEED_DATA, else in ../shared/data.
inline std::filesystem::path data_folder(const char* name) {
  const char* named = std::getenv("HEED_DATA");
  return std::filesystem::path(named != nullptr && *named != '\0' ? named : "../shared/data") / name;
}

// The lines of a text file.
inline std::vector<std::string> lines_of(std::filesystem::path const& path) {
  std::ifstream file(path);
  if (!file) throw heed::io::file_error(path.string() + ": cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// Tokens by their text. [UNK] stands for what is not in it.
class vocabulary {
 public:
  explicit vocabulary(std::vector<std::string> const& tokens) {
    for (std::size_t id = 0; id < tokens.size(); ++id) ids_.emplace(tokens[id], static_cast<std::int32_t>(id));
    for (const char* const special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"})
      if (!ids_.contains(special))
        throw std::invalid_argument(std::string("the vocabulary has no token ") + special + "; is it a BERT's?");
    unknown_ = ids_.at("[UNK]");
  }

  bool contains(std::string const& token) const { return ids_.contains(token); }
  std::int32_t operator()(std::string const& token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? unknown_ : found->second;
  }

 private:
  std::unordered_map<std::string, std::int32_t> ids_;
  std::int32_t unknown_ = 0;
};

// Sequences side by side. Behind its length a sequence is padded with token 0, which nothing attends to.
struct padded_batch {
  heed::tensor<std::int32_t, batch, query> ids;
  heed::tensor<std::int64_t, batch> lengths;

  explicit padded_batch(std::vector<token_ids> const& sequences)
      : ids(batch{sequences.size()}, query{longest(sequences)}),
        lengths(batch{sequences.size()}) {
    for (heed::extent_t b = 0; b < lengths.size(); ++b) {
      const token_ids& sequence = sequences[static_cast<std::size_t>(b)];
      lengths(b) = static_cast<std::int64_t>(sequence.size());
      std::copy(sequence.begin(), sequence.end(), &ids(b, 0));
    }
  }

 private:
  static std::size_t longest(std::vector<token_ids> const& sequences) {
    std::size_t longest = 0;
    for (const token_ids& sequence : sequences) longest = std::max(longest, sequence.size());
    return longest;
  }
};

}  // namespace bert
