// SPDX-License-Identifier: BSL-1.0
// links: benchmark
// In: nothing, or Google Benchmark's flags. Out: attention over layouts and widths that no kernel would choose, as a share of the
// multiply-add peak beside the friendly neighbour: packed projections, long strides, transposed operands, odd widths, values of
// another width than keys, subnormal inputs. One thread.
// Next to read: contraction.cpp, the products around attention.
#include "inputs.hpp"
#include "measure.hpp"

using namespace bench;

namespace {

struct part : heed::axis<3> {};

/// q, k and v in the axis orders that are given, as a model's code may hand them over.
template <class Q, class K, class V> job laid_out(shape const& s) {
  auto const q = filled<Q>(1, batch{s.batch}, head{s.heads}, query{s.queries}, d_head{s.width});
  auto const k = filled<K>(2, batch{s.batch}, head{s.heads}, key{s.keys}, d_head{s.width});
  auto const v = filled<V>(3, batch{s.batch}, head{s.heads}, key{s.keys}, d_value{s.value_width});
  auto const scores = heed::dot<d_head>(q, k) / std::sqrt(static_cast<float>(s.width));
  return of_operations(runs(attend(scores, v)), s.operations());
}
using q_by_head = heed::tensor<float, batch, head, query, d_head>;
using k_by_head = heed::tensor<float, batch, head, key, d_head>;
using v_by_head = heed::tensor<float, batch, head, key, d_value>;
using q_by_token = heed::tensor<float, batch, query, head, d_head>;
using k_by_token = heed::tensor<float, batch, key, head, d_head>;
using v_by_token = heed::tensor<float, batch, key, head, d_value>;
using q_turned = heed::tensor<float, batch, head, d_head, query>;
using k_turned = heed::tensor<float, batch, head, d_head, key>;
using v_turned = heed::tensor<float, batch, head, d_value, key>;
using q_of_lanes = heed::tensor<float, batch, query, d_head, head>;  // heads lie side by side: no axis of a head does
using k_of_lanes = heed::tensor<float, batch, key, d_head, head>;
using v_of_lanes = heed::tensor<float, batch, key, d_value, head>;

auto const by_head = laid_out<q_by_head, k_by_head, v_by_head>;
auto const by_token = laid_out<q_by_token, k_by_token, v_by_token>;

/// One projection [batch, token, 3, head, d_head], or with the parts outside: its slices are q, k and v.
template <class Packed> job packed(shape const& s) {
  auto const x = filled<Packed>(1, batch{s.batch}, query{s.queries}, head{s.heads}, d_head{s.width});
  auto const q = heed::at<part>(x, 0);
  auto const k = heed::rename<query, key>(heed::at<part>(x, 1));
  auto const v = heed::rename<d_head, d_value>(heed::rename<query, key>(heed::at<part>(x, 2)));
  auto const scores = heed::dot<d_head>(q, k) / std::sqrt(static_cast<float>(s.width));
  return of_operations(runs(attend(scores, v)), s.operations());
}

/// By token, with rows of heads * width + 16 numbers: no two tokens of a head fall on the same lines of a cache.
job by_token_padded(shape const& s) {
  extent_t const row = s.heads * s.width + 16;
  using numbers = heed::tensor<float, query, d_head>;
  auto const buffer = [&](std::uint32_t seed, extent_t tokens) {
    return std::make_shared<numbers>(filled<numbers>(seed, query{tokens}, d_head{row}));
  };
  auto const q = buffer(1, s.queries), k = buffer(2, s.keys), v = buffer(3, s.keys);
  heed::strides const apart{row, s.width, extent_t{1}};
  heed::view<float const, query, head, d_head> const q_view(q->data(), query{s.queries}, head{s.heads}, d_head{s.width},
                                                            apart);
  heed::view<float const, key, head, d_head> const k_view(k->data(), key{s.keys}, head{s.heads}, d_head{s.width},
                                                          apart);
  heed::view<float const, key, head, d_value> const v_view(v->data(), key{s.keys}, head{s.heads}, d_value{s.width},
                                                           apart);
  auto const scores = heed::dot<d_head>(q_view, k_view) / std::sqrt(static_cast<float>(s.width));
  job j = of_operations(runs(attend(scores, v_view)), s.operations());
  auto const run = j.run;
  j.run = [=, keep = std::tuple(q, k, v)](int threads) { run(threads); };  // views own nothing
  return j;
}

/// Where the inputs are subnormal numbers: everywhere, or in the values alone; or weights are, for scores far apart.
enum class tiny { nowhere, everywhere, values, weights };
template <tiny Where> job subnormal(shape const& s) {
  heads_of<> in(s);
  auto const shrink = [](auto& tensor) {
    for (float& x : tensor) x *= 1e-39F;
  };
  if (Where == tiny::everywhere) shrink(in.q), shrink(in.k);
  if (Where == tiny::everywhere || Where == tiny::values) shrink(in.v);
  if (Where == tiny::weights)
    for (float& x : in.q) x *= 12;
  return of_operations(runs(attend(in.scores(), in.v)), s.operations());
}

formula<shape> with_width(extent_t width, extent_t value_width, std::string const& of = {}) {
  auto const make = [=](shape s) { return s.width = width, s.value_width = value_width, by_head(s); };
  std::string const name = "width:" + std::to_string(width);
  return {width == value_width ? name : name + "to" + std::to_string(value_width), make, of};
}
std::vector<formula<shape>> widths() {
  std::vector<formula<shape>> all;
  for (extent_t const w : {64, 72, 80, 96, 100, 112, 120, 128, 160, 192, 256}) all.push_back(with_width(w, w));
  for (auto const& [k, v] : {std::pair(64, 128), std::pair(128, 64), std::pair(192, 128), std::pair(16, 64)})
    all.push_back(with_width(k, v));
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  setting const one{.threads = {1}, .seconds = 4};
  using by_part = heed::tensor<float, batch, query, part, head, d_head>;
  using by_head_then_part = heed::tensor<float, batch, query, head, part, d_head>;
  compare<shape>("layout", shape{1, 12, 1024, 1024, 64},
                 {{"by_head", by_head},
                  {"by_token", by_token},
                  {"packed", packed<by_part>},
                  {"packed_within_heads", packed<by_head_then_part>},
                  {"q_turned", laid_out<q_turned, k_by_head, v_by_head>},
                  {"k_turned", laid_out<q_by_head, k_turned, v_by_head>},
                  {"v_turned", laid_out<q_by_head, k_by_head, v_turned>},
                  {"all_turned", laid_out<q_turned, k_turned, v_turned>},
                  {"heads_side_by_side", laid_out<q_of_lanes, k_of_lanes, v_of_lanes>}},
                 one);
  compare<shape>("layout", shape{1, 32, 1024, 1024, 128},
                 {{"by_head", by_head},
                  {"by_token", by_token},
                  {"by_token_padded", by_token_padded},
                  {"packed", packed<by_part>},
                  {"all_turned", laid_out<q_turned, k_turned, v_turned>}},
                 one);
  compare<shape>("layout", shape{32, 8, 100, 100, 64},
                 {{"by_head", by_head}, {"by_token", by_token}, {"packed", packed<by_part>}}, one);
  compare<shape>("width", shape{1, 12, 1024, 1024, 64}, widths(), {.threads = {1}, .seconds = 6});
  compare<shape>("subnormal", shape{1, 12, 1024, 1024, 64},
                 {{"nowhere", subnormal<tiny::nowhere>},
                  {"everywhere", subnormal<tiny::everywhere>},
                  {"values", subnormal<tiny::values>},
                  {"scores_far_apart", subnormal<tiny::weights>}},
                 one);
  return bench::run(count, arguments);
}
