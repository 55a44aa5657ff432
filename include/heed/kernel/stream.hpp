// SPDX-License-Identifier: BSL-1.0
// In: dots whose results are too large to store, a tree over them, softmax or none, values. Out: the streamed reduction
// (attention is one), a tile of scores at a time. No tile outlives its use.
// Next to read: ../evaluate.hpp, where plan and kernels meet.
//
//   batch: axes that all share; lanes: query axes, walked as one; keys: streamed axes; values: axes that only V has
//   for each tile of lanes [lanes <= 64]:
//     1. Q^T [depth][lanes], scaled, once
//     2. for each block of keys that the mask does not exclude:
//        scores S^T [keys][lanes] = K [keys][depth] * Q^T; edits; mask where the block is mixed
//        softmax step: maximum, sum, rescale [lanes] (or nothing: a plain sum)
//        context [lanes][values] = rescale * context + P^T * V [keys][values]
//     3. 1 / sum, sink, epilogue, store
// Blocks of keys start at multiples of key_block whatever the mask is, and an excluded key adds exactly nothing, so that
// every spelling of a mask gives the same bits.
#pragma once

#include "contract.hpp"
#include "softmax_tile.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

inline constexpr int max_dots = 4;

enum class stream_kind { softmax, weighted_sum, sum, mean, maximum, log_sum_exp };

template <class T> inline constexpr int lane_tile = 64 * 4 / static_cast<int>(sizeof(T));

