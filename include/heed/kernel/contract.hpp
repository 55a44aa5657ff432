// SPDX-License-Identifier: BSL-1.0
// In: two operands, the groups of their axes, an epilogue program. Out: sum over the contracted axes of left * right, put
// through the epilogue while it is still in the cache. Right operands are packed into panels, as many at once as the L2 cache
// holds; left ones stay in place.
// Next to read: stream.hpp, contractions whose operand is never stored.
//
//   left [batch, m, k], right [batch, k, n], result [batch, m, n]
//   for each stretch of panels and each span of the depth (all of it, where it is short):
//   1. pack right into panels [span][panel] (skipped where a row of lanes can be read in place)
//   2. for each block of m and each panel: [m][panel] += left block * panel, depth_block of k at a time
//   3. after the last span: the epilogue over [m][panel], stored in the target
// What is summed up lies in the target itself where that has the right type and layout, in scratch where not.
// Every element is one chain of multiply-adds for each depth_block, added in order: no free extent changes its bits.
#pragma once

#include "contract_few.hpp"
#include "contract_stage.hpp"

#include <limits>

namespace heed::kernel {
inline namespace HEED_ARCH {

template <class T> class contract_run {
  using stage = contract_stage<T>;
  using places = contract_places<T>;
  enum class panels_come { in_place, block_by_block, packed, ready };
  static constexpr extent_t width_of_panel = panel<T>;

  stage const& c_;
  places at_;
  int threads_ = 1;  // that the work is worth
  panels_come come_;
  T const* ready_ = nullptr;
  bool few_ = false;        // rows: the right operand is streamed past them
  bool together_ = true;    // all threads on one element of the batch
  bool streaming_ = false;  // the result is larger than what a cache keeps, and written once
  bool area_ = false;       // sums lie between the spans in memory of their own
  extent_t panels_ = 0;
  extent_t span_ = 1;     // of the depth: what is packed at once
  extent_t stretch_ = 1;  // panels that are packed at once
  extent_t rows_ = 1;     // of the left operand that meet a panel one after the other
  extent_t area_rows_ = 1;

  static std::size_t bytes(extent_t elements) { return static_cast<std::size_t>(elements) * sizeof(T) + 64; }
  extent_t depth() const { return std::max<extent_t>(c_.k.size, 1); }
  extent_t packed_elements() const { return come_ == panels_come::packed ? stretch_ * width_of_panel * span_ : 0; }
  extent_t area_elements() const { return area_ ? area_rows_ * stretch_ * width_of_panel : 0; }

  /// Where rows x columns of the result are summed up: in the target (`direct`), or else.
  struct place {
    T* data;
    extent_t row;
    bool direct;
    bool aligned(extent_t columns) const {
      constexpr std::uintptr_t line = 64;
      return direct && columns == width_of_panel && reinterpret_cast<std::uintptr_t>(data) % line == 0 &&
             row * static_cast<extent_t>(sizeof(T)) % static_cast<extent_t>(line) == 0;
    }
  };
  place find_place(extent_t const* origin, extent_t r, extent_t rows, extent_t from, extent_t columns, T* tile,
                   extent_t tile_row) const {
    extent_t step = 0, row = 0;
    if (c_.typed && (c_.bare || columns % at_.epilogue_lanes == 0) && at_.target_columns.runs(from, columns, step) &&
        (step == 1 || columns == 1) && at_.target_rows.runs(r, rows, row))
      return {static_cast<T*>(c_.target.data) + offset_in(c_.batch, origin, c_.target.stride) +
                  at_.target_rows.offset(r) + at_.target_columns.offset(from),
              row, true};
    return {tile, tile_row, false};
  }

  /// What follows rows of panels that were packed beforehand and were not fetched before. Rows are counted through all panels.
  upcoming ready_after(extent_t row, extent_t here, extent_t end, extent_t& fetched) const {
    constexpr extent_t bytes_of_row = width_of_panel * static_cast<extent_t>(sizeof(T));
    extent_t const begin = std::max(fetched, row + here);
    fetched = std::min(row + here + loops::depth_block, end);
    return {reinterpret_cast<char const*>(ready_ + begin * width_of_panel), bytes_of_row, bytes_of_row,
            std::max<extent_t>(0, fetched - begin)};
  }

  /// Rows r .. r + rows against panels first .. last, over `span` of the depth from d on.
  void multiply_rows(extent_t const* origin, extent_t r, extent_t rows, extent_t first, extent_t last, extent_t d,
                     extent_t span, T const* packed, extent_t packed_first, T* area, scratch& memory) const {
    char* const mark = memory.next;
    T* const tile = area ? nullptr : memory.take_as<T>(rows_ * width_of_panel);
    T* const own = come_ == panels_come::block_by_block
                       ? memory.take_as<T>(std::min(span_, loops::depth_block) * width_of_panel)
                       : nullptr;
    auto const left = at_.left_block(c_, origin, r, rows, d, span, memory);
    bool const ends = d + span >= c_.k.size;
    extent_t fetched = 0;
    for (extent_t p = first; p < last; ++p) {
      extent_t const from = p * width_of_panel, columns = std::min(width_of_panel, c_.n.size - from);
      place const to = area ? find_place(origin, r, rows, from, columns, area + (p - packed_first) * width_of_panel,
                                         stretch_ * width_of_panel)
                            : find_place(origin, r, rows, from, columns, tile, width_of_panel);
      start const first_of_all = streaming_ && to.aligned(columns) ? start::streaming : start::zero;
      for (extent_t at = 0; at < std::max<extent_t>(span, 1); at += loops::depth_block) {
        extent_t const here = std::min(loops::depth_block, span - at);
        start const how = d + at == 0 ? first_of_all : start::add;
        T const* const a = left.data + at * left.step;
        T const* b = nullptr;
        extent_t b_row = width_of_panel;
        upcoming next;
        if (come_ == panels_come::packed) {
          b = packed + ((p - packed_first) * span_ + at) * width_of_panel;
        } else if (come_ == panels_come::ready) {
          b = ready_ + (p * c_.k.size + d + at) * width_of_panel;
          next = ready_after(p * c_.k.size + d + at, here, last * c_.k.size, fetched);
          next.spread_over(tall_stretches(rows, here));
        } else if (come_ == panels_come::in_place) {
          b = at_.right_data(c_, origin) + at_.right_columns.offset(from) + (d + at) * at_.right_step;
          b_row = at_.right_step;
        } else {
          if (at + here < span)
            next = at_.memory_of(c_, origin, from, d + at + here, std::min(loops::depth_block, span - at - here));
          else if (p + 1 < last)
            next = at_.memory_of(c_, origin, from + width_of_panel, d, std::min(loops::depth_block, span));
          next.spread_over(tall_stretches(rows, here));
          if (T const* const rows_of_b = at_.rows_of_right(c_, origin, from, columns, d + at, rows)) {
            multiply_and_pack<T>(a, left.row, left.step, rows_of_b, at_.right_step, own, rows, here, to.data, to.row,
                                 how, next);
            continue;
          }
          at_.pack(c_, origin, from, columns, d + at, here, own, memory);
          b = own;
        }
        multiply_tile<T>(a, left.row, left.step, b, b_row, rows, columns, here, to.data, to.row, how, nullptr,
                         come_ != panels_come::in_place, next.count > 0 ? &next : nullptr);
      }
      if (!ends || (to.direct && c_.bare)) continue;
      loops::bound const slots[4] = {
          {reinterpret_cast<char const*>(to.data), to.row * static_cast<extent_t>(sizeof(T)), sizeof(T)}};
      block const b{origin, &c_.m, r, rows, &c_.n, from, columns};
      run_block(*c_.epilogue, b, slots, c_.target, memory, c_.masked, c_.fill);
    }
    if (streaming_) finish_streaming();
    memory.next = mark;
  }

  /// Panels that one job takes of a stretch: all, but fewer where there are few blocks of rows, or where the last jobs would keep
  /// some threads and leave the others waiting. Where panels are packed on the way, long runs of them: one is fetched while the
  /// one before it is multiplied.
  extent_t panels_of_job(extent_t stretch, extent_t blocks) const {
    if (!together_ || threads_ == 1) return stretch;
    extent_t const jobs_each = come_ == panels_come::block_by_block ? 1 : 4;
    extent_t const least = std::min(stretch, std::max<extent_t>(1, jobs_each * threads_ / blocks));
    extent_t best = stretch;
    double busiest = std::numeric_limits<double>::infinity();  // thread, over the mean
    for (extent_t pieces = least; pieces <= std::min(stretch, least + 7); ++pieces) {
      extent_t const step = (stretch + pieces - 1) / pieces, jobs = blocks * ((stretch + step - 1) / step);
      extent_t const turns = (jobs + threads_ - 1) / threads_;
      double const busy = static_cast<double>(turns * step * threads_) / static_cast<double>(blocks * stretch);
      if (busy < busiest - 0.03) busiest = busy, best = step;
    }
    return best;
  }

  /// One element of the batch; `share` hands its jobs out and waits for them.
  template <class Share>
  void multiply(extent_t const* origin, T* packed, T* area, scratch const& memory, Share&& share) const {
    for (extent_t p = 0; p < panels_; p += stretch_) {
      extent_t const stretch = std::min(stretch_, panels_ - p);
      for (extent_t m = 0; m < c_.row_count(); m += area_rows_) {
        extent_t const rows_here = std::min(area_rows_, c_.row_count() - m), blocks = (rows_here + rows_ - 1) / rows_;
        extent_t const step = panels_of_job(stretch, blocks);
        extent_t const chunks = (stretch + step - 1) / step;
        for (extent_t d = 0; d < depth(); d += span_) {
          extent_t const span = std::min(span_, c_.k.size - d);
          if (come_ == panels_come::packed) {
            extent_t const parts = at_.pack_parts(span, stretch);
            share(parts, [&](extent_t part) {
              scratch local = memory;
              at_.pack_part(c_, origin, p, stretch, d, span, part, packed, span_, local);
            });
          }
          share(blocks * chunks, [&](extent_t job) {
            scratch local = memory;
            extent_t const i = job / chunks * rows_, j = job % chunks * step;
            multiply_rows(origin, c_.first_row + m + i, std::min(rows_, rows_here - i), p + j,
                          p + std::min(stretch, j + step), d, span, packed, p,
                          area ? area + i * stretch_ * width_of_panel : nullptr, local);
          });
        }
      }
    }
  }

 public:
  contract_run(stage const& c, int threads) : c_(c), at_(c) {
    extent_t const row_count = c.row_count();
    double const work = static_cast<double>(c.batch.size) * static_cast<double>(row_count) *
                        static_cast<double>(c.n.size) * static_cast<double>(c.k.size + 1);
    threads_ = work < 40000 ? 1 : threads;
    together_ = threads_ == 1 || c.batch.size < 2 * threads_;
    panels_ = (c.n.size + width_of_panel - 1) / width_of_panel;
    bool const rows_of_lanes =
        at_.right_flat && at_.right_columns.whole && (at_.right_columns.step == 1 || c.n.size == 1);
    bool const small = c.k.size * c.n.size <= loops::in_place_elements;
    bool const in_place = rows_of_lanes && (row_count <= loops::few_rows || small);
    if (!in_place) ready_ = at_.ready(c);
    few_ = rows_of_lanes && !ready_ && row_count == c.m.size && c.n.size > 2 * width_of_panel &&
           c.m.size <= (small ? most_rows_in_cache : most_rows_streamed);
    come_ = in_place || few_                                       ? panels_come::in_place
            : ready_                                               ? panels_come::ready
            : row_count <= loops::row_block + loops::row_block / 4 ? panels_come::block_by_block  // one block of rows
                                                                   : panels_come::packed;
    bool const packs = come_ == panels_come::packed;
    constexpr extent_t budget = loops::packed_bytes / (width_of_panel * static_cast<extent_t>(sizeof(T)));
    if (!packs) {
      span_ = depth(), stretch_ = panels_;
    } else if (depth() <= loops::short_depth) {
      span_ = depth(), stretch_ = std::max<extent_t>(1, budget / span_);
    } else {
      span_ = loops::depth_block, stretch_ = std::max<extent_t>(1, budget / span_);
    }
    if (panels_ > 0)
      stretch_ = (panels_ + (panels_ + stretch_ - 1) / stretch_ - 1) / ((panels_ + stretch_ - 1) / stretch_);
    extent_t const m = std::max<extent_t>(row_count, 1), tall = loops::row_block;
    extent_t const blocks = (m + tall + tall / 4 - 1) / (tall + tall / 4);
    extent_t const grain = tile_rows<tile_vectors>;
    rows_ = std::min(m, ((m + blocks - 1) / blocks + grain - 1) / grain * grain);
    streaming_ = c.bare && c.k.size <= loops::depth_block && width_of_panel * sizeof(T) % 64 == 0 &&
                 work / static_cast<double>(c.k.size + 1) * sizeof(T) >= static_cast<double>(loops::streaming_bytes);
    area_ = span_ < depth() && !at_.all_direct(c);
    area_rows_ = area_ ? std::min(m, loops::area_rows / rows_ * rows_) : m;
  }

  int threads() const { return threads_; }
  std::size_t scratch_bytes() const {
    if (few_) return streamed_rows<T>::scratch_bytes(c_, threads_);
    std::size_t sum = 4096 + bytes(rows_ * width_of_panel) + at_.scratch_bytes(c_, rows_, span_) +
                      block_scratch(*c_.epilogue, rows_, width_of_panel);
    if (come_ == panels_come::block_by_block) sum += bytes(std::min(span_, loops::depth_block) * width_of_panel);
    if (!together_) sum += bytes(packed_elements()) + bytes(area_elements());
    return sum;
  }
  std::size_t shared_bytes() const {
    if (!together_) return 64;
    return bytes(packed_elements()) + bytes(area_elements());
  }

  /// On each thread of a team.
  void run(team& t, char* memory, std::size_t per_thread, char* shared) const {
    if (c_.batch.size == 0 || c_.row_count() == 0 || c_.n.size == 0) return;
    scratch s(memory + static_cast<std::size_t>(t.thread) * per_thread, per_thread);
    extent_t origin[loops::max_rank] = {};
    if (few_) return streamed_rows<T>::run(c_, at_, threads_, t, s);
    if (!together_) {
      t.share(c_.batch.size, [&](extent_t b) {
        scratch local = s;
        c_.batch.locate(b, origin);
        T* const packed = come_ == panels_come::packed ? local.take_as<T>(packed_elements()) : nullptr;
        T* const area = area_ ? local.take_as<T>(area_elements()) : nullptr;
        multiply(origin, packed, area, local, [](extent_t jobs, auto&& body) {
          for (extent_t job = 0; job < jobs; ++job) body(job);
        });
      });
      return;
    }
    T* const packed = reinterpret_cast<T*>(shared);
    T* const area = area_ ? reinterpret_cast<T*>(shared + (bytes(packed_elements()) + 63) / 64 * 64) : nullptr;
    for (extent_t b = 0; b < c_.batch.size; ++b) {
      c_.batch.locate(b, origin);
      multiply(origin, packed, area, s, [&](extent_t jobs, auto&& body) { t.share(jobs, body); });
    }
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
