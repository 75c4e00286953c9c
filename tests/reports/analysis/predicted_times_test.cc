// Predicted times held against measured ones, of studies whose clocks are known.

#include "reports/analysis/predicted_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/page/report.h"
#include "reports/page/sections.h"
#include "reports/verdicts/summary.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Two virtual seconds an iteration; a real run of seed s takes 5 s per cent more.
void set_virtual_time(Row& row, int /*seed*/) {
  row.set(Column::virtual_s, 2 * static_cast<double>(row.iteration() + 1));
}
void set_wall_time(Row& row, int seed) {
  row.set(Column::wall_s, (2 + 0.1 * seed) * static_cast<double>(row.iteration() + 1));
}

SyntheticStudy study_of(int seeds) {
  SyntheticStudy study;
  study.seeds = seeds;
  study.iterations = 4;
  study.methods = {SyntheticMethod{.change = set_virtual_time, .execution = "simulated"},
                   SyntheticMethod{.change = set_wall_time, .execution = "real"}};
  return study;
}

std::vector<PredictedTime> predictions_of(const std::filesystem::path& folder) {
  const ResultFolder read = read_result_folder(folder);
  return hold_against_predictions(read, group_runs(read));
}

TEST(PredictedTimes, AreHeldAgainstRealRunsOfTheirSeed) {
  const TemporaryFolder folder;
  study_of(2).write(folder.path());
  const auto held = predictions_of(folder.path());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].predicted, 0U);
  EXPECT_EQ(held[0].measured, 1U);
  EXPECT_EQ(held[0].times.size(), 4U);
  EXPECT_EQ(held[0].times.back().iteration, 3);
  EXPECT_THAT(held[0].times.back().predicted_s, ElementsAre(8, 8));
  EXPECT_THAT(held[0].ratios, ElementsAre(1.05, 1.1));
  EXPECT_EQ(held[0].label.find("real"), std::string::npos) << held[0].label;
}

TEST(PredictedTimes, AreInTheBandIfEverySeedIs) {
  PredictedTime held;
  held.ratios = {0.9, 1.1, 1};
  EXPECT_TRUE(held.is_in_band());
  held.ratios.push_back(1.11);
  EXPECT_FALSE(held.is_in_band());
  held.ratios = {0.89};
  EXPECT_FALSE(held.is_in_band());
}

TEST(PredictedTimes, AreOfRunsThatDifferByTheirExecutionAlone) {
  const TemporaryFolder folder;
  SyntheticStudy study = study_of(1);
  study.methods[1].density = 0.1;
  study.write(folder.path());
  EXPECT_TRUE(predictions_of(folder.path()).empty());
}

TEST(PredictedTimes, AreOfRunsThatHaveBothClocksAndFinished) {
  const TemporaryFolder folder;
  SyntheticStudy study = study_of(2);
  study.methods[0].change = nullptr;
  study.write(folder.path());
  EXPECT_TRUE(predictions_of(folder.path()).empty());
  study.methods[0].change = set_virtual_time;
  study.write(folder.path());
  testing::change_status(folder.path(), SyntheticStudy::run_id(1, 2), [](Json& status) {
    status["state"] = "diverged";
  });
  const auto held = predictions_of(folder.path());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_THAT(held[0].ratios, ElementsAre(1.05));
}

TEST(PredictedTimes, HaveAFigureWithTheEdgesOfTheBand) {
  const TemporaryFolder folder;
  study_of(2).write(folder.path());
  const Summary summary = summarise(folder.path());
  const auto figures = plan_prediction_figures(summary, IntervalKind::student);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_THAT(figures[0].caption, HasSubstr("is 10 % to either side of 1."));
  const FigureSpec& spec = figures[0].spec;
  EXPECT_EQ(spec.y_scale, Scale::linear);
  ASSERT_EQ(spec.curves.size(), 3U);
  ASSERT_EQ(spec.curves[0].points.size(), 4U);
  EXPECT_EQ(spec.curves[0].points.back().x, 8);
  EXPECT_NEAR(spec.curves[0].points.back().middle.value(), 1.075, 1e-12);
  EXPECT_EQ(spec.reference.value().y, 1);
  EXPECT_TRUE(spec.curves[1].is_bound);
  EXPECT_NEAR(spec.curves[1].points.back().middle.value(), 0.9, 1e-12);
  EXPECT_NEAR(spec.curves[2].points.back().middle.value(), 1.1, 1e-12);
  const auto marks = bound_marks(spec);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_NE(marks[0].x, marks[1].x) << "neither covers the other";
}

TEST(PredictedTimes, HaveTheLabelOfTheRealRuns) {
  const TemporaryFolder folder;
  study_of(1).write(folder.path());
  const auto file = folder.path() / "study.resolved.json";
  Json study = read_json(file);
  study["plan"] = Json::array({Json{{"seed", 1}, {"varying", Json::object()}, {"label", "tree"}},
                               Json{{"seed", 1}, {"varying", Json::object()}, {"label", "real"}}});
  write_json_atomically(file, study);
  const auto held = predictions_of(folder.path());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].label, "real");
}

TEST(PredictedTimes, StandOnThePageAndInATable) {
  const TemporaryFolder folder;
  study_of(2).write(folder.path());
  write_report(summarise(folder.path()), IntervalKind::student);
  const std::string csv = read_file(folder.path() / "tables" / "predicted-times.csv");
  EXPECT_THAT(csv, HasSubstr("method,iteration,predicted_s"));
  EXPECT_THAT(csv, HasSubstr(",yes\n"));
  const std::string page = read_file(folder.path() / "report.html");
  EXPECT_THAT(page, HasSubstr("<section id=\"predictions\">"));
  EXPECT_THAT(page, HasSubstr("wall time, s"));
}

}  // namespace
}  // namespace residuum::reports
