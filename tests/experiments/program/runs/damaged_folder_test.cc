// Result folders that were damaged, mixed up or locked away: nothing of them is trusted, and the
// cure is named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

#include "reports/results/table_prints.h"
#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using DamagedFolder = Hostile;

TEST_F(DamagedFolder, ARunThatFailedBeforeItsConfigurationIsReadAsFailed) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto one = run_folders().front();
  std::filesystem::remove(one / "config.json");
  std::ofstream(one / "status.json")
      << reports::with_print({{"state", "failed"}, {"message", "out of memory"}});
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr(",tiny,failed,out of memory,"));
}

TEST_F(DamagedFolder, AFailureThatIsOverHidesNothing) {
  ASSERT_EQ(run(kStudy).code, 0);
  auto aside = run_folders().front();
  aside += ".failed.json";
  for (const char* content : {"{}", R"({"config": {}, "status": {"state": "failed"}})"}) {
    std::ofstream(aside) << content;
    EXPECT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0) << content;
    EXPECT_EQ(run(kStudy).code, 0) << content;
    EXPECT_FALSE(std::filesystem::exists(aside));
    EXPECT_EQ(summary()["counts"]["finished"], 4);
  }
}

TEST_F(DamagedFolder, AFolderOfAnotherRunIsMadeAgain) {
  const std::vector<std::string> without_times{"--set", "probes.times=false"};
  ASSERT_EQ(run(kStudy, without_times).code, 0);
  const auto folders = run_folders();
  const std::string table = read_text(folders[0] / "iterations.csv");
  for (const bool with_config : {true, false}) {
    for (const char* file : {"iterations.csv", "checks.csv", "status.json", "config.json"}) {
      if (with_config || std::string(file) != "config.json") {
        std::filesystem::copy_file(folders[1] / file,
                                   folders[0] / file,
                                   std::filesystem::copy_options::overwrite_existing);
      }
    }
    const Finished again = run(kStudy, without_times);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("it is of run " + folders[1].filename().string()));
    EXPECT_EQ(read_text(folders[0] / "iterations.csv"), table);
  }
}

TEST_F(DamagedFolder, AConfigurationThatWasDamagedIsWrittenAgain) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto config = run_folders().front() / "config.json";
  const std::string whole = read_text(config);
  for (const char* content : {"", "{}", "[]", "{\"run_id\": 5}"}) {
    std::ofstream(config) << content;
    const Finished again = run(kStudy);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("4 of 4 runs were done before"));
    EXPECT_EQ(read_text(config), whole);
  }
  std::ofstream(results() / "study.resolved.json") << "{";
  const Finished unknown = run(kStudy);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("remove it if the results beside it are of this study"));
}

// Cut at a line's end, so that nothing but its print tells it.
TEST_F(DamagedFolder, ATableThatWasCutIsNotTrusted) {
  const std::vector<std::string> without_times{"--set", "probes.times=false"};
  ASSERT_EQ(run(kStudy, without_times).code, 0);
  std::filesystem::copy(
      results(), folder_.path() / "whole", std::filesystem::copy_options::recursive);
  const auto table = run_folders().front() / "iterations.csv";
  const std::string whole = read_text(table);
  std::ofstream(table) << whole.substr(0, whole.find('\n', whole.size() / 2) + 1);

  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 2);
  EXPECT_THAT(report.err, AllOf(HasSubstr("iterations.csv' has "), HasSubstr("bytes, it had")));
  for (const auto& [a, b] :
       {std::pair("whole", "results/tiny"), std::pair("results/tiny", "whole")}) {
    EXPECT_EQ(residuum_program({"compare", a, b}, folder_.path()).code, 2);
  }
  std::string changed = whole;
  changed[whole.size() - 2] = changed[whole.size() - 2] == '1' ? '2' : '1';
  std::ofstream(table) << changed;
  const Finished again = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("was changed since the run finished"));
  EXPECT_EQ(run(kStudy, without_times).code, 0);
  EXPECT_EQ(read_text(table), whole) << "'run' makes it again";
}

