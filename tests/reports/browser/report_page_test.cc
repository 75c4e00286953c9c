// A reader's browser shows the report, and does what the reader asks for, by mouse and by keyboard.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reports/page/html.h"
#include "reports/results/files.h"
#include "tests/reports/browser/open_page.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PageInABrowser;
using testing::swept_study;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::wide_study;

/// The fixture of tests that need the library of the figures.
class FiguresInABrowser : public PageInABrowser {
 protected:
  void SetUp() override {
    if (page_library().text.empty()) {
      GTEST_SKIP()
          << "built without the library: npm ci --prefix reports/page/web, and build again";
    }
    PageInABrowser::SetUp();
  }
};

TEST_F(PageInABrowser, OpensWithoutAComplaintAndAsksForNothing) {
  open(swept_study());

  expect_no_complaint();
  EXPECT_EQ(browser().text("return document.documentElement.dataset.ready"), "1");
}

TEST_F(PageInABrowser, WouldShowAComplaintARequestAndAForeignScript) {
  open(swept_study());
  browser().run(
      "const image = document.createElement('img'); image.src = 'elsewhere.png';"
      "document.body.append(image);"
      "const script = document.createElement('script'); script.textContent = 'window.sprung = 1';"
      "document.body.append(script); return image.getBoundingClientRect().width");

  EXPECT_THAT(browser().complaints(), ElementsAre(HasSubstr("violates"), HasSubstr("violates")));
  EXPECT_TRUE(browser().run("return window.sprung === undefined").get<bool>());
}

TEST_F(PageInABrowser, HasNoViolationThatAxeFinds) {
  const std::filesystem::path axe = RESIDUUM_WEB "/node_modules/axe-core/axe.min.js";
  if (!std::filesystem::exists(axe)) {
    GTEST_SKIP() << "axe-core is not there: npm ci --prefix reports/page/web";
  }
  for (const char* fragment : {"#theme=light", "#theme=dark"}) {
    open(swept_study(), fragment);
    browser().run("for (const one of document.querySelectorAll('details')) one.open = true");
    browser().run(read_file(axe));
    browser().run(
        "window.found = null; axe.run().then((result) => { window.found = result.violations.map("
        "(one) => one.id + ': ' + one.nodes.length + ' ' + one.nodes[0].html.slice(0, 200) + "
        "one.nodes[0].failureSummary); })");
    while (browser().run("return window.found").is_null()) {
    }

    EXPECT_EQ(browser().run("return window.found").dump(2), "[]") << fragment;
  }
}

TEST_F(PageInABrowser, ShowsWhatALinkSaysAndNothingOfTheLinkBefore) {
  const auto view = [&] {
    return browser().run(
        "return [location.hash, document.documentElement.dataset.theme, "
        "[...document.querySelectorAll('[aria-pressed=true][data-choice]')].map((one) => "
        "one.dataset.choice + '=' + one.dataset.value), document.getElementById('shown')"
        ".textContent, [...document.getElementById('runs-table').tBodies[0].rows]"
        ".filter((row) => !row.hidden).map((row) => row.cells[0].textContent)]");
  };
  open(swept_study(), "#hide=2");
  const Json wanted = view();

  open_folder("#x=bytes&hide=1&y=linear&theme=dark&query=m3&sort.runs-table=0.down");
  EXPECT_NE(view(), wanted);
  browser().run("location.hash = '#hide=2'");
  browser().wait_until_drawn();

  EXPECT_EQ(view(), wanted);
  browser().run("location.hash = '#curves'");
  browser().wait_until_drawn();
  EXPECT_EQ(view()[3], wanted[3]) << "a section's address leaves the rest alone";
}

TEST_F(PageInABrowser, LeavesAtItsStandardWhatALinkSaysAndThePageDoesNotKnow) {
  const auto view = [&] {
    return browser().run(
        "return [document.documentElement.dataset.theme, "
        "[...document.querySelectorAll('[aria-pressed=true][data-choice]')].map((one) => "
        "one.dataset.choice + '=' + one.dataset.value), document.getElementById('shown')"
        ".textContent, [...document.getElementById('runs-table').tBodies[0].rows]"
        ".filter((row) => !row.hidden).length]");
  };
  open(swept_study());
  const Json standard = view();

  for (const char* fragment : {"#theme=foo&y=bar&xlog=baz",
                               "#theme=&y=__proto__&xlog=constructor&x=toString",
                               "#x=time&hide=99,-1,abc",
                               "#key.sparsifier.density=0.5&key.constructor=1&key.=x"}) {
    open_folder(fragment);
    EXPECT_EQ(view(), standard) << fragment;
  }
  expect_no_complaint();
}

