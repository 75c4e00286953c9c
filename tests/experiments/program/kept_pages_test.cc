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
  /// How often delta exceeds 1. A share that rounds to none is not printed as none.
  std::string share_above() const {
    const double percent = 100 * above / measured;
    return above > 0 && percent < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", percent);
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
                    HasSubstr(fmt::format("{} | {:.5f}", method.share_above(), method.largest)))
            << study << ' ' << name;
      }
    }
  }
}

/// Returns what each method with this many workers has reached, as experiments/papers/at_cost says.
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
    if (text("p_workers_count") == workers) {
      of_method[text("p_aggregator_kind") + ' ' + text("p_feedback_putback")].push_back(
          runs.number(runs.column("loss_at_cost")).value());
    }
  }
  return of_method;
}

TEST(KeptPages, GiveWhatLstmsReachInEqualTimeAsKept) {
  const std::vector<std::array<std::string, 3>> budgets{{"100mbit", "7.430", "4"},
                                                        {"100mbit", "9.144", "8"},
                                                        {"100mbit", "10.859", "16"},
                                                        {"100mbit", "12.573", "32"},
                                                        {"1gbe", "5.611", "4"},
                                                        {"1gbe", "6.416", "8"},
                                                        {"1gbe", "7.222", "16"},
                                                        {"1gbe", "8.027", "32"}};
  for (const auto& [network, budget, workers] : budgets) {
    std::string row = fmt::format(
        "| {} | {} s, {} ", workers, budget, network == "1gbe" ? "Gigabit" : "100 Mbit/s");
    auto reached = reached_on_lstm(network, budget, workers);
    for (const char* method : {"dense captured",
                               "allgather captured",
                               "gtopk-mask captured",
                               "gtopk-exact captured",
                               "gtopk-tree captured",
                               "gtopk-tree published"}) {
      row += "| " + with_interval(reached.at(method)) + ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row));
  }
}

/// f at the end of r4_lstm_bytes.toml, seed by seed, by the aggregator and the workers.
std::map<std::string, std::vector<double>> ends_at_equal_bytes() {
  std::map<std::string, std::vector<double>> of_method;
  CsvReader runs(kPapersFolder / "kept/r4-lstm-bytes/runs.csv");
  while (runs.next()) {
    const auto text = [&](const char* column) { return runs.text(runs.column(column)); };
    of_method[text("p_aggregator_kind") + ' ' + text("p_workers_count")].push_back(
        runs.number(runs.column("final_loss")).value());
  }
  return of_method;
}

TEST(KeptPages, GiveWhereLstmsEndAtEqualBytesAsKept) {
  const auto ends = ends_at_equal_bytes();
  ASSERT_EQ(ends.size(), 12U);
  for (const char* workers : {"4", "8", "16", "32"}) {
    std::string row;
    for (const char* method : {"allgather ", "gtopk-mask ", "gtopk-tree "}) {
      row += "| " + with_interval(ends.at(std::string(method) + workers)) + ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row)) << workers;
  }
}

/// The mean delta of each run in its last quarter, by method.
std::map<std::string, std::vector<double>> late_deltas() {
  std::map<std::string, std::vector<double>> of_method;
  CsvReader quarters(kPapersFolder / "kept/r4-lstm/quarters.csv");
  while (quarters.next()) {
    const auto delta = quarters.number(quarters.column("delta"));
    if (quarters.integer(quarters.column("epoch")) == 3 && delta) {
      of_method[quarters.text(quarters.column("method"))].push_back(*delta);
    }
  }
  return of_method;
}

TEST(KeptPages, GiveDeltaAtTheEndOfTheLstmAsKept) {
  const auto late = late_deltas();
  ASSERT_EQ(late.size(), 20U);
  for (const auto& [method, means] : late) {
    const auto interval = reports::student_interval(means).value();
    EXPECT_THAT(
        page(),
        HasSubstr(fmt::format(
            "{:.5f} [{:.5f}, {:.5f}]", reports::mean(means).value(), interval.low, interval.high)))
        << method;
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
