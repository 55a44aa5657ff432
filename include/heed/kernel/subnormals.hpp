// SPDX-License-Identifier: BSL-1.0
// In: a thread that is about to run the loops of a stream. Out: one for which subnormal numbers are zeros, for a while.
// Next to read: stream.hpp, which wants that.
#pragma once

#include "simd.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

// While it lives, the calling thread takes subnormal numbers for zeros, going in and coming out: each one that enters a
// product would cost more than a hundred cycles.
class subnormals_off {
#if defined(__SSE2__)
  unsigned before_ = _mm_getcsr();

 public:
  subnormals_off() {
    constexpr unsigned results_to_zero = 0x8000, operands_to_zero = 0x0040;
    _mm_setcsr(before_ | results_to_zero | operands_to_zero);
  }
  ~subnormals_off() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  std::uint64_t before_;

 public:
  subnormals_off() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | std::uint64_t{1} << 24));
  }
  ~subnormals_off() { asm volatile("msr fpcr, %0" : : "r"(before_)); }
#else
 public:
  subnormals_off() {}
  ~subnormals_off() {}
#endif
  subnormals_off(const subnormals_off&) = delete;
  subnormals_off& operator=(const subnormals_off&) = delete;
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel
