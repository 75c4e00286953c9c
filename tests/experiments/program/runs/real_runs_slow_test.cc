// Real runs at random, and runs whose processes are killed or stopped: the others name them and end
// in time, and the same command goes on from the last checkpoint.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/experiments/lost_processes.h"

namespace residuum {
namespace {

using testing::HasSubstr;

struct LossCase {
  const char* protocol;
  int rank;
  int signal;
  const char* hosted;
};

class LostProcesses : public WithLostProcesses, public testing::WithParamInterface<LossCase> {};

TEST_P(LostProcesses, AreNamedAndTheRunGoesOnLater) {
  const LossCase& lost = GetParam();
  folder_.write("s.toml", real_study(lost.protocol, 100'000'000));
  auto words = command(3, {"--checkpoint-every", "1s"});
  words.insert(words.begin(), kOutlive.begin(), kOutlive.end());
  const Started launcher(words, folder_.path());
  const pid_t process = process_of(launcher, lost.rank);
  ASSERT_NE(process, 0);
  ASSERT_TRUE(wait_for_checkpoint());
  const auto all = launcher.children();
  ASSERT_EQ(kill(process, lost.signal), 0);
  const auto started = std::chrono::steady_clock::now();
  const int status = launcher.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  kill(process, SIGKILL);  // mpirun may have left it stopped
  wait_for_the_end_of(all);

  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const std::string said = read_text(folder_.path() / "captured.err");
  EXPECT_THAT(said, HasSubstr(fmt::format("process {} is lost", lost.rank)));
  EXPECT_THAT(said, HasSubstr(lost.hosted));
  RecordProperty("seconds", std::to_string(took.count()));

  // The run goes on, and ends on request. Times are measured, so that rows show which run has
  // written them.
  const std::string before = read_text(only_run() / "iterations.csv.part");
  const std::string first_rows = before.substr(0, before.size() / 4);
  const Started again(command(3, {"--time-limit", "2s"}), folder_.path());
  EXPECT_EQ(WEXITSTATUS(again.wait()), 124) << read_text(folder_.path() / "captured.err");
  const std::string after = read_text(only_run() / "iterations.csv.part");
  EXPECT_EQ(after.substr(0, first_rows.size()), first_rows);
  const auto versions = column(after, "version");
  EXPECT_GT(versions.size(), 20U);
  for (std::size_t i = 1; i < versions.size(); ++i) {
    EXPECT_GT(std::stoull(versions[i]), std::stoull(versions[i - 1]));
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfServersAndWorkers,
    LostProcesses,
    testing::Values(LossCase{"kind = \"asp\"", 0, SIGKILL, "It hosted the server"},
                    LossCase{"kind = \"asp\"", 1, SIGKILL, "It hosted workers 0 to 1"},
                    LossCase{
                        "kind = \"ssp\"\nstaleness = 2", 2, SIGSTOP, "It hosted workers 2 to 3"},
                    LossCase{"kind = \"inhad\"\nnodes = 2\nquota = 3\nstaleness = 2\ncap = 2",
                             2,
                             SIGKILL,
                             "It hosted workers 2 to 3"},
                    LossCase{"kind = \"inhad\"\nnodes = 2\nquota = 3\nstaleness = 2\ncap = 2",
                             0,
                             SIGSTOP,
                             "It hosted the server"}));

/// Returns the keys of a random protocol for 10 workers, one a line.
std::string random_protocol(std::mt19937& random) {
  const auto one_of = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  switch (one_of(0, 2)) {
    case 0:
      return "protocol.kind = \"asp\"\n";
    case 1:
      return fmt::format("protocol.kind = \"ssp\"\nprotocol.staleness = {}\n", one_of(0, 4));
    default: {
      const int cap = one_of(1, 3);
      return fmt::format(
          "protocol.kind = \"inhad\"\nprotocol.nodes = {}\nprotocol.quota = {}\n"
          "protocol.staleness = {}\nprotocol.cap = {}\nprotocol.weights = \"{}\"\n",
          5 * one_of(1, 2),
          one_of(1, cap * 10),
          one_of(0, 3),
          cap,
          one_of(0, 1) == 0 ? "plain" : "per-worker");
    }
  }
}

/// Returns the largest staleness that the protocol of a run allows (theory 10.2 and 10.3).
std::uint64_t bound_on_staleness(const nlohmann::json& protocol, int versions) {
  const std::string kind = protocol["kind"];
  const auto s = protocol.value("staleness", std::uint64_t{0});
  return kind == "inhad" ? s
         : kind == "ssp" ? (2 * s + 1) * 9
                         : static_cast<std::uint64_t>(versions);
}

class RandomRealRuns : public RealRuns, public testing::WithParamInterface<int> {};

TEST_P(RandomRealRuns, AllEndWithinTheirBoundOnStaleness) {
  constexpr int kVersions = 30;
  constexpr int kPoints = 40;
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  std::string study = real_study("kind = \"asp\"", kVersions) + "[probes]\nevery = 1\n";
  study.replace(study.find("count = 4"), 9, "count = 10");
  for (int i = 0; i < kPoints; ++i) {
    // Equal points would be one run.
    study += fmt::format("[[point]]\nstep.value = 0.00{}\n{}", i + 10, random_protocol(random));
  }
  const Finished finished = run_on(GetParam(), study);
  ASSERT_EQ(finished.code, 0) << finished.err;

  int runs = 0;
  for (const auto& folder : std::filesystem::directory_iterator(results() / "runs")) {
    const auto config = nlohmann::json::parse(read_text(folder.path() / "config.json"));
    const auto& protocol = config["config"]["protocol"];
    SCOPED_TRACE(protocol.dump());
    const auto staleness = column(read_text(folder.path() / "iterations.csv"), "staleness_max");
    ASSERT_EQ(staleness.size(), std::size_t{kVersions});
    for (const std::string& one : staleness) {
      EXPECT_LE(std::stoull(one), bound_on_staleness(protocol, kVersions));
    }
    ++runs;
  }
  EXPECT_GE(runs, kPoints);
}

INSTANTIATE_TEST_SUITE_P(OnProcesses, RandomRealRuns, testing::Range(2, 7));

}  // namespace
}  // namespace residuum
