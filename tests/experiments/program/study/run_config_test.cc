// From settings to a run: its identity, and the refusal of values that cannot be meant.

#include "experiments/program/study/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "experiments/program/runs/run_folder.h"
#include "experiments/program/study/budget_section.h"
#include "experiments/program/study/prepare_all.h"
#include "reports/results/files.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kConfigStudy = R"(
schema = 1
name = "s"
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 4
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

std::vector<PreparedRun> prepared(const std::string& text,
                                  const std::vector<std::string>& overrides = {}) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  return prepare_all(parse_study(text, "s.toml", overrides), objectives);
}

std::string id_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return prepared(text, overrides).front().id;
}

std::string config_error(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    prepared(text, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(RunId, IsASlugAndTwelveHexDigits) {
  EXPECT_THAT(id_of(kConfigStudy), testing::MatchesRegex("quadratic-gtopk-tree-s1-[0-9a-f]{12}"));
}

TEST(RunId, IsTheSameForCosmeticChanges) {
  const std::string id = id_of(kConfigStudy);

  EXPECT_EQ(id_of("# a comment\n" + kConfigStudy), id);
  EXPECT_EQ(id_of("title = \"another title\"\n" + kConfigStudy), id);
  EXPECT_EQ(id_of(kConfigStudy, {"feedback.putback=captured"}), id) << "a default, spelt out";
  EXPECT_EQ(id_of(kConfigStudy, {"step.rule=constant", "step.momentum=0"}), id);
}

TEST(RunId, ChangesWithEveryValueThatMatters) {
  const std::string id = id_of(kConfigStudy);

  EXPECT_NE(id_of(kConfigStudy, {"sparsifier.k=4"}), id);
  EXPECT_NE(id_of(kConfigStudy, {"workers.count=5"}), id);
  EXPECT_NE(id_of(kConfigStudy, {"step.value=0.2"}), id);
  EXPECT_NE(id_of(kConfigStudy, {"feedback.putback=published"}), id);
  EXPECT_NE(id_of("seeds = [2]\n" + kConfigStudy), id);
}

TEST(RunId, IsTheSameWithoutATableOfDetailsAsBeforeThereWereAny) {
  const std::string id = id_of(kConfigStudy);

  EXPECT_FALSE(prepared(kConfigStudy).front().config["probes"].contains("workers"));
  EXPECT_EQ(id_of(kConfigStudy, {"probes.workers=false"}), id);
  EXPECT_NE(id_of(kConfigStudy, {"probes.workers=true"}), id)
      << "a run without the table has to be made";
  EXPECT_FALSE(prepared(kConfigStudy).front().config["probes"].contains("layers"));
  EXPECT_EQ(id_of(kConfigStudy, {"probes.layers=[]"}), id);
  EXPECT_NE(id_of(kConfigStudy, {"probes.layers=all"}), id);
  EXPECT_FALSE(prepared(kConfigStudy).front().config["probes"].contains("staleness"));
  EXPECT_EQ(id_of(kConfigStudy, {"probes.staleness=false"}), id);
  const auto asp = [](std::vector<std::string> settings) {
    settings.insert(settings.end(), {"protocol.kind=asp", "aggregator.kind=allgather"});
    return id_of(kConfigStudy, settings);
  };
  EXPECT_EQ(asp({"probes.staleness=false"}), asp({}));
  EXPECT_NE(asp({"probes.staleness=true"}), asp({}));
}

TEST(RunConfig, RefusesNodesOfAnAllReduceThatDoNotDivideTheWorkers) {
  const std::vector<std::string> in_nodes{"aggregator.kind=dense",
                                          "aggregator.algorithm=hierarchical"};
  const auto with_nodes_of = [&](const char* per_node) {
    auto settings = in_nodes;
    settings.emplace_back(std::string("aggregator.per_node=") + per_node);
    return config_error(kConfigStudy, settings);
  };
  EXPECT_EQ(with_nodes_of("3"),
            "'aggregator.per_node' at --set: 4 workers are no whole number of nodes of 3; choose a "
            "divisor of 'workers.count'");
  EXPECT_EQ(with_nodes_of("2"), "no error");
}

TEST(RunConfig, RefusesATableOfStalenessWhereNoGradientIsLate) {
  for (const std::vector<std::string>& protocol :
       {std::vector<std::string>{"protocol.kind=bsp"},
        std::vector<std::string>{"protocol.kind=local", "protocol.period=2"}}) {
    std::vector<std::string> settings = protocol;
    settings.emplace_back("probes.staleness=true");
    EXPECT_THAT(config_error(kConfigStudy, settings),
                HasSubstr("'probes.staleness' at --set: no gradient is late under this protocol"));
  }
}

const std::string kDivided = R"(
schema = 1
name = "s"
seeds = 2
[objective]
kind = "logistic"
rows = 60
features = 5
[workers]
count = 3
batch = 4
[step]
value = 0.1
[budget]
iterations = 10
)";

/// The shards of the study's runs, which differ in their seed alone.
std::vector<std::vector<std::vector<std::uint32_t>>> shards_of(
    const std::vector<std::string>& overrides) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  KnownKeys known;
  std::vector<std::vector<std::vector<std::uint32_t>>> all;
  for (const auto& spec : parse_study(kDivided, "s.toml", overrides).runs) {
    all.push_back(prepare(spec, objectives, known).training.shards);
  }
  return all;
}

