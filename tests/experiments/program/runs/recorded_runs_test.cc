// Runs on recorded gradients: the numbers of interface.md's known answers and of sums by hand,
// columns that stay empty without an f, and refused studies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "objectives/data/npy.h"
#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using reports::CsvReader;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kRecordedStudy = R"(schema = 1
name = "recorded"
[objective]
kind = "recorded"
data = "g.npy"
precision = "float64"
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 1
[aggregator]
kind = "gtopk-exact"
[step]
value = 1.0
[budget]
iterations = 2
[probes]
every = 1
times = false
)";

class RecordedRun : public testing::Test {
 protected:
  void SetUp() override { folder_.write("s.toml", kRecordedStudy); }

  void record(const std::vector<std::size_t>& shape, const std::vector<double>& numbers) const {
    std::string bytes = npy_header(NpyType::float64, shape);
    const std::size_t start = bytes.size();
    bytes.resize(start + numbers.size() * sizeof(double));
    std::memcpy(bytes.data() + start, numbers.data(), numbers.size() * sizeof(double));
    folder_.write("g.npy", bytes);
  }

  /// 40 steps of 4 workers with 60 numbers that no two entries share.
  void record_many() const {
    std::vector<double> numbers(40 * 4 * 60);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = std::sin(static_cast<double>(i * i % 9973));
    }
    record({40, 4, 60}, numbers);
  }

  Finished call(const std::string& command, const std::vector<std::string>& changes) const {
    std::vector<std::string> arguments{command, "s.toml"};
    for (const auto& change : changes) {
      arguments.emplace_back("--set");
      arguments.push_back(change);
    }
    return residuum_program(arguments, folder_.path());
  }

  std::string fault(const std::vector<std::string>& changes) const {
    const Finished finished = call("run", changes);
    EXPECT_EQ(finished.code, 2) << finished.out << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    return finished.err;
  }

  std::vector<std::string> column(const std::string& table, const std::string& name) const {
    CsvReader reader(folder_.path() / "results" / "recorded" / table);
    std::vector<std::string> values;
    while (reader.next()) {
      values.push_back(reader.text(reader.column(name)));
    }
    return values;
  }

  std::vector<double> numbers(const std::string& name) const {
    std::vector<double> values;
    for (const auto& text : column("iterations.csv", name)) {
      values.push_back(std::stod(text));
    }
    return values;
  }

  TemporaryFolder folder_;
};

TEST_F(RecordedRun, HasTheKnownDeltaOfTheseAccumulators) {
  record({1, 2, 2}, {1.01, 1, -1, -1.01});

  const Finished run = call("run", {"budget.iterations=1"});

  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NEAR(numbers("delta").at(0), 10001, 1e-6);
}

// The gradients are the same for every seed, and so are the runs: no interval is made of them.
TEST_F(RecordedRun, IsOneRunHoweverManySeedsThereAre) {
  record({1, 2, 2}, {1.01, 1, -1, -1.01});

  ASSERT_EQ(call("run", {"budget.iterations=1", "seeds=3"}).code, 0);
  const auto summary =
      nlohmann::json::parse(read_text(folder_.path() / "results" / "recorded" / "summary.json"));
  const auto& delta = summary["groups"][0]["assumptions"]["delta"];
  EXPECT_EQ(delta["verdict"], "fails");
  EXPECT_EQ(delta["seeds"], 1);
  EXPECT_TRUE(delta["interval"].is_null());
}

TEST_F(RecordedRun, NeedsNoStepAndMeasuresEveryStepByDefault) {
  record_many();
  std::string study = kRecordedStudy;
  study.erase(study.find("[step]"), std::string("[step]\nvalue = 1.0\n").size());
  study.erase(study.find("every = 1\n"), std::string("every = 1\n").size());
  folder_.write("s.toml", study);

  const Finished run = call("run", {"workers.count=4", "budget.iterations=40", "sparsifier.k=6"});

  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(numbers("delta").size(), 40U);
  EXPECT_EQ(numbers("step_size"), std::vector<double>(40, 1.0));
  EXPECT_EQ(call("plan", {"step.rule=cosine"}).code, 2) << "another rule has a value of its own";
}

TEST_F(RecordedRun, TakesTheGradientOfEachStepAndLeavesEmptyWhatNeedsAFunction) {
  record({2, 2, 2}, {3, 0, 0, 4, 1, 1, 1, -1});

  const Finished run = call("run", {"aggregator.kind=allgather", "sparsifier.k=2"});

  ASSERT_EQ(run.code, 0) << run.err;
  // The means are (1.5, 2) and (1, 0).
  EXPECT_THAT(numbers("mean_grad_norm_sq"), ElementsAre(6.25, 1));
  EXPECT_THAT(numbers("worker_grad_norm_sq"), ElementsAre(12.5, 2));
  EXPECT_THAT(numbers("residual_norm_sq"), ElementsAre(0, 0));
  for (const char* name : {"loss", "loss_gap", "grad_norm_sq", "noise_variance", "gradient_bias"}) {
    EXPECT_THAT(column("iterations.csv", name), ElementsAre("", "")) << name;
  }
  EXPECT_THAT(column("runs.csv", "status"), ElementsAre("finished"));
}

