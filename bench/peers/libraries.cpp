// SPDX-License-Identifier: BSL-1.0
// In: an attention cell. Out: the same attention composed of the calls of general libraries, as an engineer writes it
// without heed: a product, a softmax of its rows, a product; a thread a head, so that scores of one head at a time exist.
// oneDNN does all heads in one call of each primitive.
// Next to read: xtensor.cpp.
#include "operands.hpp"

#include <xsimd/xsimd.hpp>

#include <omp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <unordered_map>

#if defined(HEED_BENCH_OPENBLAS)
#include <cblas.h>
#endif
#if defined(HEED_BENCH_EIGEN)
#include <Eigen/Core>
#endif
#if defined(HEED_BENCH_ONEDNN)
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace peers {
namespace {

#if defined(HEED_BENCH_OPENBLAS)
/// With the exponential of xsimd, as fast a one as an engineer finds.
void softmax_row(float* row, std::int64_t count) {
  using vector = xsimd::batch<float>;
  constexpr auto width = static_cast<std::int64_t>(vector::size);
  std::int64_t const whole = count / width * width;
  float const most = *std::max_element(row, row + count);
  vector sums(0.F);
  for (std::int64_t j = 0; j < whole; j += width) {
    vector const e = xsimd::exp(vector::load_unaligned(row + j) - vector(most));
    e.store_unaligned(row + j);
    sums += e;
  }
  float sum = 0;
  for (std::int64_t j = whole; j < count; ++j) sum += row[j] = std::exp(row[j] - most);
  float lanes[vector::size];
  sums.store_unaligned(lanes);
  for (float const lane : lanes) sum += lane;
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) row[j] /= sum;
}

implementation openblas(cell const& c, arrays const& in) {
  operands const o(c, in);
  return o.made([o](int threads) {
    openblas_set_num_threads(1);  // its own threads would fight with those over the heads
    cell const& n = o.c;
    auto const queries = static_cast<int>(n.queries), keys = static_cast<int>(n.keys),
               width = static_cast<int>(n.width);
#pragma omp parallel num_threads(threads)
    {
      std::vector<float> scores(static_cast<std::size_t>(n.queries * n.keys));
#pragma omp for collapse(2) schedule(static)
      for (std::int64_t b = 0; b < n.batch; ++b)
        for (std::int64_t h = 0; h < n.heads; ++h) {
          cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, queries, keys, width, o.scale(), o.queries(b, h), width,
                      o.keys(b, h), width, 0, scores.data(), keys);
          if (float const* added = o.added(b, h))
            for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += added[i];
          for (std::int64_t i = 0; i < n.queries; ++i) softmax_row(scores.data() + i * n.keys, n.keys);
          cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, queries, width, keys, 1, scores.data(), keys,
                      o.values(b, h), width, 0, o.contexts(b, h), width);
        }
    }
  });
}
#endif

#if defined(HEED_BENCH_EIGEN)
implementation eigen(cell const& c, arrays const& in) {
  operands const o(c, in);
  return o.made([o](int threads) {
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using map = Eigen::Map<matrix const>;
    cell const& n = o.c;
#pragma omp parallel num_threads(threads)
    {
      matrix scores(n.queries, n.keys);
#pragma omp for collapse(2) schedule(static)
      for (std::int64_t b = 0; b < n.batch; ++b)
        for (std::int64_t h = 0; h < n.heads; ++h) {
          scores.noalias() = map(o.queries(b, h), n.queries, n.width) * map(o.keys(b, h), n.keys, n.width).transpose();
          scores *= o.scale();
          if (float const* added = o.added(b, h)) scores += map(added, n.queries, n.keys);
          scores = (scores.colwise() - scores.rowwise().maxCoeff().eval()).array().exp();
          scores.array().colwise() /= scores.rowwise().sum().eval().array();
          Eigen::Map<matrix>(o.contexts(b, h), n.queries, n.width).noalias() =
              scores * map(o.values(b, h), n.keys, n.width);
        }
    }
  });
}
#endif

