// SPDX-License-Identifier: BSL-1.0
// In: how a run is to go (policy, arena, report). Out: what its stages share: memory between them, results that are known, those
// that the caller asked for, and the stages that wait to run as one.
// Next to read: checks.hpp, what is looked at before a stage; made.hpp, the stages; ../runner.hpp, what finds and fills them.
#pragma once

#include "../kernel/stage_group.hpp"
#include "../plan/leaves.hpp"
#include "../plan/report.hpp"
#include "../policy.hpp"
#include "../program.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

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

/// What becomes of the stages. They run; or they are only described, without memory; or they are rehearsed: planned with all
/// the memory that they will take, so that the run after it, from the same mark of the arena, finds it there and cannot fail
/// for want of it once something is written. A rehearsal reads no results, since there are none, and where the numbers would
/// decide it takes the memory of either way.
enum class staging { run, describe, rehearse };

class run_state {
 public:
  run_state(policy const& p, arena& memory, plan::report* report, staging mode)
      : unfused_(p.schedule == schedule::unfused),
        threads_(p.threads),
        limit_(p.store_limit),
        memory_(memory),
        report_(report),
        dry_(mode == staging::describe),
        rehearses_(mode == staging::rehearse) {}

  bool is_unfused() const { return unfused_; }
  std::size_t bytes_stored() const { return stored_bytes_; }

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
  template <class Lse, class S, class Shape> auto request_lse(S const& softmax, Shape const& shape) {
    using Axes = typename Lse::axes_type;
    leaf<typename Lse::value_type, Axes> l;
    for (int i = 0; i < wanted_count_; ++i) {
      wanted_result& w = wanted_[i];
      if (w.done || w.type != &type_key<Lse> || (!w.data && !dry_)) continue;
      Lse const& n = *static_cast<Lse const*>(w.node);
      if (!same_node(n.operand, softmax.operand)) continue;
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
  template <class N> static bool same_node(N const& a, N const& b) {
    if constexpr (requires { a.id; })
      return a.id != 0 && a.id == b.id;
    else
      return same_terminal(a, b);
  }
  /// Runs the stages that wait to be one.
  void flush() {
    if (!group_.empty()) group_.run(memory_, rehearses_);
  }

 protected:
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
