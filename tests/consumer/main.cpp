// SPDX-License-Identifier: BSL-1.0
//
// The program of a stranger: self-attention over two axes, without any flag of heed's own build.
#include <heed/heed.hpp>

#include <cmath>
#include <cstdio>

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<4> {};

float other_unit();

int main() {
  heed::tensor<float, query, d_head> q{query{3}};
  heed::tensor<float, key, d_head> k{key{5}};
  for (float& element : q) element = 1.f;
  for (float& element : k) element = 2.f;

  heed::tensor c = heed::evaluate(heed::dot<key>(heed::softmax<key>(heed::dot<d_head>(q, k)), k));
  std::printf("%g %g\n", c(2, 3), other_unit());
  return std::abs(c(2, 3) - 2.f) < 1e-5f && std::abs(other_unit() - 6.f) < 1e-5f ? 0 : 1;
}
