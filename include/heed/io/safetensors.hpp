// SPDX-License-Identifier: BSL-1.0
// In: .safetensors files, or tensors by name. Out: tensors over named axes, or .safetensors files. Needs nlohmann-json;
// heed::io is the CMake target with it.
// Next to read: safetensors_header.hpp, how a file is checked.
#pragma once

#include "safetensors_header.hpp"

namespace heed::detail {
struct add_word {
  static constexpr std::string_view name = "add";
};
}  // namespace heed::detail

namespace heed::io {

/// A .safetensors file, mapped into memory.
///
///     heed::io::safetensors_file file("model.safetensors");
///     heed::tensor w = file.read<float, output, input>("encoder.w");    // dynamic extents are those of the file
///     heed::tensor e = file.read<float, token, model>("embedding", token{30522});  // or what is wanted
///     heed::view v = file.view<float, output, input>("encoder.w");      // without a copy, while the file lives
///
/// Elements are read as the type that they have, or as a wider one that has all its values: F16 and BF16 as float, F32
/// as double, U8 and I16 as std::int32_t. Refused, by file_error: a file that cannot be read, is truncated, too long,
/// malformed or says anything twice; a name that is not there; another shape or type than is wanted.
class safetensors_file {
  std::string name_;
  detail::mapped_file file_;
  std::span<std::byte const> bytes_;
  detail::safetensors_header header_;

  detail::safetensors_entry const& entry(std::string_view name) const {
    auto const found = header_.tensors.find(name);
    if (found == header_.tensors.end())
      detail::refuse_file(name_,
                          "there is no tensor " + detail::shown(name) + detail::names_alike(name, header_.names));
    return found->second;
  }

 public:
  /// Maps the file; a tensor is read when it is asked for.
  explicit safetensors_file(std::filesystem::path const& path)
      : name_(path.string()),
        file_(path),
        bytes_(file_.bytes()),
        header_(detail::parse_safetensors(bytes_, name_)) {}
  /// A file that is in memory already, which must outlive this; its name is for sentences.
  safetensors_file(std::span<std::byte const> bytes, std::string name)
      : name_(std::move(name)),
        bytes_(bytes),
        header_(detail::parse_safetensors(bytes_, name_)) {}

  /// In the order of their elements.
  std::vector<std::string> const& names() const { return header_.names; }
  /// What stands in __metadata__.
  std::map<std::string, std::string> const& metadata() const { return header_.metadata; }
  /// Whether there is a tensor of that name.
  bool contains(std::string_view name) const { return header_.tensors.contains(name); }
  /// As PyTorch shows it; file_error where there is no such tensor.
  std::vector<extent_t> const& shape(std::string_view name) const { return entry(name).shape; }
  /// As the file writes it: "F32".
  std::string const& type(std::string_view name) const { return entry(name).type_text; }

  /// A tensor over A...; extents by name are wanted, others are as in the file.
  template <class T, class... A, class... X>
    requires(detail::axis_tag<X>&&...)
  auto read(std::string_view name, X const&... wanted) const {
    if constexpr (detail::readable_element<T> && detail::extents_may_be_wanted<axes<A...>, X...>) {
      std::string const where = "tensor " + detail::shown(name) + ": ";
      return detail::read_array<T, A...>(name_, header_.array(bytes_, where, entry(name)), wanted...);
    } else {
      detail::refuse_wanted<detail::read_word, T, axes<A...>, X...>();
      return detail::poison{};
    }
  }
  /// The elements where they lie. Refused, beside what read refuses: a wider type; an address that is no multiple of
  /// the element's size, as files that heed or the format's own library wrote never have it.
  template <class T, class... A, class... X>
    requires(detail::axis_tag<X>&&...)
  auto view(std::string_view name, X const&... wanted) const {
    if constexpr (detail::readable_element<T> && detail::extents_may_be_wanted<axes<A...>, X...>) {
      std::string const where = "tensor " + detail::shown(name) + ": ";
      return detail::view_array<T, A...>(name_, header_.array(bytes_, where, entry(name)), wanted...);
    } else {
      detail::refuse_wanted<detail::read_word, T, axes<A...>, X...>();
      return detail::poison{};
    }
  }
};

/// Collects tensors and writes them as one .safetensors file.
///
///     heed::io::safetensors_writer file;
///     file.metadata("format", "pt");
///     file.add("encoder.w", w);
///     file.write("model.safetensors");
///
/// A tensor that is added is written as it is at write(); foreign memory (a view) must live until then. What the path
/// named before stays whole until the new file is. Refused, by file_error: a name or key that comes twice, is
/// "__metadata__" or no UTF-8, and a file that cannot be written.
class safetensors_writer {
  std::map<std::string, detail::stored_array> tensors_;
  std::map<std::string, std::string> metadata_;

 public:
  /// A pair for __metadata__.
  void metadata(std::string key, std::string value) {
    detail::json_text(key), detail::json_text(value);  // throws where they are no UTF-8
    if (!metadata_.emplace(key, std::move(value)).second)
      throw file_error("safetensors_writer: the metadata has " + detail::shown(key) + " already");
  }
  /// A tensor or view under that name.
  template <detail::writable_array E> void add(std::string name, E const& e) {
    detail::json_text(name);  // throws where it is no UTF-8
    if (name == "__metadata__") throw file_error("safetensors_writer: no tensor can have the name __metadata__");
    if (!tensors_.emplace(name, detail::stored_array(e.heed_leaf())).second)
      throw file_error("safetensors_writer: there is a tensor " + detail::shown(name) + " already");
  }
  /// @private
  template <heed::detail::expression_like E>
    requires(!heed::detail::stored<E>)
  void add(std::string const&, E const&) { heed::detail::refuse_unevaluated<heed::detail::add_word, E>(); }
  /// The file, whole or not at all.
  void write(std::filesystem::path const& path) const {
    // The widest elements first: so every tensor begins at a multiple of its element's size.
    std::vector<std::pair<std::string const, detail::stored_array> const*> sorted;
    for (auto const& named : tensors_) sorted.push_back(&named);
    std::ranges::stable_sort(sorted, [](auto const* a, auto const* b) { return a->second.width > b->second.width; });
    std::string const header = detail::safetensors_header_text(sorted, metadata_);
    detail::replacement_file file(path);
    file.write(header.data(), header.size());
    for (auto const* named : sorted) named->second.write_to(file);
    file.finish();
  }
};

}  // namespace heed::io
