// SPDX-License-Identifier: BSL-1.0
// In: what the plan says of a streamed reduction (attention is one). Out: its description, the sizes that follow from it,
// where its operands lie, which boxes of it are excluded, and what is known of a tile of lanes on its way over the keys.
// Next to read: stream.hpp, the walk over the keys.
//
//   batch: axes that all share; lanes: query axes, walked as one; keys: streamed axes; values: axes that only V has
#pragma once

#include "contract.hpp"
#include "softmax_tile.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

inline constexpr int max_dots = 4;

enum class stream_kind { softmax, weighted_sum, sum, mean, maximum, log_sum_exp };

/// Lanes of one tile, and the lanes whose exclusion is decided together: a quarter of it.
template <class T> inline constexpr int lane_tile = 64 * 4 / static_cast<int>(sizeof(T));
template <class T> inline constexpr int lane_grain = lane_tile<T> / 4;

/// A part of the stage's axes, half-open.
struct box {
  extent_t low[loops::max_rank], high[loops::max_rank];
  void around(extent_t const* origin) {
    for (int a = 0; a < loops::max_rank; ++a) low[a] = origin[a], high[a] = origin[a] + 1;
  }
  /// The smallest box around elements from .. from + count of a group.
  [[gnu::noinline]] void span(loops::group const& g, extent_t from, extent_t count) {
    if (g.count == 1) {
      low[g.axis[0]] = from;
      high[g.axis[0]] = from + count;
      return;
    }
    extent_t first[loops::max_rank] = {}, last[loops::max_rank] = {};
    g.locate(from, first);
    g.locate(from + count - 1, last);
    bool split = false;
    for (int a = 0; a < g.count; ++a) {
      int const axis = g.axis[a];
      low[axis] = split ? 0 : first[axis];
      high[axis] = split ? g.extent[a] : last[axis] + 1;
      if (first[axis] != last[axis]) split = true;
    }
  }
};

template <class T> struct streamed {
  struct dot {
    matrix key, query;
    loops::group depth;
    double scale = 1;
  };
  stream_kind kind = stream_kind::softmax;
  loops::group batch, lanes, keys, values;
  int dots = 0;
  dot parts[max_dots];
  loops::program const* score = nullptr;   // slots: the dots
  loops::program const* weight = nullptr;  // slot 0: what softmax made of the scores
  loops::program const* sink = nullptr;    // over batch and lanes
  matrix value;
  double output_scale = 1;
  loops::program const* epilogue = nullptr;  // slot 0: the context, or one value a lane
  bool bare_output = false;                  // the epilogue hands on slot 0, which has the type of the target
  loops::target target;
  bool masked = false;
  double fill = 0;
  loops::target lse;  // natural log-sum-exp of each lane, where wanted

  bool has_values() const { return kind == stream_kind::softmax || kind == stream_kind::weighted_sum; }
  bool uses_softmax() const { return kind == stream_kind::softmax || kind == stream_kind::log_sum_exp; }
  /// The score of an excluded key: it changes no maximum, no sum of weights.
  T excluded_score() const { return uses_softmax() || kind == stream_kind::maximum ? -infinity<T> : T(0); }
  /// Weights with a mask of their own: a lane may keep scores and meet no value, and is 0 then, whatever its scores are.
  bool weights_exclude() const { return weight && weight->masked; }
  bool score_is_plain() const { return score->identity && dots == 1; }

  // ---- sizes: they depend on the formula and on the extents of query, key and width alone
  extent_t block_size() const {
    return keys.size <= loops::single_block ? std::max<extent_t>(keys.size, 1) : loops::key_block;
  }
  extent_t blocks() const { return (keys.size + block_size() - 1) / block_size(); }
  extent_t vectors() const { return (lanes.size + width<T> - 1) / width<T>; }
  extent_t tiles() const { return std::max<extent_t>(1, (vectors() * width<T> + lane_tile<T> - 1) / lane_tile<T>); }
  extent_t tile_from(extent_t t) const { return t == 0 ? 0 : vectors() * t / tiles() * width<T>; }
  /// Blocks of keys, of so many keys each, that one thread takes in a row. Where all lanes are one tile, the keys are what
  /// can be shared: their parts are summed apart, and then up in one order, whoever computed them.
  extent_t part_blocks(extent_t size) const {
    extent_t const n = (keys.size + size - 1) / size;
    if (tiles() > 1) return std::max<extent_t>(1, n);
    return std::max<extent_t>({1, loops::part_keys / size, (n + loops::most_parts - 1) / loops::most_parts});
  }

  extent_t value_row() const { return (std::max<extent_t>(values.size, 1) + panel<T> - 1) / panel<T> * panel<T>; }
  extent_t depth_total() const {
    extent_t d = 0;
    for (int i = 0; i < dots; ++i) d += std::max<extent_t>(parts[i].depth.size, 1);
    return d;
  }

  // ---- exclusion
  bool may_exclude() const { return score->classify || (weight && weight->classify); }
  /// Whether scores add a bias of their own size, each tile of which is read once: it is taken to exclude nothing until scores
  /// show otherwise, so that it need not be read before.
  bool may_guess() const {
    if (!score->guess || !uses_softmax()) return false;
    for (int i = 0; i < score->count; ++i) {
      loops::operand const& o = score->operands[i];
      extent_t apart = 1;
      for (int a = 0; a < batch.count; ++a)
        if (o.varies >> batch.axis[a] & 1) apart *= batch.extent[a];
      if (o.data && (o.varies & lanes.bits()) && (o.varies & keys.bits()) && apart == batch.size) return true;
    }
    return false;
  }
  /// 0: lanes and keys of the box exclude each other, 2: all are kept, 1: it has to be looked at. guess: 3 is 2 unless scores
  /// turn out to be -infinity or NaN.
  [[gnu::noinline]] int classify(box& b, extent_t lane_from, extent_t lane_count, extent_t key_from, extent_t key_count,
                                 bool guess = false) const {
    if (!may_exclude()) return 2;
    b.span(lanes, lane_from, lane_count);
    b.span(keys, key_from, key_count);
    int result = score->classify ? (guess ? score->guess : score->classify)(score->node, b.low, b.high) : 2;
    if (result != 0 && weight && weight->classify && weight->classify(weight->node, b.low, b.high) != 2) result = 1;
    return result;
  }
};

