// The length of a run: a study gives one of the budgets; others are refused.

#include "experiments/program/study/budget_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kBudgetStudy = R"(
schema = 1
name = "budgets"
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 4
[step]
value = 0.1
[protocol]
kind = "bsp"
compute = 0.1
[budget]
)";

using Overrides = std::vector<std::string>;

Training training_of(const std::string& budget, const Overrides& overrides = {}) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  KnownKeys known;
  const auto study = parse_study(kBudgetStudy + budget, "s.toml", overrides);
  return prepare(study.runs.front(), objectives, known).training;
}

std::string refusal(const std::string& budget, const Overrides& overrides = {}) {
  try {
    static_cast<void>(training_of(budget, overrides));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  return "no error";
}

// An iteration takes one gradient of each of four workers, or as many as the protocol says.
TEST(Gradients, AreIterationsWhereThoseTakeTheSameNumber) {
  EXPECT_EQ(training_of("gradients = 400").iterations, 100U);
  EXPECT_EQ(training_of("gradients = 399").iterations, 100U);
  EXPECT_FALSE(training_of("gradients = 400").budget.is_open());
  const Overrides local{"protocol.kind=local", "protocol.period=10"};
  EXPECT_EQ(training_of("gradients = 400", local).iterations, 10U);
  EXPECT_EQ(training_of("gradients = 400", {"protocol.kind=asp"}).iterations, 400U);
  EXPECT_EQ(training_of("gradients = 400", {"workers.participation=0.5", "protocol.compute=0"})
                .iterations,
            200U);
  const Overrides rule{"step.rule=cosine", "probes.every={even=10}"};
  EXPECT_EQ(training_of("gradients = 400", rule).iterations, 100U);
}

TEST(Gradients, AreCountedWhereVersionsHaveMoreOrFewer) {
  const Overrides inhad{"protocol.kind=inhad", "protocol.nodes=2", "protocol.quota=3"};
  const Training training = training_of("gradients = 400", inhad);
  EXPECT_EQ(training.budget.gradients, 400U);
  EXPECT_EQ(training.iterations, kOpenEnd);
  Overrides real = inhad;
  real.emplace_back("protocol.execution=real");
  EXPECT_EQ(training_of("gradients = 400", real).budget.gradients, 400U);
}

TEST(Gradients, ThatCannotBeMeantAreRefused) {
  for (const char* value : {"0", "-4"}) {
    EXPECT_THAT(refusal(std::string("gradients = ") + value),
                AllOf(HasSubstr("'budget.gradients' at s.toml:"),
                      HasSubstr(std::string("must lie in 1..9007199254740992, got ") + value)));
  }
  for (const char* value : {"2.5", "inf", "nan", "\"many\""}) {
    EXPECT_THAT(refusal(std::string("gradients = ") + value), HasSubstr("'budget.gradients'"));
  }
  EXPECT_THAT(refusal("gradients = 9007199254740992"), HasSubstr("4294967295 are the most"));
  EXPECT_THAT(refusal("gradients = 50", {"protocol.kind=local", "protocol.period=20"}),
              HasSubstr("50 gradients end within an iteration, which takes 80; the nearest that "
                        "fit are 80, or give 'iterations'"));
}

TEST(VirtualSeconds, EndRunsOfEveryProtocol) {
  const Training bsp = training_of("virtual_s = 10");
  EXPECT_EQ(bsp.budget.virtual_s, 10.0);
  EXPECT_EQ(bsp.iterations, kOpenEnd);
  EXPECT_TRUE(bsp.plan.measures(0));
  const Overrides local{"protocol.kind=local", "protocol.period=10"};
  EXPECT_EQ(training_of("virtual_s = 10", local).iterations, kOpenEnd / 10);
  for (const Overrides& other :
       {Overrides{"protocol.kind=asp"}, Overrides{"protocol.kind=gossip", "protocol.graph=ring"}}) {
    EXPECT_EQ(training_of("virtual_s = 10", other).budget.virtual_s, 10.0);
  }
}

TEST(VirtualSeconds, ThatCannotBeMeantAreRefused) {
  for (const char* value : {"0", "-1.5", "0.0"}) {
    EXPECT_THAT(refusal(std::string("virtual_s = ") + value),
                AllOf(HasSubstr("'budget.virtual_s' at s.toml:"), HasSubstr("must be positive")));
  }
  for (const char* value : {"inf", "nan", "\"long\""}) {
    EXPECT_THAT(refusal(std::string("virtual_s = ") + value),
                HasSubstr("'budget.virtual_s' at s.toml:15:1 must be a finite number"));
  }
  EXPECT_THAT(refusal("virtual_s = 1", {"protocol.compute=0"}), HasSubstr("give protocol.compute"));
  EXPECT_THAT(refusal("virtual_s = 1", {"protocol.compute=measured"}),
              HasSubstr("in place of \"measured\""));
  EXPECT_THAT(refusal("virtual_s = 1\n[network]\nmodel = \"1gbe\"\nlocal = \"measured\""),
              HasSubstr("in place of \"measured\""));
  for (const char* kind : {"bsp", "asp"}) {
    EXPECT_THAT(
        refusal("virtual_s = 1", {std::string("protocol.kind=") + kind, "protocol.execution=real"}),
        HasSubstr("a run with execution = \"real\" has no virtual time; give 'iterations' "
                  "or 'gradients'"));
  }
}

TEST(VirtualSeconds, LeaveTheNumberOfIterationsOpen) {
  EXPECT_THAT(refusal("virtual_s = 1", {"step.rule=cosine"}),
              HasSubstr("refers to T, the number of iterations, which is open"));
  EXPECT_THAT(refusal("virtual_s = 1", {"probes.evaluate={even=50}"}),
              HasSubstr("'probes.evaluate' at --set: { even = N } divides the iterations"));
  EXPECT_THAT(refusal("virtual_s = 1",
                      {"sparsifier.kind=hard-threshold",
                       "sparsifier.k=2",
                       "sparsifier.threshold=pilot",
                       "aggregator.kind=allgather"}),
              HasSubstr("a pilot run is as long as the run"));
}

TEST(Budgets, AreOneOfTheirKind) {
  EXPECT_THAT(refusal("iterations = 3\ngradients = 12"),
              HasSubstr("'budget.iterations' at s.toml:15:1 and 'budget.gradients' at "
                        "s.toml:16:1: give one of them"));
  EXPECT_THAT(refusal("gradients = 12\nvirtual_s = 2"), HasSubstr("give one of them"));
  EXPECT_EQ(refusal("loss_bound = 3"),
            "section [budget] needs 'iterations', 'epochs', 'gradients' or 'virtual_s'");
}

TEST(RealExecution, OfRunsInLockstepNeedsNoPilot) {
  EXPECT_THAT(refusal("iterations = 3",
                      {"protocol.execution=real",
                       "sparsifier.kind=hard-threshold",
                       "sparsifier.k=2",
                       "sparsifier.threshold=pilot",
                       "aggregator.kind=allgather"}),
              HasSubstr("pilot runs would wait as the run does"));
}

TEST(RealExecution, LeavesTheIdsOfSimulatedRunsAsTheyAre) {
  const auto id = [](const Overrides& overrides) {
    ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
    KnownKeys known;
    const auto study = parse_study(kBudgetStudy + "iterations = 3", "s.toml", overrides);
    return prepare(study.runs.front(), objectives, known).id;
  };
  EXPECT_EQ(id({}), id({"protocol.execution=simulated"}));
  EXPECT_NE(id({}), id({"protocol.execution=real"}));
  EXPECT_THAT(refusal("iterations = 3", {"protocol.execution=reel"}),
              HasSubstr("'protocol.execution'"));
}

}  // namespace
}  // namespace residuum
