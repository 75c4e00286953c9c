// One figure of a study, chosen by quantity, axis and methods.

#include "reports/page/figure_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(LabelsIn, TakesTheLongestLabelBetweenCommas) {
  const std::vector<std::string> known{"tree, top-k", "tree", "dense, none", "mask"};

  EXPECT_THAT(labels_in("mask,tree, top-k", known), ElementsAre("mask", "tree, top-k"));
  EXPECT_THAT(labels_in("tree,top-k", known), ElementsAre("tree, top-k"));
  EXPECT_THAT(labels_in("tree,mask", known), ElementsAre("tree", "mask"));
  EXPECT_THAT(labels_in(" dense ,  none ", known), ElementsAre("dense, none"));
}

TEST(LabelsIn, SuggestsWhatIsNearOrSaysWhatThereIs) {
  const std::vector<std::string> known{"tree, top-k", "dense, none"};

  EXPECT_EQ(message_of([&] { labels_in("dense, non", known); }),
            "unknown method 'dense, non'; did you mean 'dense, none'?");
  EXPECT_EQ(message_of([&] { labels_in("xyz", known); }),
            "unknown method 'xyz'; known: 'tree, top-k', 'dense, none'");
  EXPECT_THAT(message_of([&] { labels_in("", known); }), HasSubstr("unknown method ''"));
}

