// Advice from a study on some networks is held against a study that has followed the network asked
// for: both have the same iterations, and virtual clocks of their own.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A study of three methods whose iterations are the same on every network.
std::string study_on(const std::string& networks) {
  return R"(schema = 1
name = "s"
seeds = 3
[objective]
kind = "logistic"
rows = 200
features = 40
[workers]
count = 4
batch = 8
[sparsifier]
kind = "top-k"
k = 3
[aggregator]
kind = "gtopk-tree"
[protocol]
compute = 2e-4
[network]
model = )" +
         networks +
         R"(
[step]
value = 0.5
[budget]
iterations = 60
[probes]
names = ["traffic"]
every = 1
evaluate = 1
[[point]]
label = "tree"
[[point]]
label = "all-gather"
aggregator.kind = "allgather"
[[point]]
label = "dense"
aggregator.kind = "dense"
sparsifier.kind = "none"
[[point]]
label = "local"
protocol.kind = "local"
protocol.period = 4
)";
}

constexpr const char* kTwoNetworks = R"(["1gbe", "10gbe"])";
/// 25 us and 100 Mbit/s, 1538 bytes on the wire for 1448.
constexpr const char* kAsked = R"([{alpha_s = 2.5e-5, beta_s_per_byte = 8.497237569060773e-08}])";

