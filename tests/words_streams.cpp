// SPDX-License-Identifier: BSL-1.0
// In: formulas that nobody has fused by hand. Out: they stream (nothing of the size of queries x keys is stored)
// and give what plain loops give: latent attention, several key axes, MaxSim, losses over a vocabulary, edits in
// other orders.
// Next: words_stored.cpp.
#include "support/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heed;
using namespace test;

namespace {

constexpr int heads = 3, queries = 21, keys = 50, width = 16;

struct rotary : axis<> {};
struct static_value : axis<24> {};
struct image_row : axis<> {};
struct image_column : axis<> {};
struct vocabulary : axis<> {};
struct token : axis<> {};

const auto& tensors() {
  struct all {
    tensor<float, head, query, d_head> q =
        normal<float, head, query, d_head>(1, head{heads}, query{queries}, d_head{width});
    tensor<float, head, key, d_head> k = normal<float, head, key, d_head>(2, head{heads}, key{keys}, d_head{width});
    tensor<float, head, key, d_value> v = normal<float, head, key, d_value>(3, head{heads}, key{keys}, d_value{width});
  };
  static const all one;
  return one;
}

/// score(h, i, j) without anything, from float64 loops.
grid<3> plain_scores() {
  const auto q = grid_of(tensors().q), k = grid_of(tensors().k);
  return make_grid(
      [&](auto h, auto i, auto j) {
        double score = 0;
        for (int d = 0; d < width; ++d) score += q(h, i, d) * k(h, j, d);
        return score / 4;
      },
      heads, queries, keys);
}

/// softmax over the kept j of score(h, i, j), times v.
template <class Score, class Keep> grid<3> softmax_times_values(Score score, Keep keep) {
  const auto v = grid_of(tensors().v);
  grid<3> result(heads, queries, width);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < queries; ++i) {
      double total = 0;
      for (int j = 0; j < keys; ++j)
        if (keep(h, i, j)) total += std::exp(score(h, i, j));
      for (int j = 0; j < keys; ++j)
        for (int d = 0; d < width && keep(h, i, j); ++d)
          result(h, i, d) += std::exp(score(h, i, j)) / total * v(h, j, d);
    }
  return result;
}

template <class E> void check_context(const E& context, const grid<3>& want) {
  static_assert(streams<E>);
  check<head, query, d_value>(context, want, 1e-5);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words_streams)

BOOST_AUTO_TEST_CASE(edits_in_any_order) {
  const auto& [q, k, v] = tensors();
  const auto s = dot<d_head>(q, k) / 4.0;
  const auto bias = normal<float, query, key>(4, query{queries}, key{keys});
  const auto slopes = row<float, head>({0.5, 0.25, 0.125});
  const auto plain = plain_scores();
  const auto bias_grid = grid_of(bias);
  const auto slopes_grid = grid_of(slopes);
  const auto cap = [](double x, double limit) { return limit * std::tanh(x / limit); };
  const auto far = [](auto i, auto j) { return static_cast<double>(j - i); };
  const auto in_window = [](auto, auto i, auto j) { return j <= i + 20 && i + 20 - j < 30; };
  const auto keep = window<query, key>(30, 20);

  check_context(dot<key>(softmax<key>(softcap(where(keep, s + bias), 3)), v),
                softmax_times_values([&](auto h, auto i, auto j) { return cap(plain(h, i, j) + bias_grid(i, j), 3); },
                                     in_window));
  check_context(dot<key>(softmax<key>(where(keep, softcap(s, 3)) + bias), v),
                softmax_times_values([&](auto h, auto i, auto j) { return cap(plain(h, i, j), 3) + bias_grid(i, j); },
                                     in_window));
  check_context(dot<key>(softmax<key>(softcap(where(keep, s) * 2 + alibi<query, key>(slopes), 5) / 2 - bias), v),
                softmax_times_values(
                    [&](auto h, auto i, auto j) {
                      return cap(2 * plain(h, i, j) + slopes_grid(h) * far(i, j), 5) / 2 - bias_grid(i, j);
                    },
                    in_window));
}

