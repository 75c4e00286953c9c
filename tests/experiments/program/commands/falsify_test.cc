// residuum falsify as a user calls it: what it writes, inspect reads back with the same number.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/program/commands/vectors_file.h"
#include "tests/experiments/real_study.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class Falsify : public testing::Test {
 protected:
  nlohmann::json json_of(const std::vector<std::string>& arguments) const {
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  TemporaryFolder folder_;
};

TEST_F(Falsify, InspectReadsTheWorstBackWithTheSameNumber) {
  struct Case {
    std::string against;
    std::string column;
    std::vector<std::string> method;
  };
  for (const auto& [against, column, method] : std::vector<Case>{
           {"delta", "delta", {"--aggregator", "gtopk-exact", "--k", "1"}},
           {"conservation",
            "lost_mass_norm_sq",
            {"--aggregator", "gtopk-tree", "--k", "1", "--putback", "published"}},
           {"contraction", "contraction", {"--aggregator", "allgather", "--k", "1"}}}) {
    std::vector<std::string> search{"falsify",
                                    "--workers",
                                    "4",
                                    "--dim",
                                    "3",
                                    "--evaluations",
                                    "3000",
                                    "--against",
                                    against,
                                    "--out",
                                    "w.npy",
                                    "--json"};
    search.insert(search.end(), method.begin(), method.end());
    const auto found = json_of(search);

    EXPECT_EQ(found["verdict"], "violated") << against;
    EXPECT_EQ(found["file"], "w.npy");
    EXPECT_EQ(found["evaluations"], 3000);
    EXPECT_EQ(found["column"], column);
    EXPECT_EQ(json_of(search), found) << "the same seed, the same answer, over the file of before";

    std::vector<std::string> look{"inspect", "w.npy", "--json"};
    look.insert(look.end(), method.begin(), method.end());
    EXPECT_EQ(json_of(look)[column].dump(), found["worst"].dump()) << against;
  }
}

std::vector<std::string> against_tight_rate(const std::string& aggregator,
                                            const std::string& workers,
                                            const std::string& dimension,
                                            const std::string& condition) {
  return {"falsify",
          "--aggregator",
          aggregator,
          "--workers",
          workers,
          "--k",
          "1",
          "--dim",
          dimension,
          "--against",
          "tight-rate",
          "--condition",
          condition,
          "--json",
          "--evaluations",
          "40000"};
}

TEST_F(Falsify, WholeMessagesComeToTheTightRateAndNotAbove) {
  for (const char* workers : {"1", "2"}) {
    const auto found = json_of(against_tight_rate("allgather", workers, "2", "100"));
    EXPECT_NEAR(found["bound"].get<double>(), 0.9932261130402541, 1e-14);
    EXPECT_GT(found["worst"].get<double>(), 0.99322);
    EXPECT_EQ(found["verdict"], "not violated") << found;
  }
}

TEST_F(Falsify, AMergePassesTheTightRateInOneIteration) {
  // Above 1.0693 by runs from residuals of zero, with kappa = 10, d = 4, four workers.
  const auto found = json_of(against_tight_rate("gtopk-exact", "4", "4", "10"));
  EXPECT_NEAR(found["bound"].get<double>(), 0.9742, 1e-4);
  EXPECT_GT(found["worst"].get<double>(), 1.0693);
  EXPECT_EQ(found["verdict"], "violated");
}

