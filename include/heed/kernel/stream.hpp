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
#include "stream_block.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

/// One run of a stage by a team of threads.
template <class T> class stream_run {
  using state = lane_state<T>;
  using keys_block = key_block<T>;
  using workplace = typename stream_block<T>::workplace;
  stream_block<T> one_block;
  streamed<T> const& stage;
  places<T> const& at;
  stream_end<T> const& end;
  int team_size;
  bool few;  // lanes: decode.hpp has the loops
  extent_t block_size, blocks, part_blocks;
  extent_t at_once, groups, parts;
  bool parts_shared;  // the parts of one batch element go to several threads

  static constexpr extent_t most_tiles = 16;

 public:
  [[gnu::cold]] stream_run(streamed<T> const& s, int threads)
      : one_block(s),
        stage(s),
        at(one_block.at),
        end(one_block.end),
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
  /// Blocks low .. high, bisected: the cost of skipping follows what is kept. known: 1 not classified yet, 2 all kept, 3
  /// guessed so.
  [[gnu::noinline]] void walk(extent_t const* origin, extent_t low, extent_t high, int known, state* tiles, int count,
                              workplace& w, scratch& s) const {
    extent_t const size = block_size;
    if (known == 1) {
      extent_t const from = low * size, lane_from = tiles[0].from;
      known = stage.classify(w.where, lane_from, tiles[count - 1].from + tiles[count - 1].count - lane_from, from,
                             std::min(stage.keys.size, high * size) - from, one_block.may_guess);
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
        int const own =
            known == 2 || (count == 1 && !one_block.may_guess) ? known : one_block.known_of(kb, tiles[i], w.where);
        if (own >= 2)
          one_block.step(origin, kb, tiles[i], w, s, own == 3);
        else if (own == 1)
          one_block.mixed_step(origin, kb, tiles[i], w, s);
      }
      s.next = mark;
    }
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
