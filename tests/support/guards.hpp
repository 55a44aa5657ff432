// SPDX-License-Identifier: BSL-1.0
// In: a number of elements. Out: memory for them that ends where a page without access begins, or begins where such a page
// ends, and whose other bytes are NaN in every type: what is read beyond it shows or ends the program, what is written is seen.
// Next: guards.cpp.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace test {

enum class guard { behind, before };  // on which side the page without access touches the elements

/// Pages between two that may not be touched.
class guarded_pages {
  char* all_ = nullptr;
  std::size_t inner_ = 0;

 public:
  static std::size_t page() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
  }
  explicit guarded_pages(std::size_t bytes) : inner_((bytes + page() - 1) / page() * page()) {
    if (inner_ == 0) inner_ = page();
    void* const memory = mmap(nullptr, inner_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    all_ = static_cast<char*>(memory);
    if (mprotect(begin(), inner_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::memset(begin(), 0xff, inner_);  // a NaN of every floating-point type, -1 of every integer
  }
  guarded_pages(const guarded_pages&) = delete;
  guarded_pages& operator=(const guarded_pages&) = delete;
  ~guarded_pages() { munmap(all_, inner_ + 2 * page()); }
  char* begin() const { return all_ + page(); }
  char* end() const { return begin() + inner_; }
};

/// `guarded<float> x(17, guard::behind); x.data()[16] = 1;`
template <class T> class guarded {
  guarded_pages pages_;
  T* data_;
  std::size_t count_;

 public:
  guarded(std::ptrdiff_t count, guard where)
      : pages_(static_cast<std::size_t>(count) * sizeof(T)),
        data_(reinterpret_cast<T*>(where == guard::before ? pages_.begin() : pages_.end()) -
              (where == guard::before ? 0 : count)),
        count_(static_cast<std::size_t>(count)) {}
  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + count_; }
  /// Whether nothing was written around the elements.
  bool intact() const {
    for (const char* p = pages_.begin(); p != reinterpret_cast<const char*>(data_); ++p)
      if (*p != '\xff') return false;
    for (auto p = reinterpret_cast<const char*>(end()); p != pages_.end(); ++p)
      if (*p != '\xff') return false;
    return true;
  }
};

}  // namespace test
