// SPDX-License-Identifier: BSL-1.0
// In: the example examples/stories; the trained model and its goldens where the data is (HEED_DATA); generated files.
// Out: the model writes the golden story, its inner values are the golden ones, and bad files get a clear sentence.
// Next to read: ../examples/stories/pipeline.hpp.

#include "../examples/stories/pipeline.hpp"
#include "../examples/stories/tokenizer.hpp"

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
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using token_ids = std::vector<std::int32_t>;

constexpr double bound = 1e-5;  // of the golden values, computed in float64

std::filesystem::path trained(const char* name) { return stories::data_folder() / "stories260k" / name; }

std::string content(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

boost::test_tools::assertion_result data_is_here(boost::unit_test::test_unit_id) {
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

// What a decoder shows of a text that it reads in chunks of `chunk` tokens (0: all at once).
struct seen {
  std::vector<std::vector<float>> attention_out;  // for each layer [position, model]
  std::vector<float> layer0_probabilities;        // [head, query, key] of the last chunk
  std::vector<float> logits;                      // of the token after the text
};

seen look_at(stories::checkpoint const& weights, heed::schedule schedule, token_ids const& ids, std::size_t chunk) {
  using namespace stories;
  seen result;
  result.attention_out.resize(weights.layers().size());
  decoder reading(weights, schedule);
  const std::size_t step = chunk == 0 ? ids.size() : chunk;
  for (std::size_t from = 0; from < ids.size(); from += step) {
    const std::size_t to = std::min(from + step, ids.size());
    const token_ids part(ids.data() + from, ids.data() + to);
    const auto logits = reading.read(part, [&](std::size_t layer, auto const& block) {
      const heed::tensor attention = heed::evaluate<query, model>(schedule, block.attention_out);
      auto& all = result.attention_out[layer];
      all.insert(all.end(), attention.begin(), attention.end());
      if (layer == 0)
        result.layer0_probabilities = copied(heed::evaluate<kv_head, group, query, key>(schedule, block.probabilities));
    });
    result.logits = copied(logits);
  }
  return result;
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

constexpr header tiny{12, 10, 2, 6, 3, 11, 20};

std::size_t values_of(header const& size) {
  const auto [dim, hidden, layers, heads, kv_heads, vocabulary, longest] = size;
  const int width = dim / heads;
  return static_cast<std::size_t>(std::abs(vocabulary) * dim * (vocabulary < 0 ? 2 : 1) +
                                  layers * (2 * dim + 2 * dim * dim + 2 * kv_heads * width * dim + 3 * hidden * dim) +
                                  dim + longest * width);
}

// A model of random weights, the bytes of its file.
std::string random_model(header const& size, std::uint32_t seed = 7) {
  std::string bytes;
  for (const auto number : size) append(bytes, number);
  std::mt19937 generator(seed);
  for (std::size_t at = 0; at < values_of(size); ++at)
    append(bytes, static_cast<float>(generator() % 2001) / 1000.f - 1.f);
  return bytes;
}

// The same model in plain loops over float64: the logits after `ids`, and the attention of each layer.
struct reference {
  std::vector<std::vector<double>> attention_out;
  std::vector<double> logits;
};

reference plain_loops(std::string const& file, header const& size, token_ids const& ids) {
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
          for (int index = 0; index < width; ++index)
            item(weight, past) += item(q, first + index) * item(item(keys, past), kv_first + index);
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

// Reading the file must fail with exactly one sentence that contains `wanted`.
template <class Read> void refused(Read const& read, std::string const& wanted) {
  BOOST_CHECK_EXCEPTION(read(), std::runtime_error, [&](std::runtime_error const& failure) {
    const std::string said = failure.what();
    BOOST_CHECK_MESSAGE(said.find(wanted) != std::string::npos, "wanted '" << wanted << "' in '" << said << "'");
    return said.find(wanted) != std::string::npos;
  });
}

// The three special tokens, the 256 byte tokens, and ten that a tiny text needs.
struct tiny_vocabulary {
  std::vector<std::pair<std::string, float>> tokens{{"<unk>", 0.f}, {"\n<s>\n", 0.f}, {"\n</s>\n", 0.f}};

  tiny_vocabulary() {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < 256; ++byte)
      tokens.emplace_back(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + '>', 0.f);
    for (const auto& [text, score] : std::vector<std::pair<std::string, float>>{{" ", -9.f},
                                                                                {"a", -9.f},
                                                                                {"b", -9.f},
                                                                                {"c", -9.f},
                                                                                {"ab", -2.f},
                                                                                {"bc", -1.f},
                                                                                {" a", -3.f},
                                                                                {"abc", -4.f},
                                                                                {" abc", -5.f},
                                                                                {"\xc3\xa9", -9.f}})
      tokens.emplace_back(text, score);
  }

  heed::extent_t size() const { return static_cast<heed::extent_t>(tokens.size()); }

  std::string bytes() const {
    std::string result;
    append(result, std::int32_t{7});
    for (auto const& [text, score] : tokens) {
      append(result, score);
      append(result, static_cast<std::int32_t>(text.size()));
      result += text;
    }
    return result;
  }

  std::int32_t id(std::string const& text) const {
    const auto is_text = [&](auto const& entry) { return entry.first == text; };
    const auto found = std::find_if(tokens.begin(), tokens.end(), is_text);
    return static_cast<std::int32_t>(found - tokens.begin());
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stories)

// With the trained model.

BOOST_AUTO_TEST_CASE(the_trained_model_writes_the_golden_story, *boost::unit_test::precondition(data_is_here)) {
  const stories::checkpoint weights(trained("stories260K.bin"));
  const stories::tokenizer tokenizer(trained("tok512.bin"), weights.size().vocabulary);
  const auto greedy_ids = golden<std::int32_t>("greedy_ids");
  BOOST_REQUIRE_EQUAL(greedy_ids.size(), 200u);
  std::string text = content(trained("golden.txt"));
  while (!text.empty() && text.back() == '\n') text.pop_back();

  for (const heed::schedule schedule : {heed::fused, heed::unfused}) {
    const auto story = stories::write_story(weights, schedule, tokenizer.encode(""), greedy_ids.size(),
                                            stories::sampler(0.f, 1), [](std::int32_t) {});
    BOOST_TEST(story.ids == greedy_ids, boost::test_tools::per_element());
    BOOST_TEST(tokenizer.decode(story.ids) == text);
  }
}

BOOST_AUTO_TEST_CASE(the_golden_prompt_gives_the_golden_values, *boost::unit_test::precondition(data_is_here)) {
  const stories::checkpoint weights(trained("stories260K.bin"));
  const stories::tokenizer tokenizer(trained("tok512.bin"), weights.size().vocabulary);
  const auto prompt_ids = golden<std::int32_t>("prompt_ids");
  const std::string prompt = "Once upon a time, there was a little girl named Lily.";
  BOOST_TEST(tokenizer.encode(prompt) == prompt_ids, boost::test_tools::per_element());
  BOOST_TEST(tokenizer.decode(prompt_ids) == prompt);

  const auto attention_out = golden<float>("attention_out");
  const auto probabilities = golden<float>("layer0_probs");
  const auto logits = golden<float>("last_logits");
  for (const heed::schedule schedule : {heed::fused, heed::unfused}) {
    const seen got = look_at(weights, schedule, prompt_ids, 0);
    std::vector<float> all_layers;
    for (auto const& layer : got.attention_out) all_layers.insert(all_layers.end(), layer.begin(), layer.end());
    const double attention_error = distance(all_layers, attention_out);
    const double probability_error = distance(got.layer0_probabilities, probabilities);
    const double logit_error = distance(got.logits, logits);
    BOOST_TEST_MESSAGE((schedule == heed::fused ? "fused" : "unfused")
                       << ": attention_out " << attention_error << ", layer0_probs " << probability_error
                       << ", last_logits " << logit_error);
    BOOST_TEST(attention_error <= bound);
    BOOST_TEST(probability_error <= bound);
    BOOST_TEST(logit_error <= bound);
  }
}

// One position and a whole prompt take different schedules; each is within the bound of the truth.
BOOST_AUTO_TEST_CASE(a_prompt_in_chunks_is_the_prompt, *boost::unit_test::precondition(data_is_here)) {
  const stories::checkpoint weights(trained("stories260K.bin"));
  const auto ids = golden<std::int32_t>("prompt_ids");
  for (const heed::schedule schedule : {heed::fused, heed::unfused}) {
    const seen whole = look_at(weights, schedule, ids, 0);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}}) {
      const seen parts = look_at(weights, schedule, ids, chunk);
      for (std::size_t layer = 0; layer < whole.attention_out.size(); ++layer)
        BOOST_TEST(distance(parts.attention_out[layer], whole.attention_out[layer]) <= 2 * bound);
      BOOST_TEST(distance(parts.logits, whole.logits) <= 2 * bound);
    }
  }
}

// Without data: random models against plain loops.

BOOST_AUTO_TEST_CASE(a_random_model_equals_plain_loops) {
  const temporary_folder folder;
  const token_ids ids{1, 5, 0, 10, 10, 3, 7, 2, 9};
  const std::vector<header> sizes{tiny, {8, 3, 1, 4, 4, 11, 9}, {24, 17, 3, 4, 1, -11, 30}, {2, 1, 1, 1, 1, 11, 9}};
  for (header const& size : sizes) {
    const std::string file = random_model(size);
    const stories::checkpoint weights(folder.write("model.bin", file));
    const reference wanted = plain_loops(file, size, ids);
    for (const heed::schedule schedule : {heed::fused, heed::unfused})
      for (const std::size_t chunk : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
        const seen got = look_at(weights, schedule, ids, chunk);
        for (std::size_t layer = 0; layer < wanted.attention_out.size(); ++layer)
          BOOST_TEST(distance(got.attention_out[layer], wanted.attention_out[layer]) <= bound * 10);
        BOOST_TEST(distance(got.logits, wanted.logits) <= bound * 10);
      }
  }
}

BOOST_AUTO_TEST_CASE(draws_repeat_with_their_seed) {
  const temporary_folder folder;
  const stories::checkpoint weights(folder.write("model.bin", random_model(tiny)));
  const auto write = [&](float temperature, std::uint64_t seed) {
    const stories::sampler choose(temperature, seed);
    return stories::write_story(weights, heed::fused, {3}, 20, choose, [](std::int32_t) {}).ids;
  };
  BOOST_TEST(write(1.f, 5) == write(1.f, 5), boost::test_tools::per_element());
  bool another = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) another = another || write(2.f, seed) != write(2.f, 5);
  BOOST_TEST(another);
  BOOST_TEST(write(1e-6f, 5) == write(0.f, 5), boost::test_tools::per_element());  // cold draws are the likeliest

  heed::tensor<float, stories::token> logits{stories::token{4}};
  for (heed::extent_t id = 0; id < 4; ++id) logits(id) = id == 1 || id == 2 ? 3.f : -1.f;
  BOOST_TEST(stories::sampler(0.f, 1)(logits) == 1);  // ties to the lowest
  std::array<int, 4> drawn{};
  stories::sampler draw(1.f, 3);
  for (int run = 0; run < 4000; ++run) ++drawn[static_cast<std::size_t>(draw(logits))];
  BOOST_TEST(std::abs(drawn[1] - 1964) < 150);  // e^3 / (2 e^3 + 2 e^-1) = 0.491
  BOOST_TEST(std::abs(drawn[2] - 1964) < 150);
}