TEST(PartitionSeed, OfTheRunGivesEverySeedShardsOfItsOwn) {
  const auto usual = shards_of({});
  const auto own = shards_of({"workers.partition_seed=run"});

  ASSERT_EQ(usual.size(), 2U);
  EXPECT_EQ(usual[0], usual[1]);
  EXPECT_NE(own[0], own[1]);
  EXPECT_EQ(own[0], usual[0]) << "the default is seed 1";
  EXPECT_EQ(own, shards_of({"workers.partition_seed=run"}));
  EXPECT_EQ(shards_of({"workers.partition_seed=2"}),
            (std::vector<std::vector<std::vector<std::uint32_t>>>{own[1], own[1]}));
}

TEST(PartitionSeed, IsPartOfTheRunsId) {
  const std::string id = id_of(kDivided);

  EXPECT_EQ(prepared(kDivided).front().config["workers"]["partition_seed"], 1);
  EXPECT_EQ(id_of(kDivided, {"workers.partition_seed=1"}), id);
  EXPECT_NE(id_of(kDivided, {"workers.partition_seed=2"}), id);
  EXPECT_NE(id_of(kDivided, {"workers.partition_seed=run"}), id);
}

TEST(PartitionSeed, IsTheRunsOrAWholeNumber) {
  for (const char* wrong : {"runs", "-1", "1.5", "true"}) {
    EXPECT_THAT(config_error(kDivided, {std::string("workers.partition_seed=") + wrong}),
                HasSubstr("'workers.partition_seed' at --set must be \"run\" or a whole number"))
        << wrong;
  }
  EXPECT_THAT(config_error(kConfigStudy, {"workers.partition_seed=run"}),
              HasSubstr("no data set to divide among the workers"));
}

TEST(RunConfig, MeasuresWhereOnlyATableOfDetailsIsWanted) {
  EXPECT_FALSE(prepared(kConfigStudy, {"probes.names=[]"}).front().training.plan.measure);
  EXPECT_TRUE(prepared(kConfigStudy, {"probes.names=[]", "probes.workers=true"})
                  .front()
                  .training.plan.measure);
}

