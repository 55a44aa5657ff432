// SPDX-License-Identifier: BSL-1.0
// In: every kind of loop over views of odd sizes, each buffer against a page without access, first behind and then before it,
// NaN in all other bytes; the memory that a run allocates for itself likewise, on the same side. Out: the same numbers as over tensors, nothing
// written around a buffer, nothing read beyond it.
// Next: memory_peak.cpp.
#include "support/guards.hpp"

#include "support/schedules.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace {

// A run's own memory (all that is aligned): each block touches a page without access on the side that is asked for; what lies
// on its other side is looked at when the block is given back.
constexpr std::size_t most_alignment = 64;
std::atomic<test::guard> own_side{test::guard::behind};
std::atomic<long> blocks_given{0}, blocks_overrun{0};

struct own_block {
  test::guarded_pages pages;
  std::size_t bytes;
  char* data;
  own_block(std::size_t n, test::guard side)
      : pages(n),
        bytes(n),
        data(side == test::guard::before ? pages.begin()
                                         : pages.end() - (n + most_alignment - 1) / most_alignment * most_alignment) {}
  bool intact() const {
    const auto untouched = [](char byte) { return byte == '\xff'; };
    return std::all_of(pages.begin(), data, untouched) && std::all_of(data + bytes, pages.end(), untouched);
  }
};
struct own_blocks {
  std::mutex alone;
  std::map<void*, std::unique_ptr<own_block>> all;
  static own_blocks& get() {
    static auto* const blocks = new own_blocks;  // for whoever gives memory back last
    return *blocks;
  }
};
void* guarded_block(std::size_t bytes) {
  auto block = std::make_unique<own_block>(bytes, own_side);
  void* const data = block->data;
  own_blocks& blocks = own_blocks::get();
  const std::scoped_lock lock(blocks.alone);
  blocks.all[data] = std::move(block);
  ++blocks_given;
  return data;
}
[[gnu::noinline]] void release(void* data) {
  if (data == nullptr) return;
  own_blocks& blocks = own_blocks::get();
  const std::scoped_lock lock(blocks.alone);
  const auto found = blocks.all.find(data);
  if (!found->second->intact()) ++blocks_overrun;
  blocks.all.erase(found);
}

}  // namespace

