// SPDX-License-Identifier: BSL-1.0
// links: benchmark
// In: nothing, or Google Benchmark's flags. Out: attention as models run it: prefill, short and tiny sequences, cross attention,
// decoding, chunks of a prompt. Prefill as a share of the multiply-add peak of all its threads (causal: of half the work),
// decoding as a share of what reading keys and values once takes.
// Next to read: edits.cpp, what masks and biases cost, or tiles.cpp, the kernels alone.
#include "inputs.hpp"
#include "measure.hpp"

using namespace bench;

namespace {

template <class Inputs> job full(Inputs const& in) {
  return of_operations(runs(attend(in.scores(), in.v)), in.shape.operations());
}
template <class Inputs> job unfused(Inputs const& in) {
  return of_operations(runs(attend(in.scores(), in.v), heed::unfused), in.shape.operations());
}
/// The diagonal ends at the last key.
template <class Inputs> job causal(Inputs const& in) {
  auto const [queries, keys] = std::pair(in.shape.queries, in.shape.keys);
  auto const past = keys - queries;
  double const part = (static_cast<double>(past) + static_cast<double>(queries + 1) / 2) / static_cast<double>(keys);
  return of_operations(runs(attend(heed::where(heed::causal<query, key>(past), in.scores()), in.v)),
                       part * in.shape.operations());
}

template <class Inputs> void prefill(std::string const& name, shape const& s, setting const& how = {}) {
  compare<Inputs>(name, s, {{"full", full<Inputs>}, {"causal", causal<Inputs>}, {"unfused", unfused<Inputs>}}, how);
}

/// One type of cache for each formula; the queries are float.
template <template <class> class Inputs, class T> job decode_with(shape const& s) {
  Inputs<T> const in(s);
  return of_bytes(runs(attend(in.scores(), in.v)), s.cached_numbers() * sizeof(T));
}
template <template <class> class Inputs> void decode(std::string const& name, shape const& s) {
  compare<shape>(name, s,
                 {{"float", decode_with<Inputs, float>},
                  {"bf16", decode_with<Inputs, heed::bf16>},
                  {"f16", decode_with<Inputs, heed::f16>}});
}

/// The rows from 4096 - queries on of a causal prompt, against all of its keys: compared with the chunk that fills its last
/// vector of queries.
void chunks() {
  std::vector<formula<shape>> formulas;
  for (extent_t const queries : {1, 2, 4, 8, 12, 16, 17, 24, 32, 33, 48, 49, 64}) {
    extent_t const lanes = width<float>;
    std::string const whole = "queries:" + std::to_string((queries + lanes - 1) / lanes * lanes);
    auto const make = [queries](shape s) {
      s.queries = queries;
      job j = causal(groups_of<float>(s));
      j.items = static_cast<double>(queries);
      return j;
    };
    formulas.push_back({"queries:" + std::to_string(queries), make, whole});
  }
  compare<shape>("chunk", shape{1, 32, 64, 4096, 128, 8}, formulas, {.seconds = 3});
}

}  // namespace

int main(int count, char** arguments) {
  prefill<heads_of<>>("prefill", {1, 12, 1024, 1024, 64});
  prefill<heads_of<>>("prefill", {1, 12, 4096, 4096, 64});
  prefill<heads_of<>>("prefill", {1, 32, 2048, 2048, 128});
  prefill<groups_of<>>("prefill", {1, 32, 2048, 2048, 128, 8});
  prefill<heads_of<>>("short", {32, 8, 100, 100, 64});
  prefill<heads_of<>>("tiny", {64, 4, 16, 16, 16});
  prefill<heads_of<>>("cross", {8, 8, 128, 512, 64});
  for (extent_t const batch : {1, 8}) {
    decode<groups_of>("decode", {batch, 32, 1, 4096, 128, 8});
    decode<heads_of>("decode", {batch, 32, 1, 4096, 128});
  }
  decode<heads_of>("decode", {1, 32, 1, 16, 128});
  decode<heads_of>("decode", {1, 1, 1, 65536, 128});
  chunks();
  return bench::run(count, arguments);
}
