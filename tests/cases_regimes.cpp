// SPDX-License-Identifier: BSL-1.0
// In: the kinds of the numbered cases (cases_masks.cpp and its neighbours) in the sizes that the kernels tell apart: one
// query, a few, a short sequence, several tiles of queries and keys. Out: the right values, under fused and unfused and
// with 1 to 5 threads. Mostly all scores are 0, so that a row is the mean of the values that it may see.
// Next: cases_types.cpp.
#include "support/small.hpp"

#include <algorithm>
#include <utility>

using namespace heed;
using namespace test;

namespace {

constexpr auto nan_float = std::numeric_limits<float>::quiet_NaN();
constexpr auto minus_infinity = -std::numeric_limits<float>::infinity();

struct regime_size {
  int queries, keys;
};
constexpr regime_size sizes[] = {{1, 1}, {1, 200}, {3, 131}, {20, 20}, {16, 65}, {70, 257}};

/// q = 0, k whatever it is, v(j, c) = (j + 1)(c + 1) for two columns c.
struct zero_problem {
  tensor<float, query, d_head> q;
  tensor<float, key, d_head> k;
  tensor<float, key, d_value> v;
  int queries, keys;
  explicit zero_problem(regime_size size)
      : q{query{size.queries}, d_head{8}},
        k(normal<float, key, d_head>(1, key{size.keys}, d_head{8})),
        v{key{size.keys}, d_value{2}},
        queries(size.queries),
        keys(size.keys) {
    for (int j = 0; j < keys; ++j)
      for (int c = 0; c < 2; ++c) v(j, c) = static_cast<float>((j + 1) * (c + 1));
  }
  [[nodiscard]] auto scores() const { return dot<d_head>(q, k); }
  /// Rows of sum over kept j of weight(j) v(j), divided by the sum of the weights (and by extra more of it).
  template <class Keep, class Weight> [[nodiscard]] grid<2> means(Keep keep, Weight weight, double extra = 0) const {
    grid<2> result(queries, 2);
    for (int i = 0; i < queries; ++i) {
      double total = extra, sum = 0;
      for (int j = 0; j < keys; ++j)
        if (keep(i, j)) total += weight(j), sum += weight(j) * (j + 1);
      for (int c = 0; c < 2; ++c) result(i, c) = sum == 0 ? 0 : sum / total * (c + 1);
    }
    return result;
  }
  template <class Keep> [[nodiscard]] grid<2> means(Keep keep) const {
    return means(keep, [](int) { return 1.0; });
  }
};

template <class Body> void for_sizes(Body body) {
  for (const regime_size size : sizes)
    BOOST_TEST_CONTEXT(size.queries << " queries, " << size.keys << " keys") body(zero_problem(size));
}
constexpr auto all = [](int, int) { return true; };

}  // namespace

BOOST_AUTO_TEST_SUITE(cases_regimes)

// Some rows see nothing, the others what a table says.
BOOST_AUTO_TEST_CASE(cases_1_6_11_masks_and_empty_rows) {
  for_sizes([](const zero_problem& p) {
    const auto may = [](int i, int j) { return i % 4 != 1 && (7 * i + 3 * j) % 5 < 2; };
    tensor<bool, query, key> table{query{p.queries}, key{p.keys}};
    grid<1> lse(p.queries);
    for (int i = 0; i < p.queries; ++i) {
      int seen = 0;
      for (int j = 0; j < p.keys; ++j) seen += table(i, j) = may(i, j);
      lse(i) = seen == 0 ? -infinity : std::log(static_cast<double>(seen));
    }
    const auto scores = where(table, p.scores());
    check(attend(scores, p.v), p.means(may), 1e-6, one_to_five);
    check(log_sum_exp<key>(scores), lse, 1e-6, one_to_five);
    check_same_bits(attend(where(table, scores), p.v), attend(scores, p.v));
  });
}

