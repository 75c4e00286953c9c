#include "reports/results/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "core/error.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TemporaryFolder;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class Csv : public ::testing::Test {
 protected:
  std::filesystem::path file(std::string_view content) const {
    auto path = folder_.path() / "table.csv";
    std::filesystem::remove(path);  // a new file: truncating the old one may wait for the disk
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  /// The message of the usage error that reading all of `content` ends with.
  std::string complaint(std::string_view content) const {
    try {
      CsvReader reader(file(content));
      while (reader.next()) {
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no complaint";
  }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST(FormatNumber, IsTheShortestThatReadsBackTheSame) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(1e-300), "1e-300");
  EXPECT_EQ(format_number(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(format_number(3.0), "3");
}

TEST(FormatNumber, SpellsWhatIsNotFinite) {
  EXPECT_EQ(format_number(kNan), "nan");
  EXPECT_EQ(format_number(-kNan), "nan");
  EXPECT_EQ(format_number(kInf), "inf");
  EXPECT_EQ(format_number(-kInf), "-inf");
  EXPECT_EQ(format_number(std::optional<double>{}), "");
}

TEST(FormatInteger, HasNoExponentWhileItIsExact) {
  EXPECT_EQ(format_integer(1e15), "1000000000000000");
  EXPECT_EQ(format_integer(-2), "-2");
  EXPECT_EQ(format_integer(1e300), "1e+300");
  EXPECT_EQ(format_integer(2.5), "2.5");
  EXPECT_EQ(format_integer(kNan), "nan");
}

TEST(CsvField, IsQuotedOnlyWhereItMustBe) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

// A text that a spreadsheet would take for a formula reads back as it was written.
TEST_F(Csv, AFieldThatBeginsAsAFormulaIsQuotedAndReadsBack) {
  EXPECT_EQ(csv_field("=1+1"), "\"'=1+1\"");
  EXPECT_EQ(csv_field("@a,\"b\""), "\"'@a,\"\"b\"\"\"");
  for (const char* number : {"-1", "-0.5", "-inf", "-1e-300"}) {
    EXPECT_EQ(csv_field(number), number);
  }
  for (const char* text : {"=HYPERLINK(\"x\")",
                           "+cmd|' /C calc'!A0",
                           "-x",
                           "@SUM(A1)",
                           "\tx",
                           "'=x",
                           "''=x",
                           "'x",
                           "'",
                           "x=1",
                           "-1",
                           "'a,b'"}) {
    CsvReader reader(file("a,b\n" + csv_field(text) + ',' + csv_field(text) + '\n'));
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.text(0), text);
    EXPECT_EQ(reader.text(1), text);
  }
}

TEST_F(Csv, IterationsHaveTheKeysFirstAndEmptyFieldsForWhatWasNotMeasured) {
  const auto path = folder() / "iterations.csv";
  IterationsWriter writer(path, "lr-0123456789ab");
  Row row(7);
  row.set(Column::epoch, 0.5);
  row.set(Column::loss, kNan);
  row.set(Column::delta, 0.1);
  row.set(Column::uplink_bytes, 1e6);

  writer.write(row);
  writer.close();

  const std::string text = read_file(path);
  EXPECT_THAT(text,
              StartsWith("run_id,iteration,epoch,loss,loss_gap,step_size,grad_norm_sq,"
                         "mean_grad_norm_sq,accumulator_norm_sq,residual_norm_sq,"));
  EXPECT_THAT(text, HasSubstr("\nlr-0123456789ab,7,0.5,nan,,,,,,,,,,0.1,,,,,,,,,,,1000000,,"));
  const std::string record = text.substr(text.find('\n') + 1);
  EXPECT_EQ(static_cast<std::size_t>(std::count(record.begin(), record.end(), ',')),
            kColumns.size() + 1);
}

TEST_F(Csv, ChecksHaveARatioUnlessBothSidesAreZero) {
  const auto path = folder() / "checks.csv";
  ChecksWriter writer(path, "r-0123456789ab");

  writer.write({.iteration = 1, .name = "a", .worker = 3, .lhs = 1, .rhs = 4, .holds = true});
  writer.write({.iteration = 2, .name = "b,c", .worker = {}, .lhs = 0, .rhs = 0, .holds = true});
  writer.write({.iteration = 3, .name = "d", .worker = {}, .lhs = 2, .rhs = 0, .holds = false});
  writer.write({.iteration = 4, .name = "e", .worker = {}, .lhs = kNan, .rhs = 0, .holds = false});
  writer.close();

  EXPECT_EQ(read_file(path),
            "run_id,iteration,check,worker,lhs,rhs,ratio,holds\n"
            "r-0123456789ab,1,a,3,1,4,0.25,1\n"
            "r-0123456789ab,2,\"b,c\",,0,0,,1\n"
            "r-0123456789ab,3,d,,2,0,inf,0\n"
            "r-0123456789ab,4,e,,nan,0,nan,0\n");
}

TEST_F(Csv, DetailsNameTheirPartAndLeaveEmptyWhatWasNotMeasured) {
  const auto path = folder() / "workers.csv";
  {
    DetailWriter writer(path, "r-0123456789ab", kWorkersTable);
    DetailRow row(kWorkersTable, 5, "3");
    row.set(WorkerColumn::nnz_sent, 1e6);
    row.set(WorkerColumn::residual_norm_sq, 0.1);
    row.set(WorkerColumn::total_error, kInf);
    writer.write(row);
    writer.close();
  }
  const std::string kept =
      "run_id,iteration,worker,nnz_sent,worker_grad_norm_sq,worker_accumulator_norm_sq,"
      "residual_norm_sq,"
      "residual_norm_inf,sent_norm_sq,noise_variance,total_error,total_nnz_sent\n"
      "r-0123456789ab,5,3,1000000,,,0.1,,,,inf,\n";
  EXPECT_EQ(read_file(path), kept);

  std::ofstream(path, std::ios::app) << "cut off";
  DetailWriter writer(path, "r-0123456789ab", kWorkersTable, kept.size());
  writer.write(DetailRow(kWorkersTable, 6, "0"));
  writer.close();
  EXPECT_EQ(read_file(path), kept + "r-0123456789ab,6,0,,,,,,,,,\n");
}

TEST(IterationsWriter, SaysThatTheDiskIsFull) {
  IterationsWriter writer("/dev/full", "r-0123456789ab");
  writer.write(Row(0));

  try {
    writer.flush();
    FAIL() << "a full disk went unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_THAT(error.what(), HasSubstr("/dev/full"));
    EXPECT_THAT(error.what(), HasSubstr("No space left"));
  }
}

TEST(ChecksWriter, SaysAtCloseThatTheDiskIsFull) {
  ChecksWriter writer("/dev/full", "r-0123456789ab");

  EXPECT_THROW(writer.close(), Error);
}

TEST(IterationsWriter, SaysThatTheFolderIsNotThere) {
  try {
    const IterationsWriter writer("/nowhere/iterations.csv", "r-0123456789ab");
    FAIL() << "a missing folder went unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/iterations.csv"));
  }
}

