// SPDX-License-Identifier: BSL-1.0
// In: how an expression is to run. Out: schedule, policy, workspace, and the memory that one run takes from it.
// Next to read: plan/report.hpp, what explain says about a run.
#pragma once

#include "memory.hpp"

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

namespace heed {

/// fused: few passes, nothing stored that can stream. unfused: every node stored, by the same vectorised, threaded kernels.
///
///     tensor y = evaluate(policy{.schedule = schedule::unfused}, softmax<key>(s));  // or evaluate(unfused, ...)
enum class schedule { fused, unfused };
inline constexpr schedule fused = schedule::fused;      ///< few passes
inline constexpr schedule unfused = schedule::unfused;  ///< every node stored

namespace detail {

/// Aligned memory taken piece by piece and given back to a mark, all at once.
class arena {
  struct release {
    void operator()(char* p) const { detail::give_back(p); }
  };
  struct chunk {
    std::unique_ptr<char, release> memory;
    std::size_t size = 0, used = 0;
  };
  std::vector<chunk> chunks_;
  std::size_t current_ = 0;

  static chunk make(std::size_t bytes) {
    return {std::unique_ptr<char, release>(static_cast<char*>(detail::allocate(bytes, false))), bytes, 0};
  }

 public:
  struct mark {
    std::size_t chunk = 0, used = 0;
  };
  char* take(std::size_t bytes) {
    bytes = (bytes + 127) / 64 * 64;  // at least 64 bytes of slack: whole vectors may be written
    for (; current_ < chunks_.size(); ++current_)
      if (chunks_[current_].size - chunks_[current_].used >= bytes) {
        char* p = chunks_[current_].memory.get() + chunks_[current_].used;
        chunks_[current_].used += bytes;
        return p;
      }
    chunks_.push_back(make(bytes));
    current_ = chunks_.size() - 1;
    chunks_.back().used = bytes;
    return chunks_.back().memory.get();
  }
  bool holds(void const* p) const {
    for (auto const& c : chunks_)
      if (p >= c.memory.get() && p < c.memory.get() + c.size) return true;
    return false;
  }
  mark here() const {
    return current_ < chunks_.size() ? mark{current_, chunks_[current_].used} : mark{chunks_.size(), 0};
  }
  void back_to(mark m) {
    for (std::size_t i = m.chunk + 1; i < chunks_.size(); ++i) chunks_[i].used = 0;
    if (m.chunk < chunks_.size()) chunks_[m.chunk].used = m.used;
    current_ = m.chunk < chunks_.size() ? m.chunk : 0;
  }
  /// All pieces free again, in one chunk: the next run of the same size allocates nothing.
  void reset() {
    if (chunks_.size() > 1) {
      std::size_t total = 0;
      for (auto const& c : chunks_) total += c.size;
      chunks_.clear();
      chunks_.push_back(make(total));
    }
    for (auto& c : chunks_) c.used = 0;
    current_ = 0;
  }
  std::size_t capacity() const {
    std::size_t total = 0;
    for (auto const& c : chunks_) total += c.size;
    return total;
  }
};

}  // namespace detail

/// Memory that runs share one after the other: from the second run of an expression on, nothing is allocated. Used by two
/// runs at the same time it throws std::logic_error.
///
///     workspace memory;
///     tensor<float, batch, query, head, d_head> c{batch{1}, query{12}};
///     for (int step = 0; step < 10; ++step)
///       evaluate_into(policy{.memory = &memory}, c, dot<key>(softmax<key>(s), v));
class workspace {
  detail::arena memory_;
  std::atomic<bool> busy_{false};

 public:
  workspace() = default;
  workspace(workspace const&) = delete;
  workspace& operator=(workspace const&) = delete;
  /// Bytes held.
  std::size_t size() const { return memory_.capacity(); }

  /// For evaluate: the workspace while one run has it.
  class lease {
    workspace* owner_;

   public:
    /// Takes the workspace, if there is one; std::logic_error while another has it.
    explicit lease(workspace* w) : owner_(w) {
      if (owner_ && owner_->busy_.exchange(true)) {
        owner_ = nullptr;
        throw std::logic_error("workspace: two runs use it at the same time");
      }
    }
    lease(lease const&) = delete;
    lease& operator=(lease const&) = delete;
    ~lease() {
      if (!owner_) return;
      try {
        owner_->memory_.reset();
      } catch (std::bad_alloc const&) {  // stays in pieces: the next run tries again
      }
      owner_->busy_ = false;
    }
    /// Its memory, or null.
    detail::arena* memory() const { return owner_ ? &owner_->memory_ : nullptr; }
  };
};

/// First argument of evaluate, evaluate_into and explain: how an expression is run, never what its value is.
///
///     workspace memory;
///     tensor y = evaluate(policy{.threads = 2, .memory = &memory, .store_limit = 1 << 20}, dot<key>(softmax<key>(s), v));
///
/// shape_error: a plan that stores more than store_limit.
struct policy {
  heed::schedule schedule = heed::schedule::fused;  ///< fused, or node by node
  int threads = 0;                                  ///< 0: OpenMP's default
  workspace* memory = nullptr;                      ///< null: allocate what is needed
  std::size_t store_limit =
      std::numeric_limits<std::size_t>::max();  ///< bytes that a plan may store between its stages
};

}  // namespace heed
