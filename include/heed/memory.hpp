// SPDX-License-Identifier: BSL-1.0
// In: a size. Out: aligned memory; a counted block of it, which tensors and the expressions over them share.
// Next to read: leaf.hpp, which gives it axes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#if defined(__linux__) && __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace heed::detail {

/// At 64 bytes. What lives long and is read again and again may ask for large pages: a tile of a bias or of a weight touches a
/// page a row, and would look for each anew. (Memory of one run would only wait for them.) Where the system has none, nothing
/// changes.
inline void* allocate(std::size_t bytes, [[maybe_unused]] bool large_pages) {
  void* const p = ::operator new (bytes, std::align_val_t{64});
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t large = std::size_t{4} << 20, page = 4096;
  if (large_pages && bytes >= large) {
    std::size_t const skipped = (page - reinterpret_cast<std::uintptr_t>(p) % page) % page;
    (void)::madvise(static_cast<char*>(p) + skipped, (bytes - skipped) / page * page, MADV_HUGEPAGE);  // a wish
  }
#endif
  return p;
}
inline void give_back(void* p) { ::operator delete (p, std::align_val_t{64}); }

/// A 64-byte aligned block with a reference count in front; or a count alone, for memory that somebody else gives back.
class buffer {
  struct header {
    std::atomic<long> count;
    void* attached = nullptr;
    void (*give_back)(void*) = nullptr;
    void* foreign = nullptr;
  };
  static_assert(sizeof(header) <= 64);
  std::uintptr_t block_ = 0;  // where the header lies; one more where this buffer does not count

  header* block() const {
    return reinterpret_cast<header*>(block_ & ~std::uintptr_t{1});  // NOLINT(performance-no-int-to-ptr)
  }
  bool counts() const { return block_ != 0 && (block_ & 1) == 0; }
  [[gnu::noinline]] void release() {
    header* const h = block();
    if (h->count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      if (h->attached) detail::give_back(h->attached);
      if (h->give_back) h->give_back(h->foreign);
      detail::give_back(h);
    }
  }

 public:
  buffer() = default;
  /// With 64 bytes to spare: whole vectors may be written.
  explicit buffer(std::size_t bytes)
      : block_(reinterpret_cast<std::uintptr_t>(::new (detail::allocate(bytes + 64 + 64, true)) header{1})) {}
  /// Nobody needs the foreign memory any more: give_back(foreign).
  buffer(void (*give_back)(void*), void* foreign) : buffer(0) {
    block()->give_back = give_back;
    block()->foreign = foreign;
  }
  buffer(buffer const& other) : block_(other.block_) {
    if (counts()) block()->count.fetch_add(1, std::memory_order_relaxed);
  }
  buffer(buffer&& other) noexcept : block_(std::exchange(other.block_, 0)) {}
  buffer& operator=(buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~buffer() {
    if (counts()) release();
  }
  /// The same memory for somebody who ends before this buffer does. Neither it nor its copies count, which costs a locked
  /// instruction each time: a run copies each leaf some twenty times.
  buffer borrowed() const {
    buffer b;
    b.block_ = block_ == 0 ? 0 : block_ | 1;
    return b;
  }
  void* data() const { return block_ != 0 ? reinterpret_cast<char*>(block()) + 64 : nullptr; }
  /// A second block that lives as long as the first, once: the panels of a packed weight.
  void* attach(std::size_t bytes) { return block()->attached = detail::allocate(bytes, true); }
  void const* attached() const { return block_ != 0 ? block()->attached : nullptr; }
};

}  // namespace heed::detail
