// SPDX-License-Identifier: BSL-1.0
// In: the formulas of a program. Out: each on so many random inputs, a line for each formula, the seed and the command that
// repeats it for each that disagrees with the reference.
//
//   program [--inputs 200] [--seed 1] [--formula NAME] [--input N]
#include "trial.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace formulas {

extent trial::sequence() {
  static constexpr extent edges[] = {0,  1,  2,  3,   4,   5,   7,   8,   9,   11,  12,  13,  15,  16, 17,
                                     19, 23, 24, 25,  31,  32,  33,  47,  48,  49,  61,  63,  64,  65, 71,
                                     95, 96, 97, 127, 128, 129, 131, 191, 192, 193, 251, 256, 257, 300};
  const extent most[] = {44, 36, 29, 18, 9, 4};
  const extent n = random_.chance(0.25) && shrink_ < 2 ? random_.below(301) : edges[random_.below(most[shrink_])];
  return random_.chance(0.5) && n > 20 ? edges[random_.below(18)] : n;
}
extent trial::width() {
  static constexpr extent edges[] = {1,  2,  3,  4,  5,  7,  8,  9,  0,  15, 16, 17,
                                     20, 31, 32, 33, 48, 63, 64, 65, 80, 96, 128};
  const extent most[] = {23, 19, 16, 12, 9, 4};
  return edges[random_.below(random_.chance(0.6) ? std::min<extent>(12, most[shrink_]) : most[shrink_])];
}
extent trial::few() {
  static constexpr extent edges[] = {1, 2, 3, 1, 2, 3, 0, 4, 5, 8, 17};
  const extent most[] = {11, 10, 8, 7, 3, 3};
  return edges[random_.below(most[shrink_])];
}
extent trial::divisor(extent n) {
  if (n == 0) return between(1, 4);
  extent result = 1;
  for (extent d = 1; d <= n; ++d)
    if (n % d == 0 && random_.chance(0.5)) result = d;
  return result;
}
bool trial::affordable(std::initializer_list<double> products) {
  double cost = 0;
  for (const double product : products) cost += product;
  // a large problem now and then, small ones for the rest
  const double limit = random_.chance(0.01) ? 2e6 : random_.chance(0.1) ? 2e5 : 3e4;
  affordable_ = cost <= limit || shrink_ == 5;
  return affordable_;
}
void trial::note(const char* name, extent n) {
  shapes_ += std::string(shapes_.empty() ? "" : ", ") + name + " " + std::to_string(n);
}

trial::layout trial::lay_out(const std::vector<extent>& extents, bool repeats) {
  const std::size_t rank = extents.size();
  layout result;
  result.strides.assign(rank, 1);
  std::vector<std::size_t> order(rank);  // from the outermost in memory
  for (std::size_t a = 0; a < rank; ++a) order[a] = a;
  const bool dense = random_.chance(0.4);
  if (!dense)
    for (std::size_t a = rank; a > 1; --a)
      std::swap(order[a - 1], order[static_cast<std::size_t>(random_.below(static_cast<extent>(a)))]);
  extent step = dense || random_.chance(0.7) ? 1 : between(2, 3);
  extent last = 0;
  for (std::size_t k = rank; k-- > 0;) {
    const std::size_t a = order[k];
    const extent n = std::max<extent>(extents[a], 1);
    if (!dense && repeats && random_.chance(0.05)) {
      result.strides[a] = 0;  // repeated
      continue;
    }
    result.strides[a] = step;
    if (!dense && random_.chance(0.1)) {  // reversed
      result.strides[a] = -step;
      result.first += (n - 1) * step;
    }
    last += (n - 1) * step;
    step *= n;
    if (!dense && random_.chance(0.2)) step += between(1, 5);  // a gap
  }
  const extent before = dense ? 0 : random_.below(4);
  result.first += before;
  result.size = before + last + 1 + 32;
  return result;
}