BOOST_AUTO_TEST_CASE(a_decoder_reads_no_further_than_its_model) {
  const temporary_folder folder;
  const stories::checkpoint weights(folder.write("model.bin", random_model(tiny)));
  stories::decoder reading(weights);
  BOOST_CHECK_THROW(reading.read({}), std::invalid_argument);
  BOOST_CHECK_THROW(reading.read({11}), std::out_of_range);
  BOOST_TEST(reading.length() == 0);
  reading.read(token_ids(20, 4));
  BOOST_TEST(reading.length() == 20);
  BOOST_CHECK_THROW(reading.read({4}), std::length_error);
  BOOST_TEST(reading.length() == 20);
}

// Without data: files that are none.

BOOST_AUTO_TEST_CASE(bad_model_files_get_a_sentence) {
  const temporary_folder folder;
  const auto open = [&](std::string const& bytes) {
    return [path = folder.write("bad.bin", bytes)] { stories::checkpoint{path}; };
  };
  const auto with = [&](std::size_t place, std::int32_t value) {
    header changed = tiny;
    changed[place] = value;
    std::string bytes = random_model(tiny);
    bytes.replace(0, 28, std::string(reinterpret_cast<const char*>(changed.data()), 28));
    return bytes;
  };
  const std::string good = random_model(tiny);
  BOOST_CHECK_NO_THROW(open(good)());

  refused([&] { stories::checkpoint(folder.path / "absent.bin"); }, "cannot be read");
  refused([&] { stories::checkpoint{folder.path}; }, "cannot be read");
  refused(open(""), "the file ends inside the header of 28 bytes");
  refused(open(good.substr(0, 27)), "the file ends inside the header of 28 bytes");
  refused(open(good.substr(0, 28)), "it is truncated");
  refused(open(good.substr(0, good.size() - 1)), "it is truncated");
  refused(open(good + '\0'), "it is no model");
  refused(open("text" + good.substr(4)), "the header's model width is 1954047348, not within 1 to 65536");
  refused(open(with(0, 0x616b3432)), "newer llama2.c format");
  const std::array<const char*, 7> names{
      "model width", "hidden width",    "number of layers", "number of heads", "number of key/value heads",
      "vocabulary",  "longest sequence"};
  for (std::size_t place = 0; place < names.size(); ++place) {
    const std::string wanted = std::string("the header's ") + names[place] + " is ";
    refused(open(with(place, 0)), wanted + "0, not within 1 to ");
    refused(open(with(place, std::numeric_limits<std::int32_t>::max())), wanted + "2147483647, not within 1 to ");
    refused(open(with(place, std::numeric_limits<std::int32_t>::min())), wanted + "-2147483648, not within 1 to ");
    if (names[place] != std::string("vocabulary")) refused(open(with(place, -1)), wanted + "-1, not within 1 to ");
  }
  refused(open(with(3, 5)), "the model width 12 is not a multiple of the number of heads 5");
  refused(open(with(4, 4)), "the number of heads 6 is not a multiple of the number of key/value heads 4");
  refused(open(with(3, 12)), "the head width 1 is odd");
  refused(open(with(1, 11)), "it is truncated");
  refused(open(with(1, 9)), "it is no model");
  refused(open(with(5, -11)), "it is truncated");
  refused(open(with(2, 1024)), "it is truncated");  // asks for more than there is: nothing is allocated
}

