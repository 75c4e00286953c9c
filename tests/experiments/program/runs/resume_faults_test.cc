// Changes to a stopped run are noticed: of its data, its tables and its checkpoints, also if their
// checksums are right. The run then goes on from an earlier checkpoint or begins anew, to the bytes
// of a run that was left alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/program/runs/checkpoint.h"
#include "experiments/program/runs/provenance.h"
#include "reports/results/files.h"
#include "reports/results/table_prints.h"
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

/// The parts of a checkpoint file (experiments/program/runs/checkpoint.cc).
struct Parts {
  std::string before;  // magic and format
  nlohmann::json head;
  std::string state;
};

constexpr std::size_t kBefore = 12;
constexpr std::size_t kNumber = sizeof(std::uint32_t);

std::uint32_t number_at(const std::string& text, std::size_t place) {
  std::uint32_t number = 0;
  std::memcpy(&number, text.data() + place, sizeof(number));
  return number;
}

std::string bytes_of(std::uint32_t number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

Parts parts_of(const std::string& file) {
  const std::size_t begin = kBefore + kNumber;
  const std::size_t size = number_at(file, kBefore);
  return {.before = file.substr(0, kBefore),
          .head = nlohmann::json::parse(file.substr(begin, size)),
          .state = file.substr(begin + size, file.size() - begin - size - kNumber)};
}

/// Returns the bytes of a checkpoint of these parts, with the right checksum.
std::string sealed(const Parts& parts) {
  const std::string head = parts.head.dump();
  std::string file = parts.before + bytes_of(static_cast<std::uint32_t>(head.size())) + head;
  file += parts.state;
  return file + bytes_of(checksum(0, file));
}

using Forgery = std::function<void(Parts&)>;

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

  std::filesystem::path state(int iteration) const {
    return kept() / "checkpoint" / fmt::format("state-{}", iteration);
  }
  void forge(int iteration, const Forgery& forgery) const {
    Parts parts = parts_of(read_text(state(iteration)));
    forgery(parts);
    std::ofstream(state(iteration), std::ios::binary) << sealed(parts);
  }
  /// A run with checkpoints after iterations 2 and 4.
  void begin_twice() const {
    const auto begun = folder_.path() / "begun";
    std::filesystem::remove_all(folder_.path() / "kept");
    if (!std::filesystem::exists(begun)) {
      ASSERT_EQ(begin().code, 124);
      ASSERT_EQ(begin().code, 124);
      std::filesystem::rename(folder_.path() / "kept", begun);
    }
    std::filesystem::copy(begun, folder_.path() / "kept", std::filesystem::copy_options::recursive);
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

/// Here somebody has removed what the study says of its data.
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
  EXPECT_THAT(run("kept").err, HasSubstr("1 of 1 run was done before"));
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
  reports::write_json_atomically(file, reports::with_print(status));

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

/// Changes that forge a checkpoint of iteration 4, and the reason why it is not used.
const std::vector<std::pair<Forgery, std::string>> kForgeries{
    {[](Parts& parts) { parts.state.resize(parts.state.size() - 8); }, "shorter than this"},
    {[](Parts& parts) { parts.state += "12345678"; }, "longer than this"},
    {[](Parts& parts) { parts.state.clear(); }, "shorter than this"},
    // The count of the checks, which stands behind the 3 entries of the model, says how much
    // follows.
    {[](Parts& parts) { parts.state.assign(parts.state.size(), '\xff'); }, "shorter than this"},
    {[](Parts& parts) { parts.state.replace(8, 8, 8, '\xff'); }, "its model is not finite"},
    {[](Parts& parts) { parts.head["iteration"] = 9; }, "it is of iteration 9"},
    {[](Parts& parts) {
       parts.head["found"] = {{"threshold", 0.5}, {"pilot_runs", 2}};
     },
     "it has a threshold"},
    {[](Parts& parts) { parts.head["found"] = "x"; }, "it is damaged"},
    {[](Parts& parts) { parts.head["started_utc"] = "now\nthen"; }, "its time of start"},
    {[](Parts& parts) { parts.head["iterations_bytes"] = 0; }, "are not there"},
    {[](Parts& parts) { parts.head["checks_bytes"] = 1ULL << 62U; }, "are not there"},
    {[](Parts& parts) { parts.head["details"]["../../../s"] = 1; }, "counted other tables"},
    {[](Parts& parts) { parts.head["details"].clear(); }, "has not counted workers"},
    {[](Parts& parts) { parts.head["table_sums"]["x"] = 1; }, "summed up other tables"},
    {[](Parts& parts) { parts.head["table_sums"].clear(); }, "summed up other tables"},
    {[](Parts& parts) { parts.head["iterations_bytes"] = 20; },
     "it ends within a row of iterations.csv.part"}};

TEST_F(ResumeFaults, AForgedCheckpointIsSetAsideAndTheOneBeforeItTaken) {
  const auto whole = tables_of_whole();
  for (const auto& [forgery, reason] : kForgeries) {
    SCOPED_TRACE(reason);
    begin_twice();
    forge(4, forgery);

    const Finished finished = run("kept");

    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("state-4 is not used: "));
    EXPECT_THAT(finished.err, HasSubstr(reason));
    EXPECT_THAT(finished.err, HasSubstr("it is kept as refused-4"));
    EXPECT_THAT(finished.err, Not(HasSubstr("state-2 is not used")));
    EXPECT_EQ(run_tables(folder_.path() / "kept"), whole);
  }
}

TEST_F(ResumeFaults, ACheckpointBeyondTheEndOfTheRunIsSetAside) {
  begin_twice();
  forge(4, [](Parts& parts) { parts.head["iteration"] = 9; });
  std::filesystem::rename(state(4), state(9));

  const Finished finished = run("kept");

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err,
              HasSubstr("state-9 is not used: it is of iteration 9, and the run has 8"));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables_of_whole());
}

