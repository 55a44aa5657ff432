// SPDX-License-Identifier: BSL-1.0
// In: two operands, the groups of their axes, an epilogue program. Out: sum over the contracted axes of left * right, put
// through the epilogue while it is still in the cache. Right operands are packed into panels once; left ones stay in place.
// Next to read: stream.hpp, contractions whose operand is never stored.
//
//   left [batch, m, k], right [batch, k, n], result [batch, m, n]
//   1. pack right into panels [k][panel] (skipped where a row of lanes can be read in place)
//   2. for each block of m and each panel: tile [m][panel] += left block * panel, depth_block of k at a time
//   3. epilogue over the tile, stored in the target
// Every element is one chain of multiply-adds for each depth_block, added in order: no free extent changes its bits.
#pragma once

#include "map.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

/// One side of a contraction, of any storage type: converted while it is packed.
struct matrix {
  loops::operand operand;
  loops::program const* load =
      nullptr;                      // identity program that converts to T; used where the memory can't serve as it is
  bool native = false;              // the memory holds T
  void const* row_loops = nullptr;  // decode::row_loops<T> for what the memory holds, where there are any
};

template <class T> struct contract_stage {
  matrix left, right;
  loops::group batch, m, n, k;
  loops::program const* epilogue = nullptr;
  loops::target target;
  bool masked = false;
  double fill = 0;

  // ---- what the operands allow
  bool left_in_place() const {
    extent_t step = 0;
    return left.native && k.affine(left.operand.stride, step);
  }
  extent_t left_k_step() const {
    extent_t step = 0;
    k.affine(left.operand.stride, step);
    return step;
  }
  bool right_in_place() const {  // few rows: packing would cost as much as multiplying
    extent_t k_step = 0, n_step = 0;
    if (!right.native || !k.affine(right.operand.stride, k_step) || !n.affine(right.operand.stride, n_step))
      return false;
    return (n_step == 1 || n.size == 1) && m.size <= 12;
  }
  bool shared_panels(int threads) const { return batch.size < 2 * threads; }

  extent_t panels() const { return (n.size + panel<T> - 1) / panel<T>; }
  extent_t right_elements() const { return panels() * panel<T> * std::max<extent_t>(k.size, 1); }
  extent_t rows_at_once() const { return std::max<extent_t>(1, std::min(loops::row_block, m.size)); }
  std::size_t scratch_bytes(int threads) const {
    extent_t elements = rows_at_once() * panel<T> + 64;              // the tile
    if (!left_in_place()) elements += rows_at_once() * k.size + 64;  // left block
    if (!right_in_place() && !shared_panels(threads)) elements += right_elements() + 64;
    std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(T) + 4096;
    bytes += block_scratch(*epilogue, rows_at_once(), panel<T>);
    if (left.load) bytes += block_scratch(*left.load, 1, std::max<extent_t>(k.size, 1));
    if (right.load) bytes += block_scratch(*right.load, 64, panel<T>);
    return bytes;
  }
  std::size_t shared_bytes(int threads) const {
    return right_in_place() || !shared_panels(threads) ? 64
                                                       : static_cast<std::size_t>(right_elements()) * sizeof(T) + 64;
  }

  /// Panel p of the right operand at the coordinates of a batch element.
  void pack(extent_t const* origin, extent_t p, T* out, scratch& memory) const {
    extent_t const from = p * panel<T>, columns = std::min<extent_t>(panel<T>, n.size - from);
    extent_t coordinates[loops::max_rank];
    std::copy(origin, origin + loops::max_rank, coordinates);
    extent_t k_step = 0, n_step = 0;
    if (right.native && k.affine(right.operand.stride, k_step) &&
        n.affine(right.operand.stride, from, columns, n_step)) {
      n.locate(from, coordinates);
      T const* base = static_cast<T const*>(right.operand.data) + offset_at(coordinates, right.operand.stride);
      pack_panel<T>(base, k_step, n_step, k.size, columns, out);
      return;
    }
    for (extent_t r = 0; r < k.size; r += 64) {
      block b{origin, &k, r, std::min<extent_t>(64, k.size - r), &n, from, columns};
      run_padded(*right.load, b, panel<T>, nullptr, reinterpret_cast<char*>(out + r * panel<T>),
                 panel<T> * static_cast<extent_t>(sizeof(T)), memory, false, 0, nullptr);
    }
  }

  /// Rows r .. r + rows of the left operand times panel p, through the epilogue, into the target.
  void multiply(extent_t const* origin, extent_t r, extent_t rows, extent_t p, T const* right_data, extent_t right_row,
                bool padded, T const* left_data, extent_t left_row, extent_t left_step, T* tile,
                scratch& memory) const {
    extent_t const from = p * panel<T>, columns = std::min<extent_t>(panel<T>, n.size - from);
    for (extent_t d = 0; d < std::max<extent_t>(k.size, 1); d += loops::depth_block)
      multiply_tile<T>(left_data + d * left_step, left_row, left_step, right_data + d * right_row, right_row, rows,
                       columns, std::min<extent_t>(loops::depth_block, k.size - d), tile, panel<T>,
                       d == 0 ? start::zero : start::add, nullptr, padded);
    loops::bound slot{reinterpret_cast<char const*>(tile), panel<T> * static_cast<extent_t>(sizeof(T)), sizeof(T)};
    loops::bound slots[4] = {slot};
    block b{origin, &m, r, rows, &n, from, columns};
    run_block(*epilogue, b, slots, target, memory, masked, fill);
  }

  /// Rows r .. r + rows against panels first .. last.
  void multiply_rows(extent_t const* origin, extent_t r, extent_t rows, extent_t first, extent_t last, T const* packed,
                     scratch& memory) const {
    char* const mark = memory.next;
    T* tile = memory.take_as<T>(rows_at_once() * panel<T>);
    extent_t coordinates[loops::max_rank];
    std::copy(origin, origin + loops::max_rank, coordinates);
    extent_t left_row = 0;
    T const* left_data = nullptr;
    extent_t left_step = 1;
    if (left_in_place() && m.affine(left.operand.stride, r, rows, left_row)) {
      m.locate(r, coordinates);
      left_data = static_cast<T const*>(left.operand.data) + offset_at(coordinates, left.operand.stride);
      left_step = left_k_step();
    } else if (left_in_place()) {  // rows at any offsets: one after the other
      memory.next = mark;
      for (extent_t i = 0; i < rows; ++i) multiply_rows(origin, r + i, 1, first, last, packed, memory);
      return;
    } else {
      T* copy = memory.take_as<T>(rows_at_once() * k.size);
      extent_t const padded_depth = (k.size + left.load->lanes - 1) / left.load->lanes * left.load->lanes;
      T* row = memory.take_as<T>(padded_depth);
      for (extent_t i = 0; i < rows; ++i) {
        block b{origin, &m, r + i, 1, &k, 0, k.size};
        if (k.size > 0)
          run_padded(*left.load, b, padded_depth, nullptr, reinterpret_cast<char*>(row), 0, memory, false, 0, nullptr);
        std::copy(row, row + k.size, copy + i * k.size);
      }
      left_data = copy;
      left_row = k.size;
    }
    for (extent_t p = first; p < last; ++p) {
      if (packed) {
        multiply(origin, r, rows, p, packed + p * panel<T> * std::max<extent_t>(k.size, 1), panel<T>, true, left_data,
                 left_row, left_step, tile, memory);
      } else {
        extent_t k_step = 0;
        k.affine(right.operand.stride, k_step);
        std::copy(origin, origin + loops::max_rank, coordinates);
        n.locate(p * panel<T>, coordinates);
        T const* base = static_cast<T const*>(right.operand.data) + offset_at(coordinates, right.operand.stride);
        multiply(origin, r, rows, p, base, k_step, false, left_data, left_row, left_step, tile, memory);
      }
    }
    memory.next = mark;
  }

  void run(int threads, char* memory, std::size_t per_thread, char* shared) const {
    if (batch.size == 0 || m.size == 0 || n.size == 0) return;
    extent_t const row_step = rows_at_once(), row_blocks = (m.size + row_step - 1) / row_step;
    double const work_size = static_cast<double>(batch.size) * static_cast<double>(m.size) *
                             static_cast<double>(n.size) * static_cast<double>(k.size + 1);
    int const granted = work_size < 40000 ? 1 : threads;
    bool const in_place = right_in_place(), together = shared_panels(threads);
    // few blocks of rows: share the panels as well
    extent_t const pieces =
        together ? std::min(panels(), std::max<extent_t>(1, 4 * threads / (row_blocks * batch.size))) : 1;
    extent_t const step = (panels() + pieces - 1) / pieces, chunks = (panels() + step - 1) / step;
    run_team(granted, [&](team& t) {
      scratch s(memory + static_cast<std::size_t>(t.thread) * per_thread, per_thread);
      extent_t origin[loops::max_rank] = {};
      if (!together) {
        t.share(batch.size, [&](extent_t b) {
          scratch local = s;
          batch.locate(b, origin);
          T* packed = nullptr;
          if (!in_place) {
            packed = local.take_as<T>(right_elements());
            for (extent_t p = 0; p < panels(); ++p)
              pack(origin, p, packed + p * panel<T> * std::max<extent_t>(k.size, 1), local);
          }
          for (extent_t i = 0; i < row_blocks; ++i)
            multiply_rows(origin, i * row_step, std::min(row_step, m.size - i * row_step), 0, panels(), packed, local);
        });
        return;
      }
      for (extent_t b = 0; b < batch.size; ++b) {
        batch.locate(b, origin);
        T* packed = in_place ? nullptr : reinterpret_cast<T*>(shared);
        if (!in_place)
          t.share(panels(), [&](extent_t p) {
            scratch local = s;
            pack(origin, p, packed + p * panel<T> * std::max<extent_t>(k.size, 1), local);
          });
        t.share(row_blocks * chunks, [&](extent_t job) {
          scratch local = s;
          extent_t const i = job / chunks, c = job % chunks;
          multiply_rows(origin, i * row_step, std::min(row_step, m.size - i * row_step), c * step,
                        std::min(panels(), (c + 1) * step), packed, local);
        });
      }
    });
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
