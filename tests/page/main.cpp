// SPDX-License-Identifier: BSL-1.0
// In: a path. Out: a page of two layers of three heads over four tokens, one of which tries to break out, for check.py
// to use as a reader would. The weight at [layer, head, query, key] is (layer + 2 head + 4 query + 8 key) / 64.
// Next to read: check.py.
#include <heed/io/heatmap.hpp>

struct layer : heed::axis<> {};
struct head : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};

int main(int count, char** arguments) {
  if (count != 2) return 2;
  heed::tensor<float, layer, head, query, key> weights{layer{2}, head{3}, query{4}, key{4}};
  for (int l = 0; l < 2; ++l)
    for (int h = 0; h < 3; ++h)
      for (int q = 0; q < 4; ++q)
        for (int k = 0; k < 4; ++k) weights(l, h, q, k) = static_cast<float>(l + 2 * h + 4 * q + 8 * k) / 64;
  heed::io::write_heatmap(arguments[1], weights,
                          {.title = "Page", .keys = {"<s>", " one", "</script><script>broken=true</script>", "."}});
}
