// SPDX-License-Identifier: BSL-1.0
// In: the trained model of examples/stories and its goldens where the data is (HEED_DATA); sizes of a model.
// Out: golden values, models of random weights and what they compute, in plain loops over float64.
// Next to read: ../stories.cpp.
#pragma once

#include "../../examples/stories/model.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace test {

using token_ids = std::vector<std::int32_t>;

inline constexpr double bound = 1e-5;  // of the golden values, computed in float64

inline std::filesystem::path trained(const char* name) { return stories::data_folder() / "stories260k" / name; }

inline std::string content(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline boost::test_tools::assertion_result data_is_here(boost::unit_test::test_unit_id) {
  const auto names = {"stories260K.bin", "tok512.bin", "golden.safetensors", "golden.txt"};
  const auto exists = [](const char* name) { return std::filesystem::exists(trained(name)); };
  const bool here = std::all_of(names.begin(), names.end(), exists);
  if (!here) std::cout << "skipped: no data (HEED_DATA names the folder)\n";
  return here;
}

// One tensor of a safetensors file: a header length, the header in JSON, the data. Just what these files need.
template <class Value> std::vector<Value> golden(std::string const& name) {
  const std::string file = content(trained("golden.safetensors"));
  std::uint64_t header_length = 0;
  BOOST_REQUIRE(file.size() >= sizeof header_length);
  std::memcpy(&header_length, file.data(), sizeof header_length);
  BOOST_REQUIRE(header_length <= file.size() - 8);
  const std::string header = file.substr(8, header_length);

  const std::size_t entry = header.find('"' + name + "\":{");
  BOOST_REQUIRE_MESSAGE(entry != std::string::npos, "no tensor " << name);
  const std::string type = std::is_same_v<Value, float> ? "F32" : "I32";
  BOOST_REQUIRE(header.compare(header.find("\"dtype\":\"", entry) + 9, 3, type) == 0);
  std::size_t digits = header.find("\"data_offsets\":[", entry) + 16, read = 0;
  const std::size_t from = std::stoull(header.substr(digits), &read);
  const std::size_t to = std::stoull(header.substr(digits + read + 1));
  BOOST_REQUIRE(from <= to && to <= file.size() - 8 - header_length);

  std::vector<Value> values((to - from) / sizeof(Value));
  std::memcpy(values.data(), file.data() + 8 + header_length + from, to - from);
  return values;
}

template <class Values> std::vector<float> copied(Values const& values) { return {values.begin(), values.end()}; }

// The largest difference; a NaN anywhere, or another number of values, is infinitely far.
template <class Left, class Right> double distance(Left const& left, Right const& right) {
  if (std::distance(left.begin(), left.end()) != std::distance(right.begin(), right.end()))
    return std::numeric_limits<double>::infinity();
  double largest = 0;
  auto other = right.begin();
  for (const auto value : left) {
    const double difference = std::abs(static_cast<double>(value) - static_cast<double>(*other++));
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

// A folder that is gone after the test.
struct temporary_folder {
  std::filesystem::path path;

  temporary_folder() {
    std::random_device random;
    do path = std::filesystem::temp_directory_path() / ("heed_stories_" + std::to_string(random()));
    while (!std::filesystem::create_directory(path));
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;

  std::filesystem::path write(std::string const& name, std::string const& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return path / name;
  }
};

template <class Value> void append(std::string& bytes, Value value) {
  const auto raw = std::bit_cast<std::array<char, sizeof(Value)>>(value);
  bytes.append(raw.begin(), raw.end());
}

using header = std::array<std::int32_t, 7>;  // dim hidden layers heads kv_heads vocabulary longest

inline constexpr header tiny{12, 10, 2, 6, 3, 11, 20};

inline std::size_t values_of(header const& size) {
  const auto [dim, hidden, layers, heads, kv_heads, vocabulary, longest] = size;
  const int width = dim / heads;
  return static_cast<std::size_t>(std::abs(vocabulary) * dim * (vocabulary < 0 ? 2 : 1) +
                                  layers * (2 * dim + 2 * dim * dim + 2 * kv_heads * width * dim + 3 * hidden * dim) +
                                  dim + longest * width);
}

// A model of random weights, the bytes of its file.
inline std::string random_model(header const& size, std::uint32_t seed = 7) {
  std::string bytes;
  for (const auto number : size) append(bytes, number);
  std::mt19937 generator(seed);
  for (std::size_t at = 0; at < values_of(size); ++at)
    append(bytes, static_cast<float>(generator() % 2001) / 1000.f - 1.f);
  return bytes;
}

// What a position of plain_loops sees: the last `window` positions, itself included, and the first `sinks`. The sinks
// stand gone[position] places later than they were read.
struct sight {
  int window = std::numeric_limits<int>::max(), sinks = 0;
  std::vector<int> gone = {};
};

// The same model in plain loops over float64: the logits after `ids`, and the attention of each layer.
struct reference {
  std::vector<std::vector<double>> attention_out;
  std::vector<double> logits;
};

inline reference plain_loops(std::string const& file, header const& size, token_ids const& ids,
                             sight const& seen = {}) {
  const int dim = size[0], hidden = size[1], layers = size[2], heads = size[3], kv_heads = size[4];
  const int vocabulary = size[5], longest = size[6], classes = std::abs(vocabulary);
  const int width = dim / heads, kv_width = kv_heads * width, count = static_cast<int>(ids.size());
  using vector = std::vector<double>;
  std::size_t at = 28;
  const auto next = [&](int values) {
    vector result(static_cast<std::size_t>(values));
    for (double& value : result) {
      float stored = 0;
      std::memcpy(&stored, file.data() + at, 4);
      value = static_cast<double>(stored);
      at += 4;
    }
    return result;
  };
  const auto item = [](auto& values, int index) -> auto& { return values[static_cast<std::size_t>(index)]; };
  const auto times = [&](vector const& matrix, int first, int out, int in, vector const& x) {
    vector y(static_cast<std::size_t>(out));
    for (int row = 0; row < out; ++row)
      for (int column = 0; column < in; ++column)
        item(y, row) += item(matrix, first + row * in + column) * item(x, column);
    return y;
  };
  const auto normal = [&](vector const& x, vector const& gain, int first) {
    double square = 0;
    for (const double value : x) square += value * value;
    vector y = x;
    for (int index = 0; index < dim; ++index)
      item(y, index) *= item(gain, first + index) / std::sqrt(square / dim + 1e-5);
    return y;
  };
  const auto turn = [&](vector& x, int position) {
    for (int index = 0; index < static_cast<int>(x.size()); index += 2) {
      const double angle = position * std::pow(10000., -static_cast<double>(index % width) / width);
      const double a = item(x, index), b = item(x, index + 1);
      item(x, index) = a * std::cos(angle) - b * std::sin(angle);
      item(x, index + 1) = a * std::sin(angle) + b * std::cos(angle);
    }
  };

  const vector embedding = next(classes * dim);
  const vector gain_1 = next(layers * dim), w_q = next(layers * dim * dim), w_k = next(layers * kv_width * dim),
               w_v = next(layers * kv_width * dim), w_o = next(layers * dim * dim);
  const vector gain_2 = next(layers * dim), w_1 = next(layers * hidden * dim), w_2 = next(layers * dim * hidden),
               w_3 = next(layers * hidden * dim);
  const vector gain = next(dim), cosines_and_sines = next(longest * width);
  const vector classifier = vocabulary < 0 ? next(classes * dim) : embedding;

  std::vector<vector> x(ids.size());
  for (int position = 0; position < count; ++position)
    item(x, position)
        .assign(embedding.begin() + item(ids, position) * dim, embedding.begin() + (item(ids, position) + 1) * dim);
  reference result;
  for (int layer = 0; layer < layers; ++layer) {
    std::vector<vector> keys, values;
    vector& attention_out = result.attention_out.emplace_back();
    for (int position = 0; position < count; ++position) {
      const vector n = normal(item(x, position), gain_1, layer * dim);
      vector q = times(w_q, layer * dim * dim, dim, dim, n);
      vector k = times(w_k, layer * kv_width * dim, kv_width, dim, n);
      turn(q, position);
      turn(k, position);
      keys.push_back(k);
      values.push_back(times(w_v, layer * kv_width * dim, kv_width, dim, n));
      vector context(static_cast<std::size_t>(dim));
      for (int head = 0; head < heads; ++head) {
        const int first = head * width, kv_first = head / (heads / kv_heads) * width;
        vector weight(static_cast<std::size_t>(position) + 1);
        double largest = -std::numeric_limits<double>::infinity(), total = 0;
        for (int past = 0; past <= position; ++past) {
          if (position - past >= seen.window && past >= seen.sinks) {
            item(weight, past) = -std::numeric_limits<double>::infinity();
            continue;
          }
          vector key = item(keys, past);
          if (past < seen.sinks && !seen.gone.empty()) turn(key, item(seen.gone, position));
          for (int index = 0; index < width; ++index)
            item(weight, past) += item(q, first + index) * item(key, kv_first + index);
          item(weight, past) /= std::sqrt(static_cast<double>(width));
          largest = std::max(largest, item(weight, past));
        }
        for (double& value : weight) {
          value = std::exp(value - largest);
          total += value;
        }
        for (int past = 0; past <= position; ++past)
          for (int index = 0; index < width; ++index)
            item(context, first + index) += item(weight, past) / total * item(item(values, past), kv_first + index);
      }
      const vector out = times(w_o, layer * dim * dim, dim, dim, context);
      attention_out.insert(attention_out.end(), out.begin(), out.end());
    }
    for (int position = 0; position < count; ++position) {
      vector& h = item(x, position);
      for (int index = 0; index < dim; ++index) item(h, index) += item(attention_out, position * dim + index);
      const vector n = normal(h, gain_2, layer * dim);
      vector gate = times(w_1, layer * hidden * dim, hidden, dim, n);
      const vector up = times(w_3, layer * hidden * dim, hidden, dim, n);
      for (int index = 0; index < hidden; ++index)
        item(gate, index) *= item(up, index) / (1 + std::exp(-item(gate, index)));
      const vector down = times(w_2, layer * dim * hidden, dim, hidden, gate);
      for (int index = 0; index < dim; ++index) item(h, index) += item(down, index);
    }
  }
  result.logits = times(classifier, 0, classes, dim, normal(x.back(), gain, 0));
  return result;
}

}  // namespace test
