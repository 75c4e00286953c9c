// A study is watched while it runs.

#include "reports/terminal/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "core/error.h"
#include "reports/results/table_prints.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

constexpr double kStarted = 1714557600;  // 2024-05-01T10:00:00Z

void append(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::app | std::ios::binary) << text;
}

/// Makes the run one that is under way and is to have 100 iterations; returns the table that grows.
std::filesystem::path set_running(const std::filesystem::path& folder, int seed) {
  const auto run = folder / "runs" / SyntheticStudy::run_id(0, seed);
  std::filesystem::remove(run / "iterations.csv");
  write_json_atomically(run / "status.json",
                        with_print(Json{{"state", "running"},
                                        {"started_utc", "2024-05-01T10:00:00Z"},
                                        {"planned_iterations", 100}}));
  return run / "iterations.csv.part";
}

TEST(GrowingTable, ReadsOnlyLinesThatAreComplete) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "iterations.csv.part";
  GrowingTable table(file);
  table.look();
  EXPECT_EQ(table.iteration(), std::nullopt);

  append(file, "run_id,iteration,epoch,loss,delta\nr,0,0,0.5,0.9\nr,1,0,,1.2");
  table.look();
  EXPECT_EQ(table.iteration(), 0U);
  EXPECT_EQ(table.violations(), 0U);

  append(file, "5\nr,2,0,0.25,0.5\n");
  table.look();
  EXPECT_EQ(table.iteration(), 2U);
  EXPECT_EQ(table.loss(), 0.25);
  EXPECT_EQ(table.delta(), 0.5);
  EXPECT_EQ(table.worst_delta(), 1.25);
  EXPECT_EQ(table.violations(), 1U);
  EXPECT_EQ(table.measured(), 3U);
}

TEST(GrowingTable, BeginsAnewWithATableThatHasBecomeShorter) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "iterations.csv.part";
  append(file, "run_id,iteration,loss\nr,0,0.5\nr,1,0.4\n");
  GrowingTable table(file);
  table.look();
  write_file_atomically(file, "run_id,iteration,loss\nr,0,0.7\n");
  table.look();
  EXPECT_EQ(table.iteration(), 0U);
  EXPECT_EQ(table.loss(), 0.7);
}

TEST(StudyWatch, SaysHowFarARunIsAndWhatItHasFound) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  append(part, "run_id,iteration,loss,delta\nr,0,0.5,0.9\nr,19,0.125,1.5\n");

  StudyWatch watch({folder.path()});
  watch.look(kStarted + 30);
  EXPECT_FALSE(watch.is_over());
  const std::string table = watch.table(100);
  // 20 of 100 iterations took 30 s, so that 80 are left for 120 s.
  EXPECT_THAT(table,
              AllOf(HasSubstr("synthetic: 3 runs: 1 running, 2 finished"),
                    HasSubstr("20 of 100 (20 %)"),
                    HasSubstr("2 min 00 s"),
                    HasSubstr("0.125"),
                    HasSubstr("  1 of 2\n")));
  EXPECT_LT(table.find("running  "), table.find("finished  "));
}

TEST(StudyWatch, KnowsTheLengthOfARunOfEpochsOnlyIfTheRunHasSaidIt) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  append(part, "run_id,iteration,loss,delta\nr,0,0.5,0.9\nr,19,0.125,1.5\n");
  const auto run = part.parent_path();
  auto config = read_json(run / "config.json");
  config["config"]["budget"] = {{"epochs", 4.0}};
  write_json_atomically(run / "config.json", with_print(config));
  const auto table = [&] {
    StudyWatch watch({folder.path()});
    watch.look(kStarted + 30);
    return watch.table(100);
  };

  // So says a run that a budget of time or a training outside ends.
  auto status = read_json(run / "status.json");
  status["planned_iterations"] = nullptr;
  write_json_atomically(run / "status.json", with_print(status));
  // Another seed of the method did 100 iterations, which does not say how many this one will do.
  EXPECT_THAT(table(), AllOf(HasSubstr(" 20 "), Not(HasSubstr("20 of "))));
  status["planned_iterations"] = 400;
  write_json_atomically(run / "status.json", with_print(status));
  EXPECT_THAT(table(), AllOf(HasSubstr("20 of 400 (5 %)"), HasSubstr("9 min 30 s")));
}

