// The parts that the report's page is made of, one by one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "reports/numbers/words.h"
#include "reports/page/inline_svg.h"
#include "reports/page/page_assets.h"
#include "reports/page/page_frame.h"
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

TEST(InlineSvg, LosesOnlyWhatSaysNothing) {
  const std::string svg =
      "<?xml?>\n<svg viewBox=\"0 0 9 9\">\n<g fill=\"none\" stroke-linecap=\"butt\">\n</g>\n"
      "<g color=\"red\"><path stroke='rgb(213,  94,   0)' d='M100.72,243.20 L8.15,5'/>\n"
      "<text x=\"1.25\">0.945</text></g>\n</svg>";

  EXPECT_EQ(inline_svg(svg, {.prefix = "f1", .description = "a"}),
            "<svg role=\"img\" aria-label=\"a\" viewBox=\"0 0 9 9\">\n"
            "<g color=\"red\"><path stroke='#d55e00' d='M100.7,243.2 L8.1,5'/>\n"
            "<text x=\"1.25\">0.945</text></g>\n</svg>");
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
