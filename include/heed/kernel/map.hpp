// SPDX-License-Identifier: BSL-1.0
// In: an elementwise program and a target. Out: the target filled, block by block, on all threads. Lanes run along the axes
// that lie side by side in the target.
// Next to read: rows.hpp, stages that look at whole rows.
#pragma once

#include "block.hpp"
#include "parallel.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

/// A stage without an anchor: every element on its own.
struct map_stage {
  loops::program const* program = nullptr;
  loops::target target;
  loops::group outer, rows, lanes;  // together all axes of the target
  bool masked = false;
  double fill = 0;

  extent_t lane_chunk() const { return std::min<extent_t>(lanes.size, 2048); }
  extent_t row_chunk() const {
    extent_t const n = lane_chunk() ? loops::block_elements / lane_chunk() : 1;
    return std::max<extent_t>(1, std::min(rows.size, n));
  }
  std::size_t scratch_bytes() const { return block_scratch(*program, row_chunk(), lane_chunk()) + 4096; }

  extent_t row_blocks() const { return (rows.size + row_chunk() - 1) / row_chunk(); }
  extent_t lane_blocks() const { return (lanes.size + lane_chunk() - 1) / lane_chunk(); }
  extent_t blocks() const { return rows.size == 0 || lanes.size == 0 ? 0 : outer.size * row_blocks() * lane_blocks(); }
  // several small blocks make one job, so that sharing them costs nothing
  extent_t bundle() const { return std::max<extent_t>(1, 4096 / std::max<extent_t>(1, row_chunk() * lane_chunk())); }
  int threads(int most) const { return blocks() <= bundle() ? 1 : most; }

  void run(team& t, char* memory, std::size_t per_thread) const {
    extent_t const all = blocks(), together = bundle();
    if (all == 0) return;
    extent_t const row_step = row_chunk(), lane_step = lane_chunk();
    extent_t const row_count = row_blocks(), lane_count = lane_blocks();
    t.share((all + together - 1) / together, [&](extent_t job) {
      scratch s(memory + static_cast<std::size_t>(t.thread) * per_thread, per_thread);
      extent_t coordinates[loops::max_rank] = {};
      for (extent_t j = job * together; j < std::min(all, (job + 1) * together); ++j) {
        outer.locate(j / (row_count * lane_count), coordinates);
        extent_t const r = j / lane_count % row_count * row_step, l = j % lane_count * lane_step;
        block b{
            coordinates, &rows, r, std::min(row_step, rows.size - r), &lanes, l, std::min(lane_step, lanes.size - l)};
        run_block(*program, b, nullptr, target, s, masked, fill);
      }
    });
  }
};

/// The axes of a target into lanes (side by side, enough of them to fill vectors), rows and the rest.
inline void lay_out(loops::target const& to, int const* axes, extent_t const* extents, int count, loops::group& outer,
                    loops::group& rows, loops::group& lanes) {
  // order by stride, largest first: the last ones lie side by side
  int order[loops::max_rank];
  for (int i = 0; i < count; ++i) order[i] = i;
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && to.stride[axes[order[j]]] > to.stride[axes[order[j - 1]]]; --j)
      std::swap(order[j], order[j - 1]);
  int first_lane = count;
  extent_t size = 1, expected = 1;
  while (first_lane > 0 && size < 64) {
    int const a = order[first_lane - 1];
    if (extents[a] > 1 && to.stride[axes[a]] != expected) {
      if (first_lane == count) --first_lane, size *= extents[a];  // strided: at least one axis of lanes
      break;
    }
    expected *= extents[a];
    size *= extents[a];
    --first_lane;
  }
  for (int i = first_lane; i < count; ++i) lanes.add(axes[order[i]], extents[order[i]]);
  int first_row = first_lane;
  if (first_row > 0) rows.add(axes[order[first_row - 1]], extents[order[first_row - 1]]), --first_row;
  for (int i = 0; i < first_row; ++i) outer.add(axes[order[i]], extents[order[i]]);
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel
