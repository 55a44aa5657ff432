// SPDX-License-Identifier: BSL-1.0
// In: tensors. Out: what every step of the ladder needs beside heed: numbers in, numbers out. Nothing here is heed's.
#pragma once

#include <heed/heed.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <string_view>

/// The elements of a tensor in the order of its type; their number must be right.
template <class Tensor> void set(Tensor& tensor, std::initializer_list<typename Tensor::value_type> values) {
  if (static_cast<heed::extent_t>(values.size()) != tensor.size()) throw std::invalid_argument("set: another size");
  std::copy(values.begin(), values.end(), tensor.begin());
}

/// Numbers between -size and size that look random and are the same everywhere.
template <class Tensor> void set_waves(Tensor& tensor, double size, double phase) {
  double n = 0;
  for (auto& element : tensor) {
    element = static_cast<typename Tensor::value_type>(size * std::sin(phase + 0.7 * n * n));
    ++n;
  }
}

/// One row of the last axis on a line.
template <class T, class... A> void print(std::string_view title, heed::tensor<T, A...> const& tensor, int digits = 2) {
  heed::extent_t width = 1;
  ((width = tensor.template extent<A>()), ...);
  const double smallest = 0.5 * std::pow(10, -digits);
  if (!title.empty()) std::cout << title << '\n';
  std::cout << std::fixed << std::setprecision(digits);
  for (heed::extent_t i = 0; i < tensor.size(); ++i) {
    const auto value = static_cast<double>(tensor.data()[i]);
    std::cout << std::setw(digits + 5) << (std::abs(value) < smallest ? 0 : value) << ((i + 1) % width ? "" : "\n");
  }
}
template <class T, class... A> void print(heed::tensor<T, A...> const& tensor, int digits = 2) {
  print("", tensor, digits);
}
