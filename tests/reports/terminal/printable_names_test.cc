// Names of methods on a terminal: cut, and yet different.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/terminal/table.h"
#include "reports/terminal/verdict_lines.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::string kSparseLoCo = "chunk-top-k, P=32, none, workers, feedback.decay=0.95, table";
const std::string kOfStepTwo =
    "chunk-top-k, P=32, none, workers, feedback.decay=0.95, plain, outer.step=2, table";

TEST(PrintableNames, ThatAreLongAreCutInTheirMiddle) {
  EXPECT_THAT(printable_names({"dense", kSparseLoCo, "dense"}),
              ElementsAre(Pair(kSparseLoCo, "chunk-top-k, P=32, none…edback.decay=0.95, table"),
                          Pair("dense", "dense")));
}

TEST(PrintableNames, ThatBeginAlikeAreCutInTheirMiddle) {
  EXPECT_THAT(printable_names({kSparseLoCo, kOfStepTwo}),
              ElementsAre(Pair(kOfStepTwo, "chunk-top-k, P=32, none…ain, outer.step=2, table"),
                          Pair(kSparseLoCo, "chunk-top-k, P=32, none…edback.decay=0.95, table")));
}

TEST(PrintableNames, ThatDifferInTheirMiddleAloneAreCutElsewhereOrNumbered) {
  const std::string before(50, 'a');
  const std::string after(30, 'b');
  const std::string end = std::string(16, 'a') + "ö" + after;
  const std::string long_same(60, 'a');

  EXPECT_THAT(printable_names({before + "ö" + after, before + "a" + after}),
              ::testing::Contains(Pair(before + "ö" + after, "…" + end)));
  EXPECT_THAT(printable_names({long_same + "1" + long_same, long_same + "2" + long_same}),
              ElementsAre(Pair(::testing::_, std::string(43, 'a') + "… [1]"),
                          Pair(::testing::_, std::string(43, 'a') + "… [2]")));
}

TEST(PrintableNames, AreThoseOfTheStudysTables) {
  Summary summary;
  for (const auto& label : {kSparseLoCo, kOfStepTwo}) {
    summary.groups.emplace_back();
    summary.groups.back().group.label = label;
    summary.groups.back().theorems.push_back({.theorem = find_theorem("certificate"), .bound = {}});
  }

  for (const std::string& text :
       {study_table(summary), verdict_lines(summary, 10), theorem_text(summary, "certificate")}) {
    for (const auto& [label, name] : printable_labels(summary)) {
      EXPECT_THAT(text, HasSubstr(name));
    }
  }
}

}  // namespace
}  // namespace residuum::reports
