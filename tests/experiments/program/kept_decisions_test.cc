// The page of published experiments calls a difference decided where its interval excludes 0 for
// the number of tests of its family.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/experiments/program/kept_tables.h"

namespace residuum {
namespace {

using Decided = std::set<std::string>;

/// A Comparison is one of experiments/papers/paired, among so many tests.
struct Comparison {
  std::string column;
  std::string key;
  std::string value;
  std::string by;
  int tests;
};

/// Returns the value that a key has in a line of paired, as in "workers_count=8: ...".
std::string value_in(const std::string& line, const std::string& key) {
  const auto found = line.find(key + '=');
  if (found == std::string::npos) {
    ADD_FAILURE() << "the line has no " << key << ": " << line;
    return "";
  }
  const auto start = found + key.size() + 1;
  return line.substr(start, line.find_first_of(" :", start) - start);
}

/// Returns at which values of `varied` the runs of a method differ from the baseline.
Decided decided(const std::filesystem::path& folder,
                const Comparison& comparison,
                const std::string& method,
                const std::string& varied = "workers_count") {
  const TemporaryFolder scratch;
  const auto ran = run_program({(kPapersFolder / "paired").string(),
                                folder.string(),
                                comparison.column,
                                comparison.key,
                                comparison.value,
                                comparison.by,
                                std::to_string(comparison.tests)},
                               scratch.path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  Decided values;
  int compared = 0;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(method) == std::string::npos) {
      continue;
    }
    ++compared;
    EXPECT_NE(line.find("5 pairs"), std::string::npos) << line;
    if (line.find("would decide") == std::string::npos) {
      values.insert(value_in(line, varied));
    }
  }
  EXPECT_GT(compared, 0) << method << " of " << folder << ":\n" << ran.out;
  return values;
}

std::filesystem::path kept(const std::string& study) { return kPapersFolder / "kept" / study; }

Comparison leak(const std::string& column, int tests) {
  return {column, "feedback_putback", "captured", "all", tests};
}
Comparison to_tree(const std::string& column, int tests) {
  return {column, "aggregator_kind", "gtopk-tree", "all", tests};
}
Comparison to_all_gather(const std::string& column, int tests) {
  return {column, "aggregator_kind", "allgather", "workers_count", tests};
}

TEST(KeptDecisions, OfTheLeakAreThoseOfThePage) {
  const std::string tree = "aggregator_kind=gtopk-tree";
  const std::string ratio = "sparsifier_density";
  for (const char* column : {"final_loss", "final_test_accuracy"}) {
    EXPECT_EQ(decided(kept("r1-resnet8"), leak(column, 8), tree, ratio), Decided());
  }
  EXPECT_EQ(decided(kept("r1-lstm"), leak("final_loss", 4), tree, ratio), Decided());
  EXPECT_EQ(decided(kept("r4-lstm"), leak("final_loss", 12), tree), Decided{"32"});
  EXPECT_EQ(decided(kept("r4-lstm"), leak("final_test_perplexity", 12), tree), Decided());
  EXPECT_EQ(decided(kept("r4-lstm"), leak("final_test_accuracy", 12), tree), Decided());
  EXPECT_EQ(decided(kept("r4-resnet8"), leak("final_loss", 8), tree), Decided{"32"});
  EXPECT_EQ(decided(kept("r4-resnet8"), leak("final_test_accuracy", 8), tree), Decided{"16"});
}

/// The table has four tests of each pair: f and accuracy, with momentum and without.
TEST(KeptDecisions, WithoutMomentumAreThoseOfThePage) {
  const std::string tree = "aggregator_kind=gtopk-tree";
  const std::string putback = "feedback_putback";
  const auto plain = kept("r4-resnet8-plain");
  Comparison without_momentum = to_all_gather("final_loss", 4);
  without_momentum.by = "none";
  EXPECT_EQ(decided(plain, without_momentum, tree, putback), (Decided{"captured", "published"}));
  EXPECT_EQ(decided(plain, leak("final_loss", 4), tree, putback), Decided());
  EXPECT_EQ(decided(plain, leak("final_test_accuracy", 4), tree, putback), Decided());
  const Comparison to_dense{"final_loss", "aggregator_kind", "dense", "none", 4};
  EXPECT_EQ(decided(plain, to_dense, "aggregator_kind=allgather", putback), Decided{"captured"});
  Comparison of_accuracy = to_dense;
  of_accuracy.column = "final_test_accuracy";
  EXPECT_EQ(decided(plain, of_accuracy, "aggregator_kind=allgather", putback), Decided());
}

TEST(KeptDecisions, OfMaskAndTreeAreThoseOfThePage) {
  const std::string mask = "aggregator_kind=gtopk-mask";
  const std::string ratio = "sparsifier_density";
  EXPECT_EQ(decided(kept("r1-lstm"), to_tree("final_test_perplexity", 3), mask, ratio),
            (Decided{"0.01", "0.001"}));
  EXPECT_EQ(decided(kept("r1-resnet8"), to_tree("final_loss", 6), mask, ratio),
            (Decided{"0.001", "0.0002"}));
  EXPECT_EQ(decided(kept("r1-resnet8"), to_tree("final_test_accuracy", 6), mask, ratio),
            Decided{"0.001"});
  EXPECT_EQ(decided(kept("r4-resnet8"), to_tree("final_loss", 8), mask),
            (Decided{"8", "16", "32"}));
  EXPECT_EQ(decided(kept("r4-resnet8"), to_tree("final_test_accuracy", 8), mask),
            (Decided{"16", "32"}));
}

TEST(KeptDecisions, OfTheDistanceToAllGatherAreThoseOfThePage) {
  const std::string tree = "aggregator_kind=gtopk-tree feedback_putback=captured";
  const std::string mask = "aggregator_kind=gtopk-mask";
  for (const auto& method : {tree, mask}) {
    EXPECT_EQ(decided(kept("r4-resnet8"), to_all_gather("final_loss", 8), method),
              (Decided{"8", "16", "32"}));
  }
  EXPECT_EQ(decided(kept("r4-resnet8"), to_all_gather("final_test_accuracy", 8), tree),
            (Decided{"16", "32"}));
  EXPECT_EQ(decided(kept("r4-resnet8"), to_all_gather("final_test_accuracy", 8), mask),
            (Decided{"16", "32"}));
}

TEST(KeptDecisions, OfTheDistanceToDenseSgdAreThoseOfThePage) {
  const Comparison of_eight{"final_loss", "aggregator_kind", "dense", "none", 8};
  EXPECT_EQ(decided(kept("r1-resnet8"),
                    of_eight,
                    "aggregator_kind=gtopk-tree feedback_putback=captured sparsifier_density=0.01 ",
                    "sparsifier_density"),
            Decided{"0.01"});
  EXPECT_EQ(
      decided(kept("r1-resnet8"),
              of_eight,
              "aggregator_kind=gtopk-tree feedback_putback=published sparsifier_density=0.01 ",
              "sparsifier_density"),
      Decided{"0.01"});
  const Comparison by_workers{"final_loss", "aggregator_kind", "dense", "workers_count", 8};
  EXPECT_EQ(
      decided(
          kept("r4-resnet8"), by_workers, "aggregator_kind=gtopk-tree feedback_putback=captured"),
      (Decided{"4", "8", "16", "32"}));
}

TEST(KeptDecisions, AtEqualBytesAreThoseOfThePage) {
  Comparison to_the_tree = to_tree("final_loss", 4);
  to_the_tree.by = "workers_count";
  const std::string mask = "aggregator_kind=gtopk-mask";
  const std::string all_gather = "aggregator_kind=allgather";
  const Decided all{"4", "8", "16", "32"};
  EXPECT_EQ(decided(kept("r4-lstm-bytes"), to_the_tree, mask), (Decided{"8", "16", "32"}));
  EXPECT_EQ(decided(kept("r4-lstm-bytes"), to_the_tree, all_gather), all);
  EXPECT_EQ(decided(kept("r4-lstm-bytes"), to_all_gather("final_loss", 4), mask), all);

  to_the_tree.tests = 8;  // f and accuracy
  EXPECT_EQ(decided(kept("r4-resnet8-bytes"), to_the_tree, mask), (Decided{"4", "32"}));
  EXPECT_EQ(decided(kept("r4-resnet8-bytes"), to_the_tree, all_gather), all);
  EXPECT_EQ(decided(kept("r4-resnet8-bytes"), to_all_gather("final_loss", 8), mask), all);
  to_the_tree.column = "final_test_accuracy";
  EXPECT_EQ(decided(kept("r4-resnet8-bytes"), to_the_tree, mask), (Decided{"4", "32"}));
}

/// Says whether the mask's f differs from a baseline's within the budget of one number of workers.
bool is_decided_at(const std::string& network,
                   const std::string& seconds,
                   const std::string& workers,
                   const Comparison& comparison) {
  const TemporaryFolder folder;
  const auto ran = run_program({(kPapersFolder / "at_cost").string(),
                                kept("r4-resnet8").string(),
                                network,
                                seconds,
                                (folder.path() / "out").string()},
                               folder.path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  return decided(folder.path() / "out", comparison, "aggregator_kind=gtopk-mask").count(workers) !=
         0;
}

TEST(KeptDecisions, AtEqualTimeAreThoseOfThePage) {
  const Comparison of_tree = to_tree("loss_interpolated", 8);
  const Comparison of_all_gather = to_all_gather("loss_interpolated", 8);
  struct Budget {
    std::string network;
    std::string seconds;
    std::string workers;
  };
  for (const auto& [network, seconds, workers] : std::vector<Budget>{{"100mbit", "54.930", "4"},
                                                                     {"100mbit", "33.385", "8"},
                                                                     {"100mbit", "19.659", "16"},
                                                                     {"100mbit", "11.318", "32"},
                                                                     {"1gbe", "43.504", "4"},
                                                                     {"1gbe", "24.816", "8"},
                                                                     {"1gbe", "13.944", "16"},
                                                                     {"1gbe", "7.743", "32"}}) {
    const std::string where = workers + " workers, " + network;
    EXPECT_EQ(is_decided_at(network, seconds, workers, of_tree), workers != "16") << where;
    EXPECT_EQ(is_decided_at(network, seconds, workers, of_all_gather),
              network != "100mbit" || workers != "32")
        << where;
  }
}

/// Returns at which budgets of bytes Top-k with c = 1000 differs from the hard threshold.
Decided budgets_decided(const std::string& study,
                        const std::string& column,
                        const std::vector<std::string>& budgets,
                        Comparison comparison) {
  const TemporaryFolder folder;
  comparison.column = column + "_interpolated";
  Decided values;
  for (const auto& budget : budgets) {
    const auto ran = run_program({(kPapersFolder / "at_cost").string(),
                                  kept(study).string(),
                                  "bytes",
                                  budget,
                                  (folder.path() / "out").string(),
                                  column},
                                 folder.path());
    EXPECT_EQ(ran.code, 0) << ran.err;
    if (!decided(folder.path() / "out",
                 comparison,
                 "aggregator_kind=allgather feedback_putback=captured sparsifier_density=0.001",
                 "sparsifier_density")
             .empty()) {
      values.insert(budget);
    }
  }
  return values;
}

TEST(KeptDecisions, OfTopKAgainstAThresholdAreThoseOfThePage) {
  const std::vector<std::string> budgets{"3.57e6", "12.5e6", "17.856e6", "26.8e6", "35.7e6"};
  const Comparison of_lstm{"", "sparsifier_kind", "hard-threshold", "none", 12};
  EXPECT_EQ(budgets_decided("r1-lstm", "loss", budgets, of_lstm), Decided{"3.57e6"});
  EXPECT_EQ(budgets_decided("r1-lstm", "total_error", budgets, of_lstm),
            (Decided{"3.57e6", "12.5e6", "17.856e6", "26.8e6"}));

  const std::vector<std::string> on_the_way{"9e6", "22.5e6", "45e6", "67.5e6"};
  const Comparison of_resnet{"", "sparsifier_threshold", "0.295", "none", 15};
  EXPECT_EQ(budgets_decided("r1-resnet8", "loss", on_the_way, of_resnet), Decided{"67.5e6"});
  EXPECT_EQ(budgets_decided("r1-resnet8", "test_accuracy", on_the_way, of_resnet), Decided{"9e6"});
  Comparison at_the_end = of_lstm;
  const std::string top_k =
      "aggregator_kind=allgather feedback_putback=captured sparsifier_density=0.001";
  for (const char* column : {"final_loss", "total_error"}) {
    at_the_end.column = column;
    EXPECT_EQ(decided(kept("r1-lstm"), at_the_end, top_k, "sparsifier_density"), Decided());
  }
  at_the_end = of_resnet;
  for (const char* column : {"final_loss", "final_test_accuracy"}) {
    at_the_end.column = column;
    EXPECT_EQ(decided(kept("r1-resnet8"), at_the_end, top_k, "sparsifier_density"), Decided());
  }
  at_the_end.column = "total_error";
  EXPECT_EQ(decided(kept("r1-resnet8"), at_the_end, top_k, "sparsifier_density"), Decided{"0.001"});
}

}  // namespace
}  // namespace residuum
