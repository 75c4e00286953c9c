// Programs that are missing, hang, flood, end, answer something else or break what the study claims
// of them: one line, an exit code, and no process that stays.

#include <csignal>
#include <nlohmann/json.hpp>

#include "experiments/program/foreign/child_process.h"
#include "tests/experiments/program/foreign/command_study.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CommandFaults : public CommandStudy {
 protected:
  /// Runs a study of a script of the shell, expects a failed run, and returns the line about it.
  std::string fault_of_script(const std::string& script, const std::string& more = "") const {
    folder_.write("mine.sh", script);
    return fault(command_of({"sh", "mine.sh"}) + more);
  }
  std::string fault(const std::string& sparsifier) const {
    const Finished finished = run(own_study(sparsifier, 20));
    EXPECT_EQ(finished.code, 3) << finished.err;
    std::istringstream lines(finished.err);
    std::string about;
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("command '") != std::string::npos) {
        about = line;
        ++count;
      }
    }
    EXPECT_EQ(count, 1) << finished.err;
    return about;
  }
  /// Runs a study of Python with the frames at hand.
  std::string fault_of_python(const std::string& text, const std::string& more = "") const {
    folder_.write("mine.py", "import sys\nsys.path.insert(0, sys.argv[1])\n" + text);
    return fault(command_of({python_with("numpy"), "mine.py", kOwnCompressors.string()}) + more);
  }
  int written_process() const { return std::stoi(read_text(folder_.path() / "pid")); }
  /// Waits until the command has written its number.
  void wait_for_command() const {
    while (read_text(folder_.path() / "pid").find('\n') == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
};

TEST_F(CommandFaults, OneThatHangsIsKilledWithAllThatItHasStarted) {
  const std::string line =
      fault_of_script("(setsid sleep 600 & echo $! > pid); sleep 600", "timeout_s = 3\n");

  EXPECT_THAT(
      line,
      HasSubstr("command 'sh mine.sh', worker 0, iteration 0: the compressor did not answer "
                "within 3 s, and was killed; 'sparsifier.timeout_s' gives it longer"));
  EXPECT_TRUE(is_gone(written_process()));
}

TEST_F(CommandFaults, OneForEachWorkerAreAllKilled) {
  const std::string line =
      fault_of_script("echo $$ >> pids; sleep 600", "timeout_s = 3\nper_worker = true\n");

  EXPECT_THAT(line, HasSubstr("worker 0"));
  std::istringstream numbers(read_text(folder_.path() / "pids"));
  int count = 0;
  for (int number = 0; numbers >> number; ++count) {
    EXPECT_TRUE(is_gone(number));
  }
  EXPECT_EQ(count, 4);
}

TEST_F(CommandFaults, WhatIsNoAnswerIsQuoted) {
  EXPECT_THAT(fault(command_of({"yes"})), HasSubstr("where the output should begin stands: y"));
  EXPECT_THAT(fault(command_of({"cat"})), HasSubstr("unknown key 'seed'"));
  EXPECT_THAT(fault_of_script("yes warning >&2"), HasSubstr("more than 16 MiB on standard error"));
  EXPECT_THAT(fault_of_script("echo no module >&2; exit 3"),
              HasSubstr("no answer came: it ended with exit code 3; its last line on standard "
                        "error: no module"));
  EXPECT_THAT(fault_of_script("read line; echo '{\"error\": \"not today\"}'; cat > /dev/null"),
              HasSubstr("it refuses the vector: not today"));
  EXPECT_THAT(fault_of_script("read line; printf '{\"error\": \"no\"}\\nmore'; cat > /dev/null"),
              HasSubstr("4 bytes more than its answer"));
}

TEST_F(CommandFaults, AnAnswerOfAnotherShapeOrWithoutEndIsNamed) {
  RESIDUUM_NEEDS_NUMPY();
  EXPECT_THAT(fault_of_python("from frames_numpy import serve\nserve(lambda x: x[:3])\n"),
              HasSubstr("the output: the shape is (3,), not (20)"));
  EXPECT_THAT(
      fault_of_python("from frames_numpy import serve\nserve(lambda x: x / 0)\n"),
      HasSubstr("worker 0, iteration 0: the answer to finite numbers is not finite: entry"));
  EXPECT_THAT(fault_of_python("from frames_numpy import Answer, serve\n"
                              "serve(lambda x: Answer(x, bytes(100000)))\n"),
              HasSubstr("'bytes' is 100000, more than"));
}

TEST_F(CommandFaults, OneThatDiesInMidRunIsNamedWithWorkerAndIteration) {
  RESIDUUM_NEEDS_NUMPY();
  const std::string line = fault_of_python(
      "from frames_numpy import serve\n"
      "left = 9\n"
      "def mine(x):\n"
      "    global left\n"
      "    left -= 1\n"
      "    if left < 0: raise ValueError('out of luck')\n"
      "    return x\n"
      "serve(mine)\n");

  EXPECT_THAT(line,
              AllOf(HasSubstr("worker 1, iteration 2: no answer came: it ended with exit code 1"),
                    HasSubstr("ValueError: out of luck")));
}

TEST_F(CommandFaults, AFaultOnOneProcessEndsTheRunOnAll) {
  const std::string study = own_study(
      command_of({"sh", "-c", "echo $$ >> pids; read line; exit 3"}) + "per_worker = true\n", 20);

  const Finished finished = run_on(2, study, "out");

  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("worker 0, iteration 0: no answer came: it ended with exit"));
  EXPECT_THAT(finished.err, Not(HasSubstr("MPI_ABORT")));
  std::istringstream numbers(read_text(folder_.path() / "pids"));
  for (int number = 0; numbers >> number;) {
    EXPECT_TRUE(is_gone(number));
  }
}

