// SPDX-License-Identifier: BSL-1.0
// In: a parameter struct of heed::nn. Out: the same with numbers in it; and a multi-head attention in plain loops over
// float64, projections and biases included.
// Next: nn_attention.cpp, which compares the two.
#pragma once
#include "schedules.hpp"
#include <heed/nn.hpp>

#include <cmath>
#include <functional>

namespace test {

/// Every parameter N(0, spread^2), each tensor another seed.
template <class P> void fill_parameters(P& p, std::uint64_t seed, double spread = 0.3) {
  heed::nn::for_each_parameter(p, [&](auto& tensor) { fill_normal(tensor, seed++, spread); });
}

/// Static axes, so that counts are constants.
struct model_16 : heed::axis<16> {};
struct memory_12 : heed::axis<12> {};
struct head_2 : heed::axis<2> {};
struct kv_head_2 : heed::axis<2> {};
struct group_3 : heed::axis<3> {};
struct d_head_8 : heed::axis<8> {};
struct d_value_6 : heed::axis<6> {};
struct hidden_20 : heed::axis<20> {};

namespace reference {

/// Weights and biases as numbers, in the order of the struct's axes; a bias that is not there is a grid of zeros.
struct attention_numbers {
  grid<3> w_q, w_k, w_v, w_o;
  grid<2> b_q, b_k, b_v;
  grid<1> b_o;
};

/// x [query, model] attends to memory [key, memory]: [query, model].
inline grid<2> multi_head_attention(const grid<2>& x, const grid<2>& memory, const attention_numbers& p,
                                    const attention_terms& terms) {
  const auto project = [](const grid<2>& from, const grid<3>& w, const grid<2>& b) {
    grid<4> result(1, w.extents[1], from.extents[0], w.extents[2]);
    return result.assign([&](auto, auto h, auto i, auto d) {
      double total = b(h, d);
      for (ptrdiff_t m = 0; m < from.extents[1]; ++m) total += from(i, m) * w(m, h, d);
      return total;
    });
  };
  const auto context =
      attention(project(x, p.w_q, p.b_q), project(memory, p.w_k, p.b_k), project(memory, p.w_v, p.b_v), terms).context;
  return make_grid(
      [&](ptrdiff_t i, ptrdiff_t m) {
        double total = p.b_o(m);
        for (ptrdiff_t h = 0; h < p.w_o.extents[0]; ++h)
          for (ptrdiff_t d = 0; d < p.w_o.extents[1]; ++d) total += context(0, h, i, d) * p.w_o(h, d, m);
        return total;
      },
      x.extents[0], p.w_o.extents[2]);
}

}  // namespace reference

/// The numbers of a parameter struct without and with biases.
template <class P> reference::attention_numbers numbers_of_attention(const P& p) {
  reference::attention_numbers n{grid_of(p.w_q), grid_of(p.w_k), grid_of(p.w_v), grid_of(p.w_o), {}, {}, {}, {}};
  if constexpr (requires { p.b_q; }) {
    n.b_q = grid_of(p.b_q), n.b_k = grid_of(p.b_k), n.b_v = grid_of(p.b_v), n.b_o = grid_of(p.b_o);
  } else {
    n.b_q = grid<2>(n.w_q.extents[1], n.w_q.extents[2]), n.b_k = grid<2>(n.w_k.extents[1], n.w_k.extents[2]);
    n.b_v = grid<2>(n.w_v.extents[1], n.w_v.extents[2]), n.b_o = grid<1>(n.w_o.extents[2]);
  }
  return n;
}

}  // namespace test
