// SPDX-License-Identifier: BSL-1.0
// In: tokens, a memory, the parameters of whole decoder layers. Out: nn::decoder_layer is the formula written by hand,
// to the bit; position by position over a cache it gives what it gives at once.
// Next: nn_counts.cpp.
#include "support/parameters.hpp"

using namespace heed;
using namespace test;
namespace act = heed::nn::activations;

namespace {

struct source : axis<> {};  // the positions of the memory

using self_attention = nn::attention_parameters<float, model_16, head_2, d_head_8>;
using cross_attention = nn::attention_parameters<float, model_16, head_2, d_head_8, d_value_6, memory_12>;
using decoder = nn::decoder_layer_parameters<self_attention, cross_attention,
                                             nn::feed_forward_parameters<float, model_16, hidden_20>,
                                             nn::layer_norm_parameters<float, model_16>>;
using grouped = nn::grouped_attention_parameters<float, model_16, kv_head_2, group_3, d_head_8, d_value_6>;
using llama = nn::encoder_layer_parameters<grouped, nn::gated_feed_forward_parameters<float, model_16, hidden_20>,
                                           nn::rms_norm_parameters<float, model_16>>;

template <class P> auto filled(P p, std::uint64_t seed = 7) {
  fill_parameters(p, seed);
  return p;
}

auto by_hand(const auto& x, const auto& memory, const decoder& p) {
  const auto norm = [](const auto& e, const auto& n) { return layer_norm<model_16>(e, n.gamma, n.beta); };
  const auto& a = p.attention;
  const auto s = dot<d_head_8>(dot<model_16>(x, a.w_q), rename<query, key>(dot<model_16>(x, a.w_k))) / std::sqrt(8.0);
  const auto c = dot<key>(softmax<key>(where(causal<query, key>(), s)), rename<query, key>(dot<model_16>(x, a.w_v)));
  const auto h = norm(x + dot<head_2, d_head_8>(c, a.w_o), p.attention_norm);
  const auto& b = p.cross_attention;
  const auto t = dot<d_head_8>(dot<model_16>(h, b.w_q), dot<memory_12>(memory, b.w_k)) / std::sqrt(8.0);
  const auto d = dot<source>(softmax<source>(t), dot<memory_12>(memory, b.w_v));
  const auto g = norm(h + dot<head_2, d_value_6>(d, b.w_o), p.cross_attention_norm);
  return norm(g + dot<hidden_20>(relu(dot<model_16>(g, p.feed_forward.w_1)), p.feed_forward.w_2), p.feed_forward_norm);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_decoder)

BOOST_AUTO_TEST_CASE(with_a_memory) {
  const auto x = normal<float, query, model_16>(1, query{7});
  const auto memory = normal<float, source, memory_12>(2, source{9});
  const auto p = filled(decoder());
  const auto y = nn::decoder_layer<query, key, source>(nn::post_norm, x, memory, p);
  static_assert(has_axes<decltype(y), query, model_16>);
  check_same_bits(y, by_hand(x, memory, p));
  BOOST_TEST(explain(y).stages.size() == 10U);

  // position by position, the memory projected once
  const auto want = evaluate(y);
  const auto m = nn::project_memory(memory, p.cross_attention);
  const auto [k, v] = evaluate(m.keys, m.values);
  const nn::projected_memory ready{k, v};
  nn::attention_cache<float, self_attention, key> cache{key{7}};
  for (extent_t i = 0; i < 7; ++i) {
    const tensor<float, query, model_16> one = evaluate(slice<query>(x, i, i + 1));
    const auto step = nn::decoder_layer<query, key, source>(nn::post_norm, one, ready, p, cache);
    BOOST_TEST(agrees(evaluate(step), evaluate(slice<query>(want, i, i + 1)), 1e-5));
    BOOST_TEST(cache.length() == i + 1);
  }
}

BOOST_AUTO_TEST_CASE(without_a_memory) {
  const auto x = normal<float, batch, query, model_16>(1, batch{2}, query{10});
  const auto p = filled(llama());
  const nn::rotary<d_head_8, query> positions;
  const auto whole =
      nn::encoder_layer<query, key>(nn::pre_norm, x, p, act::silu, nn::causal_mask<query, key>{}, positions);
  const auto want = evaluate(whole);
  nn::attention_cache<float, grouped, key, batch> first{batch{2}, key{10}};
  const auto step = nn::decoder_layer<query, key>(nn::pre_norm, x, p, first, act::silu, {}, positions);
  BOOST_TEST(explain(whole).stages.size() == 8U);  // norm, q, k with rope, v, attention, output, norm, feed-forward
  BOOST_TEST(explain(step).stages.size() == 7U);   // keys and values are in the cache already
  for (const schedule how : {fused, unfused}) {
    nn::attention_cache<float, grouped, key, batch> cache{batch{2}, key{10}};
    cache.how = policy{.schedule = how, .threads = 2};
    for (const auto& [from, to] : {std::pair{0, 4}, {4, 5}, {5, 6}, {6, 10}}) {
      const auto chunk = evaluate(slice<query>(x, from, to));
      const auto y = nn::decoder_layer<query, key>(nn::pre_norm, chunk, p, cache, act::silu, {}, positions);
      BOOST_TEST(agrees(evaluate(how, y), evaluate(slice<query>(want, from, to)), 1e-5));
    }
    // one too many changes nothing
    BOOST_TEST(throws<shape_error>([&] {
      (void)nn::decoder_layer<query, key>(nn::pre_norm, evaluate(slice<query>(x, 0, 1)), p, cache, act::silu);
    }));
    BOOST_TEST(cache.length() == 10);
    BOOST_TEST(cache.values.length() == 10);
    cache.truncate(3);
    BOOST_TEST(cache.values.length() == 3);
  }
}

// A mask with a second argument knows how many positions the cache had; one with one argument does not need to.
BOOST_AUTO_TEST_CASE(masks_beside_a_cache) {
  const auto x = normal<float, query, model_16>(1, query{8});
  const auto p = filled(grouped());
  const auto want = evaluate(
      nn::grouped_query_attention<query, key>(x, p, [](const auto& s) { return where(window<query, key>(3), s); }));
  nn::attention_cache<bf16, grouped, key> narrow{key{8}};
  nn::attention_cache<float, grouped, key> cache{key{8}};
  const auto mask = [](const auto& s, extent_t past) { return where(window<query, key>(3, past), s); };
  for (const auto& [from, to] : {std::pair{0, 5}, {5, 8}}) {
    const auto chunk = evaluate(slice<query>(x, from, to));
    const auto part = evaluate(slice<query>(want, from, to));
    BOOST_TEST(agrees(evaluate(nn::grouped_query_attention<query, key>(chunk, p, cache, mask)), part, 1e-5));
    BOOST_TEST(agrees(evaluate(nn::grouped_query_attention<query, key>(chunk, p, narrow, mask)), part, 2e-2));
  }
  const auto all = nn::multi_head_attention_parts<query, key>(x, p, nn::unchanged);
  nn::attention_cache<float, grouped, key> full{key{8}};
  const auto same = nn::multi_head_attention_parts<query, key>(x, p, full, nn::unchanged);
  check(same.output, evaluate(all.output), 1e-5, {1});
  check(same.log_sum_exp, evaluate(all.log_sum_exp), 1e-5, {1});
}

// What is refused only after the keys and values were stored leaves the cache as it was, too.
BOOST_AUTO_TEST_CASE(refusals_leave_the_cache) {
  const auto x = normal<float, query, model_16>(1, query{2});
  const auto p = filled(decoder());
  nn::attention_cache<float, self_attention, key> cache{key{7}};
  (void)nn::multi_head_attention<query, key>(x, p.attention, cache);
  const auto held = evaluate(cache.keys.view());
  const auto unchanged = [&] {
    return cache.length() == 2 && cache.values.length() == 2 && identical(evaluate(cache.keys.view()), held);
  };
  const tensor<bool, query, key> narrow{query{2}, key{3}};
  BOOST_TEST(throws<shape_error>([&] {
    (void)nn::multi_head_attention<query, key>(x, p.attention, cache, [&](const auto& s) { return where(narrow, s); });
  }));
  BOOST_TEST(unchanged());
  const nn::projected_memory odd{normal<float, source, head_2, d_head_8>(2, source{3}),
                                 normal<float, source, head_2, d_value_6>(3, source{4})};
  BOOST_TEST(
      throws<shape_error>([&] { (void)nn::decoder_layer<query, key, source>(nn::post_norm, x, odd, p, cache); }));
  BOOST_TEST(unchanged());
}

BOOST_AUTO_TEST_SUITE_END()
