// SPDX-License-Identifier: BSL-1.0
// In: options (see --help), a model and its tokenizer in the first llama2.c format.
// Out: a story, token by token as it is made, and how fast it was made fused and unfused; or several at once.
// Next to read: pipeline.hpp, where the formula stands.

#include "batch.hpp"
#include "model.hpp"
#include "picture.hpp"
#include "pipeline.hpp"
#include "tokenizer.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

constexpr std::string_view help = R"(Writes a story with a small trained model.

  --model PATH         the model, in the first llama2.c format   [$HEED_DATA/stories260k/stories260K.bin]
  --tokenizer PATH     its tokenizer                             [$HEED_DATA/stories260k/tok512.bin]
  --prompt TEXT        how the story begins; given several times: as many stories, written at once   [nothing]
  --length N           tokens in all, prompt included            [200]
  --temperature T      0 takes the likeliest token, others draw  [0]
  --seed N             of the draws                              [1]
  --schedule S         fused, unfused, or both: told fused, timed both ways    [both]
  --chunk N            tokens of the prompt that are read at once                  [all]
  --window N           a token sees so many before it, itself included, and the sinks: the story may be of any length
  --sinks N            so many first tokens of the text, which a window keeps      [4]
  --picture FILE       what every head reads of the story, as a page (FILE.html) or a picture (FILE.svg)
  --help               this text

Without HEED_DATA the data is looked for in ../shared/data. The story goes to the standard output, the figures to the
standard error stream.
)";

struct options {
  std::filesystem::path model = stories::data_folder() / "stories260k" / "stories260K.bin";
  std::filesystem::path tokenizer = stories::data_folder() / "stories260k" / "tok512.bin";
  std::filesystem::path picture;
  std::vector<std::string> prompts;
  stories::reading manner;
  std::size_t length = 200;
  float temperature = 0.f;
  std::uint64_t seed = 1;
  bool fused = true, unfused = true, help = false;
};

struct wrong_option : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

template <class Number> Number number(std::string_view name, std::string_view text) {
  Number value{};
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || stopped != text.data() + text.size())
    throw wrong_option(std::string(name) + " takes a number, not '" + std::string(text) + "'");
  return value;
}