/// Where the operands of a stage lie, found once for all its tiles.
template <class T> struct places {
  struct side {
    line rows;          // of lanes or keys
    extent_t step = 0;  // along the depth
    bool flat = false;  // T, in memory, with one step along the depth
    T const* data = nullptr;
  };
  side query[max_dots], key[max_dots], value;
  line target;
  bool direct = false;  // a row of the context is a row of the target, and needs its factor only

  [[gnu::cold]] explicit places(streamed<T> const& s) {
    auto find = [](matrix const& m, loops::group const& rows, loops::group const& depth) {
      side d;
      d.rows = line(rows, m.operand.stride);
      d.flat = m.native && depth.affine(m.operand.stride, d.step);
      if (depth.size <= 1) d.step = 1;
      d.data = static_cast<T const*>(m.operand.data);
      return d;
    };
    for (int i = 0; i < s.dots; ++i) {
      query[i] = find(s.parts[i].query, s.lanes, s.parts[i].depth);
      key[i] = find(s.parts[i].key, s.keys, s.parts[i].depth);
    }
    if (!s.has_values()) return;
    value = find(s.value, s.keys, s.values);
    extent_t value_step = 0;
    direct = s.bare_output && !s.masked && s.values.affine(s.target.stride, value_step) &&
             (value_step == 1 || s.values.size <= 1);
    target = line(s.lanes, s.target.stride);
  }
};

/// A tile of lanes on its way over the keys.
template <class T> struct lane_state {
  extent_t from, count;
  int padded;
  T* query[max_dots];                             // [depth][padded], scaled
  T* context;                                     // [count][value_row]
  T *maximum, *sum, *rescale, *kept_count;        // [padded]
  std::uint64_t kept_any[lane_tile<T> / 64 + 1];  // a bit for each lane: some score was kept
  std::uint64_t met_any[lane_tile<T> / 64 + 1];   // the same of weights, where they exclude for themselves
  bool started;                                   // the context holds something
  bool stored;                                    // the context is in the target already, divided
  bool guesses;                                   // nothing was excluded by the last block that could have been

  bool keeps(int lane) const { return (kept_any[lane / 64] >> (lane % 64) & 1) != 0; }
  bool meets(int lane) const { return (met_any[lane / 64] >> (lane % 64) & 1) != 0; }
  bool all_of(std::uint64_t const* any) const {
    for (int l = 0; l < count; l += 64) {
      std::uint64_t const wanted = count - l >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count - l)) - 1;
      if ((any[l / 64] & wanted) != wanted) return false;
    }
    return true;
  }
  void keep_all() {
    for (auto& w : kept_any) w = ~std::uint64_t{0};
    for (auto& w : met_any) w = ~std::uint64_t{0};
  }
  void reset() {
    std::fill(maximum, maximum + padded, -infinity<T>);
    std::fill(sum, sum + 3 * padded, T(0));
    for (auto& w : kept_any) w = 0;
    for (auto& w : met_any) w = 0;
    started = stored = false;
    guesses = true;
  }
  /// Statistics and context in one piece of memory; `row` elements of context a lane.
  static extent_t elements(extent_t padded, extent_t count, extent_t row) { return 4 * padded + count * row; }
  void place(T* memory) {
    maximum = memory;
    sum = memory + padded;
    rescale = memory + 2 * padded;
    kept_count = memory + 3 * padded;
    context = memory + 4 * padded;
  }
};

/// A block of keys, with the values beside them.
template <class T> struct key_block {
  extent_t from = 0, count = 0;
  T const* key[max_dots] = {};
  extent_t key_row[max_dots] = {}, key_step[max_dots] = {};
  T const* value = nullptr;
  extent_t value_row = 0;
  bool value_padded = false;
  bool packed = false;
  T* clean = nullptr;  // values with zeros for what is not finite, once needed
  int finite = -1;
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
