// SPDX-License-Identifier: BSL-1.0
// In: causal, ragged and single-head stages, and teams of up to 128 threads that exist on paper only. Out: no thread of a
// team has a tenth more to do than the others; and keys that threads share in parts give the bits that one thread gives.
// Next: memory_peak.cpp.
#include "support/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using namespace heed;
using namespace test;

namespace {

namespace loops = heed::detail::loops;
using stage_type = heed::kernel::streamed<float>;
using stage_run = heed::kernel::stream_run<float>;

/// Which keys a query of a sequence keeps: from .. to.
struct keys_of {
  std::function<extent_t(extent_t, extent_t)> from, to;  // (sequence, query)
};

// Axes by number: 0 sequence, 1 query, 2 key, 3 width.
int classify_span(void const* node, extent_t const* low, extent_t const* high) {
  keys_of const& keep = *static_cast<keys_of const*>(node);
  extent_t const b = low[0], first = low[1], last = high[1] - 1;
  extent_t const from_first = keep.from(b, first), from_last = keep.from(b, last);
  extent_t const to_first = keep.to(b, first), to_last = keep.to(b, last);
  if (low[2] >= std::max(to_first, to_last) || high[2] <= std::min(from_first, from_last)) return 0;
  return low[2] >= std::max(from_first, from_last) && high[2] <= std::min(to_first, to_last) ? 2 : 1;
}

/// A stage that is only asked how it would share its work.
struct paper_stage {
  loops::sized_program<1> score, epilogue, load;
  stage_type stage;
  paper_stage(extent_t sequences, extent_t queries, extent_t keys, extent_t width, keys_of const& keep) {
    score.node = &keep;
    score.classify = &classify_span;
    stage.batch.add(0, sequences);
    stage.lanes.add(1, queries);
    stage.keys.add(2, keys);
    stage.values.add(3, width);
    stage.dots = 1;
    stage.parts[0].depth.add(3, width);
    for (heed::kernel::matrix* m : {&stage.parts[0].key, &stage.parts[0].query, &stage.value}) {
      m->native = true;
      m->load = &load;
      m->operand.stride[3] = 1;
      m->operand.stride[1] = m->operand.stride[2] = width;
    }
    stage.score = &score;
    stage.epilogue = &epilogue;
  }
  /// Keys x lanes that a job has to compute, grain by grain, plus what a tile costs in any case.
  double cost(stage_run::job const& j) const {
    double sum = 0;
    extent_t origin[loops::max_rank] = {};
    origin[0] = j.batch;
    heed::kernel::box where;
    where.around(origin);
    for (extent_t t = j.first_tile; t < j.last_tile; ++t) {
      extent_t const from = stage.tile_from(t), to = std::min(stage.lanes.size, stage.tile_from(t + 1));
      sum += 40.0 * static_cast<double>(to - from);
      sum += kept(where, from, to - from, 0, stage.blocks());
    }
    return sum;
  }
  double kept(heed::kernel::box& where, extent_t lane, extent_t lanes, extent_t low, extent_t high) const {
    extent_t const size = stage.block_size(), n = std::min(stage.keys.size, high * size) - low * size;
    int const known = stage.classify(where, lane, lanes, low * size, n);
    if (known == 0) return 0;
    if (known == 2 || high - low == 1) return static_cast<double>(n * lanes);
    extent_t const middle = (low + high) / 2;
    return kept(where, lane, lanes, low, middle) + kept(where, lane, lanes, middle, high);
  }
};

/// The time of the longest thread over the mean, if whoever is free takes the next bundle of jobs.
double imbalance(paper_stage const& p, int threads) {
  stage_run const run(p.stage, threads);
  std::vector<double> busy(static_cast<std::size_t>(threads));
  double total = 0;
  for (extent_t i = 0; i < run.jobs(); i += run.bundle()) {
    double work = 0;
    for (extent_t j = i; j < std::min(run.jobs(), i + run.bundle()); ++j) work += p.cost(run.job_at(j));
    *std::min_element(busy.begin(), busy.end()) += work;
    total += work;
  }
  return *std::max_element(busy.begin(), busy.end()) * threads / total;
}

constexpr extent_t tile = heed::kernel::lane_tile<float>;
keys_of const causal_keys{[](extent_t, extent_t) { return extent_t{0}; }, [](extent_t, extent_t q) { return q + 1; }};

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_sharing)