TEST_F(PageInABrowser, IsLightOrDarkByTheReadersSettingAndByTheSwitch) {
  open(swept_study());
  const auto background = [&] {
    return browser().text("return getComputedStyle(document.body).backgroundColor");
  };
  const auto prefer = [&](const char* scheme) {
    const Json feature{{"name", "prefers-color-scheme"}, {"value", scheme}};
    browser().tell("Emulation.setEmulatedMedia", Json{{"features", Json::array({feature})}});
  };

  prefer("light");
  EXPECT_EQ(background(), "rgb(255, 255, 255)");
  prefer("dark");
  EXPECT_EQ(background(), "rgb(22, 25, 29)");
  browser().click("[data-choice='theme'][data-value='light']");
  EXPECT_EQ(background(), "rgb(255, 255, 255)");
  prefer("light");
  browser().click("[data-choice='theme'][data-value='dark']");
  EXPECT_EQ(background(), "rgb(22, 25, 29)");
}

TEST_F(PageInABrowser, HasItsFiguresWithoutScriptsToo) {
  swept_study().write(path());
  const auto file = write_report(summarise(path())).file;
  browser().open_without_scripts(file);

  EXPECT_FALSE(browser().run("return 'ready' in document.documentElement.dataset").get<bool>());
  EXPECT_GE(browser().number("return document.querySelectorAll('figure').length"), 5);
  EXPECT_EQ(browser().number("return [...document.querySelectorAll('figure')].filter((figure) => "
                             "!(figure.querySelector('.static svg')?.clientWidth > 300)).length"),
            0)
      << "every figure is drawn";
  // Steps in paths that went astray would leave the drawing.
  EXPECT_EQ(browser().number(
                "return [...document.querySelectorAll('.static svg')].filter((svg) => { "
                "const box = svg.getBoundingClientRect(); return [...svg.querySelectorAll('path')]"
                ".some((path) => { const own = path.getBoundingClientRect(); return !path.closest("
                "'defs') && (own.right > box.right + 2 || own.bottom > box.bottom + 2 || "
                "own.left < box.left - 2 || own.top < box.top - 2); }); }).length"),
            0);
}

TEST_F(PageInABrowser, PrintsWithoutItsControls) {
  open(swept_study());
  browser().tell("Emulation.setEmulatedMedia", Json{{"media", "print"}});

  EXPECT_EQ(browser().text("return getComputedStyle(document.querySelector('.controls')).display"),
            "none");
}

TEST_F(FiguresInABrowser, ShowACurveOfEveryMethodInEveryFigure) {
  open(swept_study());

  EXPECT_EQ(curves_in("loss-gap"), 4);
  EXPECT_EQ(curves_in("delta"), 4);
  EXPECT_EQ(browser().number("return document.querySelectorAll('figure .static').length"),
            browser().number("return document.querySelectorAll('figure[data-variant]').length"));
}

TEST_F(FiguresInABrowser, AreDrawnAgainstAnotherAxisByAClick) {
  open(swept_study());
  const std::string before = shape_of("loss-gap");

  browser().click("[data-choice='x'][data-value='bytes']");

  EXPECT_NE(shape_of("loss-gap"), before);
  EXPECT_EQ(address(), "#x=bytes");
  browser().wait_until_drawn();
  EXPECT_THAT(browser().text("return document.querySelector('[data-live=\"delta\"]').textContent"),
              HasSubstr("bytes sent"));
  const std::string by_bytes = shape_of("loss-gap");
  open_folder("#x=bytes");
  EXPECT_EQ(shape_of("loss-gap"), by_bytes) << "a link shows what its sender saw";
  expect_no_complaint();
}

TEST_F(FiguresInABrowser, AreDrawnAgainstTheTimeOnEachNetwork) {
  SyntheticStudy study;
  study.seeds = 1;
  study.methods[0].change = [](Row& row, int) {
    row.set(Column::virtual_s, static_cast<double>(row.iteration()) + 1);
  };
  study.write(path());
  const std::string id = SyntheticStudy::run_id(0, 1);
  std::string text = detail_header(kNetworksTable);
  for (std::uint64_t t = 0; t < study.iterations; ++t) {
    text += fmt::format("{0},{1},1gbe,0,0,0,0,{2},1\n{0},{1},10gbe,0,0,0,0,{3},1\n",
                        id,
                        t,
                        t + 1,
                        0.125 * static_cast<double>((t + 1) * (t + 1)));
  }
  write_file_atomically(path() / "runs" / id / "networks.csv", text);
  open_folder("#x=time");
  const std::string on_first = shape_of("loss-gap");

  browser().click("[data-choice='x'][data-value='time:10gbe']");

  EXPECT_NE(shape_of("loss-gap"), on_first);
  EXPECT_THAT(browser().text("return document.querySelector('[data-live=\"delta\"]').textContent"),
              HasSubstr("virtual time on 10gbe, s"));
  EXPECT_EQ(browser().text("return document.querySelector(\"[data-value='time']\").textContent"),
            "virtual time on 1gbe, s");
  const std::string address = this->address();
  open_folder(address);
  EXPECT_NE(shape_of("loss-gap"), on_first) << "a link shows what its sender saw: " << address;
  expect_no_complaint();
}

TEST_F(FiguresInABrowser, TakeLinearAndLogarithmicScales) {
  open(swept_study());

  browser().click("[data-choice='y'][data-value='log']");
  const std::string logarithmic = shape_of("loss-gap");
  browser().click("[data-choice='y'][data-value='linear']");

  EXPECT_NE(shape_of("loss-gap"), logarithmic);
  EXPECT_EQ(address(), "#y=linear");
}

