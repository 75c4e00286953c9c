// The runs that a study file becomes, and the errors of a wrong file.

#include "experiments/program/study/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace residuum {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_study(text, "s.toml", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

const std::string kHead = "schema = 1\nname = \"s\"\n";

TEST(Study, IsOneRunWithoutSweepAndSeeds) {
  const Study study = parse_study(kHead + "[workers]\ncount = 8\n", "s.toml", {});

  ASSERT_EQ(study.runs.size(), 1);
  EXPECT_EQ(study.name, "s");
  EXPECT_EQ(study.runs[0].seed, 1);
  EXPECT_EQ(study.runs[0].sections.at("workers").at("count").value, 8);
  EXPECT_EQ(study.runs[0].sections.at("workers").at("count").place, "s.toml:4:1");
  EXPECT_TRUE(study.runs[0].varying.empty());
}

TEST(Study, IsTheCartesianProductTimesSeedsAndExtraPoints) {
  const Study study =
      parse_study(kHead +
                      "seeds = 3\n[sparsifier]\nkind = \"top-k\"\n"
                      "[sweep]\n\"sparsifier.k\" = [1, 2]\n\"workers.count\" = [4, 8]\n"
                      "[[point]]\naggregator.kind = \"dense\"\n",
                  "s.toml",
                  {});

  ASSERT_EQ(study.runs.size(), (2 * 2 + 1) * 3);
  EXPECT_EQ(study.runs[0].varying, (nlohmann::json{{"sparsifier.k", 1}, {"workers.count", 4}}));
  EXPECT_EQ(study.runs[4].seed, 2);
  EXPECT_EQ(study.runs[14].varying, (nlohmann::json{{"aggregator.kind", "dense"}}));
  EXPECT_EQ(study.runs[14].sections.at("sparsifier").at("kind").value, "top-k");
}

TEST(Study, TakesSweepKeysQuotedOrAsTables) {
  const Study study = parse_study(kHead + "[sweep]\nsparsifier.k = [1, 2, 3]\n", "s.toml", {});

  EXPECT_EQ(study.runs.size(), 3);
}

TEST(Study, RefusesASweptKeyThatIsGivenInBothSpellings) {
  EXPECT_THAT(error_of(kHead + "[sweep]\nworkers.count = [1, 2]\n\"workers.count\" = [3]\n"),
              HasSubstr("'workers.count' at s.toml:"));
  EXPECT_THAT(error_of(kHead + "[sweep]\nworkers.count = [1, 2]\n\"workers.count\" = [3]\n"),
              HasSubstr("is given twice"));
}

// Every point has a copy of all values.
TEST(Study, RefusesLongListsTimesManyPoints) {
  std::string list;
  std::string axis;
  for (int i = 0; i < 30000; ++i) {
    list += "1,";
  }
  for (int i = 0; i < 1000; ++i) {
    axis += std::to_string(i) + ",";
  }
  EXPECT_THAT(error_of(kHead + "[sparsifier]\nk = [" + list + "]\n[sweep]\n\"step.value\" = [" +
                       axis + "]\n"),
              HasSubstr("the study has 1000 points of 30001 values each"));
}

TEST(Study, TakesAListOfSeeds) {
  const Study study = parse_study(kHead + "seeds = [7, 5]\n", "s.toml", {});

  ASSERT_EQ(study.runs.size(), 2);
  EXPECT_EQ(study.runs[0].seed, 7);
  EXPECT_EQ(study.runs[1].seed, 5);
}

TEST(Study, LetsOverridesWin) {
  const Study study =
      parse_study(kHead + "[workers]\ncount = 8\n[sweep]\n\"step.value\" = [1, 2]\n",
                  "s.toml",
                  {"workers.count=2", "step.value=0.5", "step.rule=constant"});

  EXPECT_EQ(study.runs.size(), 1) << "the two points of the sweep have become equal";
  for (const auto& run : study.runs) {
    EXPECT_EQ(run.sections.at("workers").at("count").value, 2);
    EXPECT_EQ(run.sections.at("step").at("value").value, 0.5);
    EXPECT_EQ(run.sections.at("step").at("rule").value, "constant");
  }
}

TEST(Study, KeepsInlineTablesAsValues) {
  const Study study = parse_study(kHead + "[probes]\nevery = { geometric = 1.05 }\n", "s.toml", {});

  EXPECT_EQ(study.runs[0].sections.at("probes").at("every").value,
            (nlohmann::json{{"geometric", 1.05}}));
}

TEST(Study, NamesThePlaceOfWhatIsWrong) {
  EXPECT_THAT(error_of("schema = 1\nname = \"s\"\n[sparsifer]\nk = 1\n"),
              HasSubstr("unknown key 'sparsifer' at s.toml:3:"));
  EXPECT_THAT(error_of("schema = 1\nname = \"s\"\n[sparsifer]\n"),
              HasSubstr("did you mean 'sparsifier'?"));
  EXPECT_THAT(error_of("schema = 1\nname = s\n"), HasSubstr("s.toml:2:"));
  EXPECT_THAT(error_of("name = \"s\"\n"), HasSubstr("missing key 'schema'"));
  EXPECT_THAT(error_of("schema = 2\nname = \"s\"\n"),
              HasSubstr("schema 2 at s.toml:1:10 is unknown"));
  EXPECT_THAT(error_of("schema = 1\n"), HasSubstr("missing key 'name'"));
  EXPECT_THAT(error_of("schema = 1\nname = \"a b\"\n"), HasSubstr("'name' at s.toml:2:"));
  EXPECT_THAT(error_of("schema = 1\nname = \"../x\"\n"), HasSubstr("'name'"));
  EXPECT_THAT(error_of(kHead + "workers = 4\n"), HasSubstr("must be a section"));
  EXPECT_THAT(error_of(kHead + "[sweep]\n\"workers.count\" = 4\n"), HasSubstr("must be a list"));
  EXPECT_THAT(error_of(kHead + "[sweep]\n\"workers.count\" = []\n"), HasSubstr("not empty"));
  EXPECT_THAT(error_of(kHead + "[sweep]\n\"worker.count\" = [1]\n"),
              HasSubstr("did you mean 'workers'?"));
  EXPECT_THAT(error_of(kHead + "seeds = 0\n"), HasSubstr("'seeds'"));
  EXPECT_THAT(error_of(kHead + "seeds = [-1]\n"), HasSubstr("seed"));
  EXPECT_THAT(error_of(kHead + "[point]\nstep.value = 1\n"), HasSubstr("[[point]]"));
  EXPECT_THAT(error_of("schema = 1\nname = \"s\"\ntitle = 5\n"),
              HasSubstr("'title' at s.toml:3:9 must be a text"));
  EXPECT_THAT(error_of(kHead + "sweep = 3\n"),
              HasSubstr("'sweep' at s.toml:3:9 must be a section"));
  EXPECT_THAT(error_of(kHead, {"workers.count"}), HasSubstr("key=value"));
  EXPECT_THAT(error_of(kHead, {"wrokers.count=1"}), HasSubstr("did you mean 'workers'?"));
  EXPECT_THAT(error_of(kHead, {"objective.data=\xff"}), HasSubstr("no UTF-8"));
}

/// Returns the key a.a.a... of `parts` parts.
std::string dotted(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) {
    key += ".a";
  }
  return key;
}

TEST(Study, NamesTheCommandLineAsThePlaceOfSeedsThatItGave) {
  EXPECT_THAT(error_of(kHead, {"seeds=[1, -2]"}), HasSubstr("at least 0, at --set"));
  EXPECT_THAT(error_of(kHead, {"seeds=0"}), HasSubstr("'seeds' at --set must lie in 1.."));
}

TEST(Study, RefusesNestingThatWouldEndTheStack) {
  const std::string endless = dotted(200'000);
  EXPECT_THAT(error_of(kHead + endless + " = 1\n"), HasSubstr("more than 16 parts at s.toml:3"));
  EXPECT_THAT(error_of(kHead + "[" + endless + "]\n"), HasSubstr("more than 16 parts at s.toml:3"));
  EXPECT_THAT(error_of(kHead + "[step]\nvalue = {" + endless + " = 1}\n"),
              HasSubstr("more than 16 parts at s.toml:4"));
  EXPECT_THAT(error_of(kHead, {"step.value={" + endless + " = 1}"}), HasSubstr("more than 16"));
  EXPECT_THAT(error_of(kHead, {"seeds={" + endless + " = 1}"}), HasSubstr("more than 16"));
  EXPECT_NE(error_of(kHead + "[step]\nvalue = " + std::string(200'000, '[') + "\n"), "no error");
  EXPECT_NE(error_of(kHead, {endless + "=1"}), "no error");
  // Each part is short; together they are deep.
  std::string tables;
  for (int i = 0; i < 60; ++i) {
    tables += "{" + dotted(10) + " = ";
  }
  EXPECT_THAT(error_of(kHead + "[step]\nvalue = " + tables + "1" + std::string(60, '}') + "\n"),
              HasSubstr("more than 16 nested values"));
}

// The fourth quote is the text's own; whoever takes it for the begin of another text passes over
// the key.
TEST(Study, RefusesDeepKeysBehindATextThatEndsWithAQuote) {
  for (const char quote : {'\'', '"'}) {
    const std::string text = std::string(3, quote) + "x" + std::string(4, quote);

    EXPECT_THAT(error_of(kHead + "[step]\nvalue = {a=" + text + ", " + dotted(200'000) + " = 1}\n"),
                HasSubstr("more than 16 parts at s.toml:4"));
  }
}

TEST(Study, CountsNoDotsInTextsAndComments) {
  const std::string dots = dotted(50);
  EXPECT_EQ(
      parse_study(kHead + "title = \"" + dots + "\\\"" + dots + "\" # " + dots + "\n", "s.toml", {})
          .title,
      dots + "\"" + dots);
  EXPECT_EQ(parse_study(kHead + "title = '" + dots + "'\n", "s.toml", {}).title, dots);
  EXPECT_EQ(
      parse_study(kHead + "title = \"\"\"" + dots + "\"" + dots + "\"\"\"\n", "s.toml", {}).title,
      dots + "\"" + dots);
  std::string numbers = "0.5";
  for (int i = 0; i < 50; ++i) {
    numbers += ", 0.5";
  }
  EXPECT_EQ(parse_study(kHead + "[sweep]\n\"step.value\" = [" + numbers + "]\n", "s.toml", {})
                .runs.size(),
            51);
}

// Control characters in a file are replaced before its text reaches a terminal.
TEST(Study, QuotesHarmlessly) {
  EXPECT_THAT(error_of(kHead + "\"a\\u001b]0;x\\u0007\\nb\" = 1\n"),
              HasSubstr("unknown key 'a?]0;x??b'"));
}

}  // namespace
}  // namespace residuum
