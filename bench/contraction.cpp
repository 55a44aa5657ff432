// SPDX-License-Identifier: BSL-1.0
// links: benchmark
// compares: openblas eigen
// In: nothing, or Google Benchmark's flags. Out: plain contractions: projections of layers, small and large ones, one row (as a
// share of what reading the weights takes), and the two of attention as the unfused schedule runs them. Each beside OpenBLAS (on
// one thread) and Eigen, where those are installed.
// Next to read: tiles.cpp, the kernels alone.
#include "inputs.hpp"
#include "measure.hpp"

#if defined(HEED_BENCH_OPENBLAS)
#include <cblas.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>
#endif
#if defined(HEED_BENCH_EIGEN)
#include <Eigen/Core>
#endif

using namespace bench;

namespace {

struct row : heed::axis<> {};
struct model : heed::axis<> {};
struct column : heed::axis<> {};

/// [row, model] times [model, column].
struct product {
  extent_t rows, columns, depth;
  double operations() const { return 2 * static_cast<double>(rows * columns) * static_cast<double>(depth); }
  double weight_bytes() const { return static_cast<double>(columns * depth) * sizeof(float); }
};
std::string to_string(product const& p) {
  return std::to_string(p.rows) + 'x' + std::to_string(p.columns) + 'x' + std::to_string(p.depth);
}
struct matrices {
  product shape;
  heed::tensor<float, row, model> x;
  heed::tensor<float, model, column> w;
  explicit matrices(product const& p) : shape(p) {
    x = filled<decltype(x)>(1, row{p.rows}, model{p.depth});
    w = filled<decltype(w)>(2, model{p.depth}, column{p.columns});
  }
};

/// One row is bound by reading the weights, more of them by multiplying.
job measured(job j, product const& p) {
  return p.rows == 1 ? of_bytes(std::move(j), p.weight_bytes()) : of_operations(std::move(j), p.operations());
}
job plain(matrices const& m) { return measured(runs(heed::dot<model>(m.x, m.w)), m.shape); }
job packed(matrices const& m) { return measured(runs(heed::dot<model>(m.x, heed::packed<model>(m.w))), m.shape); }

/// `count` products of row-major matrices that lie one after another, each [rows, depth] times [depth, columns], or times the
/// transpose of [columns, depth].
struct foreign {
  product shape;
  extent_t count;
  bool transposed;
  std::shared_ptr<std::vector<float>> a, b, c;

  foreign(product const& p, extent_t n, bool turned) : shape(p), count(n), transposed(turned) {
    auto const numbers = [n](extent_t each) {
      auto v = std::make_shared<std::vector<float>>(static_cast<std::size_t>(n * each));
      fill(*v, static_cast<std::uint32_t>(each));
      return v;
    };
    a = numbers(p.rows * p.depth), b = numbers(p.columns * p.depth), c = numbers(p.rows * p.columns);
  }
  job measured(std::function<void(int)> run) const {
    job j{.run = std::move(run)};
    if (shape.rows == 1) return of_bytes(std::move(j), shape.weight_bytes());
    return of_operations(std::move(j), static_cast<double>(count) * shape.operations());
  }
};

#if defined(HEED_BENCH_OPENBLAS)
#if defined(__linux__) && defined(__AVX2__)
/// Undoes OMP_PROC_BIND for this thread: a program that starts in its place takes the processors that it inherits for all there
/// are, and would put all its threads on one.
void leave_place() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (int const each : processors) CPU_SET(static_cast<std::size_t>(each), &all);
  }
  if (CPU_COUNT(&all) > 0) sched_setaffinity(0, sizeof all, &all);
}
#endif

