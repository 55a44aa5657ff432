// SPDX-License-Identifier: BSL-1.0
// In: exclusion in odd places: around softmax, on values and queries, below edits of weights, in differences. Out: both
// schedules give the meaning, NaN behind a mask never shows, and streams<E> tells what is stored.
// Next: words_exclusion.cpp, exclusion where it usually stands.
#include <heed/heed.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>

namespace {

struct head : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<> {};
struct value_width : heed::axis<> {};

using namespace heed;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

/// Four keys whose scores are all 0, of which a mask keeps two; values 1, or NaN where the mask excludes.
struct four_keys {
  tensor<float, query, d_head> q{query{1}, d_head{1}};
  tensor<float, key, d_head> k{key{4}, d_head{1}};
  tensor<float, key> ones{key{4}}, poisoned{key{4}}, bias{key{4}};
  four_keys() {
    for (int i = 0; i < 4; ++i) {
      ones(i) = 1;
      poisoned(i) = i < 2 ? 1 : not_a_number;
      bias(i) = i < 2 ? 0 : -infinite;
    }
  }
  auto scores() const { return dot<d_head>(q, k); }
  auto kept() const { return index<key>() < 2; }
  auto weights() const { return softmax<key>(where(kept(), scores())); }  // 1/2, 1/2, 0, 0
};

template <class T> bool same_bits(T const& one, T const& other) {
  return std::memcmp(one.data(), other.data(), static_cast<std::size_t>(one.size()) * sizeof(*one.data())) == 0;
}
/// The same but for the sign and the lower bits of a NaN, which depend on the order of a sum's operands.
template <class T> bool same_numbers(T const& one, T const& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](float a, float b) {
    return std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof a) == 0;
  });
}
template <class E> void check(E const& e, float right) {
  for (schedule each : {fused, unfused}) {
    float const got = static_cast<float>(evaluate(each, e)(0));
    bool const agrees = right != right ? got != got : got == right || std::abs(got - right) < 1e-6f;
    BOOST_TEST(agrees, got << " instead of " << right);
  }
}

