// A study is made on one version of its data: runs that are added later have the same, data that
// change on the way are noticed, and a folder that was mixed by hand is not compared.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <thread>

#include "core/error.h"
#include "experiments/program/runs/study_begin.h"
#include "experiments/program/study/study_keys.h"
#include "objectives/data/npy.h"
#include "tests/experiments/hostile.h"
#include "tests/experiments/resume.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kOneData = R"(schema = 1
name = "tiny"
seeds = 2
[objective]
kind = "logistic"
data = "./d.svm"
[workers]
count = 2
batch = 2
[sparsifier]
kind = "top-k"
k = 1
[step]
value = 0.1
[budget]
iterations = 8
)";

TEST(DataSettings, AreThoseThatDecideWhichDataAreLoaded) {
  const nlohmann::json config{
      {"objective", {{"kind", "logistic"}, {"data", "./d.svm"}, {"l2", 0.5}, {"scale", "none"}}},
      {"step", {{"value", 0.1}}}};
  EXPECT_EQ(data_settings(config),
            (nlohmann::json{{"objective", {{"kind", "logistic"}, {"data", "./d.svm"}}}}));
  EXPECT_EQ(data_settings(nlohmann::json::object()), nlohmann::json::object());
}

PreparedRun run_on(const std::string& file, const std::string& fingerprint) {
  PreparedRun run;
  run.config = {{"objective", {{"data", file}}}};
  run.data_fingerprint = fingerprint;
  return run;
}

TEST(StudyDataTest, HasOneFingerprintForEachSetting) {
  const TemporaryFolder folder;
  const auto data =
      study_data(folder.path(), {run_on("a", "1"), run_on("b", "2"), run_on("a", "1"), {}});

  EXPECT_EQ(data.size(), 2U);
  EXPECT_THROW(study_data(folder.path(), {run_on("a", "1"), run_on("a", "2")}), Error);
  folder.write("study.resolved.json", nlohmann::json{{"data", to_json(data)}}.dump());
  EXPECT_EQ(data_in(folder.path()), data);
  EXPECT_EQ(study_data(folder.path(), {run_on("c", "3")}).size(), 3U);
  EXPECT_THROW(study_data(folder.path(), {run_on("b", "1")}), Error);
}

TEST(StudyDataTest, ThatCannotBeReadAreAbsent) {
  const TemporaryFolder folder;
  for (const char* text : {"{", "[]", "{\"data\": 3}", R"({"data": [3, {}, {"settings": {}}]})"}) {
    folder.write("study.resolved.json", text);
    EXPECT_TRUE(data_in(folder.path()).empty()) << text;
  }
}

class StudyOnData : public Hostile {
 protected:
  void SetUp() override { write_data("0.5"); }

