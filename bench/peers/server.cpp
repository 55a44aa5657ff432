// SPDX-License-Identifier: BSL-1.0
// In: lines on standard input, from ../run. Out: one line of JSON for each.
//     names                                  the implementations that this program was built with, and versions
//     inputs FOLDER CELL                     makes the inputs of a cell and writes FOLDER/NAME.f32; CELL is
//                                            KIND BATCH HEADS KV_HEADS QUERIES KEYS WIDTH HIDDEN; answers the extents
//                                            that the inputs decide
//     prepare NAME THREADS                   makes and runs it: the seconds that took; writes FOLDER/NAME.out
//     memory NAME THREADS                    makes and runs it: the bytes that this adds, its inputs not counted
//     sample NAME THREADS SECONDS BEFORE     runs it BEFORE times, then again and again for so long: seconds a run
//     peak THREADS                           multiply-adds a second in registers, twice that in operations
//     read THREADS BYTES                     bytes a second, read again and again
// What fails answers {"error": "..."}.
// Next to read: ../run.
#include "../peak.hpp"
#include "cell.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#if defined(HEED_BENCH_OPENBLAS)
#include <cblas.h>
#endif

namespace {

using namespace peers;

/// What this process holds now, or the most it has held since forget_peak(): bytes, as Linux counts them.
double memory_line(char const* name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name, 0) == 0) return std::stod(line.substr(line.find(':') + 1)) * 1024;
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

class server {
  std::map<std::string, maker> makers_ = libraries();
  std::map<std::string, implementation> ready_;
  bench::stream_of_bytes bytes_;
  std::string folder_;
  cell cell_{};
  arrays inputs_;

  static void save(std::string const& path, std::span<float const> values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    if (!file.flush()) throw std::runtime_error("could not write " + path);
  }
  implementation& found(std::string const& name) {
    auto const at = ready_.find(name);
    if (at == ready_.end()) throw std::runtime_error(name + " is not prepared");
    return at->second;
  }

  std::string names() const {
    std::string list;
    for (auto const& [name, make] : makers_) list += (list.empty() ? "\"" : ", \"") + name + '"';
    std::string built;
    for (auto const& [name, version] : versions())
      built += (built.empty() ? "\"" : ", \"") + name + "\": \"" + version + '"';
    return "{\"names\": [" + list + "], \"versions\": {" + built + "}}";
  }
  std::string inputs(std::istream& in) {
    ready_.clear();
    in >> folder_ >> cell_.kind >> cell_.batch >> cell_.heads >> cell_.kv_heads >> cell_.queries >> cell_.keys >>
        cell_.width >> cell_.hidden;
    if (!in) throw std::runtime_error("inputs: FOLDER KIND and seven numbers are wanted");
    inputs_ = {};
    inputs_ = made_inputs();
    for (auto const& [name, values] : inputs_) save(folder_ + '/' + name + ".f32", values);
    return "{\"queries\": " + std::to_string(cell_.queries) + ", \"keys\": " + std::to_string(cell_.keys) + '}';
  }
  arrays made_inputs() {
    if (cell_.kind != "sentences") return inputs_of(cell_);
#if defined(HEED_BENCH_SENTENCES)
    return sentences_of(cell_);
#else
    throw std::runtime_error("this program is built without nlohmann-json, which reads the model");
#endif
  }
  std::string prepare(std::istream& in) {
    std::string name;
    int threads = 0;
    in >> name >> threads;
    ready_.erase(name);
    double const start = bench::now();
    implementation made = makers_.at(name)(cell_, inputs_);
    made.run(threads);
    double const seconds = bench::now() - start;
    save(folder_ + '/' + name + ".out", made.result());
    ready_[name] = std::move(made);
    return "{\"first\": " + std::to_string(seconds) + '}';
  }
  std::string memory(std::istream& in) {
    std::string name;
    int threads = 0;
    in >> name >> threads;
    ready_.clear();
    makers_.at(name)(cell_, inputs_).run(threads);  // what a library sets up once does not count
    forget_peak();
    double const before = memory_line("VmRSS");
    makers_.at(name)(cell_, inputs_).run(threads);
    double more = memory_line("VmHWM") - before;
    for (auto const& [input, values] : inputs_) more -= static_cast<double>(values.size() * sizeof(float));
    return "{\"memory\": " + std::to_string(std::max(0., more)) + '}';
  }
  std::string sample(std::istream& in) {
    std::string name;
    int threads = 0, before = 0;
    double wanted = 0;
    in >> name >> threads >> wanted >> before;
    implementation const& work = found(name);
    for (int i = 0; i < before; ++i) work.run(threads);
    int runs = 0;
    double const start = bench::now(threads);
    double seconds = 0;
    for (; runs == 0 || seconds < wanted; ++runs, seconds = bench::now(threads) - start) work.run(threads);
    std::ostringstream text;
    text.precision(9);
    text << "{\"seconds\": " << seconds / runs << ", \"runs\": " << runs << '}';
    return text.str();
  }

 public:
  server() {
    for (bool const fused : {true, false})
      makers_[fused ? "heed" : "unfused"] = [fused](cell const& c, arrays const& in) {
#if defined(HEED_BENCH_SENTENCES)
        if (c.kind == "sentences") return heed_sentences(c, in, fused);
#endif
        return c.kind.ends_with("_layer") ? heed_layer(c, in, fused) : heed_attention(c, in, fused);
      };
  }

  std::string answer(std::string const& line) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    if (verb == "names") return names();
    if (verb == "inputs") return inputs(in);
    if (verb == "prepare") return prepare(in);
    if (verb == "memory") return memory(in);
    if (verb == "sample") return sample(in);
    int threads = 0;
    double bytes = 0;
    in >> threads >> bytes;
    if (verb == "peak") return "{\"rate\": " + std::to_string(bench::multiply_add_peak(threads)) + '}';
    if (verb == "read") return "{\"rate\": " + std::to_string(bytes_.read(bytes, threads)) + '}';
    throw std::runtime_error("no such verb: " + verb);
  }
};

}  // namespace

int main() {
  server all;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << all.answer(line) << std::endl;
    } catch (std::exception const& e) {
      std::string text = e.what();
      for (char& c : text)
        if (c == '"' || c == '\\' || c == '\n') c = ' ';
      std::cout << "{\"error\": \"" << text << "\"}" << std::endl;
    }
  }
}
