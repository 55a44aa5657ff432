// SPDX-License-Identifier: BSL-1.0
// In: tokens and parameters. Out: nn::feed_forward, nn::gated_feed_forward, norms and residual connections are the
// formulas written by hand, to the bit, and within a bound of plain loops over float64.
// Next: nn_encoder.cpp.
#include "support/parameters.hpp"

using namespace heed;
using namespace test;
namespace act = heed::nn::activations;

namespace {

auto some_tokens(extent_t n) { return normal<float, query, model_16>(1, query{n}); }

template <class P> auto filled(P p, std::uint64_t seed = 7) {
  fill_parameters(p, seed);
  return p;
}

template <class F> grid<2> each(grid<2> x, const F& f) {
  for (double& number : x.numbers) number = f(number);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_feed_forward)

BOOST_AUTO_TEST_CASE(plain) {
  const auto x = some_tokens(9);
  const auto p = filled(nn::biased_feed_forward_parameters<float, model_16, hidden_20>());
  const auto y = nn::feed_forward(x, p, act::gelu);
  static_assert(has_axes<decltype(y), query, model_16>);
  check_same_bits(y, dot<hidden_20>(gelu(dot<model_16>(x, p.w_1) + p.b_1), p.w_2) + p.b_2);

  const auto inner = reference::matmul(grid_of(x), grid_of(p.w_1));
  const auto with_bias = make_grid([&](auto i, auto j) { return inner(i, j) + static_cast<double>(p.b_1(j)); }, 9, 20);
  const auto outer = reference::matmul(each(with_bias, reference::gelu), grid_of(p.w_2));
  check(y, make_grid([&](auto i, auto j) { return outer(i, j) + static_cast<double>(p.b_2(j)); }, 9, 16), 1e-5);
}

BOOST_AUTO_TEST_CASE(without_biases_and_in_double) {
  const auto x = normal<double, batch, query, model>(1, batch{2}, query{5}, model{10});
  const auto p = filled(nn::feed_forward_parameters<double, model, hidden>{hidden{7}, model{10}});
  check_same_bits(nn::feed_forward(x, p), dot<hidden>(relu(dot<model>(x, p.w_1)), p.w_2));
  const auto squared_relu = [](const auto& e) { return relu(e) * relu(e); };  // So et al. 2021
  const auto one = at<batch>(x, 1);
  const auto inner =
      each(reference::matmul(grid_of(evaluate(one)), grid_of(p.w_1)), [](double e) { return e > 0 ? e * e : 0; });
  check(nn::feed_forward(one, p, squared_relu), reference::matmul(inner, grid_of(p.w_2)), 1e-12);
}

BOOST_AUTO_TEST_CASE(gated) {
  const auto x = some_tokens(9);
  const auto p = filled(nn::gated_feed_forward_parameters<bf16, model_16, hidden_20>());
  const auto y = nn::gated_feed_forward(x, p);
  check_same_bits(y, dot<hidden_20>(silu(dot<model_16>(x, p.w_gate)) * dot<model_16>(x, p.w_up), p.w_down));

  const auto gate = reference::matmul(grid_of(x), grid_of(p.w_gate)),
             up = reference::matmul(grid_of(x), grid_of(p.w_up));
  const auto want = [&](const auto& f) {
    return reference::matmul(make_grid([&](auto i, auto j) { return f(gate(i, j)) * up(i, j); }, 9, 20),
                             grid_of(p.w_down));
  };
  check(y, want(reference::silu), 1e-5);
  check(nn::gated_feed_forward(x, p, act::gelu), want(reference::gelu), 1e-5, {1});
  check(nn::gated_feed_forward(x, p, act::sigmoid), want(reference::sigmoid), 1e-5, {1});
  check(nn::gated_feed_forward(x, p, nn::unchanged), want([](double e) { return e; }), 1e-5, {1});
}

BOOST_AUTO_TEST_CASE(norms_and_residuals) {
  const auto x = some_tokens(9);
  auto p = filled(nn::layer_norm_parameters<float, model_16>());
  p.eps = 1e-3;
  const auto normed = reference::layer_norm(grid_of(x), grid_of(p.gamma), grid_of(p.beta), 1e-3);
  check(p(x), normed, 1e-5);
  auto r = nn::rms_norm_parameters<float, model>{model{16}};
  for (const float gain : r.gain) BOOST_TEST(gain == 1);
  fill_parameters(r, 3);
  check(r(rename<model_16, model>(x)), reference::rms_norm(grid_of(x), grid_of(r.gain)), 1e-5);

  const auto twice = [](const auto& e) { return e * 2; };
  check(nn::residual(nn::pre_norm, x, p, twice),
        make_grid([&](auto i, auto j) { return static_cast<double>(x(i, j)) + 2 * normed(i, j); }, 9, 16), 1e-5);
  check(
      nn::residual(nn::post_norm, x, p, twice),
      reference::layer_norm(each(grid_of(x), [](double e) { return 3 * e; }), grid_of(p.gamma), grid_of(p.beta), 1e-3),
      1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
