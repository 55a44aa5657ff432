// SPDX-License-Identifier: BSL-1.0
// In: a folder with encoder.safetensors, vocab.txt and reactions.txt [$HEED_DATA/rxnmapper]. Out: each reaction, and
// below it every atom of its products with the number of the reactant atom that it comes from.
// The last program of a ladder: multi_head.cpp writes attention by hand, encoder.cpp makes layers of heed::nn, this one
// loads a trained model. Next to read: pipeline.hpp.

#include "pipeline.hpp"

#include <cmath>
#include <iostream>

namespace {

namespace rm = reaction_map;

void print_maps(rm::mapper const& mapper, std::vector<std::string> const& smiles) {
  constexpr std::size_t most = 8;  // reactions a batch
  for (std::size_t first = 0; first < smiles.size(); first += most) {
    const std::size_t count = std::min(most, smiles.size() - first);
    std::vector<rm::reaction> reactions;
    for (std::size_t i = first; i < first + count; ++i) reactions.emplace_back(smiles[i]);
    const auto maps = mapper.maps(reactions);
    for (std::size_t i = 0; i < count; ++i) {
      std::cout << smiles[first + i] << "\n ";
      for (auto const& [token, from] : maps[i])
        std::cout << ' ' << token << '<' << (from ? std::to_string(*from) : "?");
      std::cout << '\n';
    }
  }
}

// The largest distance of the map's weights for the first reaction from golden.safetensors, where that is there. The
// reaction runs beside the last one, the longest, so most of its row is padding.
double distance_from_golden(rm::mapper const& mapper, std::filesystem::path const& path,
                            std::vector<std::string> const& smiles) {
  struct golden_query : heed::axis<> {};
  struct golden_key : heed::axis<> {};
  const heed::io::safetensors_file file(path);
  const heed::tensor golden = file.read<float, golden_query, golden_key>("layer10_head5_probs");
  const rm::padded_batch input(
      {mapper.ids_of(rm::reaction(smiles.front())), mapper.ids_of(rm::reaction(smiles.back()))});
  const rm::weights_by_position looks = mapper.encode(input).second;
  double largest = 0;
  for (heed::extent_t i = 0; i < golden.extent<golden_query>(); ++i)
    for (heed::extent_t j = 0; j < golden.extent<golden_key>(); ++j)
      largest = std::max(largest, std::abs(static_cast<double>(looks(0, i, j)) - static_cast<double>(golden(i, j))));
  return largest;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const std::filesystem::path folder = count > 1 ? arguments[1] : rm::data_folder("rxnmapper");
    const rm::mapper mapper(folder);
    const std::vector<std::string> smiles = rm::lines_of(folder / "reactions.txt");
    print_maps(mapper, smiles);

    const auto golden = folder / "golden.safetensors";
    if (smiles.empty() || !std::filesystem::exists(golden)) return 0;
    const double distance = distance_from_golden(mapper, golden, smiles);
    std::cerr << "weights of the map: within " << distance << " of the golden ones\n";
    return distance < 1e-5 ? 0 : 1;
  } catch (std::exception const& failure) {
    std::cerr << "reaction_map: " << failure.what() << '\n';
    return 1;
  }
}
