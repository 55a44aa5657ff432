// SPDX-License-Identifier: BSL-1.0
// In: flat trees and leaves under the axes of a stage. Out: what kernels take: programs, groups of numbered axes, targets.
// Next to read: runner.hpp, which hands them to the kernels.
#pragma once

#include "kernel/tree.hpp"
#include "plan/rewrite.hpp"

#include <cmath>

namespace heed::detail {
inline namespace HEED_ARCH {

template <class Tree> inline constexpr int terminal_count = kernel::terminals<kernel::bare_of<Tree>>::count;

/// Makes a flat tree over the axes SA, whose values are kept as Storage, a program. `values` is the tree as loops read it; it and
/// the tree outlive the program.
template <class SA, class Storage, class Tree, int Count>
[[gnu::cold]] void fill_program(loops::sized_program<Count>& p, Tree const& tree, kernel::bare_of<Tree> const& values) {
  using Bare = kernel::bare_of<Tree>;
  constexpr int count = terminal_count<Tree>;
  static_assert(count == Count || (count == 0 && Count == 1));
  static_assert(count <= loops::max_operands,
                "heed: an elementwise tree with more than 48 operands in one stage: put a let around a part of it");
  static_assert(SA::rank <= loops::max_rank,
                "heed: more than 20 axes in one stage: put a let around a part of the expression");
  p.node = &tree;
  p.values = &values;
  p.count = count;
  loops::operand* out = p.storage;
  plan::collector<SA, Tree>::go(tree, out);
  p.plain = &kernel::run_plain<Bare, Storage>;
  if constexpr (plan::excludes<Tree>) {
    p.masked = &kernel::run_masked<Bare, Storage>;
    p.classify = &plan::classify<SA, Tree>;
    if constexpr (plan::guesses<SA, Tree>::differs) p.guess = &plan::guess<SA, Tree>;
  }
  p.lanes = kernel::lanes_of<Bare>;
  p.size = static_cast<int>(sizeof(Storage));
  p.identity = plan::is_bare_slot<Tree>;
}
/// A bare memory operand: nothing of it is a value that the loops would have to be told.
template <class SA, class Storage, class Tree, int Count>
[[gnu::cold]] void fill_program(loops::sized_program<Count>& p, Tree const& tree) {
  static constexpr kernel::bare_of<Tree> nothing{};
  static_assert(std::is_empty_v<kernel::bare_of<Tree>>);
  detail::fill_program<SA, Storage>(p, tree, nothing);
}
template <class SA, class Storage, class Tree> struct made_program : loops::sized_program<terminal_count<Tree>> {
  explicit made_program(Tree const& tree) : bare_(kernel::bare<Tree>::of(tree)) {
    detail::fill_program<SA, Storage>(*this, tree, bare_);
  }

 private:
  kernel::bare_of<Tree> bare_;
};
template <class SA, class Storage, class Tree> auto make_program(Tree const& tree) {
  return made_program<SA, Storage, Tree>(tree);
}

template <class SA> struct stage_axes {
  extent_t extents[loops::max_rank] = {};
  template <class T, class... A> void learn(leaf<T, axes<A...>> const& l) {
    ((extents[index_of<A, SA>] = l.extents[index_of<A, axes<A...>>]), ...);
  }
  /// Refuses a stage one of whose axes got no extent from any operand.
  void require_all() const {
    for_each_axis(SA{}, [&]<class A>(type_tag<A>) {
      if (extents[index_of<A, SA>] < 0)
        throw shape_error("evaluate: no operand gives axis " + detail::axis_name<A>() + " an extent");
    });
  }
  template <class Axes> loops::group group() const {
    loops::group g;
    for_each_axis(Axes{}, [&]<class A>(type_tag<A>) { g.add(index_of<A, SA>, extents[index_of<A, SA>]); });
    return g;
  }
  /// The largest axis last: runs of neighbouring lanes are long.
  template <class Axes> loops::group group_by_size() const {
    loops::group g = group<Axes>();
    int largest = g.count - 1;
    for (int i = g.count - 1; i-- > 0;)
      if (g.extent[i] > g.extent[largest]) largest = i;
    if (largest >= 0 && largest != g.count - 1) {
      std::swap(g.axis[largest], g.axis[g.count - 1]);
      std::swap(g.extent[largest], g.extent[g.count - 1]);
    }
    return g;
  }
  template <class Axes> std::string text() const {
    std::string s;
    for_each_axis(Axes{}, [&]<class A>(type_tag<A>) {
      s += (s.empty() ? "" : " x ") + detail::axis_name<A>() + "=" + std::to_string(extents[index_of<A, SA>]);
    });
    return s;
  }
};
template <class SA, class T, class... A> loops::target make_target(leaf<T, axes<A...>> const& out) {
  loops::target t;
  t.data = const_cast<std::remove_const_t<T>*>(out.data);
  t.size = sizeof(T);
  ((t.stride[index_of<A, SA>] = out.strides[index_of<A, axes<A...>>]), ...);
  return t;
}

/// Bytes that a program's terminals hold on a stage.
inline double operand_bytes(loops::program const& p, extent_t const* extents) {
  double total = 0;
  for (int i = 0; i < p.count; ++i) {
    loops::operand const& o = p.operands[i];
    if (o.slot >= 0 || o.index_axis >= 0) continue;
    double elements = 1, reach = 1;  // strides may meet an element more than once: it counts once
    for (int a = 0; a < loops::max_rank; ++a)
      if (o.varies >> a & 1) {
        elements *= static_cast<double>(extents[a]);
        if (extents[a] > 0) reach += static_cast<double>(extents[a] - 1) * std::abs(static_cast<double>(o.stride[a]));
      }
    total += o.size * (o.fetch ? elements : std::min(elements, reach));
  }
  return total;
}

}  // namespace HEED_ARCH
}  // namespace heed::detail
