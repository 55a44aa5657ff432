// SPDX-License-Identifier: BSL-1.0
// In: the kinds of the numbered cases of attention in other types than float: double, bf16, f16, float queries over a cache of
// bf16; every regime. Out: what the definition says in float64 of the numbers as they are stored.
// Next: cases_kinds.cpp.
#include "support/attention_cases.hpp"

#include <tuple>

using namespace heed;
using namespace test;

namespace {

using types = std::tuple<attention_case<double, double>, attention_case<bf16, bf16>, attention_case<f16, f16>,
                         attention_case<float, bf16>>;

constexpr auto may = [](int i, int j) { return i % 4 != 1 && (7 * i + 3 * j) % 5 < 2; };
/// The largest number that K can hold.
template <class K> double largest(const heed::tensor<K, kv_head, key, d_value>&) {
  return std::is_same_v<K, double> ? std::numeric_limits<double>::max() : std::is_same_v<K, f16> ? 65504 : 0x1.FEp127;
}

/// What is excluded by position, by a table, by a bias, by all of them: the same bits.
template <class Case> void check_spellings(const Case& plain) {
  const int past = plain.n.queries % 2 == 0 ? 0 : 60;
  const auto keep = [&](int i, int j) { return j <= i + past && i + past - j < 50; };
  const auto add = [&](int i, int j) { return keep(i, j) ? 0.0 : -infinity; };
  Case by_position = plain, by_table = plain, by_bias = plain;
  by_position.past = past, by_position.window = 50;
  by_table.set_table(keep);
  by_bias.set_bias(add);
  Case by_all = by_position;
  by_all.set_table(keep), by_all.set_bias(add);
  by_position.check();
  for (const schedule how : {fused, unfused}) {
    const policy p{.schedule = how, .threads = 2};
    const auto [want, want_lse] = by_position.evaluated(p);
    for (const Case* other : {&by_table, &by_bias, &by_all}) {
      const auto [got, lse] = other->evaluated(p);
      BOOST_TEST((identical(got, want) && identical(lse, want_lse)));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cases_types)

BOOST_AUTO_TEST_CASE_TEMPLATE(cases_1_6_11_15_masks_and_empty_rows, Case, types) {
  for_attention_sizes<Case>([](Case& p) { p.set_table(may); });
  for_attention_sizes<Case>([](Case& p) {  // masked by one, by two, by three
    p.set_table(may);
    p.past = 2;
    p.set_bias([](int i, int j) { return (i + j) % 3 == 0 ? -infinity : 0.25; });
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cases_3_7_61_biases_far_away, Case, types) {
  const double lowest = -largest(Case(sizes_of_attention[0]).v);
  const auto with = [&](auto bias) {
    for_attention_sizes<Case>([&](Case& p) {
      p.fill(p.q, 0);
      p.set_bias(bias);
    });
  };
  with([](int, int j) { return j % 3 == 0 ? -200000.0 : -199999.0; });
  with([&](int, int) { return lowest; });
  with([](int, int) { return -infinity; });
  with([&](int i, int j) { return (i + j) % 2 == 0 ? lowest : -infinity; });
  for_attention_sizes<Case>([](Case& p) {  // weights that vanish before the largest of values
    p.set_bias([](int, int j) { return j == 0 ? 0.0 : j % 2 == 0 ? -1e30 : -5000; });
    for (int h = 0; h < p.n.kv_heads; ++h)
      for (int j = 1; j < p.n.keys; ++j)
        for (int d = 0; d < p.n.values; ++d)
          p.v(h, j, d) = to_element<typename decltype(p.v)::value_type>(largest(p.v));
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_4_scores_below_any_finite_mask, Case, types) {
  for_attention_sizes<Case>([](Case& p) {
    generator random(5);
    const auto whole = [&](auto& tensor) {
      for (auto& element : tensor)
        element = to_element<std::remove_cvref_t<decltype(element)>>(static_cast<double>(random.below(5) - 2));
    };
    whole(p.q), whole(p.k);
    p.scale = -20000;
    p.set_table([](int i, int j) { return (i + j) % 3 != 0; });
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cases_8_9_10_nan, Case, types) {
  for_attention_sizes<Case>([](Case& p) {
    const int length = (p.n.keys + 1) / 2;
    p.spoil(length);
    p.set_table([&](int, int j) { return j < length; });
  });
  for_attention_sizes<Case>([](Case& p) {
    if (p.n.queries > 0 && p.n.width > 0)
      for (int h = 0; h < p.n.kv_heads; ++h)
        for (int g = 0; g < p.n.groups; ++g)
          p.q(h, g, p.n.queries / 2, 0) = to_element<typename decltype(p.q)::value_type>(not_a_number);
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cases_12_13_16_biases, Case, types) {
  for_attention_sizes<Case>([](Case& p) { p.set_bias([](int i, int j) { return may(i, j) ? 1.0 : 0.0; }); });
  for_attention_sizes<Case>(
      [](Case& p) { p.set_bias([](int i, int) { return i % 3 == 1 ? -infinity : 8.0 * (i % 5) - 16; }); });
}

// From the top left, from the bottom right, from before both and from beyond both; each size with another window.
BOOST_AUTO_TEST_CASE_TEMPLATE(cases_20_22_24_26_diagonals_and_windows, Case, types) {
  for (const int aligned : {0, 1, 2, 3})
    for_attention_sizes<Case>([&](Case& p) {
      p.past = aligned == 0 ? 0 : aligned == 1 ? p.n.keys - p.n.queries : aligned == 2 ? -2 : p.n.keys;
      const int turn = (p.n.queries + p.n.keys + aligned) % 4;
      if (turn > 0) p.window = turn == 1 ? 1 : turn == 2 ? 2 : 17;
    });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cases_27_29_30_31_softcap_and_scale, Case, types) {
  for (const double scale : {0.0, 0.7})
    for_attention_sizes<Case>([&](Case& p) {
      p.set_table(may);
      p.cap = 2;
      p.scale = scale;
    });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_32_scores_that_no_half_holds, Case, types) {
  for_attention_sizes<Case>([](Case& p) { p.fill(p.q, 256), p.fill(p.k, 256); });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cases_37_40_sinks, Case, types) {
  const double sinks[] = {0, std::log(3.0), -infinity, -4};
  for (const bool masked : {false, true})
    for_attention_sizes<Case>([&](Case& p) {
      std::size_t at = 0;
      for (auto& one : p.sink) one = to_element<typename Case::number>(sinks[at++ % 4]);
      if (masked) p.set_table(may);
    });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_39_parts_put_together, Case, types) {
  for_attention_sizes<Case>(
      [](Case& p) {
        p.set_table(may);
        p.window = 100;
        std::fill(p.sink.begin(), p.sink.end(), to_element<typename Case::number>(-1));
      },
      [](const Case& p) {
        for (const int cut : {0, p.n.keys / 3, p.n.keys}) p.check_parts(cut);
      });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(case_59_one_mask_in_many_spellings, Case, types) {
  for_attention_sizes<Case>([](Case&) {}, [](const Case& p) { check_spellings(p); });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(all_at_once, Case, types) {
  for_attention_sizes<Case>([](Case& p) {
    const int length = p.n.keys - p.n.keys / 3;
    p.spoil(length);
    p.set_table([&](int i, int j) { return j < length && i % 5 != 2 && (i + j) % 7 != 0; });
    p.past = p.n.keys - p.n.queries + 1;
    p.window = 40;
    p.cap = 2.5;
    p.set_bias([](int i, int j) { return (2 * i + j) % 11 == 0 ? -infinity : 0.5 * ((i * j) % 5) - 1; });
    std::fill(p.sink.begin(), p.sink.end(), to_element<typename Case::number>(0.5));
  });
}

BOOST_AUTO_TEST_SUITE_END()