TEST_F(RecordedRun, WorksWithEveryKindOfMethodAndItsResultsHaveAReport) {
  record_many();
  const std::vector<std::string> common{
      "workers.count=4", "budget.iterations=20", "sparsifier.k=6"};
  for (const std::vector<std::string>& method : std::vector<std::vector<std::string>>{
           {"aggregator.kind=gtopk-tree", "feedback.putback=published"},
           {"aggregator.kind=allgather", "feedback.kind=ef21"},
           {"aggregator.kind=allgather", "quantiser.kind=sign"},
           {"aggregator.kind=allgather", "protocol.kind=local", "protocol.period=2"},
           {"aggregator.kind=allgather",
            "protocol.kind=gossip",
            "protocol.graph=ring",
            "protocol.mixing=choco",
            "protocol.consensus_step=0.3",
            "feedback.kind=none"},
           {"aggregator.kind=parameter-server", "protocol.kind=asp"}}) {
    std::vector<std::string> changes = common;
    changes.insert(changes.end(), method.begin(), method.end());
    const Finished run = call("run", changes);
    EXPECT_EQ(run.code, 0) << method.back() << '\n' << run.out << run.err;
  }

  const Finished report = residuum_program({"report", "results/recorded"}, folder_.path());

  EXPECT_EQ(report.code, 0) << report.err;
}

TEST_F(RecordedRun, HasTheSameBitsOnOneProcessAndOnFour) {
  record_many();

  const Finished verified = residuum_program({"verify",
                                              "s.toml",
                                              "--ranks",
                                              "1,4",
                                              "--set",
                                              "workers.count=4",
                                              "--set",
                                              "budget.iterations=10",
                                              "--set",
                                              "aggregator.kind=gtopk-tree"},
                                             folder_.path());

  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("PASS"));
}

TEST_F(RecordedRun, SelectsByTheLayersThatTheStudyNames) {
  record({1, 2, 4}, {9, 8, 1, 2, 9, 8, 1, 2});
  const std::string layers = "objective.layers=[{name=\"a\",size=2},{name=\"b\",shape=[2,1]}]";

  const Finished run = call("run",
                            {layers,
                             "budget.iterations=1",
                             "aggregator.kind=allgather",
                             "sparsifier.k=1",
                             "sparsifier.scope=layer"});

  ASSERT_EQ(run.code, 0) << run.err;
  // Each layer sends its largest entry: 8 and 1 stay with both workers.
  EXPECT_THAT(numbers("residual_norm_sq"), ElementsAre(65));
}

TEST_F(RecordedRun, MustHaveTheWorkersAndTheStepsOfTheStudy) {
  record({2, 2, 2}, {3, 0, 0, 4, 1, 1, 1, -1});

  EXPECT_THAT(
      fault({"workers.count=3"}),
      HasSubstr("the recording has 2 workers, but the study has 3; give 'workers.count' = 2"));
  EXPECT_THAT(fault({"budget.iterations=3"}),
              HasSubstr("3 iterations take 3 gradients of each worker, but 2 are recorded; give at "
                        "most 2"));
  EXPECT_THAT(fault({"protocol.kind=local", "protocol.period=2", "aggregator.kind=allgather"}),
              HasSubstr("2 iterations take 4 gradients of each worker"));
}

TEST_F(RecordedRun, RefusesWhatNeedsAFunctionWithAReason) {
  record({2, 2, 2}, {3, 0, 0, 4, 1, 1, 1, -1});

  EXPECT_THAT(fault({"probes.names=[\"smoothness\"]"}), HasSubstr("probe 'smoothness' needs f"));
  EXPECT_THAT(fault({"probes.names=[\"average\"]"}), HasSubstr("probe 'average' needs f"));
  EXPECT_THAT(fault({"probes.evaluate=1"}), HasSubstr("no f is known; leave it out"));
  EXPECT_THAT(fault({"probes.noise_every=1"}), HasSubstr("no f is known; leave it out"));
  EXPECT_THAT(fault({"budget.loss_bound=3"}), HasSubstr("have no loss to bound"));
  EXPECT_THAT(fault({"step.value=\"1/L\""}), HasSubstr("L"));
  EXPECT_THAT(fault({"workers.batch=2"}), HasSubstr("no data set to draw batches from"));
}

TEST_F(RecordedRun, NamesTheNumberThatIsNotFinite) {
  record({2, 2, 2}, {3, 0, 0, 4, 1, std::nan(""), 1, -1});

  EXPECT_THAT(fault({}), HasSubstr("g.npy: the gradient of step 1, worker 0 is nan at index 1"));
}

TEST_F(RecordedRun, OfALateWorkerEndsInALineWhereItsGradientsEnd) {
  record({2, 2, 2}, {3, 0, 0, 4, 1, 1, 1, -1});

  const Finished run = call(
      "run", {"protocol.kind=asp", "aggregator.kind=parameter-server", "budget.iterations=20"});

  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, HasSubstr("is at gradient 3, but g.npy has 2 steps; give fewer"));
}

}  // namespace
}  // namespace residuum