// --- Claims of the study -----------------------------------------------------------------------

/// The two files that a line names after --input and --output.
std::vector<std::string> check_words(const std::string& line) {
  const std::string head = "residuum check ";
  std::istringstream words(line.substr(line.find(head) + head.size()));
  std::vector<std::string> all{"check"};
  for (std::string word; words >> word;) {
    all.push_back(word);
  }
  return all;
}

TEST_F(CommandFaults, MoreEntriesThanClaimedEndTheRunAndTheVectorIsSavedForCheck) {
  RESIDUUM_NEEDS_NUMPY();
  const std::string line = fault(python_command("top_k.py", "4") + "k = 3\n");

  EXPECT_THAT(line,
              HasSubstr("worker 0, iteration 0: 4 entries are not zero, but the study claims at "
                        "most k = 3; look with residuum check --k 3 --input results/own/runs/"));
  const Finished checked = residuum_program(check_words(line), folder_.path());
  EXPECT_EQ(checked.code, 4) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("sparsity      violated"));
}

TEST_F(CommandFaults, ABrokenContractionEndsTheRunAndTheVectorIsSavedForCheck) {
  RESIDUUM_NEEDS_NUMPY();
  const std::string line = fault(python_command("top_k_signed.py", "3") + "contraction = 0.15\n");

  EXPECT_THAT(line,
              HasSubstr("|a|^2, but the study claims at most 0.85; look with residuum check "
                        "--contraction 0.15 --input results/own/runs/"));
  const Finished checked = residuum_program(check_words(line), folder_.path());
  EXPECT_EQ(checked.code, 4) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("contraction   violated"));
}

TEST_F(CommandFaults, DrawsBreakTheClaimOfARuleWithoutAny) {
  RESIDUUM_NEEDS_NUMPY();
  EXPECT_THAT(fault(python_command("rand_k.py", "3") + "deterministic = true\n"),
              HasSubstr("worker 0, iteration 0: the same vector with another seed has another "
                        "answer, but the study claims that the rule is deterministic; look with "
                        "residuum check -- "));
}

TEST_F(CommandFaults, AContractionInTheMeanIsBrokenByNoMessage) {
  RESIDUUM_NEEDS_NUMPY();
  const std::string claims = "contraction = 0.15\npathwise = false\n";

  const Finished finished = run(own_study(python_command("top_k_signed.py", "3") + claims, 20));

  EXPECT_EQ(finished.code, 0) << finished.err;
}

TEST_F(CommandFaults, TheVectorsOfAnEarlierStartAreRemoved) {
  RESIDUUM_NEEDS_NUMPY();
  folder_.write("k", "4");
  folder_.write("mine.py",
                "import sys\n"
                "sys.path.insert(0, sys.argv[1])\n"
                "sys.argv[1:] = [open('k').read()]\n"
                "import top_k\n");
  const std::string sparsifier =
      command_of({python_with("numpy"), "mine.py", kOwnCompressors.string()}) + "k = 3\n";
  const auto vectors = [this] {
    const std::filesystem::directory_iterator files(results() / "runs");
    return std::count_if(begin(files), end(files), [](const auto& file) {
      return file.path().extension() == ".npy";
    });
  };
  fault(sparsifier);
  ASSERT_EQ(vectors(), 2);

  folder_.write("k", "3");
  const Finished finished = run(own_study(sparsifier, 20));

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(vectors(), 0);
}

