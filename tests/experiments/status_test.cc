// What status.json says of a run's objective and method, for readers that know neither by name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

class Status : public TinyStudy {
 protected:
  /// Of the study's first run by name.
  nlohmann::json status_of(const std::string& study, const std::vector<std::string>& options = {}) {
    const Finished finished = run(study, options);
    EXPECT_EQ(finished.code, 0) << finished.err;
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
      files.insert(entry.path() / "status.json");
    }
    EXPECT_FALSE(files.empty());
    return nlohmann::json::parse(read_text(*files.begin()));
  }
};

const std::string kNetwork = R"(schema = 1
name = "tiny"
[objective]
kind = "resnet20"
data = "synthetic-images"
rows = 40
augment = true
evaluate_samples = 10
[workers]
count = 2
batch = 4
[sparsifier]
kind = "top-k"
density = 0.01
[step]
value = 0.1
[budget]
iterations = 2
)";

TEST_F(Status, TellsTheFactsOfTheObjective) {
  const auto facts = status_of(kStudy, {"--set", "seeds=1"})["facts"];

  EXPECT_EQ(facts["convex"], true);
  EXPECT_EQ(facts["lower_bound"], 0);
  EXPECT_EQ(facts["starts_from_seed"], false);
  EXPECT_FALSE(facts.contains("gradient_bias"));
  EXPECT_EQ(facts["samples"], 200);
  EXPECT_EQ(facts["evaluated_samples"], 200);
  EXPECT_FALSE(facts.contains("power_samples"));  // no power iteration was asked for
}

TEST_F(Status, CountsTheSamplesOfThePowerIteration) {
  // Shards of 50, of which every 200/64 = 3rd sample is taken: 4 * 17.
  const auto facts = status_of(kStudy,
                               {"--set",
                                "seeds=1",
                                "--set",
                                "probes.names=[\"smoothness\"]",
                                "--set",
                                "probes.power_every=20",
                                "--set",
                                "probes.power_samples=64"})["facts"];

  EXPECT_EQ(facts["power_samples"], 68);
}

TEST_F(Status, TellsWhyGradientsAreBiased) {
  const auto facts = status_of(kNetwork)["facts"];

  EXPECT_EQ(facts["gradient_bias"],
            "batch normalisation in training mode; batches are augmented, the samples of f are "
            "not; f is evaluated on 10 of 40 samples");
  EXPECT_EQ(facts["evaluated_samples"], 10);
  EXPECT_EQ(facts["samples"], 40);
  EXPECT_EQ(facts["starts_from_seed"], true);
  EXPECT_FALSE(facts.contains("convex"));
}

TEST_F(Status, TellsWhatSamplingAndClippingDoToGradients) {
  const auto facts = status_of(kStudy,
                               {"--set",
                                "seeds=1",
                                "--set",
                                "workers.sampling=shuffle",
                                "--set",
                                "step.clip_norm=1"})["facts"];

  EXPECT_EQ(facts["gradient_bias"],
            "a pass is shuffled: its batches depend on those before; workers' gradients are "
            "clipped");
}

TEST_F(Status, FindsNoBiasInAShuffledPassOfWholeShards) {
  const auto facts = status_of(kStudy,
                               {"--set",
                                "seeds=1",
                                "--set",
                                "workers.sampling=shuffle",
                                "--set",
                                "workers.batch=full"})["facts"];

  EXPECT_FALSE(facts.contains("gradient_bias"));
}

}  // namespace
}  // namespace residuum