TEST(StudyWatch, CallsAFinishedRunWholeWhateverItsBudgetIs) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.write(folder.path());
  const auto first = std::filesystem::directory_iterator(folder.path() / "runs")->path();
  auto status = read_json(first / "status.json");
  status["iterations"] = 80;
  status.erase("planned_iterations");
  write_json_atomically(first / "status.json", with_print(status));
  StudyWatch watch({folder.path()});
  watch.look(kStarted + 30);
  EXPECT_THAT(watch.table(100), HasSubstr("80 of 80 (100 %)"));
}

TEST(StudyWatch, DoesNotCallARunWhollyDoneThatEndedEarly) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.write(folder.path());
  for (const auto& run : std::filesystem::directory_iterator(folder.path() / "runs")) {
    auto status = read_json(run.path() / "status.json");
    status["state"] = "diverged";
    status.erase("planned_iterations");
    write_json_atomically(run.path() / "status.json", with_print(status));
  }

  StudyWatch watch({folder.path()});
  watch.look(kStarted + 30);
  EXPECT_THAT(watch.table(100), AllOf(HasSubstr(" diverged        100 "), Not(HasSubstr("100 %"))));
}

/// Sets when the files of a run were written, in seconds since 1970.
void set_written(const std::filesystem::path& run, double time) {
  const std::chrono::sys_seconds since(std::chrono::seconds(static_cast<std::int64_t>(time)));
  for (const auto& file : std::filesystem::directory_iterator(run)) {
    std::filesystem::last_write_time(file.path(), std::chrono::file_clock::from_sys(since));
  }
}

TEST(StudyWatch, HasNoTimeLeftForARunThatHasCeasedToWrite) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  append(part, "run_id,iteration,loss,delta\nr,0,0.5,0.9\nr,19,0.125,1.5\n");
  set_written(part.parent_path(), kStarted + 50);  // 20 of 100 iterations in 50 s
  StudyWatch watch({folder.path()});

  watch.look(kStarted + 60);
  EXPECT_THAT(watch.table(100), HasSubstr("3 min 10 s")) << "of 250 s in all";
  watch.look(kStarted + 95);
  EXPECT_THAT(watch.table(100), HasSubstr("2 min 35 s")) << "the next rows may come after 50 s";

  watch.look(kStarted + 3600);
  EXPECT_THAT(
      watch.table(100),
      AllOf(HasSubstr("nothing written since 2024-05-01T10:00:50Z"), Not(HasSubstr(" min "))));
}

