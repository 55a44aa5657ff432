// SPDX-License-Identifier: BSL-1.0
//
// A unit of the same program that reads model files: heed/io is optional, and heed::io is what it needs.
#include <heed/io/npy.hpp>
#include <heed/io/safetensors.hpp>

struct query : heed::axis<> {};

heed::tensor<float, query> read_one(const char* path) {
  return heed::io::safetensors_file(path).read<float, query>("x");
}
