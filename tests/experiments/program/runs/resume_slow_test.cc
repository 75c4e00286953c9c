// A run that was killed at random moments, or went on at another number of processes, ends with
// the bytes of one that was left alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random/random.h"
#include "tests/experiments/resume.h"

namespace residuum {
namespace {

using std::chrono::microseconds;

const std::string kNetwork = R"(schema = 1
name = "kept"
seeds = 1
[objective]
kind = "lenet"
data = "synthetic-images"
rows = 120
[workers]
count = 4
batch = 4
[sparsifier]
kind = "top-k"
density = 0.01
scope = "layer"
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.02
momentum = 0.9
[budget]
iterations = 120
[probes]
times = false
every = 1
workers = true
layers = "all"
)";

class ResumeSlow : public testing::Test {
 protected:
  void finish_whole(const std::string& study) {
    study_ = folder_.write("s.toml", study).string();
    const auto begin = std::chrono::steady_clock::now();
    const Finished whole = residuum_program({"run", study_, "--out", "whole"}, folder_.path());
    ASSERT_EQ(whole.code, 0) << whole.err;
    whole_us_ =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    whole_ = run_tables(folder_.path() / "whole");
  }
  std::vector<std::string> command() const {
    return {RESIDUUM_PROGRAM,
            "run",
            study_,
            "--out",
            "kept",
            "--progress=none",
            "--checkpoint-every",
            "0.02s"};
  }
  bool has_checkpoint() const {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_.path() / "kept" / "runs")) {
      if (entry.path().filename().string().starts_with("state-")) {
        return true;
      }
    }
    return false;
  }
  /// Kills the run again and again, `kills` times after it has left its first checkpoint, and then
  /// lets it end.
  void kill_and_resume(int kills, std::uint32_t seed) {
    RandomStream random(1, Purpose::test, seed, 0);
    int killed = 0;
    for (int tries = 0; tries < 20 * kills && killed < kills; ++tries) {
      // As long as a run may take here, however busy the machine is.
      const auto patience = static_cast<std::int64_t>(whole_us_ * (0.1 + 0.9 * random.uniform()));
      const int status =
          start_and_signal(command(), folder_.path(), microseconds(patience), SIGKILL);
      if (!WIFSIGNALED(status)) {
        // It was done before the signal came: once more from the start.
        ASSERT_EQ(WEXITSTATUS(status), 0) << read_text(folder_.path() / "captured.err");
        ASSERT_EQ(run_tables(folder_.path() / "kept"), whole_);
        std::filesystem::remove_all(folder_.path() / "kept");
        continue;
      }
      const bool begun = std::filesystem::exists(folder_.path() / "kept" / "runs");
      killed += begun && has_checkpoint() ? 1 : 0;
    }
    ASSERT_EQ(killed, kills);
    auto arguments = command();
    arguments.erase(arguments.begin());
    const Finished last = residuum_program(arguments, folder_.path());
    ASSERT_EQ(last.code, 0) << last.err;
  }

  TemporaryFolder folder_;
  std::string study_;
  std::map<std::string, std::string> whole_;
  double whole_us_ = 0;  // wall time of the whole run
};

TEST_F(ResumeSlow, EndsWithTheSameBytesAfterTwentyFourKills) {
  finish_whole(kept_study(20000));
  kill_and_resume(24, 1);

  EXPECT_EQ(run_tables(folder_.path() / "kept"), whole_);
}

TEST_F(ResumeSlow, EndsWithTheSameBytesOnANetworkToo) {
  RESIDUUM_NEEDS_NETWORKS();
  finish_whole(kNetwork);
  kill_and_resume(3, 2);

  EXPECT_EQ(run_tables(folder_.path() / "kept"), whole_);
}

TEST_F(ResumeSlow, EndsWithTheSameBytesAtOtherProcessCounts) {
  finish_whole(kept_study(10));
  int stops = 0;
  int code = 124;
  for (int tries = 0; tries < 60 && code == 124; ++tries) {
    std::vector<std::string> arguments{RESIDUUM_MPIRUN, "-n", std::to_string(1 + tries % 4)};
    const auto own = command();
    arguments.insert(arguments.end(), own.begin(), own.end());
    arguments.insert(arguments.end(), {"--time-limit", "0.000001s"});
    const Finished part = run_program(arguments, folder_.path());
    code = part.code;
    ASSERT_TRUE(code == 0 || code == 124) << part.err;
    stops += code == 124 ? 1 : 0;
  }
  ASSERT_EQ(code, 0);

  EXPECT_GE(stops, 20);  // five runs, two iterations a start, on one to four processes in turn
  EXPECT_EQ(run_tables(folder_.path() / "kept"), whole_);
}

}  // namespace
}  // namespace residuum
