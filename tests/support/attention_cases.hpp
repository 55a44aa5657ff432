// SPDX-License-Identifier: BSL-1.0
// In: sizes, and what is special about the numbers of one problem. Out: one formula with everything in it (groups, scale,
// softcap, window, table of a mask, bias, sink) over operands of any type, each of which ends at a page without access,
// compared with attention by its definition under every schedule, with 1 to 5 threads: right, and the same bits for any number of
// threads and without the other heads.
// Next: cases_types.cpp.
#pragma once
#include "guards.hpp"
#include "schedules.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace test {

struct attention_sizes {
  int kv_heads, groups, queries, keys, width, values;
};
/// Nothing along each axis in turn; one of all; one query, a few, as many as a tile and one more, many.
inline constexpr attention_sizes sizes_of_attention[] = {
    {2, 2, 0, 5, 3, 2},     {2, 2, 3, 0, 3, 2},     {0, 2, 3, 5, 3, 2},    {2, 0, 3, 5, 3, 2},    {1, 1, 2, 3, 0, 2},
    {1, 2, 2, 3, 4, 0},     {1, 1, 1, 1, 1, 1},     {2, 3, 1, 131, 7, 5},  {3, 1, 1, 64, 64, 64}, {2, 1, 3, 31, 9, 8},
    {1, 2, 13, 17, 128, 3}, {1, 1, 16, 64, 16, 16}, {2, 1, 17, 65, 33, 2}, {1, 2, 70, 257, 8, 17}};

/// The elements of a tensor, the last of which stands before a page without access.
template <class T, class... A> struct at_a_guard {
  guarded<T> memory;
  heed::view<const T, A...> elements;
  explicit at_a_guard(const heed::tensor<T, A...>& from)
      : memory(from.size(), guard::behind),
        elements(memory.data(), A{from.template extent<A>()}...) {
    std::copy(from.begin(), from.end(), memory.begin());
  }
};

