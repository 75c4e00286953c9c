// DeMo as a user runs it: the same bytes at any number of processes, losses that are named, and
// theorems about gradients that are refused with the reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kDemoStudy = R"(schema = 1
name = "demo"
[objective]
kind = "logistic"
rows = 200
features = 100
coordinates = "dct"
[workers]
count = 4
batch = 8
[sparsifier]
kind = "chunk-top-k"
block = 50
density = 0.1
scope = "layer"
[aggregator]
kind = "allgather"
weighting = "senders"
[feedback]
kind = "ef14"
decay = 0.9
[outer]
kind = "sign"
[step]
value = 0.01
weight_decay = 0.1
[budget]
iterations = 40
[probes]
every = 1
evaluate = 1
times = false
)";

class DemoRuns : public testing::Test {
 protected:
  void SetUp() override { folder_.write("s.toml", kDemoStudy); }
  Finished residuum(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }
  nlohmann::json json(const char* name) const {
    return nlohmann::json::parse(read_text(folder_.path() / "results" / "demo" / name));
  }
  TemporaryFolder folder_;
};

TEST_F(DemoRuns, HaveTheSameBytesOnOneTwoAndThreeProcesses) {
  const Finished verified = residuum({"verify", "s.toml", "--ranks", "1,2,3"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_F(DemoRuns, AreJudgedByTheTheoremThatAsksForNoRule) {
  const Finished finished = residuum({"run", "s.toml", "--set", "seeds=4"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto group = json("summary.json")["groups"][0];
  for (const auto& theorem : group["theorems"]) {
    if (theorem["name"] == "certificate") {
      EXPECT_EQ(theorem["verdict"], "not applicable");
      EXPECT_THAT(theorem.dump(), HasSubstr("it moves by the signs of its entries"));
    } else if (theorem["name"] == "certificate-any-rule") {
      EXPECT_EQ(theorem["verdict"], "holds") << theorem;
    } else {
      EXPECT_EQ(theorem["verdict"], "not applicable") << theorem;
    }
  }
  EXPECT_FALSE(group["checks"]["lost-mass"]["expected"]);
  EXPECT_FALSE(group["checks"].contains("conservation"));
}

TEST_F(DemoRuns, AreNamedInTheReport) {
  ASSERT_EQ(residuum({"run", "s.toml"}).code, 0);
  ASSERT_EQ(residuum({"report", "results/demo"}).code, 0);
  const std::string page = read_text(folder_.path() / "results" / "demo" / "report.html");
  EXPECT_THAT(page, HasSubstr("the model moves by signs of the update"));
}

}  // namespace
}  // namespace residuum
