// SPDX-License-Identifier: BSL-1.0
// In: a split into static axes whose product is not the extent of the axis.
// Out: one error, which does the multiplication.
// Next: condition_wider_than_its_values.cpp.
// expect: split.*(the extents do not multiply|8 x 64 = 512)
// expect: hidden
// expect(gcc): split of axis hidden: head x d_head is 8 x 64 = 512, but hidden has 768
#include <heed/heed.hpp>

namespace {

struct position : heed::axis<> {};
struct hidden : heed::axis<768> {};
struct head : heed::axis<8> {};
struct d_head : heed::axis<64> {};
struct wide_head : heed::axis<12> {};

}  // namespace

int main() {
  const heed::tensor<float, position, hidden> x{position{5}};
#ifdef HEED_MISTAKE
  const auto heads = heed::split<hidden, head, d_head>(x);
#else
  const auto heads = heed::split<hidden, wide_head, d_head>(x);
#endif
  (void)heed::evaluate(heads);
}