TEST_F(Csv, ReaderResolvesQuotesAndLineEndsOfEitherKind) {
  CsvReader reader(file("a,b,c\n1,\"x,\"\"y\"\"\nz\",\r\n,\"\",last\r\n"));

  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(0), "1");
  EXPECT_EQ(reader.text(1), "x,\"y\"\nz");
  EXPECT_EQ(reader.text(2), "");
  EXPECT_EQ(reader.line(), 2U);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(1), "");
  EXPECT_EQ(reader.text(2), "last");
  EXPECT_EQ(reader.line(), 4U);
  EXPECT_FALSE(reader.next());
  EXPECT_THAT(reader.header(), ElementsAre("a", "b", "c"));
}

TEST_F(Csv, ReaderGivesTheSameFieldsWhereverARecordLies) {
  // Records of ten bytes and one of another length before them lie across every place of 64 KiB.
  const std::size_t chunk = std::size_t{1} << 16U;
  for (std::size_t shift = 0; shift < 10; ++shift) {
    std::string text = "a,b,c\n" + std::string(shift + 1, 'x') + ",,\n";
    while (text.size() < chunk + 20) {
      text += "12,,4.5e\r\n";
    }
    CsvReader reader(file(text));
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.text(0).size(), shift + 1);
    std::size_t line = 2;
    while (reader.next()) {
      ASSERT_EQ(reader.text(0), "12") << shift;
      ASSERT_EQ(reader.text(1), "") << shift;
      ASSERT_EQ(reader.text(2), "4.5e") << shift;
      ASSERT_EQ(reader.record(), "12,,4.5e") << shift;
      ASSERT_EQ(reader.line(), ++line) << shift;
    }
    EXPECT_GT(line, chunk / 10) << shift;
  }
}

