// A run that was stopped goes on to the same bytes as one that was not.

#include "tests/experiments/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace residuum {
namespace {

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    study_ = folder_.write("s.toml", kept_study(8)).string();
    const Finished whole = residuum_program({"run", study_, "--out", "whole"}, folder_.path());
    ASSERT_EQ(whole.code, 0) << whole.err;
    whole_ = run_tables(folder_.path() / "whole");
    ASSERT_EQ(whole_.size(), 30U);
    for (const auto& [path, content] : whole_) {
      ASSERT_FALSE(content.empty()) << path;
    }
  }
  std::vector<std::string> command(const char* out) const {
    return {RESIDUUM_PROGRAM,
            "run",
            study_,
            "--out",
            out,
            "--progress=none",
            "--checkpoint-every",
            "0.02s"};
  }

  TemporaryFolder folder_;
  std::string study_;
  std::map<std::string, std::string> whole_;
};

TEST_F(Resume, GoesOnToTheSameBytesAfterStops) {
  auto limited = command("kept");
  // Over before it begins: every start does two iterations and no more.
  limited.insert(limited.end(), {"--time-limit", "0.000001s"});
  int stops = 0;
  Finished part;
  do {
    part = run_program(limited, folder_.path());
    stops += part.code == 124 ? 1 : 0;
  } while (part.code == 124 && stops < 500);
  ASSERT_EQ(part.code, 0) << part.err;

  EXPECT_GE(stops, 18);  // six runs of eight iterations
  EXPECT_EQ(run_tables(folder_.path() / "kept"), whole_);
}

// Held-out and evaluated losses normalise with the running statistics, which no gradient does.
const std::string kTrainedNetwork = R"(schema = 1
name = "network"
seeds = 1
[objective]
kind = "resnet20"
rows = 40
evaluate_samples = 4
test_samples = 4
device = "cpu"
augment = true
[workers]
count = 2
batch = 2
[sparsifier]
kind = "top-k"
density = 0.01
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.05
momentum = 0.5
[budget]
iterations = 6
[probes]
times = false
every = 1
evaluate = 1
test = 1
full_gradient = false
names = ["delta", "residual", "traffic"]
)";

TEST(ResumeOfANetwork, GoesOnToTheSameBytesWithItsRunningStatistics) {
  RESIDUUM_NEEDS_NETWORKS();
  const TemporaryFolder folder;
  const std::string study = folder.write("s.toml", kTrainedNetwork).string();
  const Finished whole = residuum_program({"run", study, "--out", "whole"}, folder.path());
  ASSERT_EQ(whole.code, 0) << whole.err;
  int stops = 0;
  Finished part;
  do {
    part = residuum_program(
        {"run", study, "--out", "kept", "--progress=none", "--time-limit", "0.000001s"},
        folder.path());
    stops += part.code == 124 ? 1 : 0;
  } while (part.code == 124 && stops < 20);
  ASSERT_EQ(part.code, 0) << part.err;

  EXPECT_GE(stops, 2);
  EXPECT_EQ(run_tables(folder.path() / "kept"), run_tables(folder.path() / "whole"));
}

}  // namespace
}  // namespace residuum