  std::filesystem::path write_data(const std::string& value,
                                   const std::string& file = "d.svm") const {
    return folder_.write(file,
                         "+1 1:" + value + " 2:0.25\n-1 1:1 3:2\n+1 2:3\n-1 1:0.125 2:0.5 3:1\n");
  }
  /// Waits until the program has written the file; false where it has not in a minute.
  static bool appears(const std::filesystem::path& folder, const std::string& name) {
    for (int i = 0; i < 6000; ++i) {
      std::error_code none;
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none)) {
        if (entry.path().filename() == name) {
          return true;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// Starts the program, stops it for the change once a run has begun in the folder, and returns
  /// its exit code and what it said.
  template <class Change>
  Finished change_in_between(const std::vector<std::string>& words,
                             const std::filesystem::path& results,
                             const Change& change) const {
    std::filesystem::remove(folder_.path() / "captured.err");
    std::vector<std::string> arguments{RESIDUUM_PROGRAM};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Started started(arguments, folder_.path());
    EXPECT_TRUE(appears(results, "iterations.csv.part"));
    kill(started.process(), SIGSTOP);  // it sees all of the change at once
    change();
    kill(started.process(), SIGCONT);
    const int status = started.wait();
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .out = "",
            .err = read_text(folder_.path() / "captured.err")};
  }
};

TEST_F(StudyOnData, IsRefusedInAShardOnOtherData) {
  ASSERT_EQ(run(kOneData, {"--shard", "1/2"}).code, 0);
  const auto before = run_folders();
  write_data("0.75");

  const Finished refused = run(kOneData, {"--shard", "2/2"});

  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(lines_of(refused.err), 1U) << refused.err;
  EXPECT_THAT(refused.err,
              AllOf(StartsWith("error: results/tiny is of other data: "),
                    HasSubstr("./d.svm"),
                    ContainsRegex("had the fingerprint [0-9a-f]{16}, now [0-9a-f]{16}; put them "
                                  "back, use another --out, or remove results/tiny\n")));
  EXPECT_EQ(run_folders(), before);

  write_data("0.5");
  EXPECT_EQ(run(kOneData, {"--shard", "2/2"}).code, 0);
  EXPECT_EQ(summary()["counts"]["finished"], 2);
}

TEST_F(StudyOnData, IsRefusedForNewValuesAfterTheFileChanged) {
  ASSERT_EQ(run(kOneData).code, 0);
  write_data("0.75");

  for (const char* set : {"step.value=0.2", "objective.l2=0.01", "seeds=[7]"}) {
    const Finished refused = run(kOneData, {"--set", set});
    EXPECT_EQ(refused.code, 2) << set;
    EXPECT_THAT(refused.err, StartsWith("error: results/tiny is of other data: ")) << set;
  }
  EXPECT_EQ(run(kOneData, {"--set", "step.value=0.2", "--out", "other"}).code, 0);
}

TEST_F(StudyOnData, MayHaveSeveralFiles) {
  write_data("0.75", "e.svm");
  const std::string study = kOneData + "[sweep]\n\"objective.data\" = [\"./d.svm\", \"./e.svm\"]\n";
  ASSERT_EQ(run(study).code, 0);

  EXPECT_EQ(summary()["groups"].size(), 2U);
  EXPECT_FALSE(summary().contains("mixed_data"));
  EXPECT_EQ(data_in(results()).size(), 2U);
}

TEST_F(StudyOnData, ThatWasMixedByHandIsNotCompared) {
  ASSERT_EQ(run(kOneData, {"--shard", "1/2"}).code, 0);
  write_data("0.75");
  ASSERT_EQ(run(kOneData, {"--shard", "2/2", "--out", "other"}).code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "other" / "runs")) {
    std::filesystem::copy(entry.path(),
                          results() / "runs" / entry.path().filename(),
                          std::filesystem::copy_options::recursive);
  }

  const Finished report = residuum_program({"report", "results/tiny"}, folder_.path());

  EXPECT_EQ(report.code, 0) << report.err;
  const std::string sentence = "This folder mixes runs on different data: logistic-";
  EXPECT_THAT(report.err, StartsWith("note: " + sentence));
  EXPECT_EQ(lines_of(report.err), 1U) << report.err;
  EXPECT_THAT(summary()["mixed_data"].get<std::string>(),
              AllOf(StartsWith(sentence), HasSubstr("nothing is compared or judged.")));
  for (const char* list : {"groups", "comparisons", "targets", "on_networks", "rates"}) {
    EXPECT_TRUE(summary()[list].empty()) << list;
  }
  EXPECT_EQ(summary()["runs"].size(), 2U) << "each run has its own numbers";
  const std::string page = read_text(results() / "report.html");
  EXPECT_THAT(page, HasSubstr("<p class=\"answer\">" + sentence));
  EXPECT_THAT(page, Not(HasSubstr("At equal cost")));

