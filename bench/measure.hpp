// SPDX-License-Identifier: BSL-1.0
// In: formulas over the same inputs. Out: one Google Benchmark entry a formula: its median time, its share of what this machine
// can do, its ratio to a partner. The formulas of a comparison run in turns with the yardstick, so that a machine that slows
// down slows all of them.
// Next: inputs.hpp, then attention.cpp.
#pragma once

#include "peak.hpp"
#include <heed/heed.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Something to time, and what it is measured by: operations (a multiply-add is two) against the multiply-add peak, or bytes
/// against reading a buffer of that size; or neither.
struct job {
  std::function<void(int threads)> run;
  double operations = 0;
  double bytes = 0;
  double items = 0;  // if there are any: microseconds for each of them
  double part = 0;   // of the first formula's tiles, if known: a ratio to it is also reported over that
  std::map<std::string, double> notes = {};  // counters that need no clock
};

/// e, evaluated again and again into the same tensor with the same workspace.
template <class E> job runs(E const& e, heed::schedule schedule = heed::fused) {
  auto out = std::make_shared<decltype(heed::evaluate(heed::policy{}, e))>(heed::evaluate(heed::policy{}, e));
  auto memory = std::make_shared<heed::workspace>();
  job j{.run = [=](int threads) {
    heed::evaluate_into(heed::policy{.schedule = schedule, .threads = threads, .memory = memory.get()}, *out, e);
  }};
  if (schedule == heed::fused && !heed::streams<E>) j.notes["stores_scores"] = 1;
  return j;
}
inline job of_operations(job j, double operations) { return j.operations = operations, j; }
inline job of_bytes(job j, double bytes) { return j.bytes = bytes, j; }

/// A name and the job that it stands for, made of the inputs when the comparison runs. `of` names the partner of its ratio
/// (nothing: the first formula of the comparison).
template <class Inputs> struct formula {
  std::string name;
  std::function<job(Inputs const&)> make;
  std::string of = {};
};

/// The middle one.
inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

/// The jobs of one comparison on one number of threads; measured once, when the first of its entries is asked for.
class comparison {
  struct entry {
    std::string name, of;
    double seconds = 0, share = 0, ratio = 0;
    job work;
  };
  std::vector<entry> entries_;
  std::function<std::vector<job>()> make_;
  int threads_;
  double budget_;
  bool measured_ = false;

  static constexpr double long_run = 10;  // seconds: what takes longer is not measured three times

  double sample(entry const& e, double expected) const {
    int const repeats = expected < 1e-3 ? std::min(10000, static_cast<int>(1e-3 / expected) + 1) : 1;
    if (expected < 0.02) e.work.run(threads_);  // bring its operands back to where its own last run leaves them
    double const start = now(threads_);
    for (int i = 0; i < repeats; ++i) e.work.run(threads_);
    return (now(threads_) - start) / repeats;
  }

  void measure() {
    std::vector<job> jobs = make_();
    std::vector<double> expected, first(jobs.size());
    double round_time = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      entries_[i].work = std::move(jobs[i]);
      if (entries_[i].work.run == nullptr) continue;
      double const start = now(threads_);
      entries_[i].work.run(threads_);
      first[i] = now(threads_) - start;
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      expected.push_back(first[i] > long_run ? first[i] : sample(entries_[i], 1));
      round_time += std::max(2e-3, expected.back() * (expected.back() < 0.02 ? 2 : 1)) + 1e-3;
    }
    int const rounds = std::clamp(static_cast<int>(budget_ / round_time), round_time > long_run ? 1 : 3, 25);

