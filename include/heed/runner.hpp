// SPDX-License-Identifier: BSL-1.0
// In: stages, as plan/lower.hpp finds them. Out: each stage described (for explain and limits) and, unless only planned, run by
// its kernel at once.
// Next to read: evaluate.hpp, the words that start it.
// (Longer than the rest: one class, a function for each kind of stage and what they share.)
#pragma once

#include "kernel/contract.hpp"
#include "kernel/rows.hpp"
#include "kernel/stage_group.hpp"
#include "kernel/stream.hpp"
#include "plan/leaves.hpp"
#include "plan/lower.hpp"
#include "plan/report.hpp"
#include "policy.hpp"
#include "program.hpp"

#include <memory>
#include <optional>

namespace heed::detail {
inline namespace HEED_ARCH {

/// A result that the caller asked for, as the stages see it: another stage may fill it on the way.
struct wanted_result {
  void const* type = nullptr;  // key of the node's type
  void const* node = nullptr;
  void* data = nullptr;  // null: the storage is not of the value's type
  extent_t strides[loops::max_rank] = {};
  bool done = false;
};
template <class T> inline constexpr char type_key = 0;

/// A stored result. (Not cleared: a runner holds room for many, and most runs have a few.)
struct stored_result {
  node_id id;
  void const* data;
  extent_t strides[loops::max_rank];
};

/// Rows of a contraction; by itself: all of them.
struct band {
  extent_t first = 0, count = -1;
  bool whole() const { return count < 0; }
};

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

  static auto sink_program(Sink const& sink) {
    if constexpr (std::is_same_v<Sink, no_axis>)
      return no_axis{};
    else
      return detail::make_program<SA, V>(sink);
  }

 public:
  made_program<SA, T, Epilogue> program{tree_};
  made_program<SA, V, Tree> rows_program{rows_};
  decltype(sink_program(sink_)) sink = sink_program(sink_);

  made_rows(Tree const& rows, Sink const& s, Epilogue const& epilogue) : rows_(rows), sink_(s), tree_(epilogue) {}
  loops::program const* sink_or_null() const {
    if constexpr (std::is_same_v<Sink, no_axis>)
      return nullptr;
    else
      return &sink;
  }
};

/// What becomes of the stages. They run; or they are only described, without memory; or they are rehearsed: planned with all
/// the memory that they will take, so that the run after it, from the same mark of the arena, finds it there and cannot fail
/// for want of it once something is written. A rehearsal reads no results, since there are none, and where the numbers would
/// decide it takes the memory of either way.
enum class staging { run, describe, rehearse };

/// Explains: describes stages; a run that only runs does not compile the words for it.
template <class Repeated, class Wanted, bool MayUnfuse, bool Explains> class runner {
 public:
  using repeated_types = Repeated;
  using wanted_types = Wanted;
  static constexpr bool may_unfuse = MayUnfuse;

  runner(policy const& p, arena& memory, plan::report* report, staging mode)
      : unfused_(p.schedule == schedule::unfused),
        threads_(p.threads),
        limit_(p.store_limit),
        memory_(memory),
        report_(report),
        dry_(mode == staging::describe),
        rehearses_(mode == staging::rehearse) {}

  bool is_unfused() const { return unfused_; }
  std::size_t bytes_stored() const { return stored_bytes_; }

  // ---------------------------------------------------------------- memory and results
  template <class T, class A>
  void allocate(leaf<T, A>& l, std::size_t bytes, std::string_view name, std::string_view why) {
    if (__builtin_add_overflow(stored_bytes_, bytes, &stored_bytes_))
      stored_bytes_ = std::numeric_limits<std::size_t>::max();
    if (stored_bytes_ > limit_)
      throw shape_error("evaluate: the plan would store " + std::to_string(stored_bytes_) +
                        " bytes between its stages, more than the limit of " + std::to_string(limit_) +
                        "; the last of them would be " + std::string(name) + " with axes " + detail::axis_names(A{}) +
                        ": " + std::string(why));
    if (pending_ < most_pending) waiting_[pending_] = {bytes, why.data()};
    ++pending_;
    if (dry_) {  // an address that nothing reads, so that plans which only describe tell results apart, too
      l.data = reinterpret_cast<T*>(nowhere_);  // NOLINT(performance-no-int-to-ptr)
      nowhere_ += (bytes + 127) / 64 * 64;
    } else
      l.data = reinterpret_cast<T*>(memory_.take(bytes));
  }
  template <class T, class A> void remember(node_id id, leaf<T, A> const& l) {
    if (id == 0) return;
    stored_result r;
    r.id = id;
    r.data = l.data;
    std::copy(l.strides, l.strides + A::rank, r.strides);
    if (count_ < inline_results)
      results_[count_++] = r;
    else
      more_results_ = ::new (static_cast<void*>(memory_.take(sizeof(later_result)))) later_result{r, more_results_};
  }
  stored_result const* lookup(node_id id) const {
    for (int i = 0; i < count_; ++i)
      if (results_[i].id == id) return &results_[i];
    for (later_result const* l = more_results_; l; l = l->next)
      if (l->result.id == id) return &l->result;
    return nullptr;
  }
  bool known(node_id id) const { return id != 0 && lookup(id) != nullptr; }
  /// Fills in the memory of a stored result; its extents are those of the node, which the caller knows.
  template <class T, class A, class N> bool find(node_id id, leaf<T, A>& l, N const& extents_of) {
    if (id == 0) return false;
    stored_result const* r = lookup(id);
    if (!r) return false;
    l.data = static_cast<T*>(const_cast<void*>(r->data));
    std::copy(r->strides, r->strides + A::rank, l.strides);
    int i = 0;
    for_each_axis(A{}, [&]<class X>(type_tag<X>) { l.extents[i++] = extents_of.template extent<X>(); });
    return true;
  }

  void set_destinations(memory_range const* ranges, int count) { destinations_ = ranges, destination_count_ = count; }
  void set_results(wanted_result* results, int count) { wanted_ = results, wanted_count_ = count; }
  /// Where the log-sum-exp of these scores is to go, if it is one of the results: its stage is then done.
  template <class Lse, class S, class Shape> auto request_lse(S const& softmax, node_id scores, Shape const& shape) {
    using Axes = typename Lse::axes_type;
    leaf<typename Lse::value_type, Axes> l;
    for (int i = 0; i < wanted_count_; ++i) {
      wanted_result& w = wanted_[i];
      if (w.done || w.type != &type_key<Lse> || (!w.data && !dry_)) continue;
      Lse const& n = *static_cast<Lse const*>(w.node);
      if (n.operand.id != scores || scores == 0) continue;
      if constexpr (Lse::has_sink)
        if (!same_terminal(n.sink, softmax.sink)) continue;
      l.data = static_cast<typename Lse::value_type*>(w.data);
      std::copy(w.strides, w.strides + Axes::rank, l.strides);
      int at = 0;
      for_each_axis(Axes{}, [&]<class X>(type_tag<X>) { l.extents[at++] = shape.template extent<X>(); });
      w.done = true;
      break;
    }
    return l;
  }
  template <class T> static bool same_terminal(scalar<T> const& a, scalar<T> const& b) { return a.value == b.value; }
  template <class T, class A> static bool same_terminal(leaf<T, A> const& a, leaf<T, A> const& b) {
    return a.data == b.data && std::equal(a.strides, a.strides + A::rank, b.strides);
  }
  template <class X> static bool same_terminal(X const&, X const&) { return false; }

  // ---------------------------------------------------------------- checks before a stage
  /// True where the term has the excluding value nowhere, as far as a look at it may cost.
  template <bool ByTile, class Tree, class Shape>
  bool never_excludes(Tree const& tree, Shape const& shape, double excluded) {
    if constexpr (is_leaf_node<Tree>) {
      if (group_.writes(tree.data)) flush();
    } else
      flush();
    if (dry_) return true;
    if (rehearses_) return false;
    using SA = typename Tree::axes_type;
    extent_t low[SA::rank + 1] = {}, high[SA::rank + 1] = {};
    for_each_axis(SA{}, [&]<class A>(type_tag<A>) {
      high[index_of<A, SA>] = plan::lowering<runner>::template extent_of<A>(tree, shape);
    });
    if constexpr (is_leaf_node<Tree>) {
      return !leaf_has(tree, excluded, ByTile);
    } else {
      plan::interval const b = plan::bound_of<SA, Tree>::go(tree, low, high);
      return b.low > excluded || b.high < excluded;
    }
  }
  template <class T, class... A> static bool leaf_has(leaf<T, axes<A...>> const& l, double excluded, bool by_tile) {
    loops::group g;
    for (int i = 0; i < static_cast<int>(sizeof...(A)); ++i) g.add(i, l.extents[i]);
    if (g.size == 0) return false;
    if (by_tile && g.size > loops::scan_limit) return true;
    using V = value_of_t<T>;
    extent_t const run = g.count ? g.extent[g.count - 1] : 1, step = g.count ? l.strides[g.count - 1] : 0;
    plan::extremes<V> seen;
    for (extent_t i = 0; i < g.size; i += run) {
      T const* p = l.data + g.offset(i, l.strides);
      if constexpr (std::is_same_v<std::remove_const_t<T>, V>)
        seen.look(p, run, step);
      else
        for (extent_t j = 0; j < run; ++j) seen.add(static_cast<V>(p[j * step]));
    }
    seen.finish();
    return static_cast<double>(seen.smallest) == excluded ||
           static_cast<double>(seen.largest) == excluded;  // an infinity
  }
  /// Whether a tree reads what this run computes: a stored result, or a destination.
  template <class Tree> bool reads_results(Tree const& tree) const {
    bool found = false;
    detail::for_each_leaf(tree, [&](auto const& l) {
      memory_range const range = detail::range_of(l);
      found |= memory_.holds(l.data);
      for (int i = 0; i < destination_count_; ++i) found |= range.meets(destinations_[i]);
    });
    return found;
  }
  /// std::out_of_range unless every id lies within the table's axis.
  template <class A, class Ids, class Shape> void check_ids(Ids const& ids, extent_t extent, Shape const& shape) {
    flush();
    if (dry_ || (rehearses_ && reads_results(ids))) return;
    using SA = typename Ids::axes_type;
    loops::group g;
    extent_t low[SA::rank + 1] = {}, high[SA::rank + 1] = {};
    for_each_axis(SA{}, [&]<class X>(type_tag<X>) {
      extent_t const n = plan::lowering<runner>::template extent_of<X>(ids, shape);
      high[index_of<X, SA>] = n;
      g.add(index_of<X, SA>, n);
    });
    if (g.size == 0) return;
    plan::interval const b = plan::bound_of<SA, Ids>::go(ids, low, high);
    if (b.low >= 0 && b.high < static_cast<double>(extent)) return;
    extent_t at[loops::max_rank] = {};
    for (extent_t i = 0; i < g.size; ++i) {
      g.locate(i, at);
      std::int64_t const id = plan::value_here<SA>(ids, at);
      if (id < 0 || id >= extent)
        throw std::out_of_range("take: id " + std::to_string(id) + " lies outside axis " + detail::axis_name<A>() +
                                " of extent " + std::to_string(extent));
    }
  }

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

  /// A stage of its own, or a band of the rows of a larger one, which that one describes.
  template <class K, class L, class R, class Epilogue, class T, class A>
  [[gnu::cold]] void contract(L const& left, R const& right, Epilogue const& epilogue, leaf<T, A> const& out,
                              double fill, band const& rows = {}) {
    if constexpr (plan::is_zeroed_leaf<L> || plan::is_zeroed_leaf<R>) {
      flush();
      auto const& l = values_of(left);
      auto const& r = values_of(right);
      if (rehearses_) contract_kept<K>(left, right, epilogue, out, fill);
      if (!dry_ && !rehearses_ &&
          ((plan::is_zeroed_leaf<L> && !all_finite(r)) || (plan::is_zeroed_leaf<R> && !all_finite(l))))
        return contract_kept<K>(left, right, epilogue, out, fill);
      contract<K>(l, r, epilogue, out, fill);
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
  /// Runs the stages that wait to be one.
  void flush() {
    if (!group_.empty()) group_.run(memory_, rehearses_);
  }

  /// dot(tree over dots with weights, values): the tree for a band of rows, stored, then the values. False where the widths
  /// are so small, or something is excluded, so that it has to stream. The number of rows decides nothing: a row gets the same
  /// bits alone and among others.
  template <class K, class Scores, class Values, class Epilogue, class T, class A>
  [[gnu::cold]] bool bands(Scores const& scores, Values const& values, Epilogue const& epilogue, leaf<T, A> const& out,
                           double fill) {
    using Dots = decltype(scores.dots);
    using Rows = typename plan::rows_of_weights<K, decltype(scores.tree), Dots, Values>::rows;
    using V = typename Values::value_type;
    using VA = typename Values::axes_type;
    using Band = unite<Rows, K>;
    using SA = unite_all<A, Band, VA, typename depth_axes<Dots>::type>;
    constexpr std::size_t last = std::tuple_size_v<Dots> - 1;
    flush();
    if (unfused_) return false;
    bool rehearses_both = false;
    stage_axes<SA> sa;
    bool wide = true;
    double operations = 0, weights = 0;
    auto const look = [&](auto const& d) {
      sa.learn(d.query), sa.learn(d.key);
      wide &= d.scale == 1 &&
              sa.template group<typename std::remove_cvref_t<decltype(d)>::over>().size >= loops::band_depth;
      operations += 2 * static_cast<double>(d.key.size());
      weights += static_cast<double>(d.key.size());
    };
    std::apply([&](auto const&... d) { (look(d), ...); }, scores.dots);
    sa.learn(values), sa.learn(out);
    if (!wide || sa.template group<difference<VA, K>>().size < loops::band_depth) return false;

    // The tree reads all dots but the last from bands; the last is the anchor of the stage that computes it.
    std::array<leaf<V, Band>, last + 1> store;
    for (auto& l : store) {
      for_each_axis(Band{}, [&]<class X>(type_tag<X>) { l.extents[index_of<X, Band>] = sa.extents[index_of<X, SA>]; });
      l.make_dense();
    }
    auto const tree_over = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::replace_slots(scores.tree,
                                 std::make_tuple(detail::with_type<V const>(store[I])..., slot_node<V, Band, 0>{}));
    };
    auto const others = std::make_index_sequence<last>{};
    loops::group const rows = sa.template group<Rows>(), keys = sa.template group<K>();
    {
      auto const tree = tree_over(others);
      if (masks(detail::make_program<SA, V>(tree), sa.extents)) {
        if (!rehearses_) return false;
        rehearses_both = true;
      }
    }
    auto program = detail::make_program<SA, std::remove_const_t<T>>(epilogue);
    extent_t const row_bytes = std::max<extent_t>(1, keys.size * static_cast<extent_t>(sizeof(V) * store.size()));
    extent_t const fit = std::max<extent_t>(loops::row_block, loops::band_bytes / row_bytes);
    extent_t const count = std::max<extent_t>(1, (rows.size + fit - 1) / fit);
    operations += 2 * static_cast<double>(values.size());
    weights += static_cast<double>(values.size());
    describe(
        "streamed reduction", [&] { return stream_text<K>(sa, scores, no_axis{}, values, epilogue, "dot"); }, sa,
        program, out, static_cast<double>(rows.size) * operations,
        [&](plan::report::stage& s) {
          s.parallel = sa.template text<Rows>();
          s.vectorised = sa.template text<K>() + " (scores), " + sa.template text<difference<VA, K>>() + " (values)";
          s.streamed = sa.template text<Rows>() + " in " + std::to_string(count) + (count == 1 ? " band" : " bands");
          s.bytes_moved += weights * static_cast<double>(sizeof(V));
          std::apply(
              [&](auto const&... d) {
                ((s.bytes_moved += static_cast<double>(d.query.size()) * static_cast<double>(sizeof(V))), ...);
              },
              scores.dots);
        });
    if (dry_ || rows.size == 0) return !rehearses_both;

    auto const mark = memory_.here();
    extent_t const longest = (rows.size + count - 1) / count;
    std::array<V*, last + 1> memory;
    for (V*& m : memory)
      m = reinterpret_cast<V*>(memory_.take(static_cast<std::size_t>(longest * keys.size) * sizeof(V)));
    auto const run_band = [&](extent_t i) {
      auto const band_mark = memory_.here();
      band const here{rows.size * i / count, rows.size * (i + 1) / count - rows.size * i / count};
      for (std::size_t d = 0; d <= last; ++d) store[d].data = memory[d] - here.first * keys.size;
      auto const raw = [&]<std::size_t D>(std::integral_constant<std::size_t, D>) {
        auto const& dot = std::get<D>(scores.dots);
        using Over = typename std::remove_cvref_t<decltype(dot)>::over;
        if constexpr (D < last)
          contract<Over>(dot.query, dot.key, slot_node<V, Band, 0>{}, store[D], 0, here);
        else
          contract<Over>(dot.query, dot.key, tree_over(others), store[D], 0, here);
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
    constexpr bool has_weights = !std::is_same_v<Weights, no_axis>;
    constexpr bool has_sink = !std::is_same_v<Sink, no_axis>;
    constexpr int dots = std::tuple_size_v<decltype(scores.dots)>;
    using VA = typename axes_or_none<Values>::type;
    using KeySide = typename key_axes<decltype(scores.dots)>::type;
    using Depths = typename depth_axes<decltype(scores.dots)>::type;
    using Shared = unite<VA, KeySide>;
    using SA = unite_all<A, PA, VA, Depths>;
    using V = typename decltype(scores.tree)::value_type;
    using Lanes = difference<difference<PA, K>, Shared>;
    using Batch = difference<difference<PA, K>, Lanes>;
    flush();
    stage_axes<SA> sa;
    for_each_axis(SA{}, [&]<class X>(type_tag<X>) {
      extent_t e = scores.tree.template extent<X>();
      if constexpr (has_weights)
        if (e == dynamic) e = weights.template extent<X>();
      sa.extents[index_of<X, SA>] = e;
    });
    std::apply([&](auto const&... d) { ((sa.learn(d.key), sa.learn(d.query)), ...); }, scores.dots);
    if constexpr (has_values) sa.learn(values);
    sa.learn(out);
    sa.require_all();
    auto program = detail::make_program<SA, std::remove_const_t<T>>(epilogue);
    auto score_program = detail::make_program<SA, V>(scores.tree);

    kernel::streamed<V> k;
    k.kind = stream_kind_of<Kind, has_values>();
    k.batch = sa.template group<Batch>();
    k.lanes = sa.template group_by_size<Lanes>();
    k.keys = sa.template group<K>();
    k.values = sa.template group<difference<VA, unite<PA, K>>>();
    k.score = &score_program;
    k.epilogue = &program;
    k.bare_output = program.identity && std::is_same_v<std::remove_const_t<T>, V>;
    k.target = detail::make_target<SA>(out);
    k.fill = fill;
    loops::sized_program<1> loads[2 * (dots + 1)];
    k.dots = dots;
    {
      int i = 0;
      auto place = [&](auto const& d) {
        using Dot = std::remove_cvref_t<decltype(d)>;
        detail::fill_program<SA, V>(loads[2 * i], d.key);
        detail::fill_program<SA, V>(loads[2 * i + 1], d.query);
        k.parts[i].key = side<V>(loads[2 * i], d.key);
        k.parts[i].query = side<V>(loads[2 * i + 1]);
        // its own extents: another dot of the stage may contract an axis of the same name and another length
        for_each_axis(typename Dot::over{},
                      [&]<class X>(type_tag<X>) { k.parts[i].depth.add(index_of<X, SA>, d.key.template extent<X>()); });
        k.parts[i].scale = d.scale;
        ++i;
      };
      std::apply([&](auto const&... d) { (place(d), ...); }, scores.dots);
    }
    if constexpr (has_values) {
      detail::fill_program<SA, V>(loads[2 * dots], values);
      k.value = side<V>(loads[2 * dots], values);
    }
    [[maybe_unused]] auto const weight_program = optional_program<SA, V>(weights);
    [[maybe_unused]] auto const sink_program = optional_program<SA, V>(sink);
    if constexpr (has_weights) k.weight = &weight_program;
    if constexpr (has_sink) k.sink = &sink_program;
    if constexpr (!std::is_same_v<Lse, no_axis>)
      if (lse.data) k.lse = detail::make_target<SA>(lse);

    double const pairs =
        static_cast<double>(k.batch.size) * static_cast<double>(k.lanes.size) * static_cast<double>(k.keys.size);
    double per_pair = has_values ? 2.0 * static_cast<double>(k.values.size) : 1.0;
    for (int i = 0; i < dots; ++i) per_pair += 2.0 * static_cast<double>(k.parts[i].depth.size);
    describe(
        k.kind == kernel::stream_kind::softmax ? "attention" : "streamed reduction",
        [&] { return stream_text<K>(sa, scores, weights, values, epilogue, stream_name<Kind>()); }, sa, program, out,
        pairs * per_pair,
        [&](plan::report::stage& s) {
          s.parallel = sa.template text<unite<Batch, Lanes>>();
          s.vectorised = (kernel::decode::suits(k) ? sa.template text<Depths>() : sa.template text<Lanes>()) +
                         " (scores)" +
                         (has_values ? ", " + sa.template text<difference<VA, unite<PA, K>>>() + " (values)" : "");
          s.streamed = sa.template text<K>();
          s.bytes_moved += detail::operand_bytes(score_program, sa.extents);
          for (auto const& l : loads)
            if (l.node) s.bytes_moved += detail::operand_bytes(l, sa.extents);
        });
    if (dry_) return;
    k.masked = masks(program, sa.extents);
    int const team = kernel::team_size(threads_);
    kernel::stream_run<V> const run(k, team);
    start(run, team);
  }

 private:
  // ---------------------------------------------------------------- helpers of the stages
  struct destroyed_only {
    template <class X> void operator()(X* x) const { std::destroy_at(x); }
  };
  /// In the arena: it is ended, but its memory stays until the run ends.
  template <class X, class... Y> std::unique_ptr<X, destroyed_only> make(Y const&... y) {
    static_assert(alignof(X) <= 64);
    return std::unique_ptr<X, destroyed_only>(::new (static_cast<void*>(memory_.take(sizeof(X)))) X(y...));
  }
  /// Whether a stage that reads these programs can wait with those that wait; if not, they run now.
  bool joins(std::initializer_list<loops::program const*> reads) {
    bool const fits = !unfused_ && group_.takes(reads);
    if (!fits) flush();
    return fits;
  }
  template <class T, class A> static kernel::byte_range bytes_of(leaf<T, A> const& l) {
    if (l.data == nullptr) return {};
    memory_range const range = detail::range_of(l);
    return {range.low, range.high};
  }
  template <class N> struct axes_or_none { using type = axes<>; };
  template <class N>
    requires(requires { typename N::axes_type; })
  struct axes_or_none<N> {
    using type = typename N::axes_type;
  };
  template <class Tuple> struct key_axes;
  template <class... D> struct key_axes<std::tuple<D...>> {
    using type = unite_all<difference<typename D::key_type::axes_type, typename D::over>...>;
  };
  template <class Tuple> struct depth_axes;
  template <class... D> struct depth_axes<std::tuple<D...>> { using type = unite_all<typename D::over...>; };

  template <class SA, class V, class Tree> static auto optional_program(Tree const& tree) {
    if constexpr (std::is_same_v<Tree, no_axis>)
      return no_axis{};
    else
      return detail::make_program<SA, V>(tree);
  }
  template <class V> static kernel::matrix side(loops::program const& load) {
    kernel::matrix m;
    m.operand = load.operands[0];
    m.load = &load;
    m.native = m.operand.real && m.operand.size == static_cast<int>(sizeof(V));
    return m;
  }
  template <class N> static kernel::ready_panels const* panels_of(N const& n) {
    if constexpr (is_leaf_node<N>)
      return static_cast<kernel::ready_panels const*>(n.owner.attached());
    else
      return nullptr;
  }
  template <class V, class S, class A> static kernel::matrix side(loops::program const& load, leaf<S, A> const&) {
    kernel::matrix m = side<V>(load);
    m.row_loops = kernel::decode::row_loops_for<V, std::remove_const_t<S>>();
    return m;
  }
  /// A run with memory for each of its threads, and some that they share.
  template <class Run> [[gnu::cold]] void start(Run const& run, int threads) {
    auto const mark = memory_.here();
    std::size_t const per_thread = (run.scratch_bytes() + 127) / 64 * 64;
    char* const memory = memory_.take(per_thread * static_cast<std::size_t>(threads));
    char* const shared = memory_.take(run.shared_bytes());
    if (!rehearses_) run.run(memory, per_thread, shared);
    memory_.back_to(mark);
  }
  /// Whether a program's exclusion has to be looked at on this stage at all.
  bool masks(loops::program const& p, extent_t const* extents) const {
    if (!p.masked || rehearses_) return p.masked != nullptr;
    extent_t low[loops::max_rank] = {};
    return p.classify(p.node, low, extents) != 2;
  }
  /// True where the target's neighbouring elements belong to the left operand's axes.
  template <class Stage> static bool lanes_lie_left(Stage const& k) {
    auto has_unit = [&](loops::group const& g) {
      for (int i = 0; i < g.count; ++i)
        if (k.target.stride[g.axis[i]] == 1 && g.extent[i] > 1) return true;
      return false;
    };
    if (has_unit(k.n)) return k.n.size < 4 && k.m.size >= 16;
    if (has_unit(k.m)) return !(k.m.size < 4 && k.n.size >= 16);
    return k.n.size < k.m.size && k.n.size < 16;
  }
  template <class SA, class Outer, class Stage> static void split_rows(stage_axes<SA> const& sa, Stage& k) {
    // rows: the axis that lies side by side in the target; else the longest
    int best = -1;
    loops::group const all = sa.template group<Outer>();
    for (int i = 0; i < all.count; ++i) {
      if (best < 0 || all.extent[i] > all.extent[best]) best = i;
    }
    for (int i = 0; i < all.count; ++i)
      if (!k.keeps_rows() && k.target.stride[all.axis[i]] == 1 && all.extent[i] > 1) best = i;
    for (int i = 0; i < all.count; ++i) (i == best ? k.rows : k.outer).add(all.axis[i], all.extent[i]);
  }
  static kernel::row_kind row_kind_of(kinds::softmax const&) { return kernel::row_kind::softmax; }
  static kernel::row_kind row_kind_of(kinds::log_sum_exp const&) { return kernel::row_kind::log_sum_exp; }
  static kernel::row_kind row_kind_of(kinds::sum const&) { return kernel::row_kind::sum; }
  static kernel::row_kind row_kind_of(kinds::mean const&) { return kernel::row_kind::mean; }
  static kernel::row_kind row_kind_of(kinds::maximum const&) { return kernel::row_kind::maximum; }
  static kernel::row_kind row_kind_of(kinds::variance const&) { return kernel::row_kind::variance; }
  static kernel::row_kind row_kind_of(kinds::argmax const&) { return kernel::row_kind::argmax; }
  static kernel::row_kind row_kind_of(kinds::cumulative_sum const&) { return kernel::row_kind::cumulative_sum; }
  static kernel::row_kind row_kind_of(kinds::standardised const&) { return kernel::row_kind::standardised; }
  template <class Kind> static constexpr double operations_of() {
    return std::is_same_v<Kind, kinds::softmax> || std::is_same_v<Kind, kinds::log_sum_exp> ? 5
           : std::is_same_v<Kind, kinds::standardised>                                      ? 5
                                                                                            : 1;
  }
  template <class Kind, bool HasValues> static constexpr kernel::stream_kind stream_kind_of() {
    using kernel::stream_kind;
    if constexpr (std::is_same_v<Kind, plan::stream_softmax>) return stream_kind::softmax;
    if constexpr (std::is_same_v<Kind, plan::stream_plain>) return stream_kind::weighted_sum;
    if constexpr (std::is_same_v<Kind, kinds::mean>) return stream_kind::mean;
    if constexpr (std::is_same_v<Kind, kinds::maximum>) return stream_kind::maximum;
    if constexpr (std::is_same_v<Kind, kinds::log_sum_exp>) return stream_kind::log_sum_exp;
    return stream_kind::sum;
  }
  template <class Kind> static std::string_view stream_name() {
    if constexpr (requires { Kind::name; })
      return Kind::name;
    else
      return "dot";
  }
  template <class N> static auto const& values_of(N const& n) {
    if constexpr (plan::is_zeroed_leaf<N>)
      return n.operand;
    else
      return n;
  }
  template <class T, class... A> static bool all_finite(leaf<T, axes<A...>> const& l) {
    loops::group g;
    for (int i = 0; i < static_cast<int>(sizeof...(A)); ++i) g.add(i, l.extents[i]);
    if (g.size == 0) return true;
    extent_t const run = g.count ? g.extent[g.count - 1] : 1, step = g.count ? l.strides[g.count - 1] : 0;
    for (extent_t i = 0; i < g.size; i += run) {
      T const* p = l.data + g.offset(i, l.strides);
      value_of_t<T> sum = 0;
      for (extent_t j = 0; j < run; ++j) sum += static_cast<value_of_t<T>>(p[j * step]) * value_of_t<T>(0);
      if (!(sum == 0)) return false;
    }
    return true;
  }
  /// A contraction in which an excluded product meets something that is not finite: element by element, skipping it.
  template <class K, class L, class R, class Epilogue, class T, class A>
  void contract_kept(L const& left, R const& right, Epilogue const& epilogue, leaf<T, A> const& out, double fill) {
    auto const& l = values_of(left);
    auto const& r = values_of(right);
    using LA = typename std::remove_cvref_t<decltype(l)>::axes_type;
    using RA = typename std::remove_cvref_t<decltype(r)>::axes_type;
    using Result = difference<unite<LA, RA>, K>;
    using SA = unite<Result, K>;
    using V = typename L::value_type;
    stage_axes<SA> sa;
    sa.learn(l), sa.learn(r);
    leaf<V, Result> raw;
    for_each_axis(Result{},
                  [&]<class X>(type_tag<X>) { raw.extents[index_of<X, Result>] = sa.extents[index_of<X, SA>]; });
    raw.make_dense();
    auto const mark = memory_.here();
    raw.data = reinterpret_cast<V*>(memory_.take(static_cast<std::size_t>(raw.size()) * sizeof(V)));
    loops::group const results = sa.template group<Result>(), over = sa.template group<K>();
    auto keeps = [](auto const& n, extent_t const* c) {
      if constexpr (plan::is_zeroed_leaf<std::remove_cvref_t<decltype(n)>>)
        return static_cast<bool>(plan::value_here<SA>(n.keep, c));
      else
        return true;
    };
    if (!rehearses_)
      kernel::run_team(kernel::team_size(threads_), [&](kernel::team& t) {
        t.share(results.size, [&](extent_t i) {
          extent_t c[loops::max_rank] = {};
          results.locate(i, c);
          V sum = 0;
          for (extent_t j = 0; j < over.size; ++j) {
            over.locate(j, c);
            if (keeps(left, c) && keeps(right, c)) sum += plan::value_here<SA>(l, c) * plan::value_here<SA>(r, c);
          }
          raw.data[results.offset(i, target_strides<SA>(raw).data())] = sum;
        });
      });
    map(plan::replace_slot(epilogue, detail::with_type<V const>(raw)), out, fill);
    flush();
    memory_.back_to(mark);
  }
  template <class SA, class T, class A>
  static std::array<extent_t, loops::max_rank> target_strides(leaf<T, A> const& l) {
    std::array<extent_t, loops::max_rank> s{};
    for_each_axis(A{},
                  [&]<class X>(type_tag<X>) { s[static_cast<std::size_t>(index_of<X, SA>)] = l.template stride<X>(); });
    return s;
  }

  // ---------------------------------------------------------------- the report
  template <class K, class SA, class Scores, class Weights, class Values, class Epilogue>
  static std::string stream_text(stage_axes<SA> const& sa, Scores const& scores, Weights const& weights, Values const&,
                                 Epilogue const& epilogue, std::string_view name) {
    constexpr bool has_values = !std::is_same_v<Values, no_axis>;
    std::string s = plan::print(scores.tree);
    int number = 0;
    auto name_dot = [&](auto const& d) {
      using Dot = std::remove_cvref_t<decltype(d)>;
      s = replaced(s, number++,
                   plan::concatenated({"dot<", sa.template text<typename Dot::over>(), ">(", plan::print(d.query), ", ",
                                       plan::print(d.key), ")"}));
    };
    std::apply([&](auto const&... d) { (name_dot(d), ...); }, scores.dots);
    if constexpr (!std::is_same_v<Weights, no_axis>)
      s = with_slots(weights, plan::concatenated({"softmax<", sa.template text<K>(), ">(", s, ")"}));
    using VA = typename axes_or_none<Values>::type;
    return with_slots(epilogue, (has_values ? "dot<" : std::string(name) + "<") + sa.template text<K>() + ">(" + s +
                                    (has_values ? ", [" + plan::axis_text(VA{}) + "])" : ")"));
  }
  template <class Tree> static std::string with_slots(Tree const& tree, std::string const& anchor, int slot = 0) {
    return replaced(plan::print(tree), slot, anchor);
  }
  static std::string replaced(std::string s, int slot, std::string const& by) {
    std::string const mark = "#" + std::to_string(slot);
    for (std::size_t at = 0; (at = s.find(mark, at)) != s.npos; at += by.size()) s.replace(at, mark.size(), by);
    return s;
  }
  template <class T, class... A> static std::string last_axis(leaf<T, axes<A...>> const&) {
    std::string s = "one element";
    ((s = detail::axis_name<A>()), ...);
    return s;
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

  static constexpr int inline_results = 48;
  bool unfused_;
  int threads_;
  std::size_t limit_;
  arena& memory_;
  plan::report* report_;
  bool dry_;
  bool rehearses_;
  kernel::stage_group group_;
  std::uintptr_t nowhere_ = 4096;
  std::size_t stored_bytes_ = 0;
  struct waiting_result {
    std::size_t bytes;
    char const* why;
  };
  static constexpr int most_pending = 64;
  waiting_result waiting_[most_pending];
  int pending_ = 0;
  stored_result results_[inline_results];
  int count_ = 0;
  struct later_result {
    stored_result result;
    later_result const* next;
  };
  later_result const* more_results_ = nullptr;  // in the arena, so that a rehearsal has found their memory, too
  wanted_result* wanted_ = nullptr;
  int wanted_count_ = 0;
  memory_range const* destinations_ = nullptr;
  int destination_count_ = 0;
};

}  // namespace HEED_ARCH
}  // namespace heed::detail
