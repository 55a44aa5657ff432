// SPDX-License-Identifier: BSL-1.0
// In: a node and memory for it. Out: its stages node by node, each with its operands in memory: the schedule `unfused`, to which
// the other one is compared.
// Next to read: lower.hpp, whose part this is.
#pragma once

#include "hint.hpp"
#include "rewrite.hpp"
#include "stage.hpp"

#include <cstddef>
#include <utility>

namespace heed::plan {
inline namespace HEED_ARCH {

template <class Lowering> class unfused_lowering {
  Lowering& lowering_;
  typename Lowering::backend_type& b_;

 public:
  explicit unfused_lowering(Lowering& l) : lowering_(l), b_(l.backend()) {}

  /// The stage that computes n into out, after those of its operands.
  template <class N, class Out> void execute(N const& n, Out const& out, hint const& shape, double fill) {
    if constexpr (is_let<N>)
      execute(n.operand, out, shape, fill);
    else if constexpr (is_contraction<N>) {
      auto l = stored_factor<marks_factor<N, 0>>(n.left, hint{n.right, shape});
      auto r = stored_factor<marks_factor<N, 1>>(n.right, hint{n.left, shape});
      auto slot = slot_node<typename N::value_type, typename N::axes_type, 0>{};
      b_.template contract<typename N::over>(l, r, slot, out, fill);
    } else if constexpr (is_reduction<N>) {
      auto tree = lowering_.row_tree(stored_operand<marks_terms<typename N::kind_type>>(n.operand, shape));
      auto slot = slot_node<typename N::value_type, typename N::axes_type, 0>{};
      b_.template rows<typename N::over>(n.kind, tree, lowering_.sink_of(n, shape), slot, out, fill,
                                         hint{n.operand, shape});
    } else if constexpr (is_map<N>)
      b_.map(map_over_stored<false>(n, shape), out, fill);
    else if constexpr (is_where<N>) {
      auto m = stored_operand<false, typename N::axes_type>(n.keep, hint{n, shape});
      auto x = stored_operand<false>(n.operand, shape);
      b_.map(where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0), out, fill);
    } else
      b_.map(lowering_.template lower<false>(n, shape), out, fill);
  }

 private:
  template <bool Marks, class Op, class T, class A, class... E>
  auto map_over_stored(map<Op, T, A, E...> const& n, hint const& shape) {
    using N = map<Op, T, A, E...>;
    constexpr bool marked = Marks && is_sum<N>;
    hint const wide{n, shape};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::with_operands(
          n, lowering_.template term_of<marked, E>(stored_operand<Marks, A>(n.template operand<I>(), wide), wide,
                                                   excluded_term<Op, I>())...);
    }
    (std::index_sequence_for<E...>{});
  }
  template <bool Marks, class N> auto stored_factor(N const& n, hint const& shape) {
    return lowering_.factor_from(n, stored_operand<Marks>(n, shape), shape, "unfused");
  }
  /// Each operand in memory (terminals as they are), in the order of its reader.
  template <bool Marks, class Order = axes<>, class N> auto stored_operand(N const& n, hint const& shape) {
    if constexpr (is_map<N>) {
      using V = stored_type<typename N::value_type>;
      leaf<V const, typename N::axes_type> values;
      node_id const id = plan::marked_id<Marks, N>(plan::id_of(n));
      hint const wide{n, shape};
      auto tree = map_over_stored<Marks>(n, wide);
      if (!b_.find(id, values, wide)) {
        auto fresh = lowering_.template new_leaf<V, Order>(typename N::axes_type{}, n, shape, "unfused");
        b_.map(tree, fresh, 0.0);
        values = detail::with_type<V const>(fresh);
        b_.remember(id, values);
      }
      if constexpr (excludes<decltype(tree)>) {
        auto k =
            lowering_.template store_keep<typename N::axes_type>(plan::keep_of_flat(tree), wide, plan::keep_id(id));
        return where_node<decltype(k), decltype(values)>(std::move(k), std::move(values), 0);
      } else
        return values;
    } else if constexpr (is_where<N>) {
      hint const wide{n, shape};
      auto m = stored_operand<false, typename N::axes_type>(n.keep, wide);
      auto x = stored_operand<Marks>(n.operand, shape);
      auto tree = where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0);
      node_id const id = plan::marked_id<Marks, N>(n.id);
      auto k = lowering_.template store_keep<typename N::axes_type>(plan::keep_of_flat(tree), wide, plan::keep_id(id));
      auto v = lowering_.store_flat(tree, wide, "unfused", id);
      return where_node<decltype(k), decltype(v)>(std::move(k), std::move(v), 0);
    } else
      return lowering_.template lower<Marks>(n, shape);
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::plan
