// SPDX-License-Identifier: BSL-1.0
//
// The one main of all test programs. A program whose every test case was skipped (the data that it reads is not
// there) exits with 77, which ctest shows as "Skipped"; a precondition on a test case is what skips it.
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/test_unit.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdio>

namespace {

struct case_counter : boost::unit_test::test_observer {
  int run = 0;
  int skipped = 0;

  // After Boost's own observers: one of them is only ready once it has been told that the run starts.
  int priority() override { return 100; }
  void test_unit_start(boost::unit_test::test_unit const& unit) override {
    if (unit.p_type == boost::unit_test::TUT_CASE) ++run;
  }
  void test_unit_skipped(boost::unit_test::test_unit const& unit, boost::unit_test::const_string reason) override {
    ++skipped;
    std::printf("skipped: %s: %.*s\n", unit.p_name->c_str(), static_cast<int>(reason.size()), reason.begin());
  }
};

case_counter counter;

bool start() {
  boost::unit_test::framework::register_observer(counter);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int const code = boost::unit_test::unit_test_main(&start, argc, argv);
  bool const nothing_ran = counter.run == 0 && counter.skipped > 0;
  return nothing_ran ? 77 : code;
}
