// SPDX-License-Identifier: BSL-1.0
// In: nothing but a fixed seed; the base model of "Attention is all you need" (width 512, 8 heads of width 64).
// Out: the shapes by axis name, the plan, the weights' row sums, and what fusing buys in time and in memory.
// Next to read: stories/pipeline.hpp, a trained decoder written with the same words.

#include <heed/heed.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// 1. The names. An axis is a type: two axes never get mixed up because they happen to have the same extent.

namespace {

struct batch : heed::axis<> {};  // known at run time
struct query : heed::axis<> {};  // the tokens that ask
struct key : heed::axis<> {};    // the tokens that answer
struct head : heed::axis<8> {};  // known at compile time
struct d_head : heed::axis<64> {};
struct model : heed::axis<512> {};

struct attention_weights {
  heed::tensor<float, model, head, d_head> w_q, w_k, w_v;
  heed::tensor<float, head, d_head, model> w_o;
};

// 2. The formula, section 3.2 of the paper: MultiHead(x) = Concat(softmax(Q K^T / sqrt(d_head)) V) W_O.
//    Nothing is computed here; each line is an expression, and its axes are part of its type.

auto attention_probabilities(heed::tensor<float, batch, query, model> const& x, attention_weights const& w) {
  using namespace heed;
  auto q = expect<batch, query, head, d_head>(dot<model>(x, w.w_q));
  auto k = expect<batch, key, head, d_head>(dot<model>(rename<query, key>(x), w.w_k));
  return softmax<key>(expect<batch, query, head, key>(dot<d_head>(q, k) / std::sqrt(64.f)));
}

auto multi_head(heed::tensor<float, batch, query, model> const& x, attention_weights const& w) {
  using namespace heed;
  auto v = expect<batch, key, head, d_head>(dot<model>(rename<query, key>(x), w.w_v));
  auto context = dot<key>(attention_probabilities(x, w), v);  // never stores [query, key]
  return expect<batch, query, model>(dot<head, d_head>(context, w.w_o));
}

// 3. Random numbers with a fixed seed: N(0, 1) tokens, and weights scaled so that q, k and v are N(0, 1) as well.

template <class Tensor> void fill_normal(Tensor& tensor, std::mt19937& generator, float deviation) {
  std::normal_distribution<float> normal(0.f, deviation);
  std::generate(tensor.begin(), tensor.end(), [&] { return normal(generator); });
}

// 4. Shapes by axis name, from the types alone.

template <class Axis> constexpr std::string_view name_of = "?";
template <> constexpr std::string_view name_of<batch> = "batch";
template <> constexpr std::string_view name_of<query> = "query";
template <> constexpr std::string_view name_of<key> = "key";
template <> constexpr std::string_view name_of<head> = "head";
template <> constexpr std::string_view name_of<d_head> = "d_head";
template <> constexpr std::string_view name_of<model> = "model";

template <class Expression, class... Axes>
void print_shape(std::string_view what, Expression const& expression, heed::axes<Axes...>) {
  std::cout << "  " << std::left << std::setw(14) << what;
  ((std::cout << ' ' << name_of<Axes> << ' ' << expression.template extent<Axes>()), ...);
  std::cout << '\n';
}

template <heed::expression Expression> void print_shape(std::string_view what, Expression const& expression) {
  print_shape(what, expression, typename Expression::axes_type{});
}

// 5. The measuring tape.

template <class Work> double milliseconds(Work const& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double peak_resident_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss) / (1024. * 1024.);  // counted in bytes there
#else
  return static_cast<double>(usage.ru_maxrss) / 1024.;
#endif
}

double mebibytes(auto bytes) { return static_cast<double>(bytes) / (1024. * 1024.); }

}  // namespace

int main() {
  // 6. Data: 32 sequences of 100 tokens. Extents are given by name, and only where the type leaves them open.
  std::mt19937 generator(1706);
  heed::tensor<float, batch, query, model> x{batch{32}, query{100}};
  attention_weights w;
  fill_normal(x, generator, 1.f);
  for (auto* weight : {&w.w_q, &w.w_k, &w.w_v}) fill_normal(*weight, generator, 1.f / std::sqrt(512.f));
  fill_normal(w.w_o, generator, 1.f / std::sqrt(512.f));

  const auto probabilities = attention_probabilities(x, w);
  const auto y = multi_head(x, w);

  std::cout << "shapes\n";
  print_shape("x", x);
  print_shape("w_q, w_k, w_v", w.w_q);
  print_shape("w_o", w.w_o);
  print_shape("probabilities", probabilities);
  print_shape("y", y);

  // 7. The plan is data: what is fused, what is stored, what it costs. It is what runs, so it cannot disagree.
  const auto fused_plan = heed::explain(y);
  const auto unfused_plan = heed::explain(heed::unfused, y);
  std::cout << "\nthe plan, fused\n" << fused_plan << "\nthe plan, unfused\n" << unfused_plan;

  // 8. What fusing buys in memory. The peak only ever grows, so the schedule that should need less goes first.
  const double before = peak_resident_mebibytes();
  heed::tensor fused_result = heed::evaluate(y);
  const double after_fused = peak_resident_mebibytes();
  heed::tensor unfused_result = heed::evaluate(heed::unfused, y);
  const double after_unfused = peak_resident_mebibytes();

  // 9. What fusing buys in time. The runs alternate, so that a slow moment of the machine hits both.
  std::vector<double> fused_times, unfused_times;
  for (int run = 0; run < 11; ++run) {
    fused_times.push_back(milliseconds([&] { heed::evaluate_into(fused_result, y); }));
    unfused_times.push_back(milliseconds([&] { heed::evaluate_into(heed::unfused, unfused_result, y); }));
  }
  const double fused_time = median(fused_times), unfused_time = median(unfused_times);

  std::cout << std::fixed << std::setprecision(2) << "\n"
            << std::left << "                          fused   unfused   ratio\n"
            << "time, milliseconds     " << std::right << std::setw(8) << fused_time << std::setw(10) << unfused_time
            << std::setw(8) << unfused_time / fused_time << '\n'
            << "stored, MiB (plan)     " << std::setw(8) << mebibytes(fused_plan.bytes_stored) << std::setw(10)
            << mebibytes(unfused_plan.bytes_stored) << std::setw(8)
            << mebibytes(unfused_plan.bytes_stored) / mebibytes(fused_plan.bytes_stored) << '\n'
            << "peak growth, MiB       " << std::setw(8) << after_fused - before << std::setw(10)
            << after_unfused - before << '\n';

  // 10. Two checks, written with the same words.
  const heed::tensor<float> row_sum_error =
      heed::evaluate(heed::max<batch, query, head>(heed::abs(heed::sum<key>(probabilities) - 1.f)));
  const heed::tensor<float> difference =
      heed::evaluate(heed::max<batch, query, model>(heed::abs(fused_result - unfused_result)));
  std::cout << std::scientific << std::setprecision(1) << "\nrows of the probabilities sum to one within "
            << row_sum_error() << "\nfused and unfused differ by at most " << difference() << '\n';
}