// Scale and dropout after the softmax, a factor that lacks the key axis, an epilogue.
BOOST_AUTO_TEST_CASE(edits_of_the_weights) {
  const auto& [q, k, v] = tensors();
  const auto plain = plain_scores();
  const auto gate = normal<float, head, query>(5, head{heads}, query{queries});
  const auto gate_grid = grid_of(gate);
  auto want =
      softmax_times_values([&](auto h, auto i, auto j) { return plain(h, i, j); }, [](auto...) { return true; });
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < queries; ++i)
      for (int d = 0; d < width; ++d) want(h, i, d) = reference::silu(0.5 * gate_grid(h, i) * want(h, i, d) + 1);
  const auto weights = dropout(softmax<key>(dot<d_head>(q, k) / 4.0) * gate, 0.0, 3) / 2;
  check_context(silu(dot<key>(weights, v) + 1), want);
}

// Scores that are two dots, and one tensor that serves as K and as V.
BOOST_AUTO_TEST_CASE(latent_attention) {
  const auto q = normal<float, head, query, d_head>(1, head{heads}, query{queries}, d_head{width});
  const auto q_rotary = normal<float, head, query, rotary>(2, head{heads}, query{queries}, rotary{4});
  const auto latent = normal<float, key, d_head>(3, key{keys}, d_head{width});  // for all heads
  const auto k_rotary = normal<float, key, rotary>(4, key{keys}, rotary{4});
  const auto scores = (dot<d_head>(q, latent) + dot<rotary>(q_rotary, k_rotary)) * 0.25F;
  const auto context = dot<key>(softmax<key>(where(causal<query, key>(keys - queries), scores)), latent);
  static_assert(streams<decltype(context)>);

  grid<4> all_q(1, heads, queries, width + 4), all_k(1, 1, keys, width + 4), values(1, 1, keys, width);
  for (int j = 0; j < keys; ++j)
    for (int d = 0; d < width + 4; ++d) {
      for (int h = 0; h < heads; ++h)
        if (j < queries) all_q(0, h, j, d) = static_cast<double>(d < width ? q(h, j, d) : q_rotary(h, j, d - width));
      all_k(0, 0, j, d) = static_cast<double>(d < width ? latent(j, d) : k_rotary(j, d - width));
      if (d < width) values(0, 0, j, d) = static_cast<double>(latent(j, d));
    }
  reference::attention_terms terms;
  terms.scale = 0.25;
  terms.keep = [](auto, auto, auto i, auto j) { return j <= i + keys - queries; };
  check<head, query, d_head>(context, reference::attention(all_q, all_k, values, terms).context, 1e-5);
}

// One head whose context is projected at once: the context is stored, never its weights. The projection has an axis that
// only the values have, as the score of a streamed product would.
BOOST_AUTO_TEST_CASE(a_context_under_a_projection) {
  const auto q = normal<float, query, d_head>(1, query{queries}, d_head{width});
  const auto k = normal<float, key, d_head>(2, key{keys}, d_head{width});
  const auto v = normal<float, key, static_value>(3, key{keys});
  const auto w_o = normal<float, static_value, model>(4, model{11});
  const auto scores = dot<d_head>(q, k) / 4.0;
  const auto check_projected = [&](const auto& context, int contexts = 1) {
    const auto y = dot<static_value>(context, w_o);
    static_assert(streams<decltype(y)>);
    BOOST_TEST(explain(y).bytes_stored == static_cast<std::size_t>(contexts * queries * 24) * sizeof(float));
    check(y, evaluate(unfused, dot<static_value>(evaluate(unfused, context), w_o)), 1e-5);
  };
  check_projected(dot<key>(softmax<key>(scores), v));
  check_projected(dot<key>(softmax<key>(scores) - softmax<key>(-scores), v), 2);  // each softmax gives one
  check_projected(dot<key>(sigmoid(scores), v));
  check_projected(dot<key>(scores, v));

  // the axis may have an extent that is known at run time only
  const auto values = normal<float, key, d_value>(3, key{keys}, d_value{24});
  const auto w = normal<float, d_value, model>(4, d_value{24}, model{11});
  const auto y = dot<d_value>(dot<key>(softmax<key>(scores), values), w);
  BOOST_TEST(explain(y).bytes_stored == queries * 24 * sizeof(float));
  check(y, evaluate(unfused, y), 1e-5);
  const auto total = sum<d_value>(dot<key>(softmax<key>(scores), values));
  static_assert(streams<decltype(total)>);
  BOOST_TEST(explain(total).bytes_stored == queries * 24 * sizeof(float));
}