// One key far above or far below all others; biases that exclude and biases that are only low.
BOOST_AUTO_TEST_CASE(cases_3_7_61_biases_far_away) {
  for_sizes([](const zero_problem& p) {
    tensor<float, key> bias{key{p.keys}};
    const auto attended = attend(p.scores() + bias, p.v);
    const auto fill = [&](float one, float others) {
      for (int j = 0; j < p.keys; ++j) bias(j) = j == p.keys / 2 ? one : others;
    };
    const auto middle = p.means([&](int, int j) { return j == p.keys / 2; });
    fill(0, -1e30F);
    check(attended, middle, 0, one_to_five);
    fill(-200000, -201000);
    check(attended, middle, 1e-6, one_to_five);
    fill(std::numeric_limits<float>::lowest(), minus_infinity);
    check(attended, middle, 0, one_to_five);
    fill(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::lowest());
    check(attended, p.means(all), 1e-6, one_to_five);
    fill(minus_infinity, minus_infinity);
    check(attended, p.means([](int, int) { return false; }), 0, one_to_five);
    fill(-99999, -100000);
    check(attended, p.means(all, [&](int j) { return j == p.keys / 2 ? std::exp(1.0) : 1.0; }), 1e-6, one_to_five);
  });
}

// What was never written lies behind the mask; what is NaN in a query stays in its row.
BOOST_AUTO_TEST_CASE(cases_8_9_10_nan) {
  for_sizes([](zero_problem p) {
    const int length = (p.keys + 1) / 2;
    for (int j = length; j < p.keys; ++j) {
      for (int d = 0; d < 8; ++d) p.k(j, d) = nan_float;
      p.v(j, 0) = p.v(j, 1) = j % 2 == 0 ? nan_float : -minus_infinity;
    }
    const auto attended = attend(where(index<key>() < length, p.scores()), p.v);
    const auto clean = p.means([&](int, int j) { return j < length; });
    check(attended, clean, 1e-6, one_to_five);
    p.q(p.queries / 2, 3) = nan_float;
    auto one_bad = clean;
    one_bad(p.queries / 2, 0) = one_bad(p.queries / 2, 1) = not_a_number;
    check(attended, one_bad, 1e-6, one_to_five);
  });
}

// The diagonal from the top left, from the bottom right and from beyond both; a window of some keys, itself included.
BOOST_AUTO_TEST_CASE(cases_20_22_24_26_diagonals_and_windows) {
  for_sizes([](const zero_problem& p) {
    for (const int past : {0, p.keys - p.queries, -2, p.keys}) {
      const auto diagonal = attend(where(causal<query, key>(past), p.scores()), p.v);
      check(diagonal, p.means([&](int i, int j) { return j <= i + past; }), 1e-6, one_to_five);
      for (const int n : {1, 2, 17, 1000}) {
        const auto band = attend(where(window<query, key>(n, past), p.scores()), p.v);
        check(band, p.means([&](int i, int j) { return j <= i + past && i + past - j < n; }), 1e-6, one_to_five);
      }
    }
  });
}

// A softcap before and after the mask; a scale of 0.
BOOST_AUTO_TEST_CASE(cases_27_30_softcap_and_scale) {
  for_sizes([](zero_problem p) {
    for (float& element : p.q) element = 100;
    const auto keep = index<key>() % 3 == 0;
    const auto thirds = p.means([](int, int j) { return j % 3 == 0; });
    check(attend(softcap(where(keep, p.scores() * 0.0F), 2), p.v), thirds, 1e-6, one_to_five);
    check_same_bits(attend(softcap(where(keep, p.scores()), 2), p.v), attend(where(keep, softcap(p.scores(), 2)), p.v));
  });
}

// Halves whose scores no half can hold.
BOOST_AUTO_TEST_CASE(case_32_halves) {
  for (const regime_size size : sizes) {
    tensor<f16, query, d_head> q{query{size.queries}, d_head{128}};
    tensor<f16, key, d_head> k{key{size.keys}, d_head{128}};
    tensor<f16, key, d_value> v{key{size.keys}, d_value{1}};
    for (f16& element : q) element = f16(256.0F);
    for (f16& element : k) element = f16(256.0F);
    for (int j = 0; j < size.keys; ++j) v(j, 0) = f16(static_cast<float>(j % 8));
    double mean = 0;
    for (int j = 0; j < size.keys; ++j) mean += static_cast<double>(j % 8) / size.keys;
    check(attend(dot<d_head>(q, k) / std::sqrt(128.0), v),
          std::vector<double>(static_cast<std::size_t>(size.queries), mean), 1e-5, one_to_five);
  }
}

