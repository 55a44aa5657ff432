// SPDX-License-Identifier: BSL-1.0
// In: dots whose results are too large to store, a tree over them, softmax or none, values. Out: the streamed reduction
// (attention is one), a tile of scores at a time. No tile outlives its use.
// Next to read: ../evaluate.hpp, where plan and kernels meet.
//
//   for each tile of lanes [lanes <= 64], tiles of one batch element after another:
//     1. Q^T [depth][lanes], scaled, once
//     2. for each block of keys that the mask does not exclude:
//        scores S^T [keys][lanes] = K [keys][depth] * Q^T; edits; mask where the block is mixed
//        softmax step: maximum, sum, rescale [lanes] (or nothing: a plain sum)
//        context [lanes][values] = rescale * context + P^T * V [keys][values]
//     3. 1 / sum, sink, epilogue, store
// Blocks of keys start at multiples of key_block whatever the mask is, and an excluded key adds exactly nothing, so that
// every spelling of a mask gives the same bits.
#pragma once

#include "decode.hpp"
#include "stream_end.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

/// One run of a stage by a team of threads.
template <class T> class stream_run {
  using state = lane_state<T>;
  using keys_block = key_block<T>;
  streamed<T> const& stage;
  places<T> at;
  key_source<T> source;
  stream_end<T> end;
  int team_size;
  bool few;  // lanes: decode.hpp has the loops
  extent_t block_size, blocks, part_blocks;
  extent_t at_once, groups, parts;
  bool parts_shared;  // the parts of one batch element go to several threads
  bool may_guess;     // that a bias excludes nothing

  static constexpr extent_t most_tiles = 16;

 public:
  stream_run(stream_run const&) = delete;  // its parts refer to `at`
  stream_run& operator=(stream_run const&) = delete;
  [[gnu::cold]] stream_run(streamed<T> const& s, int threads)
      : stage(s),
        at(s),
        source{s, at},
        end{s, at},
        team_size(threads),
        few(decode::suits(s)) {
    block_size = few ? decode::block_keys(s) : s.block_size();
    blocks = (s.keys.size + block_size - 1) / block_size;
    part_blocks = s.part_blocks(block_size);
    parts = std::max<extent_t>(1, (blocks + part_blocks - 1) / part_blocks);
    // Tiles that take turns on one block of keys: several where keys and values outgrow the L2 cache or are packed.
    double const bytes =
        static_cast<double>(s.keys.size) * static_cast<double>(s.depth_total() + s.values.size) * sizeof(T);
    bool const gathers = s.has_values() && at.value.step != 1;
    bool packs =
        s.has_values() && (!at.value.flat || key_source<T>::crowded(at.value.rows.step, s.values.size, s.block_size()));
    for (int i = 0; i < s.dots; ++i)
      packs |= !at.key[i].flat || key_source<T>::crowded(at.key[i].rows.step, s.parts[i].depth.size, s.block_size());
    extent_t const most = gathers ? most_tiles : bytes > 1.0e6 || packs ? most_tiles / 4 : 1;
    at_once = std::max<extent_t>(1, std::min({most, s.tiles(), s.batch.size * s.tiles() / (16 * threads)}));
    groups = (s.tiles() + at_once - 1) / at_once;
    may_guess = s.may_guess();
    parts_shared = parts > 1 && threads > 1 && s.batch.size < 4 * threads;
  }

  [[gnu::cold]] std::size_t scratch_bytes() const {
    streamed<T> const& s = stage;
    auto size = [](extent_t n) { return static_cast<std::size_t>(n); };
    extent_t const lane = lane_tile<T>, rows = s.block_size(), row = s.value_row(), depth = s.depth_total();
    extent_t elements = at_once * lane * (depth + row + 8) + std::max(s.dots, 1) * rows * lane;
    if (parts > 1) elements += lane * (row + 8);
    elements += rows * (depth + max_dots * 64 + 2 * row);
    std::size_t bytes = size(elements) * sizeof(T) + size(rows * lane) + 65536;
    bytes += block_scratch(*s.score, rows, lane) + block_scratch(*s.epilogue, lane, std::max(s.values.size, lane));
    if (s.weight) bytes += block_scratch(*s.weight, rows, lane);
    if (s.sink) bytes += block_scratch(*s.sink, 1, lane);
    for (int i = 0; i < s.dots; ++i)
      bytes += block_scratch(*s.parts[i].query.load, std::max<extent_t>(s.parts[i].depth.size, 1), lane) +
               block_scratch(*s.parts[i].key.load, rows, std::max<extent_t>(s.parts[i].depth.size, 1));
    if (s.value.load) bytes += block_scratch(*s.value.load, rows, std::max<extent_t>(s.values.size, 1));
    if (few) bytes += decode::scratch_bytes(s);
    return bytes;
  }
  /// Memory for the parts of the keys, where threads share them.
  std::size_t shared_bytes() const {
    return parts_shared ? static_cast<std::size_t>(stage.batch.size * parts) * part_bytes() + 64 : 0;
  }

  // ---- the work and its sharing
  /// Jobs in the order in which they are handed out: the tiles of one batch element after another, so that its keys and
  /// values stay in the cache, and of these the last first: causal ones have most to do.
  extent_t jobs() const { return stage.batch.size * groups * (parts_shared ? parts : 1); }
  extent_t bundle() const { return std::max<extent_t>(1, jobs() / (64 * static_cast<extent_t>(team_size))); }
  struct job {
    extent_t batch, first_tile, last_tile, part;
  };
  job job_at(extent_t i) const {
    extent_t const each = parts_shared ? parts : groups;
    if (each == 1) return {i, 0, stage.tiles(), 0};
    extent_t const rest = i % each;
    if (parts_shared) return {i / each, 0, 1, rest};
    extent_t const g = groups - 1 - rest;
    return {i / each, g * at_once, std::min(stage.tiles(), (g + 1) * at_once), 0};
  }

  void run(char* memory, std::size_t per_thread, char* shared) const {
    streamed<T> const& s = stage;
    if (s.batch.size == 0 || s.lanes.size == 0 || (s.has_values() && s.values.size == 0 && !s.lse.data)) return;
    double const work_size = static_cast<double>(s.batch.size) * static_cast<double>(s.lanes.size) *
                             static_cast<double>(s.keys.size) *
                             static_cast<double>(s.depth_total() + s.values.size + 1);
    shared += (64 - reinterpret_cast<std::uintptr_t>(shared) % 64) % 64;
    run_team(work_size < 40000 ? 1 : team_size, [&](team& t) {
      subnormals_off quick;
      scratch all(memory + static_cast<std::size_t>(t.thread) * per_thread, per_thread);
      t.share(
          jobs(),
          [&](extent_t i) {
            scratch own = all;
            job const j = job_at(i);
            extent_t origin[loops::max_rank] = {};
            s.batch.locate(j.batch, origin);
            if (parts_shared)
              run_part(origin, j, shared + static_cast<std::size_t>(i) * part_bytes(), own);
            else
              run_tiles(origin, j, own);
          },
          bundle());
      if (parts_shared)
        t.share(s.batch.size, [&](extent_t b) {
          scratch own = all;
          extent_t origin[loops::max_rank] = {};
          s.batch.locate(b, origin);
          char* const first = shared + static_cast<std::size_t>(b * parts) * part_bytes();
          state& sum = *reinterpret_cast<state*>(first);
          for (extent_t p = 1; p < parts; ++p)
            end.merge(sum, *reinterpret_cast<state*>(first + static_cast<std::size_t>(p) * part_bytes()));
          end.finish(origin, sum, own);
        });
    });
  }

 private:
  std::size_t part_bytes() const {
    extent_t const lanes = up(stage.lanes.size, width<T>);
    extent_t const elements = state::elements(lanes, stage.lanes.size, stage.value_row());
    return static_cast<std::size_t>(up(static_cast<extent_t>(sizeof(state)), 64) +
                                    up(elements * static_cast<extent_t>(sizeof(T)), 64));
  }
  [[gnu::noinline, gnu::cold]] void run_part(extent_t const* origin, job const& j, char* memory, scratch& s) const {
    state& t = *new (memory) state;
    size_of(t, 0);
    t.place(reinterpret_cast<T*>(memory + up(static_cast<extent_t>(sizeof(state)), 64)));
    if (few) {
      decode::tile<T> lanes;
      start_few(origin, t, lanes, s);
      walk_few(origin, j.part, t, lanes, s);
    } else {
      open(origin, t, s);
      walk_part(origin, j.part, &t, 1, s);
    }
  }
  [[gnu::noinline]] void start_few(extent_t const* origin, state& t, decode::tile<T>& lanes, scratch& s) const {
    t.reset();
    decode::prepare(stage, origin, t, lanes, s);
  }
  [[gnu::noinline]] void walk_few(extent_t const* origin, extent_t part, state& t, decode::tile<T>& lanes,
                                  scratch& s) const {
    extent_t const first = part * part_blocks, last = std::min(blocks, first + part_blocks);
    if (first < last) decode::walk(stage, origin, first, last, stage.may_exclude() ? 1 : 2, t, lanes, s);
  }
  /// All lanes of one batch element, where they are few.
  [[gnu::noinline]] void run_few(extent_t const* origin, scratch& s) const {
    state t, part;
    decode::tile<T> lanes;
    place(t, 0, s);
    start_few(origin, t, lanes, s);
    walk_few(origin, 0, t, lanes, s);
    if (parts > 1) place(part, 0, s);
    for (extent_t p = 1; p < parts; ++p) {
      part.reset();
      walk_few(origin, p, part, lanes, s);
      end.merge(t, part);
    }
    end.finish(origin, t, s);
  }
  /// The tiles of a job, all of them against each block of keys in turn.
  [[gnu::noinline]] void run_tiles(extent_t const* origin, job const& j, scratch& s) const {
    if (few) return run_few(origin, s);
    state tiles[most_tiles];
    int const count = static_cast<int>(j.last_tile - j.first_tile);
    for (int i = 0; i < count; ++i) {
      place(tiles[i], j.first_tile + i, s);
      open(origin, tiles[i], s);
    }
    walk_part(origin, 0, tiles, count, s);
    if (parts > 1) add_parts(origin, tiles[0], s);
    for (int i = 0; i < count; ++i) end.finish(origin, tiles[i], s);
  }
  /// One tile, and one thread for all its parts: summed up as if they were shared.
  [[gnu::noinline]] void add_parts(extent_t const* origin, state& sum, scratch& s) const {
    state part;
    place(part, 0, s);
    std::copy(sum.query, sum.query + stage.dots, part.query);
    for (extent_t p = 1; p < parts; ++p) {
      part.reset();
      walk_part(origin, p, &part, 1, s);
      end.merge(sum, part);
    }
  }

  // ---- one tile of lanes
  void size_of(state& t, extent_t tile) const {
    t.from = stage.tile_from(tile);
    t.count = (tile + 1 == stage.tiles() ? stage.lanes.size : stage.tile_from(tile + 1)) - t.from;
    t.padded = static_cast<int>(up(t.count, width<T>));
  }
  void place(state& t, extent_t tile, scratch& s) const {
    size_of(t, tile);
    t.place(s.take_as<T>(state::elements(t.padded, t.count, stage.value_row())));
  }
  /// Statistics at their start, Q^T packed and scaled.
  [[gnu::noinline]] void open(extent_t const* origin, state& t, scratch& s) const {
    t.reset();
    for (int i = 0; i < stage.dots; ++i) {
      auto const& d = stage.parts[i];
      auto const& from = at.query[i];
      t.query[i] = s.take_as<T>(t.padded * std::max<extent_t>(d.depth.size, 1));
      extent_t lane_step = 0;
      if (from.flat && from.step == 1 && from.rows.runs(t.from, t.count, lane_step)) {
        T const* q = from.data + offset_in(stage.batch, origin, d.query.operand.stride) + from.rows.offset(t.from);
        transpose_block<T>(q, lane_step, t.count, d.depth.size, t.query[i], t.padded, t.padded,
                           static_cast<T>(d.scale));
        continue;
      }
      block b{origin, &d.depth, 0, d.depth.size, &stage.lanes, t.from, t.count};
      if (d.depth.size > 0)
        run_padded(*d.query.load, b, t.padded, nullptr, reinterpret_cast<char*>(t.query[i]),
                   t.padded * static_cast<extent_t>(sizeof(T)), s, false, 0, nullptr);
      if (d.scale != 1) scale_all(t.query[i], d.depth.size * t.padded, static_cast<T>(d.scale));
    }
  }
  static void scale_all(T* p, extent_t n, T factor) {
    for (extent_t i = 0; i < n; i += width<T>) store(p + i, load(p + i) * broadcast(factor));
  }

  // ---- the walk over the keys
  struct workplace {
    T* scores[max_dots];
    std::uint64_t* kept;
    box where;
  };
  [[gnu::noinline]] void walk_part(extent_t const* origin, extent_t part, state* tiles, int count, scratch& s) const {
    if (stage.keys.size == 0) return;
    char* const mark = s.next;
    workplace w;
    if (stage.may_exclude()) w.where.around(origin);
    extent_t const size = block_size;
    extent_t widest = 0;
    for (int i = 0; i < count; ++i) widest = std::max<extent_t>(widest, tiles[i].padded);
    for (int d = 0; d < std::max(stage.dots, 1); ++d) w.scores[d] = s.take_as<T>(size * widest);
    if (stage.may_exclude()) w.kept = s.take_as<std::uint64_t>(size * (widest / stage.score->lanes + 1));
    extent_t const first = part * part_blocks, last = std::min(blocks, first + part_blocks);
    walk(origin, first, last, stage.may_exclude() ? 1 : 2, tiles, count, w, s);
    s.next = mark;
  }
  /// What a tile keeps of a block, by a guess while guesses hold.
  int known_of(keys_block const& kb, state& t, box& where) const {
    bool const guess = may_guess && t.guesses;
    int const known = stage.classify(where, t.from, t.count, kb.from, kb.count, guess);
    t.guesses |= known == 2;
    return known;
  }
  /// Blocks low .. high, bisected: the cost of skipping follows what is kept. known: 1 not classified yet, 2 all kept, 3
  /// guessed so.
  [[gnu::noinline]] void walk(extent_t const* origin, extent_t low, extent_t high, int known, state* tiles, int count,
                              workplace& w, scratch& s) const {
    extent_t const size = block_size;
    if (known == 1) {
      extent_t const from = low * size, lane_from = tiles[0].from;
      known = stage.classify(w.where, lane_from, tiles[count - 1].from + tiles[count - 1].count - lane_from, from,
                             std::min(stage.keys.size, high * size) - from, may_guess);
      if (known == 0) return;
    }
    if (known == 1 && high - low > 1) {
      extent_t const middle = low + (high - low) / 2;
      walk(origin, low, middle, known, tiles, count, w, s);
      walk(origin, middle, high, known, tiles, count, w, s);
      return;
    }
    for (extent_t number = low; number < high; ++number) {
      char* const mark = s.next;
      keys_block kb;
      kb.from = number * size;
      kb.count = std::min(stage.keys.size - kb.from, size);
      for (int i = 0; i < count; ++i) {
        int const own = known == 2 || (count == 1 && !may_guess) ? known : known_of(kb, tiles[i], w.where);
        if (own >= 2)
          step(origin, kb, tiles[i], w, s, own == 3);
        else if (own == 1)
          mixed_step(origin, kb, tiles[i], w, s);
      }
      s.next = mark;
    }
  }

  // ---- one block of keys
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
    if (guessed && !all_finite(scores, kb.count * (t.padded / width<T>))) {
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
  [[gnu::noinline]] static bool all_finite(T const* x, extent_t vectors) {
    constexpr int chains = 4;
    vector<T> probe[chains];  // 0 times all of them: NaN unless all are finite
    for (auto& p : probe) p = zero<T>();
    extent_t i = 0;
    for (; i + chains <= vectors; i += chains) {
      HEED_UNROLL
      for (int c = 0; c < chains; ++c) probe[c] = fma(load(x + (i + c) * width<T>), zero<T>(), probe[c]);
    }
    for (; i < vectors; ++i) probe[0] = fma(load(x + i * width<T>), zero<T>(), probe[0]);
    return reduce_add((probe[0] + probe[1]) + (probe[2] + probe[3])) == T(0);
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
