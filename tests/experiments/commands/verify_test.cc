// `residuum verify` as a user starts and stops it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
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

TEST_F(Verify, PassesARequestToStopOnToWhatItHasStarted) {
  constexpr auto kStep = std::chrono::milliseconds(20);
  constexpr auto kPatience = std::chrono::seconds(60);
  folder_.write("s.toml", kStudy);
  const Started verify({RESIDUUM_PROGRAM,
                        "verify",
                        "s.toml",
                        "--ranks",
                        "2",
                        "--set",
                        "budget.iterations=2000000000",
                        "--set",
                        "probes.every=1000000"},
                       folder_.path());
  const auto runs = folder_.path() / "results" / "tiny-verify" / "ranks-2" / "runs";
  const auto begin = std::chrono::steady_clock::now();
  while (!std::filesystem::exists(runs) && std::chrono::steady_clock::now() - begin < kPatience) {
    std::this_thread::sleep_for(kStep);
  }
  ASSERT_TRUE(std::filesystem::exists(runs)) << read_text(folder_.path() / "captured.err");
  const auto launchers = verify.children();
  ASSERT_EQ(launchers.size(), 1U);

  kill(verify.process(), SIGTERM);
  const int status = verify.wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 75);
  EXPECT_EQ(kill(launchers.front(), 0), -1) << "mpirun is still there";
  EXPECT_THAT(read_text(folder_.path() / "captured.err"), HasSubstr("stopped on request"));
}

}  // namespace
}  // namespace residuum