BOOST_AUTO_TEST_CASE(bad_tokenizer_files_get_a_sentence) {
  const temporary_folder folder;
  const tiny_vocabulary vocabulary;
  const auto open = [&](std::string const& bytes, heed::extent_t size) {
    return [path = folder.write("bad.bin", bytes), size] { stories::tokenizer(path, size); };
  };
  const std::string good = vocabulary.bytes();
  BOOST_CHECK_NO_THROW(open(good, vocabulary.size())());
  refused(open("", 3), "the file ends inside the header of 4 bytes");
  refused(open(good.substr(0, good.size() - 1), vocabulary.size()), "the file ends inside token 268 of 269");
  refused(open(good.substr(0, 20), vocabulary.size()), "the file ends inside token 1 of 269");
  refused(open(good, vocabulary.size() + 1), "the file ends inside token 269 of 270");
  refused(open(good, vocabulary.size() - 1), "bytes follow the last of 268 tokens");
  std::string bad = good;
  bad.replace(8, 4, std::string(4, '\xff'));
  refused(open(bad, vocabulary.size()), "token 0 of 269 is said to have -1 bytes");
  bad.replace(8, 4, std::string("\xff\xff\xff\x7f", 4));
  refused(open(bad, vocabulary.size()), "token 0 of 269 is said to have 2147483647 bytes");
  bad.replace(0, 4, std::string(4, '\0'));
  refused(open(bad, vocabulary.size()), "the longest token is said to have 0 bytes");
}

