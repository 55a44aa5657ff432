// SPDX-License-Identifier: BSL-1.0
// In: the bytes of a .safetensors file. Out: its tensors by name (type, shape, bytes) and its metadata, all of them
// checked against each other and the number of bytes; and the header of a new file. The format: eight bytes with the
// header's length, the header in JSON, the elements of all tensors without a gap.
// Next to read: safetensors.hpp, the words for users.
#pragma once

#include "shape.hpp"

#include <map>
#include <nlohmann/json.hpp>

namespace heed::detail {

/// The types of safetensors by name, with their bits an element.
struct safetensors_type {
  std::string_view name;
  stored_type type;
  std::size_t bits;
};
inline constexpr safetensors_type safetensors_types[] = {
    {"BOOL", stored_type::boolean, 8},  {"U8", stored_type::u8, 8},         {"I8", stored_type::i8, 8},
    {"U16", stored_type::u16, 16},      {"I16", stored_type::i16, 16},      {"U32", stored_type::u32, 32},
    {"I32", stored_type::i32, 32},      {"U64", stored_type::u64, 64},      {"I64", stored_type::i64, 64},
    {"F16", stored_type::f16, 16},      {"BF16", stored_type::bf16, 16},    {"F32", stored_type::f32, 32},
    {"F64", stored_type::f64, 64},      {"F8_E4M3", stored_type::other, 8}, {"F8_E5M2", stored_type::other, 8},
    {"F8_E8M0", stored_type::other, 8}, {"F6_E2M3", stored_type::other, 6}, {"F6_E3M2", stored_type::other, 6},
    {"F4", stored_type::other, 4},      {"C64", stored_type::other, 64},
};

struct safetensors_entry {
  std::string type_text;
  std::vector<extent_t> shape;
  std::vector<std::uint64_t> offsets;
  bool has_type = false, has_shape = false, has_offsets = false;
  stored_type type = stored_type::other;
};

struct safetensors_header {
  std::map<std::string, safetensors_entry, std::less<>> tensors;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> names;  // in the order of their elements
  std::size_t start = 0;           // of the elements

  found_array array(std::span<std::byte const> file, std::string_view where, safetensors_entry const& e) const {
    return {where, e.type_text, e.type,
            false, e.shape,     file.subspan(start + e.offsets[0], e.offsets[1] - e.offsets[0])};
  }
};

/// Takes the JSON piece by piece: nothing is built but the header, so no nesting is deep and no name comes twice.
class safetensors_parser final : public nlohmann::json_sax<nlohmann::json> {
  enum class place { outside, top, metadata, tensor, shape, offsets };
  place place_ = place::outside;
  std::string name_, field_;
  safetensors_entry* entry_ = nullptr;
  safetensors_header& header_;

  bool fail(std::string const& what) {
    error = what;
    return false;
  }
  std::string where() const { return "tensor " + detail::shown(name_) + ": "; }
  bool unexpected(std::string_view what) {
    switch (place_) {
      case place::outside: return fail("the header is no JSON object");
      case place::top: return fail("the header says " + std::string(what) + " for tensor " + detail::shown(name_));
      case place::metadata: return fail("the metadata holds something else than texts under " + detail::shown(field_));
      case place::tensor:
        return fail(where() + (field_.empty() ? "" : detail::shown(field_) + " is ") + std::string(what));
      case place::shape: return fail(where() + "the shape holds " + std::string(what) + ", not extents alone");
      default: return fail(where() + "data_offsets holds " + std::string(what) + ", not two offsets");
    }
  }

 public:
  std::string error;

