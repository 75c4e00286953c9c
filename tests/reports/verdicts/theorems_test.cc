#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "reports/figures/gnuplot_script.h"
#include "reports/page/report.h"
#include "reports/page/sections.h"
#include "reports/results/csv.h"
#include "reports/summaries/collect.h"
#include "reports/terminal/verdict_lines.h"
#include "reports/verdicts/evidence.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::bare_facts;
using testing::change_status;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Runs whose two sides are known: eta = 0.1, L = 1, f* = 0, f(w_0) = 1, M^2 = 1, q = 1/2.
class TheoremsOfAStudy : public ::testing::Test {
 protected:
  void write(int seeds) {
    study.methods = {{.aggregator = "gtopk-exact"}};
    study.seeds = seeds;
    study.write(folder.path());
    for (int seed = 1; seed <= seeds; ++seed) {
      const std::string id = SyntheticStudy::run_id(0, seed);
      change_status(folder.path(), id, [](Json& status) {
        status["dimension"] = 100;
        status["k"] = 10;
        status["conserves"] = true;
        status["facts"] = bare_facts();
        status["facts"].update({{"smoothness", 1}, {"minimum", 0}, {"noise_variance", 2}});
      });
      IterationsWriter rows(folder.path() / "runs" / id / "iterations.csv", id);
      for (std::uint64_t t = 0; t < study.iterations; ++t) {
        rows.write(row(t, seed));
      }
      rows.close();
    }
  }

  static Row row(std::uint64_t t, int seed) {
    Row row(t);
    row.set(Column::loss, 1);
    row.set(Column::step_size, 0.1);
    row.set(Column::grad_norm_sq, 0.5 + 0.01 * seed);
    row.set(Column::mean_grad_norm_sq, 1);
    row.set(Column::accumulator_norm_sq, 1);
    row.set(Column::gap_norm_sq, 0.5);
    row.set(Column::mean_residual_norm_sq, 0.5);
    row.set(Column::contraction, 0.5);
    row.set(Column::delta, 0.9);
    const auto steps = static_cast<double>(t);
    row.set(Column::unperturbed_loss, 1);
    row.set(Column::unperturbed_step_sum, 0.1 * steps);
    row.set(Column::unperturbed_noise_sum, 0.01 * steps);
    row.set(Column::unperturbed_gap_sum, 0.05 * steps);
    return row;
  }

  SyntheticStudy study;    // NOLINT(misc-non-private-member-variables-in-classes)
  TemporaryFolder folder;  // NOLINT(misc-non-private-member-variables-in-classes)
};

Json theorem_of(const Json& summary, const std::string& name) {
  for (const auto& theorem : summary["groups"][0]["theorems"]) {
    if (theorem["name"] == name) {
      return theorem;
    }
  }
  return nullptr;
}

// L sum eta'^2|g|^2 + L^2 sum eta'|w - u|^2 over sum eta' is 0.1 + 0.5, X is 0.52.
TEST_F(TheoremsOfAStudy, HaveTheCertificateOfAnyRuleWhereThePlainOneIsNotAboutThem) {
  write(3);
  EXPECT_EQ(summarise(folder.path()).groups[0].certificate()->theorem->name, "certificate");
  for (int seed = 1; seed <= 3; ++seed) {
    change_status(folder.path(), SyntheticStudy::run_id(0, seed), [](Json& status) {
      status["laws"]["feedback"].update({{"memory", "estimate"}, {"averaging", 0.1}});
    });
  }
  const Summary summary = summarise(folder.path());
  EXPECT_EQ(summary.groups[0].theorem("certificate")->bound.verdict, BoundVerdict::not_applicable);
  const auto* certificate = summary.groups[0].certificate();
  EXPECT_EQ(certificate->theorem->name, "certificate-any-rule");
  EXPECT_NEAR(*certificate->bound.slack, 0.6 / 0.52, 1e-12);
  EXPECT_THAT(theorem_lines(summary)[0], HasSubstr("certificate holds, slack 1.154"));
}

TEST_F(TheoremsOfAStudy, TakeNothingForKnownOfRunsThatAllFailed) {
  write(2);
  for (int seed = 1; seed <= 2; ++seed) {
    change_status(folder.path(), SyntheticStudy::run_id(0, seed), [](Json& status) {
      status["state"] = "failed";
    });
  }
  const std::string text = theorem_text(summarise(folder.path()), "ef21");
  EXPECT_THAT(text, HasSubstr(": not measured\n  no run has finished\n"));
  EXPECT_THAT(text, Not(HasSubstr("met (")));
}