/// Products of weights and values node by node, in three elements of a batch: what a value that is not finite does to the bits.
template <class T> struct products {
  static constexpr extent_t width = 7;
  extent_t queries, keys;
  tensor<T, head, query, d_head> q{head{3}, query{queries}, d_head{4}};
  tensor<T, head, key, d_head> k{head{3}, key{keys}, d_head{4}};
  tensor<T, head, key, value_width> v{head{3}, key{keys}, value_width{width}};
  tensor<T, head, query, key> p{head{3}, query{queries}, key{keys}};
  tensor<T, query, value_width> residual{query{queries}, value_width{width}};
  tensor<int, head> length{head{3}};
  std::uint32_t state = 1;

  template <class X> void fill(X& x) {
    for (auto& element : x) {
      state = state * 1664525U + 1013904223U;
      element = static_cast<T>(state >> 8) / T(1 << 24) + T(0.01);
    }
  }
  products(extent_t how_many, extent_t of) : queries(how_many), keys(of) {
    fill(q), fill(k), fill(v), fill(p), fill(residual);
    for (int i = 0; i < 3; ++i) length(i) = static_cast<int>(keys) - 2 + i;
  }
  /// check(a name, a destination, a formula) for each way that a product with an excluded factor is taken.
  template <class Keep, class Check> void each(Keep const& keep, Check check) const {
    tensor<T, head, query, value_width> y{head{3}, query{queries}, value_width{width}};
    tensor<bf16, head, query, value_width> narrow{head{3}, query{queries}, value_width{width}};
    const auto kept = where(keep, p);
    const auto plain = dot<key>(kept, v);
    check("attention", y, dot<key>(softmax<key>(where(keep, dot<d_head>(q, k))), v));
    check("weights first", y, plain);
    check("values first", y, dot<key>(v, kept));
    check("rounded", narrow, plain);
    check("more than the product", y, plain * 2 + residual);
    check("of some queries", y, where(index<query>() != 2, plain));
    check("excluded on both sides", y, dot<key>(kept, where(index<key>() != 0, v)));
  }
  /// Where `shows` does not hold, a run with `poison` in the place of 0 has the same bits; where it does, it is not finite.
  template <class Keep, class Poison, class Shows> void compare(Keep const& keep, Poison poison, Shows shows) {
    each(keep, [&](char const* name, auto& clean, auto const& e) {
      for (const schedule how : {unfused, fused})
        for (const int threads : {1, 3}) {
          const policy as{.schedule = how, .threads = threads};
          auto poisoned = clean;
          poison(T(0)), evaluate_into(as, clean, e);
          for (const T value : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
            poison(value), evaluate_into(as, poisoned, e);
            int wrong = 0;
            for (extent_t h = 0; h < 3; ++h)
              for (extent_t i = 0; i < queries; ++i)
                for (extent_t w = 0; w < width; ++w) {
                  const auto x = poisoned(h, i, w), right = clean(h, i, w);
                  wrong +=
                      shows(h, i, w) ? std::isfinite(static_cast<float>(x)) : std::memcmp(&x, &right, sizeof x) != 0;
                }
            BOOST_TEST(wrong == 0, name << (how == fused ? ", fused" : ", unfused") << ", threads " << threads << ", "
                                        << queries << " queries, " << keys << " keys, " << value << ": " << wrong
                                        << " are wrong");
          }
        }
    });
  }
  void check() {
    const auto below = index<key>() < length;
    tensor<bool, head, query, key> dense{head{3}, query{queries}, key{keys}};
    evaluate_into(dense, below && index<query>() >= 0);
    const auto hidden = [&](T x) { v(0, keys - 1, 3) = v(0, keys - 2, 3) = v(1, keys - 1, 6) = x; };
    const auto nowhere = [](extent_t, extent_t, extent_t) { return false; };
    compare(below, hidden, nowhere);
    compare(dense, hidden, nowhere);
    // one that all see beside those that none does, then one query that sees one of these
    const auto both = [&](T x) { hidden(x), v(2, 1, 5) = x; };
    const auto seen = [](extent_t h, extent_t, extent_t w) { return h == 2 && w == 5; };
    compare(below, both, seen);
    dense(0, queries - 1, keys - 1) = true;
    compare(dense, both, [&](extent_t h, extent_t i, extent_t w) {
      return seen(h, i, w) || (h == 0 && i == queries - 1 && w == 3);
    });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_exclusion_around)

BOOST_AUTO_TEST_CASE(around_softmax) {
  const four_keys f;
  check(dot<key>(where(f.kept(), softmax<key>(f.scores())), f.ones), 0.5f);
  check(dot<key>(where(f.kept(), softmax<key>(f.scores()) * 2) - softmax<key>(f.scores()), f.ones), 0.5f);
}

BOOST_AUTO_TEST_CASE(on_values_and_queries) {
  const four_keys f;
  check(dot<key>(softmax<key>(f.scores()), slice<key>(where(f.kept(), f.ones), 0, 4)), 0.5f);
  check(dot<key>(softmax<key>(f.scores()), slice<key>(where(f.kept(), f.poisoned), 0, 4)), 0.5f);
  tensor<float, key, d_head> poisoned_keys{key{4}, d_head{1}};
  for (float& x : poisoned_keys) x = not_a_number;
  const auto masked = dot<d_head>(where(index<d_head>() < 0, f.q), poisoned_keys);
  check(dot<key>(softmax<key>(masked), f.ones), 1);
}

BOOST_AUTO_TEST_CASE(edited_weights_keep_their_zeros) {
  const four_keys f;
  const auto w = f.weights();
  check(dot<key>(w / 2, f.poisoned), 0.5f);
  check(dot<key>(-w, f.poisoned), -1);
  check(dot<key>(dropout(w, 0, 1), f.poisoned), 1);
  check(dot<key>(w - 0.5f * f.weights(), f.poisoned), 0.5f);
  check(dot<key>(let(w), f.poisoned), 1);
  check(dot<key>(w * w, f.poisoned), 0.5f);
  // where over weights excludes beside their zeros
  check(dot<key>(where(index<key>() != 1, w), f.poisoned), 0.5f);
  check(dot<key>(where(index<key>() != 1, w * 4) * 0.5f, f.poisoned), 1);
  check(dot<key>(where(index<key>() != 1, w) - w / 2, f.poisoned), 0.25f);
  const auto [context, weights] = evaluate(dot<key>(w * 2, f.poisoned), w);
  BOOST_TEST(std::abs(context(0) - 2) < 1e-6f);
  BOOST_TEST(weights(0, 2) == 0);
}

BOOST_AUTO_TEST_CASE(functions_that_leave_a_zero_keep_it) {
  const four_keys f;
  const auto w = f.weights();
  check(dot<key>(pow(w, 2), f.poisoned), 0.5f);
  check(dot<key>(pow(w, f.ones * 2), f.poisoned), 0.5f);
  check(dot<key>(max(w, 0), f.poisoned), 1);
  check(dot<key>(max(-1, w), f.poisoned), 1);
  check(dot<key>(min(w, 0.25f), f.poisoned), 0.5f);
  check(dot<key>(min(w, pow(w, 2)), f.poisoned), 0.5f);
  check(dot<key>(gelu(w), f.poisoned), 0.6914625f);  // Phi(1/2)
  check(dot<key>(silu(w), f.poisoned), 0.6224593f);
  check(dot<key>(cast<double>(w), cast<double>(f.poisoned)), 1);
  check(dot<key>(cast<float>(cast<double>(w)) * 2, f.poisoned), 2);
  check(dot<key>(where(w > 0.1f, w, 0), f.poisoned), 1);
  check(dot<key>(where(w > 0.1f || w < -1, 3 * w, -w), f.poisoned), 3);
  check(dot<key>(where(index<key>() != 0, w, 0), f.poisoned), 0.5f);
  check(dot<key>(cast<float>(w > 0.1f), f.poisoned), 2);
  check(dot<key>(let(pow(w, 2)) * 2, f.poisoned), 1);
  // a zero is one whatever it was multiplied by
  check(dot<key>(min(w * f.poisoned, 0.25f), f.ones), 0.5f);
  check(dot<key>(where(index<key>() != 0, w * f.poisoned, 0), f.ones), 0.5f);
}

BOOST_AUTO_TEST_CASE(functions_that_make_a_zero_something_see_its_value) {
  const four_keys f;
  const auto w = f.weights();
  check(dot<key>(max(w, 0.1f), f.ones), 1.2f);
  for (bool const poisoned : {false, true}) {
    auto const& v = poisoned ? f.poisoned : f.ones;
    const auto seen = [&](float right) { return poisoned ? not_a_number : right; };
    check(dot<key>(max(w, 0.1f), v), seen(1.2f));
    check(dot<key>(min(w, -1), v), seen(-4));
    check(dot<key>(pow(w, 0), v), seen(4));
    check(dot<key>(exp(w), v), seen(2 + 2 * std::exp(0.5f)));
    check(dot<key>(sigmoid(w), v), seen(1 + 1.2449187f));
    check(dot<key>(w + 1, v), seen(5));
    check(dot<key>(cast<float>(w < 0.1f), v), seen(2));
    check(dot<key>(where(index<key>() != 3, w, 1), v), seen(2));
  }
}

/// Against float64: what a function makes of each weight times its value, but nothing where the key is excluded and the result 0.
BOOST_AUTO_TEST_CASE(functions_of_many_weights) {
  constexpr int queries = 19, keys = 70, width = 3;
  tensor<float, query, key> s{query{queries}, key{keys}}, floor{query{queries}, key{keys}};
  tensor<bool, query, key> keep{query{queries}, key{keys}};
  tensor<float, key, d_head> v{key{keys}, d_head{width}};
  std::uint32_t state = 7;
  const auto random = [&] { return static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24f; };
  for (float& x : s) x = 4 * random() - 2;
  for (float& x : floor) x = random() < 0.5f ? -1 : 0;
  for (int i = 0; i < queries; ++i)
    for (int j = 0; j < keys; ++j) keep(i, j) = i != 4 && j % 5 != 3 && random() < 0.7f;
  for (int j = 0; j < keys; ++j)
    for (int d = 0; d < width; ++d) v(j, d) = j % 5 == 3 ? not_a_number : 2 * random() - 1;

  const auto w = softmax<key>(where(keep, s));
  const auto compare = [&](auto const& e, auto function) {
    for (schedule how : {fused, unfused}) {
      const auto got = evaluate(how, dot<key>(e, v));
      for (int i = 0; i < queries; ++i) {
        double total = 0;
        for (int j = 0; j < keys; ++j) total += keep(i, j) ? std::exp(double{s(i, j)}) : 0;
        for (int d = 0; d < width; ++d) {
          double right = 0;
          for (int j = 0; j < keys; ++j) {
            double const y = function(keep(i, j) ? std::exp(double{s(i, j)}) / total : 0.0, double{floor(i, j)});
            if (keep(i, j) || y != 0) right += y * double{v(j, d)};
          }
          bool const agrees = right != right ? got(i, d) != got(i, d) : std::abs(got(i, d) - right) < 1e-5;
          BOOST_TEST(agrees, got(i, d) << " instead of " << right << " at " << i << ", " << d);
        }
      }
    }
  };
  compare(pow(w, 2) * 8, [](double x, double) { return x * x * 8; });
  compare(max(w, floor), [](double x, double y) { return std::max(x, y); });
  compare(min(w * 4, 0.1f), [](double x, double) { return std::min(x * 4, 0.1); });
  compare(min(w, floor), [](double x, double y) { return std::min(x, y); });
  compare(where(floor < 0, 2 * w, w * w), [](double x, double y) { return y < 0 ? 2 * x : x * x; });
  compare(max(w, 0.01f), [](double x, double) { return std::max(x, 0.01); });
}

/// Weights that exclude for themselves, and rows whose scores are NaN: 0 where no key is kept by both masks, NaN elsewhere.
BOOST_AUTO_TEST_CASE(weights_that_exclude_in_a_row_of_nan) {
  for (auto [queries, keys, width] : {std::tuple{1, 4, 1}, {3, 70, 5}, {5, 9000, 3}, {40, 70, 3}, {70, 300, 20}}) {
    tensor<float, query, d_head> q{query{queries}, d_head{2}};
    tensor<float, key, d_head> k{key{keys}, d_head{2}};
    tensor<float, key, value_width> v{key{keys}, value_width{width}};
    for (int i = 0; i < queries; ++i) q(i, 0) = i % 2 == 0 ? not_a_number : 1, q(i, 1) = 0;
    for (int j = 0; j < keys; ++j) {
      k(j, 0) = 0.25f * static_cast<float>(j % 3), k(j, 1) = 0;
      for (int d = 0; d < width; ++d) v(j, d) = 1;
    }
    const auto scores = dot<d_head>(q, k);
    const auto few = softmax<key>(where(index<key>() < 2, scores));
    for (schedule how : {fused, unfused}) {
      const auto none = evaluate(how, dot<key>(where(index<key>() >= 2, few), v));
      const auto some = evaluate(how, dot<key>(where(index<key>() >= 1, few) * 2, v));
      const auto own =
          evaluate(how, dot<key>(where(index<key>() >= index<query>(), few), v));  // none from the third on
      for (int i = 0; i < queries; ++i) {
        BOOST_TEST(none(i, 0) == 0);
        BOOST_TEST((some(i, width - 1) != some(i, width - 1)) == (i % 2 == 0));
        BOOST_TEST((own(i, 0) != own(i, 0)) == (i % 2 == 0 && i < 2));
        if (i >= 2) BOOST_TEST(own(i, 0) == 0);
      }
    }
  }
}

/// A bias of the scores' own size is not looked at before it is added: what it excludes is found all the same, in any block of
/// keys, behind NaN and infinity, to the bits of a mask.
BOOST_AUTO_TEST_CASE(biases_of_the_scores_own_size) {
  constexpr int heads = 3, queries = 70, keys = 900, width = 5;
  tensor<float, head, query, d_head> q{head{heads}, query{queries}, d_head{width}};
  tensor<float, head, key, d_head> k{head{heads}, key{keys}, d_head{width}};
  tensor<float, head, key, value_width> v{head{heads}, key{keys}, value_width{width}};
  std::uint32_t state = 11;
  const auto random = [&] { return static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24f - 0.5f; };
  for (float& x : q) x = random();
  for (float& x : k) x = random();
  for (float& x : v) x = random();
  const auto patterns = [](int pattern, int h, int i, int j) {
    switch (pattern) {
      case 0: return true;
      case 1: return j <= 10 * i;
      case 2: return j != 0;
      case 3: return j < 895;
      case 4: return (h + i / 16 + j / 100) % 3 != 0;
      case 5: return (i * 7 + j * 13 + h) % 5 != 0;
      case 6: return i != 40;
      default: return j >= 450 || h != 1;
    }
  };
  for (int pattern = 0; pattern < 8; ++pattern)
    for (bool poisoned : {false, true}) {
      tensor<float, head, query, key> bias{head{heads}, query{queries}, key{keys}};
      tensor<bool, head, query, key> keep{head{heads}, query{queries}, key{keys}};
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < queries; ++i)
          for (int j = 0; j < keys; ++j) {
            keep(h, i, j) = patterns(pattern, h, i, j);
            bias(h, i, j) = keep(h, i, j) ? 0 : -infinite;
          }
      auto k2 = evaluate(k + 0);
      auto v2 = evaluate(v + 0);
      if (poisoned)
        for (int h = 0; h < heads; ++h)
          for (int j : {0, 447, 899}) {
            for (int d = 0; d < width; ++d) v2(h, j, d) = not_a_number;
            k2(h, j, 0) = j == 447 ? infinite : not_a_number;
          }
      const auto s = dot<d_head>(q, k2);
      const auto masked = evaluate(dot<key>(softmax<key>(where(keep, s)), v2));
      for (int threads : {1, 3})
        BOOST_TEST(same_numbers(evaluate(policy{.threads = threads}, dot<key>(softmax<key>(s + bias), v2)), masked),
                   "pattern " << pattern << ", poisoned " << poisoned << ", threads " << threads);
      BOOST_TEST(same_bits(evaluate(log_sum_exp<key>(bias + s)), evaluate(log_sum_exp<key>(where(keep, s)))));
    }
}

