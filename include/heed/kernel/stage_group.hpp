// SPDX-License-Identifier: BSL-1.0
// In: stages of which none reads what another writes. Out: all of them run in one parallel region, one after the other: the
// projections of a layer are one stage, and their input stays in the cache from one to the next.
// Next to read: ../runner.hpp, which makes them.
#pragma once

#include "../policy.hpp"
#include "block.hpp"
#include "parallel.hpp"

#include <memory>

namespace heed::kernel {
inline namespace HEED_ARCH {

/// A stage with all that it needs to run.
class ready_stage {
 public:
  ready_stage() = default;
  ready_stage(ready_stage const&) = delete;
  ready_stage& operator=(ready_stage const&) = delete;
  virtual ~ready_stage() = default;
  virtual int threads() const = 0;  // that its work is worth
  virtual std::size_t scratch_bytes() const = 0;
  virtual std::size_t shared_bytes() const { return 0; }
  virtual void run(team& t, char* memory, std::size_t per_thread, char* shared) const = 0;

 private:
  friend class stage_group;
  ready_stage* next_ = nullptr;
};

/// Memory from begin to end.
struct byte_range {
  char const* begin = nullptr;
  char const* end = nullptr;
  bool holds(void const* p) const { return p >= begin && p < end; }
};

/// Stages that wait for each other.
class stage_group {
  static constexpr int most = 8;
  byte_range targets_[most];
  int count_ = 0;
  ready_stage* first_ = nullptr;
  ready_stage* last_ = nullptr;

  static std::size_t rounded(std::size_t bytes) { return (bytes + 127) / 64 * 64; }

 public:
  stage_group() = default;
  stage_group(stage_group const&) = delete;
  stage_group& operator=(stage_group const&) = delete;
  ~stage_group() { clear(); }

  bool empty() const { return count_ == 0; }
  bool writes(void const* p) const {
    for (int i = 0; i < count_; ++i)
      if (targets_[i].holds(p)) return true;
    return false;
  }
  /// Whether a stage that reads these programs' operands can join. What a function fetches is not known.
  bool takes(std::initializer_list<loops::program const*> reads) const {
    if (count_ == 0 || count_ == most) return false;
    for (loops::program const* p : reads)
      for (int i = 0; i < p->count; ++i)
        if (p->operands[i].fetch || (p->operands[i].data && writes(p->operands[i].data))) return false;
    return true;
  }
  void note(byte_range const& target) { targets_[count_++] = target; }
  void add(ready_stage& s) {
    (last_ ? last_->next_ : first_) = &s;
    last_ = &s;
  }
  /// Ends the stages, which lie in an arena.
  void clear() {
    for (ready_stage* s = first_; s;) {
      ready_stage* const next = s->next_;
      std::destroy_at(s);
      s = next;
    }
    first_ = last_ = nullptr;
    count_ = 0;
  }
  /// All of them, in memory of the arena; only that memory is taken, and given back, where it is a rehearsal.
  [[gnu::cold]] void run(::heed::detail::arena& arena, bool rehearsal) {
    int threads = 1;
    std::size_t scratch = 0, shared = 0;
    for (ready_stage const* s = first_; s; s = s->next_) {
      threads = std::max(threads, s->threads());
      scratch = std::max(scratch, rounded(s->scratch_bytes()));
      shared += rounded(s->shared_bytes());
    }
    auto const mark = arena.here();
    char* const memory = arena.take(scratch * static_cast<std::size_t>(threads));
    char* const all_shared = arena.take(shared);
    if (first_ && !rehearsal)
      run_team(threads, [&](team& t) {
        char* own = all_shared;
        for (ready_stage const* s = first_; s; s = s->next_) {
          s->run(t, memory, scratch, own);
          own += rounded(s->shared_bytes());
        }
      });
    arena.back_to(mark);
    clear();
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
