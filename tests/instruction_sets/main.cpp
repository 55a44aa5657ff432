// SPDX-License-Identifier: BSL-1.0
// In: two parts of one program, one compiled for AVX2, one without it. Out: 0 if neither runs the other's kernels and
// tensors pass between them. (Case 69: of two functions of one name the linker takes one, and a processor meets
// instructions that it does not have.)
// Next: ../cases_machine.cpp.
#include "part.hpp"

#include <cstdio>

int main() {
  using namespace instruction_sets;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 77;
  const part narrow = narrow_part(), wide = wide_part();
  int failures = 0;
  const auto check = [&](bool good, char const* what) {
    if (!good) std::printf("%s\n", what), ++failures;
  };
  check(narrow.evaluate != wide.evaluate, "evaluate is one function for both sets of instructions");
  check(narrow.size_of_tensor == wide.size_of_tensor, "a tensor has two sizes");
  check(narrow.size_of_workspace == wide.size_of_workspace, "a workspace has two sizes");
  row x{key{37}};
  for (heed::extent_t i = 0; i < 37; ++i) x(i) = static_cast<float>(i);
  const row once = narrow.doubled(wide.doubled(x)), twice = wide.doubled(narrow.doubled(x));
  for (heed::extent_t i = 0; i < 37; ++i)
    check(once(i) == 4 * x(i) && twice(i) == 4 * x(i), "a tensor is another one on the other side");
  return failures == 0 ? 0 : 1;
}
