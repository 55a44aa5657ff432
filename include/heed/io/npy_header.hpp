// SPDX-License-Identifier: BSL-1.0
// In: the bytes of a .npy file. Out: the type, order and shape that its header says, checked against the number of
// bytes; and the header of a new file. The format: numpy.lib.format, versions 1 to 3.
// Next to read: npy.hpp, the words for users.
#pragma once

#include "shape.hpp"

namespace heed::detail {

/// The types of .npy by their names without the byte order.
struct npy_type {
  std::string_view name;
  stored_type type;
  std::size_t width;
};
inline constexpr npy_type npy_types[] = {
    {"b1", stored_type::boolean, 1}, {"u1", stored_type::u8, 1},  {"i1", stored_type::i8, 1},
    {"u2", stored_type::u16, 2},     {"i2", stored_type::i16, 2}, {"u4", stored_type::u32, 4},
    {"i4", stored_type::i32, 4},     {"u8", stored_type::u64, 8}, {"i8", stored_type::i64, 8},
    {"f2", stored_type::f16, 2},     {"f4", stored_type::f32, 4}, {"f8", stored_type::f64, 8},
};

struct npy_header {
  std::string type_text;
  stored_type type = stored_type::other;
  bool fortran = false;
  std::vector<extent_t> shape;
  std::size_t start = 0;  // of the elements

  found_array array(std::span<std::byte const> file) const {
    return {"", type_text, type, fortran, shape, file.subspan(start)};
  }
};

/// Reads the header, a Python dictionary of three entries in any order, front to back.
class npy_parser {
  std::string_view text_;
  std::string const& file_;

  [[noreturn]] void fail(std::string const& what) const { detail::refuse_file(file_, "the .npy header " + what); }
  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n\r"), text_.size())); }
  std::string here() const {
    std::string_view const next = text_.substr(0, 20);
    return detail::shown(next.substr(0, next.find_last_not_of(" \t\n\r") + 1));
  }
  bool take(std::string_view token) {
    skip_space();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("lacks a '" + std::string(token) + "' before '" + here() + "'");
  }
  std::string_view quoted() {
    skip_space();
    char const quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') fail("has no text in quotes at '" + here() + "'");
    std::size_t const end = text_.find(quote, 1);
    if (end == text_.npos) fail("ends inside a text");
    std::string_view const inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }
  extent_t whole_number() {
    skip_space();
    extent_t n = 0;
    std::size_t digits = 0;
    for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text_[digits] - '0', &n))
        fail("has an extent that does not fit into 64 bits");
    if (digits == 0) fail("has no whole number at '" + here() + "'");
    text_.remove_prefix(digits);
    return n;
  }
  void read_type(npy_header& h) {
    if (take("[")) fail("says a structured type, which has no tensor");
    h.type_text = std::string(quoted());
    std::string_view name = h.type_text;
    std::string const text = "says type '" + detail::shown(name) + "'";
    if (name.empty()) fail(text + ", which is none");
    char const endian = name.front();
    name.remove_prefix(1);
    auto const* const found = std::ranges::find(npy_types, name, &npy_type::name);
    if (found == std::end(npy_types)) fail(text + ", which heed does not read");
    if (endian == '>' && found->width > 1) fail(text + ", which is big endian; only little endian is read");
    if (endian != '<' && endian != '|' && endian != '>' && endian != '=') fail(text + ", which has no byte order");
    if (endian == '|' && found->width > 1) fail(text + ", which has no byte order");
    h.type = found->type;
  }
  void read_order(npy_header& h) {
    if (take("True"))
      h.fortran = true;
    else
      expect("False");
  }
  void read_shape(npy_header& h) {
    expect("(");
    while (!take(")")) {
      h.shape.push_back(whole_number());
      if (take(")")) return;
      expect(",");
    }
  }

 public:
  npy_parser(std::string_view text, std::string const& file) : text_(text), file_(file) {}
  void read(npy_header& h) {
    bool has_type = false, has_order = false, has_shape = false;
    auto once = [&](bool& seen, std::string_view key) {
      if (std::exchange(seen, true)) fail("says '" + std::string(key) + "' twice");
    };
    expect("{");
    while (!take("}")) {
      std::string_view const key = quoted();
      expect(":");
      if (key == "descr")
        once(has_type, key), read_type(h);
      else if (key == "fortran_order")
        once(has_order, key), read_order(h);
      else if (key == "shape")
        once(has_shape, key), read_shape(h);
      else
        fail("has the unknown entry '" + detail::shown(key) + "'");
      if (take("}")) break;
      expect(",");
    }
    skip_space();
    if (!text_.empty()) fail("goes on after its end, with '" + here() + "'");
    if (!has_type || !has_order || !has_shape) fail("must say 'descr', 'fortran_order' and 'shape'");
  }
};

