// SPDX-License-Identifier: BSL-1.0
// In: grids of doubles. Out: attention and the other words by their definitions, in plain loops over float64.
// It shares no code with the library: where the two agree, neither copied the other's mistake.
// Next: compare.hpp, which says how far a result may stand from a reference.
#pragma once
#include "grid.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

namespace reference {

// ------------------------------------------------------------------------------------------------ attention

/// What may be added to softmax(scale q k) v. Each function takes (batch, head, query, key).
struct attention_terms {
  double scale = 1;
  double cap = infinity;
  std::function<bool(ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t)> keep = [](auto...) { return true; };
  std::function<double(ptrdiff_t, ptrdiff_t, ptrdiff_t, ptrdiff_t)> bias = [](auto...) { return 0.0; };
  std::function<double(ptrdiff_t, ptrdiff_t)> sink = [](auto...) { return -infinity; };  // of (batch, head)
};

struct attention_values {
  grid<4> context;      // [batch, head, query, d_value]
  grid<4> weights;      // [batch, head, query, key]
  grid<3> log_sum_exp;  // [batch, head, query]
};

/// q [batch, head, query, d_head], k [batch, kv_head, key, d_head], v [batch, kv_head, key, d_value]; head h reads the
/// key-value head h / (head / kv_head). A key that is not kept is never read.
inline attention_values attention(const grid<4>& q, const grid<4>& k, const grid<4>& v,
                                  const attention_terms& terms = {}) {
  const auto [batches, heads, queries, width] = q.extents;
  const ptrdiff_t keys = k.extents[2], values = v.extents[3];
  const ptrdiff_t per_group = k.extents[1] == 0 ? 1 : std::max<ptrdiff_t>(1, heads / k.extents[1]);
  attention_values result{grid<4>(batches, heads, queries, values), grid<4>(batches, heads, queries, keys),
                          grid<3>(batches, heads, queries)};
  for (ptrdiff_t b = 0; b < batches; ++b)
    for (ptrdiff_t h = 0; h < heads; ++h)
      for (ptrdiff_t i = 0; i < queries; ++i) {
        const ptrdiff_t kv = h / per_group;
        std::vector<double> scores(static_cast<std::size_t>(keys), -infinity);
        std::vector<bool> kept(static_cast<std::size_t>(keys), false);
        const double sink = terms.sink(b, h);
        double highest = sink;
        for (ptrdiff_t j = 0; j < keys; ++j) {
          const double bias = terms.bias(b, h, i, j);
          if (!terms.keep(b, h, i, j) || bias == -infinity) continue;
          double score = 0;
          for (ptrdiff_t d = 0; d < width; ++d) score += q(b, h, i, d) * k(b, kv, j, d);
          score *= terms.scale;
          if (terms.cap > 0 && terms.cap < infinity) score = terms.cap * std::tanh(score / terms.cap);
          score += bias;
          scores[static_cast<std::size_t>(j)] = score;
          kept[static_cast<std::size_t>(j)] = true;
          highest = std::isnan(score) ? score : std::max(highest, score);
        }
        double total = sink == -infinity ? 0 : std::exp(sink - highest);
        for (ptrdiff_t j = 0; j < keys; ++j)
          if (kept[static_cast<std::size_t>(j)]) total += std::exp(scores[static_cast<std::size_t>(j)] - highest);
        for (ptrdiff_t j = 0; j < keys; ++j) {
          if (!kept[static_cast<std::size_t>(j)]) continue;
          const double weight = std::exp(scores[static_cast<std::size_t>(j)] - highest) / total;
          result.weights(b, h, i, j) = weight;
          for (ptrdiff_t d = 0; d < values; ++d) result.context(b, h, i, d) += weight * v(b, kv, j, d);
        }
        result.log_sum_exp(b, h, i) = total == 0 ? -infinity : highest + std::log(total);
      }
  return result;
}

// ------------------------------------------------------------------------------------------------ products

/// left [rows, inner] times right [inner, columns].
inline grid<2> matmul(const grid<2>& left, const grid<2>& right) {
  return make_grid(
      [&](ptrdiff_t i, ptrdiff_t j) {
        double total = 0;
        for (ptrdiff_t n = 0; n < left.extents[1]; ++n) total += left(i, n) * right(n, j);
        return total;
      },
      left.extents[0], right.extents[1]);
}

// ------------------------------------------------------------------------------------------------ norms, along rows

struct row_statistics {
  double mean = 0, variance = 0, mean_square = 0;
};

inline row_statistics statistics(const grid<2>& x, ptrdiff_t row) {
  row_statistics result;
  const auto width = static_cast<double>(x.extents[1]);
  for (ptrdiff_t j = 0; j < x.extents[1]; ++j) result.mean += x(row, j) / width;
  for (ptrdiff_t j = 0; j < x.extents[1]; ++j) {
    result.variance += (x(row, j) - result.mean) * (x(row, j) - result.mean) / width;
    result.mean_square += x(row, j) * x(row, j) / width;
  }
  return result;
}

inline grid<2> layer_norm(const grid<2>& x, const grid<1>& gamma, const grid<1>& beta, double epsilon = 1e-5) {
  return make_grid(
      [&](ptrdiff_t i, ptrdiff_t j) {
        const row_statistics row = statistics(x, i);
        return (x(i, j) - row.mean) / std::sqrt(row.variance + epsilon) * gamma(j) + beta(j);
      },
      x.extents[0], x.extents[1]);
}

inline grid<2> rms_norm(const grid<2>& x, const grid<1>& gain, double epsilon = 1e-5) {
  return make_grid(
      [&](ptrdiff_t i, ptrdiff_t j) { return x(i, j) / std::sqrt(statistics(x, i).mean_square + epsilon) * gain(j); },
      x.extents[0], x.extents[1]);
}

// ------------------------------------------------------------------------------------------------ rotary positions

/// Rotates the pairs of x [position, width]; a pair is (2n, 2n + 1) if interleaved, else (n, n + width / 2).
inline grid<2> rope(const grid<2>& x, bool interleaved, double base = 10000, ptrdiff_t past = 0) {
  const ptrdiff_t width = x.extents[1], half = width / 2;
  grid<2> result = x;
  for (ptrdiff_t position = 0; position < x.extents[0]; ++position)
    for (ptrdiff_t n = 0; n < half; ++n) {
      const double turn = static_cast<double>(position + past) *
                          std::pow(base, -2.0 * static_cast<double>(n) / static_cast<double>(width));
      const ptrdiff_t first = interleaved ? 2 * n : n, second = interleaved ? 2 * n + 1 : n + half;
      const double a = x(position, first), b = x(position, second);
      result(position, first) = a * std::cos(turn) - b * std::sin(turn);
      result(position, second) = a * std::sin(turn) + b * std::cos(turn);
    }
  return result;
}

// ------------------------------------------------------------------------------------------------ functions

inline double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double silu(double x) { return x * sigmoid(x); }

/// Integer quotient and remainder that round down: -7 / 2 = -4, -7 % 2 = 1.
inline long long quotient_down(long long a, long long b) {
  const long long q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
inline long long remainder_down(long long a, long long b) { return a - quotient_down(a, b) * b; }

}  // namespace reference
}  // namespace test
