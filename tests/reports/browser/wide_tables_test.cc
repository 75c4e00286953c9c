// No column of a table gets lost: not on a laptop, not on a phone and not on paper.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reports/browser/open_page.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::wide_study;

class TablesInABrowser : public testing::PageInABrowser {
 protected:
  /// Returns the cells that reach beyond `pixels` pixels, with their texts.
  std::vector<std::string> cells_beyond(int pixels) {
    return browser()
        .run(
            "return [...document.querySelectorAll('th, td')]"
            ".filter((cell) => cell.getBoundingClientRect().right > arguments[0] + 0.5)"
            ".map((cell) => `${cell.getBoundingClientRect().right}: ${cell.textContent}`)",
            Json::array({pixels}))
        .get<std::vector<std::string>>();
  }
  /// The numbers, in cells of numbers, that go on in a second line.
  std::vector<std::string> broken_numbers() {
    return browser()
        .run(
            "const broken = [];"
            "for (const cell of document.querySelectorAll('td.n')) {"
            "  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);"
            "  for (let node = walker.nextNode(); node; node = walker.nextNode()) {"
            "    for (const match of node.data.matchAll(/[-+.\\de]*\\d[-+.\\de]*/g)) {"
            "      const range = document.createRange();"
            "      range.setStart(node, match.index);"
            "      range.setEnd(node, match.index + match[0].length);"
            "      const tops = new Set([...range.getClientRects()].map((one) => "
            "Math.round(one.top)));"
            "      if (tops.size > 1) broken.push(match[0]);"
            "    }"
            "  }"
            "}"
            "return broken")
        .get<std::vector<std::string>>();
  }
  int details(const std::string& state) {
    return browser().number("return document.querySelectorAll('details" + state + "').length");
  }
};

TEST_F(TablesInABrowser, OfTenMethodsAreWholeOnALaptop) {
  open(wide_study());
  browser().set_width(1280);

  EXPECT_GE(
      browser().number("return document.getElementById('verdict-table').rows[0].cells.length"), 9)
      << "the study is to have many verdicts";
  EXPECT_THAT(cut_tables(), IsEmpty());
}

TEST_F(TablesInABrowser, SayOnAPhoneThatTheyGoOnAndKeepTheirFirstColumn) {
  open(wide_study());
  browser().set_width(400);
  ASSERT_GE(cut_tables().size(), 3U);
  browser().wait_until_drawn();

  EXPECT_EQ(browser().number(
                "return [...document.querySelectorAll('.scroll')].filter((box) => "
                "(box.scrollWidth > box.clientWidth + 1) !== "
                "getComputedStyle(box, '::before').content.includes('scroll sideways')).length"),
            0);
  const Json lefts = browser().run(
      "const box = document.getElementById('runs-table').closest('.scroll');"
      "const head = box.querySelector('tbody th');"
      "const before = head.getBoundingClientRect().left; box.scrollLeft = 300;"
      "return [box.scrollLeft, before, head.getBoundingClientRect().left]");
  EXPECT_EQ(lefts[0], 300);
  EXPECT_EQ(lefts[1], lefts[2]);
  EXPECT_LE(browser().number("return Math.ceil(Math.max(...[...document.querySelectorAll("
                             "'caption span')].map((one) => one.getBoundingClientRect().right)))"),
            400);
}

TEST_F(TablesInABrowser, OfVerdictsAreCardsOnAPhone) {
  constexpr int kPhone = 420;
  open(wide_study());
  browser().set_width(kPhone);
  browser().wait_until_drawn();

  EXPECT_EQ(browser().run("return getComputedStyle(document.querySelector('#verdict-table thead'))"
                          ".display"),
            "none");
  EXPECT_EQ(browser().number("const titles = [...document.querySelectorAll('#verdict-table thead "
                             "th')].map((one) => one.textContent.replace(/\\s/g, ''));"
                             "return [...document.querySelectorAll('#verdict-table tbody tr')]"
                             ".flatMap((row) => [...row.cells].slice(1).filter((cell, i) => "
                             "cell.dataset.title.replace(/\\s/g, '') !== titles[i + 1])).length"),
            0)
      << "every cell says its column";
  EXPECT_LE(browser().number("return Math.ceil(Math.max(...[...document.querySelectorAll("
                             "'#verdict-table td')].map((one) => "
                             "one.getBoundingClientRect().right)))"),
            kPhone);
  EXPECT_EQ(browser().run("return getComputedStyle(document.querySelector('#verdict-table td'), "
                          "'::before').content.length > 2"),
            true);
}

TEST_F(TablesInABrowser, AndFiguresHaveLettersThatCanBeReadOnAPhone) {
  open(wide_study());
  browser().set_width(420);
  browser().wait_until_drawn();

  EXPECT_GE(browser().number("return Math.min(...[...document.querySelectorAll('svg.figure text')]"
                             ".filter((one) => one.getClientRects().length > 0).map((one) => "
                             "{ const svg = one.ownerSVGElement; return 10 * "
                             "parseFloat(getComputedStyle(one).fontSize) * "
                             "svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; }))"),
            100)
      << "tenths of pixels";
}

TEST_F(TablesInABrowser, ArePrintedWholeWithAllDetailsOpen) {
  constexpr int kA4 = 717;  // pixels of 1/96 inch between Chromium's margins of 0.4 inches
  open(wide_study());
  browser().wait_until_drawn();
  browser().set_width(kA4);
  browser().tell("Emulation.setEmulatedMedia", Json{{"media", "print"}});
  const int closed = details(":not([open])");
  ASSERT_GE(closed, 3);

  browser().run("dispatchEvent(new Event('beforeprint'))");
  EXPECT_EQ(details(":not([open])"), 0);
  EXPECT_THAT(cells_beyond(kA4), IsEmpty());
  EXPECT_THAT(broken_numbers(), IsEmpty());

  browser().run("dispatchEvent(new Event('afterprint'))");
  EXPECT_EQ(details(":not([open])"), closed) << "on the screen they are as the reader left them";
}

}  // namespace
}  // namespace residuum::reports