TEST_F(Falsify, ARunRepeatsTheWorstRun) {
  auto arguments = against_tight_rate("gtopk-exact", "3", "2", "10");
  arguments.back() = "300";
  arguments.insert(arguments.end(), {"--steps", "40", "--skip", "10", "--out", "w.toml"});
  const auto found = json_of(arguments);
  EXPECT_EQ(found["worst"], found["average"]);
  EXPECT_EQ(found["file"], "w.toml");

  const Finished run = residuum_program({"run", "w.toml", "--out", "r"}, folder_.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto values = column(read_text(folder_.path() / "r" / "iterations.csv"), "lyapunov");
  ASSERT_EQ(values.size(), 40U);
  // The last row has V_40, the tenth V_10.
  EXPECT_NEAR(std::pow(std::stod(values[39]) / std::stod(values[9]), 1.0 / 30),
              found["average"].get<double>(),
              1e-12);
}

TEST_F(Falsify, EstimatesComeToTheTightRateAndNotAbove) {
  for (const auto& [workers, nearly] : {std::pair{"1", 0.9932}, std::pair{"2", 0.96}}) {
    auto arguments = against_tight_rate("allgather", workers, "2", "100");
    arguments.insert(arguments.end(), {"--feedback", "ef21"});
    const auto found = json_of(arguments);
    EXPECT_GT(found["worst"].get<double>(), nearly);
    EXPECT_EQ(found["verdict"], "not violated") << found;
    EXPECT_EQ(found["feedback"], "ef21");
  }
}

TEST_F(Falsify, ARunRepeatsTheWorstRunOfEstimates) {
  auto arguments = against_tight_rate("gtopk-exact", "3", "2", "10");
  arguments.back() = "100";
  arguments.insert(arguments.end(), {"--feedback", "ef21", "--steps", "40", "--skip", "10"});
  const auto found = json_of(arguments);

  const Finished run = residuum_program({"run", "worst.toml", "--out", "r"}, folder_.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto values = column(read_text(folder_.path() / "r" / "iterations.csv"), "lyapunov");
  ASSERT_EQ(values.size(), 41U);  // V_0 to V_40
  EXPECT_NEAR(std::pow(std::stod(values[40]) / std::stod(values[10]), 1.0 / 30),
              found["average"].get<double>(),
              1e-12);
}

TEST_F(Falsify, TheTightRateKnowsTheMemoriesThatHaveAV) {
  for (const auto& [feedback, says] :
       std::vector<std::pair<std::string, std::string>>{{"none", "it remembers nothing"},
                                                        {"dgc", "it remembers velocities"},
                                                        {"ef21-sgdm", "follow an average"},
                                                        {"econtrol", "sums what its estimates"},
                                                        {"ef22", "unknown"}}) {
    auto arguments = against_tight_rate("allgather", "2", "2", "10");
    arguments.insert(arguments.end(), {"--feedback", feedback});
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 2) << feedback;
    EXPECT_THAT(finished.err, HasSubstr(says));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
  auto arguments = against_tight_rate("gtopk-tree", "2", "2", "10");
  arguments.insert(arguments.end(), {"--feedback", "ef21", "--putback", "published"});
  EXPECT_THAT(residuum_program(arguments, folder_.path()).err,
              HasSubstr("--putback published is a rule of residuals"));
}

TEST_F(Falsify, RunsAreSearchedWithinTheirLimits) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--steps", "0"}, "--steps is 0, but must be from 1 to"},
      {{"--steps", "9", "--skip", "9"}, "--skip is 9, but must be from 0"},
      {{"--steps", "9", "--ratio", "median"}, "--ratio is 'median', but must be"},
      {{"--steps", "9", "--out", "w.npy"}, "--out w.npy must end in .toml"},
      {{"--skip", "1"}, "say how long they are by --steps"},
      {{"--nearby", "1e-6"}, "say how long they are by --steps"},
      {{"--steps", "9", "--nearby", "0.2"}, "--nearby has 0.2, but sizes must be above 0"},
      {{"--steps", "9", "--nearby", "1e-6,0"}, "--nearby has 0, but sizes must be above 0"},
      {{"--steps", "9", "--nearby", "nan"}, "--nearby has nan, but sizes must be above 0"},
      {{"--steps", "9", "--nearby", "near"}, "--nearby: 'near' is no number of at most"},
      {{"--steps", "9", "--nearby", "0.01,"}, "--nearby: '0.01,' has an empty value"},
      {{"--skip", ""}, "--skip: has no value"},
      {{"--steps", "9", "--against", "delta"}, "--steps are those of runs"}};
  for (const auto& [given, message] : cases) {
    std::vector<std::string> arguments{"falsify", "--aggregator", "allgather", "--workers", "2"};
    arguments.insert(arguments.end(), {"--k", "1", "--dim", "2"});
    if (given.back() != "delta") {
      arguments.insert(arguments.end(), {"--against", "tight-rate"});
    }
    arguments.insert(arguments.end(), given.begin(), given.end());
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

// The ring rounds at random: one draw may lose more than the whole accumulator.
TEST_F(Falsify, AsksNoExpectationOfARingThatRoundsAtRandom) {
  const auto against = [&](const std::string& what) {
    return residuum_program({"falsify",
                             "--aggregator",
                             "quantised-ring",
                             "--quantiser",
                             "linear",
                             "--bits",
                             "3",
                             "--workers",
                             "2",
                             "--dim",
                             "4",
                             "--evaluations",
                             "5",
                             "--json",
                             "--against",
                             what},
                            folder_.path());
  };
  const Finished refused = against("contraction");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--aggregator quantised-ring rounds at random"));
  const auto json = nlohmann::json::parse(against("conservation").out);
  EXPECT_EQ(json.at("quantiser"), "linear");
  EXPECT_EQ(json.at("bits"), 3);
}

TEST_F(Falsify, TheTightRateRefusesASearchThatWouldNotEnd) {
  const Finished finished =
      residuum_program(against_tight_rate("allgather", "100000", "2", "10"), folder_.path());
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("numbers to search, but at most 2e+07; make one smaller"));
}

TEST_F(Falsify, TheTightRateNeedsAShareBelowOne) {
  auto arguments = against_tight_rate("allgather", "1", "2", "1");
  EXPECT_THAT(residuum_program(arguments, folder_.path()).err,
              HasSubstr("--condition is 1, but must be above 1"));
  arguments = against_tight_rate("allgather", "1", "1", "10");
  const Finished finished = residuum_program(arguments, folder_.path());
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("needs --k from 1 to --dim less 1"));
}

