// SPDX-License-Identifier: BSL-1.0
// In: the path of a model file in the first llama2.c format (seven integers, then float32 arrays, [out, in]).
// Out: its weights as tensors with named axes, or a std::runtime_error that says in one sentence what is wrong.
// Next to read: pipeline.hpp, the formula that these weights are for.

#pragma once

#include <heed/heed.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace stories {

// The axes. The extents come from the file, so none is known at compile time.
struct token : heed::axis<> {};    // the entries of the vocabulary
struct query : heed::axis<> {};    // the positions that are computed now
struct key : heed::axis<> {};      // the positions so far
struct kv_head : heed::axis<> {};  // heads with keys and values of their own
struct group : heed::axis<> {};    // query heads that share one kv_head
struct d_head : heed::axis<> {};   // width of a head
struct model : heed::axis<> {};    // width of the residual stream
struct hidden : heed::axis<> {};   // width inside the feed-forward network

// The header of the file, checked.
struct dimensions {
  heed::extent_t model_width, hidden_width, layers, heads, kv_heads, vocabulary, longest;
  bool own_classifier;  // otherwise the embedding serves as classifier, too

  heed::extent_t groups() const { return heads / kv_heads; }
  heed::extent_t head_width() const { return model_width / heads; }

  // Number of float32 values behind the header; no product of permitted extents comes near 2^63.
  heed::extent_t values() const {
    const heed::extent_t kv_width = kv_heads * head_width();
    const heed::extent_t attention = 2 * model_width * model_width + 2 * kv_width * model_width;
    const heed::extent_t feed_forward = 3 * hidden_width * model_width;
    const heed::extent_t cosines_and_sines = longest * head_width();  // in the file, but not needed here
    return vocabulary * model_width * (own_classifier ? 2 : 1) + layers * (attention + feed_forward + 2 * model_width) +
           model_width + cosines_and_sines;
  }
};

struct layer_weights {
  heed::tensor<float, model> attention_gain;
  heed::tensor<float, kv_head, group, d_head, model> w_q;
  heed::tensor<float, kv_head, d_head, model> w_k, w_v;
  heed::tensor<float, model, kv_head, group, d_head> w_o;
  heed::tensor<float, model> feed_forward_gain;
  heed::tensor<float, hidden, model> w_gate;  // W1
  heed::tensor<float, model, hidden> w_down;  // W2
  heed::tensor<float, hidden, model> w_up;    // W3

  explicit layer_weights(dimensions const& size)
      : attention_gain(model{size.model_width}),
        w_q(kv_head{size.kv_heads}, group{size.groups()}, d_head{size.head_width()}, model{size.model_width}),
        w_k(kv_head{size.kv_heads}, d_head{size.head_width()}, model{size.model_width}),
        w_v(kv_head{size.kv_heads}, d_head{size.head_width()}, model{size.model_width}),
        w_o(model{size.model_width}, kv_head{size.kv_heads}, group{size.groups()}, d_head{size.head_width()}),
        feed_forward_gain(model{size.model_width}),
        w_gate(hidden{size.hidden_width}, model{size.model_width}),
        w_down(model{size.model_width}, hidden{size.hidden_width}),
        w_up(hidden{size.hidden_width}, model{size.model_width}) {}
};

// The folder with the trained model: $HEED_DATA, else ../shared/data.
inline std::filesystem::path data_folder() {
  const char* named = std::getenv("HEED_DATA");
  return (named != nullptr && *named != '\0') ? named : "../shared/data";
}

// A file that is read front to back; every failure names the file.
class reader {
 public:
  explicit reader(std::filesystem::path path) : path_(std::move(path)), file_(path_, std::ios::binary) {
    std::error_code failure;
    size_ = static_cast<std::int64_t>(std::filesystem::file_size(path_, failure));
    if (failure || !file_) fail("cannot be read" + (failure ? ": " + failure.message() : std::string()));
  }

  std::int64_t size() const { return size_; }
  std::int64_t left() const { return size_ - position_; }

  [[noreturn]] void fail(std::string const& what) const { throw std::runtime_error(path_.string() + ": " + what); }

  void bytes(char* to, std::int64_t count, std::string const& what) {
    if (count > left() || !file_.read(to, static_cast<std::streamsize>(count))) fail("the file ends inside " + what);
    position_ += count;
  }

  void skip(std::int64_t count) {
    file_.seekg(static_cast<std::streamoff>(count), std::ios::cur);
    position_ += count;
  }

  template <class Value> Value value(std::string const& what) {
    static_assert(std::endian::native == std::endian::little, "the format is little endian");
    std::array<char, sizeof(Value)> raw{};
    bytes(raw.data(), sizeof(Value), what);
    return std::bit_cast<Value>(raw);
  }

