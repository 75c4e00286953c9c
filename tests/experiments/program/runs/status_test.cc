// Facts of objective and method in status.json, for readers that know neither by name.

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
  /// The status of the study's first run by name.
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

const std::string kChoco = R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 20
[feedback]
kind = "none"
[protocol]
kind = "gossip"
graph = "complete"
mixing = "choco"
consensus_step = 0.25
[step]
value = 0.1
[budget]
iterations = 2
)";

const std::string kThresholds = R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
dimension = 20
[sparsifier]
kind = "hard-threshold"
threshold = 0.03
[aggregator]
kind = "allgather"
[step]
value = 0.2
[budget]
iterations = 5
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

TEST_F(Status, TellsWhetherTheSeedDrawsTheShards) {
  EXPECT_EQ(status_of(kStudy)["facts"]["partition_from_seed"], false);
  std::filesystem::remove_all(results());
  EXPECT_EQ(
      status_of(kStudy, {"--set", "workers.partition_seed=run"})["facts"]["partition_from_seed"],
      true);
}

TEST_F(Status, CountsTheSamplesOfThePowerIteration) {
  // Every 200/64 = 3rd sample of each shard of 50 is taken: 4 * 17.
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
  RESIDUUM_NEEDS_NETWORKS();
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

TEST_F(Status, TellsTheLawsOfTheComponents) {
  const auto status = status_of(kStudy, {"--set", "seeds=1"});
  const auto& laws = status["laws"];

  EXPECT_EQ(laws["sparsifier"],
            (nlohmann::json{{"contraction", 0.1},
                            {"pathwise", true},
                            {"exact", false},
                            {"deterministic", true},
                            {"keeps_values", true},
                            {"keeps_largest", true},
                            {"shares_support", false},
                            {"unbiased", false},
                            {"threshold_scales", false},
                            {"reuses_threshold", false},
                            {"claimed", false}}));
  EXPECT_EQ(laws["aggregator"],
            (nlohmann::json{{"applies_whole_messages", false},
                            {"drops_in_merges", true},
                            {"dropped_stay_with_senders", false},
                            {"is_sparse", true},
                            {"forwards_messages", false},
                            {"carries_vectors", false},
                            {"completes_support", false},
                            {"selects_largest", true},
                            {"weighs_messages", false},
                            {"approximates_sum", false},
                            {"shifts_model", false}}));
  EXPECT_EQ(
      laws["feedback"],
      (nlohmann::json{
          {"memory", "residual"}, {"in_gradient_units", false}, {"decay", 1}, {"forgets", false}}));
  EXPECT_FALSE(status["sends_everything"].get<bool>());
  EXPECT_FALSE(status["selects_by_layer"].get<bool>());
  EXPECT_FALSE(status["density_varies"].get<bool>());
  EXPECT_FALSE(laws.contains("quantiser"));
}

const std::string kPlain = R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
dimension = 20
heterogeneity = 0
noise_variance = 0
[workers]
count = 4
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "allgather"
[step]
value = 0.2
[budget]
iterations = 5
)";

TEST_F(Status, TellsHowModelsAreUpdated) {
  const auto laws_with = [&](const std::vector<std::string>& settings) {
    std::filesystem::remove_all(results());
    std::vector<std::string> options;
    for (const auto& setting : settings) {
      options.insert(options.end(), {"--set", setting});
    }
    return status_of(kPlain, options)["laws"];
  };
  const auto plain = laws_with({});
  EXPECT_EQ(plain["step"], (nlohmann::json{{"constant", true}, {"may_grow", false}}));
  EXPECT_EQ(plain["update"],
            (nlohmann::json{{"momentum", 0},
                            {"outer_step", 1},
                            {"takes_signs", false},
                            {"weight_decay", 0},
                            {"effective_decay", 0},
                            {"clipped", "nothing"},
                            {"has_optimisers", false}}));

  // Gradients pass the momentum before the exchange, and the decay does not: 1/(1 - 0.75) = 4.
  const auto dgc = laws_with(
      {"feedback.kind=dgc", "feedback.momentum=0.75", "step.weight_decay=0.5", "step.clip_norm=1"});
  EXPECT_EQ(dgc["feedback"]["memory"], "velocity");
  EXPECT_EQ(dgc["update"]["momentum"], 0.75);
  EXPECT_EQ(dgc["update"]["weight_decay"], 0.5);
  EXPECT_EQ(dgc["update"]["effective_decay"], 0.125);
  EXPECT_EQ(dgc["update"]["clipped"], "worker");

  // The step size is 8/(a + t), with a = 10 d/k = 100.
  const auto falling =
      laws_with({"step.rule=inv-time", "step.value=8", "step.shift=10d/k", "step.momentum=0.9"});
  EXPECT_EQ(falling["step"],
            (nlohmann::json{{"constant", false}, {"may_grow", false}, {"shift", 100}}));
  EXPECT_EQ(falling["update"]["momentum"], 0.9);
}