BOOST_AUTO_TEST_CASE(text_survives_encode_and_decode) {
  const temporary_folder folder;
  const tiny_vocabulary vocabulary;
  const stories::tokenizer tokenizer(folder.write("tokens.bin", vocabulary.bytes()), vocabulary.size());

  BOOST_TEST(tokenizer.encode("") == token_ids{1}, boost::test_tools::per_element());
  // the best pair is bc (-1), then a space and a (-3), then both (-5)
  BOOST_TEST(tokenizer.encode("abc") == (token_ids{1, vocabulary.id(" abc")}), boost::test_tools::per_element());
  BOOST_TEST(tokenizer.encode("ab") == (token_ids{1, vocabulary.id(" "), vocabulary.id("ab")}),
             boost::test_tools::per_element());
  BOOST_TEST(tokenizer.encode("\xc3\xa9!") == (token_ids{1, vocabulary.id(" "), vocabulary.id("\xc3\xa9"), '!' + 3}),
             boost::test_tools::per_element());
  for (const std::string text : {"", " ", "  ", "a", "abc abc", " cab\n", "\xc3\xa9t\xc3\xa9", "\xe2\x82\xac 3",
                                 "\xf0\x9f\x98\x80", "\xff\x80\xc3", "<0x41>", "<s>", "tab\there"})
    BOOST_TEST(tokenizer.decode(tokenizer.encode(text)) == text);

  std::string bytes;
  append(bytes, std::int32_t{7});
  for (std::size_t id = 0; id < 3; ++id) {
    append(bytes, 0.f);
    append(bytes, std::int32_t{1});
    bytes += "abc"[id];
  }
  refused([&] { stories::tokenizer(folder.write("few.bin", bytes), 3).encode("x"); }, "has no token for ' '");
}

BOOST_AUTO_TEST_SUITE_END()