// A product with weights that are kept by let is no score of what is reduced after it: excluded keys have to be skipped.
BOOST_AUTO_TEST_CASE(shared_weights_below_another_reduction) {
  tensor<float, query, key> s{query{3}, key{15}};
  tensor<float, d_head, key> x{d_head{4}, key{15}};
  for (float& each : s) each = 0;
  for (int d = 0; d < 4; ++d)
    for (int j = 0; j < 15; ++j) x(d, j) = j % 3 == 0 ? not_a_number : 2;
  const auto weights = softmax<key>(where(index<key>() % 3 != 0, s));
  for (const schedule how : {fused, unfused})
    for (const auto& got : {evaluate(how, mean<d_head>(dot<key>(let(weights), x))),
                            evaluate(how, mean<d_head>(dot<key>(let(weights) * 1, x))),
                            evaluate(how, mean<d_head>(dot<key>(weights, x)))})
      for (const float each : got) BOOST_TEST(std::abs(each - 2) < 1e-6F);
}

BOOST_AUTO_TEST_CASE(signs_of_infinite_terms) {
  const four_keys f;
  tensor<float, query, key> zeros{query{1}, key{4}};
  tensor<float, key> opposite{key{4}};
  for (int i = 0; i < 4; ++i) opposite(i) = -f.bias(i);
  check(max<key>(zeros - f.bias), infinite);  // 0 - (-infinity) is a number
  check(sum<key>(zeros - opposite), 0);       // -(+infinity) excludes
  check(sum<key>(zeros + f.bias), 0);
}

