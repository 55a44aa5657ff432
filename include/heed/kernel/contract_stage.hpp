// SPDX-License-Identifier: BSL-1.0
// In: what the plan says of a contraction. Out: its description, where its operands lie, and their blocks as the register tiles
// read them: the left one in place or copied, the right one in panels.
// Next to read: contract_few.hpp, a few rows against a large matrix; contract.hpp, the loops around both.
#pragma once

#include "map.hpp"
#include "rearrange.hpp"
#include "upcoming.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

/// The head of a right operand's panels, packed beforehand: whose they are. They follow 64 bytes behind it, [panel][depth][columns].
struct ready_panels {
  void const* data;
  extent_t depth, columns, panel, size;

  template <class T> T const* elements() const {
    return reinterpret_cast<T const*>(reinterpret_cast<char const*>(this) + 64);
  }
  template <class T> static std::size_t bytes(extent_t depth, extent_t columns) {
    constexpr extent_t n = kernel::panel<T>;
    return 64 + static_cast<std::size_t>((columns + n - 1) / n * n * depth) * sizeof(T);
  }
  /// Packs rows of `columns` elements that lie one behind the other.
  template <class T> static void make(void* memory, T const* data, extent_t depth, extent_t columns) {
    auto const* head = ::new (memory) ready_panels{data, depth, columns, kernel::panel<T>, sizeof(T)};
    T* const out = const_cast<T*>(head->elements<T>());
    for (extent_t j = 0; j < columns; j += kernel::panel<T>)
      pack_panel<T>(data + j, columns, 1, depth, std::min<extent_t>(kernel::panel<T>, columns - j), out + j * depth);
  }
};

/// One side of a contraction, of any storage type: converted while it is packed.
struct matrix {
  loops::operand operand;
  loops::program const* load =
      nullptr;                      // identity program that converts to T; used where the memory can't serve as it is
  bool native = false;              // the memory holds T
  void const* row_loops = nullptr;  // decode::row_loops<T> for what the memory holds, where there are any
  ready_panels const* panels = nullptr;  // of all the buffer that the operand lies in, where there are any
};

/// How a group of axes lies in memory: one stride for all its elements, or one for each run of its last axis.
struct line {
  loops::group const* group = nullptr;
  extent_t const* stride = nullptr;
  extent_t step = 0;
  bool whole = false;
  line() = default;
  line(loops::group const& g, extent_t const* strides) : group(&g), stride(strides), whole(g.affine(strides, step)) {}
  /// Whether elements from .. from + n are one stride apart, and which.
  bool runs(extent_t from, extent_t n, extent_t& apart) const {
    apart = step;
    return whole || group->affine(stride, from, n, apart);
  }
  extent_t offset(extent_t i) const { return whole ? i * step : group->offset(i, stride); }
};

/// The offset of an element of `g` in memory with these strides.
inline extent_t offset_in(loops::group const& g, extent_t const* coordinates, extent_t const* stride) {
  extent_t o = 0;
  for (int a = 0; a < g.count; ++a) o += coordinates[g.axis[a]] * stride[g.axis[a]];
  return o;
}

template <class T> struct contract_stage {
  matrix left, right;
  loops::group batch, m, n, k;
  extent_t first_row = 0, rows = -1;  // a band of m; -1: all of it
  loops::program const* epilogue = nullptr;
  loops::target target;
  bool typed = false;  // the target holds T, so that sums can lie there
  bool masked = false;
  bool bare = false;  // the epilogue hands on slot 0, and the target holds T, and nothing is masked
  double fill = 0;

  extent_t row_count() const { return rows < 0 ? m.size : rows; }
};

