// SPDX-License-Identifier: BSL-1.0
// In: two operands of a contraction, of which one lies beside its keep-set or both do. Out: their product without what is excluded,
// element by element: an excluded product is skipped even where it would be infinity or NaN.
// Next to read: ../runner.hpp, which comes here only where something is not finite.
#pragma once

#include "../kernel/parallel.hpp"
#include "choices.hpp"

#include <type_traits>

namespace heed::detail {
inline namespace HEED_ARCH {

template <class SA, class N> bool keeps(N const& n, extent_t const* coordinates) {
  if constexpr (plan::is_zeroed_leaf<N>)
    return static_cast<bool>(plan::value_here<SA>(n.keep, coordinates));
  else
    return true;
}
/// out [results] = sum over `over` of left * right, where both keep.
template <class SA, class L, class R, class V, class A>
void multiply_kept(L const& left, R const& right, loops::group const& results, loops::group const& over,
                   leaf<V, A> const& out, int threads) {
  auto const& l = values_of(left);
  auto const& r = values_of(right);
  kernel::run_team(kernel::team_size(threads), [&](kernel::team& t) {
    t.share(results.size, [&](extent_t i) {
      extent_t c[loops::max_rank] = {};
      results.locate(i, c);
      V sum = 0;
      for (extent_t j = 0; j < over.size; ++j) {
        over.locate(j, c);
        if (detail::keeps<SA>(left, c) && detail::keeps<SA>(right, c))
          sum += plan::value_here<SA>(l, c) * plan::value_here<SA>(r, c);
      }
      out.data[results.offset(i, target_strides<SA>(out).data())] = sum;
    });
  });
}

}  // namespace HEED_ARCH
}  // namespace heed::detail
