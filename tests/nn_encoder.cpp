// SPDX-License-Identifier: BSL-1.0
// In: tokens and the parameters of whole encoder layers. Out: nn::encoder_layer is the formula written by hand, to the
// bit, for static and dynamic extents; its plan has the stages that are pinned here.
// Next: nn_decoder.cpp.
#include "support/parameters.hpp"

using namespace heed;
using namespace test;
namespace act = heed::nn::activations;

namespace {

template <class T, class Model, class Head, class DHead, class Hidden>
using encoder = nn::encoder_layer_parameters<nn::biased_attention_parameters<T, Model, Head, DHead>,
                                             nn::biased_feed_forward_parameters<T, Model, Hidden>,
                                             nn::layer_norm_parameters<T, Model>>;
using static_encoder = encoder<float, model_16, head_2, d_head_8, hidden_20>;
using dynamic_encoder = encoder<float, model, head, d_head, hidden>;

template <class P> auto filled(P p, std::uint64_t seed = 7) {
  fill_parameters(p, seed);
  return p;
}

// The layer by hand, over whatever axes the parameters have.
template <class Model, class Head, class DHead, class Hidden> struct by_hand {
  template <class P> static auto attention(const auto& x, const P& p) {
    const auto q = dot<Model>(x, p.w_q) + p.b_q;
    const auto k = rename<query, key>(dot<Model>(x, p.w_k) + p.b_k);
    const auto v = rename<query, key>(dot<Model>(x, p.w_v) + p.b_v);
    const auto w = softmax<key>(dot<DHead>(q, k) / std::sqrt(static_cast<double>(p.w_q.template extent<DHead>())));
    return dot<Head, DHead>(dot<key>(w, v), p.w_o) + p.b_o;
  }
  template <class P> static auto feed_forward(const auto& x, const P& p) {
    return dot<Hidden>(relu(dot<Model>(x, p.w_1) + p.b_1), p.w_2) + p.b_2;
  }
  template <class P> static auto norm(const auto& x, const P& p) { return layer_norm<Model>(x, p.gamma, p.beta); }
  template <class P> static auto post_norm(const auto& x, const P& p) {
    const auto h = norm(x + attention(x, p.attention), p.attention_norm);
    return norm(h + feed_forward(h, p.feed_forward), p.feed_forward_norm);
  }
  template <class P> static auto pre_norm(const auto& x, const P& p) {
    const auto h = x + attention(norm(x, p.attention_norm), p.attention);
    return h + feed_forward(norm(h, p.feed_forward_norm), p.feed_forward);
  }
};
using static_hand = by_hand<model_16, head_2, d_head_8, hidden_20>;
using dynamic_hand = by_hand<model, head, d_head, hidden>;

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_encoder)

BOOST_AUTO_TEST_CASE(static_extents) {
  const auto x = normal<float, batch, query, model_16>(1, batch{2}, query{11});
  const auto p = filled(static_encoder());
  const auto after = nn::encoder_layer<query, key>(nn::post_norm, x, p);
  const auto before = nn::encoder_layer<query, key>(nn::pre_norm, x, p);
  static_assert(has_axes<decltype(after), batch, query, model_16> &&
                has_axes<decltype(before), batch, query, model_16>);
  check_same_bits(after, static_hand::post_norm(x, p));
  check_same_bits(before, static_hand::pre_norm(x, p));
  // as the plan is today: a change here is a change of cost
  BOOST_TEST(explain(after).stages.size() == 6U);
  BOOST_TEST(explain(before).stages.size() == 6U);
  BOOST_TEST(explain(after).stages.size() == explain(static_hand::post_norm(x, p)).stages.size());
  BOOST_TEST(explain(before).stages.size() == explain(static_hand::pre_norm(x, p)).stages.size());
}

BOOST_AUTO_TEST_CASE(dynamic_extents) {
  const auto x = normal<float, query, model>(1, query{11}, model{16});
  const auto p = filled(dynamic_encoder{model{16}, head{2}, d_head{8}, hidden{20}});
  const auto y = nn::encoder_layer<query, key>(nn::pre_norm, x, p);
  check_same_bits(y, dynamic_hand::pre_norm(x, p));
  BOOST_TEST(identical(
      evaluate(rename<model, model_16>(y)),
      evaluate(nn::encoder_layer<query, key>(nn::pre_norm, rename<model, model_16>(x), filled(static_encoder())))));
}

BOOST_AUTO_TEST_SUITE_END()
