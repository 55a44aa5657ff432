// SPDX-License-Identifier: BSL-1.0
// In: any bytes. Out: nothing but a file_error, whatever they are; a file that is accepted is read as every type and
// written again, with the same shape and type. Built and run by tools/fuzz.
// Next: safetensors.cpp.
#include "every_shape.hpp"
#include <heed/io/npy.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::allowed([&] {
    const io::npy_file file(bytes, "fuzz.npy");
    fuzz::with_every_shape([&]<class T, class... A>(fuzz::wanted<T, A...>) {
      fuzz::allowed([&] { fuzz::look_at(file.read<T, A...>()); });
    });
    // The header again, as heed writes it.
    const auto header = detail::parse_npy(bytes, "fuzz.npy");
    std::string again = detail::npy_header_text(header.type, header.shape, header.fortran);
    again.append(reinterpret_cast<const char*>(bytes.data()) + header.start, bytes.size() - header.start);
    const io::npy_file second(std::as_bytes(std::span(again)), "again.npy");
    if (second.shape() != file.shape()) std::abort();
  });
  return 0;
}
