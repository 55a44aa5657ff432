// SPDX-License-Identifier: BSL-1.0
// In: two units that were compiled for different instruction sets. Out: whether both, linked into one program, compute what
// the formula says. (That they share no function compiled for one of them is checked by tools/check_units.)
#include "unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int positions = 37;

template <class T> T filled(T tensor, double phase) {
  int i = 0;
  for (float& element : tensor) element = static_cast<float>(std::sin(phase + 0.7 * i++));
  return tensor;
}

double largest_error(queries const& found, queries const& q, keys const& k, keys const& v) {
  double largest = 0;
  for (int i = 0; i < positions; ++i) {
    std::vector<double> weight(positions);
    double total = 0;
    for (int j = 0; j <= i; ++j) {
      double score = 0;
      for (int d = 0; d < 16; ++d) score += static_cast<double>(q(i, d)) * static_cast<double>(k(j, d));
      total += weight[static_cast<std::size_t>(j)] = std::exp(score * 0.25);
    }
    for (int d = 0; d < 16; ++d) {
      double context = 0;
      for (int j = 0; j <= i; ++j) context += weight[static_cast<std::size_t>(j)] * static_cast<double>(v(j, d));
      largest = std::max(largest, std::abs(context / total - static_cast<double>(found(i, d))));
    }
  }
  return largest;
}

template <class Attention, class Refuses> bool right(char const* name, Attention attention, Refuses refuses) {
  queries const q = filled(queries{query{positions}}, 0.1);
  keys const k = filled(keys{key{positions}}, 0.2), v = filled(keys{key{positions}}, 0.3);
  bool good = true;
  for (heed::schedule const schedule : {heed::fused, heed::unfused}) {
    double const error = largest_error(attention(q, k, v, heed::policy{.schedule = schedule}), q, k, v);
    std::printf("%s: largest error %.2e\n", name, error);
    good = good && error < 1e-6;
  }
  return good && refuses(q, keys{key{positions + 1}}) && !refuses(q, k);
}

}  // namespace

int main() {
  bool good = right("sse", unit_sse::attention, unit_sse::refuses);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    good = right("avx2", unit_avx2::attention, unit_avx2::refuses) && good;
  return good ? 0 : 1;
}
