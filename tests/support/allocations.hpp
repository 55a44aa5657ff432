// SPDX-License-Identifier: BSL-1.0
// In: a program that includes this file once. Out: its every allocation is counted, and one of them, or all from one on, can
// be made to fail. malloc itself never fails, so that an exception can be thrown.
// Next: words_memory.cpp, which counts; out_of_memory.cpp, which lets every allocation fail.
#pragma once
#include <atomic>
#include <cstdlib>
#include <new>

namespace test {

inline std::atomic<long> allocations{0};         ///< so far
inline std::atomic<long> allocations_left{-1};   ///< that succeed before one fails; negative: all do
inline std::atomic<bool> fails_from_then{true};  ///< all that follow fail, too
inline std::atomic<long> allocations_failed{0};  ///< so far

template <class Action> long allocations_of(Action action) {
  const long before = allocations;
  action();
  return allocations - before;
}

namespace allocations_detail {

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  if (allocations_left >= 0 && allocations_left-- == 0) {
    if (fails_from_then) allocations_left = 0;
    ++allocations_failed;
    return nullptr;
  }
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
}
inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const block = allocate(bytes, alignment)) return block;
  throw std::bad_alloc();
}
// Not inlined, so that the compiler does not take it for a mistake in the callers of delete.
[[gnu::noinline]] inline void release(void* block) { std::free(block); }
inline constexpr std::size_t plain = 16;

}  // namespace allocations_detail
}  // namespace test

void* operator new(std::size_t bytes) {
  return test::allocations_detail::allocate_or_throw(bytes, test::allocations_detail::plain);
}
void* operator new[](std::size_t bytes) {
  return test::allocations_detail::allocate_or_throw(bytes, test::allocations_detail::plain);
}
void* operator new(std::size_t bytes, std::align_val_t a) {
  return test::allocations_detail::allocate_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return test::allocations_detail::allocate_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return test::allocations_detail::allocate(bytes, test::allocations_detail::plain);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return test::allocations_detail::allocate(bytes, test::allocations_detail::plain);
}
void operator delete(void* block) noexcept { test::allocations_detail::release(block); }
void operator delete[](void* block) noexcept { test::allocations_detail::release(block); }
void operator delete(void* block, std::size_t) noexcept { test::allocations_detail::release(block); }
void operator delete[](void* block, std::size_t) noexcept { test::allocations_detail::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { test::allocations_detail::release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { test::allocations_detail::release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { test::allocations_detail::release(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  test::allocations_detail::release(block);
}
