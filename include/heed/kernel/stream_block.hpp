// SPDX-License-Identifier: BSL-1.0
// In: a tile of lanes and a block of keys. Out: the tile's statistics and its context with the block added: scores, edits,
// mask, softmax step, weights times values. The loops are multiply.hpp's, softmax_tile.hpp's and block.hpp's.
// Next to read: stream.hpp, which walks over tiles and blocks.
#pragma once

#include "finite.hpp"
#include "stream_end.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

/// What one stage does with a block of keys.
template <class T> class stream_block {
  using state = lane_state<T>;
  using keys_block = key_block<T>;

 public:
  streamed<T> const& stage;
  places<T> at;
  key_source<T> source;
  stream_end<T> end;
  bool may_guess;  // that a bias excludes nothing

  stream_block(stream_block const&) = delete;  // its parts refer to `at`
  stream_block& operator=(stream_block const&) = delete;
  [[gnu::cold]] explicit stream_block(streamed<T> const& s)
      : stage(s),
        at(s),
        source{s, at},
        end{s, at},
        may_guess(s.may_guess()) {}

  /// Scores of one block, what the mask keeps of them, and the box that it is asked about.
  struct workplace {
    T* scores[max_dots];
    std::uint64_t* kept;
    box where;
  };

  /// What a tile keeps of a block, by a guess while guesses hold.
  int known_of(keys_block const& kb, state& t, box& where) const {
    bool const guess = may_guess && t.guesses;
    int const known = stage.classify(where, t.from, t.count, kb.from, kb.count, guess);
    t.guesses |= known == 2;
    return known;
  }
  /// A block that keeps all its keys; guessed: unless some score is not finite.
  [[gnu::noinline]] void step(extent_t const* origin, keys_block& kb, state& t, workplace& w, scratch& s,
                              bool guessed) const {
    source.fetch(origin, kb, t.count > 12, s);
    T* const scores = w.scores[0];
    ahead next;
    if (!stage.score->identity)
      next.look(*stage.score, origin, stage.keys, kb.from + kb.count, kb.count, stage.lanes, t.from, t.count);
    for (int i = 0; i < stage.dots; ++i) {
      int const pieces = i == 0 ? next.count : 0;
      extent_t const chunk = pieces > 1 ? (kb.count + 1) / 2 : kb.count;
      if (pieces > 0) next.spread(chunk, stage.parts[i].depth.size);
      for (extent_t k = 0; k < kb.count; k += chunk)
        multiply_tile<T>(kb.key[i] + k * kb.key_row[i], kb.key_row[i], kb.key_step[i], t.query[i], t.padded,
                         std::min(chunk, kb.count - k), t.padded, stage.parts[i].depth.size, w.scores[i] + k * t.padded,
                         t.padded, start::zero, nullptr, true, pieces > 0 ? &next.pieces[k > 0] : nullptr);
    }
    if (next.count > 0) next.fetch_rest();
    if (!stage.score_is_plain()) edit(*stage.score, origin, kb, 0, kb.count, t, w, nullptr, s);
    if (guessed && !all_finite(scores, kb.count * t.padded)) {
      t.guesses = false;
      return mixed_step(origin, kb, t, w, s);
    }
    t.keep_all();
    if (stage.kind == stream_kind::mean)
      for (int l = 0; l < t.padded; ++l) t.kept_count[l] += static_cast<T>(kb.count);
    if (!reduce_scores(t, scores, kb.count)) return;
    if (stage.weight && !stage.weight->identity) edit(*stage.weight, origin, kb, 0, kb.count, t, w, nullptr, s);
    if (stage.values.size == 0) return;
    extent_t row = 0;
    if (T* const out = end.final_place(origin, t, row)) {
      end.conclude(origin, t, t.rescale, s);
      multiply_tile<T>(scores, 1, t.padded, kb.value, kb.value_row, t.count, stage.values.size, kb.count, out, row,
                       start::scaled, t.rescale, kb.value_padded);
      t.stored = true;
      return;
    }
    multiply_tile<T>(scores, 1, t.padded, kb.value, kb.value_row, t.count, stage.values.size, kb.count, t.context,
                     stage.value_row(), starting(t), t.rescale, kb.value_padded);
    t.started = true;
  }
  /// A block in which the mask has to be looked at: each grain of lanes meets only the keys that it may keep.
  [[gnu::noinline]] void mixed_step(extent_t const* origin, keys_block& kb, state& t, workplace& w, scratch& s) const {
    reach grains[4];
    int count = 0;
    extent_t lead = kb.count, past = 0;
    for (extent_t lane = 0; lane < t.padded; lane += lane_grain<T>) {
      extent_t const lanes = std::min<extent_t>(lane_grain<T>, t.padded - lane);
      reach const r = lane < t.count ? reach_of(kb, t, lane, lanes, w.where) : reach{lane, lanes, 0, 0};
      lead = std::min(lead, r.to > r.from ? r.from : kb.count);
      past = std::max(past, r.to);
      if (count > 0 && grains[count - 1].from == r.from && grains[count - 1].to == r.to)
        grains[count - 1].lanes += lanes;
      else
        grains[count++] = r;
    }
    if (past <= lead) return;
    extent_t const n = past - lead;
    source.fetch(origin, kb, t.count > 12, s);
    T* const scores = w.scores[0] + lead * t.padded;
    for (int i = 0; i < stage.dots; ++i)
      for (int g = 0; g < count; ++g) {
        reach const& r = grains[g];
        if (r.to > r.from)
          multiply_tile<T>(kb.key[i] + r.from * kb.key_row[i], kb.key_row[i], kb.key_step[i], t.query[i] + r.lane,
                           t.padded, r.to - r.from, r.lanes, stage.parts[i].depth.size,
                           w.scores[i] + r.from * t.padded + r.lane, t.padded, start::zero, nullptr, true);
      }
    int const words = t.padded / stage.score->lanes;
    if (stage.score->masked)
      edit(*stage.score, origin, kb, lead, n, t, w, w.kept, s);
    else {
      if (!stage.score_is_plain()) edit(*stage.score, origin, kb, lead, n, t, w, nullptr, s);
      std::fill(w.kept, w.kept + n * words, ~std::uint64_t{0});
    }
    note_kept(t.kept_any, w.kept, n, words);
    if (stage.kind == stream_kind::mean) count_kept(t, w.kept, n, words);
    if (t.count <
        t.padded) {  // lanes of nobody: what the grains left unwritten there must not sway the others' rounding
      for (extent_t k = 0; k < n; ++k)
        std::fill(scores + k * t.padded + t.count, scores + (k + 1) * t.padded, stage.excluded_score());
    }
    if (!reduce_scores(t, scores, n)) return;
    if (stage.weight && (!stage.weight->identity || stage.weight->masked)) {
      std::uint64_t* own = stage.weight->masked ? s.take_as<std::uint64_t>(n * words) : nullptr;
      edit(*stage.weight, origin, kb, lead, n, t, w, own, s);
      if (own) {
        for (extent_t i = 0; i < n * words; ++i) w.kept[i] &= own[i];
        note_kept(t.met_any, w.kept, n, words);
      }
    }
    if (stage.values.size == 0) return;
    source.clean_values(kb, s);
    T const* const v = kb.clean ? kb.clean : kb.value;
    extent_t const v_row = kb.clean ? stage.value_row() : kb.value_row;
    extent_t row = stage.value_row();
    T* out = kb.clean ? nullptr : end.final_place(origin, t, row);
    start const how = out ? start::scaled : starting(t);
    if (out)
      end.conclude(origin, t, t.rescale, s);
    else
      out = t.context, row = stage.value_row();
    for (int g = 0; g < count; ++g) {
      reach const& r = grains[g];
      extent_t const lanes = std::min(r.lanes, t.count - r.lane);
      if (lanes <= 0) continue;
      multiply_tile<T>(w.scores[0] + r.from * t.padded + r.lane, 1, t.padded, v + r.from * v_row, v_row, lanes,
                       stage.values.size, std::max<extent_t>(0, r.to - r.from), out + r.lane * row, row, how,
                       t.rescale + r.lane, kb.clean ? false : kb.value_padded);
    }
    if (how == start::scaled) {
      t.stored = true;
      return;
    }
    if (kb.clean) source.add_live_rest(kb, lead, n, t, scores, w.kept, words);
    t.started = true;
  }

 private:
  start starting(state const& t) const {
    return !t.started ? start::zero : stage.kind == stream_kind::softmax ? start::rescale : start::add;
  }
  /// The statistics of a block; whether values are to follow.
  bool reduce_scores(state& t, T* scores, extent_t count) const {
    switch (stage.kind) {
      case stream_kind::softmax: softmax_tile<T>(scores, t.padded, count, t.maximum, t.sum, t.rescale); return true;
      case stream_kind::weighted_sum: return true;
      case stream_kind::log_sum_exp: softmax_tile<T>(scores, t.padded, count, t.maximum, t.sum, t.rescale); break;
      case stream_kind::maximum: max_tile<T>(scores, t.padded, count, t.maximum); break;
      case stream_kind::sum:
      case stream_kind::mean: sum_tile<T>(scores, t.padded, count, t.sum); break;
    }
    return false;
  }
  /// A program over the tile of scores, in place. kept: null, or where to say which elements are kept.
  [[gnu::noinline]] void edit(loops::program const& p, extent_t const* origin, keys_block const& kb, extent_t lead,
                              extent_t count, state const& t, workplace& w, std::uint64_t* kept, scratch& s) const {
    extent_t const row_bytes = t.padded * static_cast<extent_t>(sizeof(T));
    loops::bound slots[max_dots];
    for (int i = 0; i < std::max(stage.dots, 1); ++i)
      slots[i] = {reinterpret_cast<char const*>(w.scores[i] + lead * t.padded), row_bytes, sizeof(T)};
    double const excluded = &p == stage.score ? static_cast<double>(stage.excluded_score()) : 0.0;
    run_padded(p, block{origin, &stage.keys, kb.from + lead, count, &stage.lanes, t.from, t.count}, t.padded, slots,
               reinterpret_cast<char*>(w.scores[0] + lead * t.padded), row_bytes, s, kept != nullptr, excluded, kept);
  }

  /// The keys of a block that some lane of a grain keeps: the ends that all exclude are left out.
  struct reach {
    extent_t lane = 0, lanes = 0;  // of the tile
    extent_t from = 0, to = 0;
  };
  reach reach_of(keys_block const& kb, state const& t, extent_t lane, extent_t lanes, box& where) const {
    constexpr extent_t grain = loops::key_grain;
    reach r{lane, lanes, 0, kb.count};
    extent_t const real = std::min(lanes, t.count - lane);
    auto excluded = [&](extent_t from, extent_t n) {
      return stage.classify(where, t.from + lane, real, kb.from + from, n) == 0;
    };
    while (r.to > 0) {
      extent_t const last = (r.to - 1) / grain * grain;
      if (!excluded(last, r.to - last)) break;
      r.to = last;
    }
    while (r.from + grain < r.to && excluded(r.from, grain)) r.from += grain;
    return r;
  }

  /// Adds the lanes that keep one of these keys.
  [[gnu::noinline]] void note_kept(std::uint64_t* any_of, std::uint64_t const* kept, extent_t count, int words) const {
    int const per_word = stage.score->lanes;
    for (int i = 0; i < words; ++i) {
      std::uint64_t any = 0;
      for (extent_t k = 0; k < count; ++k) any |= kept[k * words + i];
      int const bit = i * per_word;
      any_of[bit / 64] |= any << (bit % 64);
    }
  }
  [[gnu::noinline]] void count_kept(state& t, std::uint64_t const* kept, extent_t count, int words) const {
    int const per_word = stage.score->lanes;
    for (extent_t k = 0; k < count; ++k)
      for (int l = 0; l < t.padded; ++l)
        t.kept_count[l] += static_cast<T>(kept[k * words + l / per_word] >> (l % per_word) & 1);
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