TEST_F(Csv, ReaderTellsNotMeasuredFromNotFinite) {
  CsvReader reader(file("a,b,c,d\n,nan,-inf,1e-3\n"));

  ASSERT_TRUE(reader.next());
  EXPECT_FALSE(reader.number(0).has_value());
  EXPECT_TRUE(std::isnan(*reader.number(reader.column("b"))));
  EXPECT_EQ(*reader.number(2), -kInf);
  EXPECT_EQ(*reader.number(3), 0.001);
}

TEST_F(Csv, ReaderGivesEveryNumberBackExactly) {
  const auto path = folder() / "iterations.csv";
  const std::vector<double> values{0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -0.0};
  IterationsWriter writer(path, "r-0123456789ab");
  for (std::size_t i = 0; i < values.size(); ++i) {
    Row row(i);
    row.set(Column::loss, values[i]);
    writer.write(row);
  }
  writer.close();

  CsvReader reader(path);
  for (const double value : values) {
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(*reader.number(reader.column("loss")), value);
  }
}

TEST_F(Csv, ReaderNamesFileAndLineOfWhatIsMalformed) {
  EXPECT_THAT(complaint("a,b\n1,2\n1\n"),
              HasSubstr("table.csv:3: 1 fields where the header has 2"));
  EXPECT_THAT(complaint("a,b\n1,2,3\n"), HasSubstr("table.csv:2: 3 fields"));
  EXPECT_THAT(complaint("a,b\n\n"), HasSubstr("table.csv:2: 1 fields"));
  EXPECT_THAT(complaint("a,b\n1,\"2\n"), HasSubstr("table.csv:2: a quote is not closed"));
  EXPECT_THAT(complaint("a,b\n1,2\"3\n"), HasSubstr("table.csv:2: a quote inside a field"));
  EXPECT_THAT(complaint("a,b\n1,\"2\"3\n"), HasSubstr("table.csv:2: text after a closing quote"));
  EXPECT_THAT(complaint("a,b\n1,\"2\"\r3\n"), HasSubstr("table.csv:2: text after a closing quote"));
  EXPECT_THAT(complaint("a,b\n1,2\n3,4"), HasSubstr("table.csv:3: the last line has no end"));
  EXPECT_THAT(complaint("a,a\n"), HasSubstr("table.csv:1: the column 'a' is there twice"));
  EXPECT_THAT(complaint(""), HasSubstr("is empty"));
}

TEST_F(Csv, ReaderNamesTheColumnOfWhatIsNoNumber) {
  CsvReader reader(file("a,b\n1,x\n"));
  ASSERT_TRUE(reader.next());

  try {
    (void)reader.number(1);
    FAIL() << "'x' passed for a number";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("table.csv:2: 'x' in column 'b' is not a number"));
  }
  EXPECT_THROW((void)reader.integer(1), Error);
  EXPECT_THROW((void)reader.column("c"), Error);
}

TEST_F(Csv, ReaderStopsAtARecordWithoutEnd) {
  EXPECT_THAT(complaint("a\n\"" + std::string(3U << 20U, 'x')), HasSubstr("longer than 1 MiB"));
}

TEST_F(Csv, ReaderEitherReadsOrComplainsWhateverTheBytes) {
  // All texts of up to 4 letters over what matters to the grammar, and every 7th of 5 and 6.
  constexpr std::string_view kAlphabet = "a,\"\n\r";
  for (std::size_t length = 0; length <= 6; ++length) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < length; ++i) {
      count *= kAlphabet.size();
    }
    for (std::size_t code = 0; code < count; code += length < 5 ? 1 : 7) {
      std::string text = "h\n";
      for (std::size_t i = 0, rest = code; i < length; ++i, rest /= kAlphabet.size()) {
        text += kAlphabet[rest % kAlphabet.size()];
      }
      EXPECT_THAT(complaint(text), ::testing::AnyOf("no complaint", HasSubstr("table.csv:")))
          << text;
    }
  }
}

}  // namespace
}  // namespace residuum::reports
