// Names of methods that a study does not name itself are short, and differ.

#include "reports/analysis/short_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace residuum::reports {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::ResultOf;

const LabelParts kBase{
    {"", "gtopk-tree"}, {"", "top-k"}, {"", "ef14"}, {"", "bsp"}, {"rho", "0.1"}};

LabelParts with(LabelParts parts, const LabelPart& more) {
  parts.push_back(more);
  return parts;
}

std::size_t length_of(const std::string& label) { return label.size(); }

TEST(ShortLabels, HaveAllTheirPartsWhereTheseAreFew) {
  EXPECT_THAT(short_labels({{{"", "dense"}}, with({{"", "top-k"}}, {"protocol.period", "4"})}),
              ElementsAre("dense", "top-k, protocol.period=4"));
}

TEST(ShortLabels, LeaveOutWhatAllShareAndNameKeysByTheirLastWord) {
  EXPECT_THAT(short_labels({with(kBase, {"budget.iterations", "200"}),
                            with(kBase, {"feedback.decay", "0.9"}),
                            kBase}),
              ElementsAre("iterations=200", "decay=0.9", "gtopk-tree"));
}

TEST(ShortLabels, LeaveOutWhatMostShareWhereThatDoes) {
  const LabelParts dense{{"", "dense"}, {"", "none"}, {"", "none"}, {"", "bsp"}};
  const auto labels = short_labels({kBase, dense, with(kBase, {"feedback.decay", "0.9"})});
  EXPECT_EQ(labels[0], "gtopk-tree, top-k, ef14, rho=0.1");
  EXPECT_EQ(labels[1], "dense, none, none");
  EXPECT_THAT(labels, Each(ResultOf(length_of, Le(kMostLabelCharacters))));
  EXPECT_THAT(labels[2], ::testing::EndsWith("decay=0.9"));
}

TEST(ShortLabels, LeaveOutNumbersBeforeNamesOfComponents) {
  const LabelParts other{{"", "dense"}, {"rho", "0.1"}};
  const LabelParts tree{{"", "gtopk-tree"}, {"rho", "0.1"}, {"staleness", "12"}};
  const auto labels = short_labels({other,
                                    with(tree, {"protocol.period", "12345"}),
                                    with(tree, {"protocol.period", "23456"}),
                                    {{"", "gtopk-tree"}, {"lambda", "0.1"}}});
  EXPECT_EQ(labels[1], "gtopk-tree, staleness=12, period=12345");
}

TEST(ShortLabels, KeepKeysApartThatEndAlike) {
  const LabelParts first{{"", std::string(30, 'a')}, {"step.momentum", "0.5"}};
  const LabelParts second{{"", std::string(30, 'a')}, {"outer.momentum", "0.5"}};
  EXPECT_THAT(short_labels({first, second}),
              ElementsAre("step.momentum=0.5", "outer.momentum=0.5"));
}

TEST(ShortLabels, AreCutInTheirMiddleAtLast) {
  const std::string value(60, 'x');
  const auto labels =
      short_labels({{{"objective.data", value + "1"}}, {{"objective.data", value + "2"}}});
  EXPECT_EQ(labels[0], "data=" + std::string(14, 'x') + "…" + std::string(19, 'x') + "1");
  EXPECT_EQ(labels[1], "data=" + std::string(14, 'x') + "…" + std::string(19, 'x') + "2");
}

}  // namespace
}  // namespace residuum::reports
