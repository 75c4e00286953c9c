// The page of published experiments says what is kept of the runs on ResNet-8 with 4 to 32 workers.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
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

/// Returns in how many percent of the iterations of a quarter delta exceeds 1.
double percent_above(const Keys& method, const std::string& workers, int quarter) {
  double above = 0;
  double measured = 0;
  reports::CsvReader quarters(kKeptWorkers / "quarters.csv");
  while (quarters.next()) {
    if (quarters.text(quarters.column("method")) == name_of(method, workers) &&
        quarters.integer(quarters.column("epoch")) == static_cast<std::uint64_t>(quarter)) {
      above += quarters.number(quarters.column("delta_above_1")).value();
      measured += quarters.number(quarters.column("measured")).value();
    }
  }
  return 100 * above / measured;
}

TEST(KeptPages, SayInWhichQuartersDeltaExceedsOneOnTheResNet) {
  const Keys tree = method_of("gtopk-tree");
  EXPECT_THAT(
      page(),
      HasSubstr(fmt::format("δ > 1 in {:.0f}, {:.0f}, {:.0f} and {:.0f} % of the iterations",
                            percent_above(tree, "8", 0),
                            percent_above(tree, "8", 1),
                            percent_above(tree, "8", 2),
                            percent_above(tree, "8", 3))));
  for (const char* workers : {"16", "32"}) {
    for (int quarter = 1; quarter < 4; ++quarter) {
      EXPECT_GE(percent_above(tree, workers, quarter), 99.85) << workers << ' ' << quarter;
    }
  }
}

TEST(KeptPages, GiveTheDistanceToDenseSgdOnTheResNetAsKept) {
  std::string text = "by ";
  for (const auto& workers : kWorkers) {
    const auto value = difference(kKeptWorkers,
                                  "final_loss",
                                  3,
                                  with_workers(method_of("gtopk-tree"), workers),
                                  with_workers(method_of("dense"), workers));
    text += (workers == "4" ? "" : workers == "32" ? " and " : ", ") + value.substr(1);
  }
  EXPECT_THAT(page(), HasSubstr(text));
}

/// The rows have f and accuracy with 32 workers, each with momentum and without.
TEST(KeptPages, GiveWhatMomentumDoesToTheResNetAsKept) {
  const auto plain = kPapersFolder / "kept/r4-resnet8-plain";
  const Keys dense = method_of("dense");
  const Keys all_gather = method_of("allgather");
  const Keys captured = method_of("gtopk-tree");
  const Keys published = method_of("gtopk-tree", "published");
  for (const auto& [label, method] :
       std::vector<std::pair<std::string, Keys>>{{"dense SGD", dense},
                                                 {"all-gather", all_gather},
                                                 {"tree, captured", captured},
                                                 {"tree, published", published}}) {
    std::string row = fmt::format("| {} ", label);
    for (const char* column : {"final_loss", "final_test_accuracy"}) {
      row += "| " + mean_of(kKeptWorkers, column, with_workers(method, "32")) + ' ';
      row += "| " + mean_of(plain, column, method) + ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row + "|\n"));
  }
  for (const auto& [label, first, second] : std::vector<std::tuple<std::string, Keys, Keys>>{
           {"all-gather − dense SGD", all_gather, dense},
           {"tree, captured − all-gather", captured, all_gather},
           {"tree, published − captured", published, captured}}) {
    std::string row = fmt::format("| {} ", label);
    for (const char* column : {"final_loss", "final_test_accuracy"}) {
      row += "| " +
             difference(
                 kKeptWorkers, column, 3, with_workers(first, "32"), with_workers(second, "32")) +
             ' ';
      row += "| " + difference(plain, column, 3, first, second) + ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row + "|\n"));
  }
}

/// Returns the step of the kept iterations of a study, of the runs with 32 workers.
std::map<std::uint64_t, double> steps_of(const std::filesystem::path& folder) {
  std::set<std::string> wanted;
  reports::CsvReader runs(folder / "runs.csv");
  const auto workers = runs.find("p_workers_count");
  while (runs.next()) {
    if (!workers || runs.text(*workers) == "32") {
      wanted.insert(runs.text(runs.column("run_id")));
    }
  }
  std::map<std::uint64_t, double> steps;
  reports::CsvReader rows(folder / "iterations.csv");
  while (rows.next()) {
    if (wanted.count(rows.text(rows.column("run_id"))) != 0) {
      steps[rows.integer(rows.column("iteration"))] = rows.number(rows.column("step_size")).value();
    }
  }
  return steps;
}

TEST(KeptPages, HaveTenTimesTheStepWithoutMomentum) {
  const auto with_momentum = steps_of(kKeptWorkers);
  const auto plain = steps_of(kPapersFolder / "kept/r4-resnet8-plain");
  EXPECT_GE(plain.size(), 6U);
  for (const auto& [iteration, step] : plain) {
    EXPECT_NEAR(step / with_momentum.at(iteration), 10, 1e-9) << iteration;
  }
}

TEST(KeptPages, GiveDeltaWithoutMomentumAsKept) {
  const auto late = late_deltas(kPapersFolder / "kept/r4-resnet8-plain");
  EXPECT_THAT(
      page(),
      HasSubstr(
          "the captured tree's mean over the last quarter is " +
          delta_with_interval(late.at(
              "aggregator_kind=gtopk-tree feedback_putback=captured sparsifier_kind=top-k"))));
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

/// Returns the largest value of a column among the runs of a method, as its seeds agree in it.
double of_every_seed(const std::filesystem::path& folder,
                     const std::string& column,
                     const Keys& method) {
  const auto values = of_runs(folder, column, method);
  for (const auto& [seed, value] : values) {
    EXPECT_EQ(value, values.begin()->second) << column << " of seed " << seed;
  }
  return values.begin()->second;
}

TEST(KeptPages, GiveWhereResNetsEndAtEqualBytesAsKept) {
  const auto folder = kPapersFolder / "kept/r4-resnet8-bytes";
  const auto method = [](const char* aggregator, const std::string& workers) {
    return Keys{{"aggregator_kind", aggregator}, {"workers_count", workers}};
  };
  for (const char* column : {"final_loss", "final_test_accuracy"}) {
    for (const auto& workers : kWorkers) {
      const auto all_gather = method("allgather", workers);
      const auto mask = method("gtopk-mask", workers);
      const auto tree = method("gtopk-tree", workers);
      std::string row = fmt::format("| {} | {:.1f} MB | {:.0f}, {:.0f}, {:.0f} ",
                                    workers,
                                    of_every_seed(folder, "sent_bytes", tree) / 1e6,
                                    of_every_seed(folder, "iterations", all_gather),
                                    of_every_seed(folder, "iterations", mask),
                                    of_every_seed(folder, "iterations", tree));
      for (const auto& one : {all_gather, mask, tree}) {
        EXPECT_NEAR(
            of_every_seed(folder, "sent_bytes", one) / of_every_seed(folder, "sent_bytes", tree),
            1,
            0.0035);
        row += "| " + mean_of(folder, column, one) + ' ';
      }
      for (const auto& [first, second] : std::vector<std::pair<Keys, Keys>>{
               {all_gather, tree}, {mask, tree}, {mask, all_gather}}) {
        row += "| " + difference(folder, column, 3, first, second) + ' ';
      }
      EXPECT_THAT(page(), HasSubstr(row + "|\n")) << column;
    }
  }
}

}  // namespace
}  // namespace residuum