// A sink takes its share, and no value with it.
BOOST_AUTO_TEST_CASE(cases_37_40_sinks) {
  for_sizes([](const zero_problem& p) {
    const auto n = static_cast<double>(p.keys);
    const auto one = [](int) { return 1.0; };
    for (const double sink : {0.0, std::log(3.0), -infinity}) {
      check(dot<key>(softmax<key>(p.scores(), sink), p.v), p.means(all, one, std::exp(sink)), 1e-6, one_to_five);
      const std::vector<double> want(static_cast<std::size_t>(p.queries), std::log(n + std::exp(sink)));
      check(log_sum_exp<key>(p.scores(), sink), want, 1e-6, one_to_five);
    }
  });
}

// Attention over two parts of the keys, one of them possibly empty, merged.
BOOST_AUTO_TEST_CASE(case_39_parts_put_together) {
  for_sizes([](const zero_problem& p) {
    const auto part = [&](int from, int to) {
      const auto scores = dot<d_head>(p.q, slice<key>(p.k, from, to));
      return std::pair(attend(scores, slice<key>(p.v, from, to)), log_sum_exp<key>(scores));
    };
    for (const int cut : {0, p.keys / 3, p.keys}) {
      const auto [a, lse_a] = part(0, cut);
      const auto [b, lse_b] = part(cut, p.keys);
      const auto [context, lse] = combine(a, lse_a, b, lse_b);
      check(context, p.means(all), 1e-6, one_to_five);
      const std::vector<double> want(static_cast<std::size_t>(p.queries), std::log(static_cast<double>(p.keys)));
      check(lse, want, 1e-6, one_to_five);
    }
  });
}

// Groups of heads read the keys and values of their own head, in every regime.
BOOST_AUTO_TEST_CASE(cases_49_52_groups) {
  for (const regime_size size : sizes)
    for (const int groups : {1, 2, 5}) {
      const tensor<float, kv_head, group, query, d_head> q{kv_head{3}, group{groups}, query{size.queries}, d_head{8}};
      const auto k = normal<float, kv_head, key, d_head>(1, kv_head{3}, key{size.keys}, d_head{8});
      tensor<float, kv_head, key, d_value> v{kv_head{3}, key{size.keys}, d_value{2}};
      std::vector<double> want;
      for (int h = 0; h < 3; ++h) {
        for (int j = 0; j < size.keys; ++j) v(h, j, 0) = v(h, j, 1) = 10 * static_cast<float>(h + 1);
        want.insert(want.end(), static_cast<std::size_t>(groups * size.queries * 2), 10.0 * (h + 1));
      }
      check<kv_head, group, query, d_value>(attend(dot<d_head>(q, k), v), want, 1e-5, one_to_five);
    }
}

// A result over q, over v, and over v shifted by a row, is that of a buffer of its own.
BOOST_AUTO_TEST_CASE(case_65_results_over_operands) {
  for (const regime_size size : sizes)
    for (const regime& each : regimes()) {
      const int n = size.queries;
      const auto q = normal<float, query, d_head>(1, query{n}, d_head{8});
      const auto k = normal<float, key, d_head>(2, key{size.keys}, d_head{8});
      std::vector<float> buffer(static_cast<std::size_t>((std::max(n, size.keys) + 1) * 8));
      const view<float, key, d_value> v(buffer.data(), key{size.keys}, d_value{8});
      const auto fill = [&] {
        for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<float>(i % 13) - 6;
      };
      fill();
      const auto want = evaluate(each.policy(), attend(dot<d_head>(q, k), v));
      auto over_q = q;
      const auto renamed = rename<d_value, d_head>(attend(dot<d_head>(over_q, k), v));
      evaluate_into(each.policy(), over_q, renamed);
      BOOST_TEST(agrees(over_q, want, 0));
      for (const int shift : {0, 8}) {
        fill();
        const view<float, query, d_value> result(buffer.data() + shift, query{n}, d_value{8});
        evaluate_into(each.policy(), result, attend(dot<d_head>(q, k), v));
        BOOST_TEST(agrees(evaluate(result), want, 0), each.name() << ", " << shift);
      }
    }
}

// An expression or its operand, chosen at run time.
BOOST_AUTO_TEST_CASE(case_67_branches) {
  for (const int n : {1, 3, 17, 130}) {
    const auto a = counted<float, key>(key{n});
    for (const bool turned : {false, true}) {
      const tensor<float, key> chosen = turned ? evaluate(roll<key>(a, 1)) : a;
      for (int j = 0; j < n; ++j) BOOST_TEST(chosen(j) == static_cast<float>(turned ? (j + n - 1) % n : j));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
