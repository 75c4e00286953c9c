#pragma once
// A study may say what a paper has ([[expected]]); here it is held against what the runs gave.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "reports/analysis/groups.h"

namespace residuum::reports {

/// Expected is one value or interval that a source gives.
struct Expected {
  std::string quantity;  // a result of runs.csv, a column of iterations.csv, or facts.NAME
  std::string at;        // end, max, mean, or an iteration
  std::optional<double> value;
  std::optional<Interval> interval;
  std::string source;
  Json where = Json::object();  // settings of the methods that it is about
};

/// An ExpectedResult has a number for each finished run of one method.
struct ExpectedResult {
  Expected expected;
  std::optional<std::size_t> group;  // absent where no method is meant
  std::vector<double> values;
};

/// Returns the names of results and columns that can be expected.
std::vector<std::string> quantities_to_expect();

/// Returns whether the quantity is one number of a run and has no iterations: a result or a fact.
bool is_one_number(std::string_view quantity);

/// Returns what the study expects, of each method that it is about. A column's value `at` an
/// iteration is the last that was measured up to it.
std::vector<ExpectedResult> hold_against_expected(const ResultFolder& folder,
                                                  const std::vector<Group>& groups);

}  // namespace residuum::reports