options read_options(std::vector<std::string_view> const& arguments) {
  options chosen;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    std::string_view name = arguments[at], value;
    if (name == "--help" || name == "-h") {
      chosen.help = true;
      return chosen;
    }
    if (const std::size_t equals = name.find('='); name.starts_with("--") && equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (at + 1 < arguments.size()) {
      value = arguments[++at];
    } else {
      throw wrong_option("'" + std::string(name) + "' is no option, or lacks its value");
    }

    if (name == "--model")
      chosen.model = value;
    else if (name == "--tokenizer")
      chosen.tokenizer = value;
    else if (name == "--prompt")
      chosen.prompts.emplace_back(value);
    else if (name == "--picture")
      chosen.picture = value;
    else if (name == "--chunk")
      chosen.manner.chunk = number<heed::extent_t>(name, value);
    else if (name == "--window")
      chosen.manner.window = number<heed::extent_t>(name, value);
    else if (name == "--sinks")
      chosen.manner.sinks = number<heed::extent_t>(name, value);
    else if (name == "--length")
      chosen.length = number<std::size_t>(name, value);
    else if (name == "--temperature")
      chosen.temperature = number<float>(name, value);
    else if (name == "--seed")
      chosen.seed = number<std::uint64_t>(name, value);
    else if (name == "--schedule" && (value == "fused" || value == "unfused" || value == "both")) {
      chosen.fused = value != "unfused";
      chosen.unfused = value != "fused";
    } else if (name == "--schedule")
      throw wrong_option("--schedule is fused, unfused or both, not '" + std::string(value) + "'");
    else
      throw wrong_option("there is no option '" + std::string(name) + "'");
  }
  if (chosen.prompts.empty()) chosen.prompts.emplace_back();
  const bool slides = chosen.manner.window != stories::reading::all;
  if (chosen.manner.chunk < 1 || chosen.manner.window < 1 || chosen.manner.sinks < 0)
    throw wrong_option("--chunk and --window are 1 or above, --sinks is 0 or above");
  if (chosen.prompts.size() > 1 && (slides || !chosen.picture.empty() || chosen.manner.chunk != stories::reading::all))
    throw wrong_option("several prompts go without --window, --chunk and --picture");
  if (const auto kind = chosen.picture.extension(); !chosen.picture.empty() && kind != ".html" && kind != ".svg")
    throw wrong_option("--picture takes a name that ends in .html or .svg");
  if (slides && !chosen.picture.empty()) throw wrong_option("--picture shows a text without a window");
  if (!std::isfinite(chosen.temperature) || chosen.temperature < 0.f)
    throw wrong_option("--temperature is a finite number, 0 or above");
  return chosen;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void print_speed(std::string_view schedule, std::vector<double> const& tokens_per_second) {
  std::cerr << std::fixed << std::setprecision(0) << std::setw(8) << schedule << ": " << median(tokens_per_second)
            << " tokens per second (median of " << tokens_per_second.size() << ")\n";
}

// What the options ask of the model, checked; the prompts as tokens.
std::vector<std::vector<std::int32_t>> read_prompts(options const& chosen, stories::dimensions const& size,
                                                    stories::tokenizer const& tokenizer) {
  const auto longest = static_cast<std::size_t>(size.longest);
  const bool slides = chosen.manner.window != stories::reading::all;
  if (chosen.length < 1 || (!slides && chosen.length > longest))
    throw wrong_option("--length is within 1 to " + std::to_string(longest) +
                       " for this model, unless there is a --window");
  if (slides && (chosen.manner.window > size.longest || chosen.manner.sinks > size.longest - chosen.manner.window))
    throw wrong_option("--window and --sinks are " + std::to_string(longest) + " together at most for this model");
  std::vector<std::vector<std::int32_t>> prompts;
  for (std::string const& text : chosen.prompts) {
    prompts.push_back(tokenizer.encode(text));
    if (prompts.back().size() > chosen.length)
      throw wrong_option("the prompt alone has " + std::to_string(prompts.back().size()) +
                         " tokens, more than --length " + std::to_string(chosen.length));
  }
  return prompts;
}

// Several stories at once, and how fast that was.
void tell_all(options const& chosen, stories::checkpoint const& weights, stories::tokenizer const& tokenizer,
              std::vector<std::vector<std::int32_t>> const& prompts) {
  const stories::sampler sampler(chosen.temperature, chosen.seed);
  const auto how = chosen.fused ? heed::fused : heed::unfused;
  const auto told = stories::write_stories(weights, how, prompts, chosen.length, sampler);
  std::size_t written = 0;
  for (stories::story const& one : told) {
    std::cout << tokenizer.decode(one.ids) << "\n\n";
    written += one.ids.size() - one.prompt_length;
  }
  std::cerr << std::fixed << std::setprecision(0) << told.size()
            << " stories at once: " << (written > 0 ? static_cast<double>(written) / told.front().writing : 0)
            << " tokens per second\n";
}

void tell(options const& chosen) {
  const stories::checkpoint weights(chosen.model);
  const stories::tokenizer tokenizer(chosen.tokenizer, weights.size().vocabulary);
  const auto prompts = read_prompts(chosen, weights.size(), tokenizer);
  if (prompts.size() > 1) return tell_all(chosen, weights, tokenizer, prompts);
  const std::vector<std::int32_t>& prompt = prompts.front();
  const stories::sampler sampler(chosen.temperature, chosen.seed);
  stories::reading fused_manner = chosen.manner, unfused_manner = chosen.manner;
  fused_manner.schedule = heed::fused;
  unfused_manner.schedule = heed::unfused;

  std::int32_t previous = stories::tokenizer::beginning;
  const auto show = [&](std::int32_t id) {
    std::cout << tokenizer.decode(previous, id) << std::flush;
    previous = id;
  };

  std::for_each(prompt.begin() + 1, prompt.end(), show);
  const auto told =
      stories::write_story(weights, chosen.fused ? fused_manner : unfused_manner, prompt, chosen.length, sampler, show);
  std::cout << std::endl;
  if (!chosen.picture.empty()) stories::write_picture(chosen.picture, weights, tokenizer, told.ids);

  // The told story warmed everything up. The runs that are timed alternate, for about a second.
  const auto quiet = [](std::int32_t) {};
  std::vector<double> fused_speeds, unfused_speeds;
  stories::story fused = told, unfused = told;
  const auto start = std::chrono::steady_clock::now();
  do {
    if (chosen.fused) {
      fused = stories::write_story(weights, fused_manner, prompt, chosen.length, sampler, quiet);
      fused_speeds.push_back(fused.tokens_per_second());
    }
    if (chosen.unfused) {
      unfused = stories::write_story(weights, unfused_manner, prompt, chosen.length, sampler, quiet);
      unfused_speeds.push_back(unfused.tokens_per_second());
    }
  } while (std::chrono::steady_clock::now() - start < std::chrono::seconds(1));

  std::cerr << prompt.size() << " tokens read, " << told.ids.size() - prompt.size() << " written\n";
  if (chosen.fused) print_speed("fused", fused_speeds);
  if (chosen.unfused) print_speed("unfused", unfused_speeds);
  if (fused.ids != unfused.ids) {
    const auto parting = std::mismatch(fused.ids.begin(), fused.ids.end(), unfused.ids.begin(), unfused.ids.end());
    std::cerr << "fused and unfused part after " << parting.first - fused.ids.begin() << " tokens\n";
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const options chosen = read_options({arguments + 1, arguments + count});
    if (chosen.help)
      std::cout << help;
    else
      tell(chosen);
    return 0;
  } catch (wrong_option const& failure) {
    std::cerr << "stories: " << failure.what() << "\n(--help shows the options)\n";
    return 2;
  } catch (std::exception const& failure) {
    std::cerr << "stories: " << failure.what() << '\n';
    return 1;
  }
}
