// SPDX-License-Identifier: BSL-1.0
// In: a program, a block (rows x lanes of a stage's axes), a target. Out: the tree's values stored there. Operands whose
// lanes lie side by side are read in place; others are packed into scratch first, splat where they do not vary.
// Next to read: map.hpp, blocks over a whole tensor.
#pragma once

#include "../loops.hpp"
#include "rearrange.hpp"
#include "simd.hpp"

#include <algorithm>
#include <cstring>

namespace heed::kernel {
namespace loops = heed::detail::loops;
inline namespace HEED_ARCH {

/// A thread's memory, taken from the front and given back all at once.
struct scratch {
  char* begin = nullptr;
  char* end = nullptr;
  char* next = nullptr;
  scratch(void* memory, std::size_t bytes) : begin(static_cast<char*>(memory)), end(begin + bytes), next(begin) {}
  char* take(std::size_t bytes) {
    char* p = next;
    next += (bytes + 63) / 64 * 64;
    if (next > end) throw std::bad_alloc();  // a stage announced too little: a fault of its size function
    return p;
  }
  template <class T> T* take_as(extent_t count) {
    return reinterpret_cast<T*>(take(static_cast<std::size_t>(count) * sizeof(T)));
  }
};

/// rows x lanes elements of a stage, at the coordinates of `origin` along all other axes.
struct block {
  extent_t const* origin = nullptr;
  loops::group const* rows = nullptr;
  extent_t row_from = 0, row_count = 1;
  loops::group const* lanes = nullptr;
  extent_t lane_from = 0, lane_count = 1;
};

inline constexpr loops::group single{};  // a group without axes: one element

inline extent_t offset_at(extent_t const* coordinates, extent_t const* stride) {
  extent_t o = 0;
  for (int a = 0; a < loops::max_rank; ++a) o += coordinates[a] * stride[a];
  return o;
}

/// Copies count elements of Size bytes, `stride` elements apart.
template <int Size> void gather_run(char* out, char const* in, extent_t stride, extent_t count) {
  if (stride == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(count) * Size);
    return;
  }
  for (extent_t i = 0; i < count; ++i) std::memcpy(out + i * Size, in + i * stride * Size, Size);
}
[[gnu::noinline]] inline void gather_run(int size, char* out, char const* in, extent_t stride, extent_t count) {
  switch (size) {
    case 1: return gather_run<1>(out, in, stride, count);
    case 2: return gather_run<2>(out, in, stride, count);
    case 4: return gather_run<4>(out, in, stride, count);
    default: return gather_run<8>(out, in, stride, count);
  }
}
template <int Size> void scatter_run(char* out, char const* in, extent_t stride, extent_t count) {
  for (extent_t i = 0; i < count; ++i) std::memcpy(out + i * stride * Size, in + i * Size, Size);
}
[[gnu::noinline]] inline void scatter_run(int size, char* out, char const* in, extent_t stride, extent_t count) {
  if (stride == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
    return;
  }
  switch (size) {
    case 1: return scatter_run<1>(out, in, stride, count);
    case 2: return scatter_run<2>(out, in, stride, count);
    case 4: return scatter_run<4>(out, in, stride, count);
    default: return scatter_run<8>(out, in, stride, count);
  }
}
/// Fills p with `count` copies of the element in front.
template <class Bits> void splat_bits(char* p, extent_t count) {
  Bits value;
  std::memcpy(&value, p, sizeof(Bits));
  for (extent_t i = 1; i < count; ++i) std::memcpy(p + i * static_cast<extent_t>(sizeof(Bits)), &value, sizeof(Bits));
}
inline void splat_run(int size, char* p, extent_t count) {
  switch (size) {
    case 1: return splat_bits<std::uint8_t>(p, count);
    case 2: return splat_bits<std::uint16_t>(p, count);
    case 4: return splat_bits<std::uint32_t>(p, count);
    default: return splat_bits<std::uint64_t>(p, count);
  }
}
/// Calls f(first element, how many, coordinates of the first) for each run of the group's last axis in [from, from + count).
template <class F> void for_runs(loops::group const& g, extent_t from, extent_t count, extent_t* coordinates, F&& f) {
  extent_t const run = g.count > 0 ? g.extent[g.count - 1] : 1;
  for (extent_t i = from; i < from + count;) {
    extent_t const n = std::min(from + count - i, run - i % run);
    g.locate(i, coordinates);
    f(i - from, n);
    i += n;
  }
}

/// Packs one row of lanes of an operand into `out`; lanes beyond count up to padded repeat nothing: they are zeroed.
[[gnu::noinline]] inline void pack_row(loops::operand const& o, block const& b, extent_t* coordinates, extent_t padded,
                                       char* out) {
  int const size = o.size;
  loops::group const& g = *b.lanes;
  int const last = g.count > 0 ? g.axis[g.count - 1] : -1;
  for_runs(g, b.lane_from, b.lane_count, coordinates, [&](extent_t at, extent_t n) {
    char* to = out + at * size;
    if (o.index_axis >= 0) {
      std::int64_t const first = coordinates[o.index_axis];
      for (extent_t i = 0; i < n; ++i) {
        std::int64_t const v = o.index_axis == last ? first + i : first;
        std::memcpy(to + i * 8, &v, 8);
      }
    } else if (o.fetch) {
      if (last >= 0 && (o.varies >> last & 1))
        o.fetch(o.node, coordinates, last, n, to);
      else
        o.fetch(o.node, coordinates, -1, 1, to), splat_run(size, to, n);
    } else {
      gather_run(size, to, static_cast<char const*>(o.data) + offset_at(coordinates, o.stride) * size,
                 last >= 0 ? o.stride[last] : 0, n);
    }
  });
  if (padded > b.lane_count)
    std::memset(out + b.lane_count * size, 0, static_cast<std::size_t>((padded - b.lane_count) * size));
}

/// The coordinate along `axis` of elements from .. from + count of a group: first, first + step, ... with a step of 0 or 1,
/// or nothing so simple.
inline bool coordinate_run(loops::group const& g, int axis, extent_t from, extent_t count, extent_t& first,
                           extent_t& step) {
  extent_t inner = 1;
  for (int a = g.count; a-- > 0;) {
    if (g.axis[a] != axis) {
      inner *= g.extent[a];
      continue;
    }
    extent_t const at = from / inner;
    first = at % g.extent[a];
    step = inner == 1 && g.extent[a] > 1 ? 1 : 0;
    return step == 1 ? first + count <= g.extent[a] : (from + count - 1) / inner == at;
  }
  step = 0;  // not an axis of the group: what first was is right
  return true;
}

/// An operand whose lanes lie across its rows in memory: transposed a strip of rows at a time, so that the strip is still in the
/// L1 cache when it is read.
struct turned {
  int operand;
  int size;
  char const* from;
  extent_t lane_step;
  char* strip;  // [strip_rows][padded]
};
inline constexpr extent_t strip_rows = 32;
inline constexpr int most_turned = 8;
struct all_turned {
  turned of[most_turned];
  int count = 0;
  void next_strip(extent_t from, extent_t rows, extent_t lanes, extent_t padded) {
    for (int i = 0; i < count; ++i) {
      turned const& t = of[i];
      char const* const in = t.from + from * t.size;
      if (t.size == 1)
        transpose_bytes(in, t.lane_step, lanes, rows, t.strip, padded);
      else if (t.size == 4)
        transpose_block<float>(reinterpret_cast<float const*>(in), t.lane_step, lanes, rows,
                               reinterpret_cast<float*>(t.strip), padded, padded, 1.0f);
      else
        transpose_block<double>(reinterpret_cast<double const*>(in), t.lane_step, lanes, rows,
                                reinterpret_cast<double*>(t.strip), padded, padded, 1.0);
    }
  }
};

/// The words of dropout for a block: one for each row, or for each lane, as vectors of `lanes` lower and as many upper halves.
[[gnu::noinline]] inline loops::bound bind_words(loops::operand const& o, block const& b, extent_t padded, int lanes,
                                                 scratch& memory) {
  bool const of_rows = o.words_of == loops::words_part::rows;
  loops::group const& g = of_rows ? *b.rows : *b.lanes;
  std::uint32_t const among = of_rows ? ~b.lanes->bits() : b.lanes->bits();
  int const along = g.count > 0 ? g.axis[g.count - 1] : -1;
  extent_t const size = of_rows ? b.row_count : padded;
  auto* const words = memory.take_as<std::uint64_t>(size);
  std::fill(words, words + size, 0);
  extent_t coordinates[loops::max_rank];
  std::copy(b.origin, b.origin + loops::max_rank, coordinates);
  for_runs(g, of_rows ? b.row_from : b.lane_from, of_rows ? b.row_count : b.lane_count, coordinates,
           [&](extent_t at, extent_t n) { o.words(o.node, coordinates, among, along, n, words + at); });
  if (of_rows) return {reinterpret_cast<char const*>(words), 8, 0};

  auto* const halves = memory.take_as<std::uint32_t>(2 * size);
  for (extent_t v = 0; v < size; v += lanes)
    for (extent_t l = v; l < v + lanes; ++l) {
      halves[v + l] = static_cast<std::uint32_t>(words[l]);
      halves[v + l + lanes] = static_cast<std::uint32_t>(words[l] >> 32);
    }
  return {reinterpret_cast<char const*>(halves), 0, 8};
}

/// Where the block finds the operand: in place if it can, in scratch if it must. Coordinates that run evenly are found
/// nowhere: `data` is then the first of them, and the steps from row to row and from lane to lane are 0 or 1.
[[gnu::noinline]] inline loops::bound bind(loops::operand const& o, block const& b, extent_t padded, int lanes,
                                           loops::bound const* slots, scratch& memory, int number, all_turned& across) {
  if (o.slot >= 0) return slots[o.slot];
  if (o.words) return bind_words(o, b, padded, lanes, memory);
  int const size = o.size;
  if (o.splat) {
    char* p = memory.take(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(size));
    std::memcpy(p, o.splat, static_cast<std::size_t>(size));
    splat_run(size, p, lanes);
    return {p, 0, 0};
  }
  if (o.index_axis >= 0 && b.row_count > 0 && b.lane_count > 0) {
    extent_t first = b.origin[o.index_axis], row_step = 0, lane_step = 0;
    if (coordinate_run(*b.rows, o.index_axis, b.row_from, b.row_count, first, row_step) &&
        coordinate_run(*b.lanes, o.index_axis, b.lane_from, b.lane_count, first, lane_step))
      return {reinterpret_cast<char const*>(first), row_step, lane_step};  // NOLINT: a number, and read as one
  }
  bool const by_row = (o.varies & b.rows->bits()) != 0;
  bool const by_lane = (o.varies & b.lanes->bits()) != 0 || o.index_axis >= 0;
  extent_t const rows = by_row ? b.row_count : 1;
  extent_t coordinates[loops::max_rank];
  std::copy(b.origin, b.origin + loops::max_rank, coordinates);
  if (by_lane && !o.fetch && o.index_axis < 0) {
    extent_t lane_step = 0, row_step = 0;
    bool const flat = b.lanes->affine(o.stride, b.lane_from, b.lane_count, lane_step) &&
                      b.rows->affine(o.stride, b.row_from, b.row_count, row_step);
    if (flat) {
      b.rows->locate(b.row_from, coordinates);
      b.lanes->locate(b.lane_from, coordinates);
      char const* base = static_cast<char const*>(o.data) + offset_at(coordinates, o.stride) * size;
      if (lane_step == 1 && b.lane_count == padded) return {base, row_step * size, size};
      if ((o.real || size == 1) && row_step == 1 && rows >= 4 && b.lane_count >= 4 && across.count < most_turned) {
        char* p = memory.take(static_cast<std::size_t>(std::min(rows, strip_rows) * padded * size));
        across.of[across.count++] = {number, size, base, lane_step, p};
        return {p, padded * size, size};
      }
    }
  }
  if (by_lane) {
    char* p = memory.take(static_cast<std::size_t>(rows * padded * size));
    for (extent_t r = 0; r < rows; ++r) {
      b.rows->locate(b.row_from + r, coordinates);
      pack_row(o, b, coordinates, padded, p + r * padded * size);
    }
    return {p, by_row ? padded * size : 0, size};
  }
  char* p =
      memory.take(static_cast<std::size_t>(rows) * static_cast<std::size_t>(lanes) * static_cast<std::size_t>(size));
  b.lanes->locate(b.lane_from, coordinates);
  extent_t row_step = 0;
  bool const even = !o.fetch && b.rows->affine(o.stride, b.row_from, rows, row_step);
  char const* from = nullptr;
  for (extent_t r = 0; r < rows; ++r) {
    char* to = p + r * lanes * size;
    if (r == 0 || !even) {
      b.rows->locate(b.row_from + r, coordinates);
      if (!o.fetch) from = static_cast<char const*>(o.data) + offset_at(coordinates, o.stride) * size;
    } else
      from += row_step * size;
    if (o.fetch)
      o.fetch(o.node, coordinates, -1, 1, to);
    else
      std::memcpy(to, from, static_cast<std::size_t>(size));
    splat_run(size, to, lanes);
  }
  return {p, by_row ? static_cast<extent_t>(lanes) * size : 0, 0};
}

/// Scratch that run_block may take for blocks of at most rows x lanes elements.
inline std::size_t block_scratch(loops::program const& p, extent_t rows, extent_t lanes) {
  std::size_t const padded = static_cast<std::size_t>((lanes + p.lanes - 1) / p.lanes * p.lanes + p.lanes);
  std::size_t const tile = (static_cast<std::size_t>(rows) * padded * 8 + 63) / 64 * 64;
  return static_cast<std::size_t>(p.count + 2) * tile;
}

/// Binds all operands of a program for a block of `padded` lanes.
[[gnu::noinline]] inline void bind_all(loops::program const& p, block const& b, extent_t padded,
                                       loops::bound const* slots, scratch& memory, loops::bound* in,
                                       all_turned& across) {
  for (int i = 0; i < p.count; ++i) in[i] = bind(p.operands[i], b, padded, p.lanes, slots, memory, i, across);
}

/// Evaluates a block into `out`, rows `out_row` bytes apart, padded to whole vectors. Excluded elements get `fill`.
[[gnu::noinline]] inline void run_padded(loops::program const& p, block const& b, extent_t padded,
                                         loops::bound const* slots, char* out, extent_t out_row, scratch& memory,
                                         bool masked, double fill, std::uint64_t* kept) {
  char* const mark = memory.next;
  loops::bound in[loops::max_operands];
  all_turned across;
  bind_all(p, b, padded, slots, memory, in, across);
  auto const run = masked ? p.masked : p.plain;
  if (across.count == 0)
    run(p.values, in, out, out_row, b.row_count, padded, fill, kept);
  else
    for (extent_t r = 0, n; r < b.row_count; r += n) {
      n = std::min(strip_rows, b.row_count - r);
      across.next_strip(r, n, b.lane_count, padded);
      run(p.values, in, out + r * out_row, out_row, n, padded, fill, kept ? kept + r * (padded / p.lanes) : nullptr);
      for (int i = 0; i < p.count; ++i)  // some are numbers, so as numbers
        in[i].data = reinterpret_cast<char const*>(reinterpret_cast<extent_t>(in[i].data) + n * in[i].row);  // NOLINT
      for (int i = 0; i < across.count; ++i) in[across.of[i].operand].data = across.of[i].strip;
    }
  memory.next = mark;
}

/// Evaluates a block and stores it in the target. Slots are tiles with the block's first row and lane in front.
[[gnu::noinline]] inline void run_block(loops::program const& p, block const& b, loops::bound const* slots,
                                        loops::target const& to, scratch& memory, bool masked, double fill) {
  if (b.row_count == 0 || b.lane_count == 0) return;
  extent_t const whole = b.lane_count / p.lanes * p.lanes;
  if (whole != 0 && whole != b.lane_count) {  // the vectors in place, the tail in scratch
    block main = b, tail = b;
    main.lane_count = whole;
    tail.lane_from += whole;
    tail.lane_count -= whole;
    run_block(p, main, slots, to, memory, masked, fill);
    loops::bound shifted[4] = {};
    if (slots)
      for (int i = 0; i < 4; ++i) {
        shifted[i] = slots[i];
        if (slots[i].data) shifted[i].data += whole * slots[i].lane;
      }
    run_block(p, tail, slots ? shifted : nullptr, to, memory, masked, fill);
    return;
  }
  extent_t const padded = (b.lane_count + p.lanes - 1) / p.lanes * p.lanes;
  extent_t coordinates[loops::max_rank];
  std::copy(b.origin, b.origin + loops::max_rank, coordinates);
  extent_t lane_step = 0, row_step = 0;
  bool const lanes_flat = b.lanes->affine(to.stride, b.lane_from, b.lane_count, lane_step);
  bool const rows_flat = b.rows->affine(to.stride, b.row_from, b.row_count, row_step);
  char* const data = static_cast<char*>(to.data);
  if (lanes_flat && rows_flat && (lane_step == 1 || b.lane_count == 1) && padded == b.lane_count) {
    b.rows->locate(b.row_from, coordinates);
    b.lanes->locate(b.lane_from, coordinates);
    run_padded(p, b, padded, slots, data + offset_at(coordinates, to.stride) * to.size, row_step * to.size, memory,
               masked, fill, nullptr);
    return;
  }
  char* const mark = memory.next;
  char* tile = memory.take(static_cast<std::size_t>(b.row_count * padded * to.size));
  run_padded(p, b, padded, slots, tile, padded * to.size, memory, masked, fill, nullptr);
  for (extent_t r = 0; r < b.row_count; ++r) {
    b.rows->locate(b.row_from + r, coordinates);
    if (lanes_flat) {
      b.lanes->locate(b.lane_from, coordinates);
      scatter_run(to.size, data + offset_at(coordinates, to.stride) * to.size, tile + r * padded * to.size, lane_step,
                  b.lane_count);
    } else {
      int const last = b.lanes->axis[b.lanes->count - 1];
      for_runs(*b.lanes, b.lane_from, b.lane_count, coordinates, [&](extent_t at, extent_t n) {
        scatter_run(to.size, data + offset_at(coordinates, to.stride) * to.size, tile + (r * padded + at) * to.size,
                    to.stride[last], n);
      });
    }
  }
  memory.next = mark;
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel
