#include "objectives/data/libsvm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random/random.h"
#include "core/text.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::usage_message;

SparseDataset parse(const std::string& text) { return parse_libsvm(text, "f"); }

TEST(Libsvm, ReadsRowsWithIndicesFromOne) {
  const auto data = parse("+1 1:0.5 3:-2e1\n-1 2:1\n");

  EXPECT_EQ(data.rows(), 2U);
  EXPECT_EQ(data.features, 3U);
  EXPECT_THAT(data.row_begin, ElementsAre(0U, 2U, 3U));
  EXPECT_THAT(data.columns, ElementsAre(0U, 2U, 1U));
  EXPECT_THAT(data.values, ElementsAre(0.5, -20.0, 1.0));
  EXPECT_THAT(data.labels, ElementsAre(1, -1));
  EXPECT_EQ(data.note, "labels -1, +1");
}

TEST(Libsvm, MapsTheThreePairsOfLabelsAndSaysSo) {
  const auto zero_one = parse("1 1:1\n0 1:2\n");
  EXPECT_THAT(zero_one.labels, ElementsAre(1, -1));
  EXPECT_EQ(zero_one.note, "labels 0, 1 mapped to -1, +1");

  const auto one_two = parse("1 1:1\n2 1:2\n1 1:3\n");
  EXPECT_THAT(one_two.labels, ElementsAre(-1, 1, -1));
  EXPECT_EQ(one_two.note, "labels 1, 2 mapped to -1, +1");

  EXPECT_THAT(parse("-1.0 1:1\n+1.000 1:2\n").labels, ElementsAre(-1, 1));
}

TEST(Libsvm, ToleratesCommentsBlankLinesSpacesCrlfAndAMissingLastNewline) {
  const auto data = parse(
      "# a comment\r\n\r\n  +1\t1:1   2:2 \t\r\n   \n-1 1:3 # 2:nonsense\n\n+1#\n-1 |f 2:4\n-1 | "
      "1:5");

  EXPECT_THAT(data.labels, ElementsAre(1, -1, 1, -1, -1));
  EXPECT_THAT(data.values, ElementsAre(1.0, 2.0, 3.0, 4.0, 5.0));
  EXPECT_THAT(data.row_begin, ElementsAre(0U, 2U, 3U, 3U, 4U, 5U));
}

TEST(Libsvm, LeavesOutTheByteOrderMarkOfUtf8AndSaysSo) {
  const auto plain = parse("+1 1:1\n-1 1:2\n");
  const auto marked = parse("\xef\xbb\xbf+1 1:1\n-1 1:2\n");
  EXPECT_EQ(marked.labels, plain.labels);
  EXPECT_EQ(marked.values, plain.values);
  EXPECT_THAT(marked.note, HasSubstr("a byte order mark left out"));
}

