// SPDX-License-Identifier: BSL-1.0
// In: the register tiles, the rearrangements and the softmax of a tile, at sizes around every vector and tile border.
// Out: agreement with plain double loops; the same bits in every tile; not a byte touched outside of the operands.
// Next: the kernels that are built of these.
#include <heed/kernel/multiply.hpp>
#include <heed/kernel/rearrange.hpp>
#include <heed/kernel/simd.hpp>
#include <heed/kernel/softmax_tile.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace heed::kernel;
using types = std::tuple<float, double>;

constexpr extent_t sizes[] = {0, 1, 2, 3, 5, 7, 15, 16, 17, 31, 33, 63, 64, 65, 96, 100, 129};

// A buffer among NaN of known bits. What is only read lies in plain vectors of the exact size instead, so that the
// address sanitizer sees each step beyond.
template <class T> class guarded {
 public:
  static constexpr extent_t margin = 80;

  explicit guarded(extent_t n, T value = T(0)) : n_(n), all_(static_cast<std::size_t>(n + 2 * margin), guard()) {
    std::fill_n(all_.begin() + margin, n, value);
  }
  T* data() { return all_.data() + margin; }
  const T* data() const { return all_.data() + margin; }
  T& operator[](extent_t i) { return data()[i]; }
  const T& operator[](extent_t i) const { return data()[i]; }

  // Nothing was written before, behind, or where `written(i)` is false, if a guard was put there.
  template <class Written> bool intact(Written written) const {
    for (extent_t i = -margin; i < n_ + margin; ++i) {
      if (i >= 0 && i < n_ && written(i)) continue;
      const T expected = guard();
      if (std::memcmp(data() + i, &expected, sizeof(T)) != 0) return false;
    }
    return true;
  }
  bool intact() const {
    return intact([](extent_t) { return true; });
  }
  static T guard() { return std::numeric_limits<T>::quiet_NaN(); }

 private:
  extent_t n_;
  std::vector<T> all_;
};

template <class T> T first_lane(vector<T> x) {
  T lanes[width<T>];
  store(lanes, x);
  return lanes[0];
}

template <class T> bool same_bits(T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

std::mt19937& random_bits() {
  static std::mt19937 bits(20240607);
  return bits;
}

template <class T> T random_value(double from = -1, double to = 1) {
  return static_cast<T>(std::uniform_real_distribution<double>(from, to)(random_bits()));
}
template <class T> std::vector<T> random_values(extent_t n, double from = -1, double to = 1) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& v : values) v = random_value<T>(from, to);
  return values;
}

extent_t random_below(extent_t n) { return static_cast<extent_t>(random_bits()()) % n; }
extent_t random_size() { return sizes[random_below(std::size(sizes))]; }

// What multiply_tile promises, bit by bit: one chain of multiply-adds over ascending k.
template <class T> T one_chain(const T* a, extent_t a_step, const T* b, extent_t b_row, extent_t depth, T from) {
  vector<T> sum(from);
  for (extent_t k = 0; k < depth; ++k) sum = heed::kernel::fma(vector<T>(a[k * a_step]), vector<T>(b[k * b_row]), sum);
  return first_lane(sum);
}

struct shape {
  extent_t rows, columns, depth;
};

// The elements that a matrix spans.
extent_t used(extent_t rows, extent_t row, extent_t columns) {
  return rows == 0 || columns == 0 ? 0 : (rows - 1) * row + columns;
}

