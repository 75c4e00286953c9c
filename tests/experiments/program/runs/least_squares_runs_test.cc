// Studies of problems with many classes or with targets, as a user runs them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string study_of_rows(const std::string& kind) {
  return "schema = 1\nname = \"s\"\n[objective]\nkind = \"" + kind + R"("
rows = 80
features = 6
[workers]
count = 2
batch = 8
[step]
value = "0.5/L"
[budget]
iterations = 40
[probes]
evaluate = 1
)";
}

std::vector<std::string> last_row(const TemporaryFolder& folder,
                                  const std::vector<std::string>& columns) {
  reports::CsvReader reader(folder.path() / "results" / "s" / "iterations.csv");
  std::vector<std::string> values;
  while (reader.next()) {
    values.clear();
    for (const auto& column : columns) {
      values.push_back(reader.text(reader.column(column)));
    }
  }
  return values;
}

TEST(RowStudies, OfLeastSquaresHaveAHeldOutLossAndNoAccuracy) {
  const TemporaryFolder folder;
  folder.write("s.toml", study_of_rows("least-squares"));

  const Finished finished = residuum_program({"run", "s.toml", "--progress=lines"}, folder.path());

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("loss gap"), Not(HasSubstr("accuracy"))));
  const auto row = last_row(folder, {"test_loss", "test_accuracy", "loss_gap"});
  ASSERT_EQ(row.size(), 3U);
  EXPECT_GT(std::stod(row[0]), 0);
  EXPECT_EQ(row[1], "");
  EXPECT_GE(std::stod(row[2]), 0);
}

TEST(RowStudies, OfSoftmaxHaveBoth) {
  const TemporaryFolder folder;
  folder.write("s.toml", study_of_rows("softmax"));

  const Finished finished = residuum_program({"run", "s.toml", "--progress=none"}, folder.path());

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("loss gap"), HasSubstr("accuracy")));
  const auto row = last_row(folder, {"test_loss", "test_accuracy", "loss_gap"});
  ASSERT_EQ(row.size(), 3U);
  EXPECT_GT(std::stod(row[1]), 0);
  EXPECT_GE(std::stod(row[2]), 0);
}

}  // namespace
}  // namespace residuum