  template <class... Axes> void values(heed::tensor<float, Axes...>& to, std::string const& what) {
    bytes(reinterpret_cast<char*>(to.data()), static_cast<std::int64_t>(to.size()) * 4, what);
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  std::int64_t size_ = 0;
  std::int64_t position_ = 0;
};

// Reads the seven integers and compares what they ask for with the size of the file, before anything is allocated.
inline dimensions read_dimensions(reader& file) {
  const auto first = file.value<std::int32_t>("the header of 28 bytes");
  if (first == 0x616b3432)
    file.fail("this is a newer llama2.c format; only the first one, without a mark, is read here");

  const auto within = [&](std::int32_t value, std::int32_t most, const char* name) -> heed::extent_t {
    if (value < 1 || value > most)
      file.fail(std::string("the header's ") + name + " is " + std::to_string(value) + ", not within 1 to " +
                std::to_string(most));
    return value;
  };
  const auto next = [&] { return file.value<std::int32_t>("the header of 28 bytes"); };

  dimensions size{};
  size.model_width = within(first, 1 << 16, "model width");
  size.hidden_width = within(next(), 1 << 18, "hidden width");
  size.layers = within(next(), 1 << 10, "number of layers");
  size.heads = within(next(), 1 << 12, "number of heads");
  size.kv_heads = within(next(), 1 << 12, "number of key/value heads");
  const std::int32_t vocabulary = next();  // a negative one says that the classifier has weights of its own
  size.own_classifier = vocabulary < 0;
  size.vocabulary = within(vocabulary < -(1 << 20) ? vocabulary : std::abs(vocabulary), 1 << 20, "vocabulary");
  size.longest = within(next(), 1 << 20, "longest sequence");

  if (size.model_width % size.heads != 0)
    file.fail("the model width " + std::to_string(size.model_width) + " is not a multiple of the number of heads " +
              std::to_string(size.heads));
  if (size.heads % size.kv_heads != 0)
    file.fail("the number of heads " + std::to_string(size.heads) +
              " is not a multiple of the number of key/value heads " + std::to_string(size.kv_heads));
  if (size.head_width() % 2 != 0)
    file.fail("the head width " + std::to_string(size.head_width()) + " is odd, but positions turn pairs");

  const std::int64_t wanted = 28 + 4 * static_cast<std::int64_t>(size.values());
  if (file.size() != wanted)
    file.fail("the file has " + std::to_string(file.size()) + " bytes where its header asks for " +
              std::to_string(wanted) + (file.size() < wanted ? "; it is truncated" : "; it is no model"));
  return size;
}

// The whole model.
class checkpoint {
 public:
  explicit checkpoint(std::filesystem::path const& path) : checkpoint(reader(path)) {}

  dimensions const& size() const { return size_; }
  heed::tensor<float, token, model> const& embedding() const { return embedding_; }
  std::vector<layer_weights> const& layers() const { return layers_; }
  heed::tensor<float, model> const& final_gain() const { return final_gain_; }
  heed::tensor<float, token, model> const& classifier() const { return classifier_ ? *classifier_ : embedding_; }

 private:
  explicit checkpoint(reader&& file)
      : size_(read_dimensions(file)),
        embedding_(token{size_.vocabulary}, model{size_.model_width}),
        final_gain_(model{size_.model_width}) {
    layers_.reserve(static_cast<std::size_t>(size_.layers));
    for (heed::extent_t number = 0; number < size_.layers; ++number) layers_.emplace_back(size_);

    // Each kind of weight lies in the file for all layers together.
    const auto for_all_layers = [&](auto member, const char* what) {
      for (auto& layer : layers_) file.values(layer.*member, what);
    };
    file.values(embedding_, "the embedding");
    for_all_layers(&layer_weights::attention_gain, "the gains of the attention's norm");
    for_all_layers(&layer_weights::w_q, "W_Q");
    for_all_layers(&layer_weights::w_k, "W_K");
    for_all_layers(&layer_weights::w_v, "W_V");
    for_all_layers(&layer_weights::w_o, "W_O");
    for_all_layers(&layer_weights::feed_forward_gain, "the gains of the feed-forward network's norm");
    for_all_layers(&layer_weights::w_gate, "W1");
    for_all_layers(&layer_weights::w_down, "W2");
    for_all_layers(&layer_weights::w_up, "W3");
    file.values(final_gain_, "the gains of the last norm");
    if (size_.own_classifier) {
      file.skip(4 * static_cast<std::int64_t>(size_.longest * size_.head_width()));  // cosines and sines
      file.values(classifier_.emplace(token{size_.vocabulary}, model{size_.model_width}), "the classifier");
    }
  }

  dimensions size_;
  heed::tensor<float, token, model> embedding_;
  std::vector<layer_weights> layers_;
  heed::tensor<float, model> final_gain_;
  std::optional<heed::tensor<float, token, model>> classifier_;
};

}  // namespace stories
