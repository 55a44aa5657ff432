// SPDX-License-Identifier: BSL-1.0
// In: HEED_PART, the name of this part; flags that differ from the other's. Out: its functions and the sizes of its
// types.
// Next: main.cpp.
#include "part.hpp"

namespace instruction_sets {

part HEED_PART() {
  using result = row (*)(row const&);
  part p;
  p.evaluate = reinterpret_cast<void (*)()>(static_cast<result>(&heed::evaluate<row>));
  p.doubled = [](row const& x) { return heed::evaluate(x * 2.0F); };
  p.size_of_tensor = sizeof(row);
  p.size_of_workspace = sizeof(heed::workspace);
  return p;
}

}  // namespace instruction_sets