template <class T> void check_product(shape s, bool transposed, start how, bool padded, extent_t offset) {
  BOOST_TEST_CONTEXT("rows " << s.rows << " columns " << s.columns << " depth " << s.depth << " transposed "
                             << transposed << " start " << static_cast<int>(how) << " padded " << padded) {
    const extent_t whole = (s.columns + width<T> - 1) / width<T> * width<T>;
    const extent_t b_row = padded ? whole + width<T> * (offset % 2) : s.columns + offset;
    const extent_t c_row = s.columns + offset;
    const extent_t a_row = transposed ? 1 : s.depth + offset;
    const extent_t a_step = transposed ? s.rows + offset : 1;
    const extent_t a_used = transposed ? used(s.depth, a_step, s.rows) : used(s.rows, a_row, s.depth);
    const std::vector<T> a = random_values<T>(a_used);
    std::vector<T> b = random_values<T>(used(s.depth, b_row, padded ? whole : s.columns));
    for (extent_t k = 0; padded && s.columns > 0 && k < s.depth; ++k) {
      std::fill(b.data() + k * b_row + s.columns, b.data() + k * b_row + whole, T(0));
    }
    const std::vector<T> scale = random_values<T>(how == start::rescale ? s.rows : 0);
    guarded<T> c(used(s.rows, c_row, s.columns), guarded<T>::guard());
    std::vector<T> before(static_cast<std::size_t>(s.rows * s.columns));
    for (extent_t i = 0; i < s.rows; ++i) {
      for (extent_t j = 0; j < s.columns; ++j) {
        // A product that starts from zero must not look at what was there.
        const T value = how == start::zero ? guarded<T>::guard() : random_value<T>();
        c[i * c_row + j] = before[static_cast<std::size_t>(i * s.columns + j)] = value;
      }
    }

    multiply_tile<T>(a.data(), a_row, a_step, b.data(), b_row, s.rows, s.columns, s.depth, c.data(), c_row, how,
                     how == start::rescale ? scale.data() : nullptr, padded);

    BOOST_TEST(c.intact([&](extent_t i) { return i % c_row < s.columns; }));
    double worst = 0;
    bool equal = true;
    for (extent_t i = 0; i < s.rows; ++i) {
      for (extent_t j = 0; j < s.columns; ++j) {
        const T old = before[static_cast<std::size_t>(i * s.columns + j)];
        const T factor = how == start::rescale ? scale[static_cast<std::size_t>(i)] : T(1);
        double exact = how == start::zero ? 0 : static_cast<double>(old) * static_cast<double>(factor);
        double magnitude = std::abs(exact);
        for (extent_t k = 0; k < s.depth; ++k) {
          const double term = static_cast<double>(a[static_cast<std::size_t>(i * a_row + k * a_step)]) *
                              static_cast<double>(b[static_cast<std::size_t>(k * b_row + j)]);
          exact += term;
          magnitude += std::abs(term);
        }
        const T got = c[i * c_row + j];
        const double unit = static_cast<double>(std::numeric_limits<T>::epsilon());
        const double error = std::abs(static_cast<double>(got) - exact) / (unit * magnitude + 1e-300);
        if (!(error <= worst)) worst = error;
        const T from = how == start::rescale ? static_cast<T>(old * factor) : T(0);
        const T chain =
            s.depth == 0 ? from : one_chain(a.data() + i * a_row, a_step, b.data() + j, b_row, s.depth, from);
        equal = equal && same_bits(got, how == start::add ? old + chain : chain);
      }
    }
    BOOST_TEST((equal && worst <= static_cast<double>(s.depth + 2)));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_tiles)

BOOST_AUTO_TEST_CASE_TEMPLATE(products_agree_with_plain_loops, T, types) {
  constexpr start starts[] = {start::zero, start::add, start::rescale};
  for (extent_t size : sizes) {
    for (start how : starts) {
      check_product<T>({size, random_size(), random_size()}, size % 2 == 0, how, false, size % 3);
      check_product<T>({random_size(), size, random_size()}, size % 2 != 0, how, false, size % 3);
      check_product<T>({random_size(), size, random_size()}, size % 2 == 0, how, true, size % 3);
      check_product<T>({random_size(), random_size(), size}, size % 2 != 0, how, size % 3 == 0, 1);
    }
  }
  // Every height of a tile with every number of columns up to a panel and one more.
  for (extent_t rows = 1; rows <= 13; ++rows) {
    for (extent_t columns = 1; columns <= panel<T> + 1; ++columns) {
      const bool even = (rows + columns) % 2 == 0;
      check_product<T>({rows, columns, 3}, even, starts[(rows + columns) % 3], columns % 2 == 0, 0);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products_have_the_same_bits_in_any_tile, T, types) {
  constexpr extent_t rows = 29;
  const extent_t columns = 2 * panel<T> + width<T> + 3;
  constexpr extent_t depth = 37;
  const std::vector<T> a = random_values<T>(rows * depth);
  const std::vector<T> b = random_values<T>(depth * columns);
  std::vector<T> whole(static_cast<std::size_t>(rows * columns));
  multiply_tile<T>(a.data(), depth, 1, b.data(), columns, rows, columns, depth, whole.data(), columns, start::zero,
                   nullptr, false);
  bool equal = true;
  for (int n = 0; n < 300; ++n) {
    const extent_t i = random_below(rows);
    const extent_t j = random_below(columns);
    const extent_t height = 1 + random_below(rows - i);
    const extent_t breadth = 1 + random_below(columns - j);
    std::vector<T> part(static_cast<std::size_t>(height * breadth));
    multiply_tile<T>(a.data() + i * depth, depth, 1, b.data() + j, columns, height, breadth, depth, part.data(),
                     breadth, start::zero, nullptr, false);
    for (extent_t r = 0; r < height; ++r) {
      equal = equal && std::memcmp(part.data() + r * breadth, whole.data() + (i + r) * columns + j,
                                   static_cast<std::size_t>(breadth) * sizeof(T)) == 0;
    }
  }
  BOOST_TEST(equal);
}

// The first tile packs what it reads: the product has multiply_tile's bits, the panel pack_panel's, and the lines of `next`
// are asked for one after the other.
BOOST_AUTO_TEST_CASE_TEMPLATE(products_pack_what_they_read_once, T, types) {
  constexpr extent_t columns = panel<T>;
  for (const extent_t rows : {extent_t{tile_rows<tile_vectors>}, extent_t{tile_rows<tile_vectors>} + 1, extent_t{23}})
    for (const extent_t depth : {extent_t{1}, extent_t{7}, extent_t{8}, extent_t{9}, extent_t{65}})
      for (const start how : {start::zero, start::add}) {
        const extent_t b_row = columns + 5;
        const std::vector<T> a = random_values<T>(rows * depth), b = random_values<T>(used(depth, b_row, columns));
        guarded<T> packed(depth * columns), panel_of_b(depth * columns), c(rows * columns, T(2)),
            want(rows * columns, T(2));
        upcoming next(reinterpret_cast<const char*>(b.data()), b_row * static_cast<extent_t>(sizeof(T)),
                      columns * static_cast<extent_t>(sizeof(T)), depth);
        const extent_t lines = next.lines();
        multiply_and_pack<T>(a.data(), depth, 1, b.data(), b_row, packed.data(), rows, depth, c.data(), columns, how,
                             next);
        multiply_tile<T>(a.data(), depth, 1, b.data(), b_row, rows, columns, depth, want.data(), columns, how, nullptr,
                         false);
        pack_panel<T>(b.data(), b_row, 1, depth, columns, panel_of_b.data());
        BOOST_TEST(next.lines() < lines);
        BOOST_TEST((c.intact() && packed.intact()));
        BOOST_TEST(std::memcmp(c.data(), want.data(), static_cast<std::size_t>(rows * columns) * sizeof(T)) == 0);
        BOOST_TEST(
            std::memcmp(packed.data(), panel_of_b.data(), static_cast<std::size_t>(depth * columns) * sizeof(T)) == 0);
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(panels_are_packed_and_padded, T, types) {
  for (extent_t depth : sizes) {
    for (extent_t columns = 0; columns <= panel<T>; columns += columns < 4 ? 1 : 3) {
      const auto check = [&](extent_t k_step, extent_t n_step) {
        const std::vector<T> b =
            random_values<T>(depth == 0 || columns == 0 ? 0 : (depth - 1) * k_step + (columns - 1) * n_step + 1);
        guarded<T> out(depth * panel<T>, guarded<T>::guard());
        pack_panel<T>(b.data(), k_step, n_step, depth, columns, out.data());
        bool equal = true;
        for (extent_t k = 0; k < depth; ++k) {
          for (extent_t j = 0; j < panel<T>; ++j) {
            const T expected = j < columns ? b[static_cast<std::size_t>(k * k_step + j * n_step)] : T(0);
            equal = equal && same_bits(out[k * panel<T> + j], expected);
          }
        }
        BOOST_TEST((equal && out.intact()));
      };
      for (extent_t more : {extent_t(0), extent_t(5)}) check(columns + more, 1), check(1, depth + more);
      check(2, 2 * depth + 1);
      check(3 * columns, 3);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(blocks_are_transposed, T, types) {
  for (extent_t rows : sizes) {
    for (extent_t columns : sizes) {
      const extent_t padded = (rows + (columns % 3) * width<T> / 2 + width<T> - 1) / width<T> * width<T> -
                              (columns % 2 == 0 || rows % width<T> == 0 ? 0 : width<T> - rows % width<T>);
      const extent_t in_row = columns + rows % 3;
      const extent_t out_row = padded + columns % 3;
      const std::vector<T> in = random_values<T>(used(rows, in_row, columns));
      guarded<T> out(used(columns, out_row, padded), guarded<T>::guard());
      transpose_block<T>(in.data(), in_row, rows, columns, out.data(), out_row, padded, T(0.37));
      bool equal = true;
      for (extent_t c = 0; c < columns; ++c) {
        for (extent_t r = 0; r < padded; ++r) {
          const T expected = r < rows ? in[static_cast<std::size_t>(r * in_row + c)] * T(0.37) : T(0);
          equal = equal && same_bits(out[c * out_row + r], expected);
        }
      }
      BOOST_TEST_CONTEXT("rows " << rows << " columns " << columns << " padded " << padded) {
        BOOST_TEST(equal);
        BOOST_TEST(out.intact([&](extent_t i) { return i % out_row < padded; }));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(partial_loads_and_stores_stay_inside, T, types) {
  for (int count = 0; count <= width<T>; ++count) {
    const std::vector<T> from = random_values<T>(count);
    T lanes[width<T>];
    store(lanes, load_partial(from.data(), count));
    guarded<T> to(count, guarded<T>::guard());
    store_partial(to.data(), load(lanes), count);
    for (int i = 0; i < width<T>; ++i) {
      BOOST_TEST(lanes[i] == (i < count ? from[static_cast<std::size_t>(i)] : T(0)));
      if (i < count) BOOST_TEST(to[i] == from[static_cast<std::size_t>(i)]);
    }
    BOOST_TEST(to.intact());
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(maxima_and_reductions, T, types) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const vector<T> one(T(1)), none(nan);
  BOOST_TEST((first_lane(max(none, one)) == T(1) && std::isnan(first_lane(max(one, none)))));
  BOOST_TEST((first_lane(min(none, one)) == T(1) && std::isnan(first_lane(min(one, none)))));
  BOOST_TEST(std::isnan(first_lane(max_propagating_nan(none, one))));
  BOOST_TEST(std::isnan(first_lane(max_propagating_nan(one, none))));
  BOOST_TEST(first_lane(max_propagating_nan(one, vector<T>(T(-2)))) == T(1));
  BOOST_TEST(first_lane(max_propagating_nan(vector<T>(T(-2)), one)) == T(1));

  BOOST_TEST(reduce_add(lane_numbers<T>()) == T(width<T> * (width<T> - 1) / 2));
  BOOST_TEST(reduce_max(lane_numbers<T>()) == T(width<T> - 1));
  BOOST_TEST(reduce_min(lane_numbers<T>()) == T(0));
  for (int at = 0; at < width<T>; ++at) {
    std::vector<T> lanes = random_values<T>(width<T>), folded = lanes;
    for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) folded[i] += folded[i + half];
    }
    BOOST_TEST(same_bits(reduce_add(load(lanes.data())), folded[0]));
    lanes[static_cast<std::size_t>(at)] = nan;
    const vector<T> spoilt = load(lanes.data());
    BOOST_TEST((std::isnan(reduce_max(spoilt)) && std::isnan(reduce_min(spoilt)) && std::isnan(reduce_add(spoilt))));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(exp2_is_accurate_and_flushes, T, types) {
  constexpr int lowest = std::numeric_limits<T>::min_exponent - 1;
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto exp2_of = [](T x) { return first_lane(exp2_flushed(vector<T>(x))); };
  double worst = 0;  // in units in the last place
  const auto measure = [&](T x) {
    const long double exact = std::exp2(static_cast<long double>(x));
    const long double error = std::abs(static_cast<long double>(exp2_of(x)) - exact);
    const auto ulps = static_cast<double>(std::ldexp(error, digits - 1 - std::ilogb(exact)));
    if (!(ulps <= worst)) worst = ulps;
  };
  for (int n = 0; n < 200000; ++n) measure(random_value<T>(-1, 1));
  for (int n = 0; n < 200000; ++n) measure(random_value<T>(lowest, -lowest + 1));
  BOOST_TEST_MESSAGE("exp2_flushed: " << worst << " ulp");
  BOOST_TEST(worst < (sizeof(T) == 4 ? 3 : 1.3));

  for (int e = lowest; e <= -lowest + 1; ++e) BOOST_TEST(exp2_of(T(e)) == std::ldexp(T(1), e));
  constexpr T infinite = std::numeric_limits<T>::infinity();
  const T below = std::nextafter(T(lowest), -infinite);
  for (T x : {below, T(lowest - 0.5), T(lowest - 1), T(2 * lowest), std::numeric_limits<T>::lowest(), -infinite}) {
    BOOST_TEST(same_bits(exp2_of(x), T(0)));
  }
  BOOST_TEST(std::isnan(exp2_of(std::numeric_limits<T>::quiet_NaN())));
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (bits payload : {bits{1}, bits{77}, bits{0x3fffff}}) {  // of a NaN: must not end up as an exponent
    T x = std::numeric_limits<T>::quiet_NaN();
    bits b;
    std::memcpy(&b, &x, sizeof b);
    b |= payload;
    std::memcpy(&x, &b, sizeof b);
    BOOST_TEST((std::isnan(exp2_of(x)) && std::isnan(exp2_of(-x))));
  }
  BOOST_TEST((same_bits(exp2_of(T(0)), T(1)) && same_bits(exp2_of(-T(0)), T(1))));
}

namespace {

// A tile, its statistics, and what plain loops make of them.
template <class T> struct softmax_case {
  int lanes;
  extent_t keys;
  std::vector<T> scores;
  guarded<T> tile, maximum, sum, rescale;

  softmax_case(int lanes_, std::vector<T> scores_)
      : lanes(lanes_),
        keys(static_cast<extent_t>(scores_.size()) / lanes_),
        scores(std::move(scores_)),
        tile(static_cast<extent_t>(scores.size())),
        maximum(lanes_, -infinity<T>),
        sum(lanes_),
        rescale(lanes_, guarded<T>::guard()) {
    std::copy(scores.begin(), scores.end(), tile.data());
  }
  void step_from(extent_t k, extent_t count) {
    softmax_tile<T>(tile.data() + k * lanes, lanes, std::min(count, keys - k), maximum.data(), sum.data(),
                    rescale.data());
  }
  void run(extent_t count) {
    for (extent_t k = 0; k < keys; k += count) step_from(k, count);
  }
  T score(extent_t k, int lane) const { return scores[static_cast<std::size_t>(k * lanes + lane)]; }
};

// The weights under `shift` and the sums of the tiles agree with exp in double, but for the residue of each lane.
template <class T> void check_softmax(int lanes, extent_t keys, extent_t step, double shift) {
  std::vector<T> scores = random_values<T>(keys * lanes, -8, 8);
  for (T& s : scores) s = random_bits()() % 5 == 0 ? -infinity<T> : s + static_cast<T>(shift);
  for (extent_t k = 0; k < keys; ++k) scores[static_cast<std::size_t>(k * lanes + 1)] = -infinity<T>;
  softmax_case<T> c(lanes, std::move(scores));
  bool unmoved_is_one = true;
  for (extent_t k = 0; k < keys; k += step) {
    const std::vector<T> before(c.maximum.data(), c.maximum.data() + lanes);
    c.step_from(k, step);
    for (int l = 0; l < lanes; ++l) {
      const bool moved = before[static_cast<std::size_t>(l)] != c.maximum[l] || c.maximum[l] == -infinity<T>;
      unmoved_is_one = unmoved_is_one && (moved || same_bits(c.rescale[l], T(1)));
    }
  }
  const double unit = static_cast<double>(std::numeric_limits<T>::epsilon());
  bool near = true;
  for (int l = 0; l < lanes; ++l) {
    T largest = -infinity<T>;
    for (extent_t k = 0; k < keys; ++k) largest = std::max(largest, c.score(k, l));
    near = near && c.maximum[l] == largest;
    alignas(64) T residues[width<T>];
    store(residues, softmax_residue<T>(c.maximum.data() + l / width<T> * width<T>));
    const double factor = std::exp2(static_cast<double>(residues[l % width<T>]));
    near = near && std::abs(std::log2(factor)) < 0.1;
    double total = 0;
    for (extent_t k = 0; k < keys; ++k) {
      if (c.score(k, l) == -infinity<T>) {
        near = near && same_bits(c.tile[k * lanes + l], T(0));
        continue;
      }
      const double distance = static_cast<double>(c.score(k, l)) - static_cast<double>(largest);
      const double exact = std::exp(distance) * factor;
      const double error = std::abs(static_cast<double>(c.tile[k * lanes + l]) - exact);
      total += exact;
      near = near && (step < keys || error <= (3 - distance) * unit * exact);
    }
    near = near && std::abs(static_cast<double>(c.sum[l]) - total) <= static_cast<double>(keys + 40) * unit * total;
  }
  BOOST_TEST_CONTEXT("lanes " << lanes << " keys " << keys << " step " << step << " shift " << shift) {
    BOOST_TEST(near);
    BOOST_TEST(unmoved_is_one);
    BOOST_TEST((c.tile.intact() && c.maximum.intact() && c.sum.intact() && c.rescale.intact()));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(softmax_agrees_with_plain_loops, T, types) {
  const subnormals_off quick;
  for (int vectors = 1; vectors <= 9; ++vectors) {
    for (extent_t keys : sizes) {
      check_softmax<T>(vectors * width<T>, keys, keys + 1, 0);
      check_softmax<T>(vectors * width<T>, keys, 16, 0);
      // Far from zero, the fraction of a score must survive.
      check_softmax<T>(vectors * width<T>, keys, keys + 1, -200000);
      check_softmax<T>(vectors * width<T>, keys, 7, 200000);
      // Beyond the largest maximum whose product with log2 e is folded in, and on both sides of it.
      check_softmax<T>(vectors * width<T>, keys, 7, 1048576);
      check_softmax<T>(vectors * width<T>, keys, 16, -4000000);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(softmax_of_special_scores, T, types) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr int lanes = 3 * width<T>;
  for (extent_t keys : {extent_t(1), extent_t(2), extent_t(5), extent_t(32)}) {
    for (extent_t at = 0; at < keys; ++at) {
      for (T special : {nan, infinity<T>}) {
        for (extent_t step : {keys, extent_t(3)}) {
          std::vector<T> scores = random_values<T>(keys * lanes);
          for (int l = 0; l < lanes; l += 2) scores[static_cast<std::size_t>(at * lanes + l)] = special;
          softmax_case<T> c(lanes, scores);
          c.run(step);
          for (int l = 0; l < lanes; ++l) BOOST_TEST(std::isnan(c.sum[l]) == (l % 2 == 0));
        }
      }
    }
  }
  // Nothing kept, tile after tile; then something.
  softmax_case<T> c(lanes, std::vector<T>(4 * lanes, -infinity<T>));
  std::fill(c.tile.data() + 3 * lanes, c.tile.data() + 4 * lanes, std::numeric_limits<T>::lowest());
  for (int k = 0; k < 3; ++k) {
    c.step_from(k, 1);
    for (int l = 0; l < lanes; ++l) {
      BOOST_TEST((same_bits(c.tile[k * lanes + l], T(0)) && same_bits(c.sum[l], T(0))));
      BOOST_TEST((c.maximum[l] == -infinity<T> && same_bits(c.rescale[l], T(0))));
    }
  }
  c.step_from(3, 1);
  for (int l = 0; l < lanes; ++l) {
    BOOST_TEST((same_bits(c.tile[3 * lanes + l], T(1)) && same_bits(c.sum[l], T(1))));
    BOOST_TEST(same_bits(c.rescale[l], T(0)));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(excluded_keys_leave_the_bits_alone, T, types) {
  constexpr int lanes = 5 * width<T>;
  for (extent_t keys : {extent_t(1), extent_t(2), extent_t(7), extent_t(16)}) {
    for (extent_t more : {extent_t(1), extent_t(2), extent_t(9)}) {
      std::vector<T> scores = random_values<T>(keys * lanes, -3, 3);
      softmax_case<T> alone(lanes, scores);
      alone.run(keys);
      scores.resize(static_cast<std::size_t>((keys + more) * lanes), -infinity<T>);
      softmax_case<T> longer(lanes, scores);
      longer.run(keys + more);
      softmax_case<T> followed(lanes, scores);
      followed.run(keys);
      const std::size_t bytes = lanes * sizeof(T);
      BOOST_TEST(std::memcmp(alone.sum.data(), longer.sum.data(), bytes) == 0);
      BOOST_TEST(std::memcmp(alone.sum.data(), followed.sum.data(), bytes) == 0);
      guarded<T> total(lanes);
      sum_tile<T>(alone.tile.data(), lanes, keys, total.data());
      BOOST_TEST(std::memcmp(alone.sum.data(), total.data(), bytes) == 0);
      BOOST_TEST(std::memcmp(alone.tile.data(), longer.tile.data(), bytes * static_cast<std::size_t>(keys)) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(softmax_has_the_same_bits_in_any_lane, T, types) {
  constexpr extent_t keys = 13;
  const std::vector<T> one = random_values<T>(keys, -30, 3);
  T expected = 0;
  for (int vectors = 1; vectors <= 7; ++vectors) {
    const int lanes = vectors * width<T>;
    std::vector<T> scores;
    for (T s : one) scores.insert(scores.end(), static_cast<std::size_t>(lanes), s);
    softmax_case<T> c(lanes, scores);
    c.run(5);
    if (vectors == 1) expected = c.sum[0];
    for (int l = 0; l < lanes; ++l) BOOST_TEST(same_bits(c.sum[l], expected));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(running_maximum_and_sum, T, types) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (extent_t keys : sizes) {
    const int lanes = 2 * width<T>;
    std::vector<T> scores = random_values<T>(keys * lanes);
    if (keys > 0) scores[static_cast<std::size_t>((keys - 1) / 2 * lanes + 1)] = nan;
    guarded<T> largest(lanes, T(0.5));
    guarded<T> total(lanes, T(2));
    max_tile<T>(scores.data(), lanes, keys, largest.data());
    sum_tile<T>(scores.data(), lanes, keys, total.data());
    for (int l = 0; l < lanes; ++l) {
      T even = 0;
      T odd = 0;
      T maximum = T(0.5);
      for (extent_t k = 0; k < keys; ++k) {
        const T s = scores[static_cast<std::size_t>(k * lanes + l)];
        (k % 2 == 0 ? even : odd) += s;
        maximum = std::max(maximum, s);
      }
      const bool spoilt = l == 1 && keys > 0;
      BOOST_TEST((spoilt ? std::isnan(largest[l]) : largest[l] == maximum));
      BOOST_TEST((spoilt ? std::isnan(total[l]) : same_bits(total[l], T(2) + (even + odd))));
    }
    BOOST_TEST((largest.intact() && total.intact()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