// A checkpoint is not to blame for what the command does after a resume.
TEST_F(CommandFaults, AFaultAfterAResumeLeavesTheCheckpoint) {
  RESIDUUM_NEEDS_NUMPY();
  folder_.write("mine.py",
                "import os, sys\n"
                "sys.path.insert(0, sys.argv[1])\n"
                "if os.path.exists('broken'): sys.exit('broken today')\n"
                "from frames_numpy import serve\n"
                "serve(lambda x: x)\n");
  const std::string study =
      own_study(command_of({python_with("numpy"), "mine.py", kOwnCompressors.string()}), 6);
  ASSERT_EQ(run(study, {"--out", "whole"}).code, 0);
  ASSERT_EQ(run(study, {"--time-limit", "0.000001s"}).code, 124);

  folder_.write("broken", "");
  const Finished broken = run(study);
  std::filesystem::remove(folder_.path() / "broken");
  const Finished mended = run(study);

  EXPECT_EQ(broken.code, 3) << broken.err;
  EXPECT_THAT(broken.err, AllOf(HasSubstr("iteration 2: "), HasSubstr("broken today")));
  EXPECT_EQ(mended.code, 0) << mended.err;
  EXPECT_EQ(run_tables(results()), run_tables(folder_.path() / "whole"));
  for (const auto& file : std::filesystem::recursive_directory_iterator(results())) {
    EXPECT_FALSE(file.path().filename().string().starts_with("refused")) << file.path();
  }
}

// --- Requests to stop ----------------------------------------------------------------------------

TEST_F(CommandFaults, ARequestToStopEndsARunWhoseCommandHangs) {
  folder_.write("mine.sh", "echo $$ > pid; sleep 600");
  const std::string study = own_study(command_of({"sh", "mine.sh"}) + "timeout_s = 600\n", 20);
  const Started started(words_of(study, {"--allow-commands", "--progress=none"}), folder_.path());
  wait_for_command();

  kill(started.process(), SIGTERM);
  const int status = started.wait();

  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 75) << read_text(folder_.path() / "captured.err");
  EXPECT_TRUE(is_gone(written_process()));
}

TEST_F(CommandFaults, ACommandThatHangsIsKilledWithTheProgram) {
  folder_.write("mine.sh", "echo $$ > pid; exec sleep 600");
  const std::string study = own_study(command_of({"sh", "mine.sh"}) + "timeout_s = 600\n", 20);
  const Started started(words_of(study, {"--allow-commands", "--progress=none"}), folder_.path());
  wait_for_command();

  kill(started.process(), SIGKILL);
  started.wait();

  EXPECT_TRUE(is_gone(written_process()));
}

TEST_F(CommandFaults, ARequestToStopEndsARunWhoseCommandAnswersAtACheckpoint) {
  RESIDUUM_NEEDS_NUMPY();
  folder_.write("mine.py",
                "import sys, time\n"
                "sys.path.insert(0, sys.argv[1])\n"
                "from frames_numpy import serve\n"
                "print('begun', file=open('pid', 'w'))\n"
                "def slow(x):\n"
                "    time.sleep(0.01)\n"
                "    return x\n"
                "serve(slow)\n");
  const std::string study =
      own_study(command_of({python_with("numpy"), "mine.py", kOwnCompressors.string()}), 100000);
  const Started started(words_of(study, {"--allow-commands", "--progress=none"}), folder_.path());
  wait_for_command();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));

  kill(started.process(), SIGINT);
  const int status = started.wait();

  EXPECT_EQ(WEXITSTATUS(status), 75) << read_text(folder_.path() / "captured.err");
  EXPECT_THAT(read_text(folder_.path() / "captured.err"), HasSubstr("stopped on request"));
}

TEST(ChildProcess, SeveralEndOneByOne) {
  const ChildProcess::Limits limits{.timeout_s = 60, .more_time = "", .stop_grace_s = 0};
  const auto whole = [](std::string_view bytes) -> std::optional<std::size_t> {
    return bytes.size() < 3 ? std::nullopt : std::optional<std::size_t>(3);
  };
  auto one = std::make_unique<ChildProcess>(std::vector<std::string>{"cat"}, limits);
  ChildProcess other({"cat"}, limits);
  EXPECT_EQ(one->exchange("abc", whole), "abc");

  one.reset();

  EXPECT_EQ(other.exchange("def", whole), "def");
}

}  // namespace
}  // namespace residuum