TEST_F(ResumeFaults, AStateOfAnotherIterationThanItsHeadIsSetAside) {
  begin_twice();
  forge(4, [](Parts& parts) { parts.head["iteration"] = 5; });
  std::filesystem::rename(state(4), state(5));

  const Finished finished = run("kept");

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err,
              HasSubstr("state-5 is not used: its state is of iteration 4, and its head of 5"));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables_of_whole());
}

TEST_F(ResumeFaults, ARunWhoseCheckpointsAreAllForgedBeginsAnew) {
  const auto whole = tables_of_whole();
  for (const auto& [forgery, reason] : kForgeries) {
    SCOPED_TRACE(reason);
    begin_twice();
    forge(4, forgery);
    forge(2, forgery);

    const Finished finished = run("kept");

    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("state-4 is not used: "));
    EXPECT_THAT(finished.err, HasSubstr("state-2 is not used: "));
    EXPECT_EQ(run_tables(folder_.path() / "kept"), whole);
  }
}

TEST_F(ResumeFaults, SeveralProcessesTakeTheCheckpointBeforeAForgedOneToo) {
  begin_twice();
  forge(4, [](Parts& parts) { parts.state.resize(parts.state.size() - 8); });

  const Finished finished = run_program({RESIDUUM_MPIRUN,
                                         "-n",
                                         "2",
                                         "--oversubscribe",
                                         RESIDUUM_PROGRAM,
                                         "run",
                                         "s.toml",
                                         "--out",
                                         "kept",
                                         "--progress=none"},
                                        folder_.path());

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("state-4 is not used: "));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), tables_of_whole());
}

// The simulation of a late protocol is a list within the state: its length is right, and what it
// holds is not.
TEST_F(ResumeFaults, ASimulationThatIsNotOneOfTheRunIsSetAside) {
  const auto study =
      folder_.write("late.toml", kResumedStudy + "[protocol]\nkind = \"ssp\"\nstaleness = 1\n");
  const auto start = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{"run", study.string(), "--progress=none"};
    words.insert(words.end(), options.begin(), options.end());
    return residuum_program(words, folder_.path());
  };
  ASSERT_EQ(start({"--out", "whole"}).code, 0);
  ASSERT_EQ(start({"--out", "kept", "--time-limit", "0.000001s"}).code, 124);
  forge(2, [](Parts& parts) { parts.state.replace(640, 256, 256, '\xff'); });

  const Finished finished = start({"--out", "kept"});

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("state-2 is not used: the saved state "));
  EXPECT_EQ(run_tables(folder_.path() / "kept"), run_tables(folder_.path() / "whole"));
}

// Every file gets its name when it is whole, so each failed rename is at the end of a step.
TEST_F(ResumeFaults, AFullDiskAtAnyMomentCostsNothingButAnotherStart) {
  const auto whole = tables_of_whole();
  bool is_full = true;
  for (int at = 1; is_full; ++at) {
    SCOPED_TRACE(at);
    std::filesystem::remove_all(folder_.path() / "kept");
    const Finished full = run_program({"env",
                                       fmt::format("FAULTY_RENAME={}", at),
                                       RESIDUUM_FAULTY_PROGRAM,
                                       "run",
                                       "s.toml",
                                       "--out",
                                       "kept",
                                       "--progress=none"},
                                      folder_.path());
    is_full = full.err.find("No space left on device") != std::string::npos;
    EXPECT_EQ(full.code == 0, !is_full) << full.err;

    const Finished finished = run("kept");

    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.err, Not(HasSubstr("is not used")));
    EXPECT_EQ(run_tables(folder_.path() / "kept"), whole);
  }
}

}  // namespace
}  // namespace residuum
