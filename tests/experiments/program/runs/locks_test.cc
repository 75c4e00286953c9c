// Two processes for one result folder: the second is refused as long as the first lives, however it
// dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fcntl.h>
#include <signal.h>
#include <thread>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kEndless = R"(schema = 1
name = "endless"
seeds = 1
[objective]
kind = "quadratic"
[step]
value = 0.1
[budget]
iterations = 1000000000
[probes]
names = []
)";

TEST(Locks, KeepASecondProcessOutOfAFolderUntilTheFirstIsKilled) {
  const TemporaryFolder folder;
  const std::string study = folder.write("s.toml", kEndless).string();
  const auto config = folder.path() / "r" / "runs";
  const pid_t first = fork();
  if (first == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    if (chdir(folder.path().c_str()) == 0) {
      execl(RESIDUUM_PROGRAM, RESIDUUM_PROGRAM, "run", study.c_str(), "--out", "r", nullptr);
    }
    _exit(127);
  }
  while (!std::filesystem::exists(config)) {  // its first run has begun; ctest ends a longer wait
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  const std::vector<std::string> again{"run", study, "--out", "r", "--time-limit", "0.001s"};
  const Finished refused = residuum_program(again, folder.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "error: another process is writing r; wait for it or give another --out\n");

  ASSERT_EQ(kill(first, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(first, &status, 0), first);
  const Finished after = residuum_program(again, folder.path());
  EXPECT_EQ(after.code, 124) << after.err;
  EXPECT_THAT(after.err, HasSubstr("out of time"));
}

}  // namespace
}  // namespace residuum