BOOST_AUTO_TEST_CASE(causal_heads) {
  for (const int threads : {16, 64, 128})
    for (const extent_t heads : {extent_t{1}, extent_t{4}, extent_t{32}}) {
      const extent_t queries = std::max<extent_t>(tile, 64 * threads / heads * tile);
      const paper_stage p(heads, queries, queries, 64, causal_keys);
      BOOST_TEST_CONTEXT(threads << " threads, " << heads << " heads of " << queries)
      BOOST_TEST(imbalance(p, threads) < 1.1);
    }
}

BOOST_AUTO_TEST_CASE(ragged_sequences) {
  for (const int threads : {16, 64, 128}) {
    const extent_t sequences = threads, queries = 64 * tile;
    // the last sequence is the longest, all of its tiles alike
    const keys_of keep{[](extent_t, extent_t) { return extent_t{0}; },
                       [&](extent_t b, extent_t) { return queries * (b + 1) / sequences; }};
    const paper_stage p(sequences, queries, queries, 64, keep);
    BOOST_TEST_CONTEXT(threads << " threads") BOOST_TEST(imbalance(p, threads) < 1.1);
  }
}

BOOST_AUTO_TEST_CASE(windows) {
  const keys_of keep{[](extent_t, extent_t q) { return std::max<extent_t>(0, q - 255); },
                     [](extent_t, extent_t q) { return q + 1; }};
  for (const int threads : {16, 64, 128}) {
    const extent_t queries = 64 * threads * tile;
    const paper_stage p(1, queries, queries, 64, keep);
    BOOST_TEST_CONTEXT(threads << " threads") BOOST_TEST(imbalance(p, threads) < 1.1);
  }
}

// A single tile of queries shares its keys out: more jobs than heads, however many threads there are.
BOOST_AUTO_TEST_CASE(one_query_and_many_keys) {
  const paper_stage p(1, 1, 524288, 64, causal_keys);
  const stage_run run(p.stage, 16);
  BOOST_TEST(run.jobs() == loops::most_parts);
}

BOOST_AUTO_TEST_CASE(parts_of_keys_have_the_bits_of_one_thread) {
  for (const int queries : {1, 3, 17, 64})
    for (const int keys : {1057, 2113, 5000}) {
      const auto q = normal<float, batch, head, query, d_head>(1, batch{3}, head{2}, query{queries}, d_head{24});
      const auto k = normal<float, batch, head, key, d_head>(2, batch{3}, head{2}, key{keys}, d_head{24});
      const auto v = normal<float, batch, head, key, d_value>(3, batch{3}, head{2}, key{keys}, d_value{20});
      const auto scores = [](const auto& one_q, const auto& one_k) { return dot<d_head>(one_q, one_k) / 5.0F; };
      const auto keep = index<key>() <= index<query>() + (keys - queries) && index<key>() % 3 != 1;
      const auto attend = [&](const auto& one_q, const auto& one_k, const auto& one_v) {
        return dot<key>(softmax<key>(where(keep, scores(one_q, one_k))), one_v);
      };
      BOOST_TEST_CONTEXT(queries << " queries, " << keys << " keys") {
        const auto context = attend(q, k, v);
        check_schedules(context, 1e-5);
        check_same_bits_for_all_threads(context);
        check_schedules(log_sum_exp<key>(scores(q, k)), 1e-5);
        check_same_bits_for_all_threads(log_sum_exp<key>(where(keep, scores(q, k))));
        check_schedules(dot<key>(sigmoid(scores(q, k)), v), 1e-3);
        check_same_bits_for_all_threads(dot<key>(sigmoid(scores(q, k)), v));
        check_same_bits_for_all_threads(max<key>(scores(q, k)));
        check_same_bits_for_all_threads(mean<key>(where(keep, scores(q, k))));

        const auto together = evaluate(context);
        const auto alone = evaluate(attend(slice<batch>(q, 1, 2), slice<batch>(k, 1, 2), slice<batch>(v, 1, 2)));
        BOOST_TEST(same_bits(alone, evaluate(slice<batch>(together, 1, 2))));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