  for (const auto& words :
       std::vector<std::vector<std::string>>{{"table", "results/tiny", "final_loss"},
                                             {"epochs", "results/tiny"},
                                             {"keep", "results/tiny", "kept"}}) {
    const Finished refused = residuum_program(words, folder_.path());
    EXPECT_EQ(refused.code, 2) << words.front();
    EXPECT_THAT(refused.err, StartsWith("error: results/tiny: " + sentence)) << words.front();
    EXPECT_EQ(refused.out, "") << words.front();
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept"));

  const Finished compared = residuum_program({"compare", "results/tiny", "other"}, folder_.path());
  EXPECT_EQ(compared.code, 2);
  EXPECT_THAT(compared.err, StartsWith("error: results/tiny: " + sentence));
}

const std::string kLong = "budget.iterations=30000";

// The runs on e.svm are prepared at the start, and once more when their turn comes.
TEST_F(StudyOnData, WhoseFileChangesBeforeItsTurnFailsThere) {
  write_data("0.75", "e.svm");
  folder_.write("s.toml", kOneData + "[sweep]\n\"objective.data\" = [\"./d.svm\", \"./e.svm\"]\n");
  const Finished finished = change_in_between(
      {"run", "s.toml", "--set", "seeds=1", "--set", kLong, "--progress=none"}, results(), [this] {
        write_data("0.875", "e.svm");
      });

  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("failed: the data have changed since the job began ("));
  EXPECT_EQ(summary()["counts"]["finished"], 1);
  EXPECT_EQ(summary()["counts"]["failed"], 1);
}

TEST_F(StudyOnData, IsNotVerifiedWhereItsFileChangesOnTheWay) {
  folder_.write("s.toml", kOneData);
  const Finished finished =
      change_in_between({"verify", "s.toml", "--ranks", "1,2", "--set", "seeds=1", "--set", kLong},
                        folder_.path() / "results",
                        [this] { write_data("0.75"); });

  EXPECT_EQ(finished.code, 2) << finished.err;
  EXPECT_THAT(finished.err,
              ContainsRegex("error: the data have changed since the command began \\(fingerprint "
                            "[0-9a-f]{16}, on 2 processes [0-9a-f]{16}\\)"));
}

/// A recording of many steps, long enough to be changed while it is read.
class ChangedRecording : public StudyOnData {
 protected:
  void SetUp() override {
    folder_.write("s.toml", R"(schema = 1
name = "tiny"
[objective]
kind = "recorded"
data = "g.npy"
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 1
[budget]
iterations = 30000
[probes]
every = 1
)");
    write_recording("g.npy", 0);
  }
  void write_recording(const std::string& name, double last) const {
    std::vector<double> numbers(std::size_t{30000} * 2 * 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = std::sin(static_cast<double>(i));
    }
    numbers.back() = last;
    std::string bytes = npy_header(NpyType::float64, std::vector<std::size_t>{30000, 2, 4});
    const std::size_t start = bytes.size();
    bytes.resize(start + numbers.size() * sizeof(double));
    std::memcpy(bytes.data() + start, numbers.data(), numbers.size() * sizeof(double));
    folder_.write(name, bytes);
  }
  /// Writes the first byte of the last number, which stays finite.
  void write_over(char byte) const {
    std::fstream file(folder_.path() / "g.npy", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put(byte);
  }

  const std::vector<std::string> command_{"run", "s.toml", "--progress=none"};
};

TEST_F(ChangedRecording, IsNoticedWhereTheFileIsReplaced) {
  const Finished finished = change_in_between(command_, results(), [this] {
    write_recording("new.npy", 1);
    std::filesystem::rename(folder_.path() / "new.npy", folder_.path() / "g.npy");
  });

  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("failed: g.npy: was replaced by another file"));
}

TEST_F(ChangedRecording, IsNoticedWhereTheFileIsWrittenToAndPutBack) {
  const Finished finished = change_in_between(command_, results(), [this] {
    write_over('\x40');
    write_over('\0');
  });

  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("failed: g.npy: was written to while it was in use"));
}

// As by a copy that keeps times.
TEST_F(ChangedRecording, IsNoticedAtTheEndWhereTheFileSaysNothingOfIt) {
  const Finished finished = change_in_between(command_, results(), [this] {
    const auto before = std::filesystem::last_write_time(folder_.path() / "g.npy");
    write_over('\x40');
    std::filesystem::last_write_time(folder_.path() / "g.npy", before);
  });

  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("failed: the data have changed while the run read them ("));
  std::error_code none;
  const auto left = std::filesystem::directory_iterator(run_folders().front() / "checkpoint", none);
  EXPECT_EQ(std::distance(begin(left), end(left)), 0) << "they may hold what came of other numbers";
}

}  // namespace
}  // namespace residuum
