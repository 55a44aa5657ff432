// SPDX-License-Identifier: BSL-1.0
// In: a seed. Out: one trial of a formula: extents, constants and tensors drawn from the seed, each tensor as a view for the
// library (in any storage order, with gaps, reversed, repeated) and as a table for the reference; and the comparison of results.
// Next: make_formulas in tools/, which writes programs of formulas over it, and run.cpp, which runs them.
#pragma once

#include "axes.hpp"
#include "words.hpp"
#include <heed/heed.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

namespace formulas {

/// Numbers of its own, the same with every standard library (splitmix64).
class source {
 public:
  explicit source(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  extent below(extent n) { return n <= 0 ? 0 : static_cast<extent>(bits() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return static_cast<double>(bits() >> 11U) * 0x1p-53 < p; }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(bits() >> 11U) * 0x1p-53;
    return sum;
  }

 private:
  std::uint64_t state_;
};

/// What a tensor of reals is filled with.
struct filling {
  double spread = 0.6;
  double minus_infinities = 0;  // a share of additive -infinity
  double not_numbers = 0;       // a share of NaN, in some of the trials
  const table* kept = nullptr;  // where it is 0 lies what must never be seen: NaN, infinity, the largest number
};

template <class T, class... A> struct input {
  heed::view<const T, A...> v;
  table r;
};

class trial {
 public:
  trial(std::uint64_t seed, int shrink) : random_(seed), shrink_(shrink) {}

  // ---------------------------------------------------------------- extents and constants
  extent sequence();  // 0 to 300, mostly small or beside a tile's edge
  extent width();     // 0 to 128
  extent few();       // 0 to 17, mostly 1 to 3
  extent divisor(extent n);
  extent below(extent n) { return random_.below(n); }
  extent between(extent low, extent high) { return low + random_.below(high - low + 1); }
  template <class T> T one_of(std::initializer_list<T> list) {
    return list.begin()[random_.below(static_cast<extent>(list.size()))];
  }
  std::uint64_t seed() { return random_.bits() % 100000; }
  /// False where the loops of the reference would take too long: the formula returns and is tried again with less.
  bool affordable(std::initializer_list<double> products);
  [[nodiscard]] bool was_affordable() const { return affordable_; }

  // ---------------------------------------------------------------- tensors
  template <class T, class... A> input<T, A...> real(std::array<extent, sizeof...(A)> extents, filling f = {}) {
    auto result = make<T, A...>(extents, true, f.kept == nullptr);
    const double odd = f.kept ? one_of({std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 3e38}) : 0;
    const bool infinities = f.minus_infinities > 0 && random_.chance(0.7);
    const bool not_numbers = f.not_numbers > 0 && random_.chance(0.3);
    const table* const tables[] = {f.kept ? f.kept : &result.r};
    walk(result.r.axes, result.r.extents, tables, [&](std::size_t i, const std::size_t(&o)[1]) {
      double x = f.spread * random_.normal();
      if (infinities && random_.chance(f.minus_infinities)) x = -infinity;
      if (not_numbers && random_.chance(f.not_numbers)) x = std::numeric_limits<double>::quiet_NaN();
      if (f.kept && f.kept->whole[o[0]] == 0) x = odd;
      element_of(result, i) = to_storage<T>(x);
    });
    read_back(result);
    return result;
  }
  template <class T, class... A>
  input<T, A...> integers(std::array<extent, sizeof...(A)> extents, extent low, extent high) {
    auto result = make<T, A...>(extents, false);
    for (std::size_t i = 0; i < result.r.count(); ++i) element_of(result, i) = static_cast<T>(between(low, high));
    read_back(result);
    result.r.truth = std::is_same_v<T, bool>;
    return result;
  }
  /// The same elements, out of a cache that was filled in two steps, with a part between them taken out again.
  template <class Key, class T, class... A> auto cached(const heed::view<const T, A...>& x) {
    using cache = typename cache_over<T, Key, std::tuple<>, A...>::type;
    const extent n = x.template extent<Key>(), first = below(n + 1), more = below(n - first + 1);
    auto const kept = std::apply(
        [](auto... open) { return std::make_shared<cache>(open...); },
        std::tuple_cat(open_extent<A>(x.template extent<A>() + (std::is_same_v<A, Key> ? more + below(3) : 0))...));
    kept->append(heed::slice<Key>(x, 0, first));
    kept->append(heed::slice<Key>(x, 0, more));
    kept->drop(first, first + more);
    kept->append(heed::slice<Key>(x, first, n));
    buffers_.push_back(kept);
    return kept->view();
  }
  /// Truth values: all, none, or a share of them.
  template <class... A> input<bool, A...> truths(std::array<extent, sizeof...(A)> extents) {
    auto result = make<bool, A...>(extents, false);
    const double share = one_of({0.0, 0.05, 0.5, 0.5, 0.95, 1.0});
    for (std::size_t i = 0; i < result.r.count(); ++i) element_of(result, i) = random_.chance(share);
    read_back(result);
    result.r.truth = true;
    return result;
  }

