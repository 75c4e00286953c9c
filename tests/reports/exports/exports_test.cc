// The ways out: one flat table, and event files by their published format.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "reports/exports/export_forms.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using std::string_literals::operator""s;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

SyntheticStudy two_methods() {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{}, SyntheticMethod{.aggregator = "allgather"}};
  study.seeds = 2;
  study.iterations = 5;
  return study;
}

TEST(JoinedTable, HasEveryRowOfEveryRunWithWhatTheRunWas) {
  const TemporaryFolder folder;
  two_methods().write(folder.path());
  const auto file = folder.path() / "flat.csv";
  EXPECT_EQ(write_joined_table(read_result_folder(folder.path()), file), 2U * 2 * 5);

  CsvReader flat(file);
  const auto aggregator = flat.column("p_aggregator_kind");
  const auto seed = flat.column("seed");
  std::size_t rows = 0;
  for (; flat.next(); ++rows) {
    CsvReader run(folder.path() / "runs" / flat.text(0) / "iterations.csv");
    for (std::size_t i = 0; i <= rows % 5; ++i) {
      ASSERT_TRUE(run.next());
    }
    for (std::size_t column = 0; column < run.header().size(); ++column) {
      ASSERT_EQ(flat.header()[column], run.header()[column]);
      ASSERT_EQ(flat.text(column), run.text(column));
    }
    EXPECT_EQ(flat.text(aggregator), rows < 10 ? "gtopk-tree" : "allgather");
    EXPECT_EQ(flat.integer(seed), 1 + rows / 5 % 2);
    EXPECT_EQ(flat.text(flat.column("study")), "synthetic");
    EXPECT_EQ(flat.text(flat.column("state")), "finished");
  }
  EXPECT_EQ(rows, 20U);
}

TEST(JoinedTable, HasAPackageThatSaysWhatEveryColumnIs) {
  const TemporaryFolder folder;
  two_methods().write(folder.path());
  const auto file = folder.path() / "flat.csv";
  write_joined_table(read_result_folder(folder.path()), file);

  const Json package = read_json(folder.path() / "flat.datapackage.json");
  const Json& table = package["resources"][0];
  EXPECT_EQ(table["path"], "flat.csv");
  std::vector<std::string> names;
  std::map<std::string, Json> fields;
  for (const auto& one : table["schema"]["fields"]) {
    names.push_back(one["name"]);
    fields[names.back()] = one;
    EXPECT_FALSE(one.value("type", "").empty()) << names.back();
    EXPECT_FALSE(one.value("description", "").empty()) << names.back();
  }
  EXPECT_EQ(names, CsvReader(file).header());
  EXPECT_EQ(fields["sent_bytes"].value("unit", ""), "bytes");
  EXPECT_EQ(fields["seed"]["type"], "integer");
  EXPECT_EQ(fields["p_aggregator_kind"]["type"], "string");
}

TEST(JoinedTable, IsNotLeftHalfWrittenByADamagedRun) {
  const TemporaryFolder folder;
  two_methods().write(folder.path());
  const auto second = folder.path() / "runs" / SyntheticStudy::run_id(1, 1) / "iterations.csv";
  write_file_atomically(second, "run_id,iteration\nanother,0\n");
  const auto file = folder.path() / "flat.csv";
  EXPECT_THROW(write_joined_table(read_result_folder(folder.path()), file), Error);
  EXPECT_FALSE(std::filesystem::exists(file));
}

// The check value of CRC-32C in the catalogues of checksums.
TEST(EventFiles, HaveTheChecksumOfCastagnoli) { EXPECT_EQ(crc32c("123456789"), 0xE3069283U); }