#if defined(HEED_BENCH_ONEDNN)
implementation onednn(cell const& of, arrays const& in) {
  operands const o(of, in);
  cell const& c = o.c;
  if (c.heads != c.kv_heads) throw unsupported("grouped heads that are masked");
  using namespace dnnl;
  using tag = memory::format_tag;
  struct state {
    engine processor{engine::kind::cpu, 0};
    stream order{processor};
    std::vector<float> scores;
    std::array<matmul, 2> products;
    softmax_forward weights;
    memory q, k, v, s, out, added;
  };
  auto const st = std::make_shared<state>();
  st->scores.resize(static_cast<std::size_t>(c.batch * c.heads * c.queries * c.keys));
  auto const type = memory::data_type::f32;
  memory::desc const queries({c.batch, c.heads, c.queries, c.width}, type, tag::abcd);
  memory::desc const keys({c.batch, c.heads, c.width, c.keys}, type, tag::abdc);
  memory::desc const values({c.batch, c.heads, c.keys, c.width}, type, tag::abcd);
  memory::desc const scores({c.batch, c.heads, c.queries, c.keys}, type, tag::abcd);
  memory::desc const contexts({c.batch, c.heads, c.queries, c.width}, type, tag::abcd);
  memory::desc const added({c.kind == "padding" ? c.batch : 1, o.bias ? c.heads : 1, c.queries, c.keys}, type,
                           tag::abcd);
  primitive_attr edit;
  edit.set_output_scales(0, {o.scale()});
  if (o.added(0, 0)) {
    post_ops add;
    add.append_binary(algorithm::binary_add, added);
    edit.set_post_ops(add);
  }
  st->products[0] = matmul({matmul::desc(queries, keys, scores), edit, st->processor});
  st->products[1] = matmul({matmul::desc(scores, values, contexts), st->processor});
  st->weights = softmax_forward({softmax_forward::desc(prop_kind::forward_inference, scores, 3), st->processor});
  auto const over = [&](memory::desc const& d, std::vector<float>& data) {
    return memory(d, st->processor, data.data());
  };
  st->q = over(queries, *o.q), st->k = over(keys, *o.k), st->v = over(values, *o.v);
  st->s = over(scores, st->scores), st->out = over(contexts, *o.out);
  if (o.added(0, 0)) st->added = over(added, o.bias ? *o.bias : *o.mask);
  return o.made([o, st](int threads) {
    omp_set_num_threads(threads);
    std::unordered_map<int, memory> first{{DNNL_ARG_SRC, st->q}, {DNNL_ARG_WEIGHTS, st->k}, {DNNL_ARG_DST, st->s}};
    if (o.added(0, 0)) first[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] = st->added;
    st->products[0].execute(st->order, first);
    st->weights.execute(st->order, {{DNNL_ARG_SRC, st->s}, {DNNL_ARG_DST, st->s}});
    st->products[1].execute(st->order, {{DNNL_ARG_SRC, st->s}, {DNNL_ARG_WEIGHTS, st->v}, {DNNL_ARG_DST, st->out}});
    st->order.wait();
  });
}
#endif

}  // namespace

std::map<std::string, maker> libraries() {
  std::map<std::string, maker> all;
#if defined(HEED_BENCH_OPENBLAS)
  all["openblas"] = openblas;
#endif
#if defined(HEED_BENCH_EIGEN)
  all["eigen"] = eigen;
#endif
#if defined(HEED_BENCH_ONEDNN)
  all["onednn"] = onednn;
#endif
#if defined(HEED_BENCH_XTENSOR)
  all["xtensor"] = xtensor;
#endif
  return all;
}

std::map<std::string, std::string> versions() {
  std::map<std::string, std::string> all;
#if defined(HEED_BENCH_OPENBLAS)
  std::istringstream words(openblas_get_config());
  for (std::string word; words >> word && all["OpenBLAS"].empty();)
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) all["OpenBLAS"] = word;
#endif
#if defined(HEED_BENCH_EIGEN)
  all["Eigen"] = std::to_string(EIGEN_WORLD_VERSION) + '.' + std::to_string(EIGEN_MAJOR_VERSION) + '.' +
                 std::to_string(EIGEN_MINOR_VERSION);
#endif
#if defined(HEED_BENCH_ONEDNN)
  auto const* const found = dnnl::version();
  all["oneDNN"] =
      std::to_string(found->major) + '.' + std::to_string(found->minor) + '.' + std::to_string(found->patch);
#endif
#if defined(HEED_BENCH_XTENSOR)
  all["xtensor"] = xtensor_version();
#endif
  return all;
}

}  // namespace peers
