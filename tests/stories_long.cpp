// SPDX-License-Identifier: BSL-1.0
// In: the example examples/stories; the trained model where the data is (HEED_DATA), models of random weights.
// Out: chunks, windows with sinks, batches and pictures of attention say what the plain decoder says, or plain loops.
// Next to read: ../examples/stories/batch.hpp.

#include "../examples/stories/batch.hpp"
#include "../examples/stories/picture.hpp"
#include "../examples/stories/pipeline.hpp"
#include "../examples/stories/tokenizer.hpp"
#include "support/stories.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using namespace test;

namespace {

const auto quiet = [](std::int32_t) {};

token_ids greedy(stories::checkpoint const& weights, stories::reading const& manner, token_ids const& prompt,
                 std::size_t length) {
  return stories::write_story(weights, manner, prompt, length, stories::sampler(0.f, 1), quiet).ids;
}

stories::reading in_chunks(heed::schedule schedule, heed::extent_t chunk) {
  stories::reading manner(schedule);
  manner.chunk = chunk;
  return manner;
}

stories::reading through_window(heed::extent_t window, heed::extent_t sinks) {
  stories::reading manner;
  manner.window = window;
  manner.sinks = sinks;
  return manner;
}

token_ids random_ids(std::size_t count, std::int32_t vocabulary) {
  std::uint32_t state = 12345;
  token_ids ids;
  for (std::size_t at = 0; at < count; ++at) {
    state = state * 1664525u + 1013904223u;
    ids.push_back(static_cast<std::int32_t>((state >> 16) % static_cast<std::uint32_t>(vocabulary)));
  }
  return ids;
}

constexpr header roomy{12, 10, 2, 6, 3, 40, 90};

}  // namespace

BOOST_AUTO_TEST_SUITE(stories_long)

BOOST_AUTO_TEST_CASE(a_prompt_read_in_chunks_tells_the_same_story) {
  const temporary_folder folder;
  const stories::checkpoint weights(folder.write("model.bin", random_model(roomy)));
  const token_ids prompt = random_ids(23, 40);
  const token_ids whole = greedy(weights, heed::fused, prompt, 60);
  BOOST_TEST(whole.size() > prompt.size());
  for (const heed::schedule schedule : {heed::fused, heed::unfused})
    for (const heed::extent_t chunk : {1, 4, 22, 23, 500})
      BOOST_TEST(greedy(weights, in_chunks(schedule, chunk), prompt, 60) == whole, boost::test_tools::per_element());
  BOOST_CHECK_THROW(greedy(weights, in_chunks(heed::fused, 0), prompt, 60), std::invalid_argument);
}

// A window that is as long as the text is no window, to the last bit.
BOOST_AUTO_TEST_CASE(a_window_longer_than_the_text_changes_nothing) {
  const temporary_folder folder;
  const stories::checkpoint weights(folder.write("model.bin", random_model(roomy)));
  const token_ids prompt = random_ids(11, 40);
  const token_ids plain = greedy(weights, heed::fused, prompt, 50);
  for (const heed::extent_t window : {50, 51, 86})
    BOOST_TEST(greedy(weights, through_window(window, 4), prompt, 50) == plain, boost::test_tools::per_element());

  stories::decoder without(weights), with(weights, through_window(50, 0));
  const auto wanted = without.read(prompt), got = with.read(prompt);
  BOOST_TEST(heed::identical(got, wanted));
}