// A file stands where the run's folder is to be made: nobody can write into it, root neither.
TEST_F(DamagedFolder, ARunWhoseFolderCannotBeWrittenFailsAlone) {
  const Finished plan = residuum_program(
      {"plan", folder_.write("s.toml", kStudy).string(), "--format", "json"}, folder_.path());
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto id = nlohmann::json::parse(plan.out)[1]["run_id"].get<std::string>();
  ASSERT_EQ(run(kStudy).code, 0);
  std::filesystem::remove_all(results() / "runs" / id);
  std::ofstream(results() / "runs" / id) << "no folder";

  const Finished first = run(kStudy);
  EXPECT_EQ(first.code, 3) << first.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr(id + ",tiny,failed,"));
  EXPECT_EQ(summary()["counts"]["finished"], 3) << summary()["counts"];
  EXPECT_EQ(summary()["counts"]["failed"], 1);
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("cannot make the folder"));

  std::filesystem::remove(results() / "runs" / id);
  EXPECT_EQ(run(kStudy).code, 0);
  EXPECT_EQ(summary()["counts"]["finished"], 4);
}

TEST_F(DamagedFolder, TablesOfEveryKindAreChecked) {
  std::string study = kStudy;
  study.replace(study.find("[probes]\n"), 9, "[probes]\nworkers = true\nlayers = \"all\"\n");
  ASSERT_EQ(run(study).code, 0);
  for (const char* name : {"iterations.csv", "checks.csv", "workers.csv", "layers.csv"}) {
    const auto table = run_folders().front() / name;
    const std::string whole = read_text(table);
    for (const std::string& content : {whole + whole.substr(whole.find('\n') + 1), std::string()}) {
      std::ofstream(table) << content;
      const Finished report = residuum_program({"report", results().string()}, folder_.path());
      EXPECT_EQ(report.code, 2) << name;
      EXPECT_THAT(report.err,
                  AllOf(HasSubstr(name), HasSubstr("'residuum run' makes the run again")));
    }
    std::filesystem::remove(table);
    EXPECT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 2) << name;
    const Finished again = run(study);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr(std::string(name) + "' is missing"));
  }
}

TEST_F(DamagedFolder, AStatusThatIsDamagedIsNotTrusted) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto file = run_folders().front() / "status.json";
  auto empty = nlohmann::ordered_json::parse(read_text(file));
  empty["files"] = nlohmann::json::object();
  auto partial = nlohmann::ordered_json::parse(read_text(file));
  partial["files"].erase("iterations.csv");
  auto number_as_text = nlohmann::ordered_json::parse(read_text(file));
  number_as_text["dimension"] = "20";
  auto other_number = nlohmann::ordered_json::parse(read_text(file));
  other_number["final"]["loss"] = 0.125;
  auto without_print = other_number;
  without_print.erase("print");
  for (const std::string& content : {reports::with_print(empty).dump(),
                                     reports::with_print(partial).dump(),
                                     without_print.dump(),
                                     number_as_text.dump(),
                                     other_number.dump(),
                                     std::string("{"),
                                     std::string()}) {
    std::ofstream(file) << content;
    const Finished report = residuum_program({"report", results().string()}, folder_.path());
    EXPECT_EQ(report.code, 2) << content;
    EXPECT_THAT(report.err, HasSubstr("'residuum run' makes the run again"));
    const Finished plan = residuum_program({"plan", "s.toml"}, folder_.path());
    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("damaged "));
    const Finished again = run(kStudy);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(
        again.err,
        AllOf(HasSubstr("was damaged since it finished"), HasSubstr("3 of 4 runs were done")));
  }
}

TEST_F(DamagedFolder, AConfigurationThatWasChangedIsNotTrusted) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto file = run_folders().front() / "config.json";
  const std::string whole = read_text(file);
  auto json = nlohmann::ordered_json::parse(whole);
  json["varying"] = {{"aggregator.kind", "gtopk-tree"}};
  std::ofstream(file) << json.dump();
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 2) << report.err;
  EXPECT_THAT(report.err, HasSubstr("config.json' was changed since it was written"));
  const Finished again = run(kStudy);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("it is written again"));
  EXPECT_EQ(read_text(file), whole);
}

TEST_F(DamagedFolder, AStateThatWasChangedIsNotTrusted) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto file = run_folders().front() / "status.json";
  auto json = nlohmann::ordered_json::parse(read_text(file));
  json["state"] = "interrupted";
  std::ofstream(file) << json.dump();
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 2) << report.err;
}