  // ---------------------------------------------------------------- results
  /// Fused with one thread, with three (the same bits), and unfused, each against the reference.
  template <class... Order, class E> void check(const E& e, const table& want) {
    const auto run = [&](heed::schedule how, int threads) {
      const heed::policy policy{.schedule = how, .threads = threads, .memory = &memory_};
      if constexpr (sizeof...(Order) == 0)
        return heed::evaluate(policy, e);
      else
        return heed::evaluate<Order...>(policy, e);
    };
    const auto one = run(heed::fused, 1);
    compare("fused", one, want);
    same_bits(one, run(heed::fused, 3));
    into_view(e, one, typename decltype(one)::axes_type{});
    compare("unfused", run(heed::unfused, 2), want);
  }
  template <class E, class F> void check_both(const E& e, const F& f, const table& want_e, const table& want_f) {
    const auto run = [&](heed::schedule how, int threads) {
      return heed::evaluate(heed::policy{.schedule = how, .threads = threads, .memory = &memory_}, e, f);
    };
    const auto one = run(heed::fused, 1), three = run(heed::fused, 3), plain = run(heed::unfused, 2);
    compare("fused, first of two", std::get<0>(one), want_e);
    compare("fused, second of two", std::get<1>(one), want_f);
    same_bits(std::get<0>(one), std::get<0>(three));
    same_bits(std::get<1>(one), std::get<1>(three));
    compare("unfused, first of two", std::get<0>(plain), want_e);
    compare("unfused, second of two", std::get<1>(plain), want_f);
  }

  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] std::string shapes() const { return shapes_; }
  std::size_t numbers = 0;  // compared
  std::size_t loose = 0;    // of them with a bound so wide that little is said
  double worst = 0;         // the largest error, in bounds
  void note(const char* name, extent n);
  void fail(const std::string& text) {
    if (failure_.empty()) failure_ = text;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  source random_;
  int shrink_;
  bool affordable_ = true;
  std::string failure_, shapes_;
  std::vector<std::shared_ptr<void>> buffers_;
  heed::workspace memory_;

  template <class T> static T to_storage(double x) {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<T>(x);
    else
      return static_cast<T>(static_cast<float>(x));
  }
  template <class T> static double to_number(const T& x) {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<double>(x);
    else
      return static_cast<double>(static_cast<float>(x));
  }

  struct layout {
    std::vector<extent> strides;
    extent first = 0, size = 0;
  };
  layout lay_out(const std::vector<extent>& extents, bool repeats);

  template <class T> T* guarded_buffer(extent size) {
    std::shared_ptr<T> buffer(new T[static_cast<std::size_t>(size)], std::default_delete<T[]>());
    for (extent i = 0; i < size; ++i)
      if constexpr (std::is_same_v<T, bool>)
        buffer.get()[i] = i % 2 != 0;
      else if constexpr (std::is_integral_v<T>)
        buffer.get()[i] = std::numeric_limits<T>::max();
      else
        buffer.get()[i] = to_storage<T>(std::numeric_limits<double>::quiet_NaN());
    T* const data = buffer.get();
    buffers_.push_back(std::move(buffer));
    return data;
  }
  template <class T, class Key, class Others, class... A> struct cache_over;
  template <class T, class Key, class... B, class X, class... A>
  struct cache_over<T, Key, std::tuple<B...>, X, A...>
      : std::conditional_t<std::is_same_v<X, Key>, cache_over<T, Key, std::tuple<B...>, A...>,
                           cache_over<T, Key, std::tuple<B..., X>, A...>> {};
  template <class T, class Key, class... B> struct cache_over<T, Key, std::tuple<B...>> {
    using type = heed::kv_cache<T, Key, B...>;
  };
  template <class Axis> static auto open_extent(extent n) {
    if constexpr (Axis::static_extent < 0)
      return std::tuple<Axis>(Axis{n});
    else
      return std::tuple<>();
  }
  template <class T, class... A>
  input<T, A...> make(std::array<extent, sizeof...(A)> extents, bool real, bool repeats = true) {
    const table shape = table_over({A::number...}, {extents.begin(), extents.end()}, real);
    const layout l = lay_out(shape.extents, repeats);
    T* const data = guarded_buffer<T>(l.size);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const heed::strides<sizeof...(A)> strides(l.strides[I]...);
      return std::apply(
          [&](auto... open) {
            return input<T, A...>{heed::view<const T, A...>(data + l.first, open..., strides), shape};
          },
          std::tuple_cat(open_extent<A>(extents[I])...));
    }
    (std::index_sequence_for<A...>{});
  }
  /// Where element i in row-major order of the view lies.
  template <class T, class... A> static T& element_of(const input<T, A...>& x, std::size_t i) {
    const extent offset = offset_of({x.v.template stride<A>()...}, x.r.extents, i);
    return const_cast<T*>(x.v.data())[offset];  // NOLINT: the buffer is the trial's own
  }
  static extent offset_of(const std::vector<extent>& strides, const std::vector<extent>& extents, std::size_t i) {
    extent offset = 0, rest = static_cast<extent>(i);
    for (std::size_t a = extents.size(); a-- > 0;) {
      offset += rest % extents[a] * strides[a];
      rest /= extents[a];
    }
    return offset;
  }
  template <class T, class... A> static void read_back(input<T, A...>& x) {
    for (std::size_t i = 0; i < x.r.count(); ++i)
      if (x.r.real) {
        const double v = to_number(element_of(x, i));
        x.r.reals[i] = {v, 0, std::isinf(v) ? 0 : std::abs(v)};
      } else
        x.r.whole[i] = static_cast<std::int64_t>(element_of(x, i));
  }

