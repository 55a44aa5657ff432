// SPDX-License-Identifier: BSL-1.0
//
// A second translation unit of the same program: what the headers define, they must define only once.
#include <heed/heed.hpp>

struct query : heed::axis<> {};

float other_unit() {
  heed::tensor<float, query> x{query{3}};
  for (float& element : x) element = 2.f;
  heed::tensor total = heed::evaluate(heed::sum<query>(x));
  return total();
}
