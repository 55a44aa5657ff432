// SPDX-License-Identifier: BSL-1.0
// Nothing of heed: standard containers and sorting of several types, whose compilation says how fast the machine is just now.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

template <class T> auto work(std::vector<T> values) {
  std::map<T, std::vector<T>> groups;
  for (auto const& v : values) groups[v].push_back(v);
  std::stable_sort(values.begin(), values.end());
  std::nth_element(values.begin(), values.begin() + 1, values.end());
  return std::pair{std::unique(values.begin(), values.end()) - values.begin(), groups.size()};
}
auto numbers(std::vector<double> const& v) { return work(v); }
auto wholes(std::vector<long> const& v) { return work(v); }
auto words(std::vector<std::string> const& v) { return work(v); }