TEST_F(Status, TellsWhetherTheSeedDrawsAnything) {
  const auto status_with = [&](const std::string& setting) {
    std::filesystem::remove_all(results());
    return status_of(kPlain, {"--set", setting});
  };
  const auto gradients_with = [&](const std::string& setting) {
    return status_with(setting)["laws"]["gradients"];
  };
  EXPECT_EQ(gradients_with("seeds=1")["full"], true);
  EXPECT_EQ(gradients_with("seeds=1")["workers_alike"], true);
  EXPECT_EQ(status_with("seeds=1")["deterministic"], true);
  EXPECT_EQ(gradients_with("objective.heterogeneity=0.5")["workers_alike"], false);
  EXPECT_EQ(gradients_with("objective.noise_variance=1")["full"], false);
  EXPECT_EQ(status_with("objective.noise_variance=1")["deterministic"], false);
  EXPECT_EQ(status_with("sparsifier.kind=rand-k")["deterministic"], false);
  // Which gradients are late may be drawn.
  EXPECT_EQ(status_with("protocol.kind=asp")["deterministic"], false);
}

TEST_F(Status, TellsHowManyWorkersMakeAVersionWhereSomeAreLeftOut) {
  const auto protocol_of = [&](const std::vector<std::string>& more) {
    std::filesystem::remove_all(results());
    std::vector<std::string> arguments{"--set", "seeds=1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return status_of(kStudy, arguments)["laws"]["protocol"];
  };
  EXPECT_FALSE(protocol_of({}).contains("participants"));
  const auto some = protocol_of({"--set", "workers.participation=2"});
  EXPECT_EQ(some["participants"], 2);
  EXPECT_EQ(some["contributions"], 2);
}

// An entry of the accumulator is sent from lambda on; on step-multiplied accumulators that is, at
// eta = 0.2, lambda for a fixed threshold in step units and eta lambda otherwise.
TEST_F(Status, TellsTheThresholdOnStepMultipliedAccumulators) {
  const auto law = [&](const std::string& rule, const std::string& units) {
    std::filesystem::remove_all(results());
    return status_of(kThresholds,
                     {"--set",
                      "sparsifier.rule=" + rule,
                      "--set",
                      "feedback.units=" + units})["laws"]["sparsifier"];
  };

  EXPECT_DOUBLE_EQ(law("fixed", "step")["threshold"].get<double>(), 0.03);
  EXPECT_FALSE(law("fixed", "step")["threshold_scales"].get<bool>());
  for (const auto& [rule, units] :
       {std::pair{"eta-scaled", "step"}, {"fixed", "gradient"}, {"eta-scaled", "gradient"}}) {
    EXPECT_DOUBLE_EQ(law(rule, units)["threshold"].get<double>(), 0.006) << rule << ' ' << units;
    EXPECT_TRUE(law(rule, units)["threshold_scales"].get<bool>()) << rule << ' ' << units;
  }
}

TEST_F(Status, TellsNoThresholdWhereTheStepChanges) {
  const auto status = status_of(kThresholds, {"--set", "step.rule=inv-sqrt"});

  EXPECT_FALSE(status["laws"]["sparsifier"].contains("threshold"));
}

// The mixing of two workers is the mean, of gap 1, and they go a quarter of the way to it.
TEST_F(Status, TellsTheSpectralGapWhereModelsTravelWhole) {
  const auto gap_with = [&](const std::string& k) {
    std::filesystem::remove_all(results());
    return status_of(kChoco, {"--set", "sparsifier.k=" + k})["laws"]["protocol"]["spectral_gap"];
  };

  EXPECT_DOUBLE_EQ(gap_with("20").get<double>(), 0.25);
  EXPECT_TRUE(gap_with("19").is_null());  // it has none
}

TEST_F(Status, TellsThatATopKOfAllEntriesSendsEverything) {
  const auto status = status_of(kStudy, {"--set", "seeds=1", "--set", "sparsifier.k=20"});

  EXPECT_TRUE(status["sends_everything"].get<bool>());
}

TEST_F(Status, TellsOfAScheduleTheWeakestLawOfItsStages) {
  const auto status = status_of(kStudy,
                                {"--set",
                                 "seeds=1",
                                 "--set",
                                 "sparsifier.schedule=[0.5]",
                                 "--set",
                                 "sparsifier.schedule_iterations=5"});

  EXPECT_TRUE(status["density_varies"].get<bool>());
  EXPECT_DOUBLE_EQ(status["laws"]["sparsifier"]["contraction"].get<double>(), 0.1);
}

}  // namespace
}  // namespace residuum
