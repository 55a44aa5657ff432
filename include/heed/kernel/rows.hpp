// SPDX-License-Identifier: BSL-1.0
// In: a tree over rows [outer, rows, lanes], what to do with a row, an epilogue. Out: one value a row (sum, mean, max,
// variance, log-sum-exp, argmax) or the row changed (softmax, norm, running sum), through the epilogue into the target.
// Next to read: contract.hpp, products of whole matrices.
//
// 1. evaluate a few rows of the tree into a tile in the cache; excluded elements get a neutral value
// 2. reduce or change each row of the tile, vector by vector
// 3. epilogue over the tile (or over one value a row), stored in the target
#pragma once

#include "map.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

enum class row_kind { softmax, log_sum_exp, sum, mean, maximum, variance, argmax, cumulative_sum, standardised };

/// A row in a tile and which of its elements are kept (null: all).
template <class T> struct row_view {
  T* data;
  extent_t size;
  std::uint64_t const* kept;
  int word_lanes;  // elements a word of kept
  bool is_kept(extent_t i) const { return !kept || (kept[i / word_lanes] >> (i % word_lanes) & 1) != 0; }
  extent_t count() const {
    if (!kept) return size;
    extent_t n = 0;
    for (extent_t i = 0; i < size; i += word_lanes) {
      std::uint64_t w = kept[i / word_lanes];
      if (size - i < word_lanes) w &= (std::uint64_t{1} << (size - i)) - 1;
      n += __builtin_popcountll(w);
    }
    return n;
  }
};

/// Folds f over whole vectors in four chains, then over the rest: one order for every length.
template <class T, class F> T fold_sum(T const* p, extent_t n, F&& f) {
  constexpr int w = width<T>;
  vector<T> a = zero<T>(), b = zero<T>(), c = zero<T>(), d = zero<T>();
  extent_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) {
    a = a + f(load(p + i));
    b = b + f(load(p + i + w));
    c = c + f(load(p + i + 2 * w));
    d = d + f(load(p + i + 3 * w));
  }
  for (; i + w <= n; i += w) a = a + f(load(p + i));
  if (i < n) {  // partial vectors hold zeros behind the end: mask what f makes of them
    alignas(64) T rest[w] = {};
    store(rest, f(load_partial(p + i, static_cast<int>(n - i))));
    b = b + load_partial(rest, static_cast<int>(n - i));
  }
  return reduce_add((a + b) + (c + d));
}
template <class T> T row_max(T const* p, extent_t n) {
  if constexpr (std::is_integral_v<T>) {
    T m = std::numeric_limits<T>::min();
    for (extent_t i = 0; i < n; ++i) m = std::max(m, p[i]);
    return m;
  } else {
    constexpr int w = width<T>;
    vector<T> a = broadcast(-infinity<T>), b = a;
    extent_t i = 0;
    for (; i + 2 * w <= n; i += 2 * w) {
      a = max_propagating_nan(load(p + i), a);
      b = max_propagating_nan(load(p + i + w), b);
    }
    for (; i + w <= n; i += w) a = max_propagating_nan(load(p + i), a);
    a = max_propagating_nan(a, b);
    alignas(64) T lanes[w];
    store(lanes, a);
    T m = -infinity<T>;
    for (int l = 0; l < w; ++l) m = lanes[l] != lanes[l] ? lanes[l] : m != m ? m : std::max(m, lanes[l]);
    for (; i < n; ++i) m = p[i] != p[i] ? p[i] : m != m ? m : std::max(m, p[i]);
    return m;
  }
}
template <class T> T row_sum(T const* p, extent_t n) {
  if constexpr (std::is_integral_v<T>) {
    std::uint64_t s = 0;
    for (extent_t i = 0; i < n; ++i) s += static_cast<std::uint64_t>(p[i]);
    return static_cast<T>(s);
  } else
    return fold_sum(p, n, [](vector<T> x) { return x; });
}
/// exp(x - m) in place; returns the sum. Excluded elements are -infinity and become 0.
template <class T> T row_exponentials(T* p, extent_t n, T m) {
  constexpr int w = width<T>;
  vector<T> const shift = broadcast(m), base = broadcast(log2_e<T>);
  vector<T> even = zero<T>(), odd = zero<T>();
  extent_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) {
    vector<T> a = exp2_flushed((load(p + i) - shift) * base), b = exp2_flushed((load(p + i + w) - shift) * base);
    store(p + i, a);
    store(p + i + w, b);
    even = even + a;
    odd = odd + b;
  }
  for (; i < n; i += w) {
    int const part = static_cast<int>(std::min<extent_t>(w, n - i));
    alignas(64) T rest[w] = {};
    store(rest, exp2_flushed((load_partial(p + i, part) - shift) * base));
    store_partial(p + i, load(rest), part);
    even = even + load_partial(rest, part);
  }
  return reduce_add(even + odd);
}
template <class T> void row_scale(T* p, extent_t n, T factor) {
  constexpr int w = width<T>;
  extent_t i = 0;
  for (; i + w <= n; i += w) store(p + i, load(p + i) * broadcast(factor));
  if (i < n)
    store_partial(p + i, load_partial(p + i, static_cast<int>(n - i)) * broadcast(factor), static_cast<int>(n - i));
}
/// sum of (x - m)^2 over kept elements.
template <class T> T row_squares(row_view<T> const& r, T m) {
  if (!r.kept) return fold_sum(r.data, r.size, [m](vector<T> x) { return (x - broadcast(m)) * (x - broadcast(m)); });
  T s = 0;
  for (extent_t i = 0; i < r.size; ++i)
    if (r.is_kept(i)) s += (r.data[i] - m) * (r.data[i] - m);
  return s;
}

