// `residuum verify` as a user starts and stops it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <sys/wait.h>
#include <thread>

#include "tests/experiments/resume.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class Verify : public TinyStudy {};

TEST_F(Verify, TakesOneListOfProcessCountsAndThenTheStudy) {
  folder_.write("s.toml", kStudy);
  const Finished verify = residuum_program({"verify", "--ranks", "1,2", "s.toml"}, folder_.path());
  EXPECT_EQ(verify.code, 0) << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("PASS"));
}

TEST_F(Verify, KeepsTheResultsOfAnotherStudy) {
  std::string other = kStudy;
  other.replace(other.find("\"tiny\""), 6, "\"other\"");
  ASSERT_EQ(run(other, {"--out", "v/ranks-1"}).code, 0);
  folder_.write("s.toml", kStudy);

  const Finished verify =
      residuum_program({"verify", "--ranks", "1,2", "--out", "v", "s.toml"}, folder_.path());

  EXPECT_EQ(verify.code, 2);
  EXPECT_THAT(verify.err,
              HasSubstr("v/ranks-1 holds the results of study 'other', this one is 'tiny'; give "
                        "another --out"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "v" / "ranks-1" / "iterations.csv"));
}

TEST_F(Verify, RefusesMeasuredSeconds) {
  folder_.write("s.toml", kStudy);
  const auto answer = [&](const std::string& setting) {
    const Finished verify =
        residuum_program({"verify", "s.toml", "--set", setting}, folder_.path());
    EXPECT_EQ(verify.code, 2);
    return verify.err;
  };

  EXPECT_THAT(answer("network.local=measured"),
              HasSubstr("'network.local' at --set: measured seconds differ from run to run, and "
                        "virtual time with them, so there is nothing to verify; use --set "
                        "network.local=none"));
  EXPECT_THAT(answer("protocol.compute=measured"), HasSubstr("--set protocol.compute=0.01"));
}

/// Starts a verification without end on two processes, and waits until the first run has begun.
class EndlessVerify : public Verify {
 protected:
  EndlessVerify() {
    folder_.write("s.toml", kStudy);
    verify_.emplace(words(), folder_.path());
    const auto runs = folder_.path() / "results" / "tiny-verify" / "ranks-2" / "runs";
    wait_for([&] { return std::filesystem::exists(runs); });
  }

  static std::vector<std::string> words() {
    return {RESIDUUM_PROGRAM,
            "verify",
            "s.toml",
            "--ranks",
            "2",
            "--set",
            "budget.iterations=2000000000",
            "--set",
            "probes.every=1000000"};
  }
  static bool wait_for(const std::function<bool()>& condition) {
    constexpr auto kStep = std::chrono::milliseconds(20);
    constexpr auto kPatience = std::chrono::seconds(60);
    const auto begin = std::chrono::steady_clock::now();
    while (!condition() && std::chrono::steady_clock::now() - begin < kPatience) {
      std::this_thread::sleep_for(kStep);
    }
    return condition();
  }

  std::optional<Started> verify_;
};

TEST_F(EndlessVerify, PassesARequestToStopOnToWhatItHasStarted) {
  const auto launchers = verify_->children();
  ASSERT_EQ(launchers.size(), 1U) << read_text(folder_.path() / "captured.err");

  kill(verify_->process(), SIGTERM);
  const int status = verify_->wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 75);
  EXPECT_EQ(kill(launchers.front(), 0), -1) << "mpirun is still there";
  EXPECT_THAT(read_text(folder_.path() / "captured.err"), HasSubstr("stopped on request"));
}

TEST_F(EndlessVerify, KeepsASecondOneOutAndLeavesNothingWhenItIsKilled) {
  const auto launchers = verify_->children();
  ASSERT_EQ(launchers.size(), 1U) << read_text(folder_.path() / "captured.err");
  const Finished second = residuum_program({"verify", "s.toml"}, folder_.path());
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("another process verifies in results/tiny-verify"));

  kill(verify_->process(), SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(verify_->wait()));
  // It is a child of this process now, if another test has run a compressor's program here.
  EXPECT_TRUE(wait_for([&] {
    waitpid(launchers.front(), nullptr, WNOHANG);
    return kill(launchers.front(), 0) == -1;
  })) << "mpirun is still there";
}

}  // namespace
}  // namespace residuum