void* operator new(std::size_t bytes, std::align_val_t) { return guarded_block(bytes); }
void* operator new[](std::size_t bytes, std::align_val_t) { return guarded_block(bytes); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { release(block); }

using namespace heed;
using namespace test;

namespace {

struct sizes {
  int queries, keys, width, values;
};
// 0, 1, primes, whole tiles and one more
constexpr sizes some_sizes[] = {{0, 5, 3, 2},     {1, 1, 1, 1},     {1, 131, 17, 5},  {3, 13, 7, 9},
                                {2, 0, 4, 3},     {16, 97, 8, 16},  {17, 96, 33, 31}, {65, 129, 16, 17},
                                {64, 64, 64, 64}, {129, 67, 5, 65}, {13, 1057, 3, 7}};

/// The formula over tensors, and over views of the same numbers that stand at guards: same numbers in a destination that stands
/// at a guard, too. formula(q, k, v) is an expression with the axes Out...
template <class T, class... Out, class Formula> void check_guarded(const sizes& n, Formula formula, double bound) {
  const auto q = normal<T, query, d_head>(1, query{n.queries}, d_head{n.width});
  const auto k = normal<T, key, d_head>(2, key{n.keys}, d_head{n.width});
  const auto v = normal<T, key, d_value>(3, key{n.keys}, d_value{n.values});
  for (const schedule how : {fused, unfused}) {
    const auto want = evaluate<Out...>(policy{.schedule = how, .threads = 1}, formula(q, k, v));
    for (const guard where : {guard::behind, guard::before}) {
      const guarded<T> q_memory(q.size(), where), k_memory(k.size(), where), v_memory(v.size(), where);
      std::copy(q.begin(), q.end(), q_memory.begin());
      std::copy(k.begin(), k.end(), k_memory.begin());
      std::copy(v.begin(), v.end(), v_memory.begin());
      const view<const T, query, d_head> q_view(q_memory.data(), query{n.queries}, d_head{n.width});
      const view<const T, key, d_head> k_view(k_memory.data(), key{n.keys}, d_head{n.width});
      const view<const T, key, d_value> v_view(v_memory.data(), key{n.keys}, d_value{n.values});
      using R = typename decltype(want)::value_type;
      for (const int threads : {1, 2}) {
        const guarded<R> memory(want.size(), where);
        const view<R, Out...> result(memory.data(), Out{want.template extent<Out>()}...);
        BOOST_TEST_CONTEXT((how == fused ? "fused" : "unfused")
                           << ", " << (where == guard::behind ? "guard behind" : "guard before") << ", query "
                           << n.queries << ", key " << n.keys << ", d_head " << n.width << ", d_value " << n.values
                           << ", threads " << threads) {
          own_side = where;
          evaluate_into(policy{.schedule = how, .threads = threads}, result, formula(q_view, k_view, v_view));
          own_side = guard::behind;
          BOOST_TEST(blocks_overrun == 0);
          std::vector<double> numbers;
          for (const R element : memory) numbers.push_back(to_number(element));
          BOOST_TEST(agree(numbers, numbers_of(want), bound));
          BOOST_TEST(memory.intact());
          BOOST_TEST((q_memory.intact() && k_memory.intact() && v_memory.intact()));
        }
      }
    }
  }
}

template <class T> void check_attention(double bound) {
  for (const sizes& n : some_sizes) {
    check_guarded<T, query, d_value>(
        n, [&](const auto& q, const auto& k, const auto& v) { return dot<key>(softmax<key>(dot<d_head>(q, k)), v); },
        bound);
    check_guarded<T, d_value, query>(
        n,
        [&](const auto& q, const auto& k, const auto& v) {
          const auto scores = where(causal<query, key>(n.keys - n.queries), dot<d_head>(q, k) * 0.5);
          return dot<key>(softmax<key>(scores + index<key>() * 0.01), v);
        },
        bound);
  }
}

// Every order of the operands' axes: rows and columns of either side lie side by side, or the contracted axis does.
void check_contractions(double bound) {
  for (const sizes& n : some_sizes) {
    const auto scores = [](const auto& q, const auto& k, const auto&) { return dot<d_head>(q, k); };
    check_guarded<float, query, key>(n, scores, bound);
    check_guarded<float, key, query>(n, scores, bound);
    const auto values = [](const auto&, const auto& k, const auto& v) { return dot<key>(k, v); };
    check_guarded<float, d_head, d_value>(n, values, bound);
    check_guarded<float, d_value, d_head>(n, values, bound);
  }
}

/// Whether a program that reads there ends by a signal.
template <class T> bool ends_who_reads(const T* there) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
    const volatile T* const beyond = there;
    const T seen = *beyond;
    _exit(seen == T{} ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !(WIFEXITED(status) && WEXITSTATUS(status) < 2);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guards)

// The guards themselves: a program that touches what lies beyond ends by a signal, and a write is seen.
BOOST_AUTO_TEST_CASE(a_guard_is_noticed) {
  for (const guard where : {guard::behind, guard::before}) {
    const guarded<float> x(17, where);
    BOOST_TEST(ends_who_reads(where == guard::behind ? x.end() : x.begin() - 1));
    BOOST_TEST(x.intact());
    (where == guard::behind ? x.begin()[-1] : x.end()[0]) = 0;
    BOOST_TEST(!x.intact());
  }
}

// So are those of a run's own memory, on both sides.
BOOST_AUTO_TEST_CASE(a_guard_of_own_memory_is_noticed) {
  for (const guard side : {guard::behind, guard::before})
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{5000}}) {
      const long given = blocks_given, overrun = blocks_overrun;
      own_side = side;
      auto* const block = static_cast<char*>(::operator new (bytes, std::align_val_t{64}));
      own_side = guard::behind;
      BOOST_TEST(blocks_given == given + 1);
      BOOST_TEST(reinterpret_cast<std::uintptr_t>(block) % 64 == 0U);
      BOOST_TEST(ends_who_reads(side == guard::behind ? block + (bytes + 63) / 64 * 64 : block - 1));
      const bool room = bytes % guarded_pages::page() != 0;
      if (room) (side == guard::behind ? block[-1] : block[bytes]) = 0;
      ::operator delete (block, std::align_val_t{64});
      BOOST_TEST(blocks_overrun == overrun + (room ? 1 : 0));
      blocks_overrun = overrun;
    }
}

BOOST_AUTO_TEST_CASE(attention_float) { check_attention<float>(1e-5); }
BOOST_AUTO_TEST_CASE(attention_double) { check_attention<double>(1e-13); }
BOOST_AUTO_TEST_CASE(attention_bf16) { check_attention<bf16>(1e-5); }
BOOST_AUTO_TEST_CASE(contractions_float) { check_contractions(1e-5); }

BOOST_AUTO_TEST_CASE(streams_without_softmax) {
  for (const sizes& n : some_sizes) {
    check_guarded<float, query, d_value>(
        n, [](const auto& q, const auto& k, const auto& v) { return dot<key>(relu(dot<d_head>(q, k)), v); }, 1e-5);
    check_guarded<float, query>(
        n, [](const auto& q, const auto& k, const auto&) { return max<key>(dot<d_head>(q, k)); }, 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(rows_and_maps) {
  for (const sizes& n : some_sizes) {
    check_guarded<float, key, d_value>(
        n, [](const auto&, const auto&, const auto& v) { return softmax<d_value>(v) + cumsum<d_value>(v); }, 1e-5);
    check_guarded<float, d_head, query>(
        n, [](const auto& q, const auto&, const auto&) { return layer_norm<d_head>(q, 1.F, 0.5F); }, 1e-5);
    check_guarded<float, d_head>(
        n, [](const auto&, const auto& k, const auto&) { return log_sum_exp<key>(tanh(k)); }, 1e-5);
    check_guarded<bf16, d_value, key>(
        n, [](const auto&, const auto&, const auto& v) { return gelu(v) * 2; }, 1e-2);
    if (n.keys > 0)
      check_guarded<float, query, d_value>(
          n,
          [&](const auto& q, const auto&, const auto& v) {
            return take<key>(v, index<query>() * 7 % n.keys) + sum<d_head>(q);
          },
          1e-5);
  }
}

BOOST_AUTO_TEST_SUITE_END()
