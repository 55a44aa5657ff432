// SPDX-License-Identifier: BSL-1.0
// In: the path of a file. Out: its bytes, mapped into memory; or a new file that takes its name only when it is whole;
// or a file_error, whose sentence names the file.
// Next to read: element.hpp, what the bytes mean.
#pragma once

#include "../axis.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

namespace heed::io {

/// What every reader and writer of files throws. The sentence names the file, the tensor where there is one, and what
/// was wanted and found.
///
///     try {
///       tensor w = heed::io::read_npy<float, output, input>("weights.npy");
///     } catch (heed::io::file_error const& e) {
///       std::cerr << e.what() << '\n';
///     }
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace heed::io

namespace heed::detail {

static_assert(std::endian::native == std::endian::little, "heed/io reads and writes little-endian files as they lie");

[[noreturn]] inline void refuse_file(std::string const& file, std::string const& what) {
  throw io::file_error(file + ": " + what);
}
/// What the system says of the last call that failed.
inline std::string system_message() { return std::error_code(errno, std::generic_category()).message(); }

/// Text out of a file, as a sentence may hold it: neither endless nor with control characters.
inline std::string shown(std::string_view text) {
  constexpr std::size_t most = 100;
  std::string s(text.substr(0, most));
  for (char& c : s)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > most ? s + "..." : s;
}

/// A file descriptor that is closed again.
class descriptor {
  int number_;

 public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() { close(); }
  int number() const { return number_; }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }
};

/// The bytes of a file, read by the system when they are looked at. Somebody who shortens the file meanwhile takes them
/// away: that ends the program, as it does for every mapped file.
class mapped_file {
  void* data_ = nullptr;
  std::size_t size_ = 0;

 public:
  explicit mapped_file(std::filesystem::path const& path) {
    // Without O_NONBLOCK, opening a pipe would wait for its other end.
    descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // NOLINT: the system's interface
    if (file.number() < 0) detail::refuse_file(path.string(), "cannot be opened: " + detail::system_message());
    struct stat status {};
    if (::fstat(file.number(), &status) != 0)
      detail::refuse_file(path.string(), "cannot be read: " + detail::system_message());
    if (!S_ISREG(status.st_mode)) detail::refuse_file(path.string(), "is not a regular file");
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;  // nothing to map
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (data_ == MAP_FAILED) detail::refuse_file(path.string(), "cannot be mapped: " + detail::system_message());
  }
  mapped_file() = default;
  mapped_file(mapped_file&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  mapped_file& operator=(mapped_file other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    return *this;
  }
  ~mapped_file() {
    if (data_) ::munmap(data_, size_);
  }
  std::span<std::byte const> bytes() const { return {static_cast<std::byte const*>(data_), size_}; }
};

/// A file under another name in the same folder, which takes its own by `finish()`. Until then what stood there stands.
class replacement_file {
  std::filesystem::path path_;
  std::string partial_;
  descriptor file_;

  static std::string partial_name(std::filesystem::path const& path) {
    static std::atomic<unsigned> count{0};
    return path.string() + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  }
  [[noreturn]] void fail() const { detail::refuse_file(path_.string(), "cannot be written: " + system_message()); }

 public:
  explicit replacement_file(std::filesystem::path path)
      : path_(std::move(path)),
        partial_(partial_name(path_)),
        file_(::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {  // NOLINT: as above
    if (file_.number() < 0) fail();
  }
  replacement_file(replacement_file const&) = delete;
  replacement_file& operator=(replacement_file const&) = delete;
  ~replacement_file() {
    if (!partial_.empty()) ::unlink(partial_.c_str());
  }
  void write(void const* data, std::size_t size) {
    auto const* from = static_cast<char const*>(data);
    while (size > 0) {
      ssize_t const written = ::write(file_.number(), from, std::min(size, std::size_t{1} << 30));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail();
      from += written, size -= static_cast<std::size_t>(written);
    }
  }
  void finish() {
    if (::fsync(file_.number()) != 0 || !file_.close()) fail();
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail();
    partial_.clear();
  }
};

}  // namespace heed::detail
