// The tables that are kept of a report: rows from a summary written by hand.

#include "reports/exports/summary_tables.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::TemporaryFolder;
using Rows = std::vector<std::vector<std::string>>;

/// Two methods; the first alone has a second key, a theorem with two terms, and no prediction.
const Json kSummary = Json::parse(R"({
  "groups": [
    {"label": "ef21, eta=0.005",
     "varying": {"feedback.kind": "ef21", "step.value": 0.005},
     "checks": {"bytes": {"worst_ratio": 1}, "late": {"worst_ratio": null}},
     "theorems": [{"name": "ef21", "verdict": "holds", "seeds": 4, "iterations": 100, "lhs": 0.5,
                   "rhs": 2, "slack": 4,
                   "terms": [{"attribution": "noise", "share": 0.25},
                             {"attribution": "start", "share": 0.75}]}]},
    {"label": "none", "varying": {"feedback.kind": "none"}, "checks": {}, "theorems": [],
     "prediction": {"gaussian": {"delta": 0.9, "largest_workers": 19}, "laplace": {"delta": 0.8}}}],
  "rates": [{"label": "none", "against": "workers.count", "slope": -0.5, "interval": [-0.6, -0.4],
             "seeds": 8}],
  "comparisons": [{"quantity": "loss",
                   "at_equal": [{"cost": "bytes", "budget": 1000,
                                 "methods": [{"label": "none", "mean": 1.5, "interval": null,
                                              "seeds": 1}]}]}],
  "predictions": [{"method": "gtopk-tree", "iteration": 199, "predicted_s": {"n": 3, "median": 8},
                   "measured_s": {"n": 3, "median": 10}, "ratio": {"n": 3, "median": 1.25}}],
  "runs": []
})");

Rows rows_of(const std::string& name) {
  const TemporaryFolder folder;
  write_json_atomically(folder.path() / "summary.json", kSummary);
  return summary_table(folder.path(), name).rows;
}

TEST(SummaryTables, HaveTheirTextsAsTheyAre) {
  EXPECT_EQ(rows_of("checks"), (Rows{{"ef21, eta=0.005", "ef21", "0.005", "bytes", "1"}}));
}

TEST(SummaryTables, HaveTheLargestTermOfATheorem) {
  EXPECT_EQ(rows_of("theorems"),
            (Rows{{"ef21, eta=0.005",
                   "ef21",
                   "0.005",
                   "ef21",
                   "holds",
                   "4",
                   "100",
                   "0.5",
                   "2",
                   "4",
                   "start",
                   "0.75"}}));
}

TEST(SummaryTables, LeaveOutMethodsWithoutPrediction) {
  EXPECT_EQ(rows_of("predicted"), (Rows{{"none", "none", "", "0.9", "0.8", "19"}}));
}

TEST(SummaryTables, LeaveTheEndsOfAMissingIntervalEmpty) {
  EXPECT_EQ(rows_of("rates"), (Rows{{"none", "workers.count", "-0.5", "-0.6", "-0.4", "8"}}));
  EXPECT_EQ(rows_of("equal"), (Rows{{"none", "loss", "bytes", "1000", "1.5", "", "", "1"}}));
}

TEST(SummaryTables, HoldMeasuredTimesAgainstPredictedOnes) {
  EXPECT_EQ(rows_of("times"), (Rows{{"gtopk-tree", "199", "8", "10", "1.25", "3"}}));
}

TEST(SummaryTables, HaveAnErrorWhereThereIsNothing) {
  EXPECT_THROW(rows_of("facts"), Error);
  EXPECT_THROW(rows_of("slopes"), Error);
}

}  // namespace
}  // namespace residuum::reports
