// The number of workers that take part in a version, and components that need all workers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/program/study/method_sections.h"
#include "experiments/program/study/prepare_all.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kPartStudy = R"(
schema = 1
name = "s"
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 10
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

std::vector<PreparedRun> prepared_part(const std::vector<std::string>& overrides) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  return prepare_all(parse_study(kPartStudy, "s.toml", overrides), objectives);
}

std::string part_error(const std::vector<std::string>& overrides) {
  try {
    prepared_part(overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

std::optional<int> participation_of(const nlohmann::json& value, int count) {
  return read_participation(Section("workers", nlohmann::json{{"participation", value}}), count);
}

TEST(Participation, IsAFractionOfTheWorkersOrTheirNumber) {
  EXPECT_EQ(participation_of(0.25, 10), 3);  // 2.5, rounded away from zero
  EXPECT_EQ(participation_of(0.24, 10), 2);
  EXPECT_EQ(participation_of(0.001, 10), 1);
  EXPECT_EQ(participation_of(1.0, 10), 10);
  EXPECT_EQ(participation_of(1, 10), 1);
  EXPECT_EQ(participation_of(10, 10), 10);
  EXPECT_EQ(read_participation(Section("workers", nlohmann::json::object()), 10), std::nullopt);
}

TEST(Participation, IsPartOfTheRunsId) {
  EXPECT_EQ(prepared_part({}).front().config["workers"]["participation"], "all");
  const auto run = std::move(prepared_part({"workers.participation=0.3"}).front());
  EXPECT_EQ(run.config["workers"]["participation"], 0.3);
  EXPECT_EQ(run.participants(), 3);
  EXPECT_EQ(law_of(run).participants, 3U);
  EXPECT_NE(run.id, prepared_part({}).front().id);
}

TEST(Participation, OutOfRangeIsRefused) {
  for (const char* wrong : {"0", "11", "-1"}) {
    EXPECT_THAT(part_error({std::string("workers.participation=") + wrong}),
                HasSubstr("'workers.participation' at --set must lie in 1..10"));
  }
  for (const char* wrong : {"0.0", "1.5", "-0.5", "some", "true"}) {
    EXPECT_THAT(
        part_error({std::string("workers.participation=") + wrong}),
        HasSubstr("must be \"all\", a fraction in (0, 1], or a whole number of workers; got"));
  }
}

TEST(Participation, IsRefusedWhereAllWorkersAreNeeded) {
  const std::string some = "workers.participation=3";
  EXPECT_THAT(part_error({some, "protocol.kind=asp", "aggregator.kind=allgather"}),
              HasSubstr("no worker can be left out of a version"));
  EXPECT_THAT(part_error({some,
                          "protocol.kind=gossip",
                          "protocol.graph=ring",
                          "aggregator.kind=dense",
                          "sparsifier.kind=none",
                          "feedback.kind=none"}),
              HasSubstr("no worker can be left out of a version"));
  EXPECT_THAT(part_error({some, "network.model=1gbe"}), HasSubstr("virtual clocks follow all"));
  EXPECT_THAT(part_error({some, "protocol.compute=1"}), HasSubstr("virtual clocks follow all"));
  EXPECT_THAT(part_error({some, "feedback.kind=econtrol"}),
              HasSubstr("sums up what estimates have missed"));
  EXPECT_THAT(part_error({some,
                          "aggregator.kind=parameter-server",
                          "aggregator.down=ef21-p",
                          "aggregator.density=0.1"}),
              HasSubstr("would miss changes of the model"));
  EXPECT_THAT(part_error({"workers.participation=10", "feedback.kind=econtrol"}),
              testing::StrEq("no error"));
}

TEST(Participation, LeavesGradientEstimatesOfAbsentWorkersAsTheyAre) {
  for (const char* feedback : {"feedback.kind=ef21", "feedback.kind=ef21-sgdm"}) {
    EXPECT_EQ(part_error({"workers.participation=3", feedback}), "no error");
  }
}

TEST(Participation, DividesItsOwnNumberByTheWorkersOfANode) {
  const std::vector<std::string> nodes{
      "aggregator.kind=dense", "aggregator.algorithm=hierarchical", "aggregator.per_node=2"};
  auto odd = nodes;
  odd.emplace_back("workers.participation=3");
  EXPECT_THAT(part_error(odd), HasSubstr("aggregator.per_node"));
  auto even = nodes;
  even.emplace_back("workers.participation=4");
  EXPECT_EQ(part_error(even), "no error");
}

}  // namespace
}  // namespace residuum
