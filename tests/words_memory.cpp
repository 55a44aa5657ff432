// SPDX-License-Identifier: BSL-1.0
// In: a program whose every allocation is counted, and can be made to fail. Out: with a workspace, repeated runs
// allocate nothing; where memory ends, std::bad_alloc is thrown and everything is as it was.
// Next: laws_precision.cpp.
#include "support/schedules.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocations{0};
std::atomic<long> allocations_left{-1};  // negative: without limit

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  if (allocations_left >= 0 && allocations_left-- == 0) {
    allocations_left = 0;
    return nullptr;
  }
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const block = allocate(bytes, alignment)) return block;
  throw std::bad_alloc();
}
// Not inlined, so that the compiler does not take it for a mistake in the callers of delete.
[[gnu::noinline]] void release(void* block) { std::free(block); }
constexpr std::size_t plain = 16;

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, plain); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, plain); }
void* operator new(std::size_t bytes, std::align_val_t a) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, plain); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, plain); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { release(block); }

using namespace heed;
using namespace test;

namespace {

template <class Action> long allocations_of(Action action) {
  const long before = allocations;
  action();
  return allocations - before;
}

struct layer {
  tensor<float, query, model> x = normal<float, query, model>(1, query{40}, model{32});
  tensor<float, model, head, d_head> w_q = normal<float, model, head, d_head>(2, model{32}, head{2}, d_head{16});
  tensor<float, model, head, d_head> w_k = normal<float, model, head, d_head>(3, model{32}, head{2}, d_head{16});
  tensor<float, model, head, d_head> w_v = normal<float, model, head, d_head>(4, model{32}, head{2}, d_head{16});
  tensor<float, head, d_head, model> w_o = normal<float, head, d_head, model>(5, head{2}, d_head{16}, model{32});

  auto expression() const {
    const auto q = dot<model>(x, w_q);
    const auto k = rename<query, key>(dot<model>(x, w_k)), v = rename<query, key>(dot<model>(x, w_v));
    const auto weights = softmax<key>(where(causal<query, key>(), dot<d_head>(q, k) * 0.25F));
    return x + dot<head, d_head>(dot<key>(weights, v), w_o);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_memory)

BOOST_AUTO_TEST_CASE(repeated_runs_in_a_workspace_allocate_nothing) {
  const layer l;
  const auto y = l.expression();
  tensor<float, query, model> result{query{40}, model{32}};
  for (const schedule how : {fused, unfused})
    for (const int threads : {1, 2}) {
      workspace space;
      const policy p{.schedule = how, .threads = threads, .memory = &space};
      evaluate_into(p, result, y);
      for (int i = 0; i < 3; ++i) {
        const long n = allocations_of([&] { evaluate_into(p, result, y); });
        BOOST_TEST(n == 0, (how == fused ? "fused, " : "unfused, ") << threads << " threads: " << n << " allocations");
      }
    }
}

BOOST_AUTO_TEST_CASE(where_memory_ends_everything_is_as_it_was) {
  layer l;
  const auto y = l.expression();
  const auto want = evaluate(y);
  const auto x_before = l.x;
  for (const schedule how : {fused, unfused}) {
    tensor<float, query, model> result{query{40}, model{32}};
    for (float& element : result) element = -7;
    bool done = false;
    for (long limit = 0; !done && limit < 200; ++limit) {
      bool refused = false;
      allocations_left = limit;
      try {
        evaluate_into(policy{.schedule = how, .threads = 2}, result, y);
        done = true;
      } catch (const std::bad_alloc&) {
        refused = true;
      }
      allocations_left = -1;
      if (refused)
        for (const float element : result) BOOST_TEST_REQUIRE(element == -7);
    }
    BOOST_TEST(done);
    BOOST_TEST(agrees(result, want, 1e-5));
    BOOST_TEST(identical(l.x, x_before));
    // over its own input, where the result needs a buffer of its own
    for (long limit = 0, finished = 0; finished == 0 && limit < 200; ++limit) {
      allocations_left = limit;
      try {
        evaluate_into(policy{.schedule = how, .threads = 2}, l.x, y);
        finished = 1;
      } catch (const std::bad_alloc&) {
      }
      allocations_left = -1;
      if (finished == 0) BOOST_TEST_REQUIRE(identical(l.x, x_before));
    }
    BOOST_TEST(agrees(l.x, want, 1e-5));
    std::copy(x_before.begin(), x_before.end(), l.x.begin());
  }
}

BOOST_AUTO_TEST_CASE(a_cache_whose_append_fails_is_as_it_was) {
  const auto rows = normal<float, key, d_head>(1, key{5}, d_head{8});
  kv_cache<float, key, d_head> cache{key{20}, d_head{8}};
  cache.append(rows);
  for (long limit = 0; limit < 50 && cache.length() == 5; ++limit) {
    allocations_left = limit;
    try {
      cache.append(softmax<d_head>(rows) * 2);
    } catch (const std::bad_alloc&) {
    }
    allocations_left = -1;
    const auto held = evaluate<key, d_head>(slice<key>(cache.view(), 0, 5));
    BOOST_TEST_REQUIRE(identical(held, rows));
  }
  BOOST_TEST(cache.length() == 10);
}

BOOST_AUTO_TEST_CASE(a_view_costs_no_allocation_of_elements) {
  const auto x = normal<float, query, model>(1, query{100}, model{100});
  const long n = allocations_of([&] {
    const view<const float, query, model> v = x;
    const auto part = slice<query>(v, 10, 20);
    const auto e = relu(part) + 1;
    (void)e;
  });
  BOOST_TEST(n == 0);
}

BOOST_AUTO_TEST_SUITE_END()
