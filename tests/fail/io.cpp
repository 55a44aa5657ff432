// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of the readers of files. Out: one error each.
// Next: ../io_npy.cpp, what is refused at run time.
// page: reading files
#include <heed/io/npy.hpp>

namespace {

using namespace heed;
struct token : axis<> {};
struct model : axis<64> {};

}  // namespace

int main() {
  const io::npy_file file("embedding.npy");

  {
    // mistake 1: An extent is wanted of an axis that has one
    // why: A static extent is always checked. Only what the type leaves open can be wanted beside it.
    // says: read: an extent may be given, once, for each axis that has none in its type: given (model), open
    // (token)
    // literal: an extent may be given, once, for each axis that has none in its type
#if HEED_MISTAKE == 1
    const tensor e = file.read<float, token, model>(model{});
#else
    const tensor e = file.read<float, token, model>(token{12});
#endif
  }
  {
    // mistake 2: Bytes of a quantised weight
    // why: heed reads what it computes with; other bytes are unpacked by their owner.
    // says: read: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits, not unsigned char
    // literal: read: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits
#if HEED_MISTAKE == 2
    const auto e = file.read<unsigned char, token, model>();
#else
    const auto e = file.read<float, token, model>();
#endif
  }
}
