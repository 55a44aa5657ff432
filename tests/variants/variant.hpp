// SPDX-License-Identifier: BSL-1.0
// In: one kind of attention as a function from sizes to an expression. Out: the check that it is what its paper says
// (a float64 golden, fused and unfused), that it streams, and that what its plan stores and what its runs take grows as the
// sequence does.
// Next: masks.cpp, the first family.
#pragma once
#include "support/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace test::variants {

using namespace heed;

/// Element `at` of input `seed`: a hash as a multiple of 2^-22 in [-2, 2), exact in float. tools/make_variants.py has
/// the same lines, so that inputs need no files.
inline float number(std::uint32_t seed, std::uint32_t at) {
  std::uint32_t bits = at + seed * 0x9e3779b9U;
  bits = (bits ^ (bits >> 16U)) * 0x7feb352dU;
  bits = (bits ^ (bits >> 15U)) * 0x846ca68bU;
  bits ^= bits >> 16U;
  return static_cast<float>(static_cast<double>(bits >> 8U) * 0x1p-22 - 2);
}

/// `input<query, d_head>(1, query{13}, d_head{16})`.
template <class... A, class... Extent> tensor<float, A...> input(std::uint32_t seed, Extent... extents) {
  tensor<float, A...> result{extents...};
  std::uint32_t at = 0;
  for (float& element : result) element = number(seed, at++);
  return result;
}

/// The same numbers divided by four: weights that keep what they are applied to at its size.
template <class... A, class... Extent> tensor<float, A...> weight(std::uint32_t seed, Extent... extents) {
  tensor<float, A...> result = input<A...>(seed, extents...);
  for (float& element : result) element /= 4;
  return result;
}

/// Queries, keys and values of two heads.
struct two_heads {
  tensor<float, head, query, d_head> q;
  tensor<float, head, key, d_head> k;
  tensor<float, head, key, d_value> v;
  explicit two_heads(std::ptrdiff_t length)
      : q(input<head, query, d_head>(1, head{2}, query{length}, d_head{16})),
        k(input<head, key, d_head>(2, head{2}, key{length}, d_head{16})),
        v(input<head, key, d_value>(3, head{2}, key{length}, d_value{5})) {}
};

/// Bytes that the plan stores between its stages with the sequence as it is, doubled, and doubled again: `linear` if
/// the second doubling adds no more than twice what the first one added.
template <class Make> bool stores_linearly(const Make& make) {
  const auto bytes = [&](int scale) { return static_cast<std::ptrdiff_t>(explain(make(scale)).bytes_stored); };
  return bytes(4) - bytes(2) <= 2 * (bytes(2) - bytes(1));
}

/// The same of all the memory that a run takes, none of which lies outside its workspace: results between the stages, what each
/// thread needs, packed operands, parts to be put together. By lengths at which tiles have reached their full size; what they
/// still gain or lose there is `spare`. Three threads, which may share out what one does whole, take at most three times that.
template <class Make> bool runs_in_linear_memory(const Make& make, int first_scale = 4) {
  constexpr std::ptrdiff_t spare = std::ptrdiff_t{256} << 10;
  const auto bytes = [&](int scale, int threads) {
    workspace memory;
    evaluate(policy{.threads = threads, .memory = &memory}, make(scale));
    return static_cast<std::ptrdiff_t>(memory.size());
  };
  const int last_scale = 4 * first_scale;
  const std::ptrdiff_t once = bytes(first_scale, 1), twice = bytes(2 * first_scale, 1), last = bytes(last_scale, 1);
  const std::ptrdiff_t by_three = bytes(last_scale, 3);
  BOOST_TEST_MESSAGE(once << ", " << twice << ", " << last << " bytes, " << last - twice - 2 * (twice - once)
                          << " more than in proportion; with three threads " << by_three);
  return last - twice <= 2 * (twice - once) + spare && by_three <= 3 * last + spare;
}

/// The golden is in the order of the expression's axes. Sums that no softmax normalises grow with the sequence, and what cancels
/// in them is as far off as what does not: errors are measured by the root of the golden's mean square, where that exceeds 1.
template <class Make> void check_values(const std::string& name, const Make& make) {
  const auto expression = make(1);
  const npy_file want = read_npy(std::string(HEED_TEST_DATA) + "/../variants/golden/" + name + ".npy");
  double squares = 0;
  for (const double number : want.numbers) squares += number * number;
  const double size = std::max(1.0, std::sqrt(squares / std::max<double>(1, static_cast<double>(want.numbers.size()))));
  for (const regime& each : regimes()) BOOST_TEST_CONTEXT(each.name()) {
      const auto got = evaluate(each.policy(), expression);
      const auto shape = grid_of(got).extents;
      BOOST_TEST(std::vector<std::ptrdiff_t>(shape.begin(), shape.end()) == want.shape,
                 boost::test_tools::per_element());
      BOOST_TEST(agrees(got, want.numbers, 1e-5 * size));
    }
}

/// `check_variant("causal", [](int scale) { ... })`: scale multiplies the length of the sequence. Memory is compared at the first
/// scale, twice and four times that.
template <class Make> void check_variant(const std::string& name, const Make& make, int first_scale = 4) {
  static_assert(streams<decltype(make(1))>);
  check_values(name, make);
  BOOST_TEST(stores_linearly(make));
  BOOST_TEST(runs_in_linear_memory(make, first_scale));
}

/// A variant whose comment says why it stores more than its streamed axes: no less is checked, so that the reason goes
/// when it does not hold any more.
template <class Make> void check_stored_variant(const std::string& name, const Make& make) {
  static_assert(!streams<decltype(make(1))>);
  check_values(name, make);
  BOOST_TEST(!stores_linearly(make));
  BOOST_TEST(!runs_in_linear_memory(make));
}

}  // namespace test::variants
