// SPDX-License-Identifier: BSL-1.0
// In: sentences, and the folder of all-MiniLM-L6-v2. Out: how alike the sentences are, from -1 to 1; with --golden, how
// near their embeddings are to those in a file.
// Next to read: pipeline.hpp.

#include "pipeline.hpp"

#include <iomanip>
#include <iostream>
#include <limits>

namespace {

constexpr std::string_view help = R"(How alike sentences are.

  sentences [--model FOLDER] [SENTENCE...]    [$HEED_DATA/all-MiniLM-L6-v2, and four sentences]
  sentences [--model FOLDER] --golden FILE    fails unless embeddings and token ids are those of FILE

The folder has model.safetensors and vocab.txt, as sentence-transformers/all-MiniLM-L6-v2 is published.
)";

void print_likeness(sentences::encoder const& encode, std::vector<std::string> const& texts) {
  using namespace heed;
  struct other : axis<> {};
  const sentences::sentence_embeddings e = encode.embed(texts);
  const tensor<float, sentences::batch, other> alike =
      evaluate(dot<sentences::model<sentences::model_width>>(e, rename<sentences::batch, other>(e)));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = 0; j < texts.size(); ++j)
      std::cout << std::fixed << std::setprecision(2) << std::setw(6) << alike(i, j);
    std::cout << "  " << texts[i] << '\n';
  }
}

// The file has embeddings [sentence, model], the token ids of each sentence, and the sentences as metadata.
bool agrees(sentences::encoder const& encode, std::filesystem::path const& path) {
  using namespace heed;
  struct text : axis<> {};
  struct piece : axis<> {};
  using width = sentences::model<sentences::model_width>;
  const io::safetensors_file file(path);
  const tensor golden = file.read<float, sentences::batch, width>("embeddings");

  std::vector<std::string> texts;
  bool same = true;
  for (auto const& [key, sentence] : file.metadata()) {
    if (!key.starts_with("sentence ")) continue;
    texts.push_back(sentence);
    const tensor ids = file.read<std::int32_t, piece>("ids " + key.substr(9));
    if (const auto found = encode.ids_of(sentence); !std::ranges::equal(ids, found)) {
      std::cerr << "other tokens than the golden ones: " << sentence << '\n';
      same = false;
    }
  }
  const tensor<float, sentences::batch> cosine = evaluate(dot<width>(encode.embed(texts), golden));
  const float least = *std::ranges::min_element(cosine);
  std::cerr << texts.size() << " sentences, the least cosine with a golden embedding is 1 - "
            << static_cast<double>(1 - least) << '\n';
  return same && least > 0.99999F;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    std::filesystem::path folder = bert::data_folder("all-MiniLM-L6-v2"), golden;
    std::vector<std::string> texts;
    for (int at = 1; at < count; ++at) {
      const std::string_view argument = arguments[at];
      if (argument == "--help") return std::cout << help, 0;
      if ((argument == "--model" || argument == "--golden") && at + 1 < count)
        (argument == "--model" ? folder : golden) = arguments[++at];
      else
        texts.emplace_back(argument);
    }
    if (texts.empty())
      texts = {"That is a happy person", "That is a very happy dog", "This person is glad", "Today is a sunny day"};
    const sentences::encoder encode(folder);
    if (!golden.empty()) return agrees(encode, golden) ? 0 : 1;
    print_likeness(encode, texts);
    return 0;
  } catch (std::exception const& failure) {
    std::cerr << "sentences: " << failure.what() << '\n';
    return 1;
  }
}
