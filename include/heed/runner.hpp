// SPDX-License-Identifier: BSL-1.0
// In: stages, as plan/lower.hpp finds them. Out: each stage described (for explain and limits) and, unless only planned, run by
// its kernel at once.
// Next to read: evaluate.hpp, the words that start it.
#pragma once

#include "kernel/stream.hpp"
#include "run/checks.hpp"
#include "run/choices.hpp"
#include "run/kept.hpp"
#include "run/made.hpp"
#include "run/made_bands.hpp"
#include "run/made_stream.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::detail {
inline namespace HEED_ARCH {

/// Explains: describes stages; a run that only runs does not compile the words for it.
template <class Repeated, class Wanted, bool MayUnfuse, bool Explains> class runner : public run_checks {
 public:
  using repeated_types = Repeated;
  using wanted_types = Wanted;
  static constexpr bool may_unfuse = MayUnfuse;
  using run_checks::run_checks;

  // ---------------------------------------------------------------- stages
  template <class Tree, class T, class A> [[gnu::cold]] void map(Tree const& tree, leaf<T, A> const& out, double fill) {
    using SA = unite<A, typename Tree::axes_type>;
    stage_axes<SA> sa;
    sa.learn(out);
    auto made = make<made_map<SA, std::remove_const_t<T>, Tree>>(tree);
    auto& program = made->program;
    bool const joined = joins({&program});
    describe(
        "map", [&] { return plan::print(tree); }, sa, program, out, 0,
        [&](plan::report::stage& s) {
          s.parallel = sa.template text<A>();
          s.vectorised = last_axis(out);
        },
        joined);
    group_.note(bytes_of(out));
    if (dry_) return;
    kernel::map_stage& k = made->stage;
    k.program = &program;
    k.target = detail::make_target<SA>(out);
    k.fill = fill;
    k.masked = masks(program, sa.extents);
    int numbers[loops::max_rank] = {};
    extent_t extents[loops::max_rank] = {};
    int n = 0;
    for_each_axis(A{}, [&]<class X>(type_tag<X>) {
      numbers[n] = index_of<X, SA>;
      extents[n++] = sa.extents[index_of<X, SA>];
    });
    kernel::lay_out(k.target, numbers, extents, n, k.outer, k.rows, k.lanes);
    made->team = kernel::team_size(threads_);
    group_.add(*made.release());
  }

  /// A stage of its own, or a band of the rows of a larger one, which that one describes. OnlyFinite: 0 is read where an operand
  /// is not finite.
  template <class K, bool OnlyFinite = false, class L, class R, class Epilogue, class T, class A>
  [[gnu::cold]] void contract(L const& left, R const& right, Epilogue const& epilogue, leaf<T, A> const& out,
                              double fill, band const& rows = {}) {
    if constexpr (plan::is_zeroed_leaf<L> || plan::is_zeroed_leaf<R>) {
      flush();
      auto const& l = plan::values_of(left);
      auto const& r = plan::values_of(right);
      auto finite = [&] {
        return (!plan::is_zeroed_leaf<L> || detail::all_finite(r, threads_)) &&
               (!plan::is_zeroed_leaf<R> || detail::all_finite(l, threads_));
      };
      bool const runs = !dry_ && !rehearses_;
      constexpr bool looks_after =
          plan::is_bare_slot<Epilogue>;           // a result says the same as the operand, and is smaller
      if (rehearses_ || (runs && looks_after)) {  // once the result is written nothing may fail for want of memory
        rehearses_ = true;
        contract_kept<K>(left, right, epilogue, out, fill);
        rehearses_ = !runs;
      }
      if constexpr (looks_after) {
        contract<K>(l, r, epilogue, out, fill);
        if (!runs) return;
        flush();
        if (detail::all_finite(out, threads_) || finite()) return;
        contract_kept<K>(left, right, epilogue, out, fill);
      } else {
        if (runs && !finite()) return contract_kept<K>(left, right, epilogue, out, fill);
        contract<K>(l, r, epilogue, out, fill);
      }
    } else {
      using LA = typename L::axes_type;
      using RA = typename R::axes_type;
      using Result = difference<unite<LA, RA>, K>;
      using SA = unite_all<A, LA, RA>;
      using V = typename L::value_type;
      using Made = made_contraction<SA, V, std::remove_const_t<T>, L, R, Epilogue>;
      stage_axes<SA> sa;
      sa.learn(left), sa.learn(right), sa.learn(out);
      if (!rows.whole()) flush();
      auto made = make<Made>(left, right, epilogue);
      auto& k = made->stage;
      k.left = side<V>(made->load_left);
      k.right = side<V>(made->load_right);
      k.left.panels = panels_of(left), k.right.panels = panels_of(right);
      if constexpr (OnlyFinite) {
        made->load_left.plain = &kernel::run_finite<kernel::bare_of<L>, V>;
        made->load_right.plain = &kernel::run_finite<kernel::bare_of<R>, V>;
        k.left.native = k.right.native = false;
      }
      k.batch = sa.template group<difference<intersection<LA, RA>, K>>();
      k.m = sa.template group<difference<LA, RA>>();
      k.n = sa.template group<difference<RA, LA>>();
      k.k = sa.template group<K>();
      double const operations = 2.0 * static_cast<double>(k.batch.size) * static_cast<double>(k.m.size) *
                                static_cast<double>(k.n.size) * static_cast<double>(k.k.size);
      bool const joined = rows.whole() && joins({&made->program, &made->load_left, &made->load_right});
      if (rows.whole())
        describe(
            "contraction",
            [&] {
              return with_slots(epilogue, plan::concatenated({"dot<", sa.template text<K>(), ">(", plan::print(left),
                                                              ", ", plan::print(right), ")"}));
            },
            sa, made->program, out, operations,
            [&](plan::report::stage& s) {
              s.parallel = sa.template text<difference<Result, difference<RA, LA>>>();
              s.vectorised = sa.template text<difference<RA, LA>>();
              s.bytes_moved += detail::operand_bytes(made->load_right, sa.extents);
              s.bytes_moved += detail::operand_bytes(made->load_left, sa.extents);
            },
            joined);
      group_.note(bytes_of(out));
      if (dry_) return;
      k.epilogue = &made->program;
      k.target = detail::make_target<SA>(out);
      k.masked = masks(made->program, sa.extents);
      k.fill = fill;
      k.first_row = rows.first, k.rows = rows.count;
      if (rows.whole() && lanes_lie_left(k)) {
        std::swap(k.left, k.right);
        std::swap(k.m, k.n);
      }
      k.typed = std::is_same_v<std::remove_const_t<T>, V>;
      k.bare = k.typed && made->program.identity && !k.masked;
      made->loops.emplace(k, kernel::team_size(threads_));
      group_.add(*made.release());
      if (!rows.whole()) flush();
    }
  }

  /// dot(tree over dots with weights, values): the tree for a band of rows, stored, then the values. False where the widths
  /// are so small, or something is excluded, so that it has to stream. The number of rows decides nothing: a row gets the same
  /// bits alone and among others.
  template <class K, class Scores, class Values, class Epilogue, class T, class A>
  [[gnu::cold]] bool bands(Scores const& scores, Values const& values, Epilogue const& epilogue, leaf<T, A> const& out,
                           double fill) {
    using Made = made_bands<K, Scores, Values, leaf<T, A>>;
    using V = typename Made::V;
    constexpr std::size_t last = Made::last;
    flush();
    if (unfused_) return false;
    Made made(scores, values, out);
    if (!made.wide) return false;
    auto const& sa = made.sa;
    auto& store = made.store;
    bool rehearses_both = false;
    if (masks(detail::make_program<typename Made::SA, V>(made.tree()), sa.extents)) {
      if (!rehearses_) return false;
      rehearses_both = true;
    }
    auto program = detail::make_program<typename Made::SA, std::remove_const_t<T>>(epilogue);
    extent_t const rows = made.rows.size, keys = made.keys.size, count = made.count;
    describe(
        "streamed reduction", [&] { return stream_text<K>(sa, scores, no_axis{}, values, epilogue, "dot"); }, sa,
        program, out, static_cast<double>(rows) * made.operations,
        [&](plan::report::stage& s) {
          s.parallel = sa.template text<typename Made::Rows>();
          s.vectorised = sa.template text<K>() + " (scores), " + sa.template text<typename Made::Width>() + " (values)";
          s.streamed = sa.template text<typename Made::Rows>() + " in " + std::to_string(count) +
                       (count == 1 ? " band" : " bands");
          s.bytes_moved += made.weights * static_cast<double>(sizeof(V));
          std::apply(
              [&](auto const&... d) {
                ((s.bytes_moved += static_cast<double>(d.query.size()) * static_cast<double>(sizeof(V))), ...);
              },
              scores.dots);
        });
    if (dry_ || rows == 0) return !rehearses_both;

    auto const mark = memory_.here();
    extent_t const longest = (rows + count - 1) / count;
    std::array<V*, last + 1> memory;
    for (V*& m : memory) m = reinterpret_cast<V*>(memory_.take(static_cast<std::size_t>(longest * keys) * sizeof(V)));
    auto const run_band = [&](extent_t i) {
      auto const band_mark = memory_.here();
      band const here{rows * i / count, rows * (i + 1) / count - rows * i / count};
      for (std::size_t d = 0; d <= last; ++d) store[d].data = memory[d] - here.first * keys;
      auto const raw = [&]<std::size_t D>(std::integral_constant<std::size_t, D>) {
        auto const& dot = std::get<D>(scores.dots);
        using Over = typename std::remove_cvref_t<decltype(dot)>::over;
        if constexpr (D < last)
          contract<Over>(dot.query, dot.key, slot_node<V, typename Made::Band, 0>{}, store[D], 0, here);
        else
          contract<Over>(dot.query, dot.key, made.tree(), store[D], 0, here);
      };
      [&]<std::size_t... D>(std::index_sequence<D...>) { (raw(std::integral_constant<std::size_t, D>{}), ...); }
      (std::make_index_sequence<last + 1>{});
      contract<K>(detail::with_type<V const>(store[last]), values, epilogue, out, fill, here);
      memory_.back_to(band_mark);
    };
    // Bands of both lengths that there are: then no band fails for want of memory once another has written its rows.
    bool const whole_rehearsal = rehearses_;
    rehearses_ = true;
    if (count > 1 || whole_rehearsal) run_band(count - 1), run_band(0);
    rehearses_ = whole_rehearsal;
    for (extent_t i = 0; i < count && !rehearses_; ++i) run_band(i);
    memory_.back_to(mark);
    return !rehearses_both;
  }

  template <class K, class Kind, class Tree, class Sink, class Epilogue, class T, class A, class Shape>
  [[gnu::cold]] void rows(Kind const& kind, Tree const& tree, Sink const& sink, Epilogue const& epilogue,
                          leaf<T, A> const& out, double fill, Shape const& shape) {
    using TA = typename Tree::axes_type;
    using SA = unite_all<A, TA, K>;
    using V = kernel::lane_type<typename Tree::value_type>;
    using Outer = difference<unite<A, TA>, K>;
    stage_axes<SA> sa;
    for_each_axis(SA{}, [&]<class X>(type_tag<X>) {
      extent_t const e = tree.template extent<X>();
      sa.extents[index_of<X, SA>] = e != dynamic ? e : shape.template extent<X>();
    });
    sa.learn(out);
    sa.require_all();
    auto made = make<made_rows<SA, V, std::remove_const_t<T>, Tree, Sink, Epilogue>>(tree, sink, epilogue);
    auto& program = made->program;
    auto& rows_program = made->rows_program;
    loops::program const* const sink_program = made->sink_or_null();
    bool const joined =
        sink_program ? joins({&program, &rows_program, sink_program}) : joins({&program, &rows_program});
    double const elements = static_cast<double>(sa.template group<TA>().size);
    describe(
        "rows",
        [&] {
          return with_slots(epilogue,
                            std::string(Kind::name) + "<" + sa.template text<K>() + ">(" + plan::print(tree) + ")");
        },
        sa, program, out, operations_of<Kind>() * elements,
        [&](plan::report::stage& s) {
          s.parallel = sa.template text<Outer>();
          s.vectorised = sa.template text<K>();
          s.bytes_moved += detail::operand_bytes(rows_program, sa.extents);
        },
        joined);
    group_.note(bytes_of(out));
    if (dry_) return;
    kernel::row_stage<V>& k = made->stage;
    k.kind = row_kind_of(kind);
    if constexpr (std::is_same_v<Kind, kinds::standardised>) k.centred = kind.centred, k.eps = kind.eps;
    k.tree = &rows_program;
    k.epilogue = &program;
    k.target = detail::make_target<SA>(out);
    k.lanes = sa.template group<K>();
    k.tree_masked = masks(rows_program, sa.extents);
    k.masked = masks(program, sa.extents);
    k.fill = fill;
    split_rows<SA, Outer>(sa, k);
    k.sink = sink_program;
    made->team = kernel::team_size(threads_);
    group_.add(*made.release());
  }

  template <class K, class PA, class Kind, class Scores, class Weights, class Sink, class Values, class Epilogue,
            class T, class A, class Lse>
  [[gnu::cold]] void stream(Kind const&, Scores const& scores, Weights const& weights, Sink const& sink,
                            Values const& values, Epilogue const& epilogue, leaf<T, A> const& out, double fill,
                            Lse const& lse) {
    constexpr bool has_values = !std::is_same_v<Values, no_axis>;
    using Made = made_stream<K, PA, Kind, Scores, Weights, Sink, Values, Epilogue, leaf<T, A>>;
    flush();
    Made made(scores, weights, sink, values, epilogue, out, fill);
    auto& k = made.stage;
    auto const& sa = made.sa;
    if constexpr (!std::is_same_v<Lse, no_axis>)
      if (lse.data) k.lse = detail::make_target<typename Made::SA>(lse);

    double const pairs =
        static_cast<double>(k.batch.size) * static_cast<double>(k.lanes.size) * static_cast<double>(k.keys.size);
    double per_pair = has_values ? 2.0 * static_cast<double>(k.values.size) : 1.0;
    for (int i = 0; i < k.dots; ++i) per_pair += 2.0 * static_cast<double>(k.parts[i].depth.size);
    describe(
        k.kind == kernel::stream_kind::softmax ? "attention" : "streamed reduction",
        [&] { return stream_text<K>(sa, scores, weights, values, epilogue, stream_name<Kind>()); }, sa, made.program,
        out, pairs * per_pair,
        [&](plan::report::stage& s) {
          s.parallel = sa.template text<unite<typename Made::Batch, typename Made::Lanes>>();
          s.vectorised = (kernel::decode::suits(k) ? sa.template text<typename Made::Depths>()
                                                   : sa.template text<typename Made::Lanes>()) +
                         " (scores)" +
                         (has_values ? ", " + sa.template text<typename Made::Width>() + " (values)" : "");
          s.streamed = sa.template text<K>();
          s.bytes_moved += detail::operand_bytes(made.score_program, sa.extents);
          for (auto const& l : made.loads)
            if (l.node) s.bytes_moved += detail::operand_bytes(l, sa.extents);
        });
    if (dry_) return;
    k.masked = masks(made.program, sa.extents);
    int const team = kernel::team_size(threads_);
    kernel::stream_run<typename Made::V> const run(k, team);
    start(run, team);
  }

 private:
  /// A contraction in which an excluded product meets something that is not finite: first as if that were 0, in the order of
  /// every other contraction, and so with the same bits; then the kept products that are not finite.
  template <class K, class L, class R, class Epilogue, class T, class A>
  void contract_kept(L const& left, R const& right, Epilogue const& epilogue, leaf<T, A> const& out, double fill) {
    auto const& l = plan::values_of(left);
    auto const& r = plan::values_of(right);
    using LA = typename L::axes_type;
    using RA = typename R::axes_type;
    using Result = difference<unite<LA, RA>, K>;
    using SA = unite<Result, K>;
    using V = typename L::value_type;
    stage_axes<SA> sa;
    sa.learn(l), sa.learn(r);
    auto const mark = memory_.here();
    auto const sum = [&](auto const& node, auto const& to) {
      product_axes const at{sa.template group<difference<intersection<LA, RA>, K>>(),
                            sa.template group<difference<LA, RA>>(), sa.template group<difference<RA, LA>>(),
                            sa.template group<K>()};
      auto* const found = reinterpret_cast<bool*>(memory_.take(static_cast<std::size_t>(at.batch.size * at.k.size)));
      contract<K, true>(l, r, node, to, fill);
      flush();
      if (!rehearses_) detail::add_kept<SA>(left, right, at, found, to, threads_);
    };
    if constexpr (std::is_same_v<T, V> && plan::is_bare_slot<Epilogue> && !plan::is_where<Epilogue>) {
      sum(epilogue, out);
    } else {
      leaf<V, Result> raw;
      for_each_axis(Result{},
                    [&]<class X>(type_tag<X>) { raw.extents[index_of<X, Result>] = sa.extents[index_of<X, SA>]; });
      raw.make_dense();
      raw.data = reinterpret_cast<V*>(memory_.take(static_cast<std::size_t>(raw.size()) * sizeof(V)));
      sum(slot_node<V, Result, 0>{}, raw);
      map(plan::replace_slot(epilogue, detail::with_type<V const>(raw)), out, fill);
      flush();
    }
    memory_.back_to(mark);
  }
  template <class Text, class SA, class T, class A, class More>
  void describe([[maybe_unused]] char const* kernel, [[maybe_unused]] Text&& text,
                [[maybe_unused]] stage_axes<SA> const& sa, [[maybe_unused]] loops::program const& program,
                leaf<T, A> const&, [[maybe_unused]] double operations, [[maybe_unused]] More&& more,
                [[maybe_unused]] bool joins = false) {
    // results are allocated before the stages that they need and written by the last of these
    waiting_result const stored =
        pending_ > 0 && pending_ <= most_pending ? waiting_[pending_ - 1] : waiting_result{0, ""};
    if (pending_ > 0) --pending_;
    if constexpr (Explains) {
      if (!report_) return;
      plan::report::stage s;
      s.kernel = kernel;
      s.computes = text();
      s.stores = "[" + sa.template text<A>() + "]";
      s.bytes_stored = stored.bytes;
      s.why_stored = std::string(stored.why);
      double elements = 1;
      for_each_axis(A{}, [&]<class X>(type_tag<X>) { elements *= static_cast<double>(sa.extents[index_of<X, SA>]); });
      s.floating_point_operations = operations;
      s.bytes_moved = elements * static_cast<double>(sizeof(T)) + detail::operand_bytes(program, sa.extents);
      more(s);
      report_->floating_point_operations += s.floating_point_operations;
      report_->bytes_moved += s.bytes_moved;
      report_->bytes_stored += s.bytes_stored;
      if (joins)
        report_->stages.back().join(s);
      else
        report_->stages.push_back(std::move(s));
    }
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::detail
