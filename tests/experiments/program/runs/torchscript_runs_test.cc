// Studies on the module of a TorchScript file (tests/objectives/torch/pooled.pt), as a user runs
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TorchscriptRun : public ::testing::Test {
 protected:
  void SetUp() override {
    RESIDUUM_NEEDS_NETWORKS();
    std::filesystem::copy_file(RESIDUUM_STUDIES "/../tests/objectives/torch/pooled.pt",
                               folder_.path() / "model.pt");
    folder_.write("s.toml", R"(schema = 1
name = "s"
[objective]
kind = "torchscript"
model = "model.pt"
rows = 60
device = "cpu"
[workers]
count = 2
batch = 4
[sparsifier]
kind = "top-k"
k = 5
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.1
[budget]
iterations = 6
)");
  }

  Finished call(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }

  /// Returns the line on standard error of a command that must fail as a mistake of the user.
  std::string refusal(const std::vector<std::string>& arguments) const {
    const Finished finished = call(arguments);
    EXPECT_EQ(finished.code, 2) << finished.out << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    return finished.err;
  }

  TemporaryFolder folder_;
};

TEST_F(TorchscriptRun, HasTheSameBitsAtOneAndTwoProcesses) {
  const Finished verified = call({"verify", "s.toml", "--ranks", "1,2", "--allow-commands"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_F(TorchscriptRun, NeedsThePermissionOfTheUserToLoadTheFile) {
  for (const char* const command : {"run", "verify"}) {
    EXPECT_THAT(refusal({command, "s.toml"}),
                AllOf(HasSubstr("'objective.model' at s.toml:5"),
                      HasSubstr("executes 'model.pt'"),
                      HasSubstr("--allow-commands")));
  }
  // Without the file nothing is known of the sizes that a plan shows.
  EXPECT_THAT(refusal({"plan", "s.toml"}),
              AllOf(HasSubstr("'objective.kind' at s.toml:4"), HasSubstr("--allow-commands")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "results"));
  EXPECT_EQ(call({"plan", "s.toml", "--allow-commands"}).code, 0);
  EXPECT_THAT(call({"plan", "s.toml", "--allow-commands", "--layers"}).out,
              AllOf(HasSubstr("out.weight"), HasSubstr("10x4")));
  EXPECT_THAT(call({"plan", "s.toml", "--allow-commands", "--format", "slurm"}).out,
              HasSubstr("--allow-commands"));
}

TEST_F(TorchscriptRun, IsReportedListedAndComparedWithoutTheFile) {
  ASSERT_EQ(call({"run", "s.toml", "--allow-commands", "--progress=none"}).code, 0);
  std::filesystem::remove(folder_.path() / "model.pt");

  EXPECT_EQ(call({"report", "results/s"}).code, 0);
  EXPECT_EQ(call({"compare", "results/s", "results/s"}).code, 0);
  EXPECT_THAT(call({"list", "objectives"}).out, HasSubstr("torchscript"));
  EXPECT_THAT(refusal({"run", "s.toml", "--allow-commands"}), HasSubstr("model.pt"));
}

TEST_F(TorchscriptRun, OfAnotherFileInTheSameFolderIsRefused) {
  ASSERT_EQ(call({"run", "s.toml", "--allow-commands", "--progress=none"}).code, 0);
  std::string model = read_text(folder_.path() / "model.pt");
  const auto place = model.rfind("PK\5\6");
  ASSERT_NE(place, std::string::npos);
  model.replace(model.size() - 2, 2, std::string("\2\0ok", 4));  // a comment of two bytes
  folder_.write("model.pt", model);

  EXPECT_THAT(refusal({"run", "s.toml", "--allow-commands", "--set", "budget.iterations=7"}),
              HasSubstr("of other data"));
}

TEST_F(TorchscriptRun, OfAFileThatIsNoTorchscriptIsRefused) {
  folder_.write("model.pt", "no archive");
  EXPECT_THAT(refusal({"run", "s.toml", "--allow-commands"}),
              AllOf(HasSubstr("model.pt: is no TorchScript file"), Not(HasSubstr("Traceback"))));
}

}  // namespace
}  // namespace residuum
