// SPDX-License-Identifier: BSL-1.0
// In: an action that should throw. Out: a verdict for BOOST_TEST, or what the exception says.
// Next: compare.hpp, verdicts on numbers.
#pragma once
#include <boost/test/unit_test.hpp>

#include <exception>
#include <string>

namespace test {

using verdict = boost::test_tools::predicate_result;

/// `BOOST_TEST(throws<heed::shape_error>([&] { ... }));`
template <class Exception, class Action> verdict throws(Action action) {
  verdict no(false);
  try {
    action();
  } catch (const Exception&) {
    return verdict(true);
  } catch (const std::exception& other) {
    no.message() << "another exception: " << other.what();
    return no;
  }
  no.message() << "nothing was thrown";
  return no;
}

/// What an exception says, or "nothing was thrown".
template <class Exception, class Action> std::string message_of(Action action) {
  try {
    action();
  } catch (const Exception& exception) {
    return exception.what();
  }
  return "nothing was thrown";
}

}  // namespace test
