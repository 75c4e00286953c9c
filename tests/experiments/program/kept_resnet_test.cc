// The page of published experiments says what is kept of the runs on ResNet-8.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/experiments/program/kept_tables.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::filesystem::path kKeptResnet = kPapersFolder / "kept/r1-resnet8";

/// The keys of a method by its name in epochs.csv, with those that it leaves out.
Keys keys_of(const std::string& method) {
  Keys keys;
  for (const char* key : {"aggregator_kind",
                          "feedback_putback",
                          "sparsifier_density",
                          "sparsifier_kind",
                          "sparsifier_schedule",
                          "sparsifier_threshold"}) {
    keys[key] = "";
  }
  std::istringstream words(method);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (keys.contains(word.substr(0, equals))) {
      keys[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return keys;
}

TEST(KeptPages, GiveWhereTheResNetEndsAsKept) {
  const Keys dense{{"aggregator_kind", "dense"}};
  const auto deltas = kept_deltas(kKeptResnet);
  EXPECT_EQ(deltas.size(), 15U);
  for (const auto& [method, delta] : deltas) {
    const Keys keys = keys_of(method);
    const bool is_dense = keys.at("aggregator_kind") == "dense";
    EXPECT_THAT(
        page(),
        HasSubstr(fmt::format(
            "| {} | {} | {} | {} | {} |",
            delta.text(),
            mean_of(kKeptResnet, "final_loss", keys),
            mean_of(kKeptResnet, "final_test_accuracy", keys),
            is_dense ? "–" : difference(kKeptResnet, "final_loss", 3, keys, dense),
            is_dense ? "–" : difference(kKeptResnet, "final_test_accuracy", 3, keys, dense))))
        << method;
  }
}

/// A Compared is a column that the page compares at equal bytes, with its digits there and its
/// unit.
struct Compared {
  std::string column;
  std::string at_end;
  int digits;
  double scale;
};

const std::vector<Compared> kCompared{{"loss", "final_loss", 3, 1},
                                      {"test_accuracy", "final_test_accuracy", 3, 1},
                                      {"total_error", "total_error", 2, 1e-6}};

TEST(KeptPages, GiveTheThresholdAgainstTopKOnTheResNetAsKept) {
  const Keys top_k{{"aggregator_kind", "allgather"}, {"sparsifier_kind", "top-k"}};
  const Keys threshold{{"sparsifier_threshold", "0.295"}};
  const TemporaryFolder folder;
  for (const auto& [budget, label] : std::vector<std::pair<std::string, std::string>>{
           {"9e6", "9.0"}, {"22.5e6", "22.5"}, {"45e6", "45.0"}, {"67.5e6", "67.5"}}) {
    std::string row = fmt::format("| {} MB ", label);
    for (const auto& one : kCompared) {
      const auto ran = run_program(
          {paper_program("at_cost"), kKeptResnet.string(), "bytes", budget, "out", one.column},
          folder.path());
      ASSERT_EQ(ran.code, 0) << ran.err;
      row += "| " +
             difference(folder.path() / "out",
                        one.column + "_interpolated",
                        one.digits,
                        top_k,
                        threshold,
                        one.scale) +
             ' ';
    }
    EXPECT_THAT(page(), HasSubstr(row));
  }
  std::string row = "| the whole run ";
  for (const auto& one : kCompared) {
    row +=
        "| " + difference(kKeptResnet, one.at_end, one.digits, top_k, threshold, one.scale) + ' ';
  }
  EXPECT_THAT(page(), HasSubstr(row));
}

/// The page says of the tree at c = 5000 alone that delta (1 - rho) exceeds 1.
TEST(KeptPages, GiveWhereDeltaExceedsItsBoundAsKept) {
  int above = 0;
  for (const auto& study : kKeptStudies) {
    reports::CsvReader runs(kPapersFolder / "kept" / study / "runs.csv");
    while (runs.next()) {
      const auto delta = runs.number(runs.column("delta_max"));
      const auto k = runs.number(runs.column("k"));
      if (!delta || !k) {
        continue;
      }
      const double rho = *k / runs.number(runs.column("dimension")).value();
      const bool is_tree_at_5000 = study == "r1-resnet8" &&
                                   runs.text(runs.column("p_aggregator_kind")) == "gtopk-tree" &&
                                   runs.text(runs.column("p_sparsifier_density")) == "0.0002";
      EXPECT_EQ(*delta * (1 - rho) > 1, is_tree_at_5000) << runs.text(runs.column("run_id"));
      above += is_tree_at_5000 ? 1 : 0;
    }
  }
  EXPECT_EQ(above, 10);
}

}  // namespace
}  // namespace residuum
