// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of the readers and writers of files. Out: one error each.
// Next: ../io_npy.cpp, what is refused at run time.
// page: reading and writing files
#include <heed/heed.hpp>
#include <heed/io/npy.hpp>
#include <heed/io/print.hpp>

#include <iostream>

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
  {
    // mistake 3: An expression is written
    // why: Words are lazy: nothing is there to be written before evaluate.
    // says: write_npy: an expression with axes (token, model) has no elements yet: say evaluate(...)
    // literal: an expression has no elements yet: say evaluate(...)
    const tensor<float, token, model> x{token{12}};
#if HEED_MISTAKE == 3
    io::write_npy("doubled.npy", x * 2);
#else
    io::write_npy("doubled.npy", evaluate(x * 2));
#endif
  }
  {
    // mistake 4: An expression is printed
    // says: operator<<: an expression with axes (token, model) has no elements yet: say evaluate(...)
    // literal: an expression has no elements yet: say evaluate(...)
    const tensor<float, token, model> x{token{12}};
#if HEED_MISTAKE == 4
    std::cout << x * 2;
#else
    std::cout << evaluate(x * 2);
#endif
  }
}
