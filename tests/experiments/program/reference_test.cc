// The pages of reference equal the program's output, so that neither can change alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/record/run_facts.h"
#include "experiments/program/commands/commands.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::filesystem::path kReferencePages = std::filesystem::path(RESIDUUM_STUDIES) / "reference";

class ReferencePage : public testing::TestWithParam<const char*> {};

TEST_P(ReferencePage, IsWhatTheProgramPrints) {
  const std::string name = GetParam();
  if (name == "components") {
    RESIDUUM_NEEDS_NETWORKS();  // a build without them names fewer objectives
  }
  const TemporaryFolder folder;

  const auto printed = residuum_program({"list", name, "--format", "markdown"}, folder.path());

  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out, read_text(kReferencePages / (name + ".md")))
      << "write it anew: residuum list " << name << " --format markdown > experiments/reference/"
      << name << ".md";
}

INSTANTIATE_TEST_SUITE_P(
    All,
    ReferencePage,
    testing::Values("columns", "facts", "keys", "commands", "components", "probes", "theorems"));

TEST(Reference, NamesColumnsOfEveryTableWithUnitAndMeaning) {
  const TemporaryFolder folder;

  const std::string page =
      residuum_program({"list", "columns", "--format", "markdown"}, folder.path()).out;

  for (const char* table : {"runs", "iterations", "checks", "bounds", "workers", "overlap"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n## ") + table + ".csv\n"));
  }
  EXPECT_THAT(page, HasSubstr("| `select_s` | s | "));
}

TEST(Reference, NamesEveryFactOfARunWithTypeUnitAndMeaning) {
  const TemporaryFolder folder;

  const std::string page =
      residuum_program({"list", "facts", "--format", "markdown"}, folder.path()).out;
  const std::string lines = residuum_program({"list", "facts"}, folder.path()).out;

  EXPECT_THAT(page, HasSubstr("\n## laws.sparsifier\n"));
  EXPECT_THAT(page, HasSubstr("| `bits` | integer, bits | "));
  visit_fact_fields([&](const FactField& field, const auto& /*place*/) {
    EXPECT_THAT(lines, HasSubstr(std::string(field.path) + ' '));
    EXPECT_TRUE(field.meaning.ends_with('.')) << field.path;
    EXPECT_FALSE(field.type.empty()) << field.path;
  });
}

TEST(Reference, NamesEveryCommandWithItsOptions) {
  const TemporaryFolder folder;
  const std::string help = residuum_program({"--help"}, folder.path()).out;

  const std::string page =
      residuum_program({"list", "commands", "--format", "markdown"}, folder.path()).out;

  for (const char* command : {"run", "plan", "report", "falsify", "list", "info"}) {
    ASSERT_THAT(help, HasSubstr(std::string("\n  ") + command + " "));
    EXPECT_THAT(page, HasSubstr(std::string("\n## residuum ") + command + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("| `--groups VALUE` |"));
  EXPECT_THAT(page, HasSubstr("| `--json` |"));
  EXPECT_THAT(page, HasSubstr("| `STUDY` | required |"));
}

TEST(Reference, NamesComponentsByTheirRoomsAndEachOnce) {
  const TemporaryFolder folder;

  const std::string page =
      residuum_program({"list", "components", "--format", "markdown"}, folder.path()).out;
  const std::string all = residuum_program({"list"}, folder.path()).out;

  for (const char* line : {"\n## Sparsifiers\n", "\n| `gtopk-tree` |", "\n## Networks\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
  EXPECT_THAT(page, testing::Not(HasSubstr("bounded-moment")));
  EXPECT_EQ(all.find("  gtopk-tree "), all.rfind("  gtopk-tree "));
}

TEST(Reference, KeepsBarsAndTagsInsideACell) {
  const Reference reference{
      .name = "x",
      .title = "X",
      .heads = {"name", "source", "summary"},
      .groups = {{.prefix = "",
                  .title = "T",
                  .text = "",
                  .lines = {{.name = "a", .summary = "|x| <b>", .source = "s"}}}}};

  EXPECT_THAT(as_markdown(reference),
              HasSubstr("## T\n\n| name | source | summary |\n|---|---|---|\n"
                        "| `a` | s | \\|x\\| &lt;b> |\n"));
}

TEST(Reference, TellsWhatATheoremAsksAlsoWhereNothingIsKnownOfARun) {
  const TemporaryFolder folder;

  const auto printed = residuum_program({"list", "theorems", "--json"}, folder.path());

  const auto json = nlohmann::json::parse(printed.out).at("theorems");
  const auto ijcai = std::find_if(
      json.begin(), json.end(), [](const auto& one) { return one.at("name") == "ijcai"; });
  ASSERT_NE(ijcai, json.end());
  EXPECT_THAT(ijcai->at("preconditions"),
              testing::IsSupersetOf({"workers exchange in lockstep",
                                     "all workers take part in every version",
                                     "the model moves by the update as it is",
                                     "workers hand in gradients",
                                     "δ ≤ 1 in every iteration, the gTop-k assumption"}));
  for (const auto& theorem : json) {
    EXPECT_GE(theorem.at("preconditions").size(), 3U) << theorem;
    EXPECT_GE(theorem.at("constants").size(), 1U) << theorem;
  }
}

TEST(Reference, TellsLawsOfComponentsAndColumnsOfProbes) {
  const TemporaryFolder folder;

  const auto printed = residuum_program({"list", "--json"}, folder.path());

  const auto json = nlohmann::json::parse(printed.out);
  const auto part = [&](const char* room, const char* name, const char* key) {
    for (const auto& one : json.at(room)) {
      if (one.at("name") == name) {
        return one.at(key).template get<std::vector<std::string>>();
      }
    }
    return std::vector<std::string>();
  };
  EXPECT_THAT(part("sparsifiers", "top-k", "law"),
              testing::IsSupersetOf({"A worker sends at most 3 of 1000 entries",
                                     "E‖a − C(a)‖² ≤ (1 − α)‖a‖² with α = 0.003, for each draw",
                                     "C(a) are the k largest entries of all d"}));
  EXPECT_THAT(part("sparsifiers", "rand-k", "law"),
              testing::Contains("E‖a − C(a)‖² = (1 − α)‖a‖² with α = 0.003, in expectation"));
  EXPECT_THAT(part("quantisers", "sign", "law"), testing::Contains("No draw enters Q(x)"));
  EXPECT_THAT(part("aggregators", "gtopk-tree", "law"),
              testing::Contains("A merge may drop an entry of one branch that g contains"));
  EXPECT_THAT(part("feedback", "none", "law"), testing::Contains(testing::StartsWith("Mass is")));
  EXPECT_THAT(part("protocols", "ssp", "law"), testing::Contains("Staleness τ ≤ 35"));
  EXPECT_THAT(part("probes", "delta", "columns"),
              testing::Contains("`delta`: gTop-k assumption ratio |mean a - g/P|^2 / ((1-rho) "
                                "|mean a|^2)"));
  for (const char* room : {"sparsifiers", "quantisers", "aggregators", "feedback", "protocols"}) {
    for (const auto& one : json.at(room)) {
      EXPECT_FALSE(one.at("law").empty()) << one;
    }
  }
}

TEST(Reference, IsEitherJsonOrAPage) {
  const TemporaryFolder folder;

  const auto both =
      residuum_program({"list", "keys", "--json", "--format", "markdown"}, folder.path());

  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--json and --format: give one of them"));
}

}  // namespace
}  // namespace residuum
