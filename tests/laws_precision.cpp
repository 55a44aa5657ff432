// SPDX-License-Identifier: BSL-1.0
// In: N(0, 1) inputs at the size of a real layer. Out: the stated bounds of the error against float64, on a sample
// of the rows: fused attention is no less precise than the best float32 attention that was measured beside it.
// Next: the golden cases.
#include "support/schedules.hpp"

#include <cmath>

using namespace heed;
using namespace test;

namespace {

constexpr int heads = 12, length = 1024, width = 64;
constexpr double bound_of_attention = 5.7e-7;  // absolute; what another library reaches on such inputs
constexpr double bound_of_products = 2e-7;     // relative to the sum of the absolute terms

template <class T> const auto& tensors() {
  struct all {
    tensor<T, head, query, d_head> q = normal<T, head, query, d_head>(1, head{heads}, query{length}, d_head{width});
    tensor<T, head, key, d_head> k = normal<T, head, key, d_head>(2, head{heads}, key{length}, d_head{width});
    tensor<T, head, key, d_head> v = normal<T, head, key, d_head>(3, head{heads}, key{length}, d_head{width});
  };
  static const all one;
  return one;
}

/// The largest absolute error over every 41st row of each head.
template <class T, class Context> double error_of(const Context& got, bool masked) {
  const auto& [q, k, v] = tensors<T>();
  double worst = 0;
  std::vector<double> weights(length);
  for (int h = 0; h < heads; ++h)
    for (int i = h; i < length; i += 41) {
      const int seen = masked ? i + 1 : length;
      double highest = -infinity, total = 0;
      for (int j = 0; j < seen; ++j) {
        double score = 0;
        for (int d = 0; d < width; ++d) score += static_cast<double>(q(h, i, d)) * static_cast<double>(k(h, j, d));
        weights[static_cast<std::size_t>(j)] = score / 8;
        highest = std::max(highest, score / 8);
      }
      for (int j = 0; j < seen; ++j) {
        double& weight = weights[static_cast<std::size_t>(j)];
        weight = std::exp(weight - highest);
        total += weight;
      }
      for (int d = 0; d < width; ++d) {
        double want = 0;
        for (int j = 0; j < seen; ++j) want += weights[static_cast<std::size_t>(j)] * static_cast<double>(v(h, j, d));
        worst = std::max(worst, std::abs(static_cast<double>(got(h, i, d)) - want / total));
      }
    }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_precision)

BOOST_AUTO_TEST_CASE(float_attention) {
  const auto& [q, k, v] = tensors<float>();
  const auto scores = dot<d_head>(q, k) / 8.0;
  const auto full = dot<key>(softmax<key>(scores), v);
  const auto masked = dot<key>(softmax<key>(where(causal<query, key>(), scores)), v);
  for (const schedule how : {fused, unfused}) {
    BOOST_TEST(error_of<float>(evaluate(how, full), false) <= bound_of_attention);
    BOOST_TEST(error_of<float>(evaluate(how, masked), true) <= 2 * bound_of_attention);  // rows of few keys are larger
  }
}

BOOST_AUTO_TEST_CASE(double_attention) {
  const auto& [q, k, v] = tensors<double>();
  const auto context = dot<key>(softmax<key>(where(causal<query, key>(), dot<d_head>(q, k) / 8.0)), v);
  for (const schedule how : {fused, unfused}) BOOST_TEST(error_of<double>(evaluate(how, context), true) <= 1e-14);
}

BOOST_AUTO_TEST_CASE(products) {
  for (const int inner : {64, 768, 4096}) {
    const auto a = normal<float, query, model>(1, query{7}, model{inner});
    const auto b = normal<float, model, hidden>(2, model{inner}, hidden{33});
    for (const regime& each : regimes({2})) {
      const auto got = evaluate(each.policy(), dot<model>(a, b));
      double worst = 0;
      for (int i = 0; i < 7; ++i)
        for (int j = 0; j < 33; ++j) {
          double want = 0, size = 0;
          for (int n = 0; n < inner; ++n) {
            const double term = static_cast<double>(a(i, n)) * static_cast<double>(b(n, j));
            want += term;
            size += std::abs(term);
          }
          worst = std::max(worst, std::abs(static_cast<double>(got(i, j)) - want) / size);
        }
      BOOST_TEST(worst <= bound_of_products, each.name() << ", inner extent " << inner << ": " << worst);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
