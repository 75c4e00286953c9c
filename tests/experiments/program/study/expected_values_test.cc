// A study may say what papers have; errors name the place of the fault.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "experiments/program/study/study.h"
#include "experiments/program/study/study_toml.h"

namespace residuum {
namespace {

using ::testing::HasSubstr;

const std::string kExpecting = "schema = 1\nname = \"s\"\n[[expected]]\n";

nlohmann::json expected_in(const std::string& entry) {
  return parse_study(kExpecting + entry, "s.toml", {}).expected;
}

std::string expected_error(const std::string& entry) {
  try {
    parse_study(kExpecting + entry, "s.toml", {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(ExpectedValues, AreCompleteInTheResolvedStudy) {
  const auto entries = expected_in(
      "quantity = \"residual_norm_sq\"\nat = \"max\"\nvalue = 3.2e-4\nsource = \"Fig. 5\"\n"
      "where = { \"sparsifier.kind\" = \"top-k\", workers.count = 4 }\n"
      "[[expected]]\nquantity = \"facts.minimum\"\ninterval = [0, 0.5]\nsource = \"a table\"\n"
      "[[expected]]\nquantity = \"loss\"\nat = 0\nvalue = 12\nsource = \"\"\n");

  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0],
            (nlohmann::json{{"quantity", "residual_norm_sq"},
                            {"at", "max"},
                            {"value", 3.2e-4},
                            {"source", "Fig. 5"},
                            {"where", {{"sparsifier.kind", "top-k"}, {"workers.count", 4}}}}));
  EXPECT_EQ(entries[1]["at"], "end");
  EXPECT_EQ(entries[1]["interval"], (nlohmann::json{0.0, 0.5}));
  EXPECT_EQ(entries[2]["at"], 0);
  EXPECT_EQ(entries[2]["value"], 12.0);
}

TEST(ExpectedValues, ChangeNoRun) {
  const auto with =
      parse_study(kExpecting + "quantity = \"loss\"\nvalue = 1\nsource = \"\"\n", "s", {});
  const auto without = parse_study("schema = 1\nname = \"s\"\n", "s", {});

  ASSERT_EQ(with.runs.size(), 1U);
  EXPECT_EQ(with.runs[0].varying, without.runs[0].varying);
  EXPECT_TRUE(with.runs[0].sections.empty());
  EXPECT_TRUE(without.expected.empty());
}

TEST(ExpectedValues, NameThePlaceOfWhatIsWrong) {
  const std::string rest = "source = \"x\"\nvalue = 1\n";
  EXPECT_THAT(expected_error("quantity = \"los\"\n" + rest),
              HasSubstr("unknown quantity 'los' at s.toml:4:12; did you mean 'loss'?"));
  EXPECT_THAT(expected_error("quantiti = \"loss\"\n"),
              HasSubstr("unknown key 'quantiti' of [[expected]] at s.toml:4:1; did you mean"));
  EXPECT_THAT(expected_error(rest), HasSubstr("has no 'quantity'"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nvalue = 1\n"), HasSubstr("has no 'source'"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nsource = 3\n"),
              HasSubstr("'source' at s.toml:5:10 must be a text"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nsource = \"x\"\n"),
              HasSubstr("has neither 'value' nor 'interval'"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nat = \"start\"\n" + rest),
              HasSubstr("'at' at s.toml:5:6 must be"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nat = -1\n" + rest), HasSubstr("'at' at"));
  EXPECT_THAT(expected_error("quantity = \"final_loss\"\nat = \"max\"\n" + rest),
              HasSubstr("'final_loss' is one number of a run"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nsource = \"x\"\nvalue = \"1\"\n"),
              HasSubstr("'value' at s.toml:6:9 must be a number"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nsource = \"x\"\nvalue = nan\n"),
              HasSubstr("must be a number"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nsource = \"x\"\ninterval = [1]\n"),
              HasSubstr("a list of two numbers"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nsource = \"x\"\ninterval = [2, 1]\n"),
              HasSubstr("ends before it begins"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nwhere = 3\n" + rest),
              HasSubstr("'where' at s.toml:5:9 must be a table"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nwhere = { \"worker.count\" = 3 }\n" + rest),
              HasSubstr("did you mean 'workers'?"));
  EXPECT_THAT(expected_error("quantity = \"loss\"\nwhere = { \"workers.count\" = nan }\n" + rest),
              HasSubstr("'workers.count' at s.toml:5:"));
}

TEST(ExpectedValues, AreAListOfTables) {
  try {
    parse_study("schema = 1\nname = \"s\"\nexpected = 3\n", "s.toml", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("must be written [[expected]]"));
  }
}

}  // namespace
}  // namespace residuum
