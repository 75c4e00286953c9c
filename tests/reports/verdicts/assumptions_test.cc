#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reports/page/report.h"
#include "reports/page/sections.h"
#include "reports/summaries/collect.h"
#include "reports/terminal/verdict_lines.h"
#include "reports/verdicts/summary.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// The same delta in all iterations; |mean a|^2 is one.
SyntheticMethod with_delta(double delta) {
  return {.change = [delta](Row& row, int /*seed*/) {
    row.set(Column::delta, delta);
    row.set(Column::accumulator_norm_sq, 1);
  }};
}

SyntheticMethod at_workers(int workers, double delta) {
  SyntheticMethod method = with_delta(delta);
  method.workers = workers;
  return method;
}

/// delta is 0.5 where |mean a|^2 = 1, about 1.5 where it is 3. Pooled: (0.5 + 3 * 1.5) / 4 = 1.25,
/// and 0.03 less or more in the first and the third seed.
SyntheticMethod with_weights() {
  return {.change = [](Row& row, int seed) {
    const bool is_odd = row.iteration() % 2 == 1;
    row.set(Column::delta, is_odd ? 1.5 + 0.04 * (seed - 2) : 0.5);
    row.set(Column::accumulator_norm_sq, is_odd ? 3 : 1);
  }};
}

