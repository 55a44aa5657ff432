// SPDX-License-Identifier: BSL-1.0
// Step 5: attention to another sequence, of another length, width and kind. Next: 06_cache.cpp.
#include "ladder.hpp"

#include <cstdint>

struct batch : heed::axis<> {};
struct word : heed::axis<> {};   // the sentence that is written
struct patch : heed::axis<> {};  // the picture that it is about
struct head : heed::axis<2> {};
struct d_head : heed::axis<4> {};
struct text : heed::axis<8> {};    // width of a word
struct vision : heed::axis<6> {};  // width of a patch

int main() {
  using namespace heed;
  tensor<float, batch, word, text> words{batch{2}, word{2}};
  tensor<float, batch, patch, vision> patches{batch{2}, patch{4}};
  tensor<float, text, head, d_head> w_q;
  tensor<float, vision, head, d_head> w_k, w_v;
  tensor<float, head, d_head, text> w_o;
  set_waves(words, 1, 0), set_waves(patches, 1, 1), set_waves(w_q, 1, 2), set_waves(w_k, 1, 3), set_waves(w_v, 1, 4);
  set_waves(w_o, 1, 5);

  // The second picture has three patches, the fourth is padding.
  tensor<std::int32_t, batch> count{batch{2}};
  set(count, {4, 3});

  // The formula of step 4 with other names. Nothing has to be renamed: words and patches are two axes anyway.
  auto q = dot<text>(words, w_q);
  auto k = dot<vision>(patches, w_k);
  auto v = dot<vision>(patches, w_v);
  auto weights = softmax<patch>(where(index<patch>() < count, dot<d_head>(q, k) / std::sqrt(4.f)));
  auto y = expect<batch, word, text>(dot<head, d_head>(dot<patch>(weights, v), w_o));

  // Where the words look, on average over the heads.
  print("weights [batch, word, patch]", evaluate(mean<head>(weights)));
  print("patch that each word looks at most", evaluate(argmax<patch>(mean<head>(weights))), 0);
  print("output, first word of each", evaluate(at<word>(y, 0)));

  // dot<vision>(words, w_k) would not compile: "dot over axis vision: the left operand has no such axis, ...".
}

// Output:
// weights [batch, word, patch]
//    0.38   0.07   0.35   0.21
//    0.28   0.25   0.16   0.31
//    0.26   0.62   0.13   0.00
//    0.15   0.53   0.32   0.00
// patch that each word looks at most
//     0    3
//     1    1
// output, first word of each
//    1.74   2.21  -1.37   1.49   1.41   2.01   1.86  -1.72
//   -1.56  -1.08  -0.72   0.17  -1.43   1.65   2.47   4.39
