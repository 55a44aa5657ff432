// SPDX-License-Identifier: BSL-1.0
// In: the example examples/stories; the trained model and its goldens where the data is (HEED_DATA); generated files.
// Out: the model writes the golden story, its inner values are the golden ones, and bad files get a clear sentence.
// Next to read: ../examples/stories/pipeline.hpp.

#include "support/stories.hpp"

#include "../examples/stories/pipeline.hpp"
#include "../examples/stories/tokenizer.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace test;

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
  decoder model_in_text(weights, schedule);
  const std::size_t step = chunk == 0 ? ids.size() : chunk;
  for (std::size_t from = 0; from < ids.size(); from += step) {
    const std::size_t to = std::min(from + step, ids.size());
    const token_ids part(ids.data() + from, ids.data() + to);
    const auto logits = model_in_text.read(part, [&](std::size_t layer, auto const& block) {
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