// Opening a pipe waits for somebody at its other end.
TEST_F(DamagedFolder, PipesInThePlaceOfFilesAreNotWaitedFor) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto one = run_folders().front();
  for (const char* name : {"checkpoint/state-7", "iterations.csv.part"}) {
    std::filesystem::remove(one / "status.json");
    std::filesystem::create_directories((one / name).parent_path());
    ASSERT_EQ(::mkfifo((one / name).c_str(), 0600), 0);
    const Finished again = run(kStudy);
    EXPECT_TRUE(again.code == 0 || again.code == 3) << again.code << again.err;
    std::filesystem::remove(one / name);
    EXPECT_EQ(run(kStudy).code, 0);
  }
}

TEST_F(DamagedFolder, AStatusThatIsOnlyLaidOutAnewIsTrusted) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto file = run_folders().front() / "status.json";
  const auto status = nlohmann::ordered_json::parse(read_text(file));
  std::ofstream(file) << status.dump(7);
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 0) << report.err;
}

// The failure that `run` leaves beside the folder counts: the finished run in it is no longer
// whole.
TEST_F(DamagedFolder, ThatCannotBeMadeAgainIsAFailedRun) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto one = run_folders().front();
  for (const char* file : {"iterations.csv", "config.json"}) {
    const std::string whole = read_text(one / file);
    std::ofstream(one / file) << "{}\n";
    auto aside = one;
    aside += ".failed.json";
    std::ofstream(aside) << nlohmann::ordered_json{
        {"config",
         reports::with_print({{"run_id", one.filename().string()},
                              {"seed", 1},
                              {"varying", nlohmann::json::object()}})},
        {"status", reports::with_print({{"state", "failed"}, {"message", "cannot write it"}})}};
    const Finished report = residuum_program({"report", results().string()}, folder_.path());
    EXPECT_EQ(report.code, 0) << report.err;
    EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("failed,cannot write it"));
    EXPECT_EQ(summary()["counts"]["finished"], 3);
    std::ofstream(one / file) << whole;
    EXPECT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
    EXPECT_EQ(summary()["counts"]["finished"], 4) << "a whole run needs no failure beside it";
  }
}

TEST_F(DamagedFolder, IsCountedAsWorkByAPlan) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto table = run_folders().front() / "iterations.csv";
  const std::string whole = read_text(table);
  std::ofstream(table) << whole.substr(0, whole.size() / 2);
  const Finished plan = residuum_program({"plan", "s.toml"}, folder_.path());
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("damaged "), HasSubstr("4 runs, 1 to do")));
}

// Root may read everything, so that the program is started as somebody else.
TEST_F(DamagedFolder, RunsThatNobodyMayReadAreNamed) {
  const std::vector<std::string> nobody{
      "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  const auto as_nobody = [&](std::vector<std::string> words) {
    words.insert(words.begin(), nobody.begin(), nobody.end());
    return run_program(words, folder_.path());
  };
  ASSERT_EQ(run(kStudy).code, 0);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  if (as_nobody({RESIDUUM_PROGRAM, "list"}).code != 0) {
    GTEST_SKIP() << "the program cannot be started as another user here";
  }
  const auto locked = run_folders().front();
  for (const auto& path : {locked / "iterations.csv", locked / "status.json", locked}) {
    std::filesystem::permissions(path, std::filesystem::perms::none);
    const Finished report = as_nobody({RESIDUUM_PROGRAM, "report", results().string()});
    EXPECT_TRUE(report.code == 2 || report.code == 6) << report.code << report.err;
    EXPECT_THAT(report.err, AllOf(HasSubstr(locked.string()), HasSubstr("Permission denied")));
    EXPECT_EQ(lines_of(report.err), 1) << report.err;
  }
  std::filesystem::permissions(locked, std::filesystem::perms::owner_all);
  // A folder that may be read and not written to.
  const Finished again = as_nobody({RESIDUUM_PROGRAM, "run", "s.toml"});
  EXPECT_EQ(again.code, 6) << again.err;
  EXPECT_EQ(lines_of(again.err), 1) << again.err;
  for (const auto& path : {locked, locked / "iterations.csv", locked / "status.json"}) {
    std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  const Finished report = as_nobody({RESIDUUM_PROGRAM, "report", results().string()});
  EXPECT_EQ(report.code, 6) << report.err;
  EXPECT_THAT(report.err, HasSubstr("cannot be written")) << "and the cure is named";
  EXPECT_THAT(report.err, HasSubstr("name another one for them with --out"));
  EXPECT_EQ(lines_of(report.err), 1) << report.err;
}

}  // namespace
}  // namespace residuum