TEST_F(FiguresInABrowser, CountWhatALogarithmicAxisHasNoPlaceFor) {
  SyntheticStudy study;
  study.seeds = 1;
  study.methods = {SyntheticMethod{.change = [](Row& row, int) {
    if (row.iteration() < 3) {
      row.set(Column::residual_norm_sq, 0);
    }
  }}};
  open(study, "#y=log");

  EXPECT_THAT(browser().text("return document.querySelector('[data-live=\"residual\"] "
                             ".under').textContent"),
              HasSubstr("3 values ≤ 0 left out of a logarithmic axis"));
}

TEST_F(FiguresInABrowser, HideAMethodEverywhereByAClickAndByAKey) {
  open(swept_study());

  browser().click("[data-live='delta'] .legend button[data-method='1']");
  EXPECT_EQ(curves_in("delta"), 3);
  EXPECT_EQ(curves_in("loss-gap"), 3);
  EXPECT_EQ(column("verdict-table", 0).size(), 3U);
  EXPECT_EQ(address(), "#hide=1");

  browser().type("[data-live='loss-gap'] .legend button[data-method='1']", testing::kSpaceKey);
  EXPECT_EQ(curves_in("delta"), 4);
}

TEST_F(FiguresInABrowser, ShowSingleSeedsOnRequest) {
  open(swept_study());
  const std::string seeds =
      "return document.querySelectorAll('[data-live=\"loss-gap\"] .seed').length";
  EXPECT_EQ(browser().number(seeds), 0);

  browser().click("[data-toggle='seeds']");
  browser().wait_until_drawn();

  EXPECT_EQ(browser().number(seeds), 12);
}

TEST_F(FiguresInABrowser, ZoomByDraggingAndShowAllAfterEscape) {
  open(swept_study());
  const std::string whole = shape_of("loss-gap");

  browser().drag("[data-live='loss-gap'] svg.figure", 0.3, 0.2, 0.7, 0.7);
  EXPECT_NE(shape_of("loss-gap"), whole);
  EXPECT_THAT(address(), HasSubstr("zoom.loss-gap"));
  browser().type("[data-live='loss-gap'] svg.figure", testing::kEscapeKey);

  EXPECT_EQ(shape_of("loss-gap"), whole);
}

TEST_F(FiguresInABrowser, TellAllValuesAtOnePlaceByArrowKeys) {
  open(swept_study());

  for (int i = 0; i < 3; ++i) {
    browser().type("[data-live='delta'] svg.figure", testing::kRightKey);
  }

  const auto values = browser()
                          .run(
                              "return [...document.querySelectorAll('[data-live=\"delta\"] "
                              ".value')].map((one) => one.textContent)")
                          .get<std::vector<std::string>>();
  ASSERT_EQ(values.size(), 4U);
  for (const auto& value : values) {
    EXPECT_THAT(value, HasSubstr(" at 2"));
    EXPECT_THAT(browser().text("return document.querySelector('[data-live=\"delta\"] .spoken"
                               "[role=status]').textContent"),
                HasSubstr(value))
        << "a screen reader says it";
  }
}

/// Fills every column that has a figure.
void fill(Row& row, int seed) {
  double noise = 1 + 0.2 * std::sin(static_cast<double>(row.iteration()) * 2.7 + seed);
  for (const Column column : {Column::delta_in,
                              Column::delta_out,
                              Column::noise_variance,
                              Column::heterogeneity,
                              Column::smoothness_gap,
                              Column::captured_energy,
                              Column::test_accuracy,
                              Column::virtual_s}) {
    row.set(column, noise * (column == Column::virtual_s ? double(row.iteration()) : 0.3));
    noise *= 1.01;
  }
}

/// The time until a reader can use the page is printed and recorded, not asserted: the machine has
/// its part in it. The target is 2 s on a quiet one.
TEST_F(FiguresInABrowser, OfFortyRunsOfFiveThousandIterationsAreSmall) {
  for (const int seeds : {1, 2, 4}) {
    SyntheticStudy study;
    study.methods.clear();
    study.seeds = seeds;
    study.iterations = 5000;
    for (int i = 0; i < 40 / seeds; ++i) {
      study.methods.push_back(
          SyntheticMethod{.density = 0.001 * (i + 1),
                          .leaks = true,
                          .workers = 2 + i % 4,
                          .change = seeds == 2 ? wide_study().methods[0].change : fill});
    }
    open(study);

    const auto size = std::filesystem::file_size(path() / "report.html");
    const int shown = browser().number(
        "return Math.round(performance.getEntriesByType('mark').at(-1).startTime)");
    EXPECT_LT(size, 5'000'000U);
    fmt::print("{} seeds: {} bytes, in use after {} ms\n", seeds, size, shown);
    RecordProperty(fmt::format("bytes_{}_seeds", seeds), std::to_string(size));
    RecordProperty(fmt::format("ms_{}_seeds", seeds), shown);
    std::filesystem::remove_all(path() / "runs");
  }
}

}  // namespace
}  // namespace residuum::reports