class Assumptions : public ::testing::Test {
 protected:
  Summary collected(const SyntheticStudy& study) const {
    study.write(folder_.path());
    return collect(folder_.path());
  }
  Json json() const { return read_json(folder_.path() / "summary.json"); }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

// Student's t with two degrees of freedom: t_0.975 = 4.302653, sd = 0.03, n = 3.
TEST_F(Assumptions, AreJudgedByTheIntervalOfTheSeedsPooledRatios) {
  SyntheticStudy study;
  study.methods = {with_weights()};
  collected(study);

  const Json delta = json()["groups"][0]["assumptions"]["delta"];
  const double half = 4.302653 * 0.03 / std::sqrt(3.0);
  EXPECT_EQ(delta["verdict"], "fails");
  EXPECT_NEAR(delta["value"].get<double>(), 1.25, 1e-12);
  EXPECT_NEAR(delta["interval"][0].get<double>(), 1.25 - half, 1e-7);
  EXPECT_NEAR(delta["interval"][1].get<double>(), 1.25 + half, 1e-7);
  EXPECT_EQ(delta["seeds"], 3);
  EXPECT_EQ(delta["worst"]["value"], 1.54) << "of the single iterations";
  EXPECT_EQ(delta["worst"]["iteration"], 1);
  EXPECT_EQ(delta["worst"]["run_id"], SyntheticStudy::run_id(0, 3));
}

TEST_F(Assumptions, HoldBelowOneAndAreMarginalAroundIt) {
  SyntheticStudy study;
  study.methods = {with_delta(0.8), {.density = 0.02, .change = [](Row& row, int seed) {
                                       row.set(Column::delta, 1.0 + 0.1 * (seed - 2));
                                       row.set(Column::accumulator_norm_sq, 1);
                                     }}};
  collected(study);

  const Json groups = json()["groups"];
  EXPECT_EQ(groups[0]["assumptions"]["delta"]["verdict"], "holds");
  EXPECT_EQ(groups[1]["assumptions"]["delta"]["verdict"], "marginal");
}

TEST_F(Assumptions, OfOneSeedHaveNoIntervalAndSaySo) {
  SyntheticStudy study;
  study.methods = {with_delta(1.5)};
  study.seeds = 1;
  collected(study);

  const Json delta = json()["groups"][0]["assumptions"]["delta"];
  EXPECT_EQ(delta["verdict"], "undecided");
  EXPECT_TRUE(delta["interval"].is_null());
  EXPECT_EQ(delta["remark"], "one seed: no interval");
}

TEST_F(Assumptions, HaveTwoVerdictsInTheSummary) {
  SyntheticStudy study;
  study.methods = {{.change = [](Row& row, int /*seed*/) {
    row.set(Column::delta, row.iteration() == 7 ? 1.25 : 0.5);
    row.set(Column::accumulator_norm_sq, 1);
  }}};
  collected(study);

  const Json delta = json()["groups"][0]["assumptions"]["delta"];
  EXPECT_EQ(delta["verdict"], "holds") << "what it meant before there were two";
  EXPECT_EQ(delta["average"]["verdict"], "holds");
  EXPECT_NEAR(delta["average"]["value"].get<double>(), (19 * 0.5 + 1.25) / 20, 1e-12);
  EXPECT_EQ(delta["average"]["rows"], 60);
  EXPECT_EQ(delta["average"]["iterations"], 60);
  EXPECT_EQ(delta["every"]["verdict"], "fails");
  EXPECT_EQ(delta["every"]["violations"], 3);
  EXPECT_EQ(delta["every"]["measured"], 60);
  EXPECT_EQ(delta["every"]["worst"], 1.25);
  EXPECT_EQ(delta["every"]["where"]["iteration"], 7);
  EXPECT_EQ(delta["every"]["where"]["run_id"], SyntheticStudy::run_id(0, 1));
}

// A budget of virtual seconds ends the seeds of one method after different numbers of iterations.
TEST_F(Assumptions, CountTheIterationsOfEachSeed) {
  SyntheticStudy study;
  study.methods = {with_delta(0.5)};
  study.write(path());
  study.iterations = 17;
  study.write_run(path(), 0, 2);
  study.iterations = 19;
  study.write_run(path(), 0, 3);
  collect(path());

  const Json delta = json()["groups"][0]["assumptions"]["delta"];
  EXPECT_EQ(delta["average"]["rows"], 20 + 17 + 19);
  EXPECT_EQ(delta["average"]["iterations"], 20 + 17 + 19);
  EXPECT_EQ(delta["average"]["verdict"], "holds");
  EXPECT_EQ(delta["every"]["verdict"], "holds");
  EXPECT_EQ(delta["every"]["iterations"], 20 + 17 + 19);
}

// Chance puts one mean of twenty above 1 with p = 0.02: the level 0.025 is for all together.
TEST_F(Assumptions, OfManyMethodsAreCorrectedForTheirNumber) {
  const auto one = [](double density) {
    SyntheticMethod method = with_delta(0.8);
    method.density = density;
    return method;
  };
  SyntheticMethod unlucky{.change = [](Row& row, int seed) {
    row.set(Column::delta, 1.055 + 0.02 * (seed - 2));
    row.set(Column::accumulator_norm_sq, 1);
  }};
  SyntheticStudy study;
  study.methods = {unlucky};
  collected(study);
  EXPECT_EQ(json()["groups"][0]["assumptions"]["delta"]["verdict"], "fails");

  for (int i = 11; i < 30; ++i) {
    study.methods.push_back(one(0.001 * i));
    study.methods.back().change = [](Row& row, int seed) {
      row.set(Column::delta, 0.8 + 0.01 * seed);
      row.set(Column::accumulator_norm_sq, 1);
    };
  }
  collected(study);
  const Json delta = json()["groups"][0]["assumptions"]["delta"];
  EXPECT_EQ(delta["verdict"], "marginal");
  EXPECT_THAT(delta["remark"].get<std::string>(), HasSubstr("tests of this study (Holm)"));
}

TEST_F(Assumptions, FitATerminalOf120Columns) {
  SyntheticStudy study;
  study.methods = {{.change = [](Row& row, int seed) {
    const double some = 0.5 + 0.01 * seed + 0.001 * static_cast<double>(row.iteration());
    for (const Column column : {Column::delta,
                                Column::accumulator_norm_sq,
                                Column::gap_norm_sq,
                                Column::contraction,
                                Column::residual_norm_sq,
                                Column::worker_accumulator_norm_sq,
                                Column::mean_grad_norm_sq,
                                Column::noise_variance,
                                Column::half_batch_bias,
                                Column::gradient_bias,
                                Column::tail_ratio}) {
      row.set(column, some);
    }
    row.set(Column::density, 0.01);
  }}};
  const Summary summary = collected(study);

  const std::string table = verdict_lines(summary, 10);
  EXPECT_THAT(table, HasSubstr("tail"));
  EXPECT_THAT(table, HasSubstr("bounded-moment"));
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < table.size(); ++lines) {
    const std::size_t end = table.find('\n', begin);
    const std::string line = table.substr(begin, end - begin);
    const auto continuing = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    });
    EXPECT_LE(line.size() - static_cast<std::size_t>(continuing), 120U) << line;
    begin = end + 1;
  }
  EXPECT_GE(lines, 4U) << "two blocks";
}

TEST_F(Assumptions, ThatWereNotMeasuredSayWhatTheyNeed) {
  const Summary summary = collected({});

  const Json all = json()["groups"][0]["assumptions"];
  EXPECT_EQ(all["bounded-noise"]["verdict"], "not measured");
  EXPECT_TRUE(all["bounded-noise"]["value"].is_null());
  EXPECT_THAT(all["bounded-noise"]["remark"].get<std::string>(), HasSubstr("'noise'"));
  EXPECT_THAT(verdict_lines(summary, 10), Not(HasSubstr("bounded-noise")));
}

TEST_F(Assumptions, ThatNeedLongerRunsDoNotAskForAProbeThatIsOn) {
  SyntheticStudy study;
  study.iterations = 3;
  study.methods[0].change = [](Row& row, int /*seed*/) { row.set(Column::mean_grad_norm_sq, 1); };
  collected(study);

  const Json moment = json()["groups"][0]["assumptions"]["bounded-moment"];
  EXPECT_EQ(moment["verdict"], "not measured");
  EXPECT_EQ(moment["remark"],
            "needs longer runs: one ended or diverged before its last quarter had a past");
}

