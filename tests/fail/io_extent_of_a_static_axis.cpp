// SPDX-License-Identifier: BSL-1.0
// In: a wanted extent for an axis that has its extent in its type.
// Out: one error, which lists what is given and what is open.
// Next: multi-head layers, nn_axis_in_two_roles.cpp.
// expect: once, for each axis that has none in its type
// expect(gcc): given \(model\), open \(token\)
#include <heed/io/npy.hpp>

namespace {

struct token : heed::axis<> {};
struct model : heed::axis<64> {};

}  // namespace

int main() {
  const heed::io::npy_file file("embedding.npy");
#ifdef HEED_MISTAKE
  const heed::tensor e = file.read<float, token, model>(model{});
#else
  const heed::tensor e = file.read<float, token, model>(token{12});
#endif
  (void)e;
}