class Advise : public testing::Test {
 protected:
  std::string run(const std::string& text, const std::string& out) const {
    const auto finished = residuum_program(
        {"run", folder_.write(out + ".toml", text).string(), "--out", out}, folder_.path());
    EXPECT_EQ(finished.code, 0) << finished.err;
    return (folder_.path() / out).string();
  }
  Finished advise(const std::string& results, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{"advise", results};
    if (std::find(options.begin(), options.end(), "--bandwidth") == options.end()) {
      arguments.insert(arguments.end(), {"--bandwidth", "100mbit"});
    }
    arguments.insert(arguments.end(), {"--latency", "25us"});
    arguments.insert(arguments.end(), options.begin(), options.end());
    return residuum_program(arguments, folder_.path());
  }
  nlohmann::json json(const std::string& results, std::vector<std::string> options = {}) const {
    options.emplace_back("--json");
    const auto finished = advise(results, options);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  static nlohmann::json method(const nlohmann::json& advice, const std::string& name) {
    for (const auto& one : advice.at("methods")) {
      if (one.at("method") == name) {
        return one;
      }
    }
    ADD_FAILURE() << "no method " << name;
    return {};
  }
  TemporaryFolder folder_;
};

/// Returns the virtual seconds after `iterations`, by label and seed, of a study on one network.
double seconds_after(const std::filesystem::path& results,
                     const std::string& label,
                     int seed,
                     int iterations) {
  const auto runs = reports::read_text_table(results / "runs.csv");
  std::string id;
  for (const auto& row : runs.rows) {
    if (row[runs.column("label")] == label && row[runs.column("seed")] == std::to_string(seed)) {
      id = row[runs.column("run_id")];
    }
  }
  const auto times = reports::read_text_table(results / "networks.csv");
  for (const auto& row : times.rows) {
    if (row[times.column("run_id")] == id &&
        row[times.column("iteration")] == std::to_string(iterations - 1)) {
      return std::stod(row[times.column("virtual_s")]);
    }
  }
  ADD_FAILURE() << label << " has no row of iteration " << iterations - 1;
  return 0;
}

TEST_F(Advise, HasTheTimesOfAStudyThatFollowedTheNetwork) {
  const auto followed = run(study_on(kAsked), "followed");
  const auto advice = json(run(study_on(kTwoNetworks), "others"), {"--target", "loss=0.6"});

  ASSERT_EQ(advice.at("ranked"), 4);
  for (const char* label : {"tree", "all-gather", "dense", "local"}) {
    const auto found = method(advice, label);
    ASSERT_EQ(found.at("seeds").size(), 3);
    double sum = 0;
    for (const auto& one : found.at("seeds")) {
      const double expected =
          seconds_after(followed, label, one.at("seed"), one.at("iterations").get<int>());
      EXPECT_NEAR(one.at("time_s").get<double>() / expected, 1, 1e-9) << label;
      sum += expected;
    }
    EXPECT_NEAR(found.at("time_s").get<double>() / (sum / 3), 1, 1e-9) << label;
  }
}

// If every iteration has equally many messages, one network is enough.
TEST_F(Advise, TakesMessagesFromTheirCountWhereItFollowedOneNetwork) {
  const auto two = json(run(study_on(kTwoNetworks), "two"), {"--target", "loss=0.6"});
  const auto one = json(run(study_on(R"(["1gbe"])"), "one"), {"--target", "loss=0.6"});

  for (const char* label : {"tree", "all-gather", "dense", "local"}) {
    EXPECT_NEAR(method(one, label).at("time_s").get<double>() /
                    method(two, label).at("time_s").get<double>(),
                1,
                1e-9)
        << label;
  }
}

// 1 ms a gradient in place of the study's 0.2 ms; with local steps an iteration has four.
TEST_F(Advise, TakesAnotherTimeOfAGradient) {
  const auto results = run(study_on(kTwoNetworks), "r");
  const auto as_in_study = json(results);
  const auto same = json(results, {"--gradient", "200us"});
  const auto slower = json(results, {"--gradient", "1ms"});
  for (const auto& [label, gradients] : {std::pair{"tree", 1}, std::pair{"local", 4}}) {
    const auto mean = method(same, label).at("mean");
    const double seconds = mean.at("time_s").get<double>();
    EXPECT_NEAR(seconds, method(as_in_study, label).at("time_s").get<double>(), 1e-12);
    EXPECT_NEAR(method(slower, label).at("time_s").get<double>() - seconds,
                0.0008 * gradients * mean.at("iterations").get<double>(),
                1e-12);
  }
}

TEST_F(Advise, SaysAtWhichBandwidthTheOrderChanges) {
  const auto results = run(study_on(kTwoNetworks), "r");
  const auto advice = json(results);
  int changes = 0;
  for (const auto& one : advice.at("methods")) {
    for (const auto& crossing : one.at("ahead_if")) {
      if (crossing.at("of") != "bandwidth_bit_s") {
        continue;
      }
      ++changes;
      const double bits = crossing.at("value").get<double>();
      const auto there = json(results, {"--bandwidth", fmt::format("{:.12g}bit", bits)});
      const auto first = advice.at("methods").at(0).at("method").get<std::string>();
      const auto second = one.at("method").get<std::string>();
      EXPECT_NEAR(method(there, first).at("time_s").get<double>() /
                      method(there, second).at("time_s").get<double>(),
                  1,
                  1e-9);
      const bool is_above = crossing.at("ahead") == "above";
      const auto beyond =
          json(results, {"--bandwidth", fmt::format("{:.12g}bit", bits * (is_above ? 1.1 : 0.9))});
      EXPECT_LT(method(beyond, second).at("time_s").get<double>(),
                method(beyond, first).at("time_s").get<double>());
    }
  }
  EXPECT_GT(changes, 0);
}

TEST_F(Advise, DoesNotRankWhoMissedTheTargetOrWaitsForOthers) {
  std::string text = study_on(R"(["1gbe"])");
  text += R"([[point]]
label = "late"
protocol.kind = "asp"
aggregator.kind = "allgather"
)";
  const auto results = run(text, "r");
  const auto advice = json(results, {"--target", "loss=0.6"});
  EXPECT_THAT(method(advice, "late").at("why_not").get<std::string>(),
              HasSubstr("the network that is asked for"));
  EXPECT_TRUE(method(advice, "late").at("time_s").is_null());

  const auto missed = advise(results, {"--target", "loss=0.01"});
  EXPECT_EQ(missed.code, 0) << missed.err;
  EXPECT_THAT(missed.out, HasSubstr("tree is not ranked: 0 of 3 seeds reached the target"));
  EXPECT_THAT(missed.out, Not(HasSubstr("is ahead of")));
}

TEST_F(Advise, RefusesWhatItCannotAnswerInOneLine) {
  const auto results = run(study_on(kTwoNetworks), "r");
  const std::map<std::string, std::vector<std::string>> wrong{
      {"--workers is 64, but the runs have 4: how many iterations more workers need is not known",
       {"--workers", "64"}},
      {"--target: unknown quantity 'los'; did you mean 'loss'?", {"--target", "los"}},
      {"--target is 'loss=low', but must be QUANTITY=NUMBER", {"--target", "loss=low"}},
      {"--gradient is '20', but must be a number above 0 with its unit, such as 20ms",
       {"--gradient", "20"}},
      {"--bandwidth is '-1gbit', but must be a number above 0", {"--bandwidth", "-1gbit"}}};
  for (const auto& [message, options] : wrong) {
    const auto finished = advise(results, options);
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

}  // namespace
}  // namespace residuum
