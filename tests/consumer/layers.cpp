// SPDX-License-Identifier: BSL-1.0
//
// A stranger's unit with layers and optional headers: those of heed's folder, or the one that tools/amalgamate wrote.
#if __has_include(<heed_single.hpp>)
#include <heed_single.hpp>
#else
#include <heed/interop/mdspan.hpp>
#include <heed/io/npy.hpp>
#include <heed/io/print.hpp>
#include <heed/nn.hpp>
#endif

struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct head : heed::axis<2> {};
struct d_head : heed::axis<4> {};

float other_unit();
std::string as_text(heed::view<float const, query, d_head> x);

int main() {
  heed::tensor<float, query, head, d_head> q{query{3}};
  heed::tensor<float, key, head, d_head> k{key{5}};
  auto const context = heed::nn::attend<key, d_head>(q, k, k).context;  // an expression: nothing is computed here
  (void)heed::expect<query, head, d_head>(context);
  heed::tensor<float, query, d_head> x{query{1}};
  bool const printed = as_text(x) == "float [query 1, d_head 4]\n[[0. 0. 0. 0.]]";
  return printed && other_unit() == 6.f ? 0 : 1;
}
