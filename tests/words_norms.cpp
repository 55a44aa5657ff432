// SPDX-License-Identifier: BSL-1.0
// In: rows. Out: layer_norm and rms_norm, ready-made and spelled out with mean and variance; dot in all its forms:
// several axes, batch axes, outer products by broadcast, matrix times vector; against plain loops.
// Next: words_shapes.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <type_traits>

using namespace heed;
using namespace test;

BOOST_AUTO_TEST_SUITE(words_norms)

BOOST_AUTO_TEST_CASE(norms_of_rows) {
  for (const int width : {1, 2, 15, 16, 17, 100}) {
    const auto x = normal<float, query, model>(1, query{7}, model{width});
    const auto gamma = normal<float, model>(2, model{width}), beta = normal<float, model>(3, model{width});
    const auto x_grid = grid_of(x);
    const auto gamma_grid = grid_of(gamma), beta_grid = grid_of(beta);
    check(layer_norm<model>(x, gamma, beta), reference::layer_norm(x_grid, gamma_grid, beta_grid), 1e-5);
    check(layer_norm<model>(x, gamma, beta, 0.1), reference::layer_norm(x_grid, gamma_grid, beta_grid, 0.1), 1e-5);
    check(rms_norm<model>(x, gamma), reference::rms_norm(x_grid, gamma_grid), 1e-5);
    check(rms_norm<model>(x, gamma, 0.1), reference::rms_norm(x_grid, gamma_grid, 0.1), 1e-5);
    const auto spelled = (x - mean<model>(x)) * rsqrt(variance<model>(x) + 1e-5) * gamma + beta;
    check(spelled, reference::layer_norm(x_grid, gamma_grid, beta_grid), 1e-5);
  }
}

// A large mean must not swallow the variance.
BOOST_AUTO_TEST_CASE(norms_of_rows_far_from_zero) {
  auto x = normal<double, query, model>(1, query{3}, model{40});
  for (double& element : x) element += 1e6;
  tensor<double, model> gamma{model{40}}, beta{model{40}};
  for (double& element : gamma) element = 1;
  check(layer_norm<model>(x, gamma, beta), reference::layer_norm(grid_of(x), grid_of(gamma), grid_of(beta)), 1e-8);
  auto narrow = tensor<float, query, model>{query{3}, model{40}};
  for (extent_t i = 0; i < narrow.size(); ++i) narrow.data()[i] = 1000 + static_cast<float>(i % 7);
  const auto ones = cast<float>(gamma), zeros = cast<float>(beta);
  check(layer_norm<model>(narrow, ones, zeros), reference::layer_norm(grid_of(narrow), grid_of(gamma), grid_of(beta)),
        1e-4);
}

BOOST_AUTO_TEST_CASE(an_axis_that_is_not_last) {
  const auto x = normal<float, model, query>(1, model{24}, query{5});
  const auto gamma = normal<float, model>(2, model{24}), beta = normal<float, model>(3, model{24});
  const auto turned = grid_of(evaluate<query, model>(x));
  check<query, model>(layer_norm<model>(x, gamma, beta), reference::layer_norm(turned, grid_of(gamma), grid_of(beta)),
                      1e-5);
}

BOOST_AUTO_TEST_CASE(a_matrix_product) {
  for (const int rows : {1, 2, 5, 6, 7, 48, 100})
    for (const int inner : {1, 3, 16, 33, 257, 300})
      for (const int columns : {1, 4, 15, 16, 64, 65}) {
        const auto a = normal<float, query, model>(1, query{rows}, model{inner});
        const auto b = normal<float, model, hidden>(2, model{inner}, hidden{columns});
        BOOST_TEST_CONTEXT(rows << " x " << inner << " x " << columns)
        check(dot<model>(a, b), reference::matmul(grid_of(a), grid_of(b)), 2e-6 * std::sqrt(inner), {2});
      }
}