/// OpenBLAS takes a processor that is newer than itself for one of 2004; it believes only a variable that is set before it is
/// loaded. So the program starts again with that.
void let_openblas_know_the_processor([[maybe_unused]] char** arguments) {
#if defined(__linux__) && defined(__AVX2__)
  if (std::string(openblas_get_corename()) == "Prescott" && std::getenv("OPENBLAS_CORETYPE") == nullptr) {
    setenv("OPENBLAS_CORETYPE", heed::kernel::register_count == 32 ? "SKYLAKEX" : "HASWELL", 1);
    leave_place();
    execv("/proc/self/exe", arguments);
  }
#endif
  benchmark::AddCustomContext("openblas_core", openblas_get_corename());
}
job openblas(foreign const& f) {
  return f.measured([f](int threads) {
    openblas_set_num_threads(threads);
    auto const m = static_cast<int>(f.shape.rows), n = static_cast<int>(f.shape.columns),
               k = static_cast<int>(f.shape.depth);
    for (extent_t i = 0; i < f.count; ++i)
      cblas_sgemm(CblasRowMajor, CblasNoTrans, f.transposed ? CblasTrans : CblasNoTrans, m, n, k, 1,
                  f.a->data() + i * m * k, k, f.b->data() + i * n * k, f.transposed ? k : n, 0, f.c->data() + i * m * n,
                  n);
  });
}
#endif
#if defined(HEED_BENCH_EIGEN)
job eigen(foreign const& f) {
  return f.measured([f](int threads) {
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using map = Eigen::Map<matrix>;
    Eigen::setNbThreads(threads);
    auto const [m, n, k] = f.shape;
    for (extent_t i = 0; i < f.count; ++i) {
      map const a(f.a->data() + i * m * k, m, k);
      map c(f.c->data() + i * m * n, m, n);
      if (f.transposed)
        c.noalias() = a * map(f.b->data() + i * n * k, n, k).transpose();
      else
        c.noalias() = a * map(f.b->data() + i * n * k, k, n);
    }
  });
}
#endif

/// The formulas with the peers that are installed.
template <class Inputs, class Convert>
std::vector<formula<Inputs>> beside(std::vector<formula<Inputs>> formulas, [[maybe_unused]] Convert convert,
                                    [[maybe_unused]] int threads) {
#if defined(HEED_BENCH_OPENBLAS)
  // its own threads would fight with OpenMP's for the cores
  if (threads == 1) formulas.push_back({"openblas", [=](Inputs const& in) { return openblas(convert(in)); }});
#endif
#if defined(HEED_BENCH_EIGEN)
  formulas.push_back({"eigen", [=](Inputs const& in) { return eigen(convert(in)); }});
#endif
  return formulas;
}
void multiply(product const& p, int threads = 1) {
  auto const same = [](matrices const& m) { return foreign(m.shape, 1, false); };
  compare<matrices>("contraction", p, beside<matrices>({{"plain", plain}, {"packed", packed}}, same, threads),
                    {.threads = {threads}, .seconds = 2});
}

/// Scores from q and k, and contexts from stored weights and v.
job scores(heads_of<> const& in) {
  return of_operations(runs(heed::dot<d_head>(in.q, in.k)), in.shape.operations() / 2);
}
job contexts(heads_of<> const& in) {
  using weights_of_pairs = heed::tensor<float, batch, head, query, key>;
  auto const& s = in.shape;
  auto const weights = filled<weights_of_pairs>(4, batch{s.batch}, head{s.heads}, query{s.queries}, key{s.keys});
  return of_operations(runs(heed::dot<key>(weights, in.v)), s.operations() / 2);
}
foreign as_scores(heads_of<> const& in) {
  auto const& s = in.shape;
  return {{s.queries, s.keys, s.width}, s.batch * s.heads, true};
}
foreign as_contexts(heads_of<> const& in) {
  auto const& s = in.shape;
  return {{s.queries, s.value_width, s.keys}, s.batch * s.heads, false};
}

}  // namespace

int main(int count, char** arguments) {
#if defined(HEED_BENCH_OPENBLAS)
  let_openblas_know_the_processor(arguments);
#endif
  for (product const& p : {product{1024, 768, 768}, {3200, 512, 512}, {512, 4096, 4096}, {64, 64, 64}, {100, 512, 512}})
    multiply(p);
  multiply({100, 512, 512}, 2);
  multiply({1, 4096, 4096});
  multiply({1, 4096, 4096}, 2);
  setting const one{.threads = {1}, .seconds = 2};
  for (shape const& s : {shape{1, 12, 1024, 1024, 64}, shape{32, 8, 100, 100, 64}}) {
    compare<heads_of<>>("scores", s, beside<heads_of<>>({{"unfused", scores}}, as_scores, 1), one);
    compare<heads_of<>>("contexts", s, beside<heads_of<>>({{"unfused", contexts}}, as_contexts, 1), one);
  }
  return bench::run(count, arguments);
}