TEST(RunConfig, RefusesWhatCannotBeMeant) {
  EXPECT_THAT(config_error(kConfigStudy, {"sparsifier.k=21"}), HasSubstr("only 20 parameters"));
  EXPECT_THAT(config_error(kConfigStudy, {"sparsifier.k=0"}), HasSubstr("at least 1"));
  EXPECT_THAT(config_error(kConfigStudy, {"sparsifier.k=1.5"}), HasSubstr("whole number"));
  EXPECT_THAT(config_error(kConfigStudy, {"sparsifier.kind=topk"}),
              HasSubstr("did you mean 'top-k'?"));
  EXPECT_THAT(config_error(kConfigStudy, {"objective.kind=quadric"}),
              HasSubstr("did you mean 'quadratic'?"));
  EXPECT_THAT(config_error(kConfigStudy, {"sparsifier.density=0.1"}),
              HasSubstr("give one of them"));
  EXPECT_THAT(config_error(kConfigStudy, {"sparsifier.densty=0.1"}),
              HasSubstr("did you mean 'sparsifier.density'?"));
  EXPECT_THAT(config_error(kConfigStudy, {"workers.count=0"}), HasSubstr("workers.count"));
  EXPECT_THAT(config_error(kConfigStudy, {"workers.count=four"}), HasSubstr("whole number"));
  EXPECT_THAT(config_error(kConfigStudy, {"workers.batch=8"}), HasSubstr("no data set"));
  EXPECT_THAT(config_error(kConfigStudy, {"workers.partition=idd"}), HasSubstr("iid"));
  EXPECT_THAT(config_error(kConfigStudy, {"step.value=0"}), HasSubstr("positive"));
  EXPECT_THAT(config_error(kConfigStudy, {"step.value=1/K"}), HasSubstr("1/L"));
  EXPECT_THAT(config_error(kConfigStudy, {"step.momentum=1"}), HasSubstr("[0, 1)"));
  EXPECT_THAT(config_error(kConfigStudy, {"budget.epochs=1"}), HasSubstr("give one"));
  EXPECT_THAT(config_error(kConfigStudy, {"budget.iterations=0"}), HasSubstr("budget.iterations"));
  EXPECT_THAT(config_error(kConfigStudy, {"protocol.kind=bps"}), HasSubstr("did you mean 'bsp'?"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.names=[\"detla\"]"}),
              HasSubstr("did you mean 'delta'?"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.every=0"}), HasSubstr("at least 1"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.every={geometric=1.0}"}), HasSubstr("F > 1"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.every={even=0}"}), HasSubstr("N >= 1"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.every={even=-2}"}), HasSubstr("N >= 1"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.layers=3"}), HasSubstr("\"all\" or a list"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.layers=[3]"}), HasSubstr("\"all\" or a list"));
  EXPECT_THAT(
      config_error(kConfigStudy, {"probes.layers=[\"conv1.weight\"]"}),
      HasSubstr("unknown layer 'conv1.weight' in 'probes.layers' at --set (residuum plan "));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.workers=1"}), HasSubstr("'probes.workers'"));
  EXPECT_THAT(config_error(kConfigStudy, {"probes.worker=true"}),
              HasSubstr("did you mean 'probes.workers'?"));
}

TEST(RunConfig, RefusesLocalStepsAndOuterStepsThatCannotBeMeant) {
  const auto local = [](const char* setting) {
    return config_error(kConfigStudy, {"protocol.kind=local", setting});
  };
  EXPECT_THAT(local("seeds=1"), HasSubstr("missing key 'protocol.period'"));
  EXPECT_THAT(local("protocol.period=0"), HasSubstr("'protocol.period' at --set must lie in 1.."));
  EXPECT_THAT(local("protocol.period=2.5"), HasSubstr("'protocol.period' at --set"));
  EXPECT_THAT(
      config_error(kConfigStudy,
                   {"protocol.kind=local", "protocol.period=10000", "budget.iterations=500000"}),
      HasSubstr("step fewer times between exchanges"));
  EXPECT_THAT(config_error(kConfigStudy, {"protocol.period=2"}), HasSubstr("'protocol.period'"));
  EXPECT_THAT(config_error(kConfigStudy,
                           {"protocol.kind=local", "protocol.period=2", "step.weight_decay=0.1"}),
              HasSubstr("put it into the objective (objective.l2)"));
  EXPECT_EQ(config_error(kConfigStudy,
                         {"protocol.kind=local", "protocol.period=1", "step.weight_decay=0.1"}),
            "no error");
  EXPECT_THAT(config_error(kConfigStudy, {"outer.step=0"}), HasSubstr("must be positive"));
  EXPECT_THAT(config_error(kConfigStudy, {"outer.kind=plian"}), HasSubstr("did you mean 'plain'?"));
  EXPECT_THAT(config_error(kConfigStudy, {"outer.stepp=1"}),
              HasSubstr("did you mean 'outer.step'"));
  EXPECT_THAT(config_error(kConfigStudy, {"outer.kind=nesterov", "outer.momentum=1"}),
              HasSubstr("(0, 1)"));
  EXPECT_THAT(config_error(kConfigStudy, {"outer.momentum=0.5"}), HasSubstr("has no momentum"));
  EXPECT_THAT(config_error(kConfigStudy, {"outer.kind=heavy-ball", "step.momentum=0.5"}),
              HasSubstr("there is a momentum already, by 'step.momentum' at --set"));
}

