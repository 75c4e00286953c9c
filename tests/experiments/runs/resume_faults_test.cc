// What has changed under a run since it was stopped is noticed: its data, its tables. It then goes
// on from an earlier checkpoint or begins anew, to the bytes of a run that was left alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/resume.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kResumedStudy = R"(schema = 1
name = "faults"
seeds = 1
[objective]
kind = "logistic"
data = "./d.svm"
scale = "none"
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
[probes]
times = false
every = 1
workers = true
)";

class ResumeFaults : public testing::Test {
 protected:
  ResumeFaults() { write_data("0.5"); }

  void write_data(const std::string& value) const {
    folder_.write("d.svm", "+1 1:" + value + " 2:0.25\n-1 1:1 3:2\n+1 2:3\n-1 1:0.125 2:0.5 3:1\n");
  }
  Finished run(const char* out, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{
        "run", folder_.write("s.toml", kResumedStudy).string(), "--out", out, "--progress=none"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return residuum_program(arguments, folder_.path());
  }
  /// Two iterations and a checkpoint, since the time is over before it begins.
  Finished begin() const { return run("kept", {"--time-limit", "0.000001s"}); }
  std::map<std::string, std::string> tables_of_whole() const {
    const Finished finished = run("whole");
    EXPECT_EQ(finished.code, 0) << finished.err;
    return run_tables(folder_.path() / "whole");
  }
  /// The folder of the only run.
  std::filesystem::path kept() const {
    return std::filesystem::directory_iterator(folder_.path() / "kept" / "runs")->path();
  }
  void change_byte(const std::string& table, std::size_t place) const {
    std::string content = read_text(kept() / table);
    ASSERT_LT(place, content.size());
    content[place] = content[place] == '1' ? '2' : '1';
    std::ofstream(kept() / table, std::ios::binary) << content;
  }

  TemporaryFolder folder_;
};

TEST_F(ResumeFaults, DataThatHaveChangedBeginARunAnew) {
  ASSERT_EQ(begin().code, 124);
  write_data("0.75");

  const Finished finished = run("kept");

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("state-2 is not used: it is of other data (fingerprint "));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables_of_whole());
}

TEST_F(ResumeFaults, ARunThatWasDoneOnOtherDataIsNeitherKeptNorOverwritten) {
  ASSERT_EQ(run("kept").code, 0);
  const auto tables = run_tables(folder_.path() / "kept");
  write_data("0.75");

  const Finished refused = run("kept");

  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, testing::StartsWith("error: run logistic-"));
  EXPECT_THAT(refused.err, HasSubstr(" in kept was done on other data (fingerprint "));
  EXPECT_THAT(refused.err, HasSubstr("): use another --out, or remove kept/runs/logistic-"));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables);

  write_data("0.5");
  EXPECT_THAT(run("kept").err, HasSubstr("1 of 1 runs were done before"));
}

TEST_F(ResumeFaults, ATableThatHasChangedSinceTheLastCheckpointIsTakenFromTheOneBefore) {
  for (const std::string table : {"iterations.csv.part", "checks.csv.part", "workers.csv.part"}) {
    std::filesystem::remove_all(folder_.path() / "kept");
    ASSERT_EQ(begin().code, 124);
    ASSERT_EQ(begin().code, 124);
    change_byte(table, read_text(kept() / table).size() - 3);

    const Finished finished = run("kept");

    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("state-4 is not used: "));
    EXPECT_THAT(finished.err, HasSubstr(table + " has changed since"));
    EXPECT_THAT(finished.err, Not(HasSubstr("state-2 is not used"))) << table;
    EXPECT_EQ(run_tables(folder_.path() / "kept"), tables_of_whole()) << table;
  }
}

TEST_F(ResumeFaults, ATableThatHasChangedFromItsBeginningBeginsTheRunAnew) {
  ASSERT_EQ(begin().code, 124);
  ASSERT_EQ(begin().code, 124);
  change_byte("iterations.csv.part", 3);

  const Finished finished = run("kept");

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("state-4 is not used: "));
  EXPECT_THAT(finished.err, HasSubstr("state-2 is not used: "));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables_of_whole());
}

}  // namespace
}  // namespace residuum
