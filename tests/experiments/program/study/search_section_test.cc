// A study with [search] has the runs that it may need, and one that is wrong is refused in a line.

#include "experiments/program/study/search_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"

namespace residuum {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kSearchHead = R"(schema = 1
name = "s"
seeds = 8
objective.kind = "logistic"
[sparsifier]
kind = "top-k"
[aggregator]
kind = "allgather"
[step]
value = 0.1
[budget]
iterations = 3
[search]
key = "sparsifier.density"
)";

Study study_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_study(kSearchHead + text, "s.toml", overrides);
}

std::string search_error(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    study_of(text, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

const nlohmann::json& setting(const RunSpec& spec, const char* section, const char* key) {
  return spec.sections.at(section).at(key).value;
}

TEST(SearchSection, HasDenseTrainingAndEveryRatioWithAllSeeds) {
  const Study study = study_of("ratios = [100, 10]\n");

  ASSERT_EQ(study.runs.size(), 3 * 8);
  const RunSpec& dense = study.runs[study.search->run_of(0, 2)];
  EXPECT_EQ(dense.seed, 3);
  EXPECT_EQ(setting(dense, "sparsifier", "kind"), "none");
  EXPECT_EQ(setting(dense, "aggregator", "kind"), "dense");
  EXPECT_EQ(setting(dense, "step", "value"), 0.1);
  EXPECT_FALSE(dense.sections.at("sparsifier").contains("density"));
  const RunSpec& stronger = study.runs[study.search->run_of(2, 0)];
  EXPECT_EQ(setting(stronger, "sparsifier", "density"), 0.01);
  EXPECT_EQ(setting(stronger, "aggregator", "kind"), "allgather");
  EXPECT_THAT(study.search->ratios, ElementsAre(10, 100));
  EXPECT_THAT(study.search->plan.looks, ElementsAre(4, 8));
}

TEST(SearchSection, TakesARangeOfRatios) {
  const Study study = study_of("ratios = { from = 10, to = 1000, factor = 10 }\n");

  ASSERT_EQ(study.search->ratios.size(), 3);
  EXPECT_DOUBLE_EQ(study.search->ratios[2], 1000);
}

TEST(SearchSection, TakesValuesOfAnyKeyWithItsOwnDenseTraining) {
  const std::string text = R"(schema = 1
name = "s"
seeds = 2
[protocol]
kind = "local"
[search]
key = "protocol.period"
values = [2, 4, 8]
dense.protocol.kind = "bsp"
)";

  const Study study = parse_study(text, "s.toml", {});

  EXPECT_EQ(setting(study.runs[0], "protocol", "kind"), "bsp");
  EXPECT_FALSE(study.runs[0].sections.at("protocol").contains("period"));
  EXPECT_EQ(setting(study.runs[6], "protocol", "period"), 8);
}

// Bisection of three ratios looks at two of them at most.
TEST(SearchSection, TellsHowManyRunsItMakesAtMost) {
  EXPECT_EQ(study_of("ratios = [10, 20, 40]\n").search->most_runs(), (1 + 2) * 8);
  EXPECT_EQ(study_of("ratios = [10, 20, 40]\norder = \"ascending\"\n").search->most_runs(),
            (1 + 3) * 8);
}

TEST(SearchSection, HasTheDefaultsThatAreListed) {
  const Study study = study_of("ratios = [10, 20]\n");
  EXPECT_EQ(study.search->plan.alpha, 0.05);
  EXPECT_EQ(study.search->plan.margin, 0);
  EXPECT_EQ(study.search->plan.looks.front(), 4);
  EXPECT_EQ(study.search->quantity, "loss");
  EXPECT_FALSE(study.search->plan.ascends);
}

TEST(SearchSection, RefusesWhatIsNoSearchInOneLine) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"ratios = [10]\n",
       "'search.ratios' at s.toml:15:1: a search is among 2 to 1000 compressions"},
      {"ratios = [10, 20]\nalpha = 0\n",
       "'search.alpha' at s.toml:16:1 must be at least 1e-100 and below 1, got 0"},
      {"ratios = [10, 20]\nalpha = 1\n",
       "'search.alpha' at s.toml:16:1 must be at least 1e-100 and below 1, got 1"},
      {"ratios = [10, 20]\nalhpa = 0.1\n", "did you mean 'search.alpha'?"},
      {"", "[search] wants either 'ratios'"},
      {"ratios = [10, 20]\nvalues = [0.1, 0.2]\n", "[search] wants either 'ratios'"},
      {"ratios = [10, 10]\n", "none of them twice"},
      {"values = [0.1, 0.3, 0.2]\n", "must rise or fall"},
      {"values = [\"a\", \"b\"]\n", "must be a list of numbers"},
      {"ratios = [0.5, 2]\n", "must be at least 1"},
      {"ratios = { from = 10, to = 5, factor = 2 }\n", "to > from"},
      {"ratios = { from = 10, to = 500, factor = 1 }\n", "factor > 1"},
      {"ratios = [10, 20]\nmargin = -1\n", "must be at least 0"},
      {"ratios = [10, 20]\nmargin = 1\nrelative_margin = 1\n", "give one of them"},
      {"ratios = [10, 20]\nfirst = 9\n", "must lie in 2..8"},
      {"ratios = [10, 20]\nfirst = 1\n", "must lie in 2..8"},
      {"ratios = [10, 20]\nquantity = \"los\"\n", "did you mean 'loss'?"},
      {"ratios = [10, 20]\norder = \"x\"\n", "unknown value 'x'"},
      {"ratios = [10, 20]\ndense = 1\n", "must be a table of settings"},
      {"ratios = [10, 20]\ndense.aggregator.kind = \"dense\"\n", "has no dense baseline"},
      {"ratios = [10, 20]\ndense.sparsifer.kind = \"none\"\n", "did you mean 'sparsifier'?"},
      {"ratios = [10, 20]\n[sweep]\nworkers.count = [1, 2]\n", "'sweep' at s.toml:16:1: a search"},
      {"ratios = [10, 20]\n[[point]]\nworkers.count = 1\n", "'point' at s.toml:"}};
  for (const auto& [text, message] : wrong) {
    const std::string error = search_error(text);
    EXPECT_THAT(error, HasSubstr(message)) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(SearchSection, RefusesOneSeedAndOverridesOfItsKey) {
  EXPECT_THAT(search_error("ratios = [10, 20]\n", {"seeds=1"}), HasSubstr("at least 2 seeds"));
  EXPECT_THAT(search_error("ratios = [10, 20]\n", {"sparsifier.density=0.1"}),
              HasSubstr("--set sparsifier.density: 'search.key' at s.toml:14:1 gives its values"));
  EXPECT_THAT(search_error("ratios = [10, 20]\n", {"search.alpha=0.1"}),
              HasSubstr("is set in the file alone"));
}

TEST(SearchSection, RefusesRatiosOfAKeyThatIsNoDensity) {
  const std::string text =
      "schema = 1\nname = \"s\"\nseeds = 2\n[search]\nkey = \"sparsifier.k\"\nratios = [1, 2]\n";
  try {
    parse_study(text, "s.toml", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("give 'values' of it"));
  }
}

TEST(SearchSection, RefusesAnUnknownKeyOfCompression) {
  for (const auto& [key, message] : std::vector<std::pair<std::string, std::string>>{
           {"sparsifer.density", "did you mean 'sparsifier'?"},
           {"density", "unknown key 'density'"}}) {
    const std::string text =
        "schema = 1\nname = \"s\"\nseeds = 2\n[search]\nkey = \"" + key + "\"\nratios = [1, 2]\n";
    try {
      parse_study(text, "s.toml", {});
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
}

// [search] is no part of a run's identity: the runs of a search have the ids of any study.
TEST(SearchSection, LeavesTheIdsOfItsRunsAsTheyAre) {
  ObjectiveCache objectives({.data_dir = {}, .cache_dir = {}, .workers = 1});
  KnownKeys known;
  const Study searched = study_of("ratios = [10, 20]\n");
  std::string plain = kSearchHead.substr(0, kSearchHead.find("[search]"));
  plain.insert(plain.find("[aggregator]"), "density = 0.05\n");
  const Study same = parse_study(plain, "s.toml", {});

  EXPECT_EQ(prepare(searched.runs[searched.search->run_of(2, 0)], objectives, known).id,
            prepare(same.runs[0], objectives, known).id);
}

}  // namespace
}  // namespace residuum
