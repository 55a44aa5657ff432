// SPDX-License-Identifier: BSL-1.0
// In: a number of jobs and what to do with one. Out: all of them done, by the threads that OpenMP grants (all of OpenMP is
// in this file). An exception inside a job is carried out of the region and thrown again.
// Next to read: block.hpp, the smallest piece of work.
#pragma once

#include "../arch.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace heed::kernel {
inline namespace HEED_ARCH {

/// The threads a stage may use: the wanted number, or OpenMP's default where that is 0; 1 inside a region that may not nest.
inline int team_size(int wanted) {
#if defined(_OPENMP)
  if (omp_in_parallel() && omp_get_active_level() >= omp_get_max_active_levels()) return 1;
  int n = wanted > 0 ? wanted : omp_get_max_threads();
  int const limit = omp_get_thread_limit();
  return n < 1 ? 1 : n > limit ? limit : n;
#else
  (void)wanted;
  return 1;
#endif
}

/// What a thread of a team knows: its number, and how to share jobs with the others.
class team {
  std::exception_ptr* error_;
  std::atomic<bool>* failed_;

 public:
  int thread;
  bool alone;  // a team of one, without a parallel region
  team(int number, bool one, std::exception_ptr* error, std::atomic<bool>* failed)
      : error_(error),
        failed_(failed),
        thread(number),
        alone(one) {}

  /// body(job) for all jobs, `bundle` at a time handed to whoever is free; every thread waits for the last one.
  template <class Body> void share(std::ptrdiff_t jobs, Body&& body, [[maybe_unused]] std::ptrdiff_t bundle = 1) {
    auto guarded = [&](std::ptrdiff_t job) {
      if (failed_->load(std::memory_order_relaxed)) return;
      try {
        body(job);
      } catch (...) {
        if (!failed_->exchange(true)) *error_ = std::current_exception();
      }
    };
    if (alone) {
      for (std::ptrdiff_t job = 0; job < jobs; ++job) guarded(job);
      return;
    }
#if defined(_OPENMP)
#pragma omp for schedule(dynamic, bundle)
#endif
    for (std::ptrdiff_t job = 0; job < jobs; ++job) guarded(job);
  }
};

/// body(team&) once on each thread of a team of at most `threads`: one parallel region, or none for a team of one.
template <class Body> void run_team([[maybe_unused]] int threads, Body&& body) {
  std::exception_ptr error;
  std::atomic<bool> failed{false};
#if defined(_OPENMP)
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      team t(omp_get_thread_num(), false, &error, &failed);
      body(t);
    }
  } else
#endif
  {
    team t(0, true, &error, &failed);
    body(t);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel
