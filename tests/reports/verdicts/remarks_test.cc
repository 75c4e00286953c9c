// Remarks that a reader must know before any verdict: nothing was sent, or another k ran.

#include "reports/verdicts/remarks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/page/report.h"
#include "reports/summaries/collect.h"
#include "reports/terminal/verdict_lines.h"
#include "reports/verdicts/verdict.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::AllOf;
using testing::change_status;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Writes two methods of three seeds; the first has `silent` silent workers in the runs of `seeds`.
void write_silent(const TemporaryFolder& folder, int silent, const std::vector<int>& seeds) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{.workers = 4},
                   SyntheticMethod{.aggregator = "allgather", .workers = 4}};
  study.write(folder.path());
  for (const int seed : seeds) {
    change_status(folder.path(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
      status["silent_workers"] = silent;
    });
  }
}

TEST(Silence, IsSaidOnTheTerminalAndInTheHeadOfTheReport) {
  const TemporaryFolder folder;
  write_silent(folder, 4, {1, 2, 3});
  const std::string sentence =
      "nothing was ever sent in 3 of 3 runs; no verdict holds of empty messages.";

  const Summary summary = collect(folder.path());

  EXPECT_THAT(verdict_lines(summary, 10), HasSubstr(sentence));
  const std::string page = read_file(write_report(summarise(folder.path())).file);
  EXPECT_THAT(page.substr(0, page.find("</header>")), HasSubstr(sentence));
  EXPECT_THAT(fmt::format("{} {}", answer(summary), fmt::join(findings(summary), " ")),
              HasSubstr("δ ≤ 1 held in every measured iteration of the one method"));
}

TEST(Silence, OfSomeWorkersIsSaidWithTheirNumber) {
  const TemporaryFolder folder;
  write_silent(folder, 1, {2});

  const auto sentences = silence_sentences(collect(folder.path()));

  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_THAT(sentences[0], HasSubstr("1 of 4 workers never sent an entry in 1 of 3 runs"));
}

TEST(Silence, IsNotSaidWhereEveryWorkerSent) {
  const TemporaryFolder folder;
  write_silent(folder, 0, {1, 2, 3});
  EXPECT_TRUE(silence_sentences(collect(folder.path())).empty());
}

/// The sentence on k of a study whose method asks for `asked` and has k = 2 of 123 entries.
std::string sentence_where(const Json& asked) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.write(folder.path());
  const auto file = folder.path() / "runs" / SyntheticStudy::run_id(0, 1) / "config.json";
  Json config = read_json(file);
  config["config"]["sparsifier"] = asked;
  write_json_atomically(file, with_print(config));
  return asked_k_sentence(collect(folder.path()));
}

TEST(AskedK, IsToldWhereAnotherOneRuns) {
  EXPECT_THAT(sentence_where({{"kind", "chunk-top-k"}, {"k", 1}}),
              HasSubstr("The k that runs is not the k asked for: 1 asked, 2 run ("));
  EXPECT_EQ(sentence_where({{"kind", "top-k"}, {"k", 2}}), "");
  // max(1, floor(123 rho)): 2 of 0.02, 12 of 0.1.
  EXPECT_EQ(sentence_where({{"kind", "top-k"}, {"density", 0.02}}), "");
  EXPECT_THAT(sentence_where({{"kind", "chunk-top-k"}, {"density", 0.1}}),
              HasSubstr("12 asked, 2 run"));
}

/// Gives the group's theorem of this name a verdict and these rates.
void judge(GroupSummary& group, std::string_view theorem, const RateSlack& rates) {
  for (auto& one : group.theorems) {
    if (one.theorem->name == theorem) {
      one.bound.verdict = BoundVerdict::holds;
      one.bound.rates = rates;
    }
  }
}

TEST(LinearRates, HaveBothFactorsOfTheirSlackOnTheTerminal) {
  const TemporaryFolder folder;
  SyntheticStudy{}.write(folder.path());
  Summary summary = collect(folder.path());
  EXPECT_THAT(verdict_lines(summary, 10), Not(HasSubstr("proof × problem")));

  // 0.64 = 0.8^2 and 0.512 = 0.8^3: log 0.64 / log 0.8 = 2, log 0.512 / log 0.64 = 1.5.
  judge(summary.groups.at(0), "ef21-pl", {.bound = 0.8, .tight = 0.64, .measured = 0.512});
  judge(summary.groups.at(0), "tight-ef14", {.bound = 0.9, .tight = 0.64, .measured = 0.512});

  EXPECT_THAT(verdict_lines(summary, 10),
              AllOf(HasSubstr("proof × problem"), HasSubstr("2 × 1.5 (ef21-pl)")));
}

}  // namespace
}  // namespace residuum::reports