// Laplace entries: those above ln(1/x) are the share x of all and hold x (1 + l + l^2/2) of the
// energy, l = ln(1/x). k = 2 of d = 123, P = 4.
TEST_F(Assumptions, StandBesideThePredictionForIndependentEntries) {
  SyntheticStudy study;
  study.methods = {at_workers(4, 0.8)};
  collected(study);

  const double rho = 2.0 / 123;
  const auto capture = [](double x) {
    const double l = std::log(1 / x);
    return x * (1 + l + l * l / 2);
  };
  int largest = 1;
  while (capture(rho / (largest + 1)) >= rho) {
    ++largest;
  }
  const Json laplace = json()["groups"][0]["prediction"]["laplace"];
  EXPECT_NEAR(laplace["delta"].get<double>(), (1 - capture(rho / 4)) / (1 - rho), 1e-9);
  EXPECT_EQ(laplace["largest_workers"], largest);
}

// The laws that a run wrote decide, not the names of its components.
TEST_F(Assumptions, ArePredictedByTheLawsOfTheMethodAlone) {
  SyntheticStudy study;
  study.methods = {at_workers(4, 0.8)};
  const auto prediction_with = [&](const Json& law, bool density_varies = false) {
    study.write(path());
    for (int seed = 1; seed <= study.seeds; ++seed) {
      change_status(path(), SyntheticStudy::run_id(0, seed), [&](Json& status) {
        status["density_varies"] = density_varies;
        status["laws"]["sparsifier"]["keeps_largest"] = false;
        status["laws"]["sparsifier"].update(law);
        status["laws"]["aggregator"]["applies_whole_messages"] = true;
      });
    }
    collect(path());
    return json()["groups"][0]["prediction"]["gaussian"]["delta"];
  };

  const Json random{{"contraction", 2.0 / 123}, {"exact", true}, {"shares_support", true}};
  EXPECT_EQ(prediction_with(random), 1);
  const Json largest{{"contraction", 2.0 / 123}, {"keeps_largest", true}};
  EXPECT_LT(prediction_with(largest).get<double>(), 1);
  EXPECT_TRUE(prediction_with(largest, true).is_null()) << "a density schedule";
  EXPECT_TRUE(prediction_with(Json{{"contraction", 2.0 / 123}}).is_null());
}

TEST_F(Assumptions, OfARunAreNotJudgedItsInvariantsAre) {
  SyntheticStudy study;
  study.methods = {{}, {.putback = "published", .leaks = true}};
  study.seeds = 2;
  study.write(path());
  change_status(path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["checks"]["conservation"]["holds"] = false;
    status["checks"]["conservation"]["failures"] = 3;
  });
  std::filesystem::remove_all(path() / "runs" / SyntheticStudy::run_id(1, 2));
  collect(path());

  const Json runs = json()["runs"];
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[0]["invariants"], "PASS");
  EXPECT_EQ(runs[1]["invariants"], "FAIL");
  EXPECT_EQ(runs[1]["failed_check"], "conservation");
  EXPECT_EQ(runs[2]["invariants"], "PASS") << "a leak that is known is no failure";
  EXPECT_TRUE(runs[3]["invariants"].is_null()) << "nothing is known of it";
  EXPECT_EQ(runs[0]["delta_at_most_1"]["n"], 20);
}

// Rows at one of two iterations leave "in every iteration" open: that is not the colour of what
// holds.
TEST_F(Assumptions, ThatAreUndecidedInSingleIterationsAreNotGreen) {
  SyntheticStudy study;
  study.methods = {with_delta(0.8)};
  const auto colours = [](const Summary& summary) {
    const std::string page = verdict_matrix(summary);
    return std::pair(page.find("class=\"pass\">holds</span>") != std::string::npos,
                     page.find("class=\"none\">undecided / holds</span>") != std::string::npos);
  };
  study.write(path());
  EXPECT_TRUE(colours(summarise(path())).first);
  for (int seed = 1; seed <= study.seeds; ++seed) {
    change_status(path(), SyntheticStudy::run_id(0, seed), [](Json& status) {
      status["iterations"] = 40;  // of which the table has 20
    });
  }
  EXPECT_TRUE(colours(summarise(path())).second);
}

