// SPDX-License-Identifier: BSL-1.0
// In: an argument or none. Out: a sum that a team of threads adds up, with an argument by a plain variable that all of them
// write: a race for the thread sanitizer to find.
#include <heed/kernel/parallel.hpp>

#include <atomic>
#include <cstdio>
#include <vector>

int main(int count, char**) {
  constexpr std::ptrdiff_t jobs = 1000;
  std::vector<long> squares(jobs, 0);
  std::atomic<long> sum{0};
  long planted = 0;
  for (int run = 0; run < 20; ++run)
    heed::kernel::run_team(4, [&](heed::kernel::team& t) {
      t.share(jobs, [&](std::ptrdiff_t i) { squares[static_cast<std::size_t>(i)] = i * i; });
      t.share(jobs, [&](std::ptrdiff_t i) {  // reads what another thread wrote
        sum += squares[static_cast<std::size_t>(jobs - 1 - i)];
        if (count > 1) planted += i;
      });
    });
  long want = 0;
  for (long i = 0; i < jobs; ++i) want += 20 * i * i;
  std::printf("%ld %ld\n", sum.load(), planted);
  return sum == want ? 0 : 1;
}
