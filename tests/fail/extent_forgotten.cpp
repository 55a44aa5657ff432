// SPDX-License-Identifier: BSL-1.0
// In: a tensor one of whose dynamic axes is given no extent.
// Out: one error, which lists what is given and what is wanted.
// Next: extent_of_a_static_axis.cpp.
// expect: needs it by name, once
// expect: query
// expect(gcc): given \(batch\), wanted \(batch, query\)
#include <heed/heed.hpp>

namespace {

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct model : heed::axis<64> {};

}  // namespace

int main() {
#ifdef HEED_MISTAKE
  const heed::tensor<float, batch, query, model> x{batch{2}};
#else
  const heed::tensor<float, batch, query, model> x{batch{2}, query{5}};
#endif
  (void)x;
}