// Below and far beyond the length that the model was trained for, token by token and in chunks.
BOOST_AUTO_TEST_CASE(a_window_with_sinks_equals_plain_loops) {
  const temporary_folder folder;
  const std::string file = random_model(roomy);
  const stories::checkpoint weights(folder.write("model.bin", file));
  const token_ids ids = random_ids(160, 40);
  for (const int sinks : {0, 3})
    for (const int window : {1, 17, 80})
      for (const heed::extent_t chunk : {heed::extent_t{1}, heed::extent_t{7}}) {
        stories::reading manner = through_window(window, sinks);
        manner.chunk = chunk;
        stories::decoder reading(weights, manner);
        sight seen{.window = window, .sinks = sinks};
        const int room = std::min(90, sinks + window - 1 + 64);
        const int step = std::min(static_cast<int>(chunk), room - sinks - window + 1);
        int kept = 0, gone = 0;
        for (int from = 0; from < 160; from += step) {
          const int count = std::min(step, 160 - from);
          if (kept + count > room) {
            gone += kept - sinks - (window - 1);
            kept = sinks + window - 1;
          }
          kept += count;
          seen.gone.insert(seen.gone.end(), static_cast<std::size_t>(count), gone);
        }
        const reference wanted = plain_loops(file, roomy, ids, seen);
        const auto logits = reading.read(ids);
        BOOST_TEST(distance(logits, wanted.logits) <= 1e-4);
        BOOST_TEST(gone > 0);
        BOOST_TEST(reading.length() == 160);
        BOOST_TEST(reading.kept() == kept);
      }
}

BOOST_AUTO_TEST_CASE(a_windowed_story_of_any_length_needs_no_more_room) {
  const temporary_folder folder;
  const stories::checkpoint weights(folder.write("model.bin", random_model(roomy)));
  stories::decoder reading(weights, through_window(16, 4));
  BOOST_TEST(reading.capacity() == 4 + 15 + 64);
  heed::extent_t longest = 0;
  for (const std::int32_t id : random_ids(1000, 40)) {
    reading.read({id});
    longest = std::max(longest, reading.kept());
  }
  BOOST_TEST(reading.length() == 1000);
  BOOST_TEST(longest == reading.capacity());
  BOOST_TEST(stories::decoder(weights, through_window(86, 4)).capacity() == 90);  // never more than the model knows
  BOOST_CHECK_THROW(stories::decoder(weights, through_window(87, 4)), std::invalid_argument);
  BOOST_CHECK_THROW(stories::decoder(weights, through_window(0, 4)), std::invalid_argument);
  BOOST_CHECK_THROW(stories::decoder(weights, through_window(5, -1)), std::invalid_argument);
  stories::decoder plain(weights);
  BOOST_CHECK_THROW(plain.read(random_ids(91, 40)), std::length_error);
}

BOOST_AUTO_TEST_CASE(a_batch_tells_each_story_as_if_alone) {
  const temporary_folder folder;
  const stories::checkpoint weights(folder.write("model.bin", random_model(roomy)));
  const std::vector<token_ids> prompts{random_ids(7, 40), {1}, random_ids(31, 40), random_ids(30, 40), {1, 5}};
  for (const heed::schedule schedule : {heed::fused, heed::unfused}) {
    // 90: the shortest prompt ends 89 places after the longest began
    for (const std::size_t length : {std::size_t{31}, std::size_t{90}}) {
      const auto together = stories::write_stories(weights, schedule, prompts, length, stories::sampler(0.f, 1));
      BOOST_REQUIRE_EQUAL(together.size(), prompts.size());
      for (std::size_t at = 0; at < prompts.size(); ++at)
        BOOST_TEST(together[at].ids == greedy(weights, schedule, prompts[at], length),
                   boost::test_tools::per_element());
    }
  }
  const auto alone = stories::write_stories(weights, heed::fused, {prompts[0]}, 40, stories::sampler(0.f, 1));
  BOOST_TEST(alone[0].ids == greedy(weights, heed::fused, prompts[0], 40), boost::test_tools::per_element());
  BOOST_CHECK_THROW(stories::batch_decoder(weights, heed::fused, {}, 9), std::invalid_argument);
  BOOST_CHECK_THROW(stories::batch_decoder(weights, heed::fused, {{1}, {}}, 9), std::invalid_argument);
  BOOST_CHECK_THROW(stories::batch_decoder(weights, heed::fused, {{1}}, 91), std::length_error);
}

