#include "reports/figures/report_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/series.h"
#include "reports/page/sections.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

TEST(Series, IsThinnedToTheSamePlacesForEquallyLongRuns) {
  ThinnedSeries series;
  for (std::uint64_t t = 0; t < 100000; ++t) {
    series.add({.place = 0, .iteration = t, .value = 1, .totals = {}});
  }

  std::vector<std::uint64_t> even;
  for (const auto& sample : series.samples()) {
    if (sample.iteration % series.stride() == 0) {
      even.push_back(sample.iteration);
    }
  }
  EXPECT_LE(even.size(), 2 * ThinnedSeries::kKept);
  EXPECT_GT(even.size(), ThinnedSeries::kKept / 2);
  for (std::size_t i = 0; i < even.size(); ++i) {
    ASSERT_EQ(even[i], i * series.stride());
  }
}

TEST(Series, KeepsMoreOfItsBeginningForLogarithmicAxes) {
  ThinnedSeries series;
  for (std::uint64_t t = 0; t < 100000; ++t) {
    series.add({.place = 0, .iteration = t, .value = 1, .totals = {}});
  }
  const auto kept_in = [&](std::uint64_t from, std::uint64_t to) {
    return std::count_if(series.samples().begin(), series.samples().end(), [&](const auto& sample) {
      return sample.iteration >= from && sample.iteration < to;
    });
  };

  EXPECT_EQ(kept_in(0, 32), 32);
  EXPECT_EQ(kept_in(64, 128), 32);
  EXPECT_EQ(kept_in(4096, 8192), 32);
  EXPECT_LE(series.samples().size(), 600U);
}

TEST(Series, HasTheMedianOverTheSeedsAndTheBytesSentBefore) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 3;
  study.write(folder.path());
  const ResultFolder results = read_result_folder(folder.path());

  const auto series =
      read_series(results, group_runs(results).front(), {Column::step_size, Column::xi});

  ASSERT_EQ(series[0].by_iteration.size(), 3U);
  EXPECT_EQ(series[0].by_iteration[2].x, 2);
  EXPECT_EQ(*series[0].by_iteration[2].middle, 0.05);
  EXPECT_EQ(series[0].by_iteration[2].n, 3U);
  const auto& by_bytes = series[0].against(Column::total_sent_bytes);
  ASSERT_EQ(by_bytes.size(), 3U);
  EXPECT_EQ(by_bytes[0].x, 0);  // before the first iteration nothing was sent
  EXPECT_EQ(by_bytes[1].x, 10000);
  EXPECT_EQ(by_bytes[2].x, 20000);
  EXPECT_TRUE(series[0].against(Column::virtual_s).empty()) << "there is no clock";
  EXPECT_TRUE(series[1].by_iteration.empty());  // never measured
}

TEST(Series, EndsWhereTheShortestRunEnds) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 20;
  study.write(folder.path());
  study.iterations = 17;
  study.write_run(folder.path(), 0, 1);
  study.iterations = 18;
  study.write_run(folder.path(), 0, 2);
  const ResultFolder results = read_result_folder(folder.path());

  const auto series = read_series(results, group_runs(results).front(), {Column::step_size});

  ASSERT_EQ(series[0].by_iteration.size(), 17U);
  EXPECT_EQ(series[0].by_iteration.back().n, 3U);
  EXPECT_EQ(series[0].against(Column::total_sent_bytes).size(), 17U);
  EXPECT_EQ(series[0].live.points.size(), 17U);
  EXPECT_EQ(series[0].live.seeds[2].size(), 17U);
}

/// Versions of three gradients each; version t + 1 is made at (t + 1) seed seconds.
void make_late(Row& row, int seed) {
  const auto versions = static_cast<double>(row.iteration() + 1);
  row.set(Column::contributions, 3);
  row.set(Column::total_contributions, 3 * versions);
  row.set(Column::virtual_s, versions * seed);
}

