// The report of a search for the largest compression: its sentence first, and a table of its looks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/page/report.h"
#include "reports/page/sections.h"
#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Writes a search of dense training and the ratios 10 and 100. A seed of every method ends at the
/// same f, so that compressed training loses nothing.
void write_search(const std::filesystem::path& folder) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{.aggregator = "dense"},
                   SyntheticMethod{.density = 0.1},
                   SyntheticMethod{.density = 0.01}};
  study.write(folder);
  Json plan = read_json(folder / "study.resolved.json");
  plan["search"] = {{"key", "sparsifier.density"},
                    {"values", {0.1, 0.01}},
                    {"ratios", {10, 100}},
                    {"quantity", "loss"},
                    {"margin", 0.25},
                    {"relative", false},
                    {"alpha", 0.05},
                    {"looks", {3}},
                    {"order", "ascending"},
                    {"runs", Json::array()}};
  for (std::size_t method = 0; method < 3; ++method) {
    Json ids = Json::array();
    for (int seed = 1; seed <= 3; ++seed) {
      ids.push_back(SyntheticStudy::run_id(method, seed));
    }
    plan["search"]["runs"].push_back(ids);
  }
  write_json_atomically(folder / "study.resolved.json", plan);
}

std::string search_page(const std::filesystem::path& folder) {
  return read_file(write_report(summarise(folder)).file);
}

TEST(ReportOfASearch, BeginsWithWhatWasFoundAndHasATableOfTheLooks) {
  const TemporaryFolder folder;
  write_search(folder.path());

  const std::string html = search_page(folder.path());

  EXPECT_THAT(html,
              HasSubstr("<p class=\"answer\">Largest compression with no significant loss: 100 of "
                        "10, 100; there the loss is 0 [0, 0], n = 3 ("));
  EXPECT_THAT(html, HasSubstr("<li>The gTop-k assumption"));
  const auto begin = html.find("<table id=\"search-table\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = html.substr(begin, html.find("</table>", begin) - begin);
  const auto first = table.find(">10<");
  const auto second = table.find(">100<");
  ASSERT_NE(first, std::string::npos) << table;
  ASSERT_NE(second, std::string::npos) << table;
  EXPECT_LT(first, second) << "in the order in which they were made";
  // alpha is divided among two ratios with one look each.
  EXPECT_THAT(table, HasSubstr(">0.025<"));
  EXPECT_THAT(table, HasSubstr("-0.25<small>[-0.25, -0.25]</small>"));
  EXPECT_THAT(table, HasSubstr(">no loss<"));
}

TEST(ReportOfASearch, SaysThatItIsNotOverBeforeTheFirstLook) {
  const TemporaryFolder folder;
  write_search(folder.path());
  testing::change_status(folder.path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["state"] = "running";
  });

  const std::string html = search_page(folder.path());

  EXPECT_THAT(html,
              HasSubstr("<p class=\"answer\">The search for the largest compression is not over."));
  EXPECT_THAT(html, HasSubstr("Too few runs have ended for a first look."));
}

TEST(ReportOfASearch, IsEmptyInAStudyThatIsNone) {
  const TemporaryFolder folder;
  SyntheticStudy{}.write(folder.path());

  EXPECT_EQ(search_table(summarise(folder.path())), "");
}

}  // namespace
}  // namespace residuum::reports
