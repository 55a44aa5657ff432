// SPDX-License-Identifier: BSL-1.0
// In: a reaction in SMILES, reactants>>products. Out: the tokens that the model reads, and where which atoms stand.
// Next to read: pipeline.hpp.
#pragma once

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace reaction_map {

// A token is a bracket atom [...], Br, Cl, the arrow >>, a ring number %nn or one character.
inline std::vector<std::string> tokens_of(std::string_view smiles) {
  std::vector<std::string> tokens;
  while (!smiles.empty()) {
    std::size_t length = 1;
    if (smiles.front() == '[' && smiles.find(']') != smiles.npos)
      length = smiles.find(']') + 1;
    else if (smiles.starts_with("Br") || smiles.starts_with("Cl") || smiles.starts_with(">>"))
      length = 2;
    else if (smiles.front() == '%' && smiles.size() >= 3)
      length = 3;
    tokens.emplace_back(smiles.substr(0, length));
    smiles.remove_prefix(length);
  }
  return tokens;
}

// The element of a token in lower case, for aromatic atoms are written so; empty where it is no atom.
inline std::string element_of(std::string const& token) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  std::size_t at = 0;
  if (token[at] == '[') at = std::min(token.find_first_not_of("0123456789", 1), token.size());  // behind the isotope
  if (at == token.size() || !is_letter(token[at])) return {};
  std::string element(1, lower(token[at]));
  if (at + 1 < token.size() && is_letter(token[at + 1]) && lower(token[at + 1]) == token[at + 1])
    element += token[at + 1];
  return element;
}

// A reaction as the model reads it, [CLS] tokens [SEP], and where its atoms stand.
struct reaction {
  std::vector<std::string> tokens;
  std::vector<std::string> elements;  // empty where there is no atom
  std::size_t arrow;

  explicit reaction(std::string const& smiles) : tokens(tokens_of(smiles)) {
    const auto found = std::find(tokens.begin(), tokens.end(), ">>");
    if (found == tokens.end()) throw std::invalid_argument("there is no >> in the reaction " + smiles);
    tokens.insert(tokens.begin(), "[CLS]");
    tokens.push_back("[SEP]");
    for (std::string const& each : tokens)
      elements.push_back(each == "[CLS]" || each == "[SEP]" ? "" : element_of(each));
    arrow = static_cast<std::size_t>(std::find(tokens.begin(), tokens.end(), ">>") - tokens.begin());
  }
  bool alike(std::size_t product, std::size_t reactant) const {
    return product > arrow && reactant < arrow && !elements[product].empty() && elements[product] == elements[reactant];
  }
};

}  // namespace reaction_map
