// SPDX-License-Identifier: BSL-1.0
// In: the operands, trees and epilogue of a stage. Out: the stage as kernels read it, with its programs, ready to wait among others.
// Next to read: ../runner.hpp, which fills them in.
#pragma once

#include "../kernel/contract.hpp"
#include "../kernel/rows.hpp"
#include "../kernel/stage_group.hpp"
#include "../program.hpp"

#include <optional>
#include <type_traits>

namespace heed::detail {
inline namespace HEED_ARCH {

/// The program of a tree that may be none: no_axis.
template <class SA, class V, class Tree> auto optional_program(Tree const& tree) {
  if constexpr (std::is_same_v<Tree, no_axis>)
    return no_axis{};
  else
    return detail::make_program<SA, V>(tree);
}

/// A contraction's operands and epilogue, as kernels read them, and the loops over them.
template <class SA, class V, class T, class L, class R, class Epilogue>
class made_contraction : public kernel::ready_stage {
  L left_;
  R right_;
  Epilogue tree_;

 public:
  made_program<SA, T, Epilogue> program{tree_};
  made_program<SA, V, L> load_left{left_};
  made_program<SA, V, R> load_right{right_};
  kernel::contract_stage<V> stage;
  std::optional<kernel::contract_run<V>> loops;

  made_contraction(L const& left, R const& right, Epilogue const& epilogue)
      : left_(left),
        right_(right),
        tree_(epilogue) {}
  int threads() const override { return loops->threads(); }
  std::size_t scratch_bytes() const override { return loops->scratch_bytes(); }
  std::size_t shared_bytes() const override { return loops->shared_bytes(); }
  void run(kernel::team& t, char* memory, std::size_t per_thread, char* shared) const override {
    loops->run(t, memory, per_thread, shared);
  }
};

/// Loops that share their blocks out, on so many threads at most.
template <class Stage> class made_stage : public kernel::ready_stage {
 public:
  Stage stage;
  int team = 1;

  int threads() const override { return stage.threads(team); }
  std::size_t scratch_bytes() const override { return stage.scratch_bytes(); }
  void run(kernel::team& t, char* memory, std::size_t per_thread, char*) const override {
    stage.run(t, memory, per_thread);
  }
};
/// An elementwise tree with its loops.
template <class SA, class T, class Tree> class made_map : public made_stage<kernel::map_stage> {
  Tree tree_;

 public:
  made_program<SA, T, Tree> program{tree_};

  explicit made_map(Tree const& tree) : tree_(tree) {}
};
/// A tree over rows, its sink (no_axis: none) and its epilogue, with their loops.
template <class SA, class V, class T, class Tree, class Sink, class Epilogue>
class made_rows : public made_stage<kernel::row_stage<V>> {
  Tree rows_;
  Sink sink_;
  Epilogue tree_;

 public:
  made_program<SA, T, Epilogue> program{tree_};
  made_program<SA, V, Tree> rows_program{rows_};
  decltype(detail::optional_program<SA, V>(sink_)) sink = detail::optional_program<SA, V>(sink_);

  made_rows(Tree const& rows, Sink const& s, Epilogue const& epilogue) : rows_(rows), sink_(s), tree_(epilogue) {}
  loops::program const* sink_or_null() const {
    if constexpr (std::is_same_v<Sink, no_axis>)
      return nullptr;
    else
      return &sink;
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::detail
