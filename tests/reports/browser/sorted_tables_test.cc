// A reader sorts tables, finds rows in them, and shows the methods of interest alone.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/reports/browser/open_page.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PageInABrowser;
using ::testing::StartsWith;
using testing::swept_study;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

TEST_F(PageInABrowser, SortsATableByClicksAndByKeys) {
  open(swept_study());
  const std::string first = "#runs-table thead th:first-child";
  browser().run("for (const one of document.querySelectorAll('details')) one.open = true");

  browser().click(first + " button");
  auto names = column("runs-table", 0);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  browser().type(first + " button", testing::kEnterKey);
  names = column("runs-table", 0);
  EXPECT_TRUE(std::is_sorted(names.rbegin(), names.rend()));

  EXPECT_EQ(browser().text(fmt::format("return document.querySelector('{}').ariaSort", first)),
            "descending");
  EXPECT_THAT(address(), HasSubstr("sort.runs-table=0.down"));
  expect_no_complaint();
}

TEST_F(PageInABrowser, SortsNumbersByTheirSize) {
  open(swept_study());
  const int seed = browser().number(
      "return [...document.querySelectorAll('#runs-table thead th')]"
      ".findIndex((cell) => cell.textContent.startsWith('largest δ'))");

  browser().click(fmt::format("#runs-table thead th:nth-child({}) button", seed + 1));

  std::vector<double> values;
  for (const auto& text : column("runs-table", seed)) {
    values.push_back(std::stod(text));
  }
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_LT(values.front(), values.back());
}

TEST_F(PageInABrowser, SortsSharesOfFailuresByTheirSize) {
  SyntheticStudy study;
  study.methods.clear();
  study.iterations = 50;
  for (const std::uint64_t failing : {5, 50, 1, 0, 15}) {
    const auto fail = [failing](Row& row, int) {
      row.set(Column::delta, row.iteration() < failing ? 1.2 : 0.5);
    };
    study.methods.push_back(
        SyntheticMethod{.density = 0.01 * static_cast<double>(failing + 1), .change = fail});
  }
  open(study);
  const auto shares = [&] { return column("verdict-table", 1); };

  browser().click("#verdict-table thead th:nth-child(2) button");
  EXPECT_THAT(shares(),
              ElementsAre(StartsWith("holds"),
                          StartsWith("fails 2 %"),
                          StartsWith("fails 10 %"),
                          StartsWith("fails 30 %"),
                          StartsWith("fails 100 %")));
  browser().click("#verdict-table thead th:nth-child(2) button");
  EXPECT_THAT(shares(),
              ElementsAre(StartsWith("fails 100 %"),
                          StartsWith("fails 30 %"),
                          StartsWith("fails 10 %"),
                          StartsWith("fails 2 %"),
                          StartsWith("holds")));
}

TEST_F(PageInABrowser, FindsRunsByTheirText) {
  open(swept_study());

  browser().type("#runs-table-find", "m2-s1");

  EXPECT_THAT(column("runs-table", 0), ElementsAre(SyntheticStudy::run_id(2, 1)));
  EXPECT_THAT(address(), HasSubstr("query=m2-s1"));
}

TEST_F(PageInABrowser, FiltersMethodsByASweptKey) {
  open(swept_study());
  EXPECT_EQ(column("verdict-table", 0).size(), 4U);

  browser().type("select[data-key='sparsifier.density']", "0.1");

  EXPECT_EQ(column("verdict-table", 0).size(), 2U);
  EXPECT_EQ(column("runs-table", 0).size(), 6U);
  EXPECT_THAT(browser().text("return document.getElementById('shown').textContent"),
              HasSubstr("2 of 4 methods"));

  browser().click("[data-reset]");
  EXPECT_EQ(column("runs-table", 0).size(), 12U);
}

TEST_F(PageInABrowser, FiltersMethodsThatDoNotHaveAKey) {
  SyntheticStudy study = swept_study();
  study.methods[3].workers = 8;  // the others do not say how many they are
  open(study);

  browser().run(
      "const select = document.querySelector(\"select[data-key='workers.count']\");"
      "select.value = [...select.options].find((one) => one.textContent === 'without').value;"
      "select.dispatchEvent(new Event('change'))");

  EXPECT_EQ(column("verdict-table", 0).size(), 3U);
  EXPECT_EQ(address(), "#without.workers.count=1");
  open_folder("#without.workers.count=1");
  EXPECT_EQ(column("verdict-table", 0).size(), 3U) << "a link shows what its sender saw";
  open_folder("#without.aggregator.kind=1&without.constructor=1");
  EXPECT_EQ(column("verdict-table", 0).size(), 4U) << "all have that key, and none the other";
}

TEST_F(PageInABrowser, HidesAMethodInAllTablesAndDetails) {
  open(swept_study(), "#hide=1");

  EXPECT_EQ(browser()
                .run("for (const one of document.querySelectorAll('details')) one.open = true;"
                     "const label = JSON.parse(document.getElementById('data').textContent)"
                     ".methods[1].label;"
                     "return [...document.querySelectorAll('tbody tr, summary')].filter((one) => "
                     "one.offsetParent && one.textContent.includes(label))"
                     ".map((one) => one.textContent)")
                .dump(),
            "[]");
}

}  // namespace
}  // namespace residuum::reports