BOOST_AUTO_TEST_CASE(the_pictured_attention_is_that_of_the_model) {
  const temporary_folder folder;
  const stories::checkpoint weights(folder.write("model.bin", random_model(roomy)));
  const token_ids ids = random_ids(12, 40);
  const auto attention = stories::attention_over(weights, ids);
  BOOST_REQUIRE_EQUAL(attention.size(), 2 * 6 * 12 * 12);
  for (heed::extent_t layer = 0; layer < 2; ++layer)
    for (heed::extent_t head = 0; head < 6; ++head)
      for (heed::extent_t query = 0; query < 12; ++query) {
        double sum = 0;
        for (heed::extent_t key = 0; key <= query; ++key)
          sum += static_cast<double>(attention(layer, head, query, key));
        BOOST_TEST(std::abs(sum - 1) < 1e-5);
        for (heed::extent_t key = query + 1; key < 12; ++key) BOOST_TEST(attention(layer, head, query, key) == 0);
      }
}

// With the trained model.

BOOST_AUTO_TEST_CASE(the_trained_model_keeps_its_stories, *boost::unit_test::precondition(data_is_here)) {
  const stories::checkpoint weights(trained("stories260K.bin"));
  const stories::tokenizer tokenizer(trained("tok512.bin"), weights.size().vocabulary);
  const std::vector<token_ids> prompts{tokenizer.encode("Once upon a time, there was a little girl named Lily."),
                                       tokenizer.encode(""), tokenizer.encode("Tom had a dog")};
  const auto together = stories::write_stories(weights, heed::fused, prompts, 120, stories::sampler(0.f, 1));
  for (std::size_t at = 0; at < prompts.size(); ++at) {
    const token_ids plain = greedy(weights, heed::fused, prompts[at], 120);
    BOOST_TEST(together[at].ids == plain, boost::test_tools::per_element());
    BOOST_TEST(greedy(weights, in_chunks(heed::fused, 5), prompts[at], 120) == plain, boost::test_tools::per_element());
    BOOST_TEST(greedy(weights, through_window(120, 4), prompts[at], 120) == plain, boost::test_tools::per_element());
  }

  // Four times its own story, far beyond the 512 tokens that it was trained for: it still expects what comes. A token
  // costs log 512 = 6.2 where nothing is expected.
  const auto story = golden<std::int32_t>("greedy_ids");
  stories::decoder model_in_text(weights, through_window(100, 4));
  auto logits = model_in_text.read(story);
  double cost = 0;
  for (int copy = 0; copy < 3; ++copy)
    for (std::size_t at = 1; at < story.size(); ++at) {
      double total = 0;
      for (const float logit : logits) total += std::exp(static_cast<double>(logit));
      if (copy == 2) cost += std::log(total) - static_cast<double>(logits(story[at]));
      logits = model_in_text.read({story[at]});
    }
  cost /= static_cast<double>(story.size() - 1);
  BOOST_TEST_MESSAGE("a token costs " << cost);
  BOOST_TEST(cost < 2);
  BOOST_TEST(model_in_text.length() == static_cast<heed::extent_t>(4 * story.size() - 3));

  const auto prompt_ids = golden<std::int32_t>("prompt_ids");
  const auto attention = stories::attention_over(weights, prompt_ids);
  const auto wanted = golden<float>("layer0_probs");
  const std::vector<float> first_layer(attention.begin(),
                                       attention.begin() + static_cast<std::ptrdiff_t>(wanted.size()));
  BOOST_TEST(distance(first_layer, wanted) <= bound);

  const temporary_folder folder;
  stories::write_picture(folder.path / "story.html", weights, tokenizer, prompt_ids);
  const std::string page = content(folder.path / "story.html");
  BOOST_TEST(page.find("5 layers, 8 heads, ") != std::string::npos);
  BOOST_TEST(page.find("\"keys\":[\"\\u003cs\\u003e\",\"\u00B7Once\",\"\u00B7upon\"") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
