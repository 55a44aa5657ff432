// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: the language between plan/ and kernel/: operands (memory under the numbered axes of a stage), groups of
// axes that are walked as one, and programs (an elementwise tree, compiled once for its formula, run a block at a time).
// Next to read: plan/lower.hpp, which speaks it, or kernel/block.hpp, which obeys it.
#pragma once

#include "expression.hpp"

namespace heed::detail::loops {
inline namespace HEED_ARCH {

inline constexpr int max_rank = 20;      // axes of one stage, the contracted ones included
inline constexpr int max_operands = 48;  // terminals of one elementwise tree

// ---- tile sizes: every number that a schedule depends on, so that a change of one is a change of one line
inline constexpr extent_t key_block = 96;      // keys (rows of a score tile) that share one softmax step
inline constexpr extent_t key_grain = 12;      // keys whose exclusion is decided together; divides key_block, even
inline constexpr extent_t decode_lanes = 16;   // up to here lanes share each key as it comes from memory: decode.hpp
inline constexpr extent_t decode_block = 128;  // keys that share one softmax step there, at most
inline constexpr extent_t decode_grain = 16;   // keys whose exclusion is decided together there; whole vectors
inline constexpr extent_t decode_elements =
    65536;                                     // keys and values of one block there: two of them fit into the L2 cache
inline constexpr extent_t single_block = 128;  // up to here all keys are one block, without a second softmax step
inline constexpr extent_t part_keys = 1056;    // keys of a part, where a single tile of lanes shares its keys out
inline constexpr extent_t most_parts = 16;     // and how many parts at most
inline constexpr extent_t depth_block = 256;   // contracted elements of one chain of multiply-adds
inline constexpr extent_t row_block = 96;  // rows of the left operand of a contraction that share a packed panel, about
inline constexpr extent_t packed_bytes = 1 << 20;  // of panels of a contraction at once: half of the L2 cache
inline constexpr extent_t short_depth = 1024;      // up to here all of the depth is packed at once
inline constexpr extent_t area_rows = 1536;        // rows whose sums wait in scratch for the rest of the depth, at most
inline constexpr extent_t few_rows = 12;           // up to here packing costs as much as multiplying
inline constexpr extent_t in_place_elements = 16384;   // and of so small a right operand, too: it stays in the L2 cache
inline constexpr extent_t streaming_bytes = 16 << 20;  // of a result of a short depth: from here on past the caches
inline constexpr extent_t band_width = 32;        // widths from which an inner contraction is computed band by band
inline constexpr extent_t widest_head = 192;      // narrower ones may be heads of attention, with any number of keys:
inline constexpr extent_t band_units = 8;         // at most that many inner units to a width there
inline constexpr extent_t band_bytes = 16 << 20;  // of the rows of such a band, at most
inline constexpr extent_t streamed_elements = 4096;  // sums of a few rows, past which the right operand is streamed
inline constexpr extent_t block_elements =
    8192;  // elements of one block of a map: inputs and output stay in the L1 and L2 caches
inline constexpr extent_t scan_limit =
    8192;  // elements of a dense mask or bias that are looked at to classify one box: those of one tile of scores

/// Fetches `count` values along `axis` from `coordinates` on, for terminals that strides cannot say.
using fetch_function = void (*)(void const* node, extent_t const* coordinates, int axis, extent_t count, void* out);
/// Adds, modulo 2, the words that dropout makes of the coordinates along the axes in `among` to `count` words, for elements
/// along the axis `along` from `coordinates` on.
using words_function = void (*)(void const* node, extent_t const* coordinates, std::uint32_t among, int along,
                                extent_t count, std::uint64_t* out);
/// Words of a block are the sum of those of its rows (and of all axes that stand still) and those of its lanes.
enum class words_part : std::uint8_t { rows, lanes };

/// One terminal of a tree: memory with a stride for each axis of the stage, or a function, or a tile that a kernel fills.
struct operand {
  void const* data = nullptr;
  int size = 0;                    // bytes of an element
  bool real = false;               // float or double: may pass through floating-point registers
  extent_t stride[max_rank] = {};  // in elements; 0 where the operand lacks the axis
  std::uint32_t varies = 0;        // bit i: depends on axis i of the stage
  fetch_function fetch = nullptr;
  words_function words = nullptr;
  words_part words_of = words_part::rows;
  void const* node = nullptr;
  int index_axis = -1;          // the coordinate along this axis
  int slot = -1;                // the kernel's tile of that number
  void const* splat = nullptr;  // a value for every element, where not null
};

[[noreturn, gnu::cold]] inline void refuse_size() {
  throw shape_error("evaluate: the product of the extents does not fit into 64 bits");
}

/// Axes walked as one, the last fastest.
struct group {
  int count = 0;
  int axis[max_rank] = {};
  extent_t extent[max_rank] = {};
  extent_t size = 1;

  void add(int a, extent_t n) {
    axis[count] = a;
    extent[count++] = n;
    if (__builtin_mul_overflow(size, n, &size)) loops::refuse_size();
  }
  std::uint32_t bits() const {
    std::uint32_t b = 0;
    for (int i = 0; i < count; ++i) b |= 1u << axis[i];
    return b;
  }
  /// Sets the coordinates of element i.
  void locate(extent_t i, extent_t* coordinates) const {
    if (count == 1)
      coordinates[axis[0]] = i;
    else if (count > 1)
      locate_many(i, coordinates);
  }
  [[gnu::noinline]] void locate_many(extent_t i, extent_t* coordinates) const {
    for (int a = count; a-- > 1;) {
      coordinates[axis[a]] = extent[a] ? i % extent[a] : 0;
      i = extent[a] ? i / extent[a] : 0;
    }
    coordinates[axis[0]] = i;
  }
  [[gnu::noinline]] extent_t offset(extent_t i, extent_t const* stride) const {
    extent_t o = 0;
    for (int a = count; a-- > 0;) {
      o += (extent[a] ? i % extent[a] : 0) * stride[axis[a]];
      i = extent[a] ? i / extent[a] : 0;
    }
    return o;
  }
  /// The one stride that serves all elements, or nothing.
  [[gnu::noinline]] bool affine(extent_t const* stride, extent_t& step) const {
    extent_t expected = 0;
    bool first = true;
    step = 0;
    for (int a = count; a-- > 0;) {
      if (extent[a] <= 1) continue;
      if (first)
        step = stride[axis[a]], first = false;
      else if (stride[axis[a]] != expected)
        return false;
      expected = stride[axis[a]] * extent[a];
    }
    return true;
  }
  /// The same for elements from .. from + n: one run of the last axis will do.
  bool affine(extent_t const* stride, extent_t from, extent_t n, extent_t& step) const {
    if (affine(stride, step)) return true;
    int a = count - 1;
    while (a > 0 && extent[a] <= 1) --a;
    if (extent[a] == 0 || from % extent[a] + n > extent[a]) return false;
    step = stride[axis[a]];
    return true;
  }
};

/// Where a tree finds a terminal inside a block, in bytes.
struct bound {
  char const* data = nullptr;
  extent_t row = 0;   // from one row to the next
  extent_t lane = 0;  // from one element to the next: 0 or the size of an element
};

/// Writes a block of the tree's values: rows x lanes (a multiple of the program's lanes), row_bytes apart. `kept`, if not
/// null, gets a bit for each element (one word for each vector of lanes), and excluded elements get `fill`.
using block_function = void (*)(void const* node, bound const* in, char* out, extent_t row_bytes, extent_t rows,
                                extent_t lanes, double fill, std::uint64_t* kept);
/// 0: the box excludes everything, 2: it keeps everything, 1: it has to be looked at. Half-open ranges by axis. A guess may
/// also say 3: it keeps everything unless some value turns out -infinity or NaN.
using classify_function = int (*)(void const* node, extent_t const* low, extent_t const* high);

/// An elementwise tree that a kernel can run; its operands lie where sized_program keeps them.
struct program {
  void const* node = nullptr;    // the plan's tree, which classify reads
  void const* values = nullptr;  // the same as loops read it
  int count = 0;
  operand const* operands = nullptr;
  block_function plain = nullptr;
  block_function masked = nullptr;  // null where nothing can be excluded
  classify_function classify = nullptr;
  classify_function guess = nullptr;  // the same without looking at added terms in memory; null where there are none
  int lanes = 1;
  int size = 0;           // bytes of a value
  bool identity = false;  // the tree is slot 0 itself
};

/// A program with as many operands as its tree has, and no more to clear or to copy.
template <int Count> struct sized_program : program {
  operand storage[Count > 0 ? Count : 1];
  sized_program() { operands = storage; }
  sized_program(sized_program const&) = delete;
  sized_program& operator=(sized_program const&) = delete;
};

/// Strided memory that a kernel writes.
struct target {
  void* data = nullptr;
  int size = 0;
  extent_t stride[max_rank] = {};
};

}  // namespace HEED_ARCH
}  // namespace heed::detail::loops