TEST(Series, HasTheGradientsBeforeAndTheTimeOfEveryVersion) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 2;
  study.methods = {SyntheticMethod{.change = make_late}};
  study.write(folder.path());
  const ResultFolder results = read_result_folder(folder.path());

  const auto series = read_series(results, group_runs(results).front(), {Column::step_size});

  const auto& by_gradients = series[0].against(Column::total_contributions);
  ASSERT_EQ(by_gradients.size(), 2U);
  EXPECT_EQ(by_gradients[0].x, 0);
  EXPECT_EQ(by_gradients[1].x, 3);
  const auto& by_time = series[0].against(Column::virtual_s);
  ASSERT_EQ(by_time.size(), 2U);
  EXPECT_EQ(by_time[0].x, 2) << "the median of the seeds 1, 2 and 3";
  EXPECT_EQ(by_time[1].x, 4);
  EXPECT_EQ(by_time[1].n, 3U);
}

// Four workers of two local steps each: an iteration takes eight gradients.
TEST(Series, OfMethodsInLockstepCountsGradientsWhereOthersAreLate) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 3;
  study.seeds = 1;
  study.methods = {SyntheticMethod{.change = make_late}, SyntheticMethod{.aggregator = "dense"}};
  study.write(folder.path());
  testing::change_status(folder.path(), SyntheticStudy::run_id(1, 1), [](Json& status) {
    status["laws"]["protocol"].update({{"contributions", 8}, {"local_steps", 2}});
  });
  const auto places = [&] {
    const ResultFolder results = read_result_folder(folder.path());
    return read_series(results, group_runs(results)[1], {Column::step_size})[0].against(
        Column::total_contributions);
  };
  EXPECT_TRUE(places().empty()) << "no method is late";
  testing::change_status(folder.path(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status["laws"]["protocol"]["synchrony"] = "late";
  });
  const auto late = places();
  ASSERT_EQ(late.size(), 3U);
  EXPECT_EQ(late[2].x, 16);
}

std::vector<std::string> names_of(const std::vector<ReportFigure>& figures) {
  std::vector<std::string> names;
  for (const auto& figure : figures) {
    names.push_back(figure.spec.name);
  }
  return names;
}

TEST(PlannedFigures, AreAgainstTimeAndGradientsWhereARunCountsThem) {
  SyntheticStudy study;
  const auto planned = [&study] {
    const TemporaryFolder folder;
    study.write(folder.path());
    const ResultFolder results = read_result_folder(folder.path());
    return plan_figures(results, group_runs(results)).figures;
  };
  study.methods = {SyntheticMethod{}};
  EXPECT_THAT(names_of(planned()),
              ::testing::ElementsAre(
                  "loss-gap", "loss-gap-bytes", "gradient", "delta", "contraction", "residual"));

  study.methods.push_back(SyntheticMethod{.density = 0.1, .change = make_late});
  const auto figures = planned();
  EXPECT_THAT(names_of(figures),
              ::testing::ElementsAre("loss-gap",
                                     "loss-gap-bytes",
                                     "loss-gap-time",
                                     "loss-gap-gradients",
                                     "gradient",
                                     "delta",
                                     "contraction",
                                     "residual"));
  EXPECT_EQ(figures[1].spec.curves.size(), 2U);
  EXPECT_EQ(figures[1].spec.x_scale, Scale::log);
  for (const std::size_t i : {2U, 3U}) {
    ASSERT_EQ(figures[i].spec.curves.size(), 1U);
    EXPECT_EQ(figures[i].spec.curves[0].style, 1U) << "a method looks the same in all figures";
    EXPECT_EQ(figures[i].spec.curves[0].points.size(), study.iterations);
    EXPECT_EQ(figures[i].spec.x_scale, Scale::linear);
  }
  EXPECT_EQ(figures[2].spec.x_label, "virtual time, s");
  EXPECT_EQ(figures[3].spec.x_label, "gradients");
}

