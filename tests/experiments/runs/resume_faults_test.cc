// What has changed under a run since it was stopped is noticed: its data, its tables. It then goes
// on from an earlier checkpoint or begins anew, to the bytes of a run that was left alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiments/runs/checkpoint.h"
#include "experiments/runs/provenance.h"
#include "reports/tables/files.h"
#include "reports/tables/table_prints.h"
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

TEST_F(ResumeFaults, DataThatHaveChangedAreRefusedInAStudyThatWasBegun) {
  ASSERT_EQ(begin().code, 124);
  write_data("0.75");

  const Finished refused = run("kept");

  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, testing::StartsWith("error: kept is of other data: "));
  EXPECT_THAT(refused.err, HasSubstr("; put them back, use another --out, or remove kept\n"));
  write_data("0.5");
  EXPECT_EQ(run("kept").code, 0);
}

/// Earlier programs did not keep the fingerprints of a study that was begun.
TEST_F(ResumeFaults, DataThatHaveChangedBeginARunAnew) {
  ASSERT_EQ(begin().code, 124);
  const auto file = folder_.path() / "kept" / "study.resolved.json";
  auto study = nlohmann::json::parse(read_text(file));
  ASSERT_EQ(study.erase("data"), 1U);
  std::ofstream(file) << study;
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
  EXPECT_THAT(refused.err, HasSubstr("): put them back, use another --out, or remove kept\n"));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables);

  write_data("0.5");
  EXPECT_THAT(run("kept").err, HasSubstr("1 of 1 runs were done before"));
}

/// Rewrites the head of the newest checkpoint as another build would have written it.
class OtherBuild : public ResumeFaults {
 protected:
  void SetUp() override {
    ASSERT_EQ(begin().code, 124);
    change_build("0.0.9 (0123456), GNU 11, Release -O2");
  }
  void change_build(const std::string& build) const {
    const auto checkpoint =
        find_checkpoint(kept(), kept().filename().string(), [](const CheckpointHead&) {});
    ASSERT_TRUE(checkpoint);
    std::vector<std::byte> state(state_size(*checkpoint));
    const auto pass = [&](StateStream& stream) { stream.pass(state); };
    read_checkpoint(*checkpoint, pass);
    CheckpointHead head = checkpoint->head;
    head.revision = build;
    write_checkpoint(kept(), head, pass);
  }
  /// Returns the length of the state that stands between the head and the checksum.
  static std::size_t state_size(const Checkpoint& checkpoint) {
    const std::string whole = read_text(checkpoint.file);
    std::uint32_t head_size = 0;
    std::memcpy(&head_size, whole.data() + 12, sizeof(head_size));
    return whole.size() - 16 - head_size - sizeof(std::uint32_t);
  }
};

TEST_F(OtherBuild, OfWhichARunHasACheckpointDoesNotGoOnWithIt) {
  const std::string rows = read_text(kept() / "iterations.csv.part");

  const Finished refused = run("kept");

  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  EXPECT_THAT(refused.err, testing::StartsWith("error: kept/runs/logistic-"));
  EXPECT_THAT(refused.err,
              HasSubstr(" has a checkpoint of another build, 0.0.9 (0123456), GNU 11, Release -O2, "
                        "and this one is " +
                        program_version()));
  EXPECT_EQ(read_text(kept() / "iterations.csv.part"), rows) << "that build may go on with it";

  std::filesystem::remove_all(kept() / "checkpoint");
  EXPECT_EQ(run("kept").code, 0);
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables_of_whole());
}

TEST_F(OtherBuild, ThatDoesNotNameItselfIsAnother) {
  change_build("");
  const Finished refused = run("kept");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("of another build, which it does not name, and this one is "));
}

TEST_F(ResumeFaults, RunsOfAnotherBuildAreNamedBesideThoseOfThisOne) {
  ASSERT_EQ(run("kept").code, 0);
  const auto file = kept() / "status.json";
  auto status = reports::read_json(file);
  status["provenance"]["residuum"] = "0.0.9 (0123456)";
  status.erase("print");
  status["print"] = reports::own_print(status);
  reports::write_json_atomically(file, status);

  const Finished more = run("kept", {"--set", "seeds=2"});

  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_THAT(more.err,
              HasSubstr("note: 1 of 2 runs were made by another build, such as 0.0.9 (0123456), "));
  const auto summary = reports::read_json(folder_.path() / "kept" / "summary.json");
  EXPECT_EQ(summary["provenance"]["residuum"], "0.0.9 (0123456)");
  EXPECT_EQ(summary["provenance"]["other builds"], reports::Json::array({program_version()}));
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