TEST_F(TheoremsOfAStudy, AreJudgedInTheSummaryWithTheirTerms) {
  write(3);
  const Summary summary = collect(folder.path());
  const Json json = read_json(folder.path() / "summary.json");
  EXPECT_EQ(json["groups"][0]["theorems"].size(), theorems().size());

  const Json certificate = theorem_of(json, "certificate");
  EXPECT_EQ(certificate["verdict"], "holds");
  EXPECT_EQ(certificate["iterations"], 19);
  EXPECT_NEAR(certificate["lhs"].get<double>(), 0.52, 1e-12);
  // 2 (1 - 0)/(0.1 * 19) + 0.1 + 0.5 * 18/19: e_0 = 0.
  EXPECT_NEAR(certificate["rhs"].get<double>(), 2 / 1.9 + 0.1 + 9.0 / 19, 1e-12);
  EXPECT_EQ(certificate["terms"].size(), 3U);
  EXPECT_NEAR(certificate["terms"][1]["value"].get<double>(), 0.1, 1e-12);
  EXPECT_LT(certificate["interval_of_lhs_minus_rhs"][1].get<double>(), 0);

  const Json refused = theorem_of(json, "alistarh");
  EXPECT_EQ(refused["verdict"], "not applicable");
  EXPECT_TRUE(refused["rhs"].is_null());
  EXPECT_THAT(refused["reason"].get<std::string>(), HasSubstr("gtopk-exact"));

  ASSERT_EQ(theorem_lines(summary).size(), 1U);
  EXPECT_THAT(theorem_lines(summary)[0], HasSubstr("certificate holds, slack 3.128"));
}

TEST_F(TheoremsOfAStudy, SayOnATerminalWhatTheyAreMadeOf) {
  write(3);
  const std::string text = theorem_text(collect(folder.path()), "mean-contraction");
  EXPECT_THAT(text, HasSubstr("mean-contraction: X_T"));
  EXPECT_THAT(text, HasSubstr("contraction q < 1, on average over the run: met (q = 0.5)"));
  EXPECT_THAT(text, HasSubstr("L = 1 (exact: of the objective)"));
  EXPECT_THAT(text, HasSubstr("gtopk-exact, captured, rho=0.01: "));
}

TEST_F(TheoremsOfAStudy, LeaveTheirCurvesInATable) {
  write(2);
  (void)collect(folder.path());
  CsvReader bounds(folder.path() / "bounds.csv");
  std::size_t certificates = 0;
  while (bounds.next()) {
    if (bounds.text(bounds.column("theorem")) == "certificate") {
      ++certificates;
      EXPECT_EQ(bounds.integer(bounds.column("iterations")), certificates);
      EXPECT_GT(*bounds.number(bounds.column("rhs")), *bounds.number(bounds.column("lhs")));
    }
  }
  EXPECT_EQ(certificates, study.iterations - 1);
}

TEST_F(TheoremsOfAStudy, OfOneSeedAreUndecidedAndTheReportSaysWhy) {
  write(1);
  (void)collect(folder.path());
  const Json certificate = theorem_of(read_json(folder.path() / "summary.json"), "certificate");
  EXPECT_EQ(certificate["verdict"], "undecided");
  EXPECT_TRUE(certificate["interval_of_lhs_minus_rhs"].is_null());
  (void)write_report(summarise(folder.path()));
  EXPECT_THAT(read_file(folder.path() / "report.html"),
              HasSubstr("one seed: a bound in expectation takes an interval over seeds"));
}

TEST_F(TheoremsOfAStudy, SayFailsWhereABoundIsBroken) {
  write(3);
  for (int seed = 1; seed <= 3; ++seed) {
    change_status(folder.path(), SyntheticStudy::run_id(0, seed), [](Json& status) {
      status["facts"]["smoothness"] = 1e-3;  // not that of the objective
      status["facts"]["minimum"] = 0.99;
    });
  }
  const Summary summary = collect(folder.path());
  EXPECT_EQ(summary.groups[0].theorem("certificate")->bound.verdict, BoundVerdict::fails);
  EXPECT_THAT(theorem_lines(summary)[0], HasSubstr("FAILS: certificate"));
}

