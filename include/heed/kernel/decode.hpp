// SPDX-License-Identifier: BSL-1.0
// In: a streamed reduction with few lanes (one query, a group of heads), keys and values as a cache holds them. Out: the
// same as stream.hpp, at the speed of reading keys and values once.
// Next to read: stream.hpp, which takes this way where it suits.
//
//   lanes <= 16; keys and values are read where they lie, if the elements of a row lie side by side; else a copy of each block
//   1. queries [lanes][depth], scaled, once
//   2. for each block of keys that the mask does not exclude:
//        scores S [lanes][keys] = Q * K^T, the vectors along the depth; the values of the block are fetched meanwhile
//        edits and mask by the program, rows = lanes, vectors along the keys
//        softmax step: maximum, sum, rescale [lanes]
//        context [lanes][values] = rescale * context + P * V; the keys of the next block are fetched meanwhile
// A padded vector of 16 queries would do 16 / lanes times the work, and would need keys in floats.
#pragma once

#include "decode_tile.hpp"
#include "finite.hpp"
#include "stream_stage.hpp"

#include <bit>

namespace heed::kernel {
inline namespace HEED_ARCH {
namespace decode {

namespace detail {

/// Memory of a type that has loops.
inline bool lies_in_memory(matrix const& m) {
  loops::operand const& o = m.operand;
  return m.row_loops && o.slot < 0 && !o.splat && !o.fetch && !o.words && o.index_axis < 0;
}
/// Whose rows (keys) have one stride and whose elements along a row lie side by side.
inline bool lies_in_rows(matrix const& m, loops::group const& keys, loops::group const& along) {
  extent_t row = 0, step = 0;
  return lies_in_memory(m) && keys.affine(m.operand.stride, row) && along.affine(m.operand.stride, step) &&
         (step == 1 || along.size <= 1);
}

/// Rows as the loops read them: where they lie, or else copied, a block at a time. A copy keeps the type of the memory, if
/// that has loops: how keys lie is to change no bit.
template <class T> struct span {
  row_loops<T> const* run = nullptr;
  rows<char> memory;
  extent_t width = 0, size = 0;  // elements of a row, their bytes
  matrix const* copied = nullptr;
  char* copy = nullptr;

  span() = default;
  span(matrix const& m, extent_t const* origin, loops::group const& keys, loops::group const& along)
      : run(static_cast<row_loops<T> const*>(m.row_loops)),
        width(along.size),
        size(m.operand.size) {
    memory.count = keys.size;
    if (lies_in_rows(m, keys, along)) {
      keys.affine(m.operand.stride, memory.step);
      if (keys.size > 0 && width > 0)  // else there may be no memory
        memory.data = static_cast<char const*>(m.operand.data) + offset_at(origin, m.operand.stride) * size;
      return;
    }
    copied = &m;
    memory.step = copied_row(m, width);
    if (lies_in_memory(m)) return;
    run = static_cast<row_loops<T> const*>(row_loops_for<T, T>());
    size = sizeof(T);
  }
  static extent_t copied_row(matrix const& m, extent_t width) {
    extent_t const lanes = m.load->lanes;
    return (std::max<extent_t>(width, 1) + lanes - 1) / lanes * lanes;
  }
  /// Bytes for a block of so many keys.
  static std::size_t scratch_bytes(matrix const& m, loops::group const& keys, loops::group const& along,
                                   extent_t block) {
    if (lies_in_rows(m, keys, along)) return 0;
    std::size_t const own = static_cast<std::size_t>(block * copied_row(m, along.size)) * sizeof(T) + 64;
    return own + block_scratch(*m.load, block, std::max<extent_t>(along.size, 1));
  }
  void place(extent_t block, scratch& s) {
    if (copied) copy = s.take(static_cast<std::size_t>(block * memory.step * size));
  }
  span part(extent_t from, extent_t n) const {
    span s = *this;
    if (memory.data) s.memory.data += from * memory.step * size;
    s.memory.count = n;
    return s;
  }
  upcoming ahead() const {
    return memory.data ? upcoming(memory.data, memory.step * size, width * size, memory.count) : upcoming();
  }
  /// The same, to be read.
  span block_of(extent_t const* origin, loops::group const& keys, loops::group const& along, extent_t from, extent_t n,
                scratch& s) const {
    span p = part(from, n);
    if (!copied || width == 0) return p;
    p.memory.data = copy;
    if (!lies_in_memory(*copied)) {
      block const b{origin, &keys, from, n, &along, 0, width};
      run_padded(*copied->load, b, memory.step, nullptr, copy, memory.step * size, s, false, 0, nullptr);
    } else if (size == 2)
      copy_elements<std::uint16_t>(origin, keys, along, from, n);
    else if (size == 4)
      copy_elements<float>(origin, keys, along, from, n);
    else
      copy_elements<double>(origin, keys, along, from, n);
    return p;
  }
  template <class S>
  [[gnu::noinline]] void copy_elements(extent_t const* origin, loops::group const& keys, loops::group const& along,
                                       extent_t from, extent_t n) const {
    extent_t const* const stride = copied->operand.stride;
    S const* const base = static_cast<S const*>(copied->operand.data) + offset_at(origin, stride);
    S* const to = reinterpret_cast<S*>(copy);
    extent_t key_step = 0, step = 0;
    bool const even = along.affine(stride, step);
    if constexpr (sizeof(S) > 2)
      if (even && keys.affine(stride, from, n, key_step) && key_step == 1)
        return transpose_block<S>(base + keys.offset(from, stride), step, width, n, to, memory.step, memory.step, S(1));
    for (extent_t k = 0; k < n; ++k) {
      S const* const row = base + keys.offset(from + k, stride);
      for (extent_t c = 0; c < width; ++c) to[k * memory.step + c] = row[even ? c * step : along.offset(c, stride)];
    }
  }
};

/// Elements of a query row: whole units of any storage type.
template <class T> extent_t query_row(extent_t depth) {
  constexpr extent_t step = 2 * width<T>;
  return (std::max<extent_t>(depth, 1) + step - 1) / step * step;
}

}  // namespace detail

/// Whether a stage is computed this way: few lanes (half as many where the keys are few as well, and stay in the cache).
template <class T> [[gnu::cold]] bool suits(streamed<T> const& stage) {
  extent_t const most = stage.keys.size > loops::single_block ? loops::decode_lanes : loops::decode_lanes / 2;
  return stage.lanes.size >= 1 && stage.lanes.size <= most;
}

/// Keys of a block: fewer where they are wide. It depends on the extents of the formula alone.
template <class T> extent_t block_keys(streamed<T> const& stage) {
  extent_t const width = stage.depth_total() + stage.values.size;
  extent_t keys = loops::decode_block;
  while (keys > 2 * loops::decode_grain && keys * width > loops::decode_elements) keys /= 2;
  return keys;
}

/// Bytes for the tile of a thread, with all that its programs need for a block.
template <class T> [[gnu::cold]] std::size_t scratch_bytes(streamed<T> const& stage) {
  extent_t const lanes = loops::decode_lanes, keys = loops::decode_block;
  extent_t elements = std::max(stage.dots, 1) * lanes * keys + 2 * lanes * stage.value_row() + 4 * 64;
  std::size_t bytes = 0;
  for (int i = 0; i < stage.dots; ++i) {
    elements += lanes * detail::query_row<T>(stage.parts[i].depth.size);
    bytes += block_scratch(*stage.parts[i].query.load, lanes, stage.parts[i].depth.size);
    bytes += detail::span<T>::scratch_bytes(stage.parts[i].key, stage.keys, stage.parts[i].depth, keys);
  }
  if (stage.has_values() && stage.values.size > 0)
    bytes += detail::span<T>::scratch_bytes(stage.value, stage.keys, stage.values, keys);
  bytes += static_cast<std::size_t>(elements) * sizeof(T) + static_cast<std::size_t>(2 * lanes * keys * 8) + 4096;
  bytes += block_scratch(*stage.score, lanes, keys);
  if (stage.weight) bytes += block_scratch(*stage.weight, lanes, keys);
  return bytes;
}

/// What a tile of lanes needs beside the stage's own state of it.
template <class T> struct tile {
  int lanes = 0;                                  // those of the register tiles: padded_lanes
  T* query[max_dots] = {};                        // [lanes][depth]
  T* scores[max_dots] = {};                       // [lanes][decode_block]
  detail::span<T> key[max_dots], value;           // all keys of them
  T* product = nullptr;                           // weights times the values of a block: [lanes][values]
  std::uint64_t *kept = nullptr, *own = nullptr;  // [lanes][decode_block / width]: bits of the scores, of the weights
  box where;                                      // for questions about exclusion
};

/// Queries of a tile that is placed, converted and scaled: [lanes][depth], zeros up to whole units and whole tiles.
template <class T>
[[gnu::noinline, gnu::cold]] void prepare(streamed<T> const& stage, extent_t const* origin, lane_state<T>& state,
                                          tile<T>& t, scratch& s) {
  constexpr int n = width<T>;
  t.lanes = padded_lanes(state.count);
  if (stage.may_exclude()) t.where.around(origin);
  t.product = s.take_as<T>(t.lanes * stage.value_row());
  extent_t const tile_size = t.lanes * loops::decode_block;
  for (int i = 0; i < std::max(stage.dots, 1); ++i) {
    t.scores[i] = s.take_as<T>(tile_size);
    std::fill(t.scores[i], t.scores[i] + tile_size, T(0));
  }
  t.kept = s.take_as<std::uint64_t>(tile_size / n);
  t.own = s.take_as<std::uint64_t>(tile_size / n);
  if (stage.has_values() && stage.values.size > 0)
    t.value = detail::span<T>(stage.value, origin, stage.keys, stage.values), t.value.place(block_keys(stage), s);
  for (int i = 0; i < stage.dots; ++i) {
    auto const& d = stage.parts[i];
    extent_t const row = detail::query_row<T>(d.depth.size);
    t.key[i] = detail::span<T>(d.key, origin, stage.keys, d.depth);
    t.key[i].place(block_keys(stage), s);
    t.query[i] = s.take_as<T>(t.lanes * row);
    block const b{origin, &stage.lanes, state.from, state.count, &d.depth, 0, d.depth.size};
    if (d.depth.size > 0)
      run_padded(*d.query.load, b, row, nullptr, reinterpret_cast<char*>(t.query[i]),
                 row * static_cast<extent_t>(sizeof(T)), s, false, 0, nullptr);
    for (extent_t l = 0; l < t.lanes; ++l) {
      T* const q = t.query[i] + l * row;
      std::fill(q + (l < state.count ? d.depth.size : 0), q + row, T(0));
      if (d.scale != 1)
        for (extent_t c = 0; c < row; c += n) store(q + c, load(q + c) * broadcast(static_cast<T>(d.scale)));
      t.key[i].run->order(q, row);
    }
  }
}

namespace detail {

/// Notes which lanes kept a key at all, and how many where that matters. Bits beyond the keys are cleared.
template <class T>
[[gnu::noinline]] void note_kept(streamed<T> const& stage, lane_state<T>& state, std::uint64_t* kept, extent_t words,
                                 extent_t count) {
  bool const counts = stage.kind == stream_kind::mean;
  if (!kept) {
    state.keep_all();
    for (extent_t l = 0; l < state.count && counts; ++l) state.kept_count[l] += static_cast<T>(count);
    return;
  }
  std::uint64_t const last = ~std::uint64_t{0} >> (64 - (count - (words - 1) * width<T>));
  for (extent_t l = 0; l < state.count; ++l) {
    std::uint64_t* const row = kept + l * words;
    row[words - 1] &= last;
    int here = 0;
    for (extent_t w = 0; w < words; ++w) here += std::popcount(row[w]);
    if (here > 0) state.kept_any[0] |= std::uint64_t{1} << l;
    if (counts) state.kept_count[l] += static_cast<T>(here);
  }
}

/// context = rescale * context + product; the first product is all there is. Rescale null: by one.
template <class T>
[[gnu::noinline]] void add_product(T* context, T const* product, extent_t row, extent_t columns, extent_t lanes,
                                   bool first, T const* rescale) {
  for (extent_t l = 0; l < lanes; ++l) {
    vector<T> const factor(rescale ? rescale[l] : T(1));
    for (extent_t c = l * row; c < l * row + columns; c += width<T>)
      store(context + c, first ? load(product + c) : kernel::fma(load(context + c), factor, load(product + c)));
  }
}

template <class T> bool rows_finite(T const* x, extent_t row, extent_t columns, extent_t rows) {
  for (extent_t r = 0; r < rows; ++r)
    if (!kernel::all_finite(x + r * row, columns)) return false;
  return true;
}

/// Weights times values into the context.
template <class T>
[[gnu::noinline]] void add_values(streamed<T> const& stage, lane_state<T>& state, tile<T>& t, span<T> const& values,
                                  std::uint64_t const* kept, extent_t words, upcoming& next) {
  extent_t const row = stage.value_row();
  values.run->value(values.memory, values.width, t.lanes, t.scores[0], loops::decode_block, t.product, row, next);
  // A value behind an excluded key must not reach the output, not even as 0 * NaN.
  if (kept && !rows_finite(t.product, row, values.width, state.count))
    for (extent_t l = 0; l < state.count; ++l)
      values.run->value_kept(values.memory, values.width, t.scores[0] + l * loops::decode_block, kept + l * words,
                             t.product + l * row);
  add_product(state.context, t.product, row, values.width, state.count, !state.started,
              stage.kind == stream_kind::softmax ? state.rescale : nullptr);
  state.started = true;
}

}  // namespace detail

/// One block of keys, from .. from + count, against the tile. known: 2 where everything is kept, 1 where the mask has to be
/// looked at.
template <class T>
[[gnu::noinline]] void step(streamed<T> const& stage, extent_t const* origin, extent_t from, extent_t count, int known,
                            lane_state<T>& state, tile<T>& t, scratch& s) {
  constexpr extent_t grain = loops::decode_grain;
  if (known == 1) {  // leave out the ends that exclude everything; whole vectors, so that sums keep their order
    auto const excluded = [&](extent_t at, extent_t n) {
      return stage.classify(t.where, state.from, state.count, at, n) == 0;
    };
    for (; count > grain && excluded(from, grain); count -= grain) from += grain;
    for (extent_t last; (last = (count - 1) / grain * grain) > 0 && excluded(from + last, count - last);) count = last;
  }
  bool const with_values = stage.has_values() && stage.values.size > 0;
  extent_t const words = (count + width<T> - 1) / width<T>, padded = words * width<T>;

  // 1. scores; each piece of memory is fetched while the one before it is computed with
  detail::span<T> values = t.value.part(from, count);
  extent_t const after = std::min(block_keys(stage), stage.keys.size - from - count);
  upcoming following = (stage.dots > 0 ? t.key[0] : t.value).part(from + count, after).ahead();
  for (int i = 0; i < stage.dots; ++i) {
    upcoming next = i + 1 < stage.dots ? t.key[i + 1].part(from, count).ahead() : values.ahead();
    detail::span<T> const key = t.key[i].block_of(origin, stage.keys, stage.parts[i].depth, from, count, s);
    key.run->score(key.memory, key.width, t.lanes, t.query[i], detail::query_row<T>(key.width), t.scores[i],
                   loops::decode_block, with_values || i + 1 < stage.dots ? next : following);
  }

  // 2. edits and mask
  T* const scores = t.scores[0];
  constexpr extent_t row_bytes = loops::decode_block * static_cast<extent_t>(sizeof(T));
  block const b{origin, &stage.lanes, state.from, state.count, &stage.keys, from, count};
  bool const mixed = known == 1, score_masked = mixed && stage.score->masked != nullptr;
  T const neutral = stage.excluded_score();
  if (score_masked || !stage.score_is_plain()) {
    loops::bound slots[max_dots];
    for (int i = 0; i < stage.dots; ++i) slots[i] = {reinterpret_cast<char const*>(t.scores[i]), row_bytes, sizeof(T)};
    run_padded(*stage.score, b, padded, slots, reinterpret_cast<char*>(scores), row_bytes, s, score_masked,
               static_cast<double>(neutral), score_masked ? t.kept : nullptr);
  }
  if (mixed && !score_masked) std::fill(t.kept, t.kept + state.count * words, ~std::uint64_t{0});
  for (extent_t l = 0; l < state.count; ++l)
    std::fill(scores + l * loops::decode_block + count, scores + l * loops::decode_block + padded, neutral);
  detail::note_kept(stage, state, mixed ? t.kept : nullptr, words, count);

  // 3. statistics
  int const lanes = static_cast<int>(state.count);
  switch (stage.kind) {
    case stream_kind::softmax:
    case stream_kind::log_sum_exp:
      softmax_lanes(scores, loops::decode_block, lanes, padded, state.maximum, state.sum, state.rescale);
      break;
    case stream_kind::maximum: max_lanes(scores, loops::decode_block, lanes, padded, state.maximum); break;
    case stream_kind::sum:
    case stream_kind::mean: sum_lanes(scores, loops::decode_block, lanes, padded, state.sum); break;
    default: break;
  }
  if (!with_values) return;

  // 4. weights times values
  values = t.value.block_of(origin, stage.keys, stage.values, from, count, s);
  if (stage.weight && (!stage.weight->identity || (mixed && stage.weight->masked))) {
    bool const weight_masked = mixed && stage.weight->masked != nullptr;
    loops::bound slots[max_dots] = {{reinterpret_cast<char const*>(scores), row_bytes, sizeof(T)}};
    run_padded(*stage.weight, b, padded, slots, reinterpret_cast<char*>(scores), row_bytes, s, weight_masked, 0,
               weight_masked ? t.own : nullptr);
    for (extent_t l = 0; weight_masked && l < state.count; ++l)
      for (extent_t i = l * words; i < (l + 1) * words; ++i)
        if ((t.kept[i] &= t.own[i]) != 0) state.met_any[0] |= std::uint64_t{1} << l;
  }
  detail::add_values(stage, state, t, values, mixed ? t.kept : nullptr, words, following);
}

/// Blocks low .. high, bisected: the cost of skipping follows what is kept. known: 1 not classified yet, 2 all kept.
template <class T>
void walk(streamed<T> const& stage, extent_t const* origin, extent_t low, extent_t high, int known,
          lane_state<T>& state, tile<T>& t, scratch& s) {
  extent_t const size = block_keys(stage), from = low * size;
  extent_t const count = std::min(stage.keys.size, high * size) - from;
  if (known == 1) known = stage.classify(t.where, state.from, state.count, from, count);
  if (known == 0) return;
  if (high - low > 1) {
    extent_t const middle = low + (high - low) / 2;
    walk(stage, origin, low, middle, known, state, t, s);
    walk(stage, origin, middle, high, known, state, t, s);
  } else {
    step(stage, origin, from, count, known, state, t, s);
  }
}

}  // namespace decode
}  // namespace HEED_ARCH
}  // namespace heed::kernel
