// Curves that go through several methods can be seen and filtered in a reader's browser.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "reports/page/html.h"
#include "reports/results/files.h"
#include "tests/reports/browser/open_page.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PageInABrowser;
using ::testing::SizeIs;
using testing::SyntheticMethod;
using testing::SyntheticStudy;

/// The fixture has two densities at two, four and eight workers: method 0 is the larger density at
/// two workers, method 1 the same at four, and so on.
class JoinedCurvesInABrowser : public PageInABrowser {
 protected:
  void SetUp() override {
    if (page_library().text.empty()) {
      GTEST_SKIP()
          << "built without the library: npm ci --prefix reports/page/web, and build again";
    }
    PageInABrowser::SetUp();
  }

  void open_study(const std::string& fragment = "") {
    SyntheticStudy study;
    study.methods.clear();
    for (const double density : {0.1, 0.01}) {
      for (const int workers : {2, 4, 8}) {
        study.methods.push_back(
            SyntheticMethod{.density = density, .workers = workers, .change = [](Row& row, int) {
                              row.set(Column::accumulator_norm_sq, 1);
                            }});
      }
    }
    study.write(path());
    for (std::size_t method = 0; method < study.methods.size(); ++method) {
      for (int seed = 1; seed <= study.seeds; ++seed) {
        change_status(path(), SyntheticStudy::run_id(method, seed), [&](Json& status) {
          status["dimension"] = 1000;
          status["k"] = method < 3 ? 100 : 10;
        });
      }
    }
    open_folder(fragment);
    browser().wait_until_drawn();
  }

  std::vector<std::string> texts(const std::string& body) {
    return browser().run("return " + body).get<std::vector<std::string>>();
  }
  std::vector<std::string> figures() {
    return texts("[...document.querySelectorAll('[data-live]')].map((one) => one.dataset.live)");
  }
  /// The colours in which a browser paints the curves of a figure.
  std::vector<std::string> strokes(const std::string& figure) {
    return texts("[...document.querySelectorAll('[data-live=\"" + figure +
                 "\"] .curve')].map((one) => getComputedStyle(one).stroke)");
  }
  /// The colours of the curves in the figure's own table.
  std::vector<std::string> colours(const std::string& figure) {
    const std::string csv = read_file(path() / "figures" / (figure + ".curves.csv"));
    const std::regex colour("#([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})");
    std::vector<std::string> found;
    for (std::sregex_iterator at(csv.begin(), csv.end(), colour), end; at != end; ++at) {
      found.push_back(fmt::format("rgb({}, {}, {})",
                                  std::stoi((*at)[1], nullptr, 16),
                                  std::stoi((*at)[2], nullptr, 16),
                                  std::stoi((*at)[3], nullptr, 16)));
    }
    return found;
  }
  int markers_in(const std::string& figure) {
    return browser().number("return document.querySelectorAll('[data-live=\"" + figure +
                            "\"] svg.figure [transform^=translate]').length");
  }
};

TEST_F(JoinedCurvesInABrowser, HaveTheColoursOfTheStaticFiguresAsAllCurvesHave) {
  open_study("#theme=light");

  const auto all = figures();
  EXPECT_THAT(all, ::testing::IsSupersetOf({"end-workers-1", "delta-workers-1", "energy-k"}));
  for (const auto& figure : all) {
    EXPECT_EQ(strokes(figure), colours(figure)) << figure;
  }
  EXPECT_THAT(texts("[...document.querySelectorAll('.band')].map((one) => one.getAttribute('fill'))"
                    ".filter((fill) => !/^#[0-9A-F]{6}$/.test(fill))"),
              IsEmpty());
  EXPECT_EQ(markers_in("end-workers-1"), 6) << "two curves of three methods";
  expect_no_complaint();
}

TEST_F(JoinedCurvesInABrowser, HaveTicksAtTheNumbersOfWorkersOfTheSweep) {
  const std::string ticks =
      "[...document.querySelectorAll('[data-live=\"end-workers-1\"] svg.figure "
      "text[text-anchor=middle]')].map((one) => one.textContent).filter((text) => !isNaN(text))";
  open_study();
  EXPECT_THAT(texts(ticks), ElementsAre("2", "4", "8"));

  open_study("#key.workers.count=4");
  EXPECT_THAT(texts(ticks), ElementsAre("4"));
}

TEST_F(JoinedCurvesInABrowser, KeepOnlyThePointsOfMethodsThatPassAFilter) {
  open_study("#key.sparsifier.density=0.01");

  EXPECT_EQ(curves_in("end-workers-1"), 1);
  EXPECT_EQ(curves_in("energy-k"), 3);
  EXPECT_EQ(markers_in("energy-k"), 3) << "a curve for each number of workers, at one density";

  open_study("#key.workers.count=4");

  EXPECT_EQ(curves_in("end-workers-1"), 2);
  EXPECT_EQ(markers_in("end-workers-1"), 2);
  EXPECT_EQ(curves_in("energy-k"), 1);
  EXPECT_EQ(markers_in("energy-k"), 2);
}

TEST_F(JoinedCurvesInABrowser, HideAllTheirMethodsByAClickAndShowThemByAnother) {
  open_study();
  const std::string entry = "[data-live='end-workers-1'] .legend li:first-child button";
  EXPECT_THAT(column("runs-table", 0), SizeIs(18));

  browser().click(entry);

  EXPECT_EQ(curves_in("end-workers-1"), 1);
  EXPECT_EQ(address(), "#hide=0%2C1%2C2");
  EXPECT_THAT(column("runs-table", 0), SizeIs(9));
  EXPECT_THAT(texts("[...document.querySelectorAll('[data-live=\"end-workers-1\"] button"
                    "[aria-pressed]')].map((one) => one.getAttribute('aria-pressed'))"),
              ElementsAre("false", "true"));

  browser().click(entry);

  EXPECT_EQ(curves_in("end-workers-1"), 2);
  EXPECT_THAT(column("runs-table", 0), SizeIs(18));
}

}  // namespace
}  // namespace residuum::reports
