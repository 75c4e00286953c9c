// A run that was stopped goes on to the same bytes as one that was not.

#include "tests/experiments/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace residuum {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    study_ = folder_.write("s.toml", kept_study(600)).string();
    const Finished whole = residuum_program({"run", study_, "--out", "whole"}, folder_.path());
    ASSERT_EQ(whole.code, 0) << whole.err;
    whole_ = run_tables(folder_.path() / "whole");
    ASSERT_EQ(whole_.size(), 10U);
  }
  std::vector<std::string> command(const char* out) const {
    return {RESIDUUM_PROGRAM,
            "run",
            study_,
            "--out",
            out,
            "--progress=none",
            "--checkpoint-every",
            "0.02s"};
  }

  TemporaryFolder folder_;
  std::string study_;
  std::map<std::string, std::string> whole_;
};

TEST_F(Resume, GoesOnToTheSameBytesAfterASignal) {
  int stops = 0;
  int code = -1;
  for (int tries = 0; tries < 100 && code != 0; ++tries) {
    const auto patience = milliseconds(200 + 20 * tries);
    const int status = start_and_signal(command("kept"), folder_.path(), patience, SIGTERM);
    // A signal that comes before the program minds signals ends it like any other.
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ASSERT_TRUE(code == 0 || code == 75 || code == -1)
        << code << read_text(folder_.path() / "captured.err");
    stops += code == 75 ? 1 : 0;
  }
  ASSERT_EQ(code, 0);

  EXPECT_GE(stops, 3);
  EXPECT_EQ(run_tables(folder_.path() / "kept"), whole_);
}

}  // namespace
}  // namespace residuum