    stream_of_bytes bytes;
    std::vector<std::vector<double>> seconds(entries_.size()), share(entries_.size()), ratio(entries_.size());
    for (int round = 0; round < rounds; ++round) {
      double before = multiply_add_peak(threads_);
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        job const& work = entries_[i].work;
        double const rate = work.bytes > 0 ? bytes.read(work.bytes, threads_) : 0;
        double const time = sample(entries_[i], expected[i]);
        double const after = multiply_add_peak(threads_);
        seconds[i].push_back(time);
        share[i].push_back(work.bytes > 0 ? work.bytes / time / rate : work.operations / time / ((before + after) / 2));
        before = after;
      }
      for (std::size_t i = 0; i < entries_.size(); ++i)
        ratio[i].push_back(seconds[i].back() / seconds[partner(i)].back());
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].seconds = median(seconds[i]);
      entries_[i].share = median(share[i]);
      entries_[i].ratio = median(ratio[i]);
      entries_[i].work.run = nullptr;  // gives its tensors back
    }
    measured_ = true;
  }

  std::size_t partner(std::size_t i) const {
    for (std::size_t other = 0; other < entries_.size(); ++other)
      if (entries_[other].name == entries_[i].of) return other;
    return 0;
  }

 public:
  comparison(std::function<std::vector<job>()> make, int threads, double budget)
      : make_(std::move(make)),
        threads_(threads),
        budget_(budget) {}

  void add(std::string name, std::string of) {
    entries_.push_back({.name = std::move(name), .of = std::move(of), .work = {}});
  }

  void report(std::size_t i, benchmark::State& state) {
    if (!measured_) measure();
    entry const& e = entries_[i];
    for (auto _ : state) state.SetIterationTime(e.seconds);
    state.counters["ms"] = e.seconds * 1e3;
    if (e.work.operations > 0) state.counters["percent_of_peak"] = 100 * e.share;
    if (e.work.bytes > 0) state.counters["percent_of_read"] = 100 * e.share;
    if (partner(i) != i) state.counters["of_" + entries_[partner(i)].name] = e.ratio;
    if (e.work.part > 0) state.counters["percent_of_tiles"] = 100 * e.work.part;
    if (e.work.part > 0 && partner(i) == 0) state.counters["over_tiles"] = e.ratio / e.work.part;
    if (e.work.items > 0) state.counters["us_each"] = e.seconds * 1e6 / e.work.items;
    for (auto const& [name, value] : e.work.notes) state.counters[name] = value;
  }
};

/// How a comparison runs: on which numbers of threads (0: all), and about how many seconds it may take on each.
struct setting {
  std::vector<int> threads = {1, 0};
  double seconds = 1;
};

/// One line of a benchmark: `compare<inputs>("prefill", shape, {{"full", full}, {"causal", lower}})` makes Inputs(shape) when it
/// runs, and an entry prefill/SHAPE/threads:N/NAME for each formula.
template <class Inputs, class Shape>
void compare(std::string const& name, Shape const& shape, std::vector<formula<Inputs>> const& formulas,
             setting const& how = {}) {
  int last = 0;
  for (int const wanted : how.threads) {
    int const threads = heed::kernel::team_size(wanted);
    if (threads == last) continue;
    last = threads;
    auto const all = std::make_shared<comparison>(
        [=] {
          Inputs const inputs(shape);
          std::vector<job> jobs;
          for (auto const& f : formulas) jobs.push_back(f.make(inputs));
          return jobs;
        },
        threads, how.seconds);
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      all->add(formulas[i].name, formulas[i].of);
      std::string const full_name =
          name + '/' + to_string(shape) + "/threads:" + std::to_string(threads) + '/' + formulas[i].name;
      benchmark::RegisterBenchmark(full_name.c_str(), [all, i](benchmark::State& state) { all->report(i, state); })
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

/// A line a result, counters by name: what Google Benchmark prints on a console, without iterations and processor time.
class table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const& runs) override {
    for (Run const& run : runs) {
      std::string const name = run.run_name.function_name + (run.run_name.args.empty() ? "" : '/' + run.run_name.args);
      std::printf("%-64s", name.c_str());
      if (run.error_occurred) std::printf(" %s", run.error_message.c_str());
      for (auto const& [counter, value] : run.counters) {
        bool const percent = counter.starts_with("percent_");
        std::printf(percent ? "  %s %.1f" : "  %s %.3f", counter.c_str(), static_cast<double>(value));
      }
      std::puts("");
      std::fflush(stdout);
    }
  }
};

/// main of every benchmark, after its comparisons are registered. Google Benchmark's flags all work.
inline int run(int count, char** arguments) {
  bool own_format = false;
  for (int i = 1; i < count; ++i) own_format |= std::strncmp(arguments[i], "--benchmark_format", 18) == 0;
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  table lines;
  benchmark::RunSpecifiedBenchmarks(own_format ? nullptr : &lines);
  return 0;
}

}  // namespace bench
