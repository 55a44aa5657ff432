// SPDX-License-Identifier: BSL-1.0
// In: sentences.txt, and the folder of all-MiniLM-L6-v2 in the environment's HEED_BENCH_MODEL. Out: the tokens of the
// sentences, and examples/sentences as an implementation that embeds them.
// Next to read: libraries.cpp, the other libraries.
#include "../../examples/sentences/pipeline.hpp"
#include "heed_run.hpp"

#include <cstdlib>

namespace peers {
namespace {

std::filesystem::path model_folder() {
  char const* const folder = std::getenv("HEED_BENCH_MODEL");
  if (folder == nullptr || *folder == 0) throw unsupported("sentences without a model");
  return folder;
}

}  // namespace

arrays sentences_of(cell& c) {
  auto const texts = bert::lines_of("sentences.txt");
  if (c.batch > std::ssize(texts)) throw std::runtime_error("sentences.txt has fewer sentences");
  sentences::encoder const encode(model_folder());
  std::vector<bert::token_ids> ids;
  for (std::int64_t b = 0; b < c.batch; ++b) ids.push_back(encode.ids_of(texts[static_cast<std::size_t>(b)]));
  bert::padded_batch const padded(ids);
  c.queries = c.keys = padded.ids.extent<bert::query>();
  return {{"ids", {padded.ids.begin(), padded.ids.end()}}, {"lengths", {padded.lengths.begin(), padded.lengths.end()}}};
}

implementation heed_sentences(cell const& c, arrays const& in, bool fused) {
  std::vector<bert::token_ids> ids;
  for (std::int64_t b = 0; b < c.batch; ++b) {
    auto const first = in.at("ids").begin() + b * c.queries;
    ids.emplace_back(first, first + static_cast<std::int64_t>(in.at("lengths")[static_cast<std::size_t>(b)]));
  }
  struct state {
    sentences::encoder encode;
    bert::padded_batch input;
    sentences::sentence_embeddings out;
    heed::workspace memory;

    explicit state(std::vector<bert::token_ids> const& sequences) : encode(model_folder()), input(sequences) {}
  };
  auto const st = std::make_shared<state>(ids);
  auto const schedule = fused ? heed::fused : heed::unfused;
  return {.run =
              [=](int threads) {
                st->out =
                    st->encode.embed(st->input, {.schedule = schedule, .threads = threads, .memory = &st->memory});
              },
          .result = [=] { return std::span<float const>(st->out.data(), static_cast<std::size_t>(st->out.size())); }};
}

}  // namespace peers
