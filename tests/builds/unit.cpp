// SPDX-License-Identifier: BSL-1.0
// In: HEED_UNIT, the namespace of the functions in it. Out: what unit.hpp declares, for the flags that it is compiled with.
// Next: units.cpp, the program of both.
#include "unit.hpp"

#include <heed/heed.hpp>

namespace HEED_UNIT {

queries attention(queries const& q, keys const& k, keys const& v, heed::policy const& how) {
  heed::kv_cache<float, key, d_head> cache{key{k.extent<key>()}};
  cache.append(how, k);
  auto const scores =
      heed::where(heed::index<key>() <= heed::index<query>(), heed::dot<d_head>(q, cache.view()) * 0.25F);
  queries context{query{q.extent<query>()}};
  heed::evaluate_into(how, context, heed::dot<key>(heed::softmax<key>(scores), v));
  return context;
}

bool refuses(queries const& q, keys const& k) {
  try {
    (void)heed::where(heed::causal<query, key>(), heed::dot<d_head>(q, k));
  } catch (heed::shape_error const&) {
    return true;
  }
  return false;
}

}  // namespace HEED_UNIT
