// Budgets of virtual seconds and of gradients, and predictions held against real runs, as a user
// has them: what runs and plans say, and the tables of the report.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/real_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTimedStudy = R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
dimension = 20
[workers]
count = 4
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "allgather"
[step]
value = 0.01
)";

class BudgetRuns : public TinyStudy {
 protected:
  nlohmann::json status() const {
    const auto run = std::filesystem::directory_iterator(results() / "runs")->path();
    return nlohmann::json::parse(read_text(run / "status.json"));
  }
  std::string table(const char* name) const { return read_text(results() / name); }
};

const std::string kVirtual =
    kTimedStudy + "[protocol]\ncompute = 0.1\n[budget]\nvirtual_s = 10\n[probes]\nevery = 1\n";

TEST_F(BudgetRuns, OfVirtualSecondsEndWhereTheClockIs) {
  const Finished finished = run(kVirtual);
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(status()["iterations"], 100);
  EXPECT_TRUE(status()["final"].contains("loss"));
  const auto seconds = column(table("iterations.csv"), "virtual_s");
  ASSERT_EQ(seconds.size(), 100U);
  EXPECT_NEAR(std::stod(seconds.back()), 10, 1e-9);
  EXPECT_THAT(run(kVirtual).err, HasSubstr("done before"));
  EXPECT_EQ(residuum_program({"report", "results/tiny"}, folder_.path()).code, 0);
  EXPECT_THAT(table("report.html"), Not(HasSubstr("Predicted and measured time")));
}

TEST_F(BudgetRuns, OfVirtualSecondsEndAtAnyNumberOfProcessesAlike) {
  folder_.write("s.toml", kVirtual + "times = false\n");
  const Finished verified =
      residuum_program({"verify", "s.toml", "--ranks", "1,3"}, folder_.path());
  EXPECT_EQ(verified.code, 0) << verified.err;
}

TEST_F(BudgetRuns, ArePlannedByTheirGradients) {
  folder_.write("s.toml", kVirtual);
  const Finished planned = residuum_program({"plan", "s.toml"}, folder_.path());
  EXPECT_THAT(planned.out, HasSubstr("T=? "));
  EXPECT_THAT(planned.out, HasSubstr("1 run, 1 to do: 400 worker-iterations"));
  const Finished json = residuum_program({"plan", "s.toml", "--format", "json"}, folder_.path());
  EXPECT_TRUE(nlohmann::json::parse(json.out)[0]["iterations"].is_null());
  folder_.write("s.toml", kTimedStudy + "[budget]\ngradients = 400\n");
  EXPECT_THAT(residuum_program({"plan", "s.toml"}, folder_.path()).out,
              testing::AllOf(HasSubstr("T=100 "), Not(HasSubstr("makes"))));
}

// Four workers give a gradient each in an iteration.
TEST_F(BudgetRuns, SayInThePlanWhatTheyAreRoundedTo) {
  const auto plan = [&](const std::string& budget) {
    folder_.write("s.toml", kTimedStudy + "[protocol]\ncompute = 0.1\n[budget]\n" + budget);
    return residuum_program({"plan", "s.toml"}, folder_.path()).out;
  };
  EXPECT_THAT(plan("gradients = 401\n"),
              HasSubstr("1 run: budget.gradients = 401 makes 404: whole iterations of 4\n"));
  EXPECT_THAT(plan("virtual_s = 1e-9\n"),
              HasSubstr("1 run: budget.virtual_s = 1e-09 ends after about 4 gradients"));
  EXPECT_THAT(plan("virtual_s = 10\n"), HasSubstr("ends after about 400 gradients"));
}

// A plan's machine is that of the runs, and without a network messages take no time: it says what
// the runs then make.
TEST_F(BudgetRuns, ArePlannedAtThePaceOfTheirWorkers) {
  struct Case {
    std::string protocol;
    std::uint64_t of_version;  // gradients
  };
  for (const Case& one : {Case{"kind = \"bsp\"\n", 4},
                          Case{"kind = \"local\"\nperiod = 3\n", 12},
                          Case{"kind = \"asp\"\n", 1},
                          Case{"kind = \"ssp\"\nstaleness = 2\n", 1}}) {
    const std::string study = kTimedStudy + "[protocol]\n" + one.protocol + R"(
compute = "lognormal:0.01,0.5"
speeds = [1, 1, 0.5, 1]
straggler_factor = 10
straggler_every_s = 0.5
straggler_lasts_s = 0.1
[budget]
virtual_s = 2
)";
    std::filesystem::remove_all(results());
    folder_.write("s.toml", study);
    const Finished planned =
        residuum_program({"plan", "s.toml", "--format", "json"}, folder_.path());
    ASSERT_EQ(planned.code, 0) << planned.err;
    ASSERT_EQ(run(study).code, 0) << one.protocol;
    EXPECT_EQ(nlohmann::json::parse(planned.out)[0]["worker_iterations"],
              status()["iterations"].get<std::uint64_t>() * one.of_version)
        << one.protocol;
  }
}

