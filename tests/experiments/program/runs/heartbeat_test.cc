// A heartbeat says where a run is, also where it writes no rows; it is written whole and through no
// link.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "experiments/program/runs/run_maker.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Waits until it holds, for a minute at most; returns whether it does.
bool comes_true(const std::function<bool()>& holds) {
  for (int tries = 0; tries < 6000 && !holds(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return holds();
}

/// Returns what a heartbeat says; an empty object where there is none.
nlohmann::json heartbeat_in(const fs::path& file) {
  return fs::exists(file) ? nlohmann::json::parse(read_text(file), nullptr, false)
                          : nlohmann::json::object();
}

/// A slow disk would make the tests wait.
constexpr Heartbeat::Pace kOften{.period = std::chrono::milliseconds(1), .times = 1};

class HeartbeatFile : public testing::Test {
 protected:
  OutputPath run() const { return OutputPath::named(folder_.path()) / "run"; }
  fs::path file() const { return folder_.path() / "run" / "heartbeat.json"; }
  bool says(const char* key, int value) const {
    return comes_true([&] { return heartbeat_in(file()).value(key, -1) == value; });
  }
  void SetUp() override { fs::create_directory(folder_.path() / "run"); }
  TemporaryFolder folder_;
};

TEST_F(HeartbeatFile, SaysWhereTheRunIs) {
  Heartbeat heartbeat(kOften);
  heartbeat.begin(run(), 30);
  EXPECT_TRUE(says("iteration", 30)) << "where a checkpoint has it go on";
  EXPECT_TRUE(says("pilot", 0));
  heartbeat.pilot(2, 7);
  EXPECT_TRUE(says("pilot", 2));
  EXPECT_TRUE(says("iteration", 7));
  heartbeat.pilot(0, 0);
  heartbeat.iteration(8);
  EXPECT_TRUE(says("iteration", 8));
  EXPECT_GT(heartbeat_in(file())["every_s"], 0.0);
}

TEST_F(HeartbeatFile, CountsThePaceFromWhereTheTrainingBegan) {
  Heartbeat heartbeat(kOften);
  heartbeat.begin(run(), 30);
  EXPECT_TRUE(says("resumed_at", 30));
  const auto trained = [&] { return heartbeat_in(file()).value("trained_s", -1.0); };
  EXPECT_TRUE(comes_true([&] { return trained() > 0.05; }));
  heartbeat.pilot(1, 7);
  EXPECT_TRUE(says("pilot", 1));
  heartbeat.pilot(0, 0);
  EXPECT_TRUE(says("resumed_at", 0)) << "pilots are no training";
}

TEST_F(HeartbeatFile, GoesOnAfterABeatThatCouldNotBeWritten) {
  fs::remove(folder_.path() / "run");
  Heartbeat heartbeat(kOften);
  heartbeat.begin(run(), 4);
  std::this_thread::sleep_for(20 * kOften.period);
  fs::create_directory(folder_.path() / "run");
  EXPECT_TRUE(says("iteration", 4));
}

TEST_F(HeartbeatFile, GoesWithItsRun) {
  std::ofstream(file()) << R"({"iteration": 99, "pilot": 0, "every_s": 1})";
  Heartbeat heartbeat;  // the first beat is a second away
  heartbeat.begin(run(), 0);
  EXPECT_FALSE(fs::exists(file())) << "an earlier start was killed";
  heartbeat.end();

  Heartbeat often(kOften);
  often.begin(run(), 1);
  ASSERT_TRUE(says("iteration", 1));
  often.end();
  EXPECT_FALSE(fs::exists(file()));
  often.iteration(2);
  often.begin(run(), 3);
  EXPECT_TRUE(says("iteration", 3)) << "one thread does it for all runs";
}

TEST_F(HeartbeatFile, WritesThroughNoLink) {
  folder_.write("precious", "mine");
  fs::create_symlink(folder_.path() / "precious", file());
  Heartbeat heartbeat(kOften);
  heartbeat.begin(run(), 5);
  EXPECT_TRUE(says("iteration", 5));
  EXPECT_EQ(read_text(folder_.path() / "precious"), "mine");
  heartbeat.end();

  // The folder of a run may be a link that leads out of the results; nothing is written there.
  fs::create_directory(folder_.path() / "elsewhere");
  fs::create_directory_symlink(folder_.path() / "elsewhere", folder_.path() / "linked");
  heartbeat.begin(OutputPath::named(folder_.path()) / "linked", 6);
  std::this_thread::sleep_for(20 * kOften.period);
  heartbeat.end();
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
}

/// Runs of the program that are killed.
class BeatingRuns : public TinyStudy {
 protected:
  /// Starts an endless study and kills it once a heartbeat has this.
  void run_until(const std::string& study,
                 const std::function<bool(const nlohmann::json&)>& holds) const {
    const std::string path = folder_.write("s.toml", study).string();
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.path().c_str()) == 0) {
        execl(RESIDUUM_PROGRAM, RESIDUUM_PROGRAM, "run", path.c_str(), "--progress=none", nullptr);
      }
      _exit(127);
    }
    EXPECT_TRUE(comes_true([&] { return holds(heartbeat()); })) << heartbeat();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  nlohmann::json heartbeat() const {
    const fs::path runs = results() / "runs";
    if (fs::exists(runs)) {
      for (const auto& run : fs::directory_iterator(runs)) {
        if (fs::exists(run.path() / "heartbeat.json")) {
          return heartbeat_in(run.path() / "heartbeat.json");
        }
      }
    }
    return nlohmann::json::object();
  }
  static std::string endless() {
    std::string study = kStudy;
    study.replace(study.find("iterations = 40"), 15, "iterations = 4000000");
    study.replace(study.find("every = 1"), 9, "every = { geometric = 2.0 }");
    return study;
  }
};

TEST_F(BeatingRuns, SayHowFarTheyAreBetweenTheirRows) {
  run_until(endless(), [](const auto& beat) { return beat.value("iteration", 0) > 0; });
  const Finished watched = residuum_program({"watch", "--once", "results/tiny"}, folder_.path());
  EXPECT_EQ(watched.code, 0) << watched.err;
  EXPECT_THAT(watched.out,
              HasSubstr(std::to_string(heartbeat()["iteration"].get<int>()) + " of 4000000 ("));

  // A run that has come to its end has no heartbeat any more.
  ASSERT_EQ(run(kStudy).code, 0);
  for (const auto& one : fs::directory_iterator(results() / "runs")) {
    const bool is_done = fs::exists(one.path() / "iterations.csv");
    EXPECT_FALSE(is_done && fs::exists(one.path() / "heartbeat.json"));
  }
}

TEST_F(BeatingRuns, SayHowFarTheirPilotsAre) {
  std::string study = endless();
  study.replace(study.find("kind = \"top-k\"\nk = 2"),
                20,
                "kind = \"hard-threshold\"\ndensity = 0.1\nthreshold = \"matched\"");
  study.replace(study.find("kind = \"gtopk-tree\""), 19, "kind = \"allgather\"");
  run_until(study, [](const auto& beat) {
    return beat.value("pilot", 0) == 1 && beat.value("iteration", 0) > 0;
  });
  const Finished watched =
      residuum_program({"watch", "--once", "--plot", "results/tiny"}, folder_.path());
  EXPECT_THAT(watched.out, HasSubstr("pilot 1: "));
  EXPECT_THAT(watched.out, HasSubstr("\n  delta "));
}

}  // namespace
}  // namespace residuum