BOOST_AUTO_TEST_CASE(what_is_stored_does_not_stream) {
  const four_keys f;
  const auto gate = dot<key>(softmax<key>(f.scores()) * sigmoid(f.scores()), f.ones);
  const auto condition = dot<key>(softmax<key>(where(f.scores() > -1, f.scores())), f.ones);
  static_assert(!streams<decltype(gate)> && !streams<decltype(condition)>);
  static_assert(streams<decltype(dot<key>(f.weights() / 2, f.ones))>);
  check(gate, 0.5f);
  check(condition, 1);
  BOOST_CHECK_THROW((void)evaluate(policy{.store_limit = 0}, gate), shape_error);
}

/// A context whose weights exclude by a term of -infinity is no score of a reduction around it: the weights would be stored,
/// with what the term excludes. Projections with a bias are no weights.
BOOST_AUTO_TEST_CASE(weights_with_infinite_terms_below_a_reduction) {
  tensor<float, query, d_head> q{query{5}, d_head{3}};
  tensor<float, key, d_head> k{key{19}, d_head{3}};
  tensor<float, key, value_width> x{key{19}, value_width{7}};
  tensor<float, key> bias{key{19}};
  for (float& each : q) each = 0;
  for (int j = 0; j < 19; ++j) {
    const bool out = j % 4 == 1;
    bias(j) = out ? -infinite : 0;
    for (int d = 0; d < 3; ++d) k(j, d) = out ? not_a_number : 1;
    for (int d = 0; d < 7; ++d) x(j, d) = out ? infinite : 2;
  }
  const auto scores = dot<d_head>(q, k) + bias;  // 14 keys are in
  for (const schedule how : {fused, unfused}) {
    for (const float got : evaluate(how, mean<query>(dot<key>(exp(tanh(scores)), x)))) BOOST_TEST(got == 28);
    for (const float got : evaluate(how, max<query>(dot<key>(x, cos(silu(scores)))))) BOOST_TEST(got == 28);
    for (const float got : evaluate(how, sum<value_width>(dot<key>(exp(scores), x)))) BOOST_TEST(got == 7 * 28);
  }
  const tensor<float, value_width> b{value_width{7}};
  const auto projected = dot<key>(scores, x) + b;
  static_assert(streams<decltype(dot<query>(softmax<query>(dot<value_width>(relu(projected), b)), q))>);
  static_assert(streams<decltype(log_sum_exp<query>(dot<value_width>(projected, b)))>);
}

