// The pages show the kept tables of the studies that are run seed by seed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using reports::CsvReader;
using testing::HasSubstr;

const std::filesystem::path kPapersFolder =
    std::filesystem::path(RESIDUUM_STUDIES) / "studies/papers";

/// The pages of the project that have a marked table.
std::vector<std::string> pages_with_tables() {
  const auto root = std::filesystem::path(RESIDUUM_STUDIES).parent_path();
  std::vector<std::string> pages{(root / "README.md").string()};
  for (const char* room :
       {"core", "objectives", "assumptions", "experiments", "reports", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / room)) {
      const bool is_page = entry.path().extension() == ".md" &&
                           entry.path().string().find("node_modules") == std::string::npos;
      if (is_page && read_text(entry.path()).find("\n<!-- table ") != std::string::npos) {
        pages.push_back(entry.path().string());
      }
    }
  }
  return pages;
}

TEST(KeptPages, HaveTheTablesThatKeptResultsGive) {
  const TemporaryFolder folder;
  const auto pages = pages_with_tables();
  EXPECT_GE(pages.size(), 15U);
  std::vector<std::string> words{"page", "--check"};
  words.insert(words.end(), pages.begin(), pages.end());

  const auto checked = residuum_program(words, folder.path());

  EXPECT_EQ(checked.code, 0) << checked.out << checked.err << "make them anew: residuum page "
                             << fmt::format("{}", fmt::join(pages, " "));
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

/// Returns the step of the kept iterations of a study, of the runs with 32 workers.
std::map<std::uint64_t, double> steps_of(const std::filesystem::path& folder) {
  std::set<std::string> wanted;
  CsvReader runs(folder / "runs.csv");
  const auto workers = runs.find("p_workers_count");
  while (runs.next()) {
    if (!workers || runs.text(*workers) == "32") {
      wanted.insert(runs.text(runs.column("run_id")));
    }
  }
  std::map<std::uint64_t, double> steps;
  CsvReader rows(folder / "iterations.csv");
  while (rows.next()) {
    if (wanted.count(rows.text(rows.column("run_id"))) != 0) {
      steps[rows.integer(rows.column("iteration"))] = rows.number(rows.column("step_size")).value();
    }
  }
  return steps;
}

TEST(KeptPages, HaveTenTimesTheStepWithoutMomentum) {
  const auto with_momentum = steps_of(kPapersFolder / "kept/r4-resnet8");
  const auto plain = steps_of(kPapersFolder / "kept/r4-resnet8-plain");
  EXPECT_GE(plain.size(), 6U);
  for (const auto& [iteration, step] : plain) {
    EXPECT_NEAR(step / with_momentum.at(iteration), 10, 1e-9) << iteration;
  }
}

}  // namespace
}  // namespace residuum
