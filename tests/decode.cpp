// SPDX-License-Identifier: BSL-1.0
// In: random caches of keys and values, read by one query or a few. Out: the schedule for few lanes agrees with plain loops
// over float64 at every width, layout and storage type; masks in every spelling, and every number of threads, give the same
// bits; what stands behind an excluded key never shows.
// Next to read: random_shapes.cpp, the same for many queries.
#include "support/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace heed;
using namespace test;

namespace {

constexpr std::ptrdiff_t widths[] = {1, 7, 16, 31, 64, 80, 96, 100, 112, 120, 128, 192, 256};
constexpr std::ptrdiff_t key_counts[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 97, 127, 128, 129, 200, 257, 1000};

struct sizes {
  std::ptrdiff_t batches, kv_heads, groups, queries, keys, width, values;
};
sizes random_sizes(generator& random) {
  sizes s{1 + random.below(2), 1 + random.below(3), 1, 1, 0, 0, 0};
  auto const lanes = 1 + random.below(18);  // some beyond the schedule
  s.groups = 1 + random.below(lanes);
  s.queries = std::max<std::ptrdiff_t>(1, lanes / s.groups);
  s.keys = key_counts[random.below(std::ssize(key_counts))];
  s.width = widths[random.below(std::ssize(widths))];
  s.values = random.below(2) == 0 ? s.width : widths[random.below(std::ssize(widths))];
  return s;
}

/// A cache [batch, kv_head, key, width] in one of several layouts; what lies between its rows is NaN.
template <class S, class Width> struct cache {
  sizes size;
  std::ptrdiff_t width, row, head, batch_step, step = 1;
  std::vector<S> memory;

  cache(sizes const& s, std::ptrdiff_t w, generator& random) : size(s), width(w) {
    auto const layout = random.below(5);
    if (layout == 0)  // rows one after another
      row = w, head = s.keys * row, batch_step = s.kv_heads * head;
    else if (layout == 1)  // the heads of a position side by side
      head = w, row = s.kv_heads * w, batch_step = s.keys * row;
    else if (layout == 2)  // gaps behind rows and heads
      row = w + 1 + random.below(20), head = s.keys * row + 5, batch_step = s.kv_heads * head;
    else if (layout == 3)  // the keys side by side
      row = 1, step = s.keys, head = w * step, batch_step = s.kv_heads * head;
    else  // nothing side by side
      step = 2, row = 2 * w + 1, head = s.keys * row, batch_step = s.kv_heads * head;
    memory.assign(static_cast<std::size_t>(s.batches * batch_step + 1),
                  to_element<S>(std::numeric_limits<double>::quiet_NaN()));
    for (std::ptrdiff_t b = 0; b < s.batches; ++b)
      for (std::ptrdiff_t h = 0; h < s.kv_heads; ++h)
        for (std::ptrdiff_t k = 0; k < s.keys; ++k)
          for (std::ptrdiff_t c = 0; c < w; ++c) at(b, h, k, c) = to_element<S>(random.normal());
  }
  S& at(std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t k, std::ptrdiff_t c) {
    return memory[static_cast<std::size_t>(b * batch_step + h * head + k * row + c * step)];
  }
  double number(std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t k, std::ptrdiff_t c) const {
    return to_number(memory[static_cast<std::size_t>(b * batch_step + h * head + k * row + c * step)]);
  }
  auto view() const {
    return heed::view<S const, batch, kv_head, key, Width>(memory.data(), batch{size.batches}, kv_head{size.kv_heads},
                                                           key{size.keys}, Width{width},
                                                           strides{batch_step, head, row, step});
  }
  void poison(std::ptrdiff_t k) {
    for (std::ptrdiff_t b = 0; b < size.batches; ++b)
      for (std::ptrdiff_t h = 0; h < size.kv_heads; ++h)
        for (std::ptrdiff_t c = 0; c < width; ++c)
          at(b, h, k, c) = to_element<S>(c % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : infinity);
  }
};

/// The same numbers in another order of memory.
template <class S> struct laid_out {
  std::vector<S> memory;
  std::ptrdiff_t keys, width, key_step, step;
  laid_out(std::vector<S> const& rows, std::ptrdiff_t n, std::ptrdiff_t w, std::ptrdiff_t a, std::ptrdiff_t b)
      : memory(static_cast<std::size_t>(n * a + w * b + 1)),
        keys(n),
        width(w),
        key_step(a),
        step(b) {
    for (std::ptrdiff_t k = 0; k < n; ++k)
      for (std::ptrdiff_t c = 0; c < w; ++c)
        memory[static_cast<std::size_t>(k * a + c * b)] = rows[static_cast<std::size_t>(k * w + c)];
  }
  template <class Width> auto view() const {
    return heed::view<S const, key, Width>(memory.data(), key{keys}, Width{width}, strides{key_step, step});
  }
};
/// How keys and values lie in memory changes no bit, whatever a kernel copies.
template <class T, class S> void layouts_give_the_same_bits() {
  generator random(17);
  for (std::ptrdiff_t const keys : {1, 97, 130, 600})
    for (std::ptrdiff_t const width : {24, 80})
      for (std::ptrdiff_t const queries : {1, 8, 16, 17}) {
        auto const q = normal<T, query, d_head>(3, query{queries}, d_head{width});
        std::vector<S> k(static_cast<std::size_t>(keys * width)), v = k;
        for (S& x : k) x = to_element<S>(random.normal() / 4);
        for (S& x : v) x = to_element<S>(random.normal());
        auto const run = [&](auto const& a, auto const& b) {
          return evaluate(policy{.threads = 2}, dot<key>(softmax<key>(dot<d_head>(q, a.template view<d_head>())),
                                                         b.template view<d_value>()));
        };
        laid_out<S> const rows(k, keys, width, width, 1), side(k, keys, width, 1, keys),
            wide(k, keys, width, 2 * width, 2);
        laid_out<S> const v_rows(v, keys, width, width, 1), v_side(v, keys, width, 1, keys),
            v_wide(v, keys, width, 2 * width, 2);
        auto const want = run(rows, v_rows);
        BOOST_TEST_CONTEXT(keys << " keys, width " << width << ", " << queries << " queries") {
          BOOST_TEST(same_bits(run(side, v_side), want));
          BOOST_TEST(same_bits(run(side, v_rows), want));
          BOOST_TEST(same_bits(run(rows, v_wide), want));
          BOOST_TEST(same_bits(run(wide, v_side), want));
        }
      }
}

template <class T, class S> struct problem {
  sizes size;
  cache<S, d_head> keys;
  cache<S, d_value> values;
  tensor<T, batch, kv_head, group, query, d_head> q;
  double scale;

  problem(sizes const& s, generator& random)
      : size(s),
        keys(s, s.width, random),
        values(s, s.values, random),
        q(batch{s.batches}, kv_head{s.kv_heads}, group{s.groups}, query{s.queries}, d_head{s.width}),
        scale(1 / std::sqrt(static_cast<double>(s.width))) {
    fill_normal(q, random.bits());
  }
  auto scores() const { return dot<d_head>(q, keys.view()) * scale; }

  double score(std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t g, std::ptrdiff_t i, std::ptrdiff_t k) const {
    double sum = 0;
    for (std::ptrdiff_t d = 0; d < size.width; ++d) sum += to_number(q(b, h, g, i, d)) * keys.number(b, h, k, d);
    return sum * scale;
  }
  /// f(b, h, g, i) for every lane, in the order of the results.
  template <class F> void for_lanes(F f) const {
    for (std::ptrdiff_t b = 0; b < size.batches; ++b)
      for (std::ptrdiff_t h = 0; h < size.kv_heads; ++h)
        for (std::ptrdiff_t g = 0; g < size.groups; ++g)
          for (std::ptrdiff_t i = 0; i < size.queries; ++i) f(b, h, g, i);
  }
  /// Rows of weights(scores of the kept keys) times values.
  template <class Keep, class Weights> std::vector<double> context(Keep keep, Weights weights) const {
    std::vector<double> result;
    for_lanes([&](auto b, auto h, auto g, auto i) {
      std::vector<double> s;
      std::vector<std::ptrdiff_t> at;
      for (std::ptrdiff_t k = 0; k < size.keys; ++k)
        if (keep(i, k)) s.push_back(score(b, h, g, i, k)), at.push_back(k);
      weights(s);
      for (std::ptrdiff_t c = 0; c < size.values; ++c) {
        double sum = 0;
        for (std::size_t n = 0; n < s.size(); ++n) sum += s[n] * values.number(b, h, at[n], c);
        result.push_back(sum);
      }
    });
    return result;
  }
  template <class Keep, class Fold> std::vector<double> folded(Keep keep, Fold fold) const {
    std::vector<double> result;
    for_lanes([&](auto b, auto h, auto g, auto i) {
      std::vector<double> s;
      for (std::ptrdiff_t k = 0; k < size.keys; ++k)
        if (keep(i, k)) s.push_back(score(b, h, g, i, k));
      result.push_back(fold(s));
    });
    return result;
  }
};

void softmax_of(std::vector<double>& s, double sink = -infinity) {
  double largest = sink, total = 0;
  for (double const x : s) largest = std::max(largest, x);
  if (largest == -infinity) return;
  for (double& x : s) total += x = std::exp(x - largest);
  total += std::exp(sink - largest);
  for (double& x : s) x /= total;
}
constexpr auto always = [](auto, auto) { return true; };

template <class E> auto run(E const& e, int threads = 1) {
  if constexpr (has_axes<E, batch, kv_head, group, query, d_value>)
    return evaluate<batch, kv_head, group, query, d_value>(policy{.threads = threads}, e);
  else
    return evaluate<batch, kv_head, group, query>(policy{.threads = threads}, e);
}

/// body(problem, random) for random problems of one type of numbers and of storage.
template <class T, class S, class Body> void for_problems(int count, std::uint64_t seed, Body body) {
  generator random(seed);
  for (int n = 0; n < count; ++n) {
    problem<T, S> const p(random_sizes(random), random);
    auto const& s = p.size;
    BOOST_TEST_CONTEXT("batches " << s.batches << ", kv heads " << s.kv_heads << ", groups " << s.groups << ", queries "
                                  << s.queries << ", keys " << s.keys << ", widths " << s.width << ", " << s.values)
    body(p, random);
  }
}
template <class T> inline constexpr double bound = std::is_same_v<T, double> ? 1e-13 : 1e-5;

template <class T, class S> void attention_agrees(std::uint64_t seed) {
  for_problems<T, S>(60, seed, [](auto const& p, generator& random) {
    auto const v = p.values.view();
    BOOST_TEST(agrees(run(dot<key>(softmax<key>(p.scores()), v)), p.context(always, [](auto& s) { softmax_of(s); }),
                      bound<T>));
    auto const past = random.below(p.size.keys + 3) - 2;
    auto const visible = [&](auto i, auto k) { return k <= i + past; };
    auto const masked = where(causal<query, key>(past), p.scores());
    BOOST_TEST(agrees(run(dot<key>(softmax<key>(masked, T(0.25)), v)),
                      p.context(visible, [](auto& s) { softmax_of(s, 0.25); }), bound<T>));
    BOOST_TEST(agrees(run(log_sum_exp<key>(masked)),
                      p.folded(visible,
                               [](auto const& s) {
                                 double total = 0;
                                 for (double const x : s) total += std::exp(x);
                                 return std::log(total);
                               }),
                      bound<T>));
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decode)

BOOST_AUTO_TEST_CASE(attention_of_floats) { attention_agrees<float, float>(1); }
BOOST_AUTO_TEST_CASE(attention_of_doubles) { attention_agrees<double, double>(2); }
BOOST_AUTO_TEST_CASE(attention_of_bf16) { attention_agrees<float, bf16>(3); }
BOOST_AUTO_TEST_CASE(attention_of_f16) { attention_agrees<float, f16>(4); }

BOOST_AUTO_TEST_CASE(layouts_of_floats) { layouts_give_the_same_bits<float, float>(); }
BOOST_AUTO_TEST_CASE(layouts_of_doubles) { layouts_give_the_same_bits<double, double>(); }
BOOST_AUTO_TEST_CASE(layouts_of_bf16) { layouts_give_the_same_bits<float, bf16>(); }

BOOST_AUTO_TEST_CASE(other_reductions) {
  for_problems<float, bf16>(60, 5, [](auto const& p, generator& random) {
    auto const past = random.below(p.size.keys + 3) - 2;
    auto const visible = [&](auto i, auto k) { return k <= i + past; };
    auto const s = where(causal<query, key>(past), p.scores());
    auto const sum_of = [](auto const& x) {
      double total = 0;
      for (double const one : x) total += one;
      return total;
    };
    BOOST_TEST(
        agrees(run(sum<key>(s / 16.0F)), p.folded(visible, [&](auto const& x) { return sum_of(x) / 16; }), 1e-5));
    BOOST_TEST(agrees(
        run(mean<key>(s)),
        p.folded(visible, [&](auto const& x) { return x.empty() ? 0 : sum_of(x) / static_cast<double>(x.size()); }),
        1e-5));
    BOOST_TEST(agrees(
        run(max<key>(s)),
        p.folded(visible, [](auto const& x) { return x.empty() ? -infinity : *std::max_element(x.begin(), x.end()); }),
        1e-5));
    auto const sigmoids = [](auto& x) {
      for (double& one : x) one = 1 / (1 + std::exp(3 - one));
    };
    BOOST_TEST(agrees(run(dot<key>(sigmoid(s - 3.0F), p.values.view())), p.context(visible, sigmoids), 1e-5));
    auto const halves = [](auto& x) {
      softmax_of(x);
      for (double& one : x) one /= 2;
    };
    BOOST_TEST(agrees(run(dot<key>(softmax<key>(s) / 2.0F, p.values.view())), p.context(visible, halves), 1e-5));
  });
}

BOOST_AUTO_TEST_CASE(two_dots) {
  for_problems<float, float>(30, 6, [](auto const& p, generator& random) {
    sizes other_sizes = p.size;
    other_sizes.width = widths[random.below(std::ssize(widths))];
    problem<float, float> const other(other_sizes, random);
    std::vector<double> want;
    p.for_lanes([&](auto b, auto h, auto g, auto i) {
      std::vector<double> s;
      for (std::ptrdiff_t k = 0; k < p.size.keys; ++k) s.push_back(p.score(b, h, g, i, k) + other.score(b, h, g, i, k));
      softmax_of(s);
      for (std::ptrdiff_t c = 0; c < p.size.values; ++c) {
        double sum = 0;
        for (std::ptrdiff_t k = 0; k < p.size.keys; ++k)
          sum += s[static_cast<std::size_t>(k)] * p.values.number(b, h, k, c);
        want.push_back(sum);
      }
    });
    auto const more =
        dot<model>(rename<d_head, model>(other.q), rename<d_head, model>(other.keys.view())) * other.scale;
    BOOST_TEST(agrees(run(dot<key>(softmax<key>(p.scores() + more), p.values.view())), want, 1e-5));
  });
}

// A predicate, a flag, a dense mask and a bias of 0 and -infinity; and any number of threads.
BOOST_AUTO_TEST_CASE(one_mask_in_four_spellings) {
  for_problems<float, float>(60, 7, [](auto const& p, generator& random) {
    auto const past = random.below(p.size.keys + 3) - 2, window = 1 + random.below(p.size.keys + 1);
    tensor<bool, query, key> dense{query{p.size.queries}, key{p.size.keys}};
    tensor<float, query, key> bias{query{p.size.queries}, key{p.size.keys}};
    for (std::ptrdiff_t i = 0; i < p.size.queries; ++i)
      for (std::ptrdiff_t k = 0; k < p.size.keys; ++k) {
        dense(i, k) = k <= i + past && i + past - k < window;
        bias(i, k) = dense(i, k) ? 0.0F : -std::numeric_limits<float>::infinity();
      }
    auto const visible = [&](auto i, auto k) { return dense(i, k); };
    auto const attend = [&](auto const& s) { return dot<key>(softmax<key>(s), p.values.view()); };
    auto const want = run(attend(where(dense, p.scores())));
    BOOST_TEST(agrees(want, p.context(visible, [](auto& s) { softmax_of(s); }), 1e-5));
    auto const distance = index<query>() + past - index<key>();
    for (int const threads : {1, 2, 3}) {
      BOOST_TEST(same_bits(run(attend(where(dense, p.scores())), threads), want));
      BOOST_TEST(same_bits(run(attend(where(heed::window<query, key>(window, past), p.scores())), threads), want));
      BOOST_TEST(same_bits(run(attend(where(distance >= 0 && distance < window, p.scores())), threads), want));
      BOOST_TEST(same_bits(run(attend(p.scores() + bias), threads), want));
    }
  });
}

// NaN and infinity behind excluded keys change nothing, to the last bit; a live NaN stays NaN, in its lane alone.
template <class S> void excluded_keys_do_not_show(std::uint64_t seed) {
  for_problems<float, S>(60, seed, [](auto const& p, generator& random) {
    if (p.size.keys == 0) return;
    tensor<bool, query, key> keep{query{p.size.queries}, key{p.size.keys}};
    for (auto& one : keep) one = random.below(4) > 0;
    std::vector<std::ptrdiff_t> dead;
    for (int n = 0; n < 5; ++n) dead.push_back(random.below(p.size.keys));
    for (std::ptrdiff_t const k : dead)
      for (std::ptrdiff_t i = 0; i < p.size.queries; ++i) keep(i, k) = false;
    auto poisoned = p;
    for (std::ptrdiff_t const k : dead) poisoned.keys.poison(k), poisoned.values.poison(k);
    auto const attend = [&](auto const& one) {
      return dot<key>(softmax<key>(where(keep, one.scores())), one.values.view());
    };
    auto const linear = [&](auto const& one) {
      return dot<key>(sigmoid(where(keep, one.scores())), one.values.view());
    };
    BOOST_TEST(same_bits(run(attend(poisoned)), run(attend(p))));
    BOOST_TEST(same_bits(run(linear(poisoned)), run(linear(p))));
    BOOST_TEST(same_bits(run(max<key>(where(keep, poisoned.scores()))), run(max<key>(where(keep, p.scores())))));
    BOOST_TEST(same_bits(run(mean<key>(where(keep, poisoned.scores()))), run(mean<key>(where(keep, p.scores())))));

    keep(0, dead[0]) = true;  // for the first query alone
    auto const with = run(attend(poisoned));
    auto const without = run(attend(p));
    p.for_lanes([&](auto b, auto h, auto g, auto i) {
      for (std::ptrdiff_t c = 0; c < p.size.values; ++c) {
        auto const got = with(b, h, g, i, c);
        BOOST_TEST((i == 0 ? got != got : got == without(b, h, g, i, c)));
      }
    });
  });
}
BOOST_AUTO_TEST_CASE(excluded_keys_of_floats) { excluded_keys_do_not_show<float>(8); }
BOOST_AUTO_TEST_CASE(excluded_keys_of_bf16) { excluded_keys_do_not_show<bf16>(9); }
BOOST_AUTO_TEST_CASE(excluded_keys_of_f16) { excluded_keys_do_not_show<f16>(10); }

BOOST_AUTO_TEST_SUITE_END()
