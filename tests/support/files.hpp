// SPDX-License-Identifier: BSL-1.0
// In: names of files in tests/golden/io, bytes, numbers by their formula (see tools/golden/io_files.py). Out: paths,
// contents, a folder that is removed again, and what a reader says of a bad file.
// Next: io_npy.cpp and io_safetensors.cpp.
#pragma once
#include "exceptions.hpp"
#include <heed/io/shape.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <type_traits>

namespace test {

struct row : heed::axis<3> {};
struct column : heed::axis<4> {};
struct any_row : heed::axis<> {};
struct any_column : heed::axis<> {};

inline std::filesystem::path golden_file(const std::string& name) {
  return std::filesystem::path(HEED_TEST_DATA) / "io" / name;
}
inline std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}
inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A folder of its own, gone with everything in it at the end.
class temporary_folder {
  std::filesystem::path path_;

 public:
  temporary_folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "heed_io_XXXXXX";
    BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  std::ptrdiff_t count() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }
};

/// Element i of a golden file.
template <class Stored, class T = Stored> T golden_number(heed::extent_t i) {
  if constexpr (std::is_same_v<Stored, bool>)
    return i % 3 == 0;
  else if constexpr (std::is_signed_v<Stored> && std::is_integral_v<Stored>)
    return static_cast<T>(3 * i - 7);
  else if constexpr (std::is_integral_v<Stored>)
    return static_cast<T>(3 * i);
  else
    return static_cast<T>(static_cast<float>(i) / 2 - 3);
}
template <class Stored, class T, class... A> bool is_golden(const heed::tensor<T, A...>& t) {
  for (heed::extent_t i = 0; i < t.size(); ++i)
    if (!(t.data()[i] == golden_number<Stored, T>(i))) return false;
  return t.size() > 0;
}
template <class T, class... A> heed::tensor<T, A...> golden_tensor() {
  heed::tensor<T, A...> t;
  for (heed::extent_t i = 0; i < t.size(); ++i) t.data()[i] = golden_number<T>(i);
  return t;
}

/// The sentence of a file_error without the file's name, which must begin it.
template <class Action> std::string refusal(const std::string& file, Action action) {
  const std::string text = message_of<heed::io::file_error>(action);
  return text.starts_with(file + ": ") ? text.substr(file.size() + 2) : "without the file's name: " + text;
}

}  // namespace test