template <class T> struct stream_stage {
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
  loops::target target;
  bool masked = false;
  double fill = 0;
  loops::target lse;  // natural log-sum-exp of each lane, where wanted

  bool has_values() const { return kind == stream_kind::softmax || kind == stream_kind::weighted_sum; }
  bool uses_softmax() const { return kind == stream_kind::softmax || kind == stream_kind::log_sum_exp; }
  bool score_is_plain() const { return score->identity && dots == 1; }

  // ---- sizes: they depend on the formula and on the extents of query, key and width alone
  extent_t block_size() const {
    return keys.size <= loops::single_block ? std::max<extent_t>(keys.size, 1) : loops::key_block;
  }
  extent_t vectors() const { return (lanes.size + width<T> - 1) / width<T>; }
  extent_t tiles() const { return std::max<extent_t>(1, (vectors() * width<T> + lane_tile<T> - 1) / lane_tile<T>); }
  extent_t tile_from(extent_t t) const { return vectors() * t / tiles() * width<T>; }
  extent_t value_row() const { return (std::max<extent_t>(values.size, 1) + panel<T> - 1) / panel<T> * panel<T>; }
  extent_t depth_total() const {
    extent_t d = 0;
    for (int i = 0; i < dots; ++i) d += std::max<extent_t>(parts[i].depth.size, 1);
    return d;
  }
  /// Tiles that take turns on one block of keys: several where keys and values outgrow the L2 cache.
  extent_t tiles_at_once(int threads) const {
    double const bytes = static_cast<double>(keys.size) * static_cast<double>(depth_total() + values.size) * sizeof(T);
    return bytes > 1.0e6 && batch.size * tiles() >= 8 * threads ? std::min<extent_t>(4, tiles()) : 1;
  }
  std::size_t scratch_bytes(int threads) const {
    std::size_t const block_rows = static_cast<std::size_t>(block_size());
    std::size_t const at_once = static_cast<std::size_t>(tiles_at_once(threads));
    std::size_t const lane = static_cast<std::size_t>(lane_tile<T>), row = static_cast<std::size_t>(value_row());
    std::size_t const depth = static_cast<std::size_t>(depth_total());
    std::size_t elements =
        at_once * lane * (depth + row + 8) + static_cast<std::size_t>(std::max(dots, 1)) * block_rows * lane;
    elements += block_rows * (depth + static_cast<std::size_t>(max_dots) * 64 + 2 * row);
    std::size_t bytes = elements * sizeof(T) + block_rows * lane + 65536;
    extent_t const lane_count = lane_tile<T>;
    bytes += block_scratch(*score, block_size(), lane_count) +
             block_scratch(*epilogue, lane_count, std::max(values.size, lane_count));
    if (weight) bytes += block_scratch(*weight, block_size(), lane_count);
    if (sink) bytes += block_scratch(*sink, 1, lane_count);
    for (int i = 0; i < dots; ++i)
      bytes += block_scratch(*parts[i].query.load, std::max<extent_t>(parts[i].depth.size, 1), lane_count) +
               block_scratch(*parts[i].key.load, block_size(), std::max<extent_t>(parts[i].depth.size, 1));
    if (value.load) bytes += block_scratch(*value.load, block_size(), std::max<extent_t>(values.size, 1));
    return bytes;
  }

  // ---- one tile of lanes
  struct tile_state {
    extent_t from = 0, count = 0;
    int padded = 0;
    T* query[max_dots] = {};
    T* context = nullptr;
    T *maximum = nullptr, *sum = nullptr, *rescale = nullptr, *kept_count = nullptr;
    std::uint64_t kept_any[4] = {};  // a bit for each lane
    bool started = false;
  };
  struct key_block {
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

  static void box_of(loops::group const& g, extent_t from, extent_t count, extent_t* low, extent_t* high) {
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
  int classify(extent_t const* origin, extent_t lane_from, extent_t lane_count, extent_t key_from,
               extent_t key_count) const {
    if (!score->classify && !(weight && weight->classify)) return 2;
    extent_t low[loops::max_rank], high[loops::max_rank];
    for (int a = 0; a < loops::max_rank; ++a) low[a] = origin[a], high[a] = origin[a] + 1;
    box_of(lanes, lane_from, lane_count, low, high);
    box_of(keys, key_from, key_count, low, high);
    int result = score->classify ? score->classify(score->node, low, high) : 2;
    if (result != 0 && weight && weight->classify && weight->classify(weight->node, low, high) != 2) result = 1;
    return result;
  }

  void pack_queries(extent_t const* origin, tile_state& t, scratch& s) const {
    extent_t coordinates[loops::max_rank];
    for (int i = 0; i < dots; ++i) {
      dot const& d = parts[i];
      loops::operand const& o = d.query.operand;
      extent_t lane_step = 0, depth_step = 0;
      if (d.query.native && lanes.affine(o.stride, t.from, t.count, lane_step) &&
          d.depth.affine(o.stride, depth_step) && (depth_step == 1 || d.depth.size <= 1)) {
        std::copy(origin, origin + loops::max_rank, coordinates);
        lanes.locate(t.from, coordinates);
        transpose_block<T>(static_cast<T const*>(o.data) + offset_at(coordinates, o.stride), lane_step, t.count,
                           d.depth.size, t.query[i], t.padded, t.padded, static_cast<T>(d.scale));
        continue;
      }
      block b{origin, &d.depth, 0, d.depth.size, &lanes, t.from, t.count};
      if (d.depth.size > 0)
        run_padded(*d.query.load, b, t.padded, nullptr, reinterpret_cast<char*>(t.query[i]),
                   t.padded * static_cast<extent_t>(sizeof(T)), s, false, 0, nullptr);
      if (d.scale != 1) row_scale_all(t.query[i], d.depth.size * t.padded, static_cast<T>(d.scale));
    }
  }
  static void row_scale_all(T* p, extent_t n, T factor) {
    for (extent_t i = 0; i < n; i += width<T>) store(p + i, load(p + i) * broadcast(factor));
  }

  /// Keys and values of a block: in place where strides allow, else packed; once for all tiles that share the block.
  void pack_keys(extent_t const* origin, key_block& kb, scratch& s) const {
    if (kb.packed) return;
    kb.packed = true;
    extent_t coordinates[loops::max_rank];
    std::copy(origin, origin + loops::max_rank, coordinates);
    keys.locate(kb.from, coordinates);
    for (int i = 0; i < dots; ++i) {
      dot const& d = parts[i];
      loops::operand const& o = d.key.operand;
      if (d.key.native && keys.affine(o.stride, kb.from, kb.count, kb.key_row[i]) &&
          d.depth.affine(o.stride, kb.key_step[i])) {
        kb.key[i] = static_cast<T const*>(o.data) + offset_at(coordinates, o.stride);
        continue;
      }
      extent_t const row =
          (std::max<extent_t>(d.depth.size, 1) + d.key.load->lanes - 1) / d.key.load->lanes * d.key.load->lanes;
      T* to = s.take_as<T>(kb.count * row);
      block b{origin, &keys, kb.from, kb.count, &d.depth, 0, d.depth.size};
      if (d.depth.size > 0)
        run_padded(*d.key.load, b, row, nullptr, reinterpret_cast<char*>(to), row * static_cast<extent_t>(sizeof(T)), s,
                   false, 0, nullptr);
      kb.key[i] = to;
      kb.key_row[i] = row;
      kb.key_step[i] = 1;
    }
    if (!has_values() || values.size == 0) return;
    extent_t value_step = 0;
    loops::operand const& o = value.operand;
    if (value.native && keys.affine(o.stride, kb.from, kb.count, kb.value_row) && values.affine(o.stride, value_step) &&
        (value_step == 1 || values.size <= 1)) {
      kb.value = static_cast<T const*>(o.data) + offset_at(coordinates, o.stride);
      return;
    }
    extent_t const row = value_row();
    T* to = s.take_as<T>(kb.count * row);
    extent_t const padded = (values.size + value.load->lanes - 1) / value.load->lanes * value.load->lanes;
    std::fill(to, to + kb.count * row, T(0));
    block b{origin, &keys, kb.from, kb.count, &values, 0, values.size};
    run_padded(*value.load, b, padded, nullptr, reinterpret_cast<char*>(to), row * static_cast<extent_t>(sizeof(T)), s,
               false, 0, nullptr);
    kb.value = to;
    kb.value_row = row;
    kb.value_padded = true;
  }

  /// A value behind an excluded key must not reach the output, not even as 0 * NaN: such values are replaced by zeros here
  /// and added afterwards for the lanes that keep their key.
  void clean_values(key_block& kb, scratch& s) const {
    if (kb.finite >= 0) return;
    kb.finite = 1;
    for (extent_t k = 0; k < kb.count && kb.finite; ++k) {
      T const* v = kb.value + k * kb.value_row;
      vector<T> sum = zero<T>();
      extent_t c = 0;
      for (; c + width<T> <= values.size; c += width<T>)
        sum = fma(load(v + c), zero<T>(), sum);  // NaN unless all are finite
      T rest = reduce_add(sum);
      for (; c < values.size; ++c) rest += v[c] * T(0);
      if (!(rest == T(0))) kb.finite = 0;
    }
    if (kb.finite) return;
    extent_t const row = value_row();
    kb.clean = s.take_as<T>(kb.count * row);
    for (extent_t k = 0; k < kb.count; ++k)
      for (extent_t c = 0; c < values.size; ++c) {
        T const v = kb.value[k * kb.value_row + c];
        kb.clean[k * row + c] = v - v == T(0) ? v : T(0);
      }
  }
  void add_live_rest(key_block const& kb, extent_t lead, extent_t count, tile_state& t, T const* weights,
                     std::uint64_t const* kept, int words) const {
    int const per_word = score->lanes;
    for (extent_t k = 0; k < count; ++k)
      for (extent_t c = 0; c < values.size; ++c) {
        T const v = kb.value[(lead + k) * kb.value_row + c];
        if (v - v == T(0)) continue;
        for (extent_t l = 0; l < t.count; ++l)
          if (kept[k * words + l / per_word] >> (l % per_word) & 1)
            t.context[l * value_row() + c] += weights[k * t.padded + l] * v;
      }
  }

  /// One block of keys against one tile of lanes. state: 2 where everything is kept, 1 where the mask has to be looked at.
  void step(extent_t const* origin, key_block& kb, tile_state& t, int state, T* const* tiles_of_scores,
            std::uint64_t* kept, scratch& s) const {
    extent_t lead = 0, count = kb.count;
    if (state ==
        1) {  // leave out the ends that exclude everything; an even number of keys, so that sums keep their order
      while (count - lead > loops::key_grain &&
             classify(origin, t.from, t.count, kb.from + lead, loops::key_grain) == 0)
        lead += loops::key_grain;
      while (count > lead) {
        extent_t const last = lead + (count - lead - 1) / loops::key_grain * loops::key_grain;
        if (last == lead || classify(origin, t.from, t.count, kb.from + last, count - last) != 0) break;
        count = last;
      }
      count -= lead;
    }
    pack_keys(origin, kb, s);
    T* const scores = tiles_of_scores[0];
    for (int i = 0; i < dots; ++i)
      multiply_tile<T>(kb.key[i] + lead * kb.key_row[i], kb.key_row[i], kb.key_step[i], t.query[i], t.padded, count,
                       t.padded, parts[i].depth.size, tiles_of_scores[i], t.padded, start::zero, nullptr, true);
    extent_t const row_bytes = t.padded * static_cast<extent_t>(sizeof(T));
    block const b{origin, &keys, kb.from + lead, count, &lanes, t.from, t.count};
    int const words = t.padded / score->lanes;
    bool const mixed = state == 1;
    bool const score_masked = mixed && score->masked != nullptr;
    if (score_masked || !score_is_plain()) {
      loops::bound slots[max_dots];
      for (int i = 0; i < dots; ++i)
        slots[i] = {reinterpret_cast<char const*>(tiles_of_scores[i]), row_bytes, sizeof(T)};
      run_padded(*score, b, t.padded, slots, reinterpret_cast<char*>(scores), row_bytes, s, score_masked,
                 uses_softmax() || kind == stream_kind::maximum ? -std::numeric_limits<double>::infinity() : 0.0,
                 score_masked ? kept : nullptr);
    }
    if (!score_masked && mixed) std::fill(kept, kept + count * words, ~std::uint64_t{0});
    note_kept(t, mixed ? kept : nullptr, count, words);
    switch (kind) {
      case stream_kind::softmax: softmax_tile<T>(scores, t.padded, count, t.maximum, t.sum, t.rescale); break;
      case stream_kind::log_sum_exp: softmax_tile<T>(scores, t.padded, count, t.maximum, t.sum, t.rescale); return;
      case stream_kind::maximum: max_tile<T>(scores, t.padded, count, t.maximum); return;
      case stream_kind::sum:
      case stream_kind::mean: sum_tile<T>(scores, t.padded, count, t.sum); return;
      default: break;
    }
    if (weight && (!weight->identity || (mixed && weight->masked))) {
      loops::bound slots[max_dots] = {{reinterpret_cast<char const*>(scores), row_bytes, sizeof(T)}};
      bool const weight_masked = mixed && weight->masked != nullptr;
      std::uint64_t* own = weight_masked ? s.take_as<std::uint64_t>(count * words) : nullptr;
      run_padded(*weight, b, t.padded, slots, reinterpret_cast<char*>(scores), row_bytes, s, weight_masked, 0, own);
      if (weight_masked)
        for (extent_t i = 0; i < count * words; ++i) kept[i] &= own[i];
    }
    if (values.size > 0) {
      if (mixed) clean_values(kb, s);
      bool const clean = mixed && kb.clean;
      T const* v = clean ? kb.clean : kb.value;
      extent_t const v_row = clean ? value_row() : kb.value_row;
      start const how = !t.started ? start::zero : kind == stream_kind::softmax ? start::rescale : start::add;
      multiply_tile<T>(scores, 1, t.padded, v + lead * v_row, v_row, t.count, values.size, count, t.context,
                       value_row(), how, t.rescale, clean ? false : kb.value_padded);
      if (clean) add_live_rest(kb, lead, count, t, scores, kept, words);
      t.started = true;
    }
  }
  void note_kept(tile_state& t, std::uint64_t const* kept, extent_t count, int words) const {
    int const per_word = score->lanes;
    if (!kept) {
      for (auto& w : t.kept_any) w = ~std::uint64_t{0};
      if (kind == stream_kind::mean)
        for (int l = 0; l < t.padded; ++l) t.kept_count[l] += static_cast<T>(count);
      return;
    }
    for (extent_t k = 0; k < count; ++k)
      for (int w = 0; w < words; ++w) {
        int const bit = w * per_word;
        t.kept_any[bit / 64] |= kept[k * words + w] << (bit % 64);
      }
    if (kind == stream_kind::mean)
      for (extent_t k = 0; k < count; ++k)
        for (int l = 0; l < t.padded; ++l)
          t.kept_count[l] += static_cast<T>(kept[k * words + l / per_word] >> (l % per_word) & 1);
  }

  void finish(extent_t const* origin, tile_state& t, scratch& s) const {
    char* const mark = s.next;
    T* extra = nullptr;
    if (sink) {
      extra = s.take_as<T>(t.padded + 64);
      block b{origin, &single, 0, 1, &lanes, t.from, t.count};
      run_padded(*sink, b, t.padded, nullptr, reinterpret_cast<char*>(extra), 0, s, false, 0, nullptr);
    }
    T* result = s.take_as<T>(t.padded + 64);  // one value a lane: a factor for the context, or the value itself
    for (int l = 0; l < t.padded; ++l) {
      bool const kept = (t.kept_any[l / 64] >> (l % 64) & 1) != 0;
      T m = t.maximum[l], sum = t.sum[l], before = T(1);
      if (uses_softmax()) {
        if (extra) {
          T const e = extra[l];
          T const joint = !kept || !(m >= e) ? (kept && m != m ? m : e) : m;
          T const shift = joint == -infinity<T> ? T(0) : joint;
          before = kept ? static_cast<T>(std::exp(m - shift)) : T(0);
          if (kept && m == -infinity<T>) before = T(0);
          sum = (kept ? sum * before : T(0)) + static_cast<T>(std::exp(e - shift));
          m = joint;
        }
        bool const nothing = kept && m == -infinity<T> && sum == T(0);  // live scores, all of them -infinity
        T const log_sum = !kept && !extra     ? -infinity<T>
                          : m == -infinity<T> ? (sum == sum ? m : sum)
                                              : m + static_cast<T>(std::log(sum));
        if (lse.data) {
          if (l < t.count) {
            extent_t coordinates[loops::max_rank];
            std::copy(origin, origin + loops::max_rank, coordinates);
            lanes.locate(t.from + l, coordinates);
            static_cast<T*>(lse.data)[offset_at(coordinates, lse.stride)] = log_sum;
          }
        }
        if (kind == stream_kind::log_sum_exp)
          result[l] = log_sum;
        else
          result[l] = !kept     ? T(0)
                      : nothing ? std::numeric_limits<T>::quiet_NaN()
                                : before / sum * static_cast<T>(output_scale);
      } else if (kind == stream_kind::maximum)
        result[l] = m;
      else if (kind == stream_kind::sum)
        result[l] = sum * static_cast<T>(output_scale);
      else if (kind == stream_kind::mean)
        result[l] = t.kept_count[l] > 0 ? sum / t.kept_count[l] * static_cast<T>(output_scale) : T(0);
      else
        result[l] = static_cast<T>(output_scale);
    }
    loops::bound slots[4] = {};
    if (has_values()) {
      extent_t const row = value_row();
      for (extent_t l = 0; l < t.count; ++l) {
        T* c = t.context + l * row;
        if (!t.started || !(t.kept_any[l / 64] >> (l % 64) & 1))
          std::fill(c, c + values.size, T(0));
        else if (result[l] != T(1))
          row_scale_all(c, (values.size + width<T> - 1) / width<T> * width<T>, result[l]);
      }
      slots[0] = {reinterpret_cast<char const*>(t.context), row * static_cast<extent_t>(sizeof(T)), sizeof(T)};
      block b{origin, &lanes, t.from, t.count, &values, 0, values.size};
      run_block(*epilogue, b, slots, target, s, masked, fill);
    } else {
      slots[0] = {reinterpret_cast<char const*>(result), 0, sizeof(T)};
      block b{origin, &single, 0, 1, &lanes, t.from, t.count};
      run_block(*epilogue, b, slots, target, s, masked, fill);
    }
    s.next = mark;
  }

  /// Tiles first .. last of one batch element, all of them against each block of keys in turn.
  void run_tiles(extent_t const* origin, extent_t first, extent_t last, scratch& s) const {
    tile_state state[4];
    extent_t const row = value_row();
    for (extent_t i = first; i < last; ++i) {
      tile_state& t = state[i - first];
      t.from = tile_from(i);
      t.count = std::min(lanes.size, tile_from(i + 1)) - t.from;
      t.padded = static_cast<int>((t.count + width<T> - 1) / width<T> * width<T>);
      for (int d = 0; d < dots; ++d) t.query[d] = s.take_as<T>(t.padded * std::max<extent_t>(parts[d].depth.size, 1));
      t.context = s.take_as<T>(t.count * row);
      t.maximum = s.take_as<T>(t.padded * 4);
      t.sum = t.maximum + t.padded;
      t.rescale = t.sum + t.padded;
      t.kept_count = t.rescale + t.padded;
      std::fill(t.maximum, t.maximum + t.padded, -infinity<T>);
      std::fill(t.sum, t.sum + t.padded * 3, T(0));
      pack_queries(origin, t, s);
    }
    T* scores[max_dots];
    extent_t const size = block_size();
    for (int d = 0; d < std::max(dots, 1); ++d) scores[d] = s.take_as<T>(size * lane_tile<T>);
    auto* kept = s.take_as<std::uint64_t>(size * (lane_tile<T> / score->lanes + 1));
    extent_t const lane_from = state[0].from,
                   lane_count = state[last - first - 1].from + state[last - first - 1].count - lane_from;
    extent_t const blocks = (keys.size + size - 1) / size;
    if (keys.size > 0)
      walk(origin, 0, blocks, lane_from, lane_count, 1, state, static_cast<int>(last - first), scores, kept, s);
    for (extent_t i = 0; i < last - first; ++i) finish(origin, state[i], s);
  }
  /// Blocks low .. high, bisected: the cost of skipping follows what is kept. known: 1 not classified yet, 2 all kept.
  void walk(extent_t const* origin, extent_t low, extent_t high, extent_t lane_from, extent_t lane_count, int known,
            tile_state* state, int count, T* const* scores, std::uint64_t* kept, scratch& s) const {
    extent_t const size = block_size(), from = low * size, n = std::min(keys.size, high * size) - from;
    if (known == 1) {
      known = classify(origin, lane_from, lane_count, from, n);
      if (known == 0) return;
    }
    if (high - low > 1) {
      extent_t const middle = low + (high - low) / 2;
      walk(origin, low, middle, lane_from, lane_count, known, state, count, scores, kept, s);
      walk(origin, middle, high, lane_from, lane_count, known, state, count, scores, kept, s);
      return;
    }
    char* const mark = s.next;
    key_block kb;
    kb.from = from;
    kb.count = n;
    for (int i = 0; i < count; ++i) {
      int const own = known == 2 ? 2 : count == 1 ? known : classify(origin, state[i].from, state[i].count, from, n);
      if (own != 0) step(origin, kb, state[i], own, scores, kept, s);
    }
    s.next = mark;
  }

  void run(int threads, char* memory, std::size_t per_thread) const {
    if (batch.size == 0 || lanes.size == 0 || (has_values() && values.size == 0 && !lse.data)) return;
    extent_t const at_once = tiles_at_once(threads), groups = (tiles() + at_once - 1) / at_once;
    double const work_size = static_cast<double>(batch.size) * static_cast<double>(lanes.size) *
                             static_cast<double>(keys.size) * static_cast<double>(depth_total() + values.size + 1);
    run_team(work_size < 40000 ? 1 : threads, [&](team& t) {
      t.share(batch.size * groups, [&](extent_t job) {
        scratch s(memory + static_cast<std::size_t>(t.thread) * per_thread, per_thread);
        extent_t origin[loops::max_rank] = {};
        batch.locate(job / groups, origin);
        extent_t const g = groups - 1 - job % groups;  // the last queries first: causal ones have most to do
        run_tiles(origin, g * at_once, std::min(tiles(), (g + 1) * at_once), s);
      });
    });
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
