// A report in the folder of an earlier one, of the same study in another form.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "reports/page/report.h"
#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

TEST(EarlierReport, LeavesNoFigureBehindAndEveryFileOfTheUser) {
  const TemporaryFolder folder;
  const auto make = [&] { write_report(summarise(folder.path())); };
  SyntheticStudy study;
  study.methods.clear();
  for (const double density : {0.01, 0.1}) {
    for (const int workers : {2, 4}) {
      study.methods.push_back(SyntheticMethod{.density = density, .workers = workers});
    }
  }
  study.write(folder.path());
  make();
  const auto figures = folder.path() / "figures";
  const std::vector<std::string> old{"end-workers-1.csv",
                                     "end-workers-1.curves.csv",
                                     "end-workers-1.gp",
                                     "end-workers-1.tex",
                                     "phase-delta.csv",
                                     "phase-delta.axes.csv",
                                     "phase-delta.gp"};
  for (const auto& name : old) {
    EXPECT_TRUE(std::filesystem::exists(figures / name)) << name;
  }
  const std::vector<std::string> kept{"mine.gp",
                                      "mine.csv",
                                      "mine.svg",
                                      "own.gp",
                                      "own.csv",
                                      "phase-delta.txt",
                                      "end-workers-1-talk.svg",
                                      "notes"};
  for (const auto& name : kept) {
    write_file_atomically(figures / name, "of the user");
  }
  // A copy under another name is the user's own.
  write_file_atomically(figures / "own.gp", read_file(figures / "end-workers-1.gp"));
  std::filesystem::create_directory(figures / "folder.gp");

  study.methods = {SyntheticMethod{}};
  std::filesystem::remove_all(folder.path() / "runs");
  study.write(folder.path());
  make();

  for (const auto& name : old) {
    EXPECT_FALSE(std::filesystem::exists(figures / name)) << name;
  }
  for (const auto& name : kept) {
    EXPECT_TRUE(std::filesystem::exists(figures / name)) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(figures / "folder.gp"));
  EXPECT_TRUE(std::filesystem::exists(figures / "delta.gp")) << "which this report has, too";
}

}  // namespace
}  // namespace residuum::reports
