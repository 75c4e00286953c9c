// The same study twice, with differences that are known.

#include "reports/terminal/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

class ChangesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    study_.write(a());
    study_.write(b());
  }
  std::filesystem::path a() const { return folder_.path() / "a"; }
  std::filesystem::path b() const { return folder_.path() / "b"; }
  Changes compare(double tolerance = 0.01) const {
    return compare_folders(summarise(a()), summarise(b()), tolerance);
  }
  /// Adds these numbers to the final losses in B, one per seed.
  void raise_losses(const std::vector<double>& by) const {
    for (std::size_t i = 0; i < by.size(); ++i) {
      const int seed = static_cast<int>(i) + 1;
      change_status(b(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
        status["final"]["loss"] = status["final"]["loss"].get<double>() + by[i];
      });
    }
  }
  void set_gaps(const std::filesystem::path& folder, const Json& gap) const {
    for (int seed = 1; seed <= 3; ++seed) {
      change_status(folder, SyntheticStudy::run_id(0, seed), [&](Json& status) {
        status["final"]["loss_gap"] = gap;
      });
    }
  }
  static Change of(const Changes& changes, std::string_view quantity) {
    for (const auto& change : changes.quantities) {
      if (change.quantity == quantity) {
        return change;
      }
    }
    ADD_FAILURE() << "no " << quantity;
    return {};
  }

  testing::TemporaryFolder folder_;
  SyntheticStudy study_;  // three seeds, losses 0.3210, 0.3211, 0.3212
};

TEST_F(ChangesTest, FindsNothingInTheSameNumbers) {
  const auto changes = compare();

  EXPECT_FALSE(changes.has_regression());
  EXPECT_THAT(changes.losses, IsEmpty());
  EXPECT_THAT(changes.notes, IsEmpty());
  for (const auto& change : changes.quantities) {
    EXPECT_EQ(change.verdict, ChangeVerdict::same) << change.quantity;
  }
  EXPECT_EQ(of(changes, "final_loss").pairs, 3U);
  EXPECT_THAT(changes_table(changes), HasSubstr("have the same bits"));
}

