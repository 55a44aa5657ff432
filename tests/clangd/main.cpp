// SPDX-License-Identifier: BSL-1.0
// In: a formula as a user writes it in an editor. Out: names for check.py to point at.
// Next to read: check.py.
#include <heed/heed.hpp>

using namespace heed;

struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<64> {};

inline auto attention(tensor<float, batch, query, d_head> const& queries,
                      tensor<float, batch, key, d_head> const& keys) {
  auto scores = where(causal<query, key>(), dot<d_head>(queries, keys) / 8.f);
  auto weights = softmax<key>(scores);
  auto context = dot<key>(weights, keys);
  heed::tensor result = evaluate(context);
  auto mean_over_queries = evaluate(mean<query>(result));
  auto part = slice<query>(result, 0, 2);
  view<float const, batch, query, d_head> shown = result;
  return mean_over_queries;
}
