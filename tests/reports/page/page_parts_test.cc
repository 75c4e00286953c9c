// The parts that the report's page is made of, one by one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "reports/analysis/words.h"
#include "reports/page/figure_writer.h"
#include "reports/page/html.h"
#include "tests/reports/page/html_tags.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::imbalance;
using ::testing::Not;

TEST(Imbalance, SeesTagsThatDoNotNest) {
  EXPECT_EQ(imbalance("<!DOCTYPE html><a><b x=\"1\"><c/></b><meta></a>"), "");
  EXPECT_EQ(imbalance("<a><b></a>"), "</a> closes b");
  EXPECT_EQ(imbalance("<a>"), "a is not closed");
  EXPECT_EQ(imbalance("</a>"), "</a> closes nothing");
}

TEST(PageFrame, NamesAHashAsSecurityPoliciesDo) {
  // The SHA-256 of the empty text, in both forms known from RFC 6234 and the CSP specification.
  EXPECT_EQ(policy_hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST(PageFrame, LeavesNoTagInTheData) {
  EXPECT_EQ(data_element("{\"a\":\"</script><!-- <b\"}"),
            "<script type=\"application/json\" id=\"data\">{\"a\":\"\\u003c/script>\\u003c!-- "
            "\\u003cb\"}</script>\n");
}

TEST(PageAssets, HoldNoEndOfTheirElements) {
  EXPECT_THAT(std::string(page_script().text), Not(HasSubstr("</script")));
  EXPECT_THAT(std::string(page_library().text), Not(HasSubstr("</script")));
  EXPECT_THAT(std::string(page_style().text), Not(HasSubstr("</style")));
  EXPECT_EQ(page_library().text.empty(), page_library_licences().text.empty());
}

TEST(ShortNumber, ReadsAsOneOnlyWhatIsOne) {
  EXPECT_EQ(short_number(1), "1");
  EXPECT_EQ(short_number(1.00036), "1.0004");
  EXPECT_EQ(short_number(1.0000123), "1.00001");
  EXPECT_EQ(short_number(0.99999), "0.99999");
  EXPECT_EQ(short_number(1 + 1e-12), "1") << "that is rounding";
  EXPECT_EQ(short_number(0.9876), "0.9876");
}

TEST(InlineSvg, LosesOnlyWhatSaysNothing) {
  const std::string svg =
      "<?xml?>\n<svg viewBox=\"0 0 9 9\">\n<g fill=\"none\" stroke-linecap=\"butt\">\n</g>\n"
      "<g color=\"red\"><path stroke='rgb(213,  94,   0)' d='M100.72,243.20 L8.15,5'/>\n"
      "<text x=\"1.25\">0.945</text></g>\n</svg>";

  EXPECT_EQ(inline_svg(svg, {.prefix = "f1", .description = "a"}),
            "<svg role=\"img\" aria-label=\"a\" viewBox=\"0 0 9 9\">\n"
            "<g color=\"red\"><path stroke='#d55e00' d='M100.7 243.2l-92.5-238.2'/>\n"
            "<text x=\"1.25\">0.945</text></g>\n</svg>");
}

TEST(InlineSvg, WritesTheGreyOfNotesInThePagesOwnColour) {
  EXPECT_EQ(
      inline_svg("<svg><g fill=\"rgb(96,96,96)\"><text>a note</text></g></svg>",
                 {.prefix = "f1", .description = "a"}),
      "<svg role=\"img\" aria-label=\"a\"><g fill=\"currentColor\"><text>a note</text></g></svg>");
}

TEST(InlineSvg, MakesPathsOfTheBandsAndDropsDefinitionsThatNothingUses) {
  const std::string svg =
      "<svg viewBox=\"0 0 9 9\">\n<defs>\n\t<path id='p7' d='M0,-1.33 L1,1 z'/>\n"
      "\t<circle id='p5' r='1'/>\n\t<use xlink:href='#p7' id='p8' fill='red'/>\n"
      "\t<use xlink:href='#p5' id='p6' fill='red'/>\n"
      "\t<filter id='box' x='0'>\n\t <feFlood/>\n\t</filter>\n</defs>\n"
      "<polygon fill = 'red' points = '1.00,2.00 3.04,2.00 3.08,1.00 '/>\n"
      "\t<use xlink:href='#p8' transform='translate(91.04,63.88) scale(3.1)'/>\n</svg>";

  EXPECT_EQ(inline_svg(svg, {.prefix = "f1", .description = "a"}),
            "<svg role=\"img\" aria-label=\"a\" viewBox=\"0 0 9 9\">\n<defs>\n"
            "\t<path id='f1-p7' d='M0-1.3l1 2.3z'/>\n"
            "\t<use href='#f1-p7' id='f1-p8' fill='red'/>\n</defs>\n"
            "<path fill = 'red' d='M1 2l2 0 0.1-1z'/>\n"
            "\t<use href='#f1-p8' transform='translate(91.0,63.8) scale(3.1)'/>\n</svg>");
}

TEST(SvgPaths, StepFromPlaceToPlaceWithoutAddingUpErrors) {
  EXPECT_EQ(short_path("M90.94,269.70 L87.76,269.70\n\tL87.80,260.00 z"),
            "M90.9 269.7l-3.1 0 0-9.7z");
  EXPECT_EQ(short_path("M0,0 L0.04,1 L0.08,1 L0.12,1 L0.16,-1 M5,5 L6,6"),
            "M0 0l0 1 0.1 0 0 0 0.1-2M5 5l1 1")
      << "four steps of 0.04 are 0.2 in tenths, not zero";
  EXPECT_EQ(short_path("M-1,0 h2 M0,-1 v2"), "M-1,0 h2 M0,-1 v2");
  EXPECT_EQ(short_path(""), "");
}

TEST(Html, NumbersAreShort) {
  EXPECT_EQ(short_number({}), "–");
  EXPECT_EQ(short_number(0.123456), "0.1235");
  EXPECT_EQ(short_number(1e-9), "1e-09");
  EXPECT_EQ(short_number(32561), "32561");
  EXPECT_EQ(short_number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(short_bytes(999), "999 B");
  EXPECT_EQ(short_bytes(1234567), "1.23 MB");
}

TEST(Html, PercentNeverRoundsToAllOrNothing) {
  EXPECT_EQ(percent(1.0), "100 %");
  EXPECT_EQ(percent(0.99999), "99.9 %");
  EXPECT_EQ(percent(0.00001), "0.1 %");
  EXPECT_EQ(percent(0.0), "0 %");
  EXPECT_EQ(percent(0.5), "50.0 %");
}

}  // namespace
}  // namespace residuum::reports