// Differences 0.1, 0.2, 0.3: mean 0.2, standard error 0.1/sqrt(3), t_2(0.975) = 4.302653.
TEST_F(ChangesTest, GivesStudentsIntervalOfThePairedDifferences) {
  raise_losses({0.1, 0.2, 0.3});
  const auto change = of(compare(), "final_loss");

  EXPECT_NEAR(change.difference->low, 0.2 - 4.302653 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(change.difference->high, 0.2 + 4.302653 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_EQ(change.verdict, ChangeVerdict::not_significant);  // the interval has 0
}

TEST_F(ChangesTest, CallsWorseWhatIsWorseInEverySeed) {
  raise_losses({0.1, 0.1001, 0.0999});
  const auto changes = compare();

  EXPECT_EQ(of(changes, "final_loss").verdict, ChangeVerdict::worse);
  EXPECT_TRUE(changes.has_regression());
  EXPECT_EQ(to_json(changes)["regression"], true);
}

TEST_F(ChangesTest, CallsBetterWhatIsBetterInEverySeed) {
  raise_losses({-0.1, -0.1001, -0.0999});
  const auto changes = compare();

  EXPECT_EQ(of(changes, "final_loss").verdict, ChangeVerdict::better);
  EXPECT_FALSE(changes.has_regression());
}

TEST_F(ChangesTest, LetsPassWhatIsTolerated) {
  set_gaps(a(), nullptr);
  set_gaps(b(), nullptr);
  raise_losses({0.001, 0.001, 0.001});  // 0.3 % of 0.3211

  EXPECT_EQ(of(compare(0.01), "final_loss").verdict, ChangeVerdict::tolerated);
  EXPECT_EQ(of(compare(0.001), "final_loss").verdict, ChangeVerdict::worse);
  EXPECT_THAT(changes_table(compare(0.01)), HasSubstr("significant, tolerated"));
}

// 0.9 to 1.1 % of the loss: beyond the tolerance or not is undecided, that it rises is not.
TEST_F(ChangesTest, SaysWhereTheToleranceLiesWithinTheInterval) {
  set_gaps(a(), nullptr);
  set_gaps(b(), nullptr);
  raise_losses({0.0031, 0.0032, 0.0033});
  const auto changes = compare(0.01);
  EXPECT_EQ(of(changes, "final_loss").verdict, ChangeVerdict::size_undecided);
  EXPECT_THAT(changes_table(changes), HasSubstr("significant, size undecided"));
  EXPECT_FALSE(changes.has_regression());
}

// Bytes of Top-k are the same in every seed: no interval is needed.
TEST_F(ChangesTest, JudgesWhatIsTheSameInAllSeeds) {
  const auto with_bytes = [&](double factor) {
    for (int seed = 1; seed <= 3; ++seed) {
      change_status(b(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
        status["totals"]["sent_bytes"] = 2e5 * factor;
      });
    }
    return of(compare(), "sent_bytes");
  };
  EXPECT_EQ(with_bytes(4).verdict, ChangeVerdict::worse);
  EXPECT_EQ(with_bytes(0.25).verdict, ChangeVerdict::better);
  EXPECT_EQ(with_bytes(1.005).verdict, ChangeVerdict::tolerated);
  EXPECT_FALSE(with_bytes(4).difference) << "there is no interval to show";
  EXPECT_TRUE(compare().has_regression());
}

// A difference of 0.001 is 0.3 % of the loss 0.3211 and 10 % of a gap of 0.01.
TEST_F(ChangesTest, HasOneVerdictOnTheLossAndOnItsGap) {
  for (int seed = 1; seed <= 3; ++seed) {
    for (const auto& one : {std::pair{a(), 0.01}, {b(), 0.011}}) {
      change_status(one.first, SyntheticStudy::run_id(0, seed), [&](Json& status) {
        status["final"]["loss_gap"] = one.second + 1e-6 * seed;
      });
    }
  }
  raise_losses({0.001, 0.001, 0.001});
  for (const auto& [tolerance, verdict] :
       {std::pair{0.05, ChangeVerdict::worse}, {0.2, ChangeVerdict::tolerated}}) {
    const auto changes = compare(tolerance);
    EXPECT_EQ(of(changes, "final_loss").verdict, verdict);
    EXPECT_EQ(of(changes, "final_loss_gap").verdict, verdict);
  }
}

// Two quantities differ: each interval is at 97.5 %, so that both hold together at 95 %.
TEST_F(ChangesTest, WidensTheIntervalsWithTheirNumber) {
  raise_losses({0.1, 0.2, 0.3});
  for (int seed = 1; seed <= 3; ++seed) {
    change_status(b(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
      status["totals"]["delta_max"] = 2 + seed;
    });
  }
  const auto changes = compare();

  EXPECT_DOUBLE_EQ(changes.confidence, 0.975);
  // t_2(0.9875) = 6.205347
  EXPECT_NEAR(of(changes, "final_loss").difference->low, 0.2 - 6.205347 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_EQ(of(changes, "delta_max").verdict, ChangeVerdict::not_significant);
}

TEST_F(ChangesTest, NeverJudgesWallTime) {
  for (int seed = 1; seed <= 3; ++seed) {
    change_status(
        b(), SyntheticStudy::run_id(0, seed), [](Json& status) { status["wall_s"] = 1000; });
  }
  const auto changes = compare();

  EXPECT_EQ(of(changes, "wall_s").verdict, ChangeVerdict::unjudged);
  EXPECT_FALSE(changes.has_regression());
}

TEST_F(ChangesTest, DecidesNothingFromOneSeed) {
  study_.seeds = 1;
  study_.write(a());
  study_.write(b());
  raise_losses({100});
  const auto changes = compare();

  EXPECT_EQ(of(changes, "final_loss").verdict, ChangeVerdict::undecided);
  EXPECT_FALSE(changes.has_regression());
}

TEST_F(ChangesTest, CallsARunThatNoLongerEndsALoss) {
  change_status(b(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["state"] = "diverged";
    status["message"] = "gradient of worker 1 is not finite";
  });
  const auto changes = compare();

  EXPECT_THAT(changes.losses,
              ElementsAre(HasSubstr("seed 2: finished, now diverged: gradient of worker 1")));
  EXPECT_TRUE(changes.has_regression());
  EXPECT_EQ(of(changes, "final_loss").pairs, 2U);
}

TEST_F(ChangesTest, CallsARunThatIsGoneALoss) {
  SyntheticStudy fewer = study_;
  fewer.seeds = 2;
  std::filesystem::remove_all(b());
  fewer.write(b());

  EXPECT_THAT(compare().losses, ElementsAre(HasSubstr("seed 3: not in the later results")));
}

TEST_F(ChangesTest, NotesRunsThatAreNew) {
  SyntheticStudy more = study_;
  more.seeds = 4;
  more.write(b());
  const auto changes = compare();

  EXPECT_THAT(changes.notes, ElementsAre(HasSubstr("seed 4: only in the later results")));
  EXPECT_FALSE(changes.has_regression());
}

TEST_F(ChangesTest, SaysOnceThatAllMethodsHaveMoreSeeds) {
  study_.methods.push_back({.aggregator = "allgather"});
  std::filesystem::remove_all(a());
  study_.write(a());
  SyntheticStudy more = study_;
  more.seeds = 5;
  std::filesystem::remove_all(b());
  more.write(b());
  EXPECT_THAT(compare().notes, ElementsAre("all methods, seeds 4, 5: only in the later results"));
}

// The density varies in B alone: its methods have another value of it, and the same name.
TEST_F(ChangesTest, PairsMethodsOfOneNameWhoseValueHasChanged) {
  std::filesystem::remove_all(a());
  std::filesystem::remove_all(b());
  study_.methods = {{.aggregator = "gtopk-tree"}, {.aggregator = "allgather"}};
  study_.write(a());
  study_.methods = {{.aggregator = "allgather"}, {.aggregator = "gtopk-tree", .density = 0.02}};
  study_.write(b());
  for (const auto& folder : {a(), b()}) {
    Json study = read_json(folder / "study.resolved.json");
    study["plan"] = Json::array();
    for (const auto& id : study["runs"]) {
      const Json config = read_json(folder / "runs" / id.get<std::string>() / "config.json");
      const bool is_ours = config["varying"]["aggregator.kind"] == "gtopk-tree";
      study["plan"].push_back({{"seed", config["seed"]},
                               {"varying", config["varying"]},
                               {"label", is_ours ? "ours" : "theirs"}});
    }
    write_json_atomically(folder / "study.resolved.json", study);
  }

  const auto changes = compare();
  EXPECT_THAT(changes.losses, IsEmpty());
  EXPECT_EQ(of(changes, "final_loss").pairs, 3U);
  EXPECT_THAT(changes.notes,
              ::testing::Contains(HasSubstr("ours, seed 1: the configurations differ at "
                                            "sparsifier.density (0.01, now 0.02)")));
  EXPECT_THAT(changes.notes, Not(::testing::Contains(HasSubstr("only in"))));
}

TEST_F(ChangesTest, SaysOnceWhatAllRunsShareAndListsWhatDiffersByRun) {
  for (int seed = 1; seed <= 3; ++seed) {
    const auto runs = b() / "runs";
    const std::string id = SyntheticStudy::run_id(0, seed);
    const std::string other = "other-" + id;
    std::filesystem::rename(runs / id, runs / other);
    for (const char* const table : {"iterations.csv", "checks.csv"}) {
      std::string text = read_file(runs / other / table);
      for (auto at = text.find('\n' + id); at != std::string::npos; at = text.find('\n' + id, at)) {
        text.insert(at + 1, "other-");
      }
      write_file_atomically(runs / other / table, text);
    }
    Json config = read_json(runs / other / "config.json");
    config["run_id"] = other;
    config["config"]["step"]["value"] = 0.25;
    config["config"]["objective"]["start"] = seed;
    if (seed == 2) {
      config["config"]["objective"]["rows"] = 7;
    }
    write_json_atomically(runs / other / "config.json", with_print(config));
  }
  Json study = read_json(b() / "study.resolved.json");
  for (auto& id : study["runs"]) {
    id = "other-" + id.get<std::string>();
  }
  write_json_atomically(b() / "study.resolved.json", study);

  EXPECT_THAT(
      compare().notes,
      ElementsAre("objective.start differs in all 3 runs",
                  ::testing::MatchesRegex("step.value differs in all 3 runs: [0-9a-z.]+, now 0.25"),
                  HasSubstr("seed 2: the configurations differ at objective.rows")));
}

TEST_F(ChangesTest, SaysOnceWhatBecameOfAllRuns) {
  for (int seed = 1; seed <= 3; ++seed) {
    for (const auto& folder : {a(), b()}) {
      change_status(folder, SyntheticStudy::run_id(0, seed), [&](Json& status) {
        status["state"] = seed == 3 && folder == b() ? "failed" : "diverged";
      });
    }
  }
  EXPECT_THAT(compare().notes,
              ElementsAre(HasSubstr("seed 1: diverged in both"),
                          HasSubstr("seed 2: diverged in both"),
                          HasSubstr("seed 3: diverged, now failed")));

  change_status(
      b(), SyntheticStudy::run_id(0, 3), [](Json& status) { status["state"] = "diverged"; });
  EXPECT_THAT(compare().notes, ElementsAre("all 3 runs: diverged in both, so not compared"));
}

TEST_F(ChangesTest, CallsABrokenInvariantALoss) {
  change_status(b(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status["checks"]["conservation"]["holds"] = false;
    status["checks"]["conservation"]["failures"] = 3;
  });

  EXPECT_THAT(compare().losses, ElementsAre(HasSubstr("check 'conservation' no longer holds")));
}

TEST_F(ChangesTest, RefusesFoldersWithNothingInCommon) {
  SyntheticStudy other;
  other.methods = {SyntheticMethod{.aggregator = "dense"}};
  std::filesystem::remove_all(b());
  other.write(b());

  EXPECT_THROW(compare(), Error);
}

}  // namespace
}  // namespace residuum::reports
