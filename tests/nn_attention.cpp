// SPDX-License-Identifier: BSL-1.0
// In: tokens and parameters. Out: nn::multi_head_attention and nn::grouped_query_attention are the formulas written by
// hand, to the bit, and within a bound of plain loops over float64; their parts agree with the whole.
// Next: nn_feed_forward.cpp.
#include "support/parameters.hpp"

using namespace heed;
using namespace test;

namespace {

using static_attention = nn::attention_parameters<float, model_16, head_2, d_head_8>;
using dynamic_attention = nn::attention_parameters<float, model, head, d_head>;
using wide_attention = nn::biased_attention_parameters<double, model, head, d_head, d_value, hidden>;  // hidden: memory

auto some_tokens(extent_t n) { return normal<float, query, model_16>(1, query{n}); }

template <class P> auto filled(P p, std::uint64_t seed = 7) {
  fill_parameters(p, seed);
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_attention)

BOOST_AUTO_TEST_CASE(self_attention_is_the_formula) {
  const auto x = some_tokens(11);
  const auto p = filled(static_attention());
  const auto q = dot<model_16>(x, p.w_q);
  const auto k = rename<query, key>(dot<model_16>(x, p.w_k)), v = rename<query, key>(dot<model_16>(x, p.w_v));
  const auto c = dot<key>(softmax<key>(where(causal<query, key>(), dot<d_head_8>(q, k) / std::sqrt(8.0))), v);
  const auto y = nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{});
  static_assert(has_axes<decltype(y), query, model_16>);
  check_same_bits(y, dot<head_2, d_head_8>(c, p.w_o));

  reference::attention_terms terms{.scale = 1 / std::sqrt(8.0)};
  terms.keep = [](auto, auto, auto i, auto j) { return j <= i; };
  check<query, model_16>(y, reference::multi_head_attention(grid_of(x), grid_of(x), numbers_of_attention(p), terms),
                         1e-5);
}

BOOST_AUTO_TEST_CASE(dynamic_extents_give_the_bits_of_static_ones) {
  const auto x = some_tokens(9);
  const auto p = filled(static_attention());
  dynamic_attention q{d_head{8}, model{16}, head{2}};
  std::copy(p.w_q.begin(), p.w_q.end(), q.w_q.begin()), std::copy(p.w_k.begin(), p.w_k.end(), q.w_k.begin());
  std::copy(p.w_v.begin(), p.w_v.end(), q.w_v.begin()), std::copy(p.w_o.begin(), p.w_o.end(), q.w_o.begin());
  check_same_bits(nn::multi_head_attention<query, key>(x, p),
                  nn::multi_head_attention<query, key>(rename<model_16, model>(x), q));
  BOOST_TEST(throws<shape_error>(
      [&] { (void)nn::multi_head_attention<query, key>(normal<float, query, model>(1, query{9}, model{15}), q); }));
}

// Biases, values of another width than keys, a memory of another width than the tokens, double, a length mask.
BOOST_AUTO_TEST_CASE(cross_attention_with_everything) {
  const auto p = filled(wide_attention{model{10}, head{3}, d_head{4}, d_value{5}, hidden{7}});
  const auto x = normal<double, query, model>(1, query{6}, model{10});
  const auto memory = normal<double, key, hidden>(2, key{9}, hidden{7});
  const auto y = nn::multi_head_attention<key>(x, memory, p, nn::keep(index<key>() < 8));
  reference::attention_terms terms{.scale = 0.5};
  terms.keep = [](auto, auto, auto, auto j) { return j < 8; };
  const auto want = reference::multi_head_attention(grid_of(x), grid_of(memory), numbers_of_attention(p), terms);
  check<query, model>(y, want, 1e-12);

  // projected once, read twice
  const auto m = nn::project_memory(memory, p);
  const auto [k, v] = evaluate(m.keys, m.values);
  const nn::projected_memory ready{k, v};
  check<query, model>(nn::multi_head_attention<key>(x, ready, p, nn::keep(index<key>() < 8)), want, 1e-12);
}

BOOST_AUTO_TEST_CASE(parts_are_those_of_the_whole) {
  const auto x = normal<float, batch, query, model_16>(1, batch{2}, query{12});
  const auto p = filled(static_attention());
  const auto a = nn::multi_head_attention_parts<query, key>(x, p, nn::causal_mask<query, key>{});
  static_assert(has_axes<decltype(a.weights), batch, query, head_2, key>);
  static_assert(streams<decltype(a.context)>);
  const auto [y, lse] = evaluate(a.output, a.log_sum_exp);
  BOOST_TEST(identical(y, evaluate(nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{}))));
  BOOST_TEST(agrees(lse, evaluate(unfused, log_sum_exp<key>(a.scores)), 1e-5));
  const auto [c, w] = evaluate(a.context, a.weights);
  BOOST_TEST(agrees(evaluate(sum<key>(w)), std::vector<double>(2 * 12 * 2, 1.0), 1e-6));
  BOOST_TEST(agrees(evaluate<batch, query, model_16>(nn::project_context(c, p)), y, 1e-5));
}