TEST_F(Falsify, TheTightRateNamesAQuantiserThatKeepsNoShare) {
  for (const auto& [quantiser, says] : std::vector<std::pair<std::string, std::string>>{
           {"qsgd", "with --quantiser qsgd they do not: it rounds at random"},
           {"linear", "with --quantiser linear they do not: it rounds at random"}}) {
    auto arguments = against_tight_rate("allgather", "2", "2", "10");
    arguments.insert(arguments.end(), {"--quantiser", quantiser});
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 2) << quantiser;
    EXPECT_THAT(finished.err, HasSubstr(says));
    EXPECT_EQ(finished.err.find("--sparsifier"), std::string::npos) << finished.err;
  }
  // Top-1 keeps half, and a sign with the mean magnitude all of a single entry.
  auto arguments = against_tight_rate("allgather", "2", "2", "10");
  arguments.insert(arguments.end(), {"--quantiser", "sign"});
  EXPECT_EQ(json_of(arguments)["quantiser"], "sign");

  arguments = against_tight_rate("allgather", "2", "2", "10");
  arguments.insert(arguments.end(), {"--sparsifier", "rand-k"});
  EXPECT_THAT(residuum_program(arguments, folder_.path()).err,
              HasSubstr("single draws of --sparsifier rand-k may keep nothing, whatever k is"));
}

TEST_F(Falsify, ANumberIsAResultAndNoFailure) {
  const auto found = json_of({"falsify",
                              "--aggregator",
                              "gtopk-tree",
                              "--workers",
                              "4",
                              "--k",
                              "1",
                              "--dim",
                              "2",
                              "--against",
                              "conservation",
                              "--evaluations",
                              "500",
                              "--json"});

  EXPECT_EQ(found["worst"], 0.0);
  EXPECT_EQ(found["verdict"], "not violated");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "worst.npy"));
}

TEST_F(Falsify, RefusesBadInputInOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--workers", "0"}, "--workers is 0"},
      {{"--dim", "0"}, "--dim is 0"},
      {{"--k", "3"}, "from 1 to --dim, 2"},
      {{"--k", "2"}, "needs --k below --dim"},
      {{"--evaluations", "0"}, "--evaluations is 0"},
      {{"--workers", "4000000000", "--dim", "4000000000"}, "make one smaller"},
      {{"--seed", "-1"}, "--seed is -1"},
      {{"--against", "delt"}, "did you mean 'delta'?"},
      {{"--aggregator", "gtopk-tre"}, "did you mean 'gtopk-tree'?"},
      {{"--putback", "capture"}, "did you mean 'captured'?"},
      {{"--out", "worst.csv"}, "must end in .npy"},
      {{"--out", "nowhere/w.npy"}, "no folder 'nowhere'"}};
  for (const auto& [given, message] : cases) {
    std::vector<std::string> arguments{"falsify"};
    const std::map<std::string, std::string> defaults{
        {"--aggregator", "gtopk-tree"}, {"--workers", "2"}, {"--k", "1"}, {"--dim", "2"}};
    for (const auto& [name, value] : defaults) {
      if (std::find(given.begin(), given.end(), name) == given.end()) {
        arguments.insert(arguments.end(), {name, value});
      }
    }
    arguments.insert(arguments.end(), given.begin(), given.end());
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

TEST_F(Falsify, VectorsComeBackToTheLastBit) {
  const std::vector<double> written{1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, 2, -7};
  write_vectors(folder_.path() / "v.npy", written, 3);

  const auto read = read_vectors(folder_.path() / "v.npy");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0], (std::vector<double>{1.0 / 3, -0.0, 5e-324}));
  EXPECT_EQ(read[1], (std::vector<double>{1.7976931348623157e308, 2, -7}));
  const std::string bytes = read_text(folder_.path() / "v.npy");
  EXPECT_EQ(bytes.size() % 64, 48U) << "the numbers begin at a multiple of 64";
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
}

}  // namespace
}  // namespace residuum
