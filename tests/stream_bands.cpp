// SPDX-License-Identifier: BSL-1.0
// In: feed-forward networks wide enough that their hidden rows are computed in bands, up to several of them. Out: what loops
// over float64 say, and for every row the bits that it gets alone, for every number of threads; what excludes streams as before.
// Next: nn_feed_forward.cpp, the layers made of it.
#include "support/parameters.hpp"
#include "support/schedules.hpp"

using namespace heed;
using namespace test;

namespace {

struct out : axis<> {};

/// One row of dot<hidden>(gelu(dot<model>(x, w_1) + b), w_2), in float64; hidden units with a bias of -infinity left out.
template <class X, class W, class B, class V>
std::vector<double> row_of(const X& x, extent_t row, const W& w_1, const B& b, const V& w_2) {
  std::vector<double> y(static_cast<std::size_t>(w_2.template extent<out>()));
  for (extent_t h = 0; h < b.size(); ++h) {
    double s = static_cast<double>(b(h));
    if (std::isinf(s)) continue;
    for (extent_t m = 0; m < w_1.template extent<model>(); ++m)
      s += static_cast<double>(x(row, m)) * static_cast<double>(w_1(m, h));
    const double weight = reference::gelu(s);
    for (std::size_t o = 0; o < y.size(); ++o) y[o] += weight * static_cast<double>(w_2(h, static_cast<extent_t>(o)));
  }
  return y;
}

template <class T> struct network {
  tensor<T, model, hidden> w_1;
  tensor<T, hidden, out> w_2;
  tensor<float, hidden> b;
  network(extent_t width, extent_t inner, extent_t outer)
      : w_1(normal<T, model, hidden>(2, model{width}, hidden{inner})),
        w_2(normal<T, hidden, out>(3, hidden{inner}, out{outer})),
        b(normal<float, hidden>(4, hidden{inner})) {}
  template <class X> auto operator()(const X& x) const {
    return dot<hidden>(gelu(dot<model>(x, w_1) / std::sqrt(static_cast<float>(w_1.template extent<model>())) + b), w_2);
  }
};

template <class E> bool in_bands(const E& e) {
  const auto plan = explain(e);
  return plan.stages.back().streamed.find("band") != std::string::npos;
}

template <class T> void check_rows(extent_t rows, extent_t width, extent_t inner, extent_t outer) {
  const auto x = normal<float, query, model>(1, query{rows}, model{width});
  const network<T> f(width, inner, outer);
  // the scale stands in the weights here: a scaled dot streams
  const auto formula = [&](const auto& tokens) { return dot<hidden>(gelu(dot<model>(tokens, f.w_1) + f.b), f.w_2); };
  BOOST_TEST(in_bands(formula(x)));
  const tensor all = evaluate(policy{.threads = 1}, formula(x));
  for (const int threads : {2, 3, 5}) BOOST_TEST(same_bits(evaluate(policy{.threads = threads}, formula(x)), all));
  for (const extent_t row : {extent_t{0}, rows / 2, rows - 1}) {
    const auto want = row_of(x, row, f.w_1, f.b, f.w_2);
    double most = 0;
    for (const double w : want) most = std::max(most, std::abs(w));
    const tensor alone = evaluate(formula(evaluate(slice<query>(x, row, row + 1))));
    for (extent_t o = 0; o < outer; ++o) {
      BOOST_TEST(std::abs(static_cast<double>(all(row, o)) - want[static_cast<std::size_t>(o)]) <= 1e-5 * most);
      BOOST_TEST(alone(0, o) == all(row, o));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_bands)

BOOST_AUTO_TEST_CASE(one_band) {
  for (const extent_t rows : {1, 2, 13, 97}) check_rows<float>(rows, 192, 257, 193);
  for (const extent_t rows : {1, 5, 24, 25}) check_rows<float>(rows, 32, 129, 67);
  check_rows<bf16>(31, 211, 300, 192);
}

BOOST_AUTO_TEST_CASE(several_bands) { check_rows<float>(1103, 192, 4099, 200); }

BOOST_AUTO_TEST_CASE(gated) {
  const auto x = normal<float, batch, query, model>(1, batch{3}, query{7}, model{200});
  const network<float> f(200, 301, 199);
  const auto w_up = normal<float, model, hidden>(5, model{200}, hidden{301});
  const auto formula = [&](const auto& tokens) {
    return dot<hidden>(silu(dot<model>(tokens, f.w_1)) * dot<model>(tokens, w_up), f.w_2);
  };
  BOOST_TEST(in_bands(formula(x)));
  const tensor fused_result = evaluate(formula(x));
  BOOST_TEST(agrees(fused_result, evaluate(unfused, formula(x)), 1e-5));
  const tensor alone = evaluate(formula(evaluate(slice<query>(x, 4, 5))));
  for (extent_t b = 0; b < 3; ++b)
    for (extent_t o = 0; o < 199; ++o) BOOST_TEST(alone(b, 0, o) == fused_result(b, 4, o));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_streams) {
  const auto x = normal<float, query, model>(1, query{9}, model{192});
  BOOST_TEST(!in_bands(network<float>(192, 257, 193)(x)));  // a scale of the dot
  const auto goes_in_bands = [](extent_t width, extent_t inner, extent_t outer) {
    const network<float> f(width, inner, outer);
    return in_bands(
        dot<hidden>(gelu(dot<model>(normal<float, query, model>(1, query{9}, model{width}), f.w_1) + f.b), f.w_2));
  };
  BOOST_TEST(goes_in_bands(32, 256, 32));
  BOOST_TEST(!goes_in_bands(31, 240, 32));  // narrow
  BOOST_TEST(!goes_in_bands(32, 240, 31));
  BOOST_TEST(!goes_in_bands(32, 257, 32));  // many units for so narrow a row, as keys of attention are
  BOOST_TEST(!goes_in_bands(191, 1529, 192));
  BOOST_TEST(goes_in_bands(191, 1528, 192));
  BOOST_TEST(goes_in_bands(192, 1600, 192));
  network<float> f(192, 257, 193);
  const auto excluding = [&] { return dot<hidden>(gelu(dot<model>(x, f.w_1) + f.b), f.w_2); };
  f.b(5) = f.b(256) = -std::numeric_limits<float>::infinity();
  const tensor y = evaluate(excluding());
  for (extent_t row = 0; row < 9; ++row) {
    const auto want = row_of(x, row, f.w_1, f.b, f.w_2);
    for (extent_t o = 0; o < 193; ++o)
      BOOST_TEST(std::abs(static_cast<double>(y(row, o)) - want[static_cast<std::size_t>(o)]) <= 1e-3);
  }
}

BOOST_AUTO_TEST_CASE(no_rows_no_hidden_units) {
  const network<float> f(192, 257, 193), none(192, 0, 193);
  const auto x = normal<float, query, model>(1, query{3}, model{192});
  const tensor<float, query, model> empty{query{0}, model{192}};
  BOOST_TEST(evaluate(dot<hidden>(gelu(dot<model>(empty, f.w_1) + f.b), f.w_2)).size() == 0);
  for (const float y : evaluate(dot<hidden>(gelu(dot<model>(x, none.w_1) + none.b), none.w_2))) BOOST_TEST(y == 0);
}

BOOST_AUTO_TEST_SUITE_END()
