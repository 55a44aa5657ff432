// SPDX-License-Identifier: BSL-1.0
// In: positions. Out: rope in both forms, with both pairings, with a past that is a number or a tensor, of a part of
// the head; against plain loops.
// Next: words_running.cpp.
#include "support/schedules.hpp"

#include <cmath>
#include <cstdint>

using namespace heed;
using namespace test;

namespace {

struct half : axis<> {};
struct width_of_four : axis<4> {};
struct half_of_four : axis<2> {};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_rope)

BOOST_AUTO_TEST_CASE(rotary_positions) {
  for (const int width : {2, 4, 16, 34}) {
    const auto x = normal<float, query, d_head>(1, query{13}, d_head{width});
    const auto x_grid = grid_of(x);
    for (const bool interleaved : {true, false}) {
      const auto pairs = interleaved ? rope_pairs::interleaved : rope_pairs::half;
      check(rope<d_head, query>(x, pairs), reference::rope(x_grid, interleaved), 1e-5);
      check(rope<d_head, query>(x, pairs, 500000), reference::rope(x_grid, interleaved, 500000), 1e-5);
      check(rope<d_head, query>(x, pairs, 10000, 100), reference::rope(x_grid, interleaved, 10000, 100), 1e-5);
    }
  }
}

BOOST_AUTO_TEST_CASE(rotary_positions_with_a_past_per_batch) {
  const auto x = normal<float, batch, query, width_of_four>(1, batch{2}, query{5});
  const auto past = row<std::int64_t, batch>({0, 40});
  const auto turned = rope<width_of_four, query>(x, rope_pairs::half, 10000, past);
  std::vector<double> want;
  for (int b = 0; b < 2; ++b) {
    const auto one = grid_of(evaluate(at<batch>(x, b)));
    const auto here = reference::rope(one, false, 10000, b == 0 ? 0 : 40).numbers;
    want.insert(want.end(), here.begin(), here.end());
  }
  check(turned, want, 1e-5);
}

// The angles are given: as in stretched or several position axes.
BOOST_AUTO_TEST_CASE(rotary_positions_from_tables) {
  const auto x = normal<float, batch, query, d_head>(1, batch{2}, query{6}, d_head{8});
  tensor<float, query, half> cosines{query{6}, half{4}}, sines{query{6}, half{4}};
  for (int i = 0; i < 6; ++i)
    for (int n = 0; n < 4; ++n) {
      const double turn = i * std::pow(10000.0, -2.0 * n / 8);
      cosines(i, n) = static_cast<float>(std::cos(turn));
      sines(i, n) = static_cast<float>(std::sin(turn));
    }
  for (const bool interleaved : {true, false}) {
    const auto pairs = interleaved ? rope_pairs::interleaved : rope_pairs::half;
    std::vector<double> want;
    for (int b = 0; b < 2; ++b) {
      const auto here = reference::rope(grid_of(evaluate(at<batch>(x, b))), interleaved).numbers;
      want.insert(want.end(), here.begin(), here.end());
    }
    check(rope<d_head, half>(x, pairs, cosines, sines), want, 1e-5);
  }
  const auto narrow = normal<float, query, width_of_four>(2, query{6});
  const tensor<float, half_of_four> ones = evaluate(tensor<float, half_of_four>{} + 1), zeros;
  check(rope<width_of_four, half_of_four>(narrow, rope_pairs::half, ones, zeros), narrow, 1e-7);
}

// Only a part of the head turns: by slice and concat.
BOOST_AUTO_TEST_CASE(rotary_positions_of_a_part) {
  const auto x = normal<float, query, d_head>(1, query{5}, d_head{12});
  const auto turned =
      concat<d_head>(rope<d_head, query>(slice<d_head>(x, 0, 4), rope_pairs::half), slice<d_head>(x, 4, 12));
  const auto x_grid = grid_of(x);
  auto want = x_grid;
  const auto part = reference::rope(make_grid([&](auto i, auto d) { return x_grid(i, d); }, 5, 4), false);
  for (int i = 0; i < 5; ++i)
    for (int d = 0; d < 4; ++d) want(i, d) = part(i, d);
  check(turned, want, 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
