// SPDX-License-Identifier: BSL-1.0
// In: words as arguments or lines of the standard input, options (see --help), the weights beside this file.
// Out: how the words are pronounced; where asked for plans, speeds, a picture, figures over a dictionary.
// Next to read: speaker.hpp, where the formulas stand.

#include "dictionary.hpp"
#include "report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

const std::filesystem::path data = PRONOUNCE_DATA;

constexpr std::string_view help = R"(pronounce [OPTION...] [WORD...]
Says how English words are pronounced, in the phonemes of the CMU pronouncing dictionary. Without words and without any
of the options that print something else, the lines of the standard input are the words.

  --beams N         pronunciations that are followed at once; 1 is greedy search   [4]
  --alternatives    all that were followed, with their probabilities
  --schedule S      fused or unfused                                               [fused]
  --model PATH      the weights                                                    [data/weights.safetensors]
  --plan            the plan of an encoder layer and of one step of a decoder layer
  --speed           words per second, fused and unfused
  --picture PATH    where the phonemes of the first word look among its letters (.html or .svg)
  --evaluate PATH   how many words of a dictionary are right, greedy and with the beams
  --first N         only the first words of that dictionary
  --golden PATH     how far the logits are from golden values; fails where that is over 1e-4
  --help            this text
)";

struct options {
  std::vector<std::string> words;
  pronounce::search_options search{.beams = 4};
  heed::policy how;
  std::filesystem::path model = data / "weights.safetensors";
  std::optional<std::filesystem::path> picture, evaluate, golden;
  std::size_t first = std::numeric_limits<std::size_t>::max();
  bool plan = false, speed = false, help = false;
};

struct wrong_option : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

std::size_t number(std::string_view name, std::string_view text, std::size_t most) {
  std::size_t value{};
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || stopped != text.data() + text.size() || value < 1 || value > most)
    throw wrong_option(std::string(name) + " takes a number within 1 to " + std::to_string(most) + ", not '" +
                       std::string(text) + "'");
  return value;
}

options read_options(std::vector<std::string_view> const& arguments) {
  options chosen;
  bool only_words = false;  // after --
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string_view name = arguments[at];
    const auto value = [&] {
      if (at + 1 == arguments.size()) throw wrong_option(std::string(name) + " lacks its value");
      return arguments[++at];
    };
    if (only_words || !name.starts_with("--"))
      chosen.words.emplace_back(name);
    else if (name == "--")
      only_words = true;
    else if (name == "--help")
      chosen.help = true;
    else if (name == "--alternatives")
      chosen.search.alternatives = true;
    else if (name == "--plan")
      chosen.plan = true;
    else if (name == "--speed")
      chosen.speed = true;
    else if (name == "--beams")
      chosen.search.beams = static_cast<heed::extent_t>(number(name, value(), 32));
    else if (name == "--first")
      chosen.first = number(name, value(), std::numeric_limits<std::size_t>::max());
    else if (name == "--model")
      chosen.model = value();
    else if (name == "--picture")
      chosen.picture = value();
    else if (name == "--evaluate")
      chosen.evaluate = value();
    else if (name == "--golden")
      chosen.golden = value();
    else if (name == "--schedule") {
      const std::string_view schedule = value();
      if (schedule != "fused" && schedule != "unfused") throw wrong_option("--schedule is fused or unfused");
      chosen.how.schedule = schedule == "fused" ? heed::fused : heed::unfused;
    } else
      throw wrong_option("there is no option '" + std::string(name) + "'");
  }
  return chosen;
}

// Words that the model can read.
struct readable_words {
  std::vector<std::string> texts;
  std::vector<std::vector<std::int32_t>> letters;
  bool all = true;

  readable_words(pronounce::weights const& w, std::vector<std::string> const& words) {
    for (std::string const& word : words) try {
        letters.push_back(w.spell(word));
        texts.push_back(word);
      } catch (std::invalid_argument const& failure) {
        std::cerr << "pronounce: " << failure.what() << '\n';
        all = false;
      }
  }
};