// Without a softmax the types do not tell a context under a projection from a product of features with keys: what is stored is
// the smaller of the two, whatever the extents.
BOOST_AUTO_TEST_CASE(contexts_or_features) {
  const auto bytes = [](const auto& y) { return explain(y).bytes_stored; };
  for (const int many : {50, 5})  // keys, or features
    for (const int wide : {7, 30}) {
      const auto q = normal<float, query, d_head>(1, query{queries}, d_head{width});
      const auto k = normal<float, key, d_head>(2, key{many}, d_head{width});
      const auto v = normal<float, key, d_value>(3, key{many}, d_value{wide});
      const auto w = normal<float, d_value, model>(4, d_value{wide}, model{11});
      const auto pooled_by = normal<float, query, model>(5, query{queries}, model{2});
      tensor<float, key> bias{key{many}};
      for (int j = 0; j < many; j += 3) bias(j) = -std::numeric_limits<float>::infinity();
      const auto scores = dot<d_head>(q, k) / 4.0;
      const auto smaller = static_cast<std::size_t>(queries * std::min(many, wide)) * sizeof(float);
      const auto check_bytes = [&](const auto& y, std::size_t right) {
        static_assert(streams<decltype(y)>);
        BOOST_TEST(bytes(y) == right);
        check(y, evaluate(unfused, y), 1e-5);
      };
      const auto context = dot<key>(sigmoid(scores), v);
      check_bytes(dot<d_value>(context, w), smaller);
      check_bytes(dot<d_value>(w, context * 2), smaller);
      check_bytes(dot<d_value>(tanh(context) + 1, w), smaller);
      check_bytes(mean<query>(context), smaller);
      check_bytes(max<query>(abs(context)), smaller);
      check_bytes(log_sum_exp<d_value>(context), smaller);
      check_bytes(dot<query>(context, pooled_by), smaller);
      const auto distance = index<query>() - index<key>();
      const auto slope = normal<float, query>(6, query{queries});
      check_bytes(dot<d_value>(dot<key>(exp(-abs(cast<float>(distance) * slope)), v), w), smaller);
      // what a term excludes is excluded from contexts alone
      const auto contexts = static_cast<std::size_t>(queries * wide) * sizeof(float);
      const auto biased = dot<key>(exp(tanh(scores + bias)), v);
      check_bytes(dot<d_value>(biased, w), contexts);
      check_bytes(dot<query>(biased, pooled_by), contexts);
      check_bytes(mean<query>(biased), contexts);
      check_bytes(max<query>(biased), contexts);
    }
}

// A picture: keys by row and column, each query sees its neighbourhood.
BOOST_AUTO_TEST_CASE(two_key_axes) {
  const int rows = 6, columns = 7;
  const auto q = normal<float, query, d_head>(1, query{rows * columns}, d_head{8});
  const auto k = normal<float, image_row, image_column, d_head>(2, image_row{rows}, image_column{columns}, d_head{8});
  const auto v = normal<float, image_row, image_column, d_value>(3, image_row{rows}, image_column{columns}, d_value{8});
  const auto row_apart = index<query>() / columns - index<image_row>();
  const auto column_apart = index<query>() % columns - index<image_column>();
  const auto keep = row_apart * row_apart <= 1 && column_apart * column_apart <= 4;
  const auto scores = where(keep, dot<d_head>(q, k) / 3.0);
  const auto context = dot<image_row, image_column>(softmax<image_row, image_column>(scores), v);
  static_assert(streams<decltype(context)>);

  const auto flat = [](const auto& x, int length) {
    grid<4> result(1, 1, length, 8);
    result.numbers = numbers_of(x);
    return result;
  };
  reference::attention_terms terms;
  terms.scale = 1.0 / 3;
  terms.keep = [](auto, auto, auto i, auto j) {
    return std::abs(i / columns - j / columns) <= 1 && std::abs(i % columns - j % columns) <= 2;
  };
  const int all = rows * columns;
  check(context, reference::attention(flat(q, all), flat(k, all), flat(v, all), terms).context, 1e-5);
}

