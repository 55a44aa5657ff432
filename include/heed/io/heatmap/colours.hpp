// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: two ramps of colours for numbers from 0 to 1, one for light paper and one for dark.
// Their lightness in OKLab (Ottosson 2020) grows in equal steps, so equal differences look equal, and whoever sees no
// colours reads the same order from light to dark. Next to read: page.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace heed::detail {

struct rgb {
  std::uint8_t red, green, blue;
};

/// OKLab to linear sRGB; values outside of 0..1 are outside of what a screen can show.
inline std::array<double, 3> linear_srgb(double lightness, double a, double b) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

/// A colour of OKLab by lightness, chroma and hue in degrees; chroma is lowered until a screen can show it.
inline rgb screen_colour(double lightness, double chroma, double hue) {
  constexpr double degree = 3.14159265358979323846 / 180;
  const auto at = [&](double c) {
    return linear_srgb(lightness, c * std::cos(hue * degree), c * std::sin(hue * degree));
  };
  const auto shown = [](std::array<double, 3> const& x) {
    return std::all_of(x.begin(), x.end(), [](double part) { return part >= 0 && part <= 1; });
  };
  double low = 0, high = chroma;
  if (shown(at(chroma))) low = chroma;
  for (int step = 0; step < 30 && low < high; ++step) {
    const double middle = (low + high) / 2;
    (shown(at(middle)) ? low : high) = middle;
  }
  const auto byte = [](double x) {
    const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(encoded, 0., 1.)));
  };
  const std::array<double, 3> colour = at(low);
  return {byte(colour[0]), byte(colour[1]), byte(colour[2])};
}

/// From the paper's colour to the far end: pale yellow, green, blue, deep violet on light paper; the other way about on
/// dark. `part` is within 0 to 1.
inline rgb ramp(double part, bool dark) {
  const double turn = 4 * part * (1 - part);  // most colourful halfway
  if (dark) return detail::screen_colour(0.215 + 0.735 * part, 0.03 + 0.03 * part + 0.11 * turn, 285 - 185 * part);
  return detail::screen_colour(0.985 - 0.715 * part, 0.012 + 0.085 * part + 0.09 * turn, 105 + 185 * part);
}

inline std::string hexadecimal(rgb colour) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%02x%02x%02x", static_cast<unsigned>(colour.red),
                static_cast<unsigned>(colour.green), static_cast<unsigned>(colour.blue));
  return text.data();
}

}  // namespace heed::detail