TEST(PlannedFigures, SayThatRunsWhichDivergedAreNoLongerInTheirCurves) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.iterations = 6;
  study.write(folder.path());
  study.iterations = 2;  // the second of three seeds diverges after two iterations
  study.write_run(folder.path(), 0, 2);
  testing::change_status(folder.path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["state"] = "diverged";
  });
  const ResultFolder results = read_result_folder(folder.path());

  const auto plan = plan_figures(results, group_runs(results));

  ASSERT_FALSE(plan.figures.empty());
  const FigureSpec& loss = plan.figures.front().spec;
  ASSERT_EQ(loss.curves.front().points.size(), 6U);
  EXPECT_EQ(loss.curves.front().points[1].n, 3U);
  EXPECT_EQ(loss.curves.front().points[2].n, 2U);
  EXPECT_EQ(band_text(loss),
            "median, IQR of the runs that have not diverged by then, over 2 to 3 seeds");
}

TEST(PlannedFigures, HoldTheResidualAgainstItsBound) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  // q = 1/4, so that Q = (1/4)/(1/2)^2 = 1; eta = 0.05 and G^2 = 8: the bound is 0.02.
  study.methods[0].change = [](Row& row, int) {
    row.set(Column::residual_norm_sq, 0.01);
    row.set(Column::worker_accumulator_norm_sq, 0.04);
    row.set(Column::worker_grad_norm_sq, 8);
  };
  study.methods.push_back(SyntheticMethod{.aggregator = "allgather"});
  study.write(folder.path());
  const Summary summary = summarise(folder.path());

  const auto plan = plan_figures(
      summary.folder, groups_of(summary), IntervalKind::quartiles, residual_bounds(summary));

  const auto residual = std::find_if(plan.figures.begin(), plan.figures.end(), [](const auto& one) {
    return one.spec.name == "residual";
  });
  ASSERT_NE(residual, plan.figures.end());
  const auto& curves = residual->spec.curves;
  ASSERT_EQ(curves.size(), 3U) << "the second method was not measured enough";
  EXPECT_TRUE(curves[2].is_bound);
  EXPECT_EQ(curves[2].group, 0U) << "it is hidden with its method";
  EXPECT_EQ(curves[2].label, "Q(q) η² G², gtopk-tree, captured, rho=0.01");
  ASSERT_EQ(curves[2].points.size(), curves[0].points.size());
  for (const auto& point : curves[2].points) {
    EXPECT_NEAR(*point.middle, 0.02, 1e-15);
    EXPECT_FALSE(point.lower.has_value());
  }
  EXPECT_NE(residual->caption.find("Thin and grey"), std::string::npos);
  ASSERT_EQ(residual->live.size(), 3U);
  EXPECT_NEAR(*residual->live[2].series.points.front().middle, 0.02, 1e-15);
  EXPECT_TRUE(residual->live[2].series.seeds.empty());
}

TEST(PlannedFigures, HoldTheContractionAgainstWhatTheSparsifierLeavesBesideDenseSgd) {
  const TemporaryFolder folder;
  SyntheticStudy study;  // k = 2 of d = 123
  study.seeds = 1;
  study.methods.push_back(SyntheticMethod{.aggregator = "dense"});
  study.write(folder.path());
  testing::change_status(folder.path(), SyntheticStudy::run_id(1, 1), [](Json& status) {
    status["k"] = 123;
    status["sends_everything"] = true;
  });
  const auto reference = [&] {
    const ResultFolder results = read_result_folder(folder.path());
    const auto plan = plan_figures(results, group_runs(results));
    const auto found = std::find_if(plan.figures.begin(), plan.figures.end(), [](const auto& one) {
      return one.spec.name == "contraction";
    });
    return found->spec.reference;
  };

  ASSERT_TRUE(reference());
  EXPECT_NEAR(reference()->y, 1 - 2.0 / 123, 1e-15);
  testing::change_status(folder.path(), SyntheticStudy::run_id(1, 1), [](Json& status) {
    status["sends_everything"] = false;
  });
  EXPECT_FALSE(reference()) << "the methods compress by different ratios";
}