// For each query the best key, summed over the queries.
BOOST_AUTO_TEST_CASE(max_sim) {
  const auto& [q, k, v] = tensors();
  const auto similarity = sum<query>(max<key>(dot<d_head>(q, k) / 4.0));
  static_assert(streams<decltype(similarity)>);
  const auto plain = plain_scores();
  grid<1> want(heads);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < queries; ++i) {
      double best = -infinity;
      for (int j = 0; j < keys; ++j) best = std::max(best, plain(h, i, j));
      want(h) += best;
    }
  check(similarity, want, 1e-5);
}

// A loss over a vocabulary without its logits.
BOOST_AUTO_TEST_CASE(cross_entropy) {
  const auto x = normal<float, token, model>(1, token{9}, model{24});
  const auto w = normal<float, model, vocabulary>(2, model{24}, vocabulary{300});
  const auto target = integers<std::int64_t, token>(300, 3, token{9});
  const auto logits = dot<model>(x, w);
  static_assert(streams<decltype(log_sum_exp<vocabulary>(logits))>);
  const auto losses = log_sum_exp<vocabulary>(logits) - take<vocabulary>(logits, target);
  const auto numbers = reference::matmul(grid_of(x), grid_of(w));
  std::vector<double> want;
  for (int i = 0; i < 9; ++i) {
    double total = 0;
    for (int n = 0; n < 300; ++n) total += std::exp(numbers(i, n));
    want.push_back(std::log(total) - numbers(i, target(i)));
  }
  check(losses, want, 1e-5);
}

// The weights may stand on the right, and v may be a vector.
BOOST_AUTO_TEST_CASE(operands_the_other_way_round) {
  const auto& [q, k, v] = tensors();
  const auto plain = plain_scores();
  const auto want =
      softmax_times_values([&](auto h, auto i, auto j) { return plain(h, i, j); }, [](auto...) { return true; });
  const auto weights = softmax<key>(dot<d_head>(k, q) / 4.0);
  check_context(dot<key>(v, weights), want);
  const auto first = at<d_value>(v, 0);
  grid<2> column(heads, queries);
  column.assign([&](auto h, auto i) { return want(h, i, 0); });
  check<head, query>(dot<key>(weights, first), column, 1e-5);
}

// Two dots over an axis of one name and two lengths: each has its own.
BOOST_AUTO_TEST_CASE(contracted_axes_of_one_name_and_two_lengths) {
  for (const int n : {3, 19}) {
    const auto q = normal<float, query, model>(1, query{n}, model{24});
    const auto k = normal<float, key, model>(2, key{keys}, model{24});
    const auto near_q = normal<float, query, model>(3, query{n}, model{7});
    const auto near_k = normal<float, key, model>(4, key{keys}, model{7});
    const auto a = grid_of(q), b = grid_of(k), c = grid_of(near_q), d = grid_of(near_k);
    std::vector<double> want;
    for (int i = 0; i < n; ++i) {
      double total = 0;
      for (int j = 0; j < keys; ++j) {
        double score = 0;
        for (int m = 0; m < 24; ++m) score += a(i, m) * b(j, m);
        for (int m = 0; m < 7; ++m) score += c(i, m) * d(j, m);
        total += std::exp(score);
      }
      want.push_back(std::log(total));
    }
    check(log_sum_exp<key>(dot<model>(q, k) + dot<model>(near_q, near_k)), want, 1e-5);
  }
}

BOOST_AUTO_TEST_SUITE_END()