TEST(StudyWatch, GoesByTheHeartbeatWhereTheRowsAreBehind) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  const auto run = part.parent_path();
  append(part, "run_id,iteration,loss,delta\nr,0,0.5,0.9\nr,4,0.125,1.5\n");
  const auto beat = [&](const std::string& text, double later) {
    write_file_atomically(run / "heartbeat.json", text);
    set_written(run, kStarted + 30);
    StudyWatch watch({folder.path()});
    watch.look(kStarted + 30 + later);
    return watch.table(100);
  };

  // 70 of 100 iterations took 30 s, so that 30 are left for 12.9 s.
  const std::string training =
      R"({"iteration": 70, "pilot": 0, "every_s": 1, "resumed_at": 0, "trained_s": 30})";
  EXPECT_THAT(beat(training, 0), AllOf(HasSubstr("70 of 100 (70 %)"), HasSubstr("  12 s ")));
  EXPECT_THAT(beat(training, 29), Not(HasSubstr("nothing written")));
  EXPECT_THAT(beat(training, 31), HasSubstr("nothing written since 2024-05-01T10:00:30Z"));
  EXPECT_THAT(
      beat(R"({"iteration": 70, "pilot": 0, "every_s": 20, "resumed_at": 0, "trained_s": 0})", 90),
      Not(HasSubstr("nothing written")));
  EXPECT_THAT(
      beat(R"({"iteration": 100, "pilot": 0, "every_s": 1, "resumed_at": 0, "trained_s": 0})", 0),
      HasSubstr("100 of 100 (100 %), evaluating"));
  EXPECT_THAT(
      beat(R"({"iteration": 2, "pilot": 0, "every_s": 1, "resumed_at": 0, "trained_s": 0})", 0),
      HasSubstr("5 of 100 (5 %)"))
      << "rows may be newer";
  const std::string pilot =
      R"({"iteration": 7, "pilot": 3, "every_s": 1, "resumed_at": 0, "trained_s": 0})";
  EXPECT_THAT(beat(pilot, 0), HasSubstr("5 of 100 (5 %)")) << "pilots come before the first row";
  write_file_atomically(part, "run_id,iteration,loss,delta\n");
  EXPECT_THAT(beat(pilot, 0), ::testing::ContainsRegex("pilot 3: 7 of 100 \\(7 %\\) +–"));

  // A text that is no heartbeat counts as none.
  for (const char* const damaged :
       {"",
        "{",
        "[]",
        "{}",
        R"({"iteration": -1, "pilot": 0, "every_s": 1, "resumed_at": 0, "trained_s": 0})",
        R"({"iteration": 1e300, "pilot": 0, "every_s": 1, "resumed_at": 0, "trained_s": 0})",
        R"({"iteration": "nan", "pilot": 0, "every_s": 1, "resumed_at": 0, "trained_s": 0})",
        R"({"iteration": 70, "pilot": 0})"}) {
    EXPECT_THAT(beat(damaged, 0), Not(HasSubstr("70 of 100"))) << damaged;
  }
}

// A pause before a resume, and pilots, are no time of training.
TEST(StudyWatch, CountsTheTimeLeftFromTheResume) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  const auto run = part.parent_path();
  append(part, "run_id,iteration,loss,delta\nr,0,0.5,0.9\nr,59,0.125,1.5\n");
  constexpr double kNow = kStarted + 86410;  // a day and ten seconds later
  const auto table = [&] {
    set_written(run, kNow);
    StudyWatch watch({folder.path()});
    watch.look(kNow);
    return watch.table(100);
  };

  auto status = read_json(run / "status.json");
  status["resumed_utc"] = "2024-05-02T10:00:00Z";
  status["resumed_at"] = 50;
  write_json_atomically(run / "status.json", with_print(status));
  EXPECT_THAT(table(), AllOf(HasSubstr("60 of 100 (60 %)"), HasSubstr("  40 s ")))
      << "10 iterations took 10 s";

  // A heartbeat says how long the process has trained.
  set_running(folder.path(), 2);
  const auto beat = [&](const std::string& rest) {
    write_file_atomically(run / "heartbeat.json", R"({"pilot": 0, "every_s": 1, )" + rest);
    return table();
  };
  EXPECT_THAT(beat(R"("iteration": 80, "resumed_at": 50, "trained_s": 60})"),
              AllOf(HasSubstr("80 of 100"), HasSubstr("  40 s ")));
}

TEST(StudyWatch, SaysHowOldALateHeartbeatIs) {
  const TemporaryFolder folder;
  SyntheticStudy{}.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  append(part, "run_id,iteration,loss,delta\nr,0,0.5,0.9\n");
  write_file_atomically(
      part.parent_path() / "heartbeat.json",
      R"({"iteration": 7, "pilot": 0, "every_s": 1, "resumed_at": 0, "trained_s": 0})");
  set_written(part.parent_path(), kStarted + 30);
  StudyWatch watch({folder.path()});
  watch.look(kStarted + 33);
  EXPECT_THAT(watch.table(100), Not(HasSubstr(" ago")));
  watch.look(kStarted + 42);
  EXPECT_THAT(watch.table(100), HasSubstr("%), 12 s ago"));
}

