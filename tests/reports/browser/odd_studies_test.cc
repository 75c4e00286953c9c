// Studies that went wrong, or whose names are hostile, have pages that can be read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>

#include "tests/reports/browser/open_page.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::PageInABrowser;
using testing::swept_study;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

/// A page that is fit to be read has no complaint and nothing wider than itself: no table is cut on
/// a laptop.
class OddStudiesInABrowser : public PageInABrowser {
 protected:
  void expect_readable() {
    // Whatever a reader may choose is chosen once, and every figure is asked for its first values.
    const int choices =
        browser().number("return document.querySelectorAll('[data-choice]').length");
    for (int i = 0; i < choices; ++i) {
      browser().run("document.querySelectorAll('[data-choice]')[arguments[0]].click()",
                    Json::array({i}));
      browser().wait_until_drawn();
      browser().run(
          "for (const svg of document.querySelectorAll('.live svg.figure')) svg.dispatchEvent("
          "new KeyboardEvent('keydown', { key: 'ArrowRight' }))");
    }
    expect_no_complaint();
    EXPECT_EQ(browser().number("return [...document.querySelectorAll('.live svg.figure *')].filter("
                               "(one) => [...one.attributes].some(({ value }) => "
                               "value.includes('NaN') || value.includes('Infinity'))).length"),
              0);
    browser().click("[data-reset]");
    browser().set_width(1280);
    EXPECT_THAT(cut_tables(), ::testing::IsEmpty());
    for (const int width : {1280, 400}) {
      browser().set_width(width);
      browser().wait_until_drawn();
      EXPECT_LE(browser().number("return document.documentElement.scrollWidth"), width);
    }
    EXPECT_EQ(browser().text("return document.documentElement.dataset.ready"), "1");
  }
};

TEST_F(OddStudiesInABrowser, AreReadableWithHostileNames) {
  const std::string hostile =
      "</script><script>window.sprung = 1</script><img src=x onerror=\"window.sprung = 1\"> % _ ' "
      "\" "
      "\n{} ${1} \\ 中文 עברית 🙂 " +
      std::string(300, 'W');
  SyntheticStudy study;
  study.seeds = 2;
  study.name = "hostile";
  study.title = hostile;
  study.methods = {SyntheticMethod{.aggregator = hostile},
                   SyntheticMethod{.putback = hostile, .density = 0.1},
                   SyntheticMethod{.aggregator = "__proto__", .putback = "constructor"}};
  study.write(path());
  testing::change_status(path(), SyntheticStudy::run_id(0, 1), [&](Json& status) {
    status["state"] = "failed";
    status["message"] = hostile;
    status["provenance"][hostile] = hostile;
    status["checks"][hostile] = status["checks"]["conservation"];
  });
  testing::write_networks(path(), study, {hostile, "1gbe", std::string(300, 'x')});
  open_folder();

  expect_readable();
  EXPECT_TRUE(browser().run("return window.sprung === undefined").get<bool>());
  EXPECT_THAT(browser().text("return document.querySelector('h1').textContent"),
              HasSubstr("</script><script>"));
}

TEST_F(OddStudiesInABrowser, AreReadableWhenNothingHasRun) {
  SyntheticStudy study;
  study.seeds = 1;
  study.write(path());
  std::filesystem::remove_all(path() / "runs");
  open_folder();
  expect_readable();
}

TEST_F(OddStudiesInABrowser, AreReadableWithOneRunOfOneIteration) {
  SyntheticStudy study;
  study.seeds = 1;
  study.iterations = 1;
  open(study);
  expect_readable();
  if (browser().run("return document.querySelector('.live svg.figure') === null").get<bool>()) {
    return;  // built without the library of the figures
  }
  EXPECT_EQ(browser().number("return document.querySelectorAll('[data-live=\"delta\"] "
                             "path.axis[d$=\"v4\"]').length"),
            1)
      << "there is one iteration, and one tick";
}

TEST_F(OddStudiesInABrowser, AreReadableWhenAllHasDiverged) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{.change = [](Row& row, int) {
    const double far = row.iteration() < 15 ? 1e280 : std::numeric_limits<double>::infinity();
    row.set(Column::loss, far);
    row.set(Column::loss_gap, far);
    row.set(Column::delta, std::numeric_limits<double>::quiet_NaN());
  }}};
  study.write(path());
  for (int seed = 1; seed <= study.seeds; ++seed) {
    testing::change_status(path(), SyntheticStudy::run_id(0, seed), [](Json& status) {
      status["state"] = "diverged";
    });
  }
  open_folder();
  expect_readable();
}

TEST_F(OddStudiesInABrowser, AreReadableWhenHalfFinished) {
  const SyntheticStudy study = swept_study();
  study.write(path());
  std::filesystem::remove_all(path() / "runs" / SyntheticStudy::run_id(3, 3));
  testing::change_status(
      path(), SyntheticStudy::run_id(2, 1), [](Json& status) { status["state"] = "running"; });
  open_folder();
  expect_readable();
}

TEST_F(OddStudiesInABrowser, AreReadableWithLateGradientsAndWithModelsOfEachWorker) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{.aggregator = "late",
                                   .change =
                                       [](Row& row, int seed) {
                                         const auto t = static_cast<double>(row.iteration() + 1);
                                         row.set(Column::virtual_s, t * seed);
                                         row.set(Column::contributions, 3);
                                         row.set(Column::total_contributions, 3 * t);
                                       }},
                   SyntheticMethod{.aggregator = "gossip", .change = [](Row& row, int) {
                                     row.set(Column::consensus_sq, 0.1);
                                     row.set(Column::step_size, 0.1);
                                   }}};
  open(study, "#x=time");
  expect_readable();
}

}  // namespace
}  // namespace residuum::reports