TEST(RunId, IsTheSameWithoutTheSectionOfAnOuterStep) {
  EXPECT_NE(id_of(kConfigStudy, {"outer.step=0.5"}), id_of(kConfigStudy, {}));
  EXPECT_NE(id_of(kConfigStudy, {"outer.step=0.5"}), id_of(kConfigStudy, {"outer.step=0.6"}));
}

TEST(RunConfig, RefusesACadenceThatIsLongerThanTheRun) {
  for (const char* key : {"every", "evaluate", "test", "noise_every", "virtual_every"}) {
    EXPECT_EQ(config_error(kConfigStudy, {fmt::format("probes.{}=11", key)}),
              fmt::format("'probes.{}' at --set: every 11 iterations are more than the run has, "
                          "which are 10",
                          key));
    EXPECT_EQ(config_error(kConfigStudy, {fmt::format("probes.{}=10", key)}), "no error");
  }
  EXPECT_EQ(config_error(kConfigStudy, {"probes.every={even=1000}"}), "no error")
      << "every iteration";
  EXPECT_EQ(config_error(kConfigStudy, {"probes.names=[\"tail\"]"}), "no error")
      << "each 100th, unasked";
  EXPECT_EQ(config_error(kConfigStudy, {"probes.names=[\"tail\"]", "probes.tail_every=100"}),
            "no error")
      << "the default, written out";
}

TEST(RunId, IsTheSameWithTrainingPracticeThatIsOff) {
  EXPECT_EQ(id_of(kConfigStudy,
                  {"step.weight_decay=0",
                   "step.clip_norm=0",
                   "step.clip_at=update",
                   "step.warmup=0",
                   "step.warmup_from=0.5",
                   "sparsifier.schedule=none",
                   "workers.accumulate=1"}),
            id_of(kConfigStudy));
  EXPECT_NE(id_of(kConfigStudy, {"step.weight_decay=1e-4"}), id_of(kConfigStudy));
}

TEST(RunConfig, ReadsTrainingPractice) {
  const ObjectiveContext context{.data_dir = "data", .cache_dir = "", .workers = 1};
  ObjectiveCache objectives(context);
  KnownKeys known;
  const auto study = parse_study(kConfigStudy,
                                 "s.toml",
                                 {"step.weight_decay=0.5",
                                  "step.clip_norm=2",
                                  "step.clip_at=update",
                                  "sparsifier.schedule=[0.5, 0.25]",
                                  "sparsifier.schedule_iterations=3"});
  const auto run = prepare(study.runs.front(), objectives, known);

  EXPECT_EQ(run.method->weight_decay, 0.5);
  EXPECT_EQ(run.method->clip, Clip::update);
  EXPECT_EQ(run.method->clip_norm, 2);
  ASSERT_EQ(run.method->stages.size(), 2U);
  EXPECT_EQ(run.method->stages[1].until, 6U);
  EXPECT_EQ(run.method->sparsifier_at(2).k(20), 10U);
  EXPECT_EQ(run.method->sparsifier_at(3).k(20), 5U);
  EXPECT_EQ(run.method->sparsifier_at(6).k(20), 3U);
}

const std::string kEpochStudy = R"(
schema = 1
name = "s"
[objective]
kind = "logistic"
data = "synthetic-logistic"
rows = 270
features = 5
[workers]
count = 2
batch = 5
[aggregator]
kind = "dense"
[protocol]
kind = "local"
period = 1
[step]
value = 0.1
[budget]
epochs = 1
)";