TEST(Libsvm, ThatIsUtf16OrHasTwoByteOrderMarksIsRefusedWithTheCure) {
  for (const char* mark : {"\xef\xbb\xbf\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}) {
    EXPECT_EQ(usage_message([&] { parse(std::string(mark) + "+1 1:1\n-1 1:2\n"); }),
              "f:1:1: begins with a byte order mark; save it as UTF-8 without one");
  }
}

TEST(Libsvm, OfHeldOutDataHasTheLabelsOfTheTrainingDataOrOneOfThem) {
  const auto held_out = [](const std::string& text, int low, int high) {
    return parse_libsvm(text, "f", {.classes = LabelPair{.low = low, .high = high}}).labels;
  };

  EXPECT_THAT(held_out("1 1:1\n1 1:2\n", 0, 1), ElementsAre(1, 1));
  EXPECT_THAT(held_out("1 1:1\n1 1:2\n", 1, 2), ElementsAre(-1, -1));
  EXPECT_THAT(held_out("-1 1:1\n", -1, 1), ElementsAre(-1));
  EXPECT_THAT(held_out("2 1:1\n1 1:2\n", 1, 2), ElementsAre(1, -1));
  EXPECT_EQ(usage_message([&] { held_out("1 1:1\n0 1:2\n", 1, 2); }),
            "f:2:1: label 0 is none of the training data's, which are 1 and 2");
}

// scikit-learn's dump_svmlight_file counts from 0 unless it is told otherwise.
TEST(Libsvm, CountsFeaturesFromZeroWhereAsked) {
  const auto data = parse_libsvm("1 0:5 2:6\n0 1:7\n", "f", {.first_index = 0});
  EXPECT_THAT(data.columns, ElementsAre(0U, 2U, 1U));
  EXPECT_EQ(data.features, 3U);
  EXPECT_EQ(usage_message([] { parse("1 0:5 2:6\n0 1:7\n"); }),
            "f:1:3: index 0; indices start at 1, or at 0 with zero_based = true, as scikit-learn "
            "writes them");
  EXPECT_EQ(usage_message([] { parse_libsvm("1 0:5 2:6 2:7\n0 1:7\n", "f", {.first_index = 0}); }),
            "f:1:11: index 2 comes after 2; indices must increase within a line");
}

TEST(Libsvm, LeavesOutTheQueryOfARowAndSaysSo) {
  const auto data = parse("1 qid:3 1:5\n0 qid:4 2:6\n");
  EXPECT_THAT(data.values, ElementsAre(5.0, 6.0));
  EXPECT_EQ(data.note, "labels 0, 1 mapped to -1, +1; the qid of rows left out");
}

TEST(Libsvm, TakesOneClassAgainstTheRest) {
  const std::string text = "3 1:1\n0 1:2\n7 1:3\n3 1:4\n-1 1:5\n";
  const auto data = parse_libsvm(text, "f", {.positive = 3});
  EXPECT_THAT(data.labels, ElementsAre(1, -1, -1, 1, -1));
  EXPECT_EQ(data.note, "label 3 mapped to +1, 3 others to -1");

  EXPECT_EQ(usage_message([&] { parse_libsvm(text, "f", {.positive = 4}); }),
            "f: 0 of 5 rows have label 4; one-vs-rest needs some and leaves some");
  EXPECT_THAT(usage_message([] { parse_libsvm("4 1:1\n4 1:2\n", "f", {.positive = 4}); }),
              HasSubstr("f: 2 of 2 rows have label 4"));
  EXPECT_EQ(usage_message([] { parse_libsvm("2.5 1:1\n4 1:2\n", "f", {.positive = 4}); }),
            "f:1:1: label '2.5' is no class; expected a whole number");
  EXPECT_THAT(usage_message([&] { parse(text); }), HasSubstr("classes = \"one-vs-rest:LABEL\""));

  const LibsvmOptions held_out{.positive = 3, .classes = LabelPair{}};
  EXPECT_THAT(parse_libsvm("9 1:1\n", "f.t", held_out).labels, ElementsAre(-1))
      << "held-out data may lack the class";
}

TEST(Libsvm, DropsZerosButCountsTheirFeatures) {
  const auto data = parse("1 1:0 2:3 7:-0.0\n-1\n");

  EXPECT_THAT(data.values, ElementsAre(3.0));
  EXPECT_EQ(data.features, 7U);
}

TEST(Libsvm, HasAtLeastTheFeaturesAskedFor) {
  EXPECT_EQ(parse_libsvm("1 2:1\n-1 1:1\n", "f", {.minimum_features = 10}).features, 10U);
  EXPECT_EQ(parse_libsvm("1 12:1\n-1 1:1\n", "f", {.minimum_features = 10}).features, 12U);
}

TEST(Libsvm, TakesTheLargestIndex) {
  const auto data = parse("1 4294967295:1\n-1 1:1\n");

  EXPECT_EQ(data.features, 4294967295U);
  EXPECT_THAT(data.columns, ElementsAre(4294967294U, 0U));
}

TEST(Libsvm, NamesTheDataAfterTheFile) {
  const testing::Folder folder;
  EXPECT_EQ(read_libsvm(folder.write("some.t.gz", testing::gzip("1 1:1\n-1\n"))).name, "some.t");
}

struct Bad {
  const char* text;
  const char* place;
  const char* message;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.text; }  // NOLINT

class LibsvmRefuses : public ::testing::TestWithParam<Bad> {};

TEST_P(LibsvmRefuses, WithPlaceAndExpectation) {
  const Bad& bad = GetParam();
  const auto message = usage_message([&] { parse_libsvm(bad.text, "dir/data.txt"); });

  EXPECT_THAT(message, StartsWith(std::string("dir/data.txt:") + bad.place + ": "));
  EXPECT_THAT(message, HasSubstr(bad.message));
}

INSTANTIATE_TEST_SUITE_P(
    BadInput,
    LibsvmRefuses,
    ::testing::Values(
        Bad{"", "1:1", "no samples; lines 'label index:value ...' were expected"},
        Bad{"# only a comment\n\n", "1:1", "no samples"},
        Bad{"1 1:1\n1 2:1\n", "1:1", "label 1 is the only class in all 2 rows; two are expected"},
        Bad{"\n  2 1:1\n", "2:3", "label 2 is the only class"},
        Bad{"3 1:1\n", "1:1", "label '3' is no class; expected -1/+1, 0/1 or 1/2"},
        Bad{"1 1:1\n yes 1:1\n", "2:2", "label 'yes' is no class"},
        Bad{"0.5 1:1\n", "1:1", "label '0.5' is no class"},
        Bad{"nan 1:1\n", "1:1", "label 'nan' is no class"},
        Bad{"1,2 1:1\n", "1:1", "label '1,2' is no class"},
        Bad{"1:1 2:1\n", "1:1", "label '1:1' is no class"},
        Bad{"|f 1:1\n", "1:1", "label '|f' is no class"},
        Bad{"1 1:1\n0 1:1\n\n2 1:1\n", "4:1", "label 2 is a third class beside 1 (line 1) and 0"},
        Bad{"-1 1:1\n0 1:1\n", "2:1", "label 0 does not go with -1 (line 1)"},
        Bad{"2 1:1\n-1 1:1\n", "2:1", "label -1 does not go with 2 (line 1)"},
        Bad{"0 1:1\n2 1:1\n", "2:1", "label 2 does not go with 0 (line 1)"},
        Bad{"1 1:nan\n", "1:5", "value 'nan' is not a finite number"},
        Bad{"1 1:2 12:-Inf\n", "1:10", "value '-Inf' is not a finite number"},
        Bad{"1 1:1e999\n", "1:5", "value '1e999' is not a finite number"},
        Bad{"1 1:1e39\n", "1:5", "value '1e39' is not a finite number of float32's range"},
        Bad{"1 1:1.2.3\n", "1:5", "value '1.2.3' is not a finite number"},
        Bad{"1 1:\n", "1:5", "value '' is not a finite number"},
        Bad{"1 1:+-3\n", "1:5", "value '+-3' is not a finite number"},
        Bad{"1 1:0x10\n", "1:5", "value '0x10' is not a finite number"},
        Bad{"1 1:1:1\n", "1:5", "value '1:1' is not a finite number"},
        Bad{"1 1:1\n-1 5\n", "2:4", "'5' has no colon; expected index:value"},
        Bad{"1 1:1 : 2\n", "1:7", "index '' is not a whole number from 1"},
        Bad{"1 1:1 |g 2:1\n", "1:7", "'|g' has no colon"},
        Bad{"1 0:1\n", "1:3", "index 0; indices start at 1"},
        Bad{"1 -1:1\n", "1:3", "index '-1' is not a whole number"},
        Bad{"1 +1:1\n", "1:3", "index '+1' is not a whole number"},
        Bad{"1 1.5:1\n", "1:3", "index '1.5' is not a whole number"},
        Bad{"1 2:1 2:1\n", "1:7", "index 2 comes after 2; indices must increase"},
        Bad{"1 2:1\t1:1\n", "1:7", "index 1 comes after 2; indices must increase"},
        Bad{"1 2:0 1:1\n", "1:7", "index 1 comes after 2"},
        Bad{"1 4294967296:1\n", "1:3", "index 4294967296 is larger than 4294967295"},
        Bad{"1 99999999999999999999:1\n", "1:3", "index 99999999999999999999 is larger than"},
        Bad{"1 1:\x01\x1b[31m\n", "1:5", "value '??[31m'"},
        Bad{"1 1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "1:5", "'aaaaaaaaaaaaaaaaaaaaaaaa...'"}));

TEST(Libsvm, NamesTheFileOfATruncatedArchive) {
  const testing::Folder folder;
  const std::string packed = testing::xz("1 1:1\n-1 1:2\n");
  const auto file = folder.write("cut.xz", packed.substr(0, packed.size() - 5));

  EXPECT_THAT(usage_message([&] { read_libsvm(file); }), HasSubstr("cut.xz: the archive is trunc"));
}

/// Shortest text that reads back as the same numbers.
std::string to_libsvm(const SparseDataset& data) {
  std::string text;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    text += fmt::format("{:+d}", data.labels[row]);
    for (auto i = data.row_begin[row]; i < data.row_begin[row + 1]; ++i) {
      text += fmt::format(" {}:{}", std::uint64_t{data.columns[i]} + 1, data.values[i]);
    }
    text += '\n';
  }
  return text;
}

/// Of any magnitude that float32 does not exceed.
double any_value(RandomStream& random) {
  const int exponent = static_cast<int>(random.below(1120)) - 1000;
  const double value = std::ldexp(random.normal(), exponent);
  return value == 0 ? std::numeric_limits<double>::denorm_min() : value;
}

TEST(Libsvm, ReadsBackWhatWasWrittenBitForBit) {
  RandomStream random(1, Purpose::test, 0, 0);
  SparseDataset data;
  for (int row = 0; row < 200; ++row) {
    for (std::uint32_t column = random.below(4); column < 1000; column += 1 + random.below(200)) {
      data.columns.push_back(column);
      data.values.push_back(any_value(random));
    }
    data.row_begin.push_back(data.columns.size());
    data.labels.push_back(row % 3 == 0 ? 1 : -1);
  }

  const auto read = parse_libsvm(to_libsvm(data), "f", {.minimum_features = 1000});

  EXPECT_EQ(read.row_begin, data.row_begin);
  EXPECT_EQ(read.columns, data.columns);
  EXPECT_EQ(read.values, data.values);
  EXPECT_EQ(read.labels, data.labels);
}

/// Reads, or refuses with one line that names a place in the file; the data set is well formed.
void expect_sane(const std::string& text) {
  SparseDataset data;
  try {
    data = parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), ::testing::MatchesRegex("f:[0-9]+:[0-9]+: .+"));
    EXPECT_EQ(error.what(), harmless(error.what()));
    return;
  }
  ASSERT_EQ(data.row_begin.size(), data.rows() + 1);
  ASSERT_EQ(data.row_begin.back(), data.columns.size());
  ASSERT_EQ(data.values.size(), data.columns.size());
  for (std::size_t row = 0; row < data.rows(); ++row) {
    ASSERT_TRUE(data.labels[row] == 1 || data.labels[row] == -1);
    for (auto i = data.row_begin[row]; i < data.row_begin[row + 1]; ++i) {
      ASSERT_LT(data.columns[i], data.features);
      ASSERT_TRUE(std::isfinite(data.values[i]) && data.values[i] != 0);
      ASSERT_TRUE(i == data.row_begin[row] || data.columns[i - 1] < data.columns[i]);
    }
  }
}

void change_one_place(std::string& text, RandomStream& random) {
  const std::string alphabet("01259+-.:eE# |\t\r\n\0nif\xff", 22);
  const char letter = alphabet[random.below(static_cast<std::uint32_t>(alphabet.size()))];
  const std::size_t place = random.below(static_cast<std::uint32_t>(text.size()) + 1);
  switch (random.below(8)) {
    case 0:
      text.resize(place);
      break;
    case 1:
    case 2:
      text.erase(place, 1 + random.below(4));
      break;
    case 3:
    case 4:
      text.replace(place, 1, 1, letter);
      break;
    default:
      text.insert(place, 1, letter);
  }
}

TEST(LibsvmFuzz, ChangedDeletedAndInsertedBytesNeverBreakTheReader) {
  const std::string base = "+1 1:0.5 3:-2e1 # c\n-1 |f 2:1 4294967295:0.25\r\n+1\n-1 7:1e-300\n";
  RandomStream random(2, Purpose::test, 0, 0);

  for (int round = 0; round < 20000; ++round) {
    std::string text = base;
    for (std::uint32_t left = 1 + random.below(8); left > 0; --left) {
      change_one_place(text, random);
    }
    ASSERT_NO_FATAL_FAILURE(expect_sane(text)) << text;
  }
}

TEST(LibsvmFuzz, AnyBytesAreReadOrRefused) {
  RandomStream random(3, Purpose::test, 0, 0);
  for (int round = 0; round < 5000; ++round) {
    std::string text = "1 1:1\n-1 1:1\n";
    for (std::uint32_t left = random.below(60); left > 0; --left) {
      text.push_back(static_cast<char>(random.below(256)));
    }
    ASSERT_NO_FATAL_FAILURE(expect_sane(text));
  }
}

}  // namespace
}  // namespace residuum