/// Queries stored as Q; keys, values and biases stored as K.
template <class Q, class K> struct attention_case {
  using number = std::conditional_t<std::is_same_v<Q, double>, double, float>;  // what is computed with
  static constexpr double bound = std::is_same_v<Q, double> ? 1e-12 : 1e-5;

  attention_sizes n;
  heed::tensor<Q, kv_head, group, query, d_head> q;
  heed::tensor<K, kv_head, key, d_head> k;
  heed::tensor<K, kv_head, key, d_value> v;
  heed::tensor<bool, query, key> table;
  heed::tensor<K, query, key> bias;
  heed::tensor<number, kv_head, group> sink;
  double scale, cap = infinity;
  heed::extent_t window = std::numeric_limits<heed::extent_t>::max(), past;  // all keys are seen

  explicit attention_case(const attention_sizes& sizes)
      : n(sizes),
        q(normal<Q, kv_head, group, query, d_head>(1, kv_head{n.kv_heads}, group{n.groups}, query{n.queries},
                                                   d_head{n.width})),
        k(normal<K, kv_head, key, d_head>(2, kv_head{n.kv_heads}, key{n.keys}, d_head{n.width})),
        v(normal<K, kv_head, key, d_value>(3, kv_head{n.kv_heads}, key{n.keys}, d_value{n.values})),
        table{query{n.queries}, key{n.keys}},
        bias{query{n.queries}, key{n.keys}},
        sink{kv_head{n.kv_heads}, group{n.groups}},
        scale(1 / std::sqrt(std::max(1.0, static_cast<double>(n.width)))),
        past(n.keys) {
    std::fill(table.begin(), table.end(), true);
    std::fill(sink.begin(), sink.end(), -std::numeric_limits<number>::infinity());
  }

  template <class Tensor> static void fill(Tensor& tensor, double value) {
    for (auto& element : tensor) element = to_element<typename Tensor::value_type>(value);
  }
  /// bias(i, j) = element(i, j), rounded to what it is stored as.
  template <class Element> void set_bias(Element element) {
    for (int i = 0; i < n.queries; ++i)
      for (int j = 0; j < n.keys; ++j) bias(i, j) = to_element<K>(element(i, j));
  }
  template <class Keep> void set_table(Keep keep) {
    for (int i = 0; i < n.queries; ++i)
      for (int j = 0; j < n.keys; ++j) table(i, j) = keep(i, j);
  }
  /// k and v hold what no mask may let through from key `from` on.
  void spoil(int from) {
    const double bad[] = {not_a_number, infinity, -infinity};
    for (int h = 0; h < n.kv_heads; ++h)
      for (int j = from; j < n.keys; ++j) {
        for (int d = 0; d < n.width; ++d) k(h, j, d) = to_element<K>(bad[j % 3]);
        for (int d = 0; d < n.values; ++d) v(h, j, d) = to_element<K>(bad[(j + d) % 3]);
      }
  }

  [[nodiscard]] reference::attention_values by_definition() const {
    const int heads = n.kv_heads * n.groups;
    const auto lift = [](const auto& tensor, grid<4> into) {
      into.numbers = numbers_of(tensor);
      return into;
    };
    reference::attention_terms terms{.scale = scale, .cap = cap};
    terms.keep = [this](auto, auto, auto i, auto j) { return table(i, j) && j <= i + past && i + past - j < window; };
    terms.bias = [this](auto, auto, auto i, auto j) { return to_number(bias(i, j)); };
    terms.sink = [this](auto, auto h) { return to_number(sink(h / n.groups, h % n.groups)); };
    return reference::attention(lift(q, grid<4>(1, heads, n.queries, n.width)),
                                lift(k, grid<4>(1, n.kv_heads, n.keys, n.width)),
                                lift(v, grid<4>(1, n.kv_heads, n.keys, n.values)), terms);
  }

  /// The context and the log-sum-exp.
  [[nodiscard]] auto evaluated(const heed::policy& how) const {
    const at_a_guard q_here(q);
    const at_a_guard k_here(k);
    const at_a_guard v_here(v);
    const at_a_guard table_here(table);
    const at_a_guard bias_here(bias);
    const auto products = heed::softcap(heed::dot<d_head>(q_here.elements, k_here.elements) * scale, cap);
    const auto kept = heed::where(heed::window<query, key>(window, past), heed::where(table_here.elements, products));
    const auto scores = kept + bias_here.elements;
    const auto context = heed::dot<key>(heed::softmax<key>(scores, sink), v_here.elements);
    static_assert(heed::streams<decltype(context)>);
    return heed::evaluate(how, context, heed::log_sum_exp<key>(scores, sink));
  }

  /// The last of the key-value heads with its queries, without the others.
  [[nodiscard]] attention_case last_head() const {
    attention_case one({1, n.groups, n.queries, n.keys, n.width, n.values});
    std::copy(q.end() - one.q.size(), q.end(), one.q.begin());
    std::copy(k.end() - one.k.size(), k.end(), one.k.begin());
    std::copy(v.end() - one.v.size(), v.end(), one.v.begin());
    std::copy(sink.end() - one.sink.size(), sink.end(), one.sink.begin());
    one.table = table, one.bias = bias;
    one.scale = scale, one.cap = cap, one.window = window, one.past = past;
    return one;
  }

  /// The keys from .. to - 1 alone, without the sinks.
  [[nodiscard]] attention_case part(int from, int to) const {
    attention_case one({n.kv_heads, n.groups, n.queries, to - from, n.width, n.values});
    one.q = q;
    for (int h = 0; h < n.kv_heads; ++h)
      for (int j = from; j < to; ++j) {
        for (int d = 0; d < n.width; ++d) one.k(h, j - from, d) = k(h, j, d);
        for (int d = 0; d < n.values; ++d) one.v(h, j - from, d) = v(h, j, d);
      }
    one.set_table([&](int i, int j) { return table(i, j + from); });
    one.set_bias([&](int i, int j) { return to_number(bias(i, j + from)); });
    one.scale = scale, one.cap = cap, one.window = window, one.past = past - from;
    return one;
  }
  /// Attention to the keys before `cut`, where the sinks are, and to those from there on, put together.
  void check_parts(int cut) const {
    const auto want = by_definition();
    attention_case first = part(0, cut);
    first.sink = sink;
    for (const heed::schedule how : {heed::fused, heed::unfused}) {
      const auto [context_a, lse_a] = first.evaluated({.schedule = how, .threads = 2});
      const auto [context_b, lse_b] = part(cut, n.keys).evaluated({.schedule = how, .threads = 2});
      const auto [context, lse] = heed::combine(context_a, lse_a, context_b, lse_b);
      test::check(context, want.context, bound, one_to_five);
      test::check(lse, want.log_sum_exp, bound, one_to_five);
    }
  }

  /// With one thread, and with 2, 3, 4, 5 in turn from check to check.
  void check() const {
    static int checks = 0;
    const int threads = 2 + checks++ % 4;
    const auto want = by_definition();
    for (const heed::schedule how : {heed::fused, heed::unfused}) {
      const auto [context, lse] = evaluated({.schedule = how, .threads = 1});
      BOOST_TEST_CONTEXT((how == heed::fused ? "fused" : "unfused")) {
        BOOST_TEST(agrees(context, want.context, bound));
        BOOST_TEST(agrees(lse, want.log_sum_exp, bound));
        const auto [same_context, same_lse] = evaluated({.schedule = how, .threads = threads});
        BOOST_TEST((identical(same_context, context) && identical(same_lse, lse)), "threads " << threads);
        if (n.kv_heads > 0) {
          const auto [alone, lse_alone] = last_head().evaluated({.schedule = how, .threads = 2});
          const auto last = heed::evaluate(heed::slice<kv_head>(context, n.kv_heads - 1, n.kv_heads));
          const auto last_lse = heed::evaluate(heed::slice<kv_head>(lse, n.kv_heads - 1, n.kv_heads));
          BOOST_TEST((identical(alone, last) && identical(lse_alone, last_lse)), "the last head alone");
        }
      }
    }
  }
};

/// Every size with the numbers as `change(problem)` leaves them, checked by `verify(problem)`.
template <class Case, class Change, class Verify> void for_attention_sizes(Change change, Verify verify) {
  for (const attention_sizes& n : sizes_of_attention)
    BOOST_TEST_CONTEXT("kv_head " << n.kv_heads << ", group " << n.groups << ", query " << n.queries << ", key "
                                  << n.keys << ", d_head " << n.width << ", d_value " << n.values) {
      Case p(n);
      change(p);
      verify(p);
    }
}
template <class Case, class Change> void for_attention_sizes(Change change) {
  for_attention_sizes<Case>(change, [](const Case& p) { p.check(); });
}

}  // namespace test