  explicit safetensors_parser(safetensors_header& header) : header_(header) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, string_t const&) override {
    return unexpected("a number that is no 64-bit integer");
  }
  bool binary(binary_t&) override { return unexpected("bytes"); }
  bool number_unsigned(number_unsigned_t n) override {
    if (place_ == place::offsets && entry_->offsets.size() < 2) return entry_->offsets.push_back(n), true;
    if (place_ == place::shape && std::in_range<extent_t>(n))
      return entry_->shape.push_back(static_cast<extent_t>(n)), true;
    return unexpected(place_ == place::offsets ? "three numbers"
                      : place_ == place::shape ? "too large a number"
                                               : "a number");
  }
  bool string(string_t& text) override {
    if (place_ == place::metadata) {
      if (!header_.metadata.emplace(field_, text).second) return fail("the metadata has " + shown(field_) + " twice");
      return true;
    }
    if (place_ != place::tensor || field_ != "dtype") return unexpected("a text");
    auto const* const found = std::ranges::find(safetensors_types, text, &safetensors_type::name);
    if (found == std::end(safetensors_types)) return fail(where() + "the type " + shown(text) + " is unknown");
    entry_->type_text = text, entry_->type = found->type;
    return true;
  }
  bool start_object(std::size_t) override {
    if (place_ == place::outside) return place_ = place::top, true;
    if (place_ != place::top) return unexpected("an object");
    return place_ = entry_ ? place::tensor : place::metadata, true;
  }
  bool key(string_t& text) override {
    if (place_ == place::top) {
      name_ = text, field_.clear();
      entry_ = nullptr;
      if (text == "__metadata__")
        return !std::exchange(has_metadata_, true) || fail("the header has __metadata__ twice");
      auto const [at, is_new] = header_.tensors.try_emplace(text);
      entry_ = &at->second;
      return is_new || fail("the header has tensor " + shown(text) + " twice");
    }
    field_ = text;
    if (place_ == place::metadata) return true;
    bool* const seen = text == "dtype"          ? &entry_->has_type
                       : text == "shape"        ? &entry_->has_shape
                       : text == "data_offsets" ? &entry_->has_offsets
                                                : nullptr;
    if (!seen) return fail(where() + "the header says " + shown(text) + ", which is unknown");
    return !std::exchange(*seen, true) || fail(where() + "the header says " + text + " twice");
  }
  bool end_object() override {
    if (place_ == place::tensor && !(entry_->has_type && entry_->has_shape && entry_->has_offsets))
      return fail(where() + "the header must say dtype, shape and data_offsets");
    return place_ = place_ == place::top ? place::outside : place::top, true;
  }
  bool start_array(std::size_t) override {
    if (place_ != place::tensor || (field_ != "shape" && field_ != "data_offsets")) return unexpected("a list");
    return place_ = field_ == "shape" ? place::shape : place::offsets, true;
  }
  bool end_array() override {
    if (place_ == place::offsets && entry_->offsets.size() != 2) return fail(where() + "data_offsets are not two");
    return place_ = place::tensor, true;
  }
  bool parse_error(std::size_t at, std::string const&, nlohmann::detail::exception const&) override {
    return fail("the header is no valid JSON at its byte " + std::to_string(at));
  }

 private:
  bool has_metadata_ = false;
};

/// The offsets of a tensor lie in the file and its shape asks for as many bytes.
inline void check_entry(std::string const& file, std::string const& name, safetensors_entry const& e,
                        std::size_t bytes) {
  std::string const where = "tensor " + detail::shown(name) + ": ";
  if (e.offsets[0] > e.offsets[1] || e.offsets[1] > bytes)
    detail::refuse_file(file, where + "data_offsets " + std::to_string(e.offsets[0]) + " to " +
                                  std::to_string(e.offsets[1]) + " do not lie within the " + std::to_string(bytes) +
                                  " bytes behind the header" + (e.offsets[1] > bytes ? ": the file is truncated" : ""));
  std::size_t const bits = std::ranges::find(safetensors_types, e.type_text, &safetensors_type::name)->bits;
  std::size_t wanted = 0;
  try {
    // Elements of 8 bytes, for that is how wide they may be read.
    wanted = static_cast<std::size_t>(detail::checked_size(e.shape.data(), e.shape.size(), 8));
  } catch (shape_error const&) {
    detail::refuse_file(file, where + "the shape " + detail::shape_text(e.shape) + " does not fit into 64 bits");
  }
  wanted = wanted / 8 * bits + (wanted % 8 * bits + 7) / 8;
  if (std::size_t const found = e.offsets[1] - e.offsets[0]; found != wanted)
    detail::refuse_file(file, where + "the shape " + detail::shape_text(e.shape) + " of type " + e.type_text +
                                  " asks for " + std::to_string(wanted) + " bytes, data_offsets for " +
                                  std::to_string(found));
}

