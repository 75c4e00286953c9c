// Names of methods that a study does not name itself are short, and differ.

#include "reports/analysis/short_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const LabelParts kBase{
    {"", "gtopk-tree"}, {"", "top-k"}, {"", "ef14"}, {"", "bsp"}, {"rho", "0.1"}};

LabelParts with(LabelParts parts, const LabelPart& more) {
  parts.push_back(more);
  return parts;
}

std::size_t characters_in(const std::string& label) {
  return static_cast<std::size_t>(std::count_if(label.begin(), label.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

TEST(ShortLabels, HaveAllTheirPartsWhereTheseAreFew) {
  EXPECT_THAT(short_labels({{{"", "dense"}}, with({{"", "top-k"}}, {"protocol.period", "4"})}),
              ElementsAre("dense", "top-k, protocol.period=4"));
}

TEST(ShortLabels, LeaveOutWhatAllShareAndNameKeysByTheirLastWord) {
  const LabelParts other{{"", "dense"}, {"", "top-k"}, {"", "ef14"}, {"", "bsp"}, {"rho", "0.1"}};
  EXPECT_THAT(short_labels({with(kBase, {"budget.iterations", "200"}),
                            with(kBase, {"feedback.decay", "0.9"}),
                            other}),
              ElementsAre("gtopk-tree, iterations=200", "gtopk-tree, decay=0.9", "dense"));
}

TEST(ShortLabels, AllKeepTheFirstPartWhereAMethodHasNothingElse) {
  EXPECT_THAT(short_labels({with(kBase, {"budget.iterations", "200"}), kBase}),
              ElementsAre("gtopk-tree, iterations=200", "gtopk-tree"));
}

TEST(ShortLabels, KeepWhatMethodsThatHaveNamesDoNotShare) {
  const LabelParts tree{{"", "gtopk-tree"}, {"", "top-k"}, {"protocol.period", "4"}};
  const std::vector<LabelParts> methods{with(tree, {"x.n", "1"}), with(tree, {"x.n", "2"})};
  EXPECT_THAT(short_labels(methods), ElementsAre("n=1", "n=2"));
  EXPECT_THAT(short_labels(methods, {{{"", "dense"}}}),
              ElementsAre("gtopk-tree, top-k, period=4, n=1", "gtopk-tree, top-k, period=4, n=2"));
}

/// Returns the parts of all methods of a sweep over four keys.
std::vector<LabelParts> sweep_over_four_keys() {
  std::vector<LabelParts> methods;
  for (const char* aggregator : {"gtopk-tree", "sparse-reduce-scatter", "allgather"}) {
    for (const char* feedback : {"ef14", "none"}) {
      for (const char* rho : {"0.05", "0.1"}) {
        for (const char* eta : {"0.02", "0.05"}) {
          methods.push_back({{"", aggregator}, {"", feedback}, {"rho", rho}, {"eta", eta}});
        }
      }
    }
  }
  return methods;
}

TEST(ShortLabels, NeverLeaveOutWhatVaries) {
  const auto methods = sweep_over_four_keys();
  const auto labels = short_labels(methods);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const std::string& aggregator = methods[i][0].value;
    EXPECT_THAT(labels[i], StartsWith(aggregator.substr(0, 6)));
    for (std::size_t part = 1; part < methods[i].size(); ++part) {
      EXPECT_THAT(labels[i], HasSubstr(", " + methods[i][part].text()));
    }
    EXPECT_LE(characters_in(labels[i]), kMostLabelCharacters);
  }
  EXPECT_EQ(labels[0], "gtopk-tree, ef14, rho=0.05, eta=0.02");
  EXPECT_EQ(labels[8], "sparse…scatter, ef14, rho=0.05, eta=0.02");
  EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size());
}

TEST(ShortLabels, AValueIsCutAlikeInAllNames) {
  const LabelPart scatter{"", "sparse-reduce-scatter"};
  const auto labels = short_labels(
      {{scatter, {"n", "1"}}, {scatter, {"", "error-feedback-21"}, {"n", "2"}}, {{"", "dense"}}});
  EXPECT_THAT(
      labels,
      ElementsAre("sparse-…-scatter, n=1", "sparse-…-scatter, error-f…dback-21, n=2", "dense"));
}

TEST(ShortLabels, ANameOfTheStudysOwnStandsAloneWhereItIsOfOneMethod) {
  const LabelPart tree{"", "A tree with a name of the study's own", true};
  const LabelPart all{"", "B", true};
  EXPECT_THAT(
      short_labels({{tree, {"rho", "0.05"}}, {all, {"rho", "0.05"}}, {all, {"rho", "0.1"}}}),
      ElementsAre(tree.value, "B, rho=0.05", "B, rho=0.1"));
}

TEST(ShortLabels, ANameOfTheStudysOwnIsCutLast) {
  const LabelPart tree{"", "A tree with 26 characters.", true};
  const auto labels =
      short_labels({{tree, {"", "sparse-reduce-scatter"}}, {tree, {"", "gtopk-tree"}}});
  EXPECT_THAT(labels,
              ElementsAre("A tree with 26 characters., spars…catter",
                          "A tree with 26 characters., gtopk-tree"));
}

TEST(ShortLabels, KeepKeysApartThatEndAlike) {
  const LabelParts first{{"", std::string(30, 'a')}, {"step.momentum", "0.5"}};
  const LabelParts second{{"", std::string(30, 'a')}, {"outer.momentum", "0.5"}};
  EXPECT_THAT(short_labels({first, second}),
              ElementsAre("step.momentum=0.5", "outer.momentum=0.5"));
}

TEST(ShortLabels, NeverCutANumberOrAKey) {
  std::vector<LabelParts> methods;
  for (const char* aggregator : {"allgather", "parameter-server"}) {
    for (const char* rule : {"0.05/L", "0.0123/L"}) {
      for (const char* compute : {"lognormal:0.0234,0.5", "lognormal:0.0235,0.5"}) {
        methods.push_back({{"", aggregator},
                           {"sparsifier.momentum_factor", "0.123456"},
                           {"step.eta_decay", rule},
                           {"protocol.compute", compute},
                           {"sparsifier.warm_start", aggregator[0] == 'a' ? "0.015625" : "1e-05"}});
      }
    }
  }
  const auto labels = short_labels(methods);
  EXPECT_THAT(labels[0], HasSubstr(", eta_decay=0.05/L, compute="));
  EXPECT_THAT(labels[0], HasSubstr("0.0234,"));
  EXPECT_THAT(labels[1], HasSubstr("0.0235,"));
  EXPECT_THAT(labels[0], ::testing::EndsWith(", warm_start=0.015625"));
  EXPECT_THAT(labels[7], ::testing::EndsWith(", warm_start=1e-05"));
  EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size());
}

TEST(ShortLabels, CutLongValuesInTheirMiddle) {
  const std::string value(60, 'x');
  const auto labels =
      short_labels({{{"objective.data", value + "1"}}, {{"objective.data", value + "2"}}});
  EXPECT_EQ(labels[0], "data=" + std::string(17, 'x') + "…" + std::string(16, 'x') + "1");
  EXPECT_EQ(labels[1], "data=" + std::string(17, 'x') + "…" + std::string(16, 'x') + "2");
}

}  // namespace
}  // namespace residuum::reports
