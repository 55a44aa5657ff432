// SPDX-License-Identifier: BSL-1.0
// Step 6: query heads that share keys, and a cache, so that a sequence grows token by token. Next: 07_encoder.cpp.
#include "ladder.hpp"

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct kv_head : heed::axis<2> {};
struct group : heed::axis<3> {};  // query heads for each key-value head
struct d_head : heed::axis<4> {};

// softmax(q k^T / 2) v, causal; `past` keys come before the first query. Keys and values have no axis `group`, so all of
// a group read the same ones, once: grouped-query attention is what the axes say, no feature.
auto attend(const auto& q, const auto& k, const auto& v, heed::extent_t past) {
  using namespace heed;
  return dot<key>(softmax<key>(where(causal<query, key>(past), dot<d_head>(q, k) / 2.f)), v);
}

int main() {
  using namespace heed;
  constexpr extent_t length = 5;
  tensor<float, query, kv_head, group, d_head> q{query{length}};
  tensor<float, key, kv_head, d_head> k{key{length}}, v{key{length}};
  set_waves(q, 2, 0), set_waves(k, 2, 1), set_waves(v, 2, 2);

  // All at once.
  const auto whole = evaluate(attend(q, k, v, 0));

  // Token by token. The cache keeps up to 8 keys; view() is an expression over those that are there.
  kv_cache<float, key, kv_head, d_head> keys{key{8}}, values{key{8}};
  for (extent_t t = 0; t < length; ++t) {
    keys.append(slice<key>(k, t, t + 1));
    values.append(slice<key>(v, t, t + 1));
    const auto step = evaluate(attend(slice<query>(q, t, t + 1), keys.view(), values.view(), t));
    const tensor<float> difference =
        evaluate(max<query, kv_head, group, d_head>(abs(step - slice<query>(whole, t, t + 1))));
    std::cout << "token " << t << ": " << keys.length() << " keys, "
              << (difference() < 1e-6f ? "the row of the whole" : "WRONG") << '\n';
  }

  keys.truncate(2), values.truncate(2);  // take back what was not accepted
  std::cout << "after truncate: " << keys.length() << " keys of at most " << keys.capacity() << '\n';
  print("context of the last token, head by head", evaluate(at<query>(whole, length - 1)));
}

// Output:
// token 0: 1 keys, the row of the whole
// token 1: 2 keys, the row of the whole
// token 2: 3 keys, the row of the whole
// token 3: 4 keys, the row of the whole
// token 4: 5 keys, the row of the whole
// after truncate: 2 keys of at most 8
// context of the last token, head by head
//   -1.12   0.03   0.79  -0.53
//    0.65   1.00   0.46  -1.67
//    1.59   0.59  -1.44   1.16
//   -0.75  -0.54   1.72  -1.79
//   -0.28   0.68   0.52   1.08
//    0.60   0.80   1.72  -1.49
