// SPDX-License-Identifier: BSL-1.0
// In: the loops as templates. Out: the list of those that no formula has a part in, so that a program of many files can
// compile them once: most of the time that a compiler spends on one attention goes into them.
// Next to read: ../src.hpp, the file that compiles them.
#pragma once

#include "rows.hpp"
#include "stream.hpp"
#include "tree.hpp"

/// Each loop for each type that it computes in and reads, behind `How`: `extern template` or `template`.
#define HEED_KERNEL_INSTANCES(How)                     \
  namespace heed::kernel {                             \
  inline namespace HEED_ARCH {                         \
  How class stream_run<float>;                         \
  How class stream_run<double>;                        \
  How class contract_run<float>;                       \
  How class contract_run<double>;                      \
  How struct row_stage<float>;                         \
  How struct row_stage<double>;                        \
  HEED_PACKING_INSTANCES(How, float)                   \
  HEED_PACKING_INSTANCES(How, double)                  \
  HEED_COPY_INSTANCE(How, stored_cell<float>, float)   \
  HEED_COPY_INSTANCE(How, stored_cell<bf16>, float)    \
  HEED_COPY_INSTANCE(How, stored_cell<f16>, float)     \
  HEED_COPY_INSTANCE(How, ready_cell<float>, float)    \
  HEED_COPY_INSTANCE(How, stored_cell<double>, double) \
  HEED_COPY_INSTANCE(How, ready_cell<double>, double)  \
  namespace decode {                                   \
  HEED_DECODE_INSTANCES(How, float, float)             \
  HEED_DECODE_INSTANCES(How, float, bf16)              \
  HEED_DECODE_INSTANCES(How, float, f16)               \
  HEED_DECODE_INSTANCES(How, double, double)           \
  }                                                    \
  }                                                    \
  }

#define HEED_PACKING_INSTANCES(How, T)                                                            \
  How void transpose_block<T>(T const*, extent_t, extent_t, extent_t, T*, extent_t, extent_t, T); \
  How void pack_panel<T>(T const*, extent_t, extent_t, extent_t, extent_t, T*);

/// A tree that is one terminal: what is packed from memory of another type or layout.
#define HEED_COPY_INSTANCE(How, Cell, Storage)                                                                     \
  How void run_plain<Cell, Storage>(void const*, loops::bound const*, char*, extent_t, extent_t, extent_t, double, \
                                    std::uint64_t*);

#define HEED_DECODE_INSTANCES(How, T, S)                                                                 \
  How void score_tile<T, S>(rows<S> const&, extent_t, int, T const*, extent_t, T*, extent_t, upcoming&); \
  How void value_tile<T, S>(rows<S> const&, extent_t, int, T const*, extent_t, T*, extent_t, upcoming&); \
  How void value_row_kept<T, S>(rows<S> const&, extent_t, T const*, std::uint64_t const*, T*);

#ifdef HEED_SEPARATE_COMPILATION
HEED_KERNEL_INSTANCES(extern template)
#endif