TEST(StudyWatch, MeasuresAnInterruptedRunByItsBudget) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 100;
  study.seeds = 1;
  study.methods.resize(1);
  study.write(folder.path());
  const auto part = set_running(folder.path(), 1);
  const auto run = part.parent_path();
  append(part, "run_id,iteration,loss,delta\nr,0,0.5,0.9\n");
  const auto table = [&](Json status) {
    status["state"] = "interrupted";
    write_json_atomically(run / "status.json", with_print(status));
    StudyWatch watch({folder.path()});
    watch.look(kStarted);
    return watch.table(100);
  };
  auto config = read_json(run / "config.json");
  config["config"]["budget"] = {{"iterations", 100}};
  write_json_atomically(run / "config.json", with_print(config));
  EXPECT_THAT(table(Json::object()), AllOf(HasSubstr("1 of 100 (1 %)"), HasSubstr(": 1 run: ")));

  config["config"]["budget"] = {{"epochs", 4.0}};
  write_json_atomically(run / "config.json", with_print(config));
  EXPECT_THAT(table({{"planned_iterations", 400}}), HasSubstr("1 of 400 (0 %)"));
}

TEST(StudyWatch, DrawsTheLossAndDeltaOfRunsUnderWay) {
  const TemporaryFolder folder;
  SyntheticStudy{}.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  append(part, "run_id,iteration,loss,delta\nr,0,0,0.5\nr,10,,0.5\nr,20,7,1.5\n");
  StudyWatch watch({folder.path()});
  watch.look(kStarted + 1);

  const std::string curves = watch.curves(100);
  EXPECT_THAT(
      curves,
      ::testing::MatchesRegex("[^\n]*, seed 2\n  loss  (▁)+(▂)+(▃)+(▄)+(▅)+(▆)+(▇)+(█)+  7\n"
                              "  delta (▁){30}(▁)+(▂)+(▃)+(▄)+(▅)+(▆)+(▇)+(█)+  1.5\n"));
  EXPECT_EQ(watch.curves(2), "") << "a run takes three lines";
}

TEST(StudyWatch, WaitsForTheFirstRowsUntilACheckpointIsDue) {
  const TemporaryFolder folder;
  SyntheticStudy{}.write(folder.path());
  const auto part = set_running(folder.path(), 2);
  append(part, "run_id,iteration,loss,delta\n");
  set_written(part.parent_path(), kStarted);
  StudyWatch watch({folder.path()});

  watch.look(kStarted + 330);
  EXPECT_THAT(watch.table(100), Not(HasSubstr("nothing written")));
  watch.look(kStarted + 400);
  EXPECT_THAT(watch.table(100), HasSubstr("nothing written since 2024-05-01T10:00:00Z"));
}

TEST(StudyWatch, HasTheLastDeltaOfRunsThatHaveEnded) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.iterations = 2000;  // more than is read of a table
  study.methods[0].change = [](Row& row, int /*seed*/) {
    row.set(Column::delta, row.iteration() == 1999 ? 0.4375 : 0.5625);
  };
  study.write(folder.path());
  StudyWatch watch({folder.path()});
  watch.look(kStarted);
  EXPECT_THAT(watch.table(100), ::testing::ContainsRegex("finished .* 0.4375 .*0.98"));
}

TEST(StudyWatch, KeepsToTheLinesOfATerminal) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 9;
  study.write(folder.path());
  StudyWatch watch({folder.path()});
  watch.look(kStarted);
  EXPECT_TRUE(watch.is_over());
  const std::string table = watch.table(6);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 6);
  EXPECT_THAT(table, HasSubstr("... and 6 more"));
  EXPECT_THAT(watch.table(100), Not(HasSubstr("more")));
}

TEST(StudyWatch, RefusesWhatIsNoResultFolder) {
  const TemporaryFolder folder;
  StudyWatch watch({folder.path()});
  EXPECT_THROW(watch.look(0), Error);
}

}  // namespace
}  // namespace residuum::reports
