// SPDX-License-Identifier: BSL-1.0
// In: an attention cell. Out: the same attention in xtensor's words: products by xtensor-blas, softmax as its lazy
// expressions, a thread a head.
// Next to read: server.cpp.
#include "operands.hpp"

#if defined(HEED_BENCH_XTENSOR)
#include <array>
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xtensor_config.hpp>
#include <xtensor/xview.hpp>

namespace peers {
namespace {

auto matrix(float* data, std::int64_t rows, std::int64_t columns) {
  std::array<std::size_t, 2> const shape{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
  return xt::adapt(data, shape[0] * shape[1], xt::no_ownership(), shape);
}

}  // namespace

implementation xtensor(cell const& c, arrays const& in) {
  operands const o(c, in);
  return o.made([o](int threads) {
    cell const& n = o.c;
#pragma omp parallel for num_threads(threads) collapse(2) schedule(static)
    for (std::int64_t b = 0; b < n.batch; ++b)
      for (std::int64_t h = 0; h < n.heads; ++h) {
        auto const q = matrix(o.queries(b, h), n.queries, n.width);
        auto const k = matrix(o.keys(b, h), n.keys, n.width);
        xt::xtensor<float, 2> scores = xt::linalg::dot(q, xt::transpose(k));
        if (float* added = o.added(b, h))
          scores = scores * o.scale() + matrix(added, n.queries, n.keys);
        else
          scores *= o.scale();
        for (std::int64_t i = 0; i < n.queries; ++i) {  // a row is contiguous: its expressions are vectorised
          auto row = xt::row(scores, i);
          row = xt::exp(row - xt::amax(row)());
          row /= xt::sum(row)();
        }
        auto context = matrix(o.contexts(b, h), n.queries, n.width);
        xt::noalias(context) = xt::linalg::dot(scores, matrix(o.values(b, h), n.keys, n.width));
      }
  });
}

std::string xtensor_version() {
  return std::to_string(XTENSOR_VERSION_MAJOR) + '.' + std::to_string(XTENSOR_VERSION_MINOR) + '.' +
         std::to_string(XTENSOR_VERSION_PATCH);
}

}  // namespace peers
#endif