class ChosenFigure : public ::testing::Test {
 protected:
  ChosenFigure() {
    SyntheticStudy study;
    study.iterations = 20;
    study.methods = {SyntheticMethod{.aggregator = "tree"},
                     SyntheticMethod{.aggregator = "mask"},
                     SyntheticMethod{.aggregator = "exact"}};
    study.write(folder_.path());
  }
  ReportFigure figure(const FigureChoice& choice) const {
    return plan_chosen_figure(read_result_folder(folder_.path()), choice);
  }
  std::string refusal(const FigureChoice& choice) const {
    return message_of([&] { figure(choice); });
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(ChosenFigure, HasTheMethodsInTheOrderOfTheChoiceAndInTheirOwnStyle) {
  const auto all = figure({.quantity = "loss-gap", .by = {}, .methods = {}});
  ASSERT_EQ(all.spec.curves.size(), 3U);
  const std::string tree = all.spec.curves[0].label;
  const std::string exact = all.spec.curves[2].label;

  const auto two = figure({.quantity = "loss-gap", .by = {}, .methods = {exact + "," + tree}});

  ASSERT_EQ(two.spec.curves.size(), 2U);
  EXPECT_EQ(two.spec.curves[0].label, exact);
  EXPECT_EQ(two.spec.curves[1].label, tree);
  EXPECT_EQ(two.spec.curves[0].style, all.spec.curves[2].style);
  EXPECT_EQ(two.spec.curves[1].style, all.spec.curves[0].style);
}

// A synthetic iteration sends 10000 bytes; at the first nothing was sent, which a logarithmic axis
// has no place for.
TEST_F(ChosenFigure, IsDrawnAgainstWhatWasAskedFor) {
  const auto by_bytes = figure({.quantity = "delta", .by = "bytes", .methods = {}});
  EXPECT_EQ(by_bytes.spec.x_label, "bytes sent");
  EXPECT_EQ(by_bytes.spec.curves.front().points.front().x, 10000);

  const auto by_epochs = figure({.quantity = "delta", .by = "epochs", .methods = {}});
  EXPECT_EQ(by_epochs.spec.x_label, "passes over the data");
  EXPECT_EQ(by_epochs.spec.curves.front().points.back().x, 4.75) << "5 passes in 20 iterations";
}

TEST_F(ChosenFigure, IsRefusedWithWhatThereIs) {
  EXPECT_EQ(refusal({.quantity = "los-gap", .by = {}, .methods = {}}),
            "unknown quantity 'los-gap'; did you mean 'loss-gap'?");
  EXPECT_EQ(refusal({.quantity = "delta", .by = "byte", .methods = {}}),
            "--by: unknown axis 'byte'; did you mean 'bytes'?");
  EXPECT_THAT(refusal({.quantity = "delta", .by = "time", .methods = {}}),
              HasSubstr("none of the chosen methods has 'delta' by time"));
  EXPECT_THAT(refusal({.quantity = "accuracy", .by = {}, .methods = {}}),
              HasSubstr("none of the chosen methods has 'accuracy'"));
  EXPECT_THAT(refusal({.quantity = "delta", .by = {}, .methods = {"xyz"}}),
              HasSubstr("unknown method 'xyz'"));
}

TEST_F(ChosenFigure, MayHaveItsAxisInItsName) {
  const auto by_bytes = figure({.quantity = "loss-gap-bytes", .by = {}, .methods = {}});
  EXPECT_EQ(by_bytes.spec.x_label, "bytes sent");
  EXPECT_EQ(by_bytes.spec.y_label, "f(w) − f*");
  EXPECT_THAT(refusal({.quantity = "loss-gap-time", .by = {}, .methods = {}}),
              HasSubstr("none of the chosen methods has 'loss-gap' by time"));
  EXPECT_EQ(refusal({.quantity = "loss-gap-bytes", .by = "time", .methods = {}}),
            "--by: 'loss-gap-bytes' is by bytes already");
}

TEST_F(ChosenFigure, SuggestsOnlyQuantitiesWithValues) {
  const std::string known = refusal({.quantity = "xyzxyzxyz", .by = {}, .methods = {}});
  EXPECT_THAT(known, HasSubstr("known: loss-gap, loss, "));
  EXPECT_THAT(known, ::testing::Not(HasSubstr("accuracy")));
}

TEST_F(ChosenFigure, MayBeOneOfTheReportWithAnAxisOfItsOwn) {
  const auto shares = figure({.quantity = "ecdf-bytes", .by = {}, .methods = {}});
  EXPECT_EQ(shares.spec.x_label, "bytes sent");
  EXPECT_EQ(refusal({.quantity = "ecdf-bytes", .by = "time", .methods = {}}),
            "--by: the figure 'ecdf-bytes' has an axis of its own");
}

TEST_F(ChosenFigure, OfOneMethodMissesNoOther) {
  const FigureChoice choice{.quantity = "loss-gap", .by = {}, .methods = {}};
  const ResultFolder folder = read_result_folder(path());
  FigureSpec spec = plan_chosen_figure(folder, choice).spec;
  spec.curves.resize(1);
  EXPECT_EQ(methods_not_drawn(folder, choice, spec).size(), 2U);
  spec.is_of_one_method = true;
  EXPECT_TRUE(methods_not_drawn(folder, choice, spec).empty());
}

class ChosenMap : public ::testing::Test {
 protected:
  ChosenMap() {
    SyntheticStudy study;
    study.iterations = 20;
    study.methods = {SyntheticMethod{.density = 0.01},
                     SyntheticMethod{.density = 0.1},
                     SyntheticMethod{.putback = "published", .density = 0.01},
                     SyntheticMethod{.putback = "published", .density = 0.1}};
    study.write(folder_.path());
  }
  std::optional<HeatMap> map(const FigureChoice& choice) const {
    return plan_chosen_map(read_result_folder(folder_.path()), choice);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(ChosenMap, IsThatOfTheReportWithAllMethods) {
  const auto delta = map({.quantity = "phase-delta", .by = {}, .methods = {}});
  ASSERT_TRUE(delta.has_value());
  EXPECT_EQ(delta->values().size(), 4U);
  EXPECT_FALSE(map({.quantity = "delta", .by = {}, .methods = {}}).has_value());
  EXPECT_FALSE(map({.quantity = "phase-delt", .by = {}, .methods = {}}).has_value());
  EXPECT_EQ(message_of([&] { map({.quantity = "phase-delta", .by = "bytes", .methods = {}}); }),
            "--by: 'phase-delta' is a heat map, which has all methods on axes of its own");
}

TEST_F(ChosenMap, HasTheStudysNamesOfValuesAndShortNamesOfKeys) {
  ResultFolder folder = read_result_folder(path());
  for (auto& run : folder.runs) {
    if (run.varying["feedback.putback"] == "captured") {
      run.value_labels["feedback.putback"] = "what was captured";
    }
  }
  const auto delta = plan_chosen_map(folder, {.quantity = "phase-delta", .by = {}, .methods = {}});
  ASSERT_TRUE(delta.has_value());
  const bool by_row = delta->row_key == "feedback.putback";
  EXPECT_THAT(by_row ? delta->rows : delta->columns, ElementsAre("what was captured", "published"));
  EXPECT_EQ(by_row ? delta->column_title : delta->row_title, "ρ");
  EXPECT_EQ(by_row ? delta->row_title : delta->column_title, "feedback.putback");
  EXPECT_EQ(delta->values().size(), 4U);
}

TEST(CutWords, AreThoseOfTheFiguresNames) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.methods = {SyntheticMethod{.aggregator = "sparse-reduce-scatter-in-rings"},
                   SyntheticMethod{.aggregator = "gtopk-tree", .putback = "published"}};
  study.methods[1].density = 0.1;
  study.write(folder.path());
  const ResultFolder read = read_result_folder(folder.path());
  const auto figure = plan_chosen_figure(read, {.quantity = "delta", .by = {}, .methods = {}});

  EXPECT_EQ(figure.spec.curves[0].label, "sparse-re…r-in-rings, captured, rho=0.01");
  EXPECT_THAT(cut_words_in(read, figure.spec),
              ElementsAre(CutWord{.shown = "sparse-re…r-in-rings",
                                  .whole = "sparse-reduce-scatter-in-rings"}));
}

}  // namespace
}  // namespace residuum::reports
