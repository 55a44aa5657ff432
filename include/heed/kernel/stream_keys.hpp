// SPDX-License-Identifier: BSL-1.0
// In: blocks of keys by number. Out: their keys and values where a tile can read them again and again: in place, or packed
// once for all tiles that share the block; and, for blocks with excluded keys, values without what is not finite.
// Next to read: stream_block.hpp, which multiplies them.
#pragma once

#include "stream_stage.hpp"

#include <numeric>

namespace heed::kernel {
inline namespace HEED_ARCH {

/// Rounds up to a multiple.
constexpr extent_t up(extent_t n, extent_t to) { return (n + to - 1) / to * to; }

/// The pieces of dense score operands (biases, masks) that the next block of keys will read, fetched while this one is
/// multiplied: their rows lie too far apart for the hardware to see a pattern.
struct ahead {
  static constexpr int most = 2;
  upcoming pieces[most];
  int count = 0;

  void add(char const* data, extent_t apart, extent_t bytes, extent_t runs) {
    if (count == most || bytes <= 0) return;
    extent_t const past =
        static_cast<extent_t>(reinterpret_cast<std::uintptr_t>(data) % 64);  // whole lines are fetched
    pieces[count++] = upcoming(data - past, apart, bytes + (apart % 64 == 0 ? past : 63), runs);
  }
  /// The operands of `p` at the keys that follow `from`, for lanes lane_from .. + lane_count.
  [[gnu::noinline, gnu::cold]] void look(loops::program const& p, extent_t const* origin, loops::group const& keys,
                                         extent_t from, extent_t n, loops::group const& lanes, extent_t lane_from,
                                         extent_t lane_count) {
    n = std::min(n, keys.size - from);
    if (n <= 0) return;
    extent_t coordinates[loops::max_rank];
    for (int i = 0; i < p.count; ++i) {
      loops::operand const& o = p.operands[i];
      extent_t key_step = 0, lane_step = 0;
      if (!o.data || !(o.varies & keys.bits()) || !(o.varies & lanes.bits()) ||
          !keys.affine(o.stride, from, n, key_step) || !lanes.affine(o.stride, lane_from, lane_count, lane_step) ||
          key_step != 1)
        continue;
      std::copy(origin, origin + loops::max_rank, coordinates);
      keys.locate(from, coordinates);
      lanes.locate(lane_from, coordinates);
      add(static_cast<char const*>(o.data) + offset_at(coordinates, o.stride) * o.size, lane_step * o.size, n * o.size,
          lane_count);
    }
  }
  /// As slowly as a product of so many rows and this depth allows.
  void spread(extent_t rows, extent_t depth) {
    extent_t const stretches = tall_stretches(rows, depth);
    for (int i = 0; i < count; ++i) pieces[i].spread_over(stretches);
  }
  /// What was not fetched beside a product, because it has no tall tiles.
  [[gnu::noinline]] void fetch_rest() {
    for (int i = 0; i < count; ++i) pieces[i].fetch(pieces[i].lines());
    asm volatile("");  // to g++ a function that only prefetches does nothing, and its calls go
  }
};

template <class T> struct key_source {
  using state = lane_state<T>;
  using keys_block = key_block<T>;
  streamed<T> const& stage;
  places<T> const& at;

  /// Keys and values of a block: in place where strides allow, else packed; once for all tiles that share the block.
  [[gnu::noinline]] void fetch(extent_t const* origin, keys_block& kb, bool often, scratch& s) const {
    if (kb.packed) return;
    kb.packed = true;
    for (int i = 0; i < stage.dots; ++i) {
      auto const& d = stage.parts[i];
      auto const& from = at.key[i];
      if (from.flat && from.rows.runs(kb.from, kb.count, kb.key_row[i])) {
        kb.key_step[i] = from.step;
        kb.key[i] = from.data + offset_in(stage.batch, origin, d.key.operand.stride) + from.rows.offset(kb.from);
        if (often && from.step == 1 && crowded(kb.key_row[i], d.depth.size, kb.count))
          kb.key[i] = copy(kb.key[i], kb.key_row[i], kb.count, d.depth.size, up(d.depth.size, width<T>), s);
        continue;
      }
      extent_t const row = up(std::max<extent_t>(d.depth.size, 1), d.key.load->lanes);
      T* to = s.take_as<T>(kb.count * row);
      block b{origin, &stage.keys, kb.from, kb.count, &d.depth, 0, d.depth.size};
      if (d.depth.size > 0)
        run_padded(*d.key.load, b, row, nullptr, reinterpret_cast<char*>(to), row * static_cast<extent_t>(sizeof(T)), s,
                   false, 0, nullptr);
      kb.key[i] = to;
      kb.key_row[i] = row;
      kb.key_step[i] = 1;
    }
    if (!stage.has_values() || stage.values.size == 0) return;
    extent_t const row = stage.value_row();
    if (at.value.flat && at.value.step == 1 && at.value.rows.runs(kb.from, kb.count, kb.value_row)) {
      kb.value =
          at.value.data + offset_in(stage.batch, origin, stage.value.operand.stride) + at.value.rows.offset(kb.from);
      if (!often || !crowded(kb.value_row, stage.values.size, kb.count)) return;
      kb.value = copy(kb.value, kb.value_row, kb.count, stage.values.size, row, s);
    } else {
      T* to = s.take_as<T>(kb.count * row);
      std::fill(to, to + kb.count * row, T(0));
      block b{origin, &stage.keys, kb.from, kb.count, &stage.values, 0, stage.values.size};
      run_padded(*stage.value.load, b, up(stage.values.size, stage.value.load->lanes), nullptr,
                 reinterpret_cast<char*>(to), row * static_cast<extent_t>(sizeof(T)), s, false, 0, nullptr);
      kb.value = to;
    }
    kb.value_row = row;
    kb.value_padded = true;
  }
  /// Whether rows so many elements apart share so few sets of the L1 cache (64 sets of 12 lines of 64 bytes, or smaller) that
  /// they push each other out: a tile reads them again and again, so a copy is worth its while.
  [[gnu::noinline]] static bool crowded(extent_t apart, extent_t columns, extent_t rows) {
    extent_t const bytes = std::abs(apart) * static_cast<extent_t>(sizeof(T));
    if (bytes % 64 != 0) return false;
    extent_t const lines = up(columns * static_cast<extent_t>(sizeof(T)), 64) / 64;
    extent_t const sets = std::min<extent_t>(64, 64 / std::gcd(bytes / 64, extent_t{64}) * lines);
    return sets < 64 && 2 * rows * lines > 12 * sets;
  }
  /// Rows `apart` elements apart, side by side, `row` elements each; `apart` becomes `row`.
  [[gnu::noinline]] static T* copy(T const* from, extent_t& apart, extent_t rows, extent_t columns, extent_t row,
                                   scratch& s) {
    T* const to = s.take_as<T>(rows * row);
    for (extent_t k = 0; k < rows; ++k) {
      extent_t c = 0;
      for (; c + width<T> <= columns; c += width<T>) store(to + k * row + c, load(from + k * apart + c));
      if (c < columns) store(to + k * row + c, load_partial(from + k * apart + c, static_cast<int>(columns - c)));
    }
    apart = row;
    return to;
  }

  /// A value behind an excluded key must not reach the output, not even as 0 * NaN: such values are replaced by zeros here
  /// and added afterwards for the lanes that keep their key.
  [[gnu::noinline]] void clean_values(keys_block& kb, scratch& s) const {
    if (kb.finite >= 0) return;
    kb.finite = 1;
    extent_t const n = stage.values.size, row = stage.value_row();
    vector<T> even = zero<T>(), odd = even;  // 0 times every value: NaN unless all are finite
    for (extent_t k = 0; k < kb.count; ++k) {
      T const* v = kb.value + k * kb.value_row;
      extent_t c = 0;
      for (; c + 2 * width<T> <= n; c += 2 * width<T>) {
        even = fma(load(v + c), zero<T>(), even);
        odd = fma(load(v + c + width<T>), zero<T>(), odd);
      }
      if (c + width<T> <= n) even = fma(load(v + c), zero<T>(), even), c += width<T>;
      if (c < n) odd = fma(load_partial(v + c, static_cast<int>(n - c)), zero<T>(), odd);
    }
    if (reduce_add(even + odd) == T(0)) return;
    kb.finite = 0;
    kb.clean = s.take_as<T>(kb.count * row);
    for (extent_t k = 0; k < kb.count; ++k)
      for (extent_t c = 0; c < n; ++c) {
        T const v = kb.value[k * kb.value_row + c];
        kb.clean[k * row + c] = v - v == T(0) ? v : T(0);
      }
  }
  [[gnu::noinline, gnu::cold]] void add_live_rest(keys_block const& kb, extent_t lead, extent_t count, state& t,
                                                  T const* weights, std::uint64_t const* kept, int words) const {
    int const per_word = stage.score->lanes;
    for (extent_t k = 0; k < count; ++k)
      for (extent_t c = 0; c < stage.values.size; ++c) {
        T const v = kb.value[(lead + k) * kb.value_row + c];
        if (v - v == T(0)) continue;
        for (extent_t l = 0; l < t.count; ++l)
          if (kept[k * words + l / per_word] >> (l % per_word) & 1)
            t.context[l * stage.value_row() + c] += weights[k * t.padded + l] * v;
      }
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
