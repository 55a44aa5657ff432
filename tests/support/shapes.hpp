// SPDX-License-Identifier: BSL-1.0
// In: a seed. Out: random problems of attention: extents that sit on and around the edges of vectors and tiles, tensors
// filled for them, and the same numbers as grids for the reference.
// Next: random_shapes.cpp and its neighbours.
#pragma once
#include "schedules.hpp"

#include <cmath>
#include <sstream>
#include <string>

namespace test {

inline constexpr int sequence_extents[] = {0, 1, 2, 3, 5, 7, 13, 16, 17, 31, 33, 63, 64, 65, 97, 128, 129};
inline constexpr int width_extents[] = {1, 3, 8, 16, 17, 64, 80};

struct shape {
  std::ptrdiff_t batches = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, width = 1, values = 1;

  [[nodiscard]] std::string name() const {
    std::ostringstream text;
    text << "batch " << batches << ", heads " << heads << " over " << kv_heads << ", query " << queries << ", key "
         << keys << ", d_head " << width << ", d_value " << values;
    return text.str();
  }
};

/// A shape of random extents; `grouped`: several heads may read one key-value head.
inline shape random_shape(generator& random, bool grouped = false) {
  const auto pick = [&](const auto& list) { return static_cast<std::ptrdiff_t>(list[random.below(std::ssize(list))]); };
  shape result;
  result.batches = 1 + random.below(2);
  result.kv_heads = 1 + random.below(2);
  result.heads = result.kv_heads * (grouped ? 1 + random.below(4) : 1);
  result.queries = pick(sequence_extents);
  result.keys = pick(sequence_extents);
  result.width = pick(width_extents);
  result.values = random.below(3) == 0 ? pick(width_extents) : result.width;
  return result;
}

/// The tensors of a shape, and the same numbers as grids.
struct problem {
  shape extents;
  heed::tensor<float, batch, head, query, d_head> q;
  heed::tensor<float, batch, kv_head, key, d_head> k;
  heed::tensor<float, batch, kv_head, key, d_value> v;
  grid<4> q_grid, k_grid, v_grid;
  double scale = 1;

  problem(const shape& s, std::uint64_t seed)
      : extents(s),
        q(normal<float, batch, head, query, d_head>(seed, batch{s.batches}, head{s.heads}, query{s.queries},
                                                    d_head{s.width})),
        k(normal<float, batch, kv_head, key, d_head>(seed + 1, batch{s.batches}, kv_head{s.kv_heads}, key{s.keys},
                                                     d_head{s.width})),
        v(normal<float, batch, kv_head, key, d_value>(seed + 2, batch{s.batches}, kv_head{s.kv_heads}, key{s.keys},
                                                      d_value{s.values})),
        q_grid(grid_of(q)),
        k_grid(grid_of(k)),
        v_grid(grid_of(v)),
        scale(1 / std::sqrt(static_cast<double>(s.width))) {}

  /// Scaled scores [batch, head, query, key], for shapes in which each head has its own keys.
  [[nodiscard]] auto scores() const { return heed::dot<d_head>(q, heed::rename<kv_head, head>(k)) * scale; }
  /// The values under the axis `head`.
  [[nodiscard]] auto values() const { return heed::rename<kv_head, head>(v); }

  [[nodiscard]] reference::attention_terms terms() const {
    reference::attention_terms result;
    result.scale = scale;
    return result;
  }
  [[nodiscard]] reference::attention_values attend(const reference::attention_terms& terms) const {
    return reference::attention(q_grid, k_grid, v_grid, terms);
  }
};

/// Runs `body(problem, random)` on many random shapes and says which shape a failure belongs to.
template <class Body> void for_random_problems(int count, std::uint64_t seed, Body body, bool grouped = false) {
  generator random(seed);
  for (int n = 0; n < count; ++n) {
    const problem p(random_shape(random, grouped), seed * 1000 + static_cast<std::uint64_t>(3 * n));
    BOOST_TEST_CONTEXT(p.extents.name()) body(p, random);
  }
}

}  // namespace test