// The clock ends the run between two rows: what it has sent and taken is that of all iterations.
TEST_F(BudgetRuns, KnowWhatTheyHaveSpentWithoutARowOfTheirLastIteration) {
  const auto study = [](const std::string& every) {
    return kTimedStudy + "[protocol]\nkind = \"asp\"\ncompute = \"lognormal:0.01,0.5\"\n" +
           "[budget]\nvirtual_s = 2\n[probes]\nevaluate = 50\ntimes = false\nevery = " + every;
  };
  ASSERT_EQ(run(study("1")).code, 0);
  const auto all = status()["totals"];
  const std::string rows = table("iterations.csv");
  EXPECT_EQ(all["sent_bytes"], std::stod(column(rows, "total_sent_bytes").back()));
  EXPECT_EQ(all["uplink_bytes"], std::stod(column(rows, "total_uplink_bytes").back()));
  EXPECT_EQ(all["nnz_sent"], std::stod(column(rows, "total_nnz_sent").back()));
  EXPECT_EQ(all["virtual_s"], std::stod(column(rows, "virtual_s").back()));
  std::filesystem::remove_all(results());
  ASSERT_EQ(run(study("50")).code, 0);
  ASSERT_NE(column(table("iterations.csv"), "virtual_s").back(), column(rows, "virtual_s").back());
  for (const char* total : {"sent_bytes", "uplink_bytes", "nnz_sent", "virtual_s"}) {
    EXPECT_EQ(status()["totals"][total], all[total]) << total;
  }
}

TEST_F(BudgetRuns, OfUnlikeProtocolsHaveATableAtEqualTime) {
  const std::string study = kTimedStudy + "[protocol]\ncompute = 0.1\n[budget]\nvirtual_s = 10\n" +
                            "[probes]\nevery = 7\nevaluate = 7\n[sweep]\n" +
                            "\"protocol.kind\" = [\"bsp\", \"asp\"]\n";
  ASSERT_EQ(run(study).code, 0);
  ASSERT_EQ(residuum_program({"report", "results/tiny"}, folder_.path()).code, 0);
  const auto seconds = column(table("tables/equal-time.csv"), "model_time_s");
  ASSERT_EQ(seconds.size(), 2U);
  for (const auto& one : seconds) {
    EXPECT_NEAR(std::stod(one), 10, 1);
  }
}

// Workers of a process wait together, so that a real run takes at least the predicted time. By how
// much it takes more is for the reader of the report.
TEST_F(BudgetRuns, OfBothExecutionsAreHeldAgainstEachOther) {
  const std::string study = kTimedStudy +
                            "[protocol]\ncompute = \"lognormal:0.002,0.5\"\n[budget]\n"
                            "gradients = 40\n[probes]\nevery = 1\nevaluate = 10\n[sweep]\n"
                            "\"protocol.execution\" = [\"simulated\", \"real\"]\n";
  const Finished finished = run(study);
  ASSERT_EQ(finished.code, 0) << finished.err;
  ASSERT_EQ(residuum_program({"report", "results/tiny"}, folder_.path()).code, 0);
  const std::string csv = table("tables/predicted-times.csv");
  EXPECT_EQ(column(csv, "iteration"), std::vector<std::string>{"9"});
  const double predicted = std::stod(column(csv, "predicted_s").front());
  EXPECT_GE(std::stod(column(csv, "measured_s").front()), predicted);
  EXPECT_GE(predicted, 10 * 0.002 * 0.2);
  EXPECT_THAT(table("report.html"), HasSubstr("Predicted and measured time"));
  EXPECT_THAT(table("tables/predicted-times.md"), HasSubstr("within 10 % of 1 for every seed"));
  EXPECT_TRUE(std::filesystem::exists(results() / "figures" / "predicted-times.csv"));
  const auto rows = column(table("iterations.csv"), "virtual_s");
  const auto walls = column(table("iterations.csv"), "wall_s");
  for (std::size_t t = 0; t < rows.size(); ++t) {
    EXPECT_NE(rows[t].empty(), walls[t].empty()) << "a run has one clock";
  }
  const Finished drawn = residuum_program(
      {"figure", "results/tiny", "predicted-times", "-o", "p.svg"}, folder_.path());
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  const Finished by_wall = residuum_program(
      {"figure", "results/tiny", "loss-gap", "--by", "wall", "-o", "w.svg"}, folder_.path());
  EXPECT_EQ(by_wall.code, 0) << by_wall.err;
  const Finished verified = residuum_program({"verify", "s.toml"}, folder_.path());
  EXPECT_EQ(verified.code, 2);
  EXPECT_THAT(verified.err, HasSubstr("not bit-reproducible"));
}

class TimedRealRuns : public RealRuns {};

TEST_F(TimedRealRuns, OfLateWorkersAreHeldAgainstTheirPrediction) {
  const std::string study = kTimedStudy +
                            "[protocol]\nkind = \"inhad\"\nnodes = 2\nquota = 4\n"
                            "compute = \"exponential:0.002\"\nspeeds = [1, 1, 1, 0.5]\n[budget]\n"
                            "gradients = 60\n[probes]\nnames = [\"traffic\"]\n"
                            "every = { geometric = 3.0 }\nevaluate = 1000\n[sweep]\n"
                            "\"protocol.execution\" = [\"simulated\", \"real\"]\n";
  const Finished finished = run_on(3, study);
  ASSERT_EQ(finished.code, 0) << finished.err;
  ASSERT_EQ(residuum_program({"report", "results/tiny"}, folder_.path()).code, 0);
  const std::string csv = read_text(results() / "tables" / "predicted-times.csv");
  ASSERT_EQ(column(csv, "ratio").size(), 1U);
  EXPECT_GT(std::stod(column(csv, "ratio").front()), 0);
}

}  // namespace
}  // namespace residuum
