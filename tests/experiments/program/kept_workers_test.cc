// The page of published experiments says what is kept of the runs on ResNet-8 with 4 to 32 workers.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/experiments/program/kept_tables.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::filesystem::path kKeptWorkers = kPapersFolder / "kept/r4-resnet8";
const std::vector<std::string> kWorkers{"4", "8", "16", "32"};

Keys method_of(const std::string& aggregator, const std::string& putback = "captured") {
  return {{"aggregator_kind", aggregator}, {"feedback_putback", putback}};
}

Keys with_workers(Keys method, const std::string& workers) {
  method["workers_count"] = workers;
  return method;
}

const std::vector<Keys> kCompressed{method_of("allgather"),
                                    method_of("gtopk-mask"),
                                    method_of("gtopk-exact"),
                                    method_of("gtopk-tree"),
                                    method_of("gtopk-tree", "published")};

std::vector<Keys> all_methods() {
  std::vector<Keys> methods{method_of("dense")};
  methods.insert(methods.end(), kCompressed.begin(), kCompressed.end());
  return methods;
}

/// Returns a method's name in epochs.csv.
std::string name_of(const Keys& method, const std::string& workers) {
  return fmt::format(
      "aggregator_kind={} feedback_putback={} sparsifier_kind=top-k workers_count={}",
      method.at("aggregator_kind"),
      method.at("feedback_putback"),
      workers);
}

TEST(KeptPages, GiveWhereTheResNetEndsByWorkersAsKept) {
  for (const char* column : {"final_test_accuracy", "final_loss"}) {
    for (const auto& workers : kWorkers) {
      std::string row = fmt::format("| {} ", workers);
      for (const Keys& method : all_methods()) {
        row += "| " + mean_of(kKeptWorkers, column, with_workers(method, workers)) + ' ';
      }
      EXPECT_THAT(page(), HasSubstr(row + "|\n")) << column;
    }
  }
}

TEST(KeptPages, GiveTheDistanceToAllGatherOnTheResNetAsKept) {
  for (const char* column : {"final_loss", "final_test_accuracy"}) {
    for (const auto& workers : kWorkers) {
      const auto less = [&](const Keys& first, const Keys& second) {
        return difference(
            kKeptWorkers, column, 3, with_workers(first, workers), with_workers(second, workers));
      };
      std::string row = fmt::format("| {} ", workers);
      for (const Keys& method : all_methods()) {
        if (method != kCompressed.front()) {
          row += "| " + less(method, kCompressed.front()) + ' ';
        }
      }
      row += "| " + less(method_of("gtopk-mask"), method_of("gtopk-tree"));
      row += " | " + less(method_of("gtopk-tree", "published"), method_of("gtopk-tree"));
      EXPECT_THAT(page(), HasSubstr(row + " |\n")) << column;
    }
  }
}

TEST(KeptPages, GiveDeltaOnTheResNetByWorkersAsKept) {
  const auto deltas = kept_deltas(kKeptWorkers);
  const auto late = late_deltas(kKeptWorkers);
  EXPECT_EQ(late.size(), 20U);
  for (const auto& workers : kWorkers) {
    std::string of_run = fmt::format("| {} ", workers);
    std::string of_end = of_run;
    for (const Keys& method : kCompressed) {
      of_run += "| " + deltas.at(name_of(method, workers)).text() + ' ';
      of_end += "| " + delta_with_interval(late.at(name_of(method, workers))) + ' ';
    }
    EXPECT_THAT(page(), HasSubstr(of_run + "|\n"));
    EXPECT_THAT(page(), HasSubstr(of_end + "|\n"));
  }
}

/// Returns f of a method's runs at a budget, or "–" where a run has not come to its second
/// measurement.
std::string reached(const std::filesystem::path& at_cost, const Keys& method) {
  for (const auto& [seed, iteration] : of_runs(at_cost, "iteration_at_cost", method)) {
    if (iteration == 0) {
      return "–";
    }
  }
  return mean_of(at_cost, "loss_interpolated", method);
}

/// A Budget is the virtual time of a whole run of the captured tree, and how the page writes it.
struct Budget {
  std::string workers;
  std::string network;
  std::string seconds;
  std::string label;
};

TEST(KeptPages, GiveWhatTheResNetReachesInEqualTimeAsKept) {
  const TemporaryFolder folder;
  for (const auto& [workers, network, seconds, label] :
       std::vector<Budget>{{"4", "100mbit", "54.930", "54.930 s, 100 Mbit/s"},
                           {"8", "100mbit", "33.385", "33.385 s, 100 Mbit/s"},
                           {"16", "100mbit", "19.659", "19.659 s, 100 Mbit/s"},
                           {"32", "100mbit", "11.318", "11.318 s, 100 Mbit/s"},
                           {"4", "1gbe", "43.504", "43.504 s, Gigabit"},
                           {"8", "1gbe", "24.816", "24.816 s, Gigabit"},
                           {"16", "1gbe", "13.944", "13.944 s, Gigabit"},
                           {"32", "1gbe", "7.743", "7.743 s, Gigabit"}}) {
    const auto ran = run_program(
        {(kPapersFolder / "at_cost").string(), kKeptWorkers.string(), network, seconds, "out"},
        folder.path());
    ASSERT_EQ(ran.code, 0) << ran.err;
    std::string row = fmt::format("| {} | {} ", workers, label);
    for (const Keys& method : all_methods()) {
      row += "| " + reached(folder.path() / "out", with_workers(method, workers)) + ' ';
    }
    for (const char* other : {"allgather", "gtopk-tree"}) {
      row += "| " +
             difference(folder.path() / "out",
                        "loss_interpolated",
                        3,
                        with_workers(method_of("gtopk-mask"), workers),
                        with_workers(method_of(other), workers)) +
             ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row + "|\n"));
  }
}

}  // namespace
}  // namespace residuum
