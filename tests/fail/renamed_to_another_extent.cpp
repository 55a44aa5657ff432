// SPDX-License-Identifier: BSL-1.0
// In: a rename between axes of two static extents.
// Out: one error, which names both.
// Next: renamed_to_an_axis_that_is_there.cpp.
// expect: rename.*(the extents differ|has extent)
// expect: d_head.*head
// expect(gcc): rename of axis d_head to head: d_head has extent 64, head has extent 8
#include <heed/heed.hpp>

namespace {

struct query : heed::axis<> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};
struct d_value : heed::axis<64> {};

}  // namespace

int main() {
  const heed::tensor<float, query, d_head> x{query{5}};
#ifdef HEED_MISTAKE
  const auto y = heed::rename<d_head, head>(x);
#else
  const auto y = heed::rename<d_head, d_value>(x);
#endif
  (void)heed::evaluate(y);
}