/// The header of a file, after all checks that need no wanted shape.
inline npy_header parse_npy(std::span<std::byte const> bytes, std::string const& file) {
  constexpr std::string_view magic = "\x93NUMPY";
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  if (!text.starts_with(magic)) detail::refuse_file(file, "is no .npy file: it does not begin with \\x93NUMPY");
  auto byte = [&](std::size_t at) {
    if (at >= bytes.size()) detail::refuse_file(file, "is truncated: it ends inside the .npy header");
    return static_cast<std::size_t>(bytes[at]);
  };
  std::size_t const version = byte(6);
  if (version < 1 || version > 3)
    detail::refuse_file(file, ".npy version " + std::to_string(version) + " is not read, only 1 to 3 are");
  std::size_t const start = version == 1 ? 10 : 12;
  std::size_t const length = byte(8) + (byte(9) << 8) + (version == 1 ? 0 : (byte(10) << 16) + (byte(11) << 24));
  if (length > bytes.size() - start)
    detail::refuse_file(file, "is truncated: the .npy header should have " + std::to_string(length) + " bytes, but " +
                                  std::to_string(bytes.size() - start) + " are left");

  npy_header h;
  npy_parser(text.substr(start, length), file).read(h);
  h.start = start + length;
  std::size_t const width = std::ranges::find(npy_types, h.type, &npy_type::type)->width;
  std::size_t wanted = 0;
  try {
    // Elements of 8 bytes, for that is how wide they may be read.
    wanted = static_cast<std::size_t>(detail::checked_size(h.shape.data(), h.shape.size(), 8)) * width;
  } catch (shape_error const&) {
    detail::refuse_file(file, "the shape " + detail::shape_text(h.shape) + " does not fit into 64 bits");
  }
  if (std::size_t const found = bytes.size() - h.start; found != wanted)
    detail::refuse_file(file, (found < wanted ? "is truncated: the shape " : "is too long: the shape ") +
                                  detail::shape_text(h.shape) + " of type " + h.type_text + " asks for " +
                                  std::to_string(wanted) + " bytes, but " + std::to_string(found) +
                                  " follow the header");
  return h;
}

/// Everything before the elements, as NumPy writes it: spaces make the length a multiple of 64.
inline std::string npy_header_text(stored_type type, std::span<extent_t const> extents, bool fortran) {
  auto const* const found = std::ranges::find(npy_types, type, &npy_type::type);
  std::string text = "{'descr': '" + std::string(found->width == 1 ? "|" : "<") + std::string(found->name) +
                     "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (";
  for (std::size_t i = 0; i < extents.size(); ++i)
    text += std::to_string(extents[i]) + (extents.size() == 1 ? "," : i + 1 < extents.size() ? ", " : "");
  text += "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string result("\x93NUMPY\x01\x00", 8);
  result += static_cast<char>(text.size() & 255U);
  result += static_cast<char>(text.size() >> 8U);
  return result + text;
}

}  // namespace heed::detail
