// SPDX-License-Identifier: BSL-1.0
// In: the settings of OpenMP that the process was started with. Out: a line "formula | caller | bits" for every formula and every
// way to call evaluate: alone, by 16 threads at once, inside a parallel region, inside one whose teams nest; with OpenMP's own
// number of threads, with one, and with more than there are tiles.
// Next: check.py, which compares the lines of several processes.
#include <heed/heed.hpp>

#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace heed;

struct head : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<> {};
struct d_value : axis<> {};
struct model : axis<> {};

template <class Tensor> Tensor filled(Tensor t, std::uint32_t seed) {
  for (auto& element : t) {
    seed = seed * 1664525U + 1013904223U;
    element = static_cast<float>(static_cast<int>(seed >> 16) % 2000 - 1000) / 1000.F;
  }
  return t;
}

const auto q = filled(tensor<float, head, query, d_head>{head{3}, query{70}, d_head{16}}, 1);
const auto k = filled(tensor<float, head, key, d_head>{head{3}, key{170}, d_head{16}}, 2);
const auto v = filled(tensor<float, head, key, d_value>{head{3}, key{170}, d_value{16}}, 3);
const auto long_k = filled(tensor<float, head, key, d_head>{head{1}, key{3300}, d_head{16}}, 4);
const auto long_v = filled(tensor<float, head, key, d_value>{head{1}, key{3300}, d_value{16}}, 5);
const auto x = filled(tensor<float, query, model>{query{130}, model{96}}, 6);
const auto w = filled(tensor<float, model, d_value>{model{96}, d_value{130}}, 7);

auto attention() { return dot<key>(softmax<key>(where(causal<query, key>(100), dot<d_head>(q, k) * 0.25F)), v); }
auto decoding() {  // one query of one head: its keys are shared out in parts
  const auto last = slice<query>(slice<head>(q, 0, 1), 0, 1);
  return dot<key>(softmax<key>(dot<d_head>(last, long_k) * 0.25F), long_v);
}
auto norm_and_product() { return dot<model>(layer_norm<model>(x, 1.F, 0.F), w); }

/// FNV-1a over the bytes.
template <class Tensor> std::uint64_t bits_of(const Tensor& t) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(t.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.size()) * sizeof(*t.data()); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3U;
  return hash;
}

constexpr const char* formulas[] = {"attention", "attention, unfused", "decoding", "norm and product"};
constexpr int formula_count = 4;
std::uint64_t bits(int formula, int threads) {
  policy p{.threads = threads};
  switch (formula) {
    case 0: return bits_of(evaluate(p, attention()));
    case 1: p.schedule = unfused; return bits_of(evaluate(p, attention()));
    case 2: return bits_of(evaluate(p, decoding()));
    default: return bits_of(evaluate(p, norm_and_product()));
  }
}

void print(int formula, const std::string& caller, std::uint64_t value) {
  std::printf("%s | %s | %016llx\n", formulas[formula], caller.c_str(), static_cast<unsigned long long>(value));
}
void print_all(int formula, const std::string& caller, const std::vector<std::uint64_t>& values) {
  for (const std::uint64_t value : values) print(formula, caller, value);
}

}  // namespace

int main() {
  for (int f = 0; f < formula_count; ++f) {
    for (const int threads : {1, 0, 2, 3, 300}) print(f, "threads " + std::to_string(threads), bits(f, threads));

    std::vector<std::uint64_t> values(16, 0);
    std::vector<std::thread> users;
    for (std::size_t i = 0; i < values.size(); ++i)
      users.emplace_back([&values, i, f] { values[i] = bits(f, static_cast<int>(i % 4)); });
    for (std::thread& user : users) user.join();
    print_all(f, "16 threads at once", values);

    for (const int levels : {1, 2}) {
      omp_set_max_active_levels(levels);
      std::vector<std::uint64_t> each(5, 0);
#pragma omp parallel for num_threads(5)
      for (int i = 0; i < 5; ++i) each[static_cast<std::size_t>(i)] = bits(f, i);
      print_all(f, "in a region, levels " + std::to_string(levels), each);
    }
  }
}
