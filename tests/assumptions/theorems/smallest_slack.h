#pragma once
// Bounds of runs whose moments are exact are held against both sides over every beginning of the
// runs; the smallest slack of all is printed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include "tests/assumptions/theorems/support.h"

namespace residuum::test {

class SmallestSlack {
 public:
  explicit SmallestSlack(std::string_view theorem) : theorem_(theorem) {}

  /// The theorem applies and holds over every beginning of the runs.
  void expect_no_violation(const Evidence& evidence, const std::string& of) {
    const Bound bound = evaluate(theorem_, evidence);
    ASSERT_TRUE(bound.has_verdict()) << theorem_ << ", " << of << ": " << bound.reason;
    EXPECT_GT(bound.curve.size(), 10U) << theorem_ << ", " << of;
    for (const auto& point : bound.curve) {
      EXPECT_LE(point.lhs, point.rhs) << theorem_ << ", " << of << " after " << point.iterations;
      ++bounds_;
      if (point.rhs < slack_ * point.lhs) {
        slack_ = point.rhs / point.lhs;
        of_ = fmt::format("{}, T = {}", of, point.iterations);
      }
    }
  }

  void tell() const {
    fmt::print(
        "[   slack  ] {}: at least {:.3g} in {} bounds ({})\n", theorem_, slack_, bounds_, of_);
    std::fflush(stdout);
  }

 private:
  std::string_view theorem_;
  double slack_ = std::numeric_limits<double>::infinity();
  std::string of_ = "none";
  int bounds_ = 0;
};

}  // namespace residuum::test
