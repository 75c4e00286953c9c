// The first sentence of a report: who ended where against dense training, at which cost, and
// whether delta <= 1 was met.

#include "reports/verdicts/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::AllOf;
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
    study.write(folder_.path());
    for (std::size_t m = 0; m < endings.size(); ++m) {
      for (int seed = 1; seed <= study.seeds; ++seed) {
        testing::change_status(folder_.path(), SyntheticStudy::run_id(m, seed), [&](Json& status) {
          status["final"]["loss_gap"] = endings[m].gap + endings[m].spread * seed * seed;
          if (last_is_dense && m + 1 == endings.size()) {
            status["laws"]["sparsifier"]["sends_everything"] = true;
            status["totals"]["sent_bytes"] = 4e5;
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

TEST_F(Outcome, SaysBesideWhereTheSeedsDecideNothing) {
  EXPECT_THAT(sentence({Ending{"gtopk-tree", 0.1, 1e-3}, Ending{"dense", 0.104, 1e-4}}),
              HasSubstr("ended beside dense training"));
}

TEST_F(Outcome, WidensTheIntervalForTheMethodsThatWereTried) {
  const std::string text = sentence({Ending{"gtopk-tree", 0.2, 1e-3},
                                     Ending{"allgather", 0.3, 1e-3},
                                     Ending{"dense", 0.1, 5e-4}});

  EXPECT_THAT(text, HasSubstr("95 % for all 2 that compress"));
  EXPECT_THAT(text, StartsWith("gtopk-tree")) << "the best";
}

TEST_F(Outcome, OfAStudyWithoutDenseTrainingRanksTheMethods) {
  EXPECT_THAT(sentence({Ending{"gtopk-tree", 0.2, 1e-3}, Ending{"allgather", 0.3, 1e-3}},
                       /*last_is_dense=*/false),
              AllOf(StartsWith("gtopk-tree, captured, rho=0.01 ended best of 2 methods: loss gap"),
                    Not(HasSubstr("dense training"))));
}

TEST_F(Outcome, OfOneMethodIsWhereItEndedAndForWhichBytes) {
  EXPECT_THAT(
      sentence({Ending{"gtopk-tree", 0.2, 1e-3}}, /*last_is_dense=*/false),
      AllOf(HasSubstr("ended at loss gap"), HasSubstr("kB"), HasSubstr("with δ ≤ 1 in every")));
}

}  // namespace
}  // namespace residuum::reports