void say(pronounce::weights const& w, readable_words const& words, options const& chosen) {
  std::size_t width = 0;
  for (std::string const& text : words.texts) width = std::max(width, text.size());
  const auto found = pronounce::search_all(w, words.letters, chosen.search, chosen.how);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (pronounce::pronunciation const& one : found[i]) {
      const bool best = &one == &found[i].front();
      if (!best && (!chosen.search.alternatives || !one.ended)) continue;
      std::cout << std::left << std::setw(static_cast<int>(width)) << (best ? words.texts[i] : "") << ' ' << std::right;
      if (chosen.search.alternatives)
        std::cout << std::fixed << std::setprecision(1) << std::setw(6) << 100 * std::exp(one.log_probability) << " % ";
      for (const std::int32_t p : one.phonemes) std::cout << ' ' << w.phonemes[static_cast<std::size_t>(p)];
      std::cout << '\n';
    }
}

void print_figures(pronounce::weights const& w, options const& chosen) {
  const auto entries = pronounce::read_dictionary(*chosen.evaluate, w, chosen.first);
  std::vector<heed::extent_t> beams{1};
  if (chosen.search.beams > 1) beams.push_back(chosen.search.beams);
  for (const heed::extent_t n : beams) {
    const auto of = pronounce::evaluate_words(w, entries, {.beams = n}, chosen.how);
    std::cout << (n == 1 ? "greedy" : std::to_string(n) + " beams") << ": " << of.exact << " of " << of.words
              << " words exact (" << std::fixed << std::setprecision(2) << of.exact_percent() << " %), " << of.edits
              << " edits in " << of.phonemes << " phonemes (" << of.error_percent() << " %)" << std::endl;
  }
}

bool golden_holds(pronounce::weights const& w, options const& chosen) {
  bool holds = true;
  for (const heed::schedule schedule : {heed::fused, heed::unfused})
    for (const heed::extent_t chunk : {pronounce::longest, heed::extent_t{1}}) {
      const auto difference = pronounce::compare_with_golden(*chosen.golden, w, {.schedule = schedule}, chunk);
      const bool near = difference.logits <= 1e-4 && difference.looks <= 1e-4;
      holds = holds && near;
      std::cout << (schedule == heed::fused ? "fused, " : "unfused, ") << (chunk == 1 ? "step by step" : "all at once")
                << ": logits and cross-attention are " << (near ? "the golden ones within 1e-4" : "others") << '\n';
      std::cerr << "largest differences " << difference.logits << " and " << difference.looks << '\n';
    }
  return holds;
}

std::vector<std::string> read_lines(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

bool run(options const& chosen) {
  const pronounce::weights w(chosen.model);
  const bool asked = chosen.plan || chosen.speed || chosen.picture || chosen.evaluate || chosen.golden;
  std::vector<std::string> given = chosen.words;
  if (given.empty() && !asked) given = read_lines(std::cin);
  if (given.empty() && (chosen.plan || chosen.picture)) given.emplace_back("knowledge");
  const readable_words words(w, given);

  if (!words.texts.empty()) say(w, words, chosen);
  if (chosen.plan && !words.texts.empty()) {
    std::cout << '\n';
    pronounce::print_plans(std::cout, w, words.letters, chosen.search.beams, 4);
  }
  if (chosen.speed) {
    std::vector<std::vector<std::int32_t>> many;
    for (auto const& one : pronounce::read_dictionary(data / "held_out.txt", w, 512)) many.push_back(one.letters);
    std::cout << '\n';
    pronounce::print_speed(std::cout, w, many, {.beams = 1});
  }
  if (chosen.picture && !words.texts.empty()) {
    const auto found = pronounce::search_all(w, {words.letters.front()}, chosen.search, chosen.how);
    pronounce::write_picture(*chosen.picture, w, words.texts.front(), found.front().front());
    std::cout << "\nwhere the phonemes of " << words.texts.front() << " look: " << chosen.picture->string() << '\n';
  }
  if (chosen.evaluate) print_figures(w, chosen);
  return (!chosen.golden || golden_holds(w, chosen)) && words.all;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const options chosen = read_options({arguments + 1, arguments + count});
    if (chosen.help) {
      std::cout << help;
      return 0;
    }
    return run(chosen) ? 0 : 1;
  } catch (wrong_option const& failure) {
    std::cerr << "pronounce: " << failure.what() << "\n(--help shows the options)\n";
    return 2;
  } catch (std::exception const& failure) {
    std::cerr << "pronounce: " << failure.what() << '\n';
    return 1;
  }
}