// An iteration takes 10 period / 270 of an epoch: with a period of 26 two of them are 1.93 epochs,
// with 300 one is 11.1.
TEST(RunConfig, RefusesEpochsThatEndFarWithinAnIteration) {
  const auto iterations = [](const std::vector<std::string>& overrides) {
    ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
    KnownKeys known;
    const auto study = parse_study(kEpochStudy, "s.toml", overrides);
    return prepare(study.runs.front(), objectives, known).training.iterations;
  };

  EXPECT_EQ(iterations({}), 27U);
  EXPECT_EQ(iterations({"protocol.period=27"}), 1U);
  EXPECT_EQ(iterations({"protocol.period=28"}), 1U);
  EXPECT_THAT(config_error(kEpochStudy, {"protocol.period=26"}),
              HasSubstr("1 epochs end within an iteration, which takes 0.9629629629629629 of an "
                        "epoch; the nearest that fit are 0.9629629629629629 and "
                        "1.9259259259259258, or give 'iterations'"));
  EXPECT_EQ(iterations({"protocol.period=26", "budget.epochs=0.9629629629629629"}), 1U);
  EXPECT_EQ(iterations({"protocol.period=26", "budget.epochs=1.9259259259259258"}), 2U);
  EXPECT_THAT(config_error(kEpochStudy, {"protocol.period=300"}),
              HasSubstr("the nearest that fit are 11.11111111111111, or give"));
  EXPECT_THAT(config_error(kEpochStudy, {"protocol.period=1", "workers.accumulate=40"}),
              HasSubstr("the nearest that fit are 1.4814814814814814, or give"));
  EXPECT_THAT(config_error(kEpochStudy,
                           {"protocol.period=1", "workers.batch=\"full\"", "budget.epochs=1.5"}),
              HasSubstr("the nearest that fit are 1 and 2, or give"));
}

TEST(ProductWithin, IsAbsentAboveTheLimitAndNeverWraps) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(product_within({65535, 65537}, 4294967295U), 4294967295U);
  EXPECT_EQ(product_within({65536, 65536}, 4294967295U), std::nullopt);
  EXPECT_EQ(product_within({4294967295U, 4294967297U}, kMost), kMost);
  EXPECT_EQ(product_within({4294967296U, 4294967296U}, kMost), std::nullopt);
  EXPECT_EQ(product_within({kMost, 3, 3}, kMost), std::nullopt);
  EXPECT_EQ(product_within({0, kMost, kMost}, 5), 0U);
}

TEST(RunConfig, RefusesTrainingPracticeThatCannotBeMeant) {
  EXPECT_THAT(config_error(kConfigStudy, {"step.weight_decay=-1"}), HasSubstr("at least 0"));
  EXPECT_THAT(config_error(kConfigStudy, {"step.clip_norm=-1"}), HasSubstr("at least 0"));
  EXPECT_THAT(config_error(kConfigStudy, {"step.clip_norm=1", "step.clip_at=updates"}),
              HasSubstr("did you mean 'update'?"));
  EXPECT_THAT(config_error(kConfigStudy, {"step.momentum=0.9", "feedback.kind=dgc"}),
              HasSubstr("has a momentum of its own"));
  EXPECT_THAT(config_error(kConfigStudy, {"workers.accumulate=2"}),
              HasSubstr("no batches to accumulate"));
  EXPECT_THAT(config_error(kConfigStudy, {"workers.accumulate=1.5"}), HasSubstr("whole number"));
  EXPECT_THAT(
      config_error(kConfigStudy, {"sparsifier.schedule=dgc", "sparsifier.schedule_iterations=9"}),
      HasSubstr("shorten the stages or train longer"));
  EXPECT_THAT(config_error(kConfigStudy, {"sparsifier.schedule=dgc"}), HasSubstr("no data set"));
}

TEST(RunConfig, RefusesBatchesThatCannotBeCounted) {
  const auto batch_error = [](const char* batch, const char* accumulate) {
    return config_error(kConfigStudy,
                        {"objective.kind=logistic",
                         "objective.data=synthetic-logistic",
                         fmt::format("workers.batch={}", batch),
                         fmt::format("workers.accumulate={}", accumulate)});
  };
  // (2^62 + 1) 4 = 4 in 64 bits.
  EXPECT_THAT(batch_error("4611686018427387905", "4"), HasSubstr("whole number in 1..4294967295"));
  EXPECT_THAT(batch_error("4294967296", "1"), HasSubstr("whole number in 1..4294967295"));
  EXPECT_THAT(batch_error("65536", "65536"), HasSubstr("more than 4294967295 samples"));
}