/// Node by node, weights are factors with zeros: one value that is not finite decides how they are multiplied. The values are
/// long enough that threads share the look at them, and lie in every way that strides can say.
BOOST_AUTO_TEST_CASE(one_poisoned_value_of_many) {
  constexpr extent_t keys = 1500, width = 48;
  const tensor<float, query, key> zeros{query{3}, key{keys}};
  tensor<float, key, value_width> dense{key{keys}, value_width{width}}, wide{key{keys}, value_width{3 * width}};
  tensor<float, value_width, key> across{value_width{width}, key{keys}};
  std::fill(dense.begin(), dense.end(), 1.0f), std::fill(wide.begin(), wide.end(), 1.0f);
  std::fill(across.begin(), across.end(), 1.0f);
  const auto weights = softmax<key>(where(index<key>() < keys - 1, zeros));
  const auto agree = [&](float poison, extent_t at, bool shows) {
    dense(at, 5) = wide(at, width + 5) = across(5, at) = poison;
    const auto right = [&](auto const& values) {
      for (const schedule how : {fused, unfused})
        for (const int threads : {1, 3}) {
          const tensor y = evaluate(policy{.schedule = how, .threads = threads}, dot<key>(weights, values));
          for (extent_t q = 0; q < 3; ++q)
            for (extent_t v = 0; v < width; ++v)
              if (shows && v == 5)
                BOOST_TEST(!std::isfinite(y(q, v)));
              else
                BOOST_TEST(std::abs(y(q, v) - 1) < 1e-5f);
        }
    };
    right(dense), right(slice<value_width>(wide, width, 2 * width)), right(across);
    dense(at, 5) = wide(at, width + 5) = across(5, at) = 1;
  };
  for (const float poison : {not_a_number, infinite, -infinite}) {
    agree(poison, keys - 1, false);
    for (const extent_t at : {extent_t{0}, keys / 2, keys - 2}) agree(poison, at, true);
  }
}

