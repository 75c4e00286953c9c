// The page of published experiments says what is kept of the studies that are run seed by seed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/tables/csv_reader.h"
#include "tests/experiments/program/kept_tables.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using reports::CsvReader;
using testing::HasSubstr;

/// A KeptMethod is what experiments/papers/keep_seeds kept of the runs of one method.
struct KeptMethod {
  std::map<std::uint64_t, double> perplexity;  // at the end, by seed
  KeptDelta delta;

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
    method.delta.add(epochs);
  }
  return methods;
}

TEST(KeptPages, GiveWhereTrainedLstmsEndAsKept) {
  for (const char* study : {"r1-lstm", "r4-lstm"}) {
    const auto methods = kept_methods(study);
    EXPECT_GE(methods.size(), 14U) << study;
    for (const auto& [name, method] : methods) {
      EXPECT_THAT(page(), HasSubstr(method.end())) << study << ' ' << name;
      if (method.delta.measured > 0) {
        EXPECT_THAT(page(), HasSubstr(method.delta.text())) << study << ' ' << name;
      }
    }
  }
}

/// kNotBegun stands for f where a run has measured none within the budget but that at the start.
constexpr double kNotBegun = -1;

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
      const bool is_begun = text("iteration_at_cost") != "0";
      of_method[text("p_aggregator_kind") + ' ' + text("p_feedback_putback")].push_back(
          is_begun ? runs.number(runs.column("loss_interpolated")).value() : kNotBegun);
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
      const std::vector<double>& losses = reached.at(method);
      row += losses.front() == kNotBegun ? "| – (< 40) " : "| " + with_interval(losses) + ' ';
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

TEST(KeptPages, GiveDeltaAtTheEndOfTheLstmAsKept) {
  const auto late = late_deltas(kPapersFolder / "kept/r4-lstm");
  ASSERT_EQ(late.size(), 20U);
  for (const auto& [method, means] : late) {
    EXPECT_THAT(page(), HasSubstr(delta_with_interval(means))) << method;
  }
}

TEST(KeptPages, GiveWhatThePublishedPutBackCostsTheLstmAsKept) {
  for (const char* workers : {"4", "8", "16", "32"}) {
    const Keys published{{"workers_count", workers}, {"feedback_putback", "published"}};
    const Keys captured{{"workers_count", workers},
                        {"feedback_putback", "captured"},
                        {"aggregator_kind", "gtopk-tree"}};
    std::string row = fmt::format("| {} ", workers);
    for (const auto& [column, digits] : std::vector<std::pair<std::string, int>>{
             {"final_loss", 4}, {"final_test_perplexity", 3}, {"final_test_accuracy", 4}}) {
      row += "| " +
             difference(kPapersFolder / "kept/r4-lstm", column, digits, published, captured) + ' ';
    }
    if (std::string(workers) == "32") {  // a bound that would round to nothing has a digit more
      const auto bound = row.find("[0.000, ");
      ASSERT_NE(bound, std::string::npos);
      row.replace(bound, 8, "[0.0005, ");
    }
    EXPECT_THAT(page(), HasSubstr(row));
  }
}

TEST(KeptPages, GiveTheThresholdAgainstTopKAtEqualBytesAsKept) {
  const Keys top_k{{"aggregator_kind", "allgather"}, {"sparsifier_kind", "top-k"}};
  const Keys threshold{{"sparsifier_kind", "hard-threshold"}};
  const TemporaryFolder folder;
  for (const auto& [budget, label] :
       std::vector<std::pair<std::string, std::string>>{{"3.57e6", "3.57"},
                                                        {"12.5e6", "12.5"},
                                                        {"17.856e6", "17.856"},
                                                        {"26.8e6", "26.8"},
                                                        {"35.7e6", "35.7"}}) {
    std::string row = fmt::format("| {} MB ", label);
    for (const auto& [column, digits] :
         std::vector<std::pair<std::string, int>>{{"loss", 3}, {"total_error", 0}}) {
      const auto ran = run_program({(kPapersFolder / "at_cost").string(),
                                    (kPapersFolder / "kept/r1-lstm").string(),
                                    "bytes",
                                    budget,
                                    "out",
                                    column},
                                   folder.path());
      ASSERT_EQ(ran.code, 0) << ran.err;
      row += "| " +
             difference(folder.path() / "out", column + "_interpolated", digits, top_k, threshold) +
             ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row));
  }
}

TEST(KeptPages, GiveTheThresholdAgainstTopKAtTheEndAsKept) {
  const auto lstm = kPapersFolder / "kept/r1-lstm";
  const Keys top_k{{"aggregator_kind", "allgather"}, {"sparsifier_kind", "top-k"}};
  const Keys threshold{{"sparsifier_kind", "hard-threshold"}};
  EXPECT_THAT(page(),
              HasSubstr(fmt::format("| the whole run | {} | {} |\n",
                                    difference(lstm, "final_loss", 3, top_k, threshold),
                                    difference(lstm, "total_error", 0, top_k, threshold))));
}

/// The kept runs are those of the studies as they stand: an id is a hash of its run's
/// configuration.
TEST(KeptPages, AreOfTheStudiesAsTheyStand) {
  RESIDUUM_NEEDS_NETWORKS();
  std::set<std::string> missing;  // the studies of the others are looked at
  for (const auto& [study, data] :
       std::vector<std::pair<std::string, std::string>>{{"r1_lstm", "tinyshakespeare"},
                                                        {"r4_lstm", "tinyshakespeare"},
                                                        {"r4_lstm_bytes", "tinyshakespeare"},
                                                        {"r1_resnet8", "cifar10"},
                                                        {"r4_resnet8", "cifar10"},
                                                        {"r4_resnet8_bytes", "cifar10"},
                                                        {"r4_resnet8_plain", "cifar10"}}) {
    if (!std::filesystem::exists(std::filesystem::path(RESIDUUM_TEST_DATA) / data)) {
      missing.insert(data);
      continue;
    }
    const TemporaryFolder folder;
    const Finished plan = residuum_program(
        {"plan", (kPapersFolder / (study + ".toml")).string(), "--data-dir", RESIDUUM_TEST_DATA},
        folder.path());
    ASSERT_EQ(plan.code, 0) << plan.err;
    std::string kept = study;
    std::replace(kept.begin(), kept.end(), '_', '-');
    CsvReader runs(kPapersFolder / "kept" / kept / "runs.csv");
    while (runs.next()) {
      EXPECT_THAT(plan.out, HasSubstr(runs.text(runs.column("run_id"))));
    }
  }
  if (!missing.empty()) {
    GTEST_SKIP() << fmt::format(
        "not in {}: {}", RESIDUUM_TEST_DATA, fmt::join(missing.begin(), missing.end(), ", "));
  }
}

TEST(KeptPages, GiveWhatTheRunsTookAsKept) {
  for (const auto& study : kKeptStudies) {
    const auto folder = kPapersFolder / "kept" / study;
    std::vector<double> seconds;
    double total = 0;
    CsvReader runs(folder / "runs.csv");
    while (runs.next()) {
      seconds.push_back(runs.number(runs.column("wall_s")).value());
      total += seconds.back();
    }
    EXPECT_THAT(page(),
                HasSubstr(fmt::format("| [{0}](kept/{0}/made.json) | {1} | {2:.0f} | {3:.1f} |",
                                      study,
                                      seconds.size(),
                                      total / static_cast<double>(seconds.size()),
                                      total / 3600)));
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
