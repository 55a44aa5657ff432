// SPDX-License-Identifier: BSL-1.0
// In: a tile of lanes that has met all its keys, or one part of them. Out: its context or result in the target, its
// log-sum-exp where wanted; parts of the keys are summed up first, in one order.
// Next to read: stream_block.hpp, the way there.
#pragma once

#include "functions.hpp"
#include "stream_keys.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

template <class T> struct stream_end {
  using state = lane_state<T>;
  streamed<T> const& stage;
  places<T> const& at;

  /// Where the context of a tile goes that has one block of keys and nothing to do afterwards; null for all others.
  T* final_place(extent_t const* origin, state const& t, extent_t& row) const {
    if (!at.direct || stage.keys.size > stage.block_size() || !at.target.runs(t.from, t.count, row)) return nullptr;
    return static_cast<T*>(stage.target.data) + offset_in(stage.batch, origin, stage.target.stride) +
           at.target.offset(t.from);
  }

  /// Whether a lane's context has any value in it.
  bool meets(state const& t, int lane) const { return stage.weights_exclude() ? t.meets(lane) : t.keeps(lane); }

  /// What a part found, added to what the parts before it found.
  [[gnu::noinline]] void merge(state& into, state& part) const {
    for (int l = 0; l < into.padded; l += 64) {
      into.kept_any[l / 64] |= part.kept_any[l / 64];
      into.met_any[l / 64] |= part.met_any[l / 64];
    }
    for (int l = 0; l < into.padded; l += width<T>) {
      vector<T> const a = load(into.maximum + l), b = load(part.maximum + l);
      vector<T> factor_a = broadcast(T(1)), factor_b = factor_a;
      if (stage.uses_softmax()) {
        vector<T> const largest = max(a, b);
        auto const now = detail::fold_of<T>(largest);
        factor_a = detail::moved<T>(a, now);
        factor_b = detail::moved<T>(b, now);
        store(into.maximum + l, largest);
      } else {
        store(into.maximum + l, max_propagating_nan(a, b));
      }
      store(into.sum + l, fma(load(part.sum + l), factor_b, load(into.sum + l) * factor_a));
      store(into.kept_count + l, load(into.kept_count + l) + load(part.kept_count + l));
      store(into.rescale + l, factor_a);
      store(part.rescale + l, factor_b);
    }
    if (!stage.has_values() || !part.started) return;
    extent_t const row = stage.value_row();
    for (extent_t l = 0; l < into.count; ++l) {
      T *a = into.context + l * row, *b = part.context + l * row;
      vector<T> const factor_a = broadcast(into.rescale[l]), factor_b = broadcast(part.rescale[l]);
      for (extent_t c = 0; c < up(stage.values.size, width<T>); c += width<T>) {
        vector<T> const before = into.started ? load(a + c) * factor_a : zero<T>();
        store(a + c, fma(load(b + c), factor_b, before));
      }
    }
    into.started = true;
  }

  /// The factor that each lane's context still needs, or the lane's result where there is no context; stores its
  /// log-sum-exp. May write over t.rescale.
  [[gnu::noinline]] void conclude(extent_t const* origin, state const& t, T* result, scratch& s) const {
    if (!stage.uses_softmax()) {
      for (int l = 0; l < t.padded; ++l) {
        T const scale = static_cast<T>(stage.output_scale);
        switch (stage.kind) {
          case stream_kind::maximum: result[l] = t.maximum[l]; break;
          case stream_kind::sum: result[l] = t.sum[l] * scale; break;
          case stream_kind::mean: result[l] = t.kept_count[l] > 0 ? t.sum[l] / t.kept_count[l] * scale : T(0); break;
          default: result[l] = scale;
        }
      }
      return;
    }
    char* const mark = s.next;
    bool const wants_log = stage.lse.data || stage.kind == stream_kind::log_sum_exp;
    T* const log_sum = wants_log ? s.take_as<T>(t.padded) : nullptr;
    if (!stage.sink && t.all_of(t.kept_any) && (!stage.weights_exclude() || t.all_of(t.met_any)) && !may_drop_all(t)) {
      for (int l = 0; l < t.padded; l += width<T>) {
        // live scores that are all -infinity have the sum 0 and the context 0: their quotient is NaN, as it should be
        store(result + l, broadcast(static_cast<T>(stage.output_scale)) / load(t.sum + l));
        if (!wants_log) continue;
        vector<T> const log = kernel::log(load<T, width<T>>(t.sum + l)).v[0];
        vector<T> const residue = softmax_residue<T>(t.maximum + l);
        store(log_sum + l, load(t.maximum + l) + fma(residue, broadcast(-ln_2<T>), log));
      }
    } else {
      conclude_lanes(origin, t, result, log_sum, s);
    }
    if (stage.lse.data) {
      T* const out = static_cast<T*>(stage.lse.data) + offset_in(stage.batch, origin, stage.lse.stride);
      for (extent_t l = 0; l < t.count; ++l) out[stage.lanes.offset(t.from + l, stage.lse.stride)] = log_sum[l];
    }
    if (stage.kind == stream_kind::log_sum_exp) std::copy(log_sum, log_sum + t.padded, result);
    s.next = mark;
  }
  /// The same a lane at a time: with a sink, or with lanes that kept nothing.
  [[gnu::noinline, gnu::cold]] void conclude_lanes(extent_t const* origin, state const& t, T* result, T* log_sum,
                                                   scratch& s) const {
    T* sink = nullptr;
    if (stage.sink) {
      sink = s.take_as<T>(t.padded + 64);
      block b{origin, &single, 0, 1, &stage.lanes, t.from, t.count};
      run_padded(*stage.sink, b, t.padded, nullptr, reinterpret_cast<char*>(sink), 0, s, false, 0, nullptr);
    }
    std::uint64_t living[lane_tile<T> / 64 + 1];
    bool const some_drop_all = may_drop_all(t);
    if (some_drop_all) note_living(origin, t, living, s);
    T* residue = s.take_as<T>(t.padded);
    for (int l = 0; l < t.padded; l += width<T>) store(residue + l, softmax_residue<T>(t.maximum + l));
    for (int l = 0; l < t.padded; ++l) {
      bool const kept = t.keeps(l);
      // weights carry 2^residue, so the sum does, and so will the context
      T m = t.maximum[l], before = static_cast<T>(std::exp2(-residue[l])), sum = t.sum[l] * before;
      if (sink) {
        T const e = sink[l];
        T const joint = !kept || !(m >= e) ? (kept && m != m ? m : e) : m;
        T const shift = joint == -infinity<T> ? T(0) : joint;
        T const moved = kept && m != -infinity<T> ? static_cast<T>(std::exp(m - shift)) : T(0);
        sum = (kept ? sum * moved : T(0)) + static_cast<T>(std::exp(e - shift));
        before *= moved;
        m = joint;
      }
      bool const nothing = kept && m == -infinity<T> && sum == T(0);  // live scores, all of them -infinity
      if (log_sum)
        log_sum[l] = !kept && !sink      ? -infinity<T>
                     : m == -infinity<T> ? (sum == sum ? m : sum)
                                         : m + static_cast<T>(std::log(sum));
      bool const dropped = some_drop_all && (nothing || sum != sum) && (living[l / 64] >> (l % 64) & 1) == 0;
      result[l] = !meets(t, l) ? T(0)
                  : dropped    ? T(1)  // the context is all zeros
                  : nothing    ? std::numeric_limits<T>::quiet_NaN()
                               : before / sum * static_cast<T>(stage.output_scale);
    }
  }

  /// Whether some lane's softmax may be NaN where its weights, all dropped, are zeros.
  bool may_drop_all(state const& t) const {
    if (stage.kind != stream_kind::softmax || !stage.weight || stage.weight->identity) return false;
    for (extent_t l = 0; l < t.count; ++l)
      if (!(t.sum[l] > T(0))) return true;
    return false;
  }
  /// A bit for each lane: a NaN in the place of the softmax reaches some weight. Asked of all keys again, a few at a time.
  [[gnu::noinline, gnu::cold]] void note_living(extent_t const* origin, state const& t, std::uint64_t* living,
                                                scratch& s) const {
    constexpr extent_t some = loops::key_grain;
    char* const mark = s.next;
    extent_t const row_bytes = t.padded * static_cast<extent_t>(sizeof(T));
    int const per_word = stage.score->lanes, words = t.padded / per_word;
    T* const tile = s.take_as<T>(some * t.padded);
    std::uint64_t* const kept[2] = {s.take_as<std::uint64_t>(some * words), s.take_as<std::uint64_t>(some * words)};
    loops::bound slots[max_dots];
    for (auto& slot : slots) slot = {reinterpret_cast<char const*>(tile), row_bytes, sizeof(T)};
    std::fill(living, living + lane_tile<T> / 64 + 1, std::uint64_t{0});
    for (extent_t from = 0; from < stage.keys.size; from += some) {
      block const b{origin, &stage.keys, from, std::min(some, stage.keys.size - from), &stage.lanes, t.from, t.count};
      auto run = [&](loops::program const& p, std::uint64_t* keeps) {
        std::fill(keeps, keeps + some * words, ~std::uint64_t{0});
        std::fill(tile, tile + some * t.padded, std::numeric_limits<T>::quiet_NaN());
        run_padded(p, b, t.padded, slots, reinterpret_cast<char*>(tile), row_bytes, s, p.masked != nullptr, 0.0,
                   p.masked ? keeps : nullptr);
      };
      run(*stage.score, kept[0]);
      run(*stage.weight, kept[1]);
      for (extent_t k = 0; k < b.row_count; ++k)
        for (extent_t l = 0; l < t.count; ++l) {
          extent_t const word = k * words + l / per_word;
          bool const lives =
              (kept[0][word] & kept[1][word]) >> (l % per_word) & 1 && tile[k * t.padded + l] != tile[k * t.padded + l];
          living[l / 64] |= std::uint64_t{lives} << (l % 64);
        }
    }
    s.next = mark;
  }

  [[gnu::noinline]] void finish(extent_t const* origin, state& t, scratch& s) const {
    if (t.stored) return;
    char* const mark = s.next;
    T* result = s.take_as<T>(t.padded + 64);
    conclude(origin, t, result, s);
    loops::bound slots[4] = {};
    if (!stage.has_values()) {
      slots[0] = {reinterpret_cast<char const*>(result), 0, sizeof(T)};
      block b{origin, &single, 0, 1, &stage.lanes, t.from, t.count};
      run_block(*stage.epilogue, b, slots, stage.target, s, stage.masked, stage.fill);
      s.next = mark;
      return;
    }
    extent_t const row = stage.value_row(), n = stage.values.size;
    extent_t apart = 0;
    bool const runs = at.direct && at.target.runs(t.from, t.count, apart);
    T* const target =
        at.direct ? static_cast<T*>(stage.target.data) + offset_in(stage.batch, origin, stage.target.stride) : nullptr;
    T* const first = runs ? target + at.target.offset(t.from) : nullptr;
    for (extent_t l = 0; l < t.count; ++l) {
      T* const c = t.context + l * row;
      T* const out = !at.direct ? c : runs ? first + l * apart : target + at.target.offset(t.from + l);
      if (!t.started || !meets(t, static_cast<int>(l))) {
        std::fill(out, out + n, T(0));
        continue;
      }
      vector<T> const factor = broadcast(result[l]);
      extent_t i = 0;
      for (; i + width<T> <= n; i += width<T>) store(out + i, load(c + i) * factor);
      if (i < n) store_partial(out + i, load(c + i) * factor, static_cast<int>(n - i));
    }
    if (!at.direct) {
      slots[0] = {reinterpret_cast<char const*>(t.context), row * static_cast<extent_t>(sizeof(T)), sizeof(T)};
      block b{origin, &stage.lanes, t.from, t.count, &stage.values, 0, n};
      run_block(*stage.epilogue, b, slots, stage.target, s, stage.masked, stage.fill);
    }
    s.next = mark;
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