// Any edit of the scores is a mask here: a soft cap, a bias over heads, a window.
BOOST_AUTO_TEST_CASE(edits_of_the_scores) {
  const auto x = some_tokens(10);
  const auto p = filled(static_attention());
  const auto slopes = alibi_slopes<head_2>();
  const auto edit = [&](const auto& s) {
    return where(window<query, key>(4), softcap(s, 3) + alibi<query, key>(slopes));
  };
  reference::attention_terms terms{.scale = 1 / std::sqrt(8.0), .cap = 3};
  terms.keep = [](auto, auto, auto i, auto j) { return j <= i && i - j < 4; };
  terms.bias = [&](auto, auto h, auto i, auto j) {
    return static_cast<double>(slopes(h)) * static_cast<double>(j - i);
  };
  check(nn::multi_head_attention<query, key>(x, p, edit),
        reference::multi_head_attention(grid_of(x), grid_of(x), numbers_of_attention(p), terms), 1e-5);
}

// With one query head a group, grouped-query attention is multi-head attention.
BOOST_AUTO_TEST_CASE(groups_share_keys) {
  struct one : axis<1> {};
  const auto x = some_tokens(11);
  const auto p = filled(nn::grouped_attention_parameters<float, model_16, kv_head_2, one, d_head_8>());
  static_attention q;
  std::copy(p.w_q.begin(), p.w_q.end(), q.w_q.begin()), std::copy(p.w_k.begin(), p.w_k.end(), q.w_k.begin());
  std::copy(p.w_v.begin(), p.w_v.end(), q.w_v.begin()), std::copy(p.w_o.begin(), p.w_o.end(), q.w_o.begin());
  check(nn::grouped_query_attention<query, key>(x, p), evaluate(nn::multi_head_attention<query, key>(x, q)), 1e-5);

  const auto r = filled(nn::grouped_attention_parameters<float, model_16, kv_head_2, group_3, d_head_8, d_value_6>());
  const auto turned = [](const auto& e) { return rope<d_head_8, query>(e, rope_pairs::half, 500); };
  const auto s = dot<d_head_8>(turned(dot<model_16>(x, r.w_q)), rename<query, key>(turned(dot<model_16>(x, r.w_k))));
  const auto c = dot<key>(softmax<key>(where(causal<query, key>(), s / std::sqrt(8.0))),
                          rename<query, key>(dot<model_16>(x, r.w_v)));
  const nn::rotary<d_head_8, query> positions{rope_pairs::half, 500};
  check_same_bits(nn::grouped_query_attention<query, key>(x, r, nn::causal_mask<query, key>{}, positions),
                  dot<kv_head_2, group_3, d_value_6>(c, r.w_o));
}

// Weights stored in 16 bits are widened where they are read; packed weights stand where tensors do.
BOOST_AUTO_TEST_CASE(weights_of_other_kinds) {
  const auto x = some_tokens(13);
  const auto p = filled(nn::attention_parameters<bf16, model_16, head_2, d_head_8>());
  reference::attention_terms terms{.scale = 1 / std::sqrt(8.0)};
  const auto want = reference::multi_head_attention(grid_of(x), grid_of(x), numbers_of_attention(p), terms);
  check(nn::multi_head_attention<query, key>(x, p), want, 1e-5);

  struct packed_attention : static_attention {  // only the names of the axes are still those of the base
    decltype(packed<model_16>(static_attention::w_q)) w_q, w_k, w_v;
    decltype(packed<head_2, d_head_8>(static_attention::w_o)) w_o;
  };
  const packed_attention ready{
      {}, packed<model_16>(p.w_q), packed<model_16>(p.w_k), packed<model_16>(p.w_v), packed<head_2, d_head_8>(p.w_o)};
  check(nn::multi_head_attention<query, key>(x, ready), want, 1e-5);
}

// A layer's weights packed once: the same bits; a copy of them has no panels, since it may be written.
BOOST_AUTO_TEST_CASE(packed_layers) {
  const auto has_panels = [](auto const& t) { return t.heed_leaf().owner.attached() != nullptr; };
  const auto p = filled(nn::biased_attention_parameters<float, model_16, head_2, d_head_8>());
  const auto ready = nn::packed(p);
  for (extent_t const tokens : {1, 13, 40, 130}) {
    const auto x = some_tokens(tokens);
    check_same_bits(nn::multi_head_attention<query, key>(x, *ready), nn::multi_head_attention<query, key>(x, p));
  }
  BOOST_TEST((has_panels(ready->w_q) && has_panels(ready->w_k) && has_panels(ready->w_v) && has_panels(ready->w_o)));
  BOOST_TEST(!has_panels(ready->b_q));
  BOOST_TEST(!has_panels(ready->b_o));
  auto other = *ready;
  BOOST_TEST(!has_panels(other.w_q));
  BOOST_TEST(identical(other.w_q, p.w_q));
  other.w_q(0, 0, 0) += 1;
  BOOST_TEST(!identical(evaluate(nn::multi_head_attention<query, key>(some_tokens(40), other)),
                        evaluate(nn::multi_head_attention<query, key>(some_tokens(40), *ready))));

  const auto small = nn::packed(filled(nn::attention_parameters<bf16, model_16, head_2, d_head_8>()));
  BOOST_TEST(!has_panels(small->w_q));
  const auto nothing = nn::packed(nn::attention_parameters<double, hidden, head, d_head>());
  BOOST_TEST(nothing->w_o.size() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