TEST_F(TheoremsOfAStudy, AreASectionOfTheReportWithFiguresOfTheBounds) {
  write(3);
  const Summary summary = collect(folder.path());
  const auto figures = plan_bound_figures(summary);
  ASSERT_FALSE(figures.empty());
  std::set<std::string> titles;
  for (const auto& figure : figures) {
    EXPECT_THAT(figure.title, HasSubstr(figure.spec.y_label)) << "the left side of its bounds";
    EXPECT_TRUE(titles.insert(figure.title).second) << figure.title;
    EXPECT_THAT(figure.spec.curves[0].label, HasSubstr(", gtopk-"));
    EXPECT_TRUE(figure.spec.is_of_one_method);
  }
  EXPECT_FALSE(figures[0].spec.curves[0].is_bound);
  EXPECT_EQ(figures[0].spec.curves[1].label,
            "certificate: 2(f(z_0) − f*)/Ση + L Ση²‖ḡ‖²/Ση + L² Ση‖w − z‖²/Ση");
  EXPECT_TRUE(figures[0].spec.curves[1].is_bound);
  EXPECT_THAT(figure_gp(figures[0].spec),
              HasSubstr("rgb '#808080' dashtype (6,4) linewidth 1 title '(a) certif"));
  const std::string html = theorem_details(summary);
  EXPECT_THAT(html, HasSubstr("L² Ση‖w − z‖²/Ση"));
  EXPECT_THAT(html, HasSubstr("exact: of the objective"));
  EXPECT_THAT(html, HasSubstr("aggregator gtopk-exact cuts what was sent"));
}

TEST_F(TheoremsOfAStudy, EscapeWhatAStudySmugglesIn) {
  study.methods = {{.aggregator = "<script>alert(1)</script>"}};
  study.seeds = 2;
  study.write(folder.path());
  const Summary summary = collect(folder.path());
  EXPECT_THAT(theorem_details(summary) + theorem_overview(summary), Not(HasSubstr("<script>")));
}

TEST_F(TheoremsOfAStudy, SurviveStatusesThatNoProgramWrote) {
  write(2);
  change_status(folder.path(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status["iterations"] = 1e300;
    status["dimension"] = -5;
    status["k"] = 1e300;
    status["facts"]["smoothness"] = "nan";
  });
  change_status(folder.path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["iterations"] = -3;
    status["facts"] = bare_facts();
  });
  const Summary summary = collect(folder.path());
  EXPECT_EQ(summary.groups[0].theorem("certificate")->bound.verdict, BoundVerdict::not_measured);
}

/// Writes a method whose runs met this smoothness ratio in every iteration, and know no L.
void write_ratio(const std::filesystem::path& folder, const std::string& id, double ratio) {
  change_status(folder, id, [](Json& status) { status["facts"] = bare_facts(); });
  IterationsWriter rows(folder / "runs" / id / "iterations.csv", id);
  for (std::uint64_t t = 0; t < 4; ++t) {
    Row row(t);
    row.set(Column::step_size, 0.1);
    row.set(Column::smoothness_gap, ratio);
    rows.write(row);
  }
  rows.close();
}

double smoothness_of(const Json& group) {
  for (const auto& theorem : group["theorems"]) {
    for (const auto& constant : theorem["constants"]) {
      if (constant["symbol"] == "L") {
        return constant["value"].get<double>();
      }
    }
  }
  return 0;
}

TEST(TheoremsOfMethodsOnOneObjective, HaveOneL) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.methods = {{.aggregator = "gtopk-exact"}, {.aggregator = "dense"}};
  study.seeds = 1;
  study.iterations = 4;
  study.write(folder.path());
  write_ratio(folder.path(), SyntheticStudy::run_id(0, 1), 0.2);
  write_ratio(folder.path(), SyntheticStudy::run_id(1, 1), 0.9);
  collect(folder.path());

  const Json groups = read_json(folder.path() / "summary.json")["groups"];
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(smoothness_of(groups[0]), 0.9);
  EXPECT_EQ(smoothness_of(groups[1]), 0.9);
}

}  // namespace
}  // namespace residuum::reports
