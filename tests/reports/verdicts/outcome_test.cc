// The first sentence of a report: who ended where against dense training, at which cost, and
// whether delta <= 1 was met.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/analysis/groups.h"
#include "reports/verdicts/verdict.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::SyntheticStudy;

/// A method that ends at the loss gap `gap` and, with seed s, `spread` times s^2 more.
struct Ending {
  const char* aggregator;
  double gap;
  double spread;
};

class Outcome : public ::testing::Test {
 protected:
  /// Writes the methods, of which the last is dense training, and returns the sentence.
  std::string sentence(const std::vector<Ending>& endings, bool last_is_dense = true) {
    SyntheticStudy study;
    study.methods.clear();
    for (const Ending& one : endings) {
      study.methods.push_back({.aggregator = one.aggregator});
    }
    if (last_is_dense) {
      study.methods.back().density = 0.02;  // twice the bytes in every iteration
    }
    study.write(folder_.path());
    for (std::size_t m = 0; m < endings.size(); ++m) {
      for (int seed = 1; seed <= study.seeds; ++seed) {
        testing::change_status(folder_.path(), SyntheticStudy::run_id(m, seed), [&](Json& status) {
          status["final"]["loss_gap"] = endings[m].gap + endings[m].spread * seed * seed;
          if (last_is_dense && m + 1 == endings.size()) {
            status["sends_everything"] = true;
          }
        });
      }
    }
    return outcome(summarise(folder_.path()));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Outcome, IsHowTheBestThatCompressesStandsToDenseTraining) {
  // Differences of 0.1 + 0.001 s^2 - 0.0005 s^2: 0.1005, 0.102, 0.1045.
  const std::string text = sentence({Ending{"gtopk-tree", 0.2, 1e-3}, Ending{"dense", 0.1, 5e-4}});

  EXPECT_THAT(text,
              AllOf(StartsWith("gtopk-tree, captured, rho=0.01 ended above dense training (dense"),
                    HasSubstr("a difference of 0.1023 ["),
                    HasSubstr("(3 seeds, 95 %), for 50.0 % of the bytes, with δ ≤ 1 in every "
                              "measured iteration.")));
}

TEST_F(Outcome, ClaimsNothingWhereTheSeedsDecideNothing) {
  EXPECT_THAT(sentence({Ending{"gtopk-tree", 0.1, 1e-3}, Ending{"dense", 0.104, 1e-4}}),
              HasSubstr("ended not distinguished from dense training"));
}

TEST_F(Outcome, OfRunsThatAreOneHasNoInterval) {
  EXPECT_THAT(sentence({Ending{"gtopk-tree", 0.2, 0}, Ending{"dense", 0.1, 0}}),
              AllOf(HasSubstr("ended above dense training"), HasSubstr(", the same in all seeds")));
}

TEST_F(Outcome, TakesNoMethodThatCutsWhatIsSentForDenseTraining) {
  const auto is_dense = [](bool applies_whole) {
    const testing::TemporaryFolder folder;
    SyntheticStudy study;
    study.write(folder.path());
    for (int seed = 1; seed <= study.seeds; ++seed) {
      testing::change_status(folder.path(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
        status["sends_everything"] = true;
        status["laws"]["aggregator"]["applies_whole_messages"] = applies_whole;
      });
    }
    const Summary summary = summarise(folder.path());
    return sends_everything(summary.folder, summary.groups.front().group);
  };
  EXPECT_TRUE(is_dense(true));
  EXPECT_FALSE(is_dense(false));
}

// Single draws say nothing of an expectation.
TEST_F(Outcome, CountsNoSingleIterationsOfARandomSelection) {
  SyntheticStudy study;
  study.write(folder_.path());
  for (int seed = 1; seed <= study.seeds; ++seed) {
    testing::change_status(folder_.path(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
      status["laws"]["sparsifier"]["deterministic"] = false;
    });
  }
  const Summary summary = summarise(folder_.path());
  EXPECT_THAT(outcome(summary), Not(HasSubstr("δ")));
  EXPECT_THAT(findings(summary), Contains(HasSubstr("The selection is random: δ ≤ 1 is about")));
}

// A method of three draws its entries: the sentence does not count it, and says so.
TEST_F(Outcome, SaysWhichMethodsSingleIterationsDoNotJudge) {
  SyntheticStudy study;
  study.methods = {{.aggregator = "gtopk-tree", .delta_peak = 1.01},
                   {.aggregator = "gtopk-mask", .delta_peak = 1.3},
                   {.aggregator = "allgather", .delta_peak = 1.3}};
  study.write(folder_.path());
  for (int seed = 1; seed <= study.seeds; ++seed) {
    testing::change_status(folder_.path(), SyntheticStudy::run_id(2, seed), [&](Json& status) {
      status["laws"]["sparsifier"]["deterministic"] = false;
    });
  }
  EXPECT_THAT(findings(summarise(folder_.path())),
              Contains(HasSubstr("of 120 measured iterations of all 2 methods judged by iteration, "
                                 "of 3 in the study (left out: 1 with a random selection, of which "
                                 "single iterations say nothing)")));
}

TEST_F(Outcome, WidensTheIntervalForTheMethodsThatWereTried) {
  const std::string text = sentence({Ending{"gtopk-tree", 0.2, 1e-3},
                                     Ending{"allgather", 0.3, 1e-3},
                                     Ending{"dense", 0.1, 5e-4}});

  EXPECT_THAT(text, HasSubstr("95 % for all 2 that compress"));
  EXPECT_THAT(text, StartsWith("gtopk-tree")) << "the best";
}

TEST_F(Outcome, OfAStudyWithoutDenseTrainingRanksTheMethods) {
  EXPECT_THAT(
      sentence({Ending{"gtopk-tree", 0.2, 1e-3}, Ending{"allgather", 0.3, 1e-3}},
               /*last_is_dense=*/false),
      AllOf(StartsWith("gtopk-tree, captured, rho=0.01 ended best of 2 methods: mean loss gap"),
            Not(HasSubstr("dense training"))));
}

TEST_F(Outcome, OfOneMethodIsWhereItEndedAndForWhichBytes) {
  EXPECT_THAT(
      sentence({Ending{"gtopk-tree", 0.2, 1e-3}}, /*last_is_dense=*/false),
      AllOf(
          HasSubstr("ended at mean loss gap"), HasSubstr("kB"), HasSubstr("with δ ≤ 1 in every")));
}

}  // namespace
}  // namespace residuum::reports