/// The header of a file, after all checks that need no wanted shape.
inline safetensors_header parse_safetensors(std::span<std::byte const> bytes, std::string const& file) {
  constexpr std::uint64_t longest = 100'000'000;  // as the format says
  if (bytes.size() < 8)
    detail::refuse_file(file, "is no safetensors file, or truncated: it has " + std::to_string(bytes.size()) +
                                  " bytes, not even the 8 that say how long the header is");
  auto const length = detail::load_element<std::uint64_t>(bytes.data());
  std::span<std::byte const> const rest = bytes.subspan(8);
  if (length > longest)
    detail::refuse_file(file, "is no safetensors file: its header would have " + std::to_string(length) + " bytes");
  if (length > rest.size())
    detail::refuse_file(file, "is truncated: the header should have " + std::to_string(length) + " bytes, but " +
                                  std::to_string(rest.size()) + " are left");

  safetensors_header h;
  h.start = 8 + static_cast<std::size_t>(length);
  std::string_view const json(reinterpret_cast<char const*>(rest.data()), static_cast<std::size_t>(length));
  if (!json.starts_with('{')) detail::refuse_file(file, "is no safetensors file: its header does not begin with {");
  safetensors_parser parser(h);
  if (!nlohmann::json::sax_parse(json, &parser)) detail::refuse_file(file, parser.error);

  std::size_t const data = bytes.size() - h.start;
  for (auto const& [name, entry] : h.tensors) {
    detail::check_entry(file, name, entry, data);
    h.names.push_back(name);
  }
  std::ranges::stable_sort(h.names, {}, [&](std::string const& n) { return h.tensors.find(n)->second.offsets; });
  std::size_t reached = 0;
  for (std::string const& name : h.names) {
    auto const& offsets = h.tensors.find(name)->second.offsets;
    if (offsets[0] != reached)
      detail::refuse_file(file, "tensor " + detail::shown(name) + ": its bytes begin at " + std::to_string(offsets[0]) +
                                    ", those before it end at " + std::to_string(reached));
    reached = offsets[1];
  }
  if (reached != data)
    detail::refuse_file(file, "is too long: " + std::to_string(data - reached) + " bytes belong to no tensor");
  return h;
}

/// Insertions, deletions and exchanges of characters between two names (Levenshtein).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}
/// What to say of the names of a file that lacks one.
inline std::string names_alike(std::string_view name, std::vector<std::string> const& names) {
  constexpr std::size_t longest = 200, most = 10'000;  // beyond that it would take too long
  std::string const* nearest = nullptr;
  std::size_t least = 0;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    if (name.size() > longest || names[i].size() > longest) continue;
    std::size_t const distance = detail::edit_distance(name, names[i]);
    if (!nearest || distance < least) nearest = &names[i], least = distance;
  }
  if (names.empty()) return "; the file has none";
  return "; the file has " + std::to_string(names.size()) +
         (nearest ? ", the most alike is " + detail::shown(*nearest) : std::string());
}

/// Only UTF-8 can stand in the header.
inline std::string json_text(std::string const& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (nlohmann::json::exception const&) {
    throw io::file_error("safetensors_writer: the text " + detail::shown(text) + " is no UTF-8");
  }
}
/// Everything before the elements; spaces let these begin at a multiple of 8.
template <class Tensors>
std::string safetensors_header_text(Tensors const& tensors, std::map<std::string, std::string> const& metadata) {
  std::string text = "{";
  auto next = [&] { return std::string(text.size() > 1 ? "," : ""); };
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    bool first = true;
    for (auto const& [key, value] : metadata)
      text += (std::exchange(first, false) ? "" : ",") + detail::json_text(key) + ":" + detail::json_text(value);
    text += "}";
  }
  std::size_t reached = 0;
  for (auto const* named : tensors) {
    stored_array const& array = named->second;
    std::string shape;
    for (extent_t const e : array.extents) shape += (shape.empty() ? "" : ",") + std::to_string(e);
    auto const* const type = std::ranges::find(safetensors_types, array.type, &safetensors_type::type);
    std::size_t const end = reached + array.bytes();
    text += next() + detail::json_text(named->first) + ":{\"dtype\":\"" + std::string(type->name) + "\",\"shape\":[" +
            shape + "],\"data_offsets\":[" + std::to_string(reached) + "," + std::to_string(end) + "]}";
    reached = end;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  auto const length = static_cast<std::uint64_t>(text.size());
  std::string result(sizeof length, '\0');
  std::memcpy(result.data(), &length, sizeof length);
  return result + text;
}

}  // namespace heed::detail
