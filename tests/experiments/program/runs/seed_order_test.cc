// A verdict is about all seeds of a method, and the order in which a study names them is no fact of
// it. The studies of tests/golden, with shards of its own for every seed, are judged in several
// orders.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "reports/verdicts/summary.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using reports::ResultFolder;
using reports::RunMeasures;
using reports::Summary;

/// The words of a study by method, and by theorem or assumption.
using Words = std::map<std::string, std::string>;

Words words_of(const Summary& summary) {
  Words words;
  for (const auto& group : summary.groups) {
    const std::string method = group.group.varying.dump() + " ";
    for (const auto& one : group.theorems) {
      words[method + std::string(one.theorem->name)] = verdict_text(one.bound.verdict);
    }
    for (const auto& one : group.assumptions) {
      const AssumptionVerdict& verdict = one.verdict;
      std::string& word = words[method + std::string(verdict.name)];
      word = state_text(verdict.state);
      word += verdict.every ? " / " + std::string(state_text(verdict.every->state)) : "";
    }
  }
  return words;
}

/// Judges the runs of a folder in the order that `reorder` makes of theirs.
template <class Reorder>
Words judged(const ResultFolder& folder, const Reorder& reorder) {
  ResultFolder other = folder;
  std::vector<RunMeasures> measures = measures_of(folder);
  reorder(other.runs);
  reorder(measures);
  return words_of(make_summary(std::move(other), measures));
}

void expect_the_same_words_in_any_order(const std::filesystem::path& results) {
  const ResultFolder folder = reports::read_result_folder(results);
  const Words words = judged(folder, [](auto& /*runs*/) {});
  EXPECT_FALSE(words.empty());
  EXPECT_EQ(words, judged(folder, [](auto& runs) { std::reverse(runs.begin(), runs.end()); }));
  EXPECT_EQ(words, judged(folder, [](auto& runs) {
              std::rotate(runs.begin(), runs.begin() + 1, runs.end());
            }));
}

class SeedOrder : public TinyStudy {};

// The largest step that EF21 allows is between 0.0541 and 0.0568 with the shards of these seeds.
const std::string kShardsOfItsOwn = R"(schema = 1
name = "tiny"
seeds = 5
[objective]
kind = "logistic"
data = "synthetic-logistic"
rows = 400
l2 = "1/n"
[workers]
count = 4
batch = "full"
partition = "dirichlet:0.5"
partition_seed = "run"
[sparsifier]
kind = "top-k"
k = 30
[aggregator]
kind = "allgather"
[feedback]
kind = "ef21"
[step]
value = 0.0545
[budget]
iterations = 60
[probes]
every = 1
evaluate = 1
)";

TEST_F(SeedOrder, OfShardsThatAllowDifferentStepsChangesNoWord) {
  ASSERT_EQ(run(kShardsOfItsOwn).code, 0);
  expect_the_same_words_in_any_order(results());
  const Words words = words_of(reports::summarise(results()));
  EXPECT_EQ(words.at("{} ef21"), "not applicable") << "one of the seeds does not allow the step";
}

std::filesystem::path golden() {
  return std::filesystem::path(RESIDUUM_STUDIES).parent_path() / "tests" / "golden";
}

std::vector<std::string> golden_studies() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden())) {
    if (entry.path().extension() == ".toml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class SeedOrderOfGoldenStudy : public SeedOrder, public testing::WithParamInterface<std::string> {};

TEST_P(SeedOrderOfGoldenStudy, ChangesNoWord) {
  const std::string study = read_text(golden() / (GetParam() + ".toml"));
  if (is_of_network(study)) {
    RESIDUUM_NEEDS_NETWORKS();
  }
  const std::filesystem::path data = RESIDUUM_TEST_DATA;
  std::vector<std::string> options{
      "--set", "seeds=3", "--out", results().string(), "--data-dir", data.string()};
  if (const auto at = study.find("data = \""); at != std::string::npos) {
    const std::string name = study.substr(at + 8, study.find('"', at + 8) - at - 8);
    if (!name.starts_with("synthetic-") && !std::filesystem::exists(data / name)) {
      GTEST_SKIP() << name << " is not in " << data;
    }
    options.insert(options.end(), {"--set", "workers.partition_seed=run"});
  }
  const Finished finished = run(study, options);
  ASSERT_EQ(finished.code, 0) << finished.err;
  expect_the_same_words_in_any_order(results());
}

INSTANTIATE_TEST_SUITE_P(All,
                         SeedOrderOfGoldenStudy,
                         testing::ValuesIn(golden_studies()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace residuum
