// The page of published experiments says what is kept of the studies that are run seed by seed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "reports/numbers/statistics.h"
#include "reports/tables/csv_reader.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using reports::CsvReader;
using testing::HasSubstr;

const std::filesystem::path kPapersFolder = std::filesystem::path(RESIDUUM_STUDIES) / "papers";

std::string page() { return read_text(kPapersFolder / "README.md"); }

std::string with_interval(const std::vector<double>& values) {
  const auto interval = reports::student_interval(values).value();
  return fmt::format(
      "{:.3f} [{:.3f}, {:.3f}]", reports::mean(values).value(), interval.low, interval.high);
}

/// A KeptMethod is what experiments/papers/keep_seeds kept of the runs of one method.
struct KeptMethod {
  std::map<std::uint64_t, double> perplexity;  // at the end, by seed
  double above = 0;                            // iterations whose delta exceeds 1
  double measured = 0;                         // iterations with a delta
  double largest = 0;                          // delta

  std::string end() const {
    std::vector<double> values;
    for (const auto& [seed, value] : perplexity) {
      values.push_back(value);
    }
    return with_interval(values);
  }
};

std::map<std::string, KeptMethod> kept_methods(const std::string& study) {
  std::map<std::string, KeptMethod> methods;
  CsvReader epochs(kPapersFolder / "kept" / study / "epochs.csv");
  while (epochs.next()) {
    const auto number = [&](const char* column) { return epochs.number(epochs.column(column)); };
    KeptMethod& method = methods[epochs.text(epochs.column("method"))];
    if (const auto perplexity = number("test_perplexity")) {
      method.perplexity[epochs.integer(epochs.column("seed"))] = *perplexity;
    }
    if (const auto largest = number("delta_max")) {
      method.largest = std::max(method.largest, *largest);
      method.above += number("delta_above_1").value();
      method.measured += number("measured").value();
    }
  }
  return methods;
}

TEST(KeptPages, GiveWhereTrainedLstmsEndAsKept) {
  for (const char* study : {"r1-lstm", "r4-lstm"}) {
    const auto methods = kept_methods(study);
    EXPECT_GE(methods.size(), 14U) << study;
    for (const auto& [name, method] : methods) {
      EXPECT_THAT(page(), HasSubstr(method.end())) << study << ' ' << name;
      if (method.measured > 0) {
        EXPECT_THAT(page(),
                    HasSubstr(fmt::format(
                        "{:.1f} % | {:.5f}", 100 * method.above / method.measured, method.largest)))
            << study << ' ' << name;
      }
    }
  }
}

/// The uplink bytes of a whole run of gTop-k by the captured tree on the LSTM, by the workers.
std::map<std::string, double> bytes_of_trees() {
  std::map<std::string, double> bytes;
  CsvReader runs(kPapersFolder / "kept/r4-lstm/runs.csv");
  while (runs.next()) {
    const auto text = [&](const char* column) { return runs.text(runs.column(column)); };
    if (text("p_aggregator_kind") == "gtopk-tree" && text("p_feedback_putback") == "captured") {
      bytes[text("p_workers_count")] = runs.number(runs.column("uplink_bytes")).value();
    }
  }
  return bytes;
}