  /// Evaluated into a view in any order and with gaps: the same bits there, and nothing anywhere else.
  template <class E, class Result, class... A> void into_view(const E& e, const Result& want, heed::axes<A...>) {
    using T = typename Result::value_type;
    const layout l = lay_out({want.template extent<A>()...}, false);
    T *const data = guarded_buffer<T>(l.size), *const untouched = guarded_buffer<T>(l.size);
    const auto destination = [&]<std::size_t... I>(std::index_sequence<I...>) {
      const heed::strides<sizeof...(A)> strides(l.strides[I]...);
      return std::apply([&](auto... open) { return heed::view<T, A...>(data + l.first, open..., strides); },
                        std::tuple_cat(open_extent<A>(want.template extent<A>())...));
    }
    (std::index_sequence_for<A...>{});
    heed::evaluate_into(heed::policy{.threads = 2, .memory = &memory_}, destination, e);
    const table shape = table_over({A::number...}, {want.template extent<A>()...}, false);
    for (std::size_t i = 0; i < shape.count(); ++i) {
      T& here = data[l.first + offset_of(l.strides, shape.extents, i)];
      if (std::memcmp(&here, want.data() + i, sizeof here) != 0)
        return fail("into a view other bits than into a tensor, at element " + std::to_string(i));
      here = untouched[&here - data];
    }
    if (std::memcmp(data, untouched, static_cast<std::size_t>(l.size) * sizeof(T)) != 0)
      fail("something is written beside the elements of a view");
  }

  template <class Result> void compare(const char* how, const Result& got, const table& want) {
    compare_axes(how, got, want, typename Result::axes_type{});
  }
  template <class Result, class... A>
  void compare_axes(const char* how, const Result& got, const table& want, heed::axes<A...>) {
    const axis_list axes = {A::number...};
    const std::vector<extent> extents = {got.template extent<A>()...};
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (!want.has(axes[a]) || want.extent_of(axes[a]) != extents[a] || want.axes.size() != axes.size())
        return fail(std::string(how) + ": other axes or extents than the reference");
    const auto* const data = got.data();
    const table* const tables[] = {&want};
    walk(axes, extents, tables, [&](std::size_t i, const std::size_t(&o)[1]) {
      using V = typename Result::value_type;
      if constexpr (std::is_integral_v<V>) {
        if (want.real || static_cast<std::int64_t>(data[i]) != want.whole[o[0]])
          differ(how, i, got.size(), static_cast<double>(data[i]),
                 want.real ? 0 : static_cast<double>(want.whole[o[0]]), 0);
        ++numbers;
      } else
        compare_number(how, i, static_cast<std::size_t>(got.size()), to_number(data[i]), want, o[0]);
    });
  }
  void compare_number(const char* how, std::size_t i, std::size_t size, double got, const table& want, std::size_t at);
  void differ(const char* how, std::size_t i, std::size_t size, double got, double want, double bound);
  void differ(const char* how, std::size_t i, extent size, double got, double want, double bound) {
    differ(how, i, static_cast<std::size_t>(size), got, want, bound);
  }
  template <class Result> void same_bits(const Result& one, const Result& other) {
    for (extent i = 0; i < one.size(); ++i)
      if (std::memcmp(one.data() + i, other.data() + i, sizeof(*one.data())) != 0)
        return fail("three threads give other bits than one, at element " + std::to_string(i));
  }
};

/// The axes of an expression of the library, in its order.
template <class... A> axis_list numbers_of(heed::axes<A...>) { return {A::number...}; }
template <class E> axis_list order_of(const E&) { return numbers_of(typename E::axes_type{}); }

/// A formula of a generated program.
struct formula {
  const char* name;
  void (*run)(trial&);
  const char* text;  // as it stands in the source
  double rounding;   // half a unit in the last place of 1, in the precision that it is computed in
};
/// Runs them as the command line says; 0 where all agree.
int run(const formula* first, const formula* last, int argc, char** argv);

}  // namespace formulas
