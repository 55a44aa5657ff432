// SPDX-License-Identifier: BSL-1.0
// Step 8: what papers do to scores before softmax, written where the paper writes it. Next: 09_fusion.cpp.
#include "ladder.hpp"

#include <cstdint>

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<2> {};
struct token : heed::axis<> {};

int main() {
  using namespace heed;
  tensor<float, query, d_head> q{query{6}};
  tensor<float, key, d_head> k{key{6}};
  set_waves(q, 1.5, 0), set_waves(k, 1.5, 1);
  auto s = dot<d_head>(q, k) / std::sqrt(2.f);
  auto i = index<query>();
  auto j = index<key>();
  auto past = causal<query, key>();  // j <= i

  std::cout << "How token 3 weighs tokens 0 to 5\n";
  const auto show = [](std::string_view title, auto const& scores) {
    print(title, evaluate(at<query>(softmax<key>(scores), 3)));
  };
  show("as it is", s);
  show("causal", where(past, s));
  show("ALiBi with slope 1/2: a score loses with distance", where(past, s + 0.5 * (j - i)));
  show("the same to both sides", s - 0.5 * abs(cast<float>(i - j)));
  show("softcap: no score beyond 1/2", softcap(s, 0.5));
  show("window of 2, the own included", where(past && i - j < 2, s));
  show("dilated: every third", where(past && (i - j) % 3 == 0, s));
  show("prefix of 5, then causal", where(j < 5 || past, s));
  show("all of it, in this order", where(past && i - j < 3, softcap(s, 0.5) + 0.5 * (j - i)));

  // Documents packed into one sequence: a token sees its own document. One tensor serves under both names.
  tensor<std::int32_t, token> document{token{6}};
  set(document, {7, 7, 9, 9, 9, 4});
  show("documents", where(rename<token, query>(document) == rename<token, key>(document), s));

  // Whatever is written there, a context made of it stores no scores.
  static_assert(streams<decltype(dot<key>(softmax<key>(where(past, softcap(s, 2))), k))>);
}

// Output:
// How token 3 weighs tokens 0 to 5
// as it is
//    0.23   0.19   0.12   0.12   0.23   0.12
// causal
//    0.35   0.29   0.18   0.18   0.00   0.00
// ALiBi with slope 1/2: a score loses with distance
//    0.17   0.22   0.23   0.38   0.00   0.00
// the same to both sides
//    0.11   0.14   0.15   0.24   0.28   0.09
// softcap: no score beyond 1/2
//    0.22   0.19   0.13   0.13   0.22   0.12
// window of 2, the own included
//    0.00   0.00   0.50   0.50   0.00   0.00
// dilated: every third
//    0.66   0.00   0.00   0.34   0.00   0.00
// prefix of 5, then causal
//    0.26   0.21   0.13   0.13   0.26   0.00
// all of it, in this order
//    0.00   0.26   0.28   0.46   0.00   0.00
// documents
//    0.00   0.00   0.26   0.25   0.49   0.00
