// SPDX-License-Identifier: BSL-1.0
// In: the path of a .npy file (float64, float32, int64 or int32, C order). Out: its shape and its numbers as doubles.
// Anything else in the file is refused with a sentence.
// Next: tensors.hpp, which makes a tensor of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

struct npy_file {
  std::vector<std::ptrdiff_t> shape;
  std::vector<double> numbers;
};

namespace npy_detail {

inline std::string field(const std::string& header, const std::string& name, const std::string& path) {
  const std::size_t at = header.find("'" + name + "':");
  if (at == std::string::npos) throw std::runtime_error(path + ": no field " + name + " in the header");
  return header.substr(header.find_first_not_of(' ', at + name.size() + 3));
}

inline std::vector<std::ptrdiff_t> shape_of(const std::string& text) {  // "(3, 4, 8), ..." or "(3,), ..." or "(), ..."
  std::vector<std::ptrdiff_t> shape;
  std::ptrdiff_t number = -1;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = (number < 0 ? 0 : number) * 10 + (c - '0');
    } else {
      if (number >= 0) shape.push_back(number);
      number = -1;
      if (c == ')') break;
    }
  }
  return shape;
}

template <class Stored> std::vector<double> numbers_of(const std::string& bytes, std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    numbers[i] = static_cast<double>(stored);
  }
  return numbers;
}

}  // namespace npy_detail

inline npy_file read_npy(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path + ": cannot be opened");
  const std::string file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (file.size() < 12 || file.compare(0, 6, "\x93NUMPY") != 0) throw std::runtime_error(path + ": not a .npy file");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(file[at])); };
  const bool long_header = byte(6) > 1;
  const std::size_t start = long_header ? 12 : 10;
  const std::size_t length =
      byte(8) + (byte(9) << 8) + (long_header ? (byte(10) << 16) + (byte(11) << 24) : std::size_t{0});
  const std::string header = file.substr(start, length), bytes = file.substr(start + length);

  if (npy_detail::field(header, "fortran_order", path).rfind("False", 0) != 0)
    throw std::runtime_error(path + ": not in C order");
  npy_file result{npy_detail::shape_of(npy_detail::field(header, "shape", path)), {}};
  std::size_t count = 1;
  for (const std::ptrdiff_t extent : result.shape) count *= static_cast<std::size_t>(extent);
  const std::string type = npy_detail::field(header, "descr", path).substr(1, 3);
  const std::size_t width = type == "<f8" || type == "<i8" ? 8 : 4;
  if (bytes.size() != count * width) throw std::runtime_error(path + ": the size is not that of the shape");
  if (type == "<f8")
    result.numbers = npy_detail::numbers_of<double>(bytes, count);
  else if (type == "<f4")
    result.numbers = npy_detail::numbers_of<float>(bytes, count);
  else if (type == "<i8")
    result.numbers = npy_detail::numbers_of<std::int64_t>(bytes, count);
  else if (type == "<i4")
    result.numbers = npy_detail::numbers_of<std::int32_t>(bytes, count);
  else
    throw std::runtime_error(path + ": elements of type " + type + " are not read here");
  return result;
}

}  // namespace test
