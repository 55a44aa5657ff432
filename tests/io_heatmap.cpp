// SPDX-License-Identifier: BSL-1.0
// In: weights made by hand. Out: what io/heatmap.hpp writes, read back: the weights in the page, the strokes of the
// picture, the habits, labels that try to break out, and the refusals. Next: ../include/heed/io/heatmap.hpp.
#include <heed/io/heatmap.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct layer : heed::axis<> {};
struct head : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};

using heed::extent_t;
using heed::io::heatmap_page;
using heed::io::heatmap_picture;
using heed::io::heatmap_text;
using weights_of_heads = heed::tensor<float, head, query, key>;

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t at = 0; at < count; ++at) labels.push_back("t" + std::to_string(at));
  return labels;
}

weights_of_heads heads_by_hand(extent_t count, std::vector<float> const& values) {
  const extent_t heads = static_cast<extent_t>(values.size()) / (count * count);
  weights_of_heads weights{head{heads}, query{count}, key{count}};
  std::copy(values.begin(), values.end(), weights.begin());
  return weights;
}

std::size_t times(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

std::string between(std::string const& text, std::string const& before, std::string const& after) {
  const std::size_t from = text.find(before);
  BOOST_REQUIRE_MESSAGE(from != std::string::npos, "no " << before);
  const std::size_t to = text.find(after, from + before.size());
  BOOST_REQUIRE_MESSAGE(to != std::string::npos, "no " << after << " after " << before);
  return text.substr(from + before.size(), to - from - before.size());
}

// The numbers in the page: base64, two bytes each, low byte first.
std::vector<double> weights_in(std::string const& page) {
  const std::string text = between(page, "id=\"weights\">", "</script>");
  std::vector<unsigned> bytes;
  unsigned bits = 0, held = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    unsigned digit = 0;
    if (letter >= 'A' && letter <= 'Z')
      digit = static_cast<unsigned>(letter - 'A');
    else if (letter >= 'a' && letter <= 'z')
      digit = static_cast<unsigned>(letter - 'a') + 26;
    else if (letter >= '0' && letter <= '9')
      digit = static_cast<unsigned>(letter - '0') + 52;
    else {
      BOOST_REQUIRE(letter == '+' || letter == '/');
      digit = letter == '+' ? 62 : 63;
    }
    bits = (bits << 6 | digit) & 0xFFFFu;
    held += 6;
    if (held >= 8) bytes.push_back(bits >> (held -= 8) & 255u);
  }
  std::vector<double> values;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) values.push_back((bytes[at] + 256 * bytes[at + 1]) / 65535.);
  return values;
}

struct temporary_folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "heed_io_heatmap";
  temporary_folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~temporary_folder() { std::filesystem::remove_all(path); }
};

template <class Exception, class Action> std::string refusal(Action const& action) {
  try {
    action();
  } catch (Exception const& failure) {
    return failure.what();
  }
  return "nothing was thrown";
}

const std::vector<std::string> wicked{"</script><script>alert(1)</script>",
                                      "<img src=x onerror=alert(1)>",
                                      "\"quotes'",
                                      "&amp;",
                                      "\\u003c\\",
                                      std::string("nul\0", 4),
                                      "\xff\xc0\xaf\xed\xa0\x80",
                                      "<!--",
                                      "\xe2\x80\xa8\n\t ",
                                      ""};

}  // namespace

BOOST_AUTO_TEST_SUITE(io_heatmap)

BOOST_AUTO_TEST_CASE(the_page_holds_every_weight_in_order) {
  heed::tensor<double, layer, head, query, key> weights{layer{2}, head{3}, query{4}, key{5}};
  double value = 0;
  for (double& weight : weights) weight = std::fmod(value += 0.37, 1.0);
  const std::string page = heatmap_page(weights, {.title = "Two layers", .keys = numbered(5)});
  const std::vector<double> stored = weights_in(page);
  BOOST_REQUIRE_EQUAL(stored.size(), 2u * 3 * 4 * 5);
  for (std::size_t at = 0; at < stored.size(); ++at)
    BOOST_TEST(std::abs(stored[at] - weights.data()[at]) <= 0.5 / 65535 + 1e-12);
  BOOST_TEST(times(page, "<tr data-layer=\"1\"") == 3u);
  BOOST_TEST(page.find("2 layers, 3 heads, 4 queries, 5 keys") != std::string::npos);
  BOOST_TEST(page.find("\"keys\":[\"t0\",\"t1\",\"t2\",\"t3\",\"t4\"]") != std::string::npos);
  BOOST_TEST(page.starts_with("<!doctype html>"));
  BOOST_TEST(page.ends_with("</html>\n"));
}

