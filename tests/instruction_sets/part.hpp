// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: what two translation units, compiled for two sets of instructions, tell each other.
// Next: part.cpp.
#pragma once
#include <heed/heed.hpp>

#include <cstddef>

namespace instruction_sets {

struct key : heed::axis<> {};
using row = heed::tensor<float, key>;

struct part {
  void (*evaluate)();  // the address of evaluate for a row
  row (*doubled)(row const&);
  std::size_t size_of_tensor, size_of_workspace;
};
part narrow_part();
part wide_part();

}  // namespace instruction_sets
