// Other programs start where they are told to, end with us, and tell how they
// ended.

#include "core/child_program.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "core/output_file.h"

namespace residuum {
namespace {

int code_of(const std::string& script, bool is_apart = false) {
  std::error_code failure;
  const auto end =
      run_program_to_end({.words = {"sh", "-c", script}, .is_apart = is_apart}, failure);
  EXPECT_FALSE(failure) << failure.message();
  return end ? end->code : -1;
}

TEST(ChildProgram, ReturnsItsExitCodeOrThatOfItsSignal) {
  EXPECT_EQ(code_of("exit 3"), 3);
  EXPECT_EQ(code_of("kill -TERM $$"), 128 + SIGTERM);
}

TEST(ChildProgram, SaysWhyItCannotStart) {
  std::error_code failure;
  EXPECT_FALSE(run_program_to_end({.words = {"no-such-program-here"}}, failure));
  EXPECT_EQ(failure, std::errc::no_such_file_or_directory);
  EXPECT_FALSE(run_program_to_end({.words = {"true"}, .folder = "/dev/null"}, failure));
  EXPECT_EQ(failure, std::errc::not_a_directory);
  EXPECT_TRUE(run_program_to_end({.words = {"true"}}, failure));
  EXPECT_FALSE(failure);
}

TEST(ChildProgram, WorksInItsFolderAndWritesToItsStream) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor ours(ends[0]);
  std::error_code failure;
  {
    const Descriptor theirs(ends[1]);
    EXPECT_TRUE(run_program_to_end({.words = {"sh", "-c", "pwd; echo unseen >&2; cat"},
                                    .folder = "/dev",
                                    .streams = {ProgramStart::kNowhere, theirs.get(), -1}},
                                   failure));
  }
  std::string said(100, ' ');
  said.resize(static_cast<std::size_t>(read(ours.get(), said.data(), said.size())));
  EXPECT_EQ(said, "/dev\n");
}

TEST(ChildProgram, TakesASignalThatWeIgnoreOnlyApart) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(code_of("kill -HUP $$; exit 4"), 4);
  EXPECT_EQ(code_of("kill -HUP $$; exit 4", /*is_apart=*/true), 128 + SIGHUP);
  std::signal(SIGHUP, before);
}

TEST(ChildProgram, CountsItsProcessorTime) {
  std::error_code failure;
  const auto end = run_program_to_end(
      {.words = {"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"}}, failure);
  ASSERT_TRUE(end);
  EXPECT_GT(end->cpu_seconds, 0.001);
}

/// The other end of the pipe closes when all who have it have ended.
TEST(ChildProgram, EndsWhenItsStarterIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t starter = fork();
  if (starter == 0) {
    std::error_code failure;
    start_program({.words = {"sh", "-c", "echo; exec sleep 600"},
                   .streams = {ProgramStart::kNowhere, theirs.get(), ProgramStart::kNowhere}},
                  failure);
    pause();
    _exit(0);
  }
  EXPECT_TRUE(theirs.close());
  std::array<char, 2> heard{};
  ASSERT_EQ(read(ours.get(), heard.data(), heard.size()), 1);  // it is at work
  kill(starter, SIGKILL);
  waitpid(starter, nullptr, 0);
  EXPECT_EQ(read(ours.get(), heard.data(), heard.size()), 0);
}

}  // namespace
}  // namespace residuum