/// What experiments/papers/at_cost says that each method with this many workers has reached.
std::map<std::string, std::vector<double>> reached_on_lstm(const std::string& cost,
                                                           const std::string& budget,
                                                           const std::string& workers) {
  const TemporaryFolder folder;
  const auto ran = run_program({(kPapersFolder / "at_cost").string(),
                                (kPapersFolder / "kept/r4-lstm").string(),
                                cost,
                                budget,
                                "out"},
                               folder.path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::map<std::string, std::vector<double>> of_method;
  CsvReader runs(folder.path() / "out/runs.csv");
  while (runs.next()) {
    const auto text = [&](const char* column) { return runs.text(runs.column(column)); };
    if (text("p_workers_count") == workers && text("p_aggregator_kind") != "dense") {
      of_method[text("p_aggregator_kind") + ' ' + text("p_feedback_putback")].push_back(
          runs.number(runs.column("loss_at_cost")).value());
    }
  }
  return of_method;
}

TEST(KeptPages, GiveWhatLstmsReachAtEqualCostAsKept) {
  std::vector<std::array<std::string, 3>> budgets{{"100mbit", "7.430", "4"},
                                                  {"100mbit", "9.144", "8"},
                                                  {"100mbit", "10.859", "16"},
                                                  {"100mbit", "12.573", "32"},
                                                  {"1gbe", "5.611", "4"},
                                                  {"1gbe", "6.416", "8"},
                                                  {"1gbe", "7.222", "16"},
                                                  {"1gbe", "8.027", "32"}};
  for (const auto& [workers, bytes] : bytes_of_trees()) {
    budgets.push_back({"bytes", fmt::format("{:.0f}", bytes), workers});
  }
  ASSERT_EQ(budgets.size(), 12U);
  for (const auto& [cost, budget, workers] : budgets) {
    std::string row =
        cost == "bytes"
            ? fmt::format("| {} | {:.1f} MB ", workers, std::stod(budget) / 1e6)
            : fmt::format(
                  "| {} | {} s, {} ", workers, budget, cost == "1gbe" ? "Gigabit" : "100 Mbit/s");
    auto reached = reached_on_lstm(cost, budget, workers);
    for (const char* method : {"allgather captured",
                               "gtopk-mask captured",
                               "gtopk-exact captured",
                               "gtopk-tree captured",
                               "gtopk-tree published"}) {
      row += "| " + with_interval(reached.at(method)) + ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row));
  }
}

/// The mean delta of each run in the last quarter of its 800 iterations, where they are kept.
std::map<std::string, std::vector<double>> late_deltas_of_trees() {
  std::map<std::string, std::string> workers;
  CsvReader runs(kPapersFolder / "kept/r4-lstm/runs.csv");
  while (runs.next()) {
    const auto text = [&](const char* column) { return runs.text(runs.column(column)); };
    if (text("p_aggregator_kind") == "gtopk-tree" && text("p_feedback_putback") == "captured") {
      workers[text("run_id")] = text("p_workers_count");
    }
  }
  std::map<std::string, std::vector<double>> of_run;
  CsvReader rows(kPapersFolder / "kept/r4-lstm/iterations.csv");
  while (rows.next()) {
    const std::string run = rows.text(rows.column("run_id"));
    if (workers.contains(run) && rows.integer(rows.column("iteration")) >= 600) {
      of_run[run].push_back(rows.number(rows.column("delta")).value());
    }
  }
  std::map<std::string, std::vector<double>> means;
  for (const auto& [run, deltas] : of_run) {
    means[workers.at(run)].push_back(reports::mean(deltas).value());
  }
  return means;
}

TEST(KeptPages, GiveDeltaAtTheEndOfTheLstmAsKept) {
  const auto late = late_deltas_of_trees();
  ASSERT_EQ(late.size(), 4U);
  for (const auto& [workers, means] : late) {
    const auto interval = reports::student_interval(means).value();
    EXPECT_THAT(
        page(),
        HasSubstr(fmt::format(
            "{:.5f} [{:.5f}, {:.5f}]", reports::mean(means).value(), interval.low, interval.high)))
        << workers;
  }
}

TEST(KeptPages, GiveTheCertificateOnTheLstmAsRecorded) {
  CsvReader table(std::filesystem::path(RESIDUUM_STUDIES).parent_path() /
                  "reports/gallery/r1-lstm-certificate/theorems.csv");
  int rows = 0;
  while (table.next()) {
    const auto number = [&](const char* column) {
      return table.number(table.column(column)).value();
    };
    ++rows;
    EXPECT_THAT(page(),
                HasSubstr(fmt::format("| {} | {:.4f} | {:.2f} | {:.0f} | {:.1f} % |",
                                      table.text(table.column("verdict")),
                                      number("lhs"),
                                      number("rhs"),
                                      number("slack"),
                                      100 * number("share"))))
        << table.text(table.column("method"));
  }
  EXPECT_EQ(rows, 4);
}

}  // namespace
}  // namespace residuum
