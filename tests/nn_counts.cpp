// SPDX-License-Identifier: BSL-1.0
// In: parameter structs of heed::nn. Out: their counts of parameters and operations are those worked out by hand,
// constants where all extents are static; they are built from extents by name, in any order.
// Next: fail/parts_of_two_models.cpp.
#include "support/parameters.hpp"

using namespace heed;
using namespace test;

namespace {

// The base model of "Attention is all you need": width 512, 8 heads of 64, hidden 2048.
struct model_512 : axis<512> {};
struct head_8 : axis<8> {};
struct d_head_64 : axis<64> {};
struct hidden_2048 : axis<2048> {};
using attention = nn::attention_parameters<float, model_512, head_8, d_head_64>;
using biased = nn::biased_attention_parameters<float, model_512, head_8, d_head_64>;
using feed_forward = nn::biased_feed_forward_parameters<float, model_512, hidden_2048>;
using norm = nn::layer_norm_parameters<float, model_512>;
using encoder = nn::encoder_layer_parameters<biased, feed_forward, norm>;
using decoder = nn::decoder_layer_parameters<biased, biased, feed_forward, norm>;

static_assert(nn::parameter_count<attention>() == 1'048'576);     // 4 x 512 x 512
static_assert(nn::parameter_count<biased>() == 1'050'624);        // and 4 x 512
static_assert(nn::parameter_count<feed_forward>() == 2'099'712);  // 2 x 512 x 2048 + 2048 + 512
static_assert(nn::parameter_count<norm>() == 1'024);              // 2 x 512
static_assert(nn::parameter_count<encoder>() == 3'152'384);       // 1050624 + 2099712 + 2 x 1024
static_assert(nn::parameter_count<decoder>() == 4'204'032);       // 3152384 + 1050624 + 1024

// One sequence of 100: projections 8 x 512 x 512 x 100, scores and context 4 x 512 x 100 x 100.
static_assert(nn::floating_point_operations<attention>({.queries = 100}) == 209'715'200 + 20'480'000);
static_assert(nn::floating_point_operations<biased>({.queries = 100, .sequences = 3}) == 3 * 230'195'200);
// One token after 99: the projections of one, the scores of 100.
static_assert(nn::floating_point_operations<attention>({.queries = 1, .cached = 99}) == 2'097'152 + 204'800);
// 10 queries to a memory of 20: 4 x 512 x 512 for each query and for each key, 4 x 512 for each pair.
static_assert(nn::floating_point_operations<attention>({.queries = 10, .memory = 20}) == 30 * 1'048'576 + 200 * 2'048);
static_assert(nn::floating_point_operations<feed_forward>({.queries = 100}) == 419'430'400);  // 4 x 512 x 2048 x 100
static_assert(nn::floating_point_operations<norm>({.queries = 100}) == 0);
static_assert(nn::floating_point_operations<encoder>({.queries = 100}) == 230'195'200 + 419'430'400);
static_assert(nn::floating_point_operations<decoder>({.queries = 10, .memory = 20}) ==
              10 * 2'097'152 + 100 * 2'048 + 31'866'880 + 41'943'040);

// Grouped: 6 heads of 8 over 2 of keys, values of 6: 16 x 48 + 16 x 16 + 16 x 12 + 36 x 16 = 1792.
using grouped = nn::grouped_attention_parameters<bf16, model_16, kv_head_2, group_3, d_head_8, d_value_6>;
static_assert(nn::parameter_count<grouped>() == 1'792);
// 5 tokens after 3: 2 x 1792 for each, 2 x 6 x (8 + 6) for each of 40 pairs.
static_assert(nn::floating_point_operations<grouped>({.queries = 5, .cached = 3}) == 5 * 3'584 + 40 * 168);
using gated = nn::gated_feed_forward_parameters<float, model_16, hidden_20>;
static_assert(nn::parameter_count<gated>() == 960);  // 3 x 16 x 20
static_assert(nn::floating_point_operations<gated>({.queries = 5}) == 9'600);

// Extents that the types leave open come by name, and the count is still a constant.
using open_attention = nn::biased_attention_parameters<double, model, head, d_head, d_value, hidden>;
constexpr extent_t open_count =
    nn::parameter_count<open_attention>(head{3}, d_head{4}, d_value{5}, hidden{7}, model{10});
static_assert(open_count == 120 + 84 + 105 + 150 + 12 + 12 + 15 + 10);

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_counts)

BOOST_AUTO_TEST_CASE(counts_at_run_time) {
  const open_attention p{d_value{5}, model{10}, head{3}, hidden{7}, d_head{4}};
  BOOST_TEST(nn::parameter_count(p) == open_count);
  BOOST_TEST(nn::floating_point_operations(p, {.queries = 2, .memory = 6}) ==
             2 * 2 * (120 + 150) + 2 * 6 * (84 + 105) + 2 * 12 * 3 * 9);
  const encoder e;
  BOOST_TEST(nn::parameter_count(e) == 3'152'384);
  BOOST_TEST(nn::floating_point_operations(e, {.queries = 100}) == 649'625'600);
}

BOOST_AUTO_TEST_CASE(every_part_takes_its_extents) {
  using open_encoder =
      nn::encoder_layer_parameters<nn::grouped_attention_parameters<float, model, kv_head, group, d_head>,
                                   nn::gated_feed_forward_parameters<float, model, hidden>,
                                   nn::rms_norm_parameters<float, model>>;
  const open_encoder p{hidden{9}, model{12}, group{2}, kv_head{3}, d_head{4}};
  BOOST_TEST(p.attention.w_q.size() == 12 * 3 * 2 * 4);
  BOOST_TEST(p.feed_forward.w_down.extent<hidden>() == 9);
  BOOST_TEST(p.attention_norm.gain.size() == 12);
  BOOST_TEST(nn::parameter_count(p) == 2 * 288 + 2 * 144 + 3 * 108 + 2 * 12);
  BOOST_TEST(p.extent<hidden>() == 9);
  BOOST_TEST(nn::parameter_count(open_encoder()) == 0);
  BOOST_TEST(nn::parameter_count(p) ==
             nn::parameter_count<open_encoder>(hidden{9}, model{12}, group{2}, kv_head{3}, d_head{4}));

  nn::attention_cache<f16, decltype(p.attention), key, batch> cache{kv_head{3}, key{50}, batch{2}, d_head{4}};
  BOOST_TEST(cache.keys.capacity() == 50);
  BOOST_TEST(cache.values.capacity() == 50);
}

// Two for every multiplication and addition: what explain counts is this and the elementwise work.
BOOST_AUTO_TEST_CASE(explain_counts_at_least_these) {
  const nn::attention_parameters<float, model_16, head_2, d_head_8> p;
  const auto x = normal<float, batch, query, model_16>(1, batch{2}, query{40});
  const auto count = static_cast<double>(nn::floating_point_operations(p, {.queries = 40, .sequences = 2}));
  const double planned = explain(nn::multi_head_attention<query, key>(x, p)).floating_point_operations;
  BOOST_TEST(planned >= count);
  BOOST_TEST(planned <= 1.5 * count);
}

BOOST_AUTO_TEST_SUITE_END()
