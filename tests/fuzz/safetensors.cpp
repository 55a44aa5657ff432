// SPDX-License-Identifier: BSL-1.0
// In: any bytes. Out: nothing but a file_error, whatever they are; of a file that is accepted every tensor is read as
// every type, looked at in place, and listed in a header that is accepted again.
// Next: ../../tools/fuzz, which builds and runs this.
#include "every_shape.hpp"
#include <heed/io/safetensors.hpp>

namespace {

void read_every_tensor(const heed::io::safetensors_file& file) {
  using namespace heed;
  std::size_t count = 0;
  for (const std::string& name : file.names()) {
    if (++count > 16) break;  // enough of one file
    fuzz::with_every_shape([&]<class T, class... A>(fuzz::wanted<T, A...>) {
      fuzz::allowed([&] { fuzz::look_at(file.read<T, A...>(name)); });
      fuzz::allowed([&] { fuzz::look_at(tensor<T, A...>(fuzz::copy(file.view<T, A...>(name)))); });
    });
    fuzz::allowed([&] { (void)file.shape(name + "?"); });
  }
}

void write_again(const heed::io::safetensors_file& file) {
  using namespace heed;
  std::map<std::string, detail::stored_array> tensors;
  for (const std::string& name : file.names())
    fuzz::allowed([&] { tensors.emplace(name, detail::stored_array(file.view<float, fuzz::one>(name).heed_leaf())); });
  std::vector<const std::pair<const std::string, detail::stored_array>*> listed;
  std::string elements;
  for (const auto& named : tensors) {
    listed.push_back(&named);
    elements.append(reinterpret_cast<const char*>(named.second.data), named.second.bytes());
  }
  const std::string text = detail::safetensors_header_text(listed, file.metadata()) + elements;
  const io::safetensors_file again(std::as_bytes(std::span(text)), "again");
  if (again.names().size() != listed.size() || again.metadata() != file.metadata()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::allowed([&] {
    const heed::io::safetensors_file file(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
    read_every_tensor(file);
    write_again(file);
  });
  return 0;
}