BOOST_AUTO_TEST_CASE(a_matrix_product_of_turned_operands) {
  const auto a = normal<float, model, query>(1, model{33}, query{21});
  const auto b = normal<float, hidden, model>(2, hidden{19}, model{33});
  const auto want = reference::matmul(grid_of(evaluate<query, model>(a)), grid_of(evaluate<model, hidden>(b)));
  check<query, hidden>(dot<model>(a, b), want, 1e-5);
  check<query, hidden>(dot<model>(b, a), want, 1e-5);
  static_assert(std::is_same_v<decltype(dot<model>(b, a))::axes_type, axes<hidden, query>>);
}

BOOST_AUTO_TEST_CASE(a_contraction_of_several_axes_with_batch_axes) {
  const auto a = normal<double, batch, query, head, d_head>(1, batch{2}, query{5}, head{3}, d_head{4});
  const auto b = normal<double, head, d_head, batch, model>(2, head{3}, d_head{4}, batch{2}, model{7});
  const auto a_grid = grid_of(a);
  const auto b_grid = grid_of(b);
  grid<3> want(2, 5, 7);
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 5; ++i)
      for (int h = 0; h < 3; ++h)
        for (int d = 0; d < 4; ++d)
          for (int m = 0; m < 7; ++m) want(n, i, m) += a_grid(n, i, h, d) * b_grid(h, d, n, m);
  const auto e = dot<head, d_head>(a, b);
  static_assert(std::is_same_v<std::remove_const_t<decltype(e)>::axes_type, axes<batch, query, model>>);
  check(e, want, 1e-12);
  check(dot<d_head, head>(a, b), want, 1e-12);
}

BOOST_AUTO_TEST_CASE(products_with_vectors) {
  const auto a = normal<float, query, model>(1, query{21}, model{50});
  const auto x = normal<float, model>(2, model{50});
  const auto a_grid = grid_of(a);
  const auto x_grid = grid_of(x);
  grid<1> want(21);
  double squares = 0;
  for (int m = 0; m < 50; ++m) {
    for (int i = 0; i < 21; ++i) want(i) += a_grid(i, m) * x_grid(m);
    squares += x_grid(m) * x_grid(m);
  }
  check(dot<model>(a, x), want, 1e-5);
  check(dot<model>(x, a), want, 1e-5);
  check(dot<model>(x, x), {squares}, 1e-5);
  check(dot<model>(tensor<float, query, model>{query{2}, model{0}}, tensor<float, model>{model{0}}), {0, 0}, 0);
}

// A norm is elementwise in what it excludes: as written with mean and variance, and what reads it skips the same.
BOOST_AUTO_TEST_CASE(norms_keep_what_is_excluded) {
  const auto x = normal<float, query, key>(1, query{5}, key{23});
  const auto v = normal<float, key, d_head>(2, key{23}, d_head{3});
  const auto gamma = normal<float, key>(3, key{23}), beta = normal<float, key>(4, key{23});
  const auto agree = [&](const auto& z) {
    const auto by_hand = (z - mean<key>(z)) * rsqrt(variance<key>(z) + 1e-5) * gamma + beta;
    const auto by_root = z * rsqrt(mean<key>(z * z) + 1e-5) * gamma;
    const auto same = [](const auto& a, const auto& b) {
      for (const schedule how : {fused, unfused}) check(a, evaluate(how, b), 1e-5);
    };
    same(layer_norm<key>(z, gamma, beta), by_hand);
    same(rms_norm<key>(z, gamma), by_root);
    same(sum<key>(layer_norm<key>(z, gamma, beta)), sum<key>(by_hand));
    same(mean<query>(layer_norm<key>(z, gamma, beta)), mean<query>(by_hand));
    same(max<key>(rms_norm<key>(z, gamma)), max<key>(by_root));
    same(softmax<key>(layer_norm<key>(z, gamma, beta)), softmax<key>(by_hand));
    same(dot<key>(rms_norm<key>(z, gamma) * 2, v), dot<key>(by_root * 2, v));
    same(dot<key>(let(layer_norm<key>(z, gamma, beta)), v), dot<key>(by_hand, v));
  };
  agree(where(index<key>() % 3 != 1, x));
  agree(where(index<query>() < 3, x));
  agree(where(causal<query, key>(4), x + 1));
}

BOOST_AUTO_TEST_SUITE_END()