/// What stands behind a mask changes no bit of any result, and what stands before it those that it is a part of.
BOOST_AUTO_TEST_CASE(poison_leaves_other_bits) {
  for (const extent_t queries : {1, 5, 33})
    for (const extent_t keys : {9, 100, 300}) {
      products<float>(queries, keys).check();
      products<double>(queries, keys).check();
    }
}
/// Values that are excluded themselves meet weights that are not finite, the other way round, and both at once.
BOOST_AUTO_TEST_CASE(poison_on_both_sides) {
  for (const extent_t keys : {9, 300}) {
    products<float> x(5, keys);
    const auto weights = where(index<key>() < keys - 1, x.p);
    const auto others = where(index<key>() != 0, x.p);
    const auto values = where(index<key>() != 0, x.v);
    const auto run = [&](float poison) {
      for (extent_t i = 0; i < 5; ++i) x.p(1, i, 0) = x.p(1, i, keys - 1) = poison;
      x.v(1, 0, 2) = x.v(1, keys - 1, 3) = poison;
      return std::tuple(evaluate(dot<key>(weights, values)), evaluate(dot<key>(x.p, values)),
                        evaluate(dot<key>(others, where(index<key>() < keys - 1, x.v))));
    };
    const auto clean = run(0);
    for (const float poison : {not_a_number, infinite}) {
      const auto got = run(poison);
      BOOST_TEST(same_bits(std::get<0>(got), std::get<0>(clean)));
      BOOST_TEST(same_bits(std::get<2>(got), std::get<2>(clean)));
      for (extent_t i = 0; i < 5; ++i)  // the last weight is kept here
        for (extent_t w = 0; w < x.width; ++w) {
          BOOST_TEST(!std::isfinite(std::get<1>(got)(1, i, w)));
          BOOST_TEST(std::get<1>(got)(0, i, w) == std::get<1>(clean)(0, i, w));
        }
    }
    // infinity times infinity is infinity, not infinity times 0
    x.p(1, 2, 1) = x.v(1, 1, 4) = infinite;
    BOOST_TEST(std::get<0>(run(not_a_number))(1, 2, 4) == infinite);
  }
}

BOOST_AUTO_TEST_SUITE_END()
