// SPDX-License-Identifier: BSL-1.0
// In: the weights (model.hpp), words, a file of golden values.
// Out: the plans of the layers, the speed of both schedules, a picture of the cross-attention, how far the logits are
// from the golden ones.
// Next to read: main.cpp.

#pragma once

#include "search.hpp"
#include <heed/io/heatmap.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

namespace pronounce {

// The plan of an encoder layer, and that of a decoder layer at the step after `so_far` phonemes.
inline void print_plans(std::ostream& out, weights const& w, std::vector<std::vector<std::int32_t>> const& words,
                        heed::extent_t beams, heed::extent_t so_far) {
  using namespace heed;
  const spelled_words spelled(words);
  const extent_t count = spelled.letters.extent<word>(), letters = spelled.letters.extent<letter>();
  const tensor<float, word, letter, model> read{word{count}, letter{letters}};
  out << "an encoder layer, " << count << (count == 1 ? " word of " : " words of ") << letters
      << " letters at most, their end included\n"
      << explain(encode_layer(read, spelled.lengths, w.encoder.front()));

  memory projected{tensor<float, word, letter, head, d_head>{word{count}, letter{letters}},
                   tensor<float, word, letter, head, d_head>{word{count}, letter{letters}}};
  cache keys{past{longest}, word{count}, beam{beams}};
  const auto layer = [&](extent_t steps) {
    const tensor<float, word, beam, step, model> written{word{count}, beam{beams}, step{steps}};
    return decode_layer(written, projected, spelled.lengths, w.decoder.front(), keys);
  };
  if (so_far > 0) (void)layer(so_far);  // writing the formula appends its keys and values
  out << "\na decoder layer, " << beams << (beams == 1 ? " beam" : " beams") << " a word, the step after " << so_far
      << " phonemes (its keys and values are in the cache)\n"
      << explain(layer(1));
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Greedy search of the same words by both schedules in turn, for about two seconds.
inline void print_speed(std::ostream& out, weights const& w, std::vector<std::vector<std::int32_t>> const& words,
                        search_options const& options) {
  using clock = std::chrono::steady_clock;
  std::vector<double> fused, unfused;
  const auto run = [&](heed::schedule schedule) {
    const auto start = clock::now();
    (void)search_all(w, words, options, {.schedule = schedule});
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  (void)run(heed::fused), (void)run(heed::unfused);  // to warm up
  const auto start = clock::now();
  do {
    fused.push_back(run(heed::fused));
    unfused.push_back(run(heed::unfused));
  } while (clock::now() - start < std::chrono::seconds(2));

  const auto line = [&](const char* name, double seconds) {
    out << std::setw(8) << name << ": " << std::fixed << std::setprecision(0) << std::setw(6)
        << static_cast<double>(words.size()) / seconds << " words per second\n";
  };
  out << words.size() << " words, " << std::min(words.size(), options.batch) << " at once, "
      << (options.beams == 1 ? "greedy" : std::to_string(options.beams) + " beams") << ", median of " << fused.size()
      << '\n';
  line("fused", median(fused)), line("unfused", median(unfused));
  out << "fusing makes it " << std::setprecision(2) << median(unfused) / median(fused) << " times as fast\n";
}

// Where the phonemes of a pronunciation look in their word, as a page or a picture by the ending of the path.
inline void write_picture(std::filesystem::path const& path, weights const& w, std::string const& text,
                          pronunciation const& spoken) {
  using namespace heed;
  struct layer : axis<> {};
  const auto letters = w.spell(text);
  const auto steps = static_cast<extent_t>(spoken.phonemes.size()) + 1;
  tensor<std::int32_t, word, beam, step> given{word{1}, beam{1}, step{steps}};
  std::ranges::copy(spoken.phonemes, given.begin() + 1);
  reading reader(w, spelled_words({letters}), 1);
  const auto found = reader.looks(given);
  tensor<float, layer, head, step, letter> all{layer{found.size()}, step{steps}, letter{letters.size()}};
  auto to = all.begin();
  for (auto const& one : found) {
    const tensor<float, head, step, letter> of_layer = evaluate<head, step, letter>(at<beam>(at<word>(one, 0), 0));
    to = std::ranges::copy(of_layer, to).out;
  }

  io::heatmap_text labels{.title = "How " + text + " is pronounced",
                          .note = "Cross-attention: the row of a phoneme shows which letters it was read from."};
  for (const char c : text) labels.keys.emplace_back(1, c);
  labels.keys.emplace_back("end");
  for (const std::int32_t p : spoken.phonemes) labels.queries.push_back(w.phonemes[static_cast<std::size_t>(p)]);
  labels.queries.emplace_back("end");
  io::write_heatmap(path, all, labels);
}

struct golden_difference {
  double logits = 0, looks = 0;
};

// The largest differences from golden values, which were computed word by word without padding: here all words are one
// batch, and the steps are taken `chunk` at once.
inline golden_difference compare_with_golden(std::filesystem::path const& path, weights const& w,
                                             heed::policy const& how, heed::extent_t chunk) {
  using namespace heed;
  const io::safetensors_file file(path);
  const tensor letters = file.read<std::int32_t, word, letter>("letters");
  const tensor lengths = file.read<std::int32_t, word>("lengths", word{letters.extent<word>()});
  const tensor given = file.read<std::int32_t, word, step>("given", word{letters.extent<word>()});
  const tensor steps = file.read<std::int32_t, word>("steps", word{letters.extent<word>()});
  const tensor logits = file.read<float, word, step, phoneme>("logits");
  const tensor looks = file.read<float, word, step, head, letter>("looks");

  std::vector<std::vector<std::int32_t>> words;
  for (extent_t i = 0; i < letters.extent<word>(); ++i) words.emplace_back(&letters(i, 0), &letters(i, 0) + lengths(i));
  reading reader(w, spelled_words(words), 1, how), looking = reader;
  golden_difference most;
  const auto widen = [](double& difference, float a, float b) {
    const double d = std::abs(static_cast<double>(a) - static_cast<double>(b));
    if (!(d <= difference)) difference = d;  // a NaN stays
  };
  for (extent_t from = 0; from < given.extent<step>(); from += chunk) {
    const extent_t to = std::min(from + chunk, given.extent<step>());
    tensor<std::int32_t, word, beam, step> part{word{words.size()}, beam{1}, step{to - from}};
    for (extent_t i = 0; i < given.extent<word>(); ++i)
      for (extent_t s = from; s < to; ++s) part(i, 0, s - from) = given(i, s);
    const tensor got = reader.logits(part);
    const tensor looked = looking.looks(part).back();
    for (extent_t i = 0; i < given.extent<word>(); ++i)
      for (extent_t s = from; s < std::min<extent_t>(to, steps(i)); ++s) {
        for (extent_t p = 0; p < phoneme::static_extent; ++p)
          widen(most.logits, got(i, 0, s - from, p), logits(i, s, p));
        for (extent_t h = 0; h < head::static_extent; ++h)
          for (extent_t l = 0; l < letters.extent<letter>(); ++l)
            widen(most.looks, looked(i, 0, s - from, h, l), looks(i, s, h, l));
      }
  }
  return most;
}

}  // namespace pronounce