// Whatever the script and the style need is inside.
BOOST_AUTO_TEST_CASE(the_page_asks_for_nothing_else) {
  const std::string page = heatmap_page(heads_by_hand(2, {1, 0, 0, 1}), {.keys = numbered(2)});
  for (const char* word : {"http:", "https:", "src=", "href=", "url(", "@import", "fetch(", "import("})
    BOOST_TEST(page.find(word) == std::string::npos, word);
  BOOST_TEST(page.find("default-src 'none'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(twelve_heads_of_a_long_text_are_below_a_megabyte) {
  weights_of_heads weights{head{12}, query{128}, key{128}};
  for (float& weight : weights) weight = 1 / 128.f;
  BOOST_TEST(heatmap_page(weights, {.keys = numbered(128)}).size() < 1'000'000u);
  BOOST_TEST(heatmap_picture(weights, {.keys = numbered(128)}).size() < 1'000'000u);
}

BOOST_AUTO_TEST_CASE(axes_by_name_by_position_and_by_stride_are_the_same) {
  const std::vector<float> values{0.5f, 0.25f, 0.25f, 0, 1, 0, 0.125f, 0.375f, 0.5f, 1, 0, 0, 0, 0, 1, 0, 1, 0};
  const weights_of_heads weights = heads_by_hand(3, values);
  heed::tensor<float, key, head, query> turned{key{3}, head{2}, query{3}};
  for (extent_t h = 0; h < 2; ++h)
    for (extent_t q = 0; q < 3; ++q)
      for (extent_t k = 0; k < 3; ++k) turned(k, h, q) = weights(h, q, k);
  const heatmap_text text{.keys = numbered(3)};
  const std::string page = heatmap_page(weights, text);
  BOOST_TEST((heatmap_page<head, query, key>(turned, text) == page));
  BOOST_TEST((heatmap_page<head, query, key>(weights, text) == page));
  const heed::view<const float, head, query, key> strided(turned.data(), head{2}, query{3}, key{3},
                                                          heed::strides{3, 1, 6});
  BOOST_TEST((heatmap_page(strided, text) == page));
  heed::tensor<heed::bf16, head, query, key> narrow{head{2}, query{3}, key{3}};
  std::copy(values.begin(), values.end(), narrow.begin());  // all of them are bf16 numbers
  BOOST_TEST((heatmap_page(narrow, text) == page));
  BOOST_TEST((heatmap_picture<head, query, key>(turned, text) == heatmap_picture(weights, text)));
}

BOOST_AUTO_TEST_CASE(labels_stay_text) {
  const auto count = static_cast<extent_t>(wicked.size());
  heed::tensor<float, head, query, key> weights{head{1}, query{count}, key{count}};
  for (float& weight : weights) weight = 0.1f;
  const heatmap_text text{.title = wicked[0], .note = wicked[1], .keys = wicked, .queries = wicked};
  const heatmap_text tame{
      .title = "x", .note = "x", .keys = numbered(wicked.size()), .queries = numbered(wicked.size())};

  const std::string page = heatmap_page(weights, text), plain = heatmap_page(weights, tame);
  for (const char* tag : {"<", "<script", "</script", "<img", "<!--"})
    BOOST_TEST(times(page, tag) == times(plain, tag), tag);
  BOOST_TEST(page.find("<title>&lt;/script&gt;&lt;script&gt;alert(1)") != std::string::npos);
  const std::string data = between(page, "id=\"data\">", "</script>");
  BOOST_TEST(data.find("\"\\u003c\\u002fscript\\u003e\\u003cscript\\u003ealert(1)") != std::string::npos);
  BOOST_TEST(data.find("\\u0022quotes\\u0027") != std::string::npos);
  BOOST_TEST(data.find("\"nul\uFFFD\"") != std::string::npos);
  BOOST_TEST(data.find("\"\\u2028\u21B5\u21E5\u00B7\"") != std::string::npos);
  BOOST_TEST(data.find("\"\u2205\"") != std::string::npos);  // the empty label
  // six stray bytes: none of them starts a character
  BOOST_TEST(data.find("\"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\"") != std::string::npos);

  const std::string picture = heatmap_picture(weights, text), plain_picture = heatmap_picture(weights, tame);
  BOOST_TEST(times(picture, "<") == times(plain_picture, "<"));
  BOOST_TEST(picture.find('\0') == std::string::npos);
  BOOST_TEST(picture.find("&lt;img\u00B7src=x\u00B7onerror=a\u2026") != std::string::npos);  // cut beside the map
}

// Four tokens, one head for each habit, every figure worked out by hand.
BOOST_AUTO_TEST_CASE(habits_are_the_means) {
  const weights_of_heads weights = heads_by_hand(4, {
                                                        1,     0,     0,     0,      // the diagonal
                                                        0,     1,     0,     0,      //
                                                        0.5f,  0,     0.5f,  0,      //
                                                        0,     0,     0.25f, 0.75f,  //
                                                        1,     0,     0,     0,      // the previous token
                                                        1,     0,     0,     0,      //
                                                        0,     1,     0,     0,      //
                                                        0,     0,     0.5f,  0.5f,   //
                                                        0,     1,     0,     0,      // the next
                                                        0,     0,     1,     0,      //
                                                        0,     0,     0,     1,      //
                                                        0,     0,     0,     0,      // a row without any key
                                                        0.25f, 0.25f, 0.25f, 0.25f,  // broad
                                                        0.25f, 0.25f, 0.25f, 0.25f,  //
                                                        0.5f,  0.5f,  0,     0,      //
                                                        0,     0,     0,     1,      //
                                                    });
  const auto habits = heed::io::head_habits(weights, {.keys = numbered(4), .separators = {1, 2}});
  BOOST_REQUIRE_EQUAL(habits.size(), 4u);
  const auto close = [](double got, double want) { return std::abs(got - want) < 1e-6; };

  auto const& diagonal = habits[0];
  BOOST_TEST(close(diagonal.same, (1 + 1 + 0.5 + 0.75) / 4));
  BOOST_TEST(close(diagonal.previous, (0 + 0 + 0.25) / 3));
  BOOST_TEST(diagonal.next == 0);
  BOOST_TEST(close(diagonal.first, (1 + 0 + 0.5 + 0) / 4));
  BOOST_TEST(close(diagonal.separator, (0 + 1 + 0.5 + 0.25) / 4));
  const double of_a_quarter = 0.25 * 2 + 0.75 * std::log2(4 / 3.);
  BOOST_TEST(close(diagonal.entropy, (0 + 0 + 1 + of_a_quarter) / 4));
  BOOST_TEST(close(diagonal.reachable, (0 + 0 + 1 + 1) / 4.));
  BOOST_TEST(diagonal.name == "diagonal");

  BOOST_TEST(close(habits[1].previous, (1 + 1 + 0.5) / 3));
  BOOST_TEST(close(habits[1].first, 0.5));
  BOOST_TEST(habits[1].name == "previous token");
  BOOST_TEST(close(habits[2].next, 1));  // the row without any key counts nowhere
  BOOST_TEST(habits[2].same == 0);
  BOOST_TEST(close(habits[2].separator, 2 / 3.));
  BOOST_TEST(habits[2].name == "next token");
  BOOST_TEST(close(habits[3].entropy, (2 + 2 + 1 + 0) / 4.));
  BOOST_TEST(close(habits[3].reachable, (2 + 2 + 1 + 0) / 4.));
  BOOST_TEST(habits[3].name == "broad");

  const std::string page = heatmap_page(weights, {.keys = numbered(4), .separators = {1, 2}});
  const std::string row = between(page, "<tr data-layer=\"0\" data-head=\"0\">", "</tr>");
  for (const char* cell : {">diagonal<", ">0.81<", ">0.08<", ">0.00<", ">0.38<", ">0.44<", ">0.45<"})
    BOOST_TEST(row.find(cell) != std::string::npos, cell << " in " << row);
  BOOST_TEST(heatmap_page(weights, {.keys = numbered(4)}).find("<td>\u2013</td>") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sinks_separators_and_later_queries_have_names) {
  weights_of_heads weights{head{3}, query{2}, key{5}};  // the queries are the keys 3 and 4
  for (extent_t q = 0; q < 2; ++q) {
    weights(0, q, 0) = 0.75f, weights(0, q, 3) = 0.25f;
    weights(1, q, 1) = 0.75f, weights(1, q, 3) = 0.25f;
    weights(2, q, 3 + q) = 0.375f, weights(2, q, 2 + q) = 0.25f, weights(2, q, 4 - 2 * q) = 0.0625f;
    weights(2, q, 0) = 0.25f, weights(2, q, 1) = 0.0625f;
  }
  const auto habits = heed::io::head_habits(weights, {.keys = numbered(5), .separators = {1}});
  BOOST_TEST(habits[0].name == "first token");
  BOOST_TEST(habits[0].first == 0.75);
  BOOST_TEST(habits[0].same == 0.125);      // 0.25 of the query at 3, nothing of the one at 4
  BOOST_TEST(habits[0].previous == 0.125);  // and the other way about
  BOOST_TEST(habits[1].name == "separator");
  BOOST_TEST(habits[2].name == "nearby tokens");
  BOOST_TEST(habits[2].next == 0.0625);  // one query has a next key, the other counts nowhere
  const auto crossed = heed::io::head_habits(weights, {.keys = numbered(5), .queries = {"a", "b"}});
  BOOST_TEST(crossed[0].same == 0.375);  // query 0 on key 0, query 1 on key 1
}

// What the strokes of a picture paint is the map in 32 steps of the root.
BOOST_AUTO_TEST_CASE(the_picture_paints_the_weights) {
  weights_of_heads weights{head{1}, query{3}, key{6}};
  const std::vector<float> values{0, 0, 1, 1, 1, 0, 0.25f, 0.25f, 0.01f, 0.25f, 0, 0.5f, 0, 0, 0, 0, 0, 0.001f};
  std::copy(values.begin(), values.end(), weights.begin());
  const std::string picture = heatmap_picture(weights, {.keys = numbered(6), .queries = numbered(3)});
  std::array<int, 18> painted{};
  for (std::size_t at = picture.find("<path class=\"c"); at != std::string::npos;
       at = picture.find("<path class=\"c", at + 1)) {
    const int colour = std::stoi(picture.substr(at + 14));
    const std::string strokes = between(picture.substr(at), " d=\"", "\"/>");
    for (std::size_t move = strokes.find('M'); move != std::string::npos; move = strokes.find('M', move + 1)) {
      std::size_t used = 0;
      const int from = std::stoi(strokes.substr(move + 1), &used);
      const std::size_t second = move + 1 + used;
      const int row = std::stoi(strokes.substr(second));
      const int length = std::stoi(strokes.substr(strokes.find('h', second) + 1));
      for (int column = from; column < from + length; ++column) {
        int& pixel = painted[static_cast<std::size_t>(row * 6 + column)];
        BOOST_TEST(pixel == 0);
        pixel = colour;
      }
    }
  }
  for (std::size_t at = 0; at < painted.size(); ++at)
    BOOST_TEST(painted[at] == std::lround(31 * std::sqrt(values[at])));
  BOOST_TEST(times(picture, "M2 0.5h3") == 1u);  // three neighbours are one stroke
  BOOST_TEST(times(picture, "t5") == 1u);        // alone, so its tokens stand beside it
  for (const char* tag : {"svg", "text", "style", "title"})
    BOOST_TEST(times(picture, std::string("<") + tag) == times(picture, std::string("</") + tag + '>'));
}

// Relative luminance (IEC 61966-2-1) tells the steps apart for whoever sees no colours.
BOOST_AUTO_TEST_CASE(the_ramps_grow_evenly_in_lightness) {
  const std::string page = heatmap_page(heads_by_hand(1, {1}), {.keys = {"a"}});
  for (const bool dark : {false, true}) {
    const std::string ramp = between(page, dark ? "\"dark\":\"" : "\"light\":\"", "\"");
    BOOST_REQUIRE_EQUAL(ramp.size(), 256u * 6);
    std::vector<double> lightness;  // CIE L*, 0 to 100
    for (std::size_t at = 0; at < ramp.size(); at += 6) {
      const auto linear = [&](std::size_t digit) {
        const double x = std::stoi(ramp.substr(at + digit, 2), nullptr, 16) / 255.;
        return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
      };
      const double luminance = 0.2126 * linear(0) + 0.7152 * linear(2) + 0.0722 * linear(4);
      lightness.push_back(luminance > 216. / 24389 ? 116 * std::cbrt(luminance) - 16 : luminance * 24389 / 27);
    }
    BOOST_TEST(std::abs(lightness.back() - lightness.front()) > 70);
    const double step = (lightness.back() - lightness.front()) / 255;
    for (std::size_t at = 0; at + 16 < lightness.size(); at += 16) {
      const double ratio = (lightness[at + 16] - lightness[at]) / (16 * step);
      BOOST_TEST((ratio > 0.6 && ratio < 1.5), "step " << at << ": " << ratio);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_before_a_file_is_there) {
  const temporary_folder folder;
  const std::filesystem::path path = folder.path / "heads.html";
  const weights_of_heads weights = heads_by_hand(3, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  const auto said = [&](heatmap_text const& text) {
    return refusal<heed::shape_error>([&] { heed::io::write_heatmap(path, weights, text); });
  };
  BOOST_TEST(said({.keys = numbered(2)}).ends_with("key has extent 3 where 2 keys have labels"));
  BOOST_TEST(said({}).ends_with("key has extent 3 where 0 keys have labels"));
  BOOST_TEST(
      said({.keys = numbered(3), .queries = numbered(4)}).ends_with("query has extent 3 where 4 queries have labels"));
  BOOST_TEST(said({.keys = numbered(3), .separators = {3}}) == "heatmap: separator 3 is none of the 3 keys");
  BOOST_TEST(said({.keys = numbered(3), .separators = {-1}}) == "heatmap: separator -1 is none of the 3 keys");
  BOOST_TEST(said({.keys = numbered(3), .separators = {1, 1}}) == "heatmap: separator 1 is named twice");

  const weights_of_heads wide{head{1}, query{4}, key{3}}, none{head{0}, query{3}, key{3}};
  BOOST_TEST(refusal<heed::shape_error>([&] {
               heed::io::write_heatmap(path, wide, {.keys = numbered(3)});
             }).find("queries that are none of the keys need labels of their own") != std::string::npos);
  BOOST_TEST(refusal<heed::shape_error>([&] {
               heed::io::write_heatmap(path, none, {.keys = numbered(3)});
             }).ends_with("head has extent 0, there is nothing to draw"));

  for (const float bad :
       {-0.01f, 1.5f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    weights_of_heads broken = weights;
    broken(0, 2, 1) = bad;
    const std::string sentence =
        refusal<std::invalid_argument>([&] { heed::io::write_heatmap(path, broken, {.keys = numbered(3)}); });
    BOOST_TEST(sentence.find("query 2, ") != std::string::npos, sentence);
    BOOST_TEST(sentence.ends_with(", not within 0 to 1"), sentence);
  }
  BOOST_TEST(refusal<std::invalid_argument>([&] {
               heed::io::write_heatmap(folder.path / "heads.png", weights, {.keys = numbered(3)});
             }).ends_with("heads.png ends neither in .html nor in .svg"));
  BOOST_TEST(refusal<std::runtime_error>([&] {
               heed::io::write_heatmap(folder.path / "absent" / "heads.svg", weights, {.keys = numbered(3)});
             }).ends_with("heads.svg can't be written"));
  BOOST_TEST(std::filesystem::is_empty(folder.path));
}

BOOST_AUTO_TEST_CASE(files_are_what_was_made) {
  const temporary_folder folder;
  const weights_of_heads weights = heads_by_hand(2, {1, 0, 0.5f, 0.5f});
  const heatmap_text text{.keys = {"a", "b"}};
  heed::io::write_heatmap(folder.path / "heads.html", weights, text);
  heed::io::write_heatmap<head, query, key>(folder.path / "heads.svg", weights, text);
  const auto content = [&](const char* name) {
    std::ifstream file(folder.path / name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  };
  BOOST_TEST((content("heads.html") == heatmap_page(weights, text)));
  BOOST_TEST((content("heads.svg") == heatmap_picture(weights, text)));
}

BOOST_AUTO_TEST_SUITE_END()
