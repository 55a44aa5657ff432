// SPDX-License-Identifier: BSL-1.0
// In: N(0, 1) queries, keys and values. Out: how far attention in float32 is from float64: as a textbook writes it, as
// heed runs it fused, and unfused. Ends with 1 where heed is further off: by a tenth on average, or by half in the worst
// element.
// Next to read: ../docs/guarantees.md, which cites the figures; tests/laws_precision.cpp holds the bound.

#include <heed/heed.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct head : heed::axis<4> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<64> {};
using queries = heed::tensor<float, head, query, d_head>;
using keys = heed::tensor<float, head, key, d_head>;

/// softmax(scale q k) v of one row in plain loops over Real, the maximum subtracted; the first `seen` keys.
template <class Real>
std::vector<Real> textbook_row(const float* q, const float* k, const float* v, int seen, Real scale) {
  constexpr int width = 64;
  std::vector<Real> weights(static_cast<std::size_t>(seen)), context(width);
  for (int j = 0; j < seen; ++j) {
    Real score = 0;
    for (int d = 0; d < width; ++d) score += static_cast<Real>(q[d]) * static_cast<Real>(k[j * width + d]);
    weights[static_cast<std::size_t>(j)] = score * scale;
  }
  const Real highest = *std::max_element(weights.begin(), weights.end());
  Real total = 0;
  for (Real& weight : weights) total += weight = std::exp(weight - highest);
  for (int j = 0; j < seen; ++j) {
    const Real weight = weights[static_cast<std::size_t>(j)] / total;
    for (std::size_t d = 0; d < width; ++d)
      context[d] += weight * static_cast<Real>(v[j * width + static_cast<int>(d)]);
  }
  return context;
}

struct error {
  double largest = 0, sum = 0, count = 0;
  void add(double got, double want) {
    largest = std::max(largest, std::abs(got - want));
    sum += std::abs(got - want);
    ++count;
  }
};

bool compare(std::string_view title, const queries& q, const keys& k, const keys& v, double scale, bool causal) {
  using namespace heed;
  const int length = static_cast<int>(k.extent<key>()), rows = static_cast<int>(q.extent<query>());
  const auto keep = index<key>() <= index<query>() + (causal ? 0 : length);
  const auto context = dot<key>(softmax<key>(where(keep, dot<d_head>(q, k) * scale)), v);
  const queries one = evaluate(context), other = evaluate(unfused, context);
  error textbook, fused_error, unfused_error;
  for (int h = 0; h < 4; ++h)
    for (int i = 0; i < rows; i += 7) {
      const int seen = causal ? std::min(i + 1, length) : length;
      const float *row = &q(h, i, 0), *first_key = &k(h, 0, 0), *first_value = &v(h, 0, 0);
      const auto want = textbook_row<double>(row, first_key, first_value, seen, scale);
      const auto plain = textbook_row<float>(row, first_key, first_value, seen, static_cast<float>(scale));
      for (int d = 0; d < 64; ++d) {
        textbook.add(plain[static_cast<std::size_t>(d)], want[static_cast<std::size_t>(d)]);
        fused_error.add(one(h, i, d), want[static_cast<std::size_t>(d)]);
        unfused_error.add(other(h, i, d), want[static_cast<std::size_t>(d)]);
      }
    }
  std::cout << std::left << std::setw(24) << title << std::scientific << std::setprecision(1);
  for (const error& each : {textbook, fused_error, unfused_error})
    std::cout << "  " << each.largest << "  " << each.sum / each.count;
  std::cout << '\n';
  bool holds = true;
  for (const error& each : {fused_error, unfused_error})
    holds &= each.largest <= 1.5 * textbook.largest && each.sum <= 1.1 * textbook.sum;
  return holds;
}

}  // namespace

int main() {
  std::cout << "error against float64     textbook: max, mean   fused: max, mean     unfused: max, mean\n";
  std::mt19937 generator(1706);
  std::normal_distribution<float> normal;
  bool holds = true;
  for (const int length : {128, 1024, 4096}) {
    queries q{query{std::min(length, 512)}};
    keys k{key{length}}, v{key{length}};
    for (float& element : q) element = normal(generator);
    for (float& element : k) element = normal(generator);
    for (float& element : v) element = normal(generator);
    const std::string keys_of = std::to_string(length) + " keys";
    holds &= compare(keys_of, q, k, v, 0.125, false);
    holds &= compare(keys_of + ", sharp", q, k, v, 1, false);
    if (length <= 1024) holds &= compare(keys_of + ", causal", q, k, v, 0.125, true);
  }
  return holds ? 0 : 1;
}
