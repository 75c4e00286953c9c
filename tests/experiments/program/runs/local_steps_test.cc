// Local SGD as a user runs it: the same bytes as bsp at H = 1, verdicts of its own theorem, epochs
// of all gradients.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class LocalSteps : public Hostile {
 protected:
  nlohmann::json made(const std::string& name, std::vector<std::string> options) const {
    options.insert(options.end(), {"--set", "probes.times=false", "--out", name});
    const Finished finished = run(kStudy, options);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(read_text(folder_.path() / name / "summary.json"));
  }
  /// The collected rows without the ids of the runs.
  std::string rows(const std::string& name) const {
    std::string text = read_text(folder_.path() / name / "iterations.csv");
    std::string without;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin) + 1;
      without += text.substr(text.find(',', begin), end - text.find(',', begin));
      begin = end;
    }
    return without;
  }
};

TEST_F(LocalSteps, OfOneGradientHaveTheBytesOfBsp) {
  made("bsp", {});
  made("local", {"--set", "protocol.kind=local", "--set", "protocol.period=1"});
  EXPECT_EQ(rows("local"), rows("bsp"));
}

TEST_F(LocalSteps, AreJudgedByTheirOwnTheorem) {
  const auto summary = made("local",
                            {"--set",
                             "protocol.kind=local",
                             "--set",
                             "protocol.period=5",
                             "--set",
                             "aggregator.kind=dense",
                             "--set",
                             "sparsifier.k=20",
                             "--set",
                             "step.value=0.05",
                             "--set",
                             "probes.evaluate=1",
                             "--set",
                             "probes.noise_every=1"});
  const auto& theorems = summary["groups"][0]["theorems"];
  const auto of = [&](const std::string& name) {
    return *std::find_if(
        theorems.begin(), theorems.end(), [&](const auto& one) { return one["name"] == name; });
  };
  EXPECT_EQ(of("local-sgd")["verdict"], "holds") << of("local-sgd");
  EXPECT_EQ(of("bsp")["verdict"], "not applicable") << of("bsp");
  for (const char* of_single_gradients : {"independence", "unbiased-gradients"}) {
    EXPECT_THAT(summary["groups"][0]["assumptions"][of_single_gradients].dump(),
                HasSubstr("a sum of gradients at many models"));
  }
}

TEST_F(LocalSteps, CountAllGradientsInEpochs) {
  // 200 samples, 4 workers of 8: an epoch is 6.25 gradients of each, 1.25 exchanges at H = 5.
  std::string study = kStudy;
  study.replace(study.find("iterations = 40"), 15, "epochs = 8");
  const Finished plan = residuum_program({"plan",
                                          folder_.write("s.toml", study).string(),
                                          "--format",
                                          "json",
                                          "--set",
                                          "protocol.kind=local",
                                          "--set",
                                          "protocol.period=5"},
                                         folder_.path());
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto planned = nlohmann::json::parse(plan.out);
  EXPECT_EQ(planned[0]["iterations"], 10);
  EXPECT_EQ(planned[0]["worker_iterations"], 10 * 4 * 5);
  EXPECT_EQ(run(study, {"--set", "protocol.kind=local", "--set", "protocol.period=5"}).code, 0);
  for (const auto& folder : run_folders()) {
    EXPECT_EQ(nlohmann::json::parse(read_text(folder / "status.json"))["iterations"], 10);
  }
}

TEST_F(LocalSteps, OfOptimisersAreRefusedWhereNobodyStepsSo) {
  const auto refused = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"--set", "local.optimiser=adamw"});
    const Finished finished = run(kStudy, options);
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  EXPECT_THAT(refused({"--set", "protocol.kind=asp", "--set", "aggregator.kind=allgather"}),
              HasSubstr("take protocol \"bsp\" or \"local\", or optimiser \"sgd\""));
  EXPECT_THAT(refused({"--set", "feedback.kind=ef21"}),
              HasSubstr("use feedback \"ef14\" or \"none\""));
  EXPECT_THAT(refused({"--set", "local.momentum=0.9"}), HasSubstr("momentum"));
}

// Theorems are about gradients, and what an optimiser hands in is something else, also where it
// does so after each gradient.
TEST_F(LocalSteps, OfOptimisersAreNotTakenForGradients) {
  for (const char* period : {"1", "5"}) {
    const auto summary = made(std::string("adamw") + period,
                              {"--set",
                               "protocol.kind=local",
                               "--set",
                               std::string("protocol.period=") + period,
                               "--set",
                               "local.optimiser=adamw"});
    for (const auto& theorem : summary["groups"][0]["theorems"]) {
      EXPECT_NE(theorem["verdict"], "fails") << theorem;
      if (theorem["name"] == "certificate" || theorem["name"] == "local-sgd" ||
          theorem["name"] == "bsp") {
        EXPECT_EQ(theorem["verdict"], "not applicable") << theorem;
      }
    }
  }
}

TEST_F(LocalSteps, AreNamedInTheReport) {
  made("local",
       {"--set",
        "protocol.kind=local",
        "--set",
        "protocol.period=5",
        "--set",
        "outer.kind=nesterov",
        "--set",
        "outer.step=0.7"});
  ASSERT_EQ(residuum_program({"report", "local"}, folder_.path()).code, 0);
  const std::string page = read_text(folder_.path() / "local" / "report.html");
  EXPECT_THAT(page, HasSubstr("5 local steps between exchanges"));
  EXPECT_THAT(page, HasSubstr("outer step 0.7 with nesterov momentum 0.9"));
}

}  // namespace
}  // namespace residuum