TEST(RunConfig, RefusesToAccumulateMoreThanARunHas) {
  RESIDUUM_NEEDS_NETWORKS();
  EXPECT_THAT(config_error(kConfigStudy,
                           {"objective.kind=lenet",
                            "objective.data=synthetic-images",
                            "objective.rows=64",
                            "workers.batch=1",
                            "workers.accumulate=65536",
                            "budget.iterations=70000"}),
              HasSubstr("accumulate fewer"));
}

TEST(RunConfig, RefusesDensitiesAndThresholdsOutOfRange) {
  const std::string by_density = [] {
    std::string text = kConfigStudy;
    text.replace(text.find("k = 3"), 5, "density = 0.1");
    return text;
  }();

  for (const char* density : {"0", "-0.1", "1.5", "nan"}) {
    const auto message = config_error(by_density, {std::string("sparsifier.density=") + density});
    EXPECT_THAT(message, HasSubstr("sparsifier.density")) << density;
  }
  EXPECT_THAT(config_error(by_density,
                           {"sparsifier.kind=hard-threshold",
                            "aggregator.kind=allgather",
                            "sparsifier.threshold=-1"}),
              HasSubstr("either"));
}

TEST(RunConfig, RefusesAThresholdWhereTheAggregatorNeedsK) {
  std::string text = kConfigStudy;
  text.replace(text.find("k = 3"), 5, "threshold = 0.1");

  EXPECT_THAT(config_error(text, {"sparsifier.kind=hard-threshold"}), HasSubstr("has no k"));
  EXPECT_THAT(config_error(text,
                           {"sparsifier.kind=hard-threshold",
                            "aggregator.kind=allgather",
                            "sparsifier.threshold=-1"}),
              HasSubstr("not be negative"));
}

TEST(RunConfig, AllowsAKeyThatOnlySomeKindsOfASweepRead) {
  EXPECT_EQ(
      prepared(kConfigStudy + "[sweep]\n\"sparsifier.kind\" = [\"none\", \"top-k\"]\n").size(), 2);
}

TEST(RunConfig, RefusesTheSameRunTwice) {
  EXPECT_THAT(
      config_error(kConfigStudy + "[sweep]\n\"feedback.putback\" = [\"captured\", \"captured\"]\n"),
      HasSubstr("are the same"));
}

/// Data are read once for all numbers of workers: a sweep over them would read them for each run.
TEST(ObjectiveCache, BuildsAnObjectiveAnewForAnotherNumberOfWorkersOnlyIfItAskedForIt) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  const auto is_kept = [&](const nlohmann::json& settings) {
    const auto before = objectives.get(Section("objective", settings), 4);
    return objectives.get(Section("objective", settings), 8) == before;
  };

  EXPECT_TRUE(is_kept({{"kind", "logistic"}, {"data", "synthetic-logistic"}}));
  EXPECT_FALSE(is_kept({{"kind", "quadratic"}, {"dimension", 10}}));
  EXPECT_FALSE(is_kept({{"kind", "logistic"}, {"data", "synthetic-logistic"}, {"shifted", true}}));
  RESIDUUM_NEEDS_NETWORKS();
  EXPECT_TRUE(is_kept({{"kind", "mlp"}, {"data", "synthetic-images"}, {"rows", 60}}));
}

/// A budget in epochs does not say to how many iterations it comes; a run does, while it runs.
TEST(RunStatus, OfARunThatHasBegunSaysHowManyIterationsItWillHave) {
  const TemporaryFolder folder;
  const auto study = parse_study(R"(
schema = 1
name = "s"
[objective]
kind = "logistic"
data = "synthetic-logistic"
[workers]
count = 4
batch = 5
[step]
value = 0.1
[budget]
epochs = 2
)",
                                 "s.toml",
                                 {});
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  KnownKeys known;
  const auto run = prepare(study.runs.front(), objectives, known);

  const RunFolder begun(folder.path(), run, study);

  const auto status = reports::read_json(folder.path() / "runs" / run.id / "status.json");
  EXPECT_EQ(status.at("state"), "running");
  // Epochs are counted in batches of all workers.
  EXPECT_EQ(status.at("planned_iterations"), 2 * (run.objective->samples() / 20));
}

}  // namespace
}  // namespace residuum
