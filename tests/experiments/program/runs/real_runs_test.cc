// Runs over real processes as a user starts them: their tables, refused studies, and that they end.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/real_study.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Workers that never pause announce gradients faster than any other message is made: the pull must
// still be answered, and so must a request to stop.
TEST_F(RealRuns, OfWorkersWithoutACapMakeVersionsAndStop) {
  folder_.write(
      "s.toml",
      real_study("kind = \"inhad\"\nnodes = 2\nquota = 4\nstaleness = 2\ncap = \"unlimited\"",
                 100'000'000));
  const Finished run =
      run_program(command(3, {"--time-limit", "5s", "--progress", "none"}), folder_.path());
  EXPECT_EQ(run.code, 124) << run.err;
  const auto versions = column(read_text(only_run() / "iterations.csv.part"), "version");
  EXPECT_GT(versions.size(), 0U);
}

TEST_F(RealRuns, HaveTheColumnsOfTheirServer) {
  const std::string study = real_study("kind = \"asp\"", 300) + "[probes]\nevery = 1\n";
  const Finished finished = run_on(3, study);
  ASSERT_EQ(finished.code, 0) << finished.err;

  const auto last = [&](const char* name) { return column(iterations(), name).back(); };
  EXPECT_EQ(last("version"), "300");
  EXPECT_EQ(last("total_contributions"), "300");
  EXPECT_EQ(last("total_nnz_sent"), "1500");
  EXPECT_EQ(last("total_uplink_bytes"), "12000");  // 5 entries of 8 bytes in 300 messages
  double downlink = 0;
  for (const std::string& bytes : column(iterations(), "downlink_bytes")) {
    downlink += std::stod(bytes);
  }
  // A model of 200 numbers of 4 bytes goes to each worker for each gradient that it begins. When
  // the last version is made, each has at most one model that did not come back as a gradient.
  EXPECT_GE(downlink, 300 * 800);
  EXPECT_LE(downlink, 304 * 800);
  EXPECT_EQ(last("delta"), "");
  EXPECT_GT(std::stod(last("wall_s")), 0);
  EXPECT_EQ(last("virtual_s"), "");
  EXPECT_EQ(last("model_time_s"), "");
  const auto losses = column(iterations(), "loss");
  EXPECT_LT(std::stod(losses.back()), std::stod(losses.front()));
  EXPECT_EQ(nlohmann::json::parse(read_text(only_run() / "status.json"))["processes"], 3);
  EXPECT_EQ(residuum_program({"report", "results/tiny"}, folder_.path()).code, 0);
  EXPECT_THAT(run_on(2, study).err, HasSubstr("done before"));
}

TEST_F(RealRuns, SayHowManyProcessesTheyNeed) {
  const std::string asp = real_study("kind = \"asp\"", 10);
  const Finished alone = run(asp);
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("4 workers"), HasSubstr("mpirun -n 5")));
  const Finished many = run_on(6, asp);
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err, AllOf(HasSubstr("6 processes"), HasSubstr("mpirun -n 5")));
  const Finished nodes = run_on(4, real_study("kind = \"inhad\"\nnodes = 2\nquota = 4", 10));
  EXPECT_EQ(nodes.code, 2);
  EXPECT_THAT(nodes.err, AllOf(HasSubstr("2 nodes"), HasSubstr("mpirun -n 3")));
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(RealRuns, SayOnceWhatIsWrong) {
  folder_.write("s.toml", real_study("kind = \"asp\"\nspeed = 1", 10));
  for (const auto& options :
       std::vector<std::vector<std::string>>{{"--checkpoint-every", "0"}, {}}) {
    const Finished finished = run_program(command(3, options), folder_.path());
    EXPECT_EQ(finished.code, 2);
    EXPECT_NE(finished.err.find("error: "), std::string::npos);
    EXPECT_EQ(finished.err.find("error: "), finished.err.rfind("error: "));
  }
}

TEST_F(RealRuns, CountHowStaleTheirGradientsAre) {
  const Finished finished =
      run_on(3, real_study("kind = \"ssp\"\nstaleness = 1", 40) + "[probes]\nstaleness = true\n");
  ASSERT_EQ(finished.code, 0) << finished.err;
  const std::string table = read_text(only_run() / "staleness.csv");
  const auto versions = column(table, "iteration");
  const auto counts = column(table, "gradients");
  double gradients = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    gradients += versions[i] == versions.back() ? std::stod(counts[i]) : 0;
  }
  EXPECT_EQ(gradients, 40);  // a version is one gradient, and the last row counts all
}

TEST_F(RealRuns, ArePlannedOnAsManyProcessesAsTheyCanHave) {
  for (const auto& [protocol, tasks] :
       {std::pair("kind = \"asp\"", "--ntasks=5\n"),
        std::pair("kind = \"inhad\"\nnodes = 2\nquota = 4", "--ntasks=3\n")}) {
    folder_.write("s.toml", real_study(protocol, 10));
    const Finished planned =
        residuum_program({"plan", "s.toml", "--format", "slurm"}, folder_.path());
    EXPECT_THAT(planned.out, HasSubstr(tasks));
  }
}

TEST_F(RealRuns, RefuseWhatTheirServerCannotSee) {
  const std::string asp = real_study("kind = \"asp\"", 10);
  for (const char* probes : {"names = [\"delta\"]", "workers = true"}) {
    const Finished finished = run(asp + "[probes]\n" + probes + "\n");
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, HasSubstr("the gradient of every worker"));
    EXPECT_THAT(finished.err, HasSubstr("execution = \"simulated\""));
  }
  folder_.write("s.toml", asp);
  const Finished verified = residuum_program({"verify", "s.toml"}, folder_.path());
  EXPECT_EQ(verified.code, 2);
  EXPECT_THAT(verified.err, HasSubstr("not bit-reproducible"));
}

}  // namespace
}  // namespace residuum