/// Where the operands and the target of a stage lie, found once for all its blocks.
template <class T> struct contract_places {
  line left_rows, right_columns, target_rows, target_columns;
  bool left_flat = false, right_flat = false;  // T, in memory, with one step along the depth
  extent_t left_step = 0, right_step = 0;
  extent_t epilogue_lanes = 1;
  bool crowded = false;  // rows of the left operand so far apart that they meet in a few sets of the cache: copied

  explicit contract_places(contract_stage<T> const& s)
      : left_rows(s.m, s.left.operand.stride),
        right_columns(s.n, s.right.operand.stride),
        target_rows(s.m, s.target.stride),
        target_columns(s.n, s.target.stride) {
    left_flat = s.left.native && s.k.affine(s.left.operand.stride, left_step);
    right_flat = s.right.native && s.k.affine(s.right.operand.stride, right_step);
    crowded = left_flat && left_step == 1 && left_rows.whole && s.m.size > loops::few_rows && s.n.size > 2 * panel<T> &&
              left_rows.step * static_cast<extent_t>(sizeof(T)) % 4096 == 0 && left_rows.step != 0;
    epilogue_lanes = std::max<extent_t>(width<T>, s.epilogue->lanes);
  }
  /// Whether every block of the result can be summed up in the target.
  bool all_direct(contract_stage<T> const& s) const {
    return s.typed && target_rows.whole && target_columns.whole && (target_columns.step == 1 || s.n.size == 1) &&
           (s.bare || s.n.size % epilogue_lanes == 0);
  }
  T const* right_data(contract_stage<T> const& s, extent_t const* origin) const {
    return static_cast<T const*>(s.right.operand.data) + offset_in(s.batch, origin, s.right.operand.stride);
  }

  /// The panels that were packed beforehand, if they are those of this operand: the same rows at the same place.
  T const* ready(contract_stage<T> const& s) const {
    ready_panels const* const p = s.right.panels;
    bool const same = p && p->data == s.right.operand.data && p->depth == s.k.size && p->columns == s.n.size &&
                      p->panel == panel<T> && p->size == static_cast<extent_t>(sizeof(T)) && s.batch.size == 1;
    bool const rows = right_flat && right_columns.whole && (right_step == s.n.size || s.k.size <= 1) &&
                      (right_columns.step == 1 || s.n.size <= 1);
    return same && rows ? p->template elements<T>() : nullptr;
  }

  struct left_rows_of {
    T const* data;
    extent_t row, step;
  };
  /// Rows r .. r + rows of the left operand, `depth` elements of each from d on.
  left_rows_of left_block(contract_stage<T> const& s, extent_t const* origin, extent_t r, extent_t rows, extent_t d,
                          extent_t depth, scratch& memory) const {
    extent_t apart = 0;
    T const* const base = left_flat ? static_cast<T const*>(s.left.operand.data) +
                                          offset_in(s.batch, origin, s.left.operand.stride) + d * left_step
                                    : nullptr;
    if (left_flat && !crowded && left_rows.runs(r, rows, apart)) return {base + left_rows.offset(r), apart, left_step};
    extent_t const lanes = s.left.load->lanes, padded = (depth + lanes - 1) / lanes * lanes;
    T* const copy = memory.take_as<T>(rows * padded);
    if (left_flat) {  // rows at any offsets
      for (extent_t i = 0; i < rows; ++i) {
        T const* const from = base + left_rows.offset(r + i);
        if (left_step == 1)
          std::copy(from, from + depth, copy + i * padded);
        else
          for (extent_t j = 0; j < depth; ++j) copy[i * padded + j] = from[j * left_step];
      }
    } else if (depth > 0) {
      for (extent_t i = 0; i < rows; ++i) {
        block const b{origin, &s.m, r + i, 1, &s.k, d, depth};
        run_padded(*s.left.load, b, padded, nullptr, reinterpret_cast<char*>(copy + i * padded), 0, memory, false, 0,
                   nullptr);
      }
    }
    return {copy, padded, 1};
  }

  /// Row d of the right operand from column `from` on, where its columns lie at one step; found or not.
  struct right_block {
    T const* data = nullptr;
    extent_t step = 0;
    bool found = false;
  };
  right_block find_right(contract_stage<T> const& s, extent_t const* origin, extent_t from, extent_t columns,
                         extent_t d) const {
    right_block b;
    b.found = right_flat && right_columns.runs(from, columns, b.step);
    if (b.found) b.data = right_data(s, origin) + right_columns.offset(from) + d * right_step;
    return b;
  }

  /// `depth` rows from d on of the columns of one panel, packed.
  void pack(contract_stage<T> const& s, extent_t const* origin, extent_t from, extent_t columns, extent_t d,
            extent_t depth, T* out, scratch& memory) const {
    if (right_block const b = find_right(s, origin, from, columns, d); b.found) {
      pack_panel<T>(b.data, right_step, b.step, depth, columns, out);
      return;
    }
    for (extent_t r = 0; r < depth; r += pack_rows) {
      block const b{origin, &s.k, d + r, std::min(pack_rows, depth - r), &s.n, from, columns};
      run_padded(*s.right.load, b, panel<T>, nullptr, reinterpret_cast<char*>(out + r * panel<T>),
                 panel<T> * static_cast<extent_t>(sizeof(T)), memory, false, 0, nullptr);
    }
  }

  /// The memory that pack() reads for the panel from there on; nothing where it lies element by element.
  upcoming memory_of(contract_stage<T> const& s, extent_t const* origin, extent_t from, extent_t d,
                     extent_t depth) const {
    extent_t const columns = std::min<extent_t>(panel<T>, s.n.size - from), size = sizeof(T);
    right_block const b = find_right(s, origin, from, columns, d);
    auto const* const data = reinterpret_cast<char const*>(b.data);
    if (b.found && b.step == 1) return {data, right_step * size, columns * size, depth};
    if (b.found && right_step == 1) return {data, b.step * size, depth * size, columns};
    return {};
  }

  /// Row d of the right operand from column `from` on, if multiply_and_pack can read it for so many rows of the left one.
  T const* rows_of_right(contract_stage<T> const& s, extent_t const* origin, extent_t from, extent_t columns,
                         extent_t d, extent_t rows) const {
    if (columns != panel<T> || rows < tile_rows<tile_vectors>) return nullptr;
    right_block const b = find_right(s, origin, from, columns, d);
    return b.found && b.step == 1 ? b.data : nullptr;
  }

  // ---- the panels of a stretch, packed in parts that threads share: each some rows of all panels, as memory has them, or
  // one panel where its columns do not lie side by side
  bool packs_by_rows(extent_t stretch) const {
    return right_flat && right_columns.whole && right_columns.step == 1 && stretch > 1;
  }
  extent_t pack_parts(extent_t span, extent_t stretch) const {
    return packs_by_rows(stretch) ? (span + pack_rows - 1) / pack_rows : stretch;
  }
  void pack_part(contract_stage<T> const& s, extent_t const* origin, extent_t first, extent_t stretch, extent_t d,
                 extent_t span, extent_t part, T* out, extent_t out_depth, scratch& memory) const {
    if (!packs_by_rows(stretch)) {
      extent_t const from = (first + part) * panel<T>;
      pack(s, origin, from, std::min<extent_t>(panel<T>, s.n.size - from), d, span, out + part * out_depth * panel<T>,
           memory);
      return;
    }
    extent_t const row = part * pack_rows, rows = std::min(pack_rows, span - row);
    T const* const base = right_data(s, origin) + (d + row) * right_step;
    extent_t const whole = std::min(stretch, (s.n.size - first * panel<T>) / panel<T>);
    for (extent_t r = 0; r < rows; ++r) {
      T const* from = base + r * right_step + first * panel<T>;
      T* to = out + (row + r) * panel<T>;
      for (extent_t p = 0; p < whole; ++p) {
        HEED_UNROLL
        for (int v = 0; v < tile_vectors; ++v) store(to + v * width<T>, load(from + v * width<T>));
        from += panel<T>;
        to += out_depth * panel<T>;
      }
      if (whole < stretch) pack_panel<T>(from, right_step, 1, 1, s.n.size - (first + whole) * panel<T>, to);
    }
  }

  std::size_t scratch_bytes(contract_stage<T> const& s, extent_t rows, extent_t span) const {
    std::size_t sum = 0;
    if (!left_flat || !left_rows.whole || crowded)
      sum += static_cast<std::size_t>(rows * (span + s.left.load->lanes)) * sizeof(T) + 64;
    if (s.left.load) sum += block_scratch(*s.left.load, 1, span);
    if (s.right.load) sum += block_scratch(*s.right.load, pack_rows, panel<T>);
    return sum;
  }

 private:
  static constexpr extent_t pack_rows = 64;
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