TEST_F(Assumptions, CeaseToHoldBetweenTwoMeasuredNumbersOfWorkers) {
  SyntheticStudy study;
  study.methods = {at_workers(16, 1.3), at_workers(2, 0.7), at_workers(8, 1.1), at_workers(4, 0.9)};
  const Summary summary = collected(study);

  const Json curves = json()["delta_against_workers"];
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0]["holds_to"], 4);
  EXPECT_EQ(curves[0]["fails_from"], 8);
  EXPECT_GE(curves[0]["predicted_largest_workers"], 1);
  ASSERT_EQ(curves[0]["places"].size(), 4U);
  const std::vector<double> deltas{0.7, 0.9, 1.1, 1.3};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(curves[0]["places"][i]["workers"], 2 << i);
    EXPECT_NEAR(curves[0]["places"][i]["delta"].get<double>(), deltas[i], 1e-12);
  }
  EXPECT_THAT(workers_table(delta_against_workers(summary)), HasSubstr("between 4 and 8"));
}

TEST_F(Assumptions, ThatNeverOrAlwaysFailHaveOneEndOnly) {
  SyntheticStudy study;
  for (const int workers : {2, 4}) {
    study.methods.push_back(at_workers(workers, 0.9));
    study.methods.push_back(at_workers(workers, 1.2));
    study.methods.back().aggregator = "gtopk-exact";
  }
  const Summary summary = collected(study);

  const Json curves = json()["delta_against_workers"];
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0]["holds_to"], 4);
  EXPECT_TRUE(curves[0]["fails_from"].is_null());
  EXPECT_TRUE(curves[1]["holds_to"].is_null());
  EXPECT_EQ(curves[1]["fails_from"], 2);
  const std::string table = workers_table(delta_against_workers(summary));
  EXPECT_THAT(table, HasSubstr("δ ≤ 1 up to P = 4"));
  EXPECT_THAT(table, HasSubstr("δ &gt; 1 from P = 2 on"));
}

TEST_F(Assumptions, AtOneNumberOfWorkersMakeNoCurve) {
  SyntheticStudy study;
  study.methods = {at_workers(4, 0.9)};
  const Summary summary = collected(study);

  EXPECT_THAT(json()["delta_against_workers"], IsEmpty());
  EXPECT_EQ(workers_table(delta_against_workers(summary)), "");
}

TEST_F(Assumptions, AreNamedWithTheirMethodWhereTheyFail) {
  SyntheticStudy study;
  study.methods = {with_weights(), with_delta(0.8)};
  study.methods[1].aggregator = "gtopk-exact";
  const Summary summary = collected(study);

  const auto lines = failed_assumptions(summary);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0],
            "gtopk-tree, captured, rho=0.01: assumption 'delta' fails on average: 1.25 [1.175, "
            "1.325], in quarter 2 of the run 1.318");
  EXPECT_EQ(lines[1],
            "gtopk-tree, captured, rho=0.01: assumption 'delta' fails in single iterations: 30 of "
            "60 measured iterations above, largest 1.54 at iteration 1");
  const std::string table = verdict_lines(summary, 10);
  EXPECT_THAT(table, HasSubstr("in every iteration / on average"));
  EXPECT_THAT(table, HasSubstr("certificate"));
  EXPECT_THAT(table,
              ::testing::ContainsRegex("gtopk-tree, captured, rho=0.01 +fails 50 % / fails"));
  EXPECT_THAT(table, ::testing::ContainsRegex("gtopk-exact, captured, rho=0.01 +holds / holds"));
  EXPECT_THAT(verdict_lines(summary, 1),
              Not(::testing::ContainsRegex("gtopk-exact, captured, rho=0.01 +holds")));
}

TEST_F(Assumptions, AreTheFirstTableOfTheReport) {
  SyntheticStudy study;
  study.methods = {with_weights()};
  collected(study);

  const std::string html = read_file(write_report(summarise(path())).file);

  EXPECT_THAT(html,
              HasSubstr("<span class=\"fail\">fails 50 % / fails</span>"
                        "<small>average 1.25 [1.175, 1.325], in quarter 2 of the run 1.318</small>"
                        "<small>worst 1.54 at t\u00a0=\u00a0"
                        "1</small>"));
  EXPECT_THAT(html, HasSubstr("30 of 60 measured iterations above, largest 1.54 at iteration 1"));
  EXPECT_THAT(html, HasSubstr("Shi et al., IJCAI 2019"));
}

TEST_F(Assumptions, ShowHostileNamesAsText) {
  const std::string hostile = "<script>alert(1)</script>\x1b[2J";
  SyntheticStudy study;
  study.methods = {at_workers(2, 1.2), at_workers(4, 1.3)};
  for (auto& method : study.methods) {
    method.aggregator = hostile;
  }
  study.methods.push_back(with_delta(0.5));  // so that the aggregator is part of the names
  const Summary summary = collected(study);

  const auto curves = delta_against_workers(summary);
  ASSERT_EQ(curves.size(), 1U);
  const std::string html =
      verdict_matrix(summary) + verdict_places(summary) + workers_table(curves);
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(verdict_lines(summary, 10), Not(HasSubstr("\x1b")));
  for (const auto& line : failed_assumptions(summary)) {
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace residuum::reports