TEST(PlannedFigures, HaveALogarithmicScaleOfDeltaOnlyWhereItIsFarAboveOne) {
  const auto scale = [](double first, double last) {
    const TemporaryFolder folder;
    SyntheticStudy study;
    study.seeds = 1;
    study.methods[0].change = [&](Row& row, int) {
      row.set(Column::delta, row.iteration() == 0 ? first : last);
    };
    study.write(folder.path());
    const ResultFolder results = read_result_folder(folder.path());
    const auto plan = plan_figures(results, group_runs(results));
    const auto found = std::find_if(plan.figures.begin(), plan.figures.end(), [](const auto& one) {
      return one.spec.name == "delta";
    });
    return found->spec.y_scale;
  };

  EXPECT_EQ(scale(0.002, 1.0004), Scale::linear);
  EXPECT_EQ(scale(0.5, 60), Scale::log);
}

TEST(PlannedFigures, OfOneQuantityHaveOneScale) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.methods.clear();
  for (const double density : {0.001, 0.01, 0.1}) {
    for (const char* aggregator : {"allgather", "gtopk-exact", "gtopk-tree", "gtopk-mask"}) {
      study.methods.push_back(SyntheticMethod{
          .aggregator = aggregator, .density = density, .change = [](Row& row, int) {
            row.set(Column::loss_gap, 1);
          }});
    }
  }
  study.methods.back().change = [](Row& row, int) {
    row.set(Column::loss_gap, std::pow(0.1, static_cast<double>(row.iteration())));
  };
  study.write(folder.path());
  const ResultFolder results = read_result_folder(folder.path());

  std::vector<Scale> scales;
  for (const auto& figure : plan_figures(results, group_runs(results)).figures) {
    if (figure.title.starts_with("Loss gap") && figure.variant_of.empty()) {
      scales.push_back(figure.spec.y_scale);
    }
  }

  EXPECT_EQ(scales, std::vector(3, Scale::log)) << "one of the three falls by powers of ten";
}

TEST(Facets, SplitByTheKeyThatNeedsTheFewest) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.iterations = 1;
  study.methods.clear();
  for (const double density : {0.001, 0.01, 0.1}) {
    for (const char* aggregator : {"allgather", "gtopk-exact", "gtopk-tree", "gtopk-mask"}) {
      study.methods.push_back(SyntheticMethod{.aggregator = aggregator, .density = density});
    }
  }
  study.write(folder.path());
  const ResultFolder results = read_result_folder(folder.path());

  const auto facets = split_into_facets(results, group_runs(results));

  ASSERT_EQ(facets.size(), 3U);
  EXPECT_EQ(facets[1].title, "sparsifier.density = 0.01");
  EXPECT_EQ(facets[1].groups, (std::vector<std::size_t>{4, 5, 6, 7}));
  EXPECT_EQ(facets[1].styles, facets[2].styles);  // a method looks the same in each
  EXPECT_EQ(method_styles(results, group_runs(results)),
            (std::vector<std::size_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

// Dense SGD would have a figure for itself, as the only method with its aggregator.
TEST(Facets, AllHaveTheMethodThatDoesNotCompress) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.iterations = 1;
  study.methods = {SyntheticMethod{.aggregator = "dense", .density = 1}};
  for (const char* aggregator : {"gtopk-tree", "gtopk-mask"}) {
    for (const double density : {0.001, 0.01, 0.1, 0.2}) {
      study.methods.push_back(SyntheticMethod{.aggregator = aggregator, .density = density});
    }
  }
  study.write(folder.path());
  testing::change_status(folder.path(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status["sends_everything"] = true;
  });
  const ResultFolder results = read_result_folder(folder.path());

  const auto facets = split_into_facets(results, group_runs(results));

  ASSERT_EQ(facets.size(), 2U);
  EXPECT_EQ(facets[0].groups, (std::vector<std::size_t>{1, 2, 3, 4, 0}));
  EXPECT_EQ(facets[1].groups, (std::vector<std::size_t>{5, 6, 7, 8, 0}));
  EXPECT_EQ(facets[0].styles.back(), facets[1].styles.back());
  EXPECT_EQ(std::count(facets[0].styles.begin(), facets[0].styles.end(), facets[0].styles.back()),
            1);
}

}  // namespace
}  // namespace residuum::reports
