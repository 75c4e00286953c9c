#pragma once
// Property tests that draw the same cases in every run: rapidcheck with a fixed seed.

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <sstream>

namespace residuum::test {

/// Checks `property` on `cases` draws; a failing draw is shrunk and printed.
template <class Property>
void for_all(Property&& property, int cases = 200) {
  rc::detail::TestParams params;
  params.seed = 20190805;
  params.maxSuccess = cases;
  const auto result = rc::detail::checkTestable(property, rc::detail::TestMetadata{}, params);
  if (!result.template is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    ADD_FAILURE() << text.str();
  }
}

}  // namespace residuum::test
