// SPDX-License-Identifier: BSL-1.0
// In: .npy files, as NumPy saves them, or tensors. Out: tensors over named axes, or .npy files.
// Next to read: safetensors.hpp, many tensors in one file.
#pragma once

#include "npy_header.hpp"
#include "shape.hpp"

namespace heed::detail {
struct write_npy_word {
  static constexpr std::string_view name = "write_npy";
};
}  // namespace heed::detail

namespace heed::io {

/// Which axis of the elements in a file is the fastest: the last (NumPy's default) or the first.
///
///     heed::io::write_npy("weights.npy", w, heed::io::order::fortran);
enum class order { c, fortran };

/// A .npy file (versions 1 to 3, little endian, C or Fortran order), mapped into memory.
///
///     heed::io::npy_file file("weights.npy");
///     heed::tensor w = file.read<float, output, input>();          // dynamic extents are those of the file
///     heed::tensor x = file.read<float, token, model>(token{12});  // or what is wanted
///
/// Axes are those of the shape that NumPy shows, whatever the order of the elements. Elements are read as the type that
/// they have, or as a wider one that has all its values: f2 as float, f4 as double, u1 and i2 as std::int32_t.
/// Refused, by file_error: a file that cannot be read, is truncated, too long or malformed, big endian, or has another
/// shape or type than is wanted.
class npy_file {
  std::string name_;
  detail::mapped_file file_;
  std::span<std::byte const> bytes_;
  detail::npy_header header_;

 public:
  /// Maps the file; what it holds is read when it is asked for.
  explicit npy_file(std::filesystem::path const& path)
      : name_(path.string()),
        file_(path),
        bytes_(file_.bytes()),
        header_(detail::parse_npy(bytes_, name_)) {}
  /// A file that is in memory already, which must outlive this; its name is for sentences.
  npy_file(std::span<std::byte const> bytes, std::string name)
      : name_(std::move(name)),
        bytes_(bytes),
        header_(detail::parse_npy(bytes_, name_)) {}

  /// As NumPy shows it.
  std::vector<extent_t> const& shape() const { return header_.shape; }
  /// As NumPy writes it: "<f4".
  std::string const& type() const { return header_.type_text; }

  /// A tensor over A...; extents by name are wanted, others are as in the file.
  template <class T, class... A, class... X>
    requires(detail::axis_tag<X>&&...)
  auto read(X const&... wanted) const {
    if constexpr (detail::readable_element<T> && detail::extents_may_be_wanted<axes<A...>, X...>)
      return detail::read_array<T, A...>(name_, header_.array(bytes_), wanted...);
    else {
      detail::refuse_wanted<detail::read_word, T, axes<A...>, X...>();
      return detail::poison{};
    }
  }
};

/// The one tensor of a .npy file, over A...; extents by name are wanted, others are as in the file. Refused, by file_error:
/// what npy_file refuses.
///
///     heed::tensor w = heed::io::read_npy<float, output, input>("weights.npy", input{512});
template <class T, class... A, class... X>
  requires(detail::axis_tag<X>&&...)
auto read_npy(std::filesystem::path const& path, X const&... wanted) { return npy_file(path).read<T, A...>(wanted...); }

/// A tensor or view as a .npy file of version 1. What the path named before stays whole until the new file is; .npy has
/// no type for bf16, which is refused. file_error: a file that cannot be written.
///
///     heed::io::write_npy("weights.npy", w);
template <detail::writable_array E>
void write_npy(std::filesystem::path const& path, E const& e, order elements = order::c) {
  static_assert(!std::is_same_v<std::remove_const_t<typename E::value_type>, bf16>,
                "write_npy: .npy has no type for bf16 (say cast<float>(...) or write safetensors)");
  detail::stored_array const array(e.heed_leaf());
  bool const fortran = elements == order::fortran;
  std::string const header = detail::npy_header_text(array.type, array.extents, fortran);
  detail::replacement_file file(path);
  file.write(header.data(), header.size());
  array.write_to(file, fortran);
  file.finish();
}
/// @private
template <heed::detail::expression_like E>
  requires(!heed::detail::stored<E>)
void write_npy(std::filesystem::path const&, E const&, order = order::c) {
  heed::detail::refuse_unevaluated<heed::detail::write_npy_word, E>();
}

}  // namespace heed::io