void trial::compare_number(const char* how, std::size_t i, std::size_t size, double got, const table& want,
                           std::size_t at) {
  ++numbers;
  if (!want.keeps(at)) {  // stored alone, an excluded element is -infinity
    if (got != -infinity) differ(how, i, size, got, -infinity, 0);
    return;
  }
  const element& e = want.reals[at];
  if (std::isnan(e.value) || std::isinf(e.value)) {
    if (std::isnan(e.value) ? !std::isnan(got) : got != e.value) differ(how, i, size, got, e.value, 0);
    return;
  }
  if (e.size > largest_size) return;
  const double bound = 2 * e.error + 1e-36;
  if (!(bound < 1e-3 * std::max(e.size, 1e-3))) ++loose;
  if (!std::isfinite(bound)) return;
  const double error = std::abs(got - e.value);
  if (!(error <= bound)) return differ(how, i, size, got, e.value, bound);
  worst = std::max(worst, error / bound);
}
void trial::differ(const char* how, std::size_t i, std::size_t size, double got, double want, double bound) {
  char text[300];
  std::snprintf(text, sizeof text, "%s: element %zu of %zu is %.9g, right is %.9g, within %.2g", how, i, size, got,
                want, bound);
  fail(text);
}

namespace {

struct command {
  int inputs = 200;
  std::uint64_t seed = 1;
  std::string formula;
  int input = -1;
};
command read(int argc, char** argv) {
  command result;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--inputs") result.inputs = std::atoi(argv[i + 1]);
    if (name == "--seed") result.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--formula") result.formula = argv[i + 1];
    if (name == "--input") result.input = std::atoi(argv[i + 1]);
  }
  return result;
}
/// One input, smaller and smaller until it is affordable.
std::string attempt(const formula& f, std::uint64_t seed, int input, std::size_t& numbers, std::size_t& loose,
                    double& worst) {
  for (int shrink = 0;; ++shrink) {
    trial t(source(seed * 1000003 + static_cast<std::uint64_t>(input)).bits() + static_cast<std::uint64_t>(shrink),
            shrink);
    try {
      f.run(t);
    } catch (const std::exception& error) {
      t.fail(std::string("thrown: ") + error.what());
    }
    if (!t.was_affordable()) continue;
    numbers += t.numbers;
    loose += t.loose;
    worst = std::max(worst, t.worst);
    return t.failure().empty() ? "" : t.failure() + "\n    where " + t.shapes();
  }
}

}  // namespace

int run(const formula* first, const formula* last, int argc, char** argv) {
  const command c = read(argc, argv);
  int wrong = 0, ran = 0;
  for (const formula* f = first; f != last; ++f) {
    if (!c.formula.empty() && c.formula != f->name) continue;
    rounding = f->rounding;
    const auto start = std::chrono::steady_clock::now();
    std::size_t numbers = 0, loose = 0;
    double worst = 0;
    int failures = 0;
    ++ran;
    for (int input = c.input < 0 ? 0 : c.input; input < (c.input < 0 ? c.inputs : c.input + 1); ++input) {
      const std::string failure = attempt(*f, c.seed, input, numbers, loose, worst);
      if (failure.empty()) continue;
      if (++failures <= 2)
        std::printf("WRONG %s, input %d: %s\n    repeat: %s --formula %s --seed %llu --input %d\n", f->name, input,
                    failure.c_str(), argv[0], f->name, static_cast<unsigned long long>(c.seed), input);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf(
        "%s: %d inputs, %zu numbers (%zu with a wide bound), %d inputs wrong, largest error %.2f of its bound, %.1f "
        "s\n",
        f->name, c.input < 0 ? c.inputs : 1, numbers, loose, failures, worst, seconds);
    if (failures > 0) std::printf("%s\n", f->text);
    std::fflush(stdout);
    wrong += failures > 0;
  }
  std::printf("seed %llu: %d formulas, %d wrong\n", static_cast<unsigned long long>(c.seed), ran, wrong);
  return wrong == 0 && ran > 0 ? 0 : 1;
}

}  // namespace formulas