// Files that TensorFlow has written begin with these twelve bytes: the length 24, its checksum.
TEST(EventFiles, BeginAsThoseOfTensorFlow) {
  const std::string record = event_record(version_event(0));
  EXPECT_EQ(record.substr(0, 12), "\x18\0\0\0\0\0\0\0\xA3\x7FK\""s);
  EXPECT_EQ(record.substr(12, 24), "\x09\0\0\0\0\0\0\0\0\x1A\x0D"s + "brain.Event:2");
  EXPECT_EQ(record.size(), 12U + 24 + 4);
}

// Event {wall_time: 1.0, step: 300, summary {value {tag: "a", simple_value: 0.5}}}, by hand.
TEST(EventFiles, HaveScalarsAsProtocolBuffersSay) {
  EXPECT_EQ(scalars_event(1.0, 300, {{.tag = "a", .value = 0.5F}}),
            "\x09\0\0\0\0\0\0\xF0\x3F"  // field 1, 8 bytes
            "\x10\xAC\x02"              // field 2: 300 = 0b10'0101100
            "\x2A\x0A"                  // field 5, 10 bytes
            "\x0A\x08"                  // value, 8 bytes
            "\x0A\x01"
            "a\x15\0\0\0\x3F"s);
}

TEST(EventFiles, AreWrittenForEveryRunThatHasEnded) {
  const TemporaryFolder folder;
  two_methods().write(folder.path());
  const auto target = folder.path() / "events";
  EXPECT_EQ(write_event_files(read_result_folder(folder.path()), target).runs, 4U);
  // 2024-05-01T10:00:00Z, by `date -u -d ... +%s`.
  const auto file =
      target / SyntheticStudy::run_id(0, 1) / "events.out.tfevents.1714557600.residuum";
  const std::string bytes = read_file(file);
  EXPECT_THAT(bytes, ::testing::StartsWith(event_record(version_event(1714557600))));
  EXPECT_THAT(bytes, ::testing::HasSubstr("grad_norm_sq"));
}

// In float32 1e39 is infinite and 1e-46 is 0. A value that was infinite before stays.
TEST(EventFiles, LeaveOutAndCountWhatFloat32DoesNotHold) {
  const auto written_with = [](double value) {
    const TemporaryFolder folder;
    SyntheticStudy study;
    study.seeds = 1;
    study.iterations = 3;
    study.methods[0].change = [value](Row& row, int /*seed*/) {
      if (row.iteration() == 1) {
        row.set(Column::ef21_change, value);
      }
    };
    study.write(folder.path());
    const auto target = folder.path() / "events";
    const EventFiles written = write_event_files(read_result_folder(folder.path()), target);
    const std::string bytes = read_file(target / SyntheticStudy::run_id(0, 1) /
                                        "events.out.tfevents.1714557600.residuum");
    const bool is_there = bytes.find("ef21_change") != std::string::npos;
    EXPECT_EQ(is_there, written.left_out == 0) << value;
    return written.left_out;
  };

  for (const double beyond : {1e39, -1e39, 1e300, 1e-46, -1e-300}) {
    EXPECT_EQ(written_with(beyond), 1U) << beyond;
  }
  for (const double held : {3.4e38, -3.4e38, 1e-44, 0.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(written_with(held), 0U) << held;
  }
}

TEST(EventFiles, SayWhyTheirFolderCannotBeMade) {
  const TemporaryFolder folder;
  two_methods().write(folder.path());

  try {
    write_event_files(read_result_folder(folder.path()), "/sys/events");  // no one writes there
    FAIL() << "a folder was made in /sys";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("cannot make the folder '/sys/events/"));
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("No such file")));
  }
}

TEST(SecondsOfUtc, AreThoseOfTheDateProgram) {
  EXPECT_EQ(seconds_of_utc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(seconds_of_utc("2026-11-23T07:22:47Z"), 1795418567);
  for (const char* wrong :
       {"", "yesterday", "2026-11-23", "2026-11-23T07:22:47", "2026-11-23T07:22:47Zx"}) {
    EXPECT_EQ(seconds_of_utc(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace residuum::reports
