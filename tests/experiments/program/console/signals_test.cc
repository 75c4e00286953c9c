// Requests to stop by signals, and what a second one does.

#include "experiments/program/console/signals.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace residuum {
namespace {

/// Returns the wait status of a process that sends itself INT twice, with this pause, and then
/// exits with 7 if a stop was requested.
int interrupt_twice(std::chrono::milliseconds pause) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    catch_stop_signals();
    std::raise(SIGINT);
    std::this_thread::sleep_for(pause);
    std::raise(SIGINT);
    _exit(stop_requested().load() ? 7 : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Signals, OneRequestThatComesTwiceIsOne) {
  const int status = interrupt_twice(std::chrono::milliseconds(1));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Signals, ASecondInterruptEndsTheProgram) {
  const int status = interrupt_twice(std::chrono::milliseconds(2100));
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

}  // namespace
}  // namespace residuum
