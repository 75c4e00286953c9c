// [outer] of kinds "sign" and "orthogonal" and objective.coordinates as a study gives them: refused
// values, and values that change the id of a run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiments/program/study/method_sections.h"
#include "experiments/program/study/prepare_all.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kUpdateStudy = R"(
schema = 1
name = "s"
[objective]
kind = "quadratic"
dimension = 20
[sparsifier]
kind = "top-k"
k = 3
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.1
[budget]
iterations = 10
)";

PreparedRun prepared_with(const std::vector<std::string>& settings) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  return std::move(prepare_all(parse_study(kUpdateStudy, "s.toml", settings), objectives).front());
}

std::string error_of_settings(const std::vector<std::string>& settings) {
  try {
    prepared_with(settings);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(SignSections, BesideWhatTheyMakeMeaninglessAreRefused) {
  const auto with_signs = [](std::vector<std::string> settings) {
    settings.emplace_back("outer.kind=sign");
    return error_of_settings(settings);
  };
  EXPECT_EQ(with_signs({}), "no error");
  EXPECT_EQ(with_signs({"outer.step=0.5", "step.weight_decay=0.1"}), "no error");
  EXPECT_EQ(with_signs({"step.clip_norm=1", "step.clip_at=worker"}), "no error");
  EXPECT_EQ(with_signs({"protocol.kind=local", "protocol.period=2"}), "no error");
  EXPECT_EQ(with_signs({"step.momentum=0.9"}),
            "'outer.kind' at --set: a momentum after the exchange cannot add up signs; take "
            "out 'step.momentum' at --set, and use residuals that fade (feedback.decay)");
  EXPECT_THAT(with_signs({"outer.momentum=0.9"}),
              HasSubstr("an outer step of kind \"sign\" has no momentum"));
  EXPECT_THAT(with_signs({"feedback.kind=ef21"}), HasSubstr("use feedback \"ef14\" or \"none\""));
  EXPECT_THAT(with_signs({"step.clip_norm=1", "step.clip_at=update"}),
              HasSubstr("clipping changes no sign"));
  EXPECT_THAT(with_signs({"protocol.kind=gossip",
                          "protocol.graph=ring",
                          "sparsifier.kind=none",
                          "aggregator.kind=dense",
                          "feedback.kind=none"}),
              HasSubstr("leave out [outer]"));
  EXPECT_THAT(error_of_settings({"outer.kind=sing"}), HasSubstr("did you mean 'sign'?"));
}

TEST(OrthogonalSections, BesideWhatTheyMakeMeaninglessAreRefused) {
  const auto with_factors = [](std::vector<std::string> settings) {
    settings.emplace_back("outer.kind=orthogonal");
    return error_of_settings(settings);
  };
  EXPECT_EQ(with_factors({}), "no error");
  EXPECT_EQ(with_factors({"feedback.kind=ef21-sgdm"}), "no error");
  EXPECT_EQ(with_factors({"protocol.kind=local", "protocol.period=2"}), "no error");
  EXPECT_THAT(with_factors({"step.momentum=0.9"}), HasSubstr("cannot add up polar factors"));
  EXPECT_THAT(with_factors({"outer.momentum=0.9"}),
              HasSubstr("an outer step of kind \"orthogonal\" has no momentum"));
  EXPECT_THAT(with_factors({"step.clip_norm=1", "step.clip_at=update"}),
              HasSubstr("clipping changes no polar factor"));
}

TEST(AveragedMemories, AreRefusedWhereNotAllWorkersHaveThem) {
  const auto with_averages = [](std::vector<std::string> settings) {
    settings.insert(settings.end(), {"local.optimiser=adamw", "local.average_every=[3, 6]"});
    return error_of_settings(settings);
  };
  EXPECT_EQ(with_averages({}), "no error");
  EXPECT_EQ(with_averages({"protocol.kind=local", "protocol.period=2"}), "no error");
  EXPECT_THAT(with_averages({"workers.count=4", "workers.participation=2"}),
              HasSubstr("an absent worker would keep a memory that the others have averaged"));
  Training overlapping;
  overlapping.overlap.rule = OverlapRule::wait_free;
  Method averaging;
  averaging.memory_periods = {3, 6};
  EXPECT_THAT(test::error_of([&] { check_memory_periods(Section(), overlapping, averaging); }),
              HasSubstr("set network.overlap"));
  EXPECT_THAT(error_of_settings({"local.optimiser=momentum", "local.average_every=[3, 6]"}),
              HasSubstr("must be a list of 1 whole numbers"));
  const auto id = [](const char* every) {
    return prepared_with({"local.optimiser=adamw", every}).id;
  };
  EXPECT_EQ(id("local.average_every=[0, 0]"), prepared_with({"local.optimiser=adamw"}).id);
  EXPECT_NE(id("local.average_every=[0, 1]"), id("local.average_every=[1, 0]"));
}

TEST(Defaults, SpeltOutAreTheSameRun) {
  const std::string id = prepared_with({}).id;
  for (const char* spelt : {"step.warmup=0",
                            "step.weight_decay=0",
                            "step.clip_norm=0",
                            "workers.participation=all",
                            "workers.accumulate=1",
                            "feedback.decay=1",
                            "feedback.clears=sent",
                            "protocol.execution=simulated",
                            "protocol.straggler_factor=1",
                            "objective.coordinates=standard"}) {
    EXPECT_EQ(prepared_with({spelt}).id, id) << spelt;
  }
  const std::string gathered = prepared_with({"aggregator.kind=allgather"}).id;
  EXPECT_EQ(prepared_with({"aggregator.kind=allgather", "aggregator.weighting=workers"}).id,
            gathered);
  EXPECT_EQ(prepared_with({"aggregator.kind=allgather", "aggregator.clip=none"}).id, gathered);
}

TEST(Coordinates, ChangeTheIdOfARun) {
  const std::string id = prepared_with({}).id;
  EXPECT_EQ(prepared_with({}).config["objective"]["coordinates"], "standard");
  EXPECT_NE(prepared_with({"objective.coordinates=dct"}).id, id);
  EXPECT_THAT(error_of_settings({"objective.coordinates=dcd"}), HasSubstr("did you mean 'dct'?"));
}

}  // namespace
}  // namespace residuum