template <class T> struct row_stage {
  row_kind kind = row_kind::sum;
  bool centred = true;
  double eps = 0;
  loops::program const* tree = nullptr;      // values over outer, rows, lanes
  loops::program const* sink = nullptr;      // over outer, rows
  loops::program const* epilogue = nullptr;  // slot 0: the rows, or one value a row
  loops::target target;
  loops::group outer, rows, lanes;
  bool tree_masked = false;
  bool masked = false;  // the epilogue excludes
  double fill = 0;

  bool keeps_rows() const {
    return kind == row_kind::softmax || kind == row_kind::cumulative_sum || kind == row_kind::standardised;
  }
  extent_t padded() const { return (std::max<extent_t>(lanes.size, 1) + tree->lanes - 1) / tree->lanes * tree->lanes; }
  extent_t row_chunk() const {
    return std::max<extent_t>(1, std::min<extent_t>({rows.size, loops::block_elements / padded(), 64}));
  }
  std::size_t scratch_bytes() const {
    extent_t const r = row_chunk();
    std::size_t bytes =
        static_cast<std::size_t>(r * padded()) * (sizeof(T) + 1) + 8192 + static_cast<std::size_t>(r) * 8 * 64;
    bytes += static_cast<std::size_t>(r * (padded() / tree->lanes)) * 8;
    bytes += block_scratch(*tree, r, padded());
    if (sink) bytes += block_scratch(*sink, r, 1);
    return bytes + block_scratch(*epilogue, r, std::max(padded(), r));
  }
  double neutral() const {
    switch (kind) {
      case row_kind::softmax:
      case row_kind::log_sum_exp:
      case row_kind::maximum:
      case row_kind::argmax: return -std::numeric_limits<double>::infinity();
      default: return 0;
    }
  }

  std::int64_t row_argmax(row_view<T> const& r) const {
    std::int64_t best = -1;
    for (extent_t i = 0; i < r.size; ++i) {
      if (!r.is_kept(i)) continue;
      if (best < 0 || r.data[i] > r.data[best]) {
        if (best >= 0 && r.data[best] != r.data[best]) break;
        best = i;
      } else if (r.data[i] != r.data[i] && r.data[best] == r.data[best])
        best = i;
    }
    return best;
  }
  /// The value of a row, or the row changed in place.
  T reduce_row(row_view<T> r, [[maybe_unused]] T extra) const {
    extent_t const n = r.size;
    switch (kind) {
      case row_kind::sum: return row_sum(r.data, n);
      case row_kind::maximum:
        if constexpr (std::is_integral_v<T>) {
          T m = std::numeric_limits<T>::min();
          for (extent_t i = 0; i < n; ++i)
            if (r.is_kept(i)) m = std::max(m, r.data[i]);
          return m;
        } else
          return row_max(r.data, n);
      case row_kind::cumulative_sum: {
        using W = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
        T s = 0;
        for (extent_t i = 0; i < n; ++i) r.data[i] = s = static_cast<T>(static_cast<W>(s) + static_cast<W>(r.data[i]));
        return s;
      }
      default: break;
    }
    if constexpr (!std::is_integral_v<T>) {
      extent_t const count = r.count();
      switch (kind) {
        case row_kind::mean: return count ? row_sum(r.data, n) / static_cast<T>(count) : T(0);
        case row_kind::variance: {
          if (count == 0) return T(0);
          T const m = row_sum(r.data, n) / static_cast<T>(count);
          return row_squares(r, m) / static_cast<T>(count);
        }
        case row_kind::standardised: {
          if (count == 0) return T(0);
          T const m = centred ? row_sum(r.data, n) / static_cast<T>(count) : T(0);
          T const scale = T(1) / std::sqrt(row_squares(r, m) / static_cast<T>(count) + static_cast<T>(eps));
          constexpr int w = width<T>;
          extent_t i = 0;
          for (; i + w <= n; i += w) store(r.data + i, (load(r.data + i) - broadcast(m)) * broadcast(scale));
          for (; i < n; ++i) r.data[i] = (r.data[i] - m) * scale;
          return scale;
        }
        case row_kind::softmax:
        case row_kind::log_sum_exp: {
          bool const empty = count == 0 && !sink;
          if (empty) {
            std::fill(r.data, r.data + n, T(0));
            return -infinity<T>;
          }
          T m = count ? row_max(r.data, n) : -infinity<T>;
          if (sink && !(m >= extra)) m = m != m ? m : extra;
          if (count == 0) {
            std::fill(r.data, r.data + n, T(0));
            return m;
          }
          if (m == -infinity<T> && kind == row_kind::log_sum_exp) return m;
          T l = row_exponentials(r.data, n, m);
          if (sink) l += static_cast<T>(std::exp(extra - m));
          if (kind == row_kind::log_sum_exp) return m + std::log(l);
          row_scale(r.data, n, T(1) / l);
          if (l != l && r.kept)  // NaN stays among those that are kept
            for (extent_t i = 0; i < n; ++i)
              if (!r.is_kept(i)) r.data[i] = 0;
          return T(0);
        }
        default: break;
      }
    }
    return T(0);
  }

  extent_t chunks() const { return (rows.size + row_chunk() - 1) / row_chunk(); }
  extent_t blocks() const { return keeps_rows() && lanes.size == 0 ? 0 : outer.size * chunks(); }
  // several short rows make one job
  extent_t bundle() const { return std::max<extent_t>(1, 4096 / std::max<extent_t>(1, row_chunk() * padded())); }
  int threads(int most) const { return blocks() <= bundle() ? 1 : most; }

  void run(team& t, char* memory, std::size_t per_thread) const {
    extent_t const all = blocks(), together = bundle(), step = row_chunk(), count = chunks();
    if (all == 0) return;
    t.share((all + together - 1) / together, [&](extent_t job) {
      for (extent_t j = job * together; j < std::min(all, (job + 1) * together); ++j) {
        scratch s(memory + static_cast<std::size_t>(t.thread) * per_thread, per_thread);
        extent_t coordinates[loops::max_rank] = {};
        outer.locate(j / count, coordinates);
        extent_t const from = j % count * step;
        run_rows(coordinates, from, std::min(step, rows.size - from), s);
      }
    });
  }

  void run_rows(extent_t const* origin, extent_t from, extent_t count, scratch& s) const {
    extent_t const width_padded = padded();
    int const words = static_cast<int>(width_padded / tree->lanes);
    T* tile = s.take_as<T>(count * width_padded);
    std::uint64_t* kept = tree_masked ? s.take_as<std::uint64_t>(count * words) : nullptr;
    block b{origin, &rows, from, count, &lanes, 0, lanes.size};
    if (lanes.size > 0)
      run_padded(*tree, b, width_padded, nullptr, reinterpret_cast<char*>(tile),
                 width_padded * static_cast<extent_t>(sizeof(T)), s, tree_masked, neutral(), kept);
    T* extras = nullptr;
    extent_t extra_row = 0;
    if (sink) {
      extra_row = sink->lanes;
      extras = s.take_as<T>(count * extra_row);
      block sb{origin, &rows, from, count, &single, 0, 1};
      run_padded(*sink, sb, sink->lanes, nullptr, reinterpret_cast<char*>(extras),
                 extra_row * static_cast<extent_t>(sizeof(T)), s, false, 0, nullptr);
    }
    extent_t const values = (count + 63) / 64 * 64 + 64;
    T* results = s.take_as<T>(values);
    auto* places = s.take_as<std::int64_t>(values);
    for (extent_t i = 0; i < count; ++i) {
      row_view<T> r{tile + i * width_padded, lanes.size, kept ? kept + i * words : nullptr, tree->lanes};
      if (kind == row_kind::argmax)
        places[i] = row_argmax(r);
      else
        results[i] = reduce_row(r, extras ? extras[i * extra_row] : T(0));
    }
    loops::bound slots[4] = {};
    if (keeps_rows()) {
      slots[0] = {reinterpret_cast<char const*>(tile), width_padded * static_cast<extent_t>(sizeof(T)), sizeof(T)};
      run_block(*epilogue, b, slots, target, s, masked, fill);
    } else {
      if (kind == row_kind::argmax)
        slots[0] = {reinterpret_cast<char const*>(places), 0, 8};
      else
        slots[0] = {reinterpret_cast<char const*>(results), 0, sizeof(T)};
      block out{origin, &single, 0, 1, &rows, from, count};
      run_block(*epilogue, out, slots, target, s, masked, fill);
    }
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
