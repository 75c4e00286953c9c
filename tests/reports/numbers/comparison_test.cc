// Methods at equal cost, on runs that can be followed by hand.

#include "reports/numbers/comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reports/collection/collect.h"
#include "reports/page/report.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryFolder;

/// f(w_t) = start - fall t + seed / 100, every second iteration evaluated.
struct Method {
  std::string aggregator;
  std::uint64_t iterations = 10;
  double fall = 0.01;
  std::optional<double> bytes = 100;  // per iteration
  bool has_totals = false;            // a running total of the bytes
  std::optional<double> time = std::nullopt;
  std::string objective = "logistic";
  std::uint64_t measured_every = 1;
  int seeds = 2;
  double start = 1;
};

double loss_of(const Method& method, std::uint64_t t, int seed) {
  return method.start - method.fall * static_cast<double>(t) + seed / 100.0;
}

std::string id_of(std::size_t method, int seed) {
  return fmt::format("m{}-{:012x}", method, method * 100 + static_cast<std::size_t>(seed));
}

void write_run(const std::filesystem::path& folder,
               const Method& method,
               const std::string& id,
               int seed) {
  const auto path = folder / "runs" / id;
  std::filesystem::create_directories(path);
  Json config{{"run_id", id}, {"study", "s"}, {"seed", seed}};
  config["varying"] = Json{{"aggregator.kind", method.aggregator}};
  config["config"] = Json{{"aggregator", Json{{"kind", method.aggregator}}},
                          {"objective", Json{{"kind", method.objective}, {"data", "a9a"}}}};
  write_json_atomically(path / "config.json", config);
  IterationsWriter rows(path / "iterations.csv", id);
  for (std::uint64_t t = 0; t < method.iterations; t += method.measured_every) {
    Row row(t);
    if (t % 2 == 0) {
      row.set(Column::loss, loss_of(method, t, seed));
    }
    if (method.bytes) {
      row.set(Column::uplink_bytes, *method.bytes);
      if (method.has_totals) {
        row.set(Column::total_uplink_bytes, *method.bytes * static_cast<double>(t + 1));
      }
    }
    if (method.time) {
      row.set(Column::model_time_s, *method.time);
    }
    rows.write(row);
  }
  rows.close();
  ChecksWriter(path / "checks.csv", id).close();
  Json status{{"state", "finished"}, {"message", ""}, {"iterations", method.iterations}};
  status["final"] = Json{{"loss", loss_of(method, method.iterations, seed)}};
  write_json_atomically(path / "status.json", status);
}

class Comparisons : public ::testing::Test {
 protected:
  void write(const std::vector<Method>& methods) const {
    Json runs = Json::array();
    for (std::size_t m = 0; m < methods.size(); ++m) {
      for (int seed = 1; seed <= methods[m].seeds; ++seed) {
        write_run(path(), methods[m], id_of(m, seed), seed);
        runs.push_back(id_of(m, seed));
      }
    }
    Json study{{"name", "s"}, {"title", "s"}, {"command", ""}};
    study["runs"] = runs;
    write_json_atomically(path() / "study.resolved.json", study);
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  Summary summary(const std::vector<Method>& methods) const {
    write(methods);
    return collect(path());
  }
  std::string page() const { return read_file(write_report(path()).file); }

 private:
  TemporaryFolder folder_;
};

/// "label value" of the methods, best first.
std::vector<std::string> order(const Summary& summary, const Standing& standing) {
  std::vector<std::string> lines;
  for (const auto& [group, value, spent] : standing.methods) {
    lines.push_back(fmt::format("{} {:.4f}", summary.groups[group].group.label, *value.mean));
  }
  return lines;
}

TEST_F(Comparisons, TakeTheLastValueWithinTheCommonBudget) {
  const Summary result = summary({{.aggregator = "dense", .fall = 0.04, .bytes = 1000},
                                  {.aggregator = "sparse", .iterations = 7, .bytes = 300}});
  ASSERT_EQ(result.comparisons.size(), 1U);
  EXPECT_EQ(result.comparisons[0].objective, "logistic, a9a");
  EXPECT_EQ(result.comparisons[0].quantity, "loss");
  const auto& standings = result.comparisons[0].standings;

  // Dense was evaluated at 0, 2, 4, 6, 8, 10, sparse at 0, 2, 4, 6, 7: the last that both were is
  // 6, 1 - 0.24 and 1 - 0.06. The seeds add 0.015.
  EXPECT_EQ(standings[0].budget, 6);
  EXPECT_EQ(order(result, standings[0]),
            (std::vector<std::string>{"dense 0.7750", "sparse 0.9550"}));
  // 2100 bytes: dense has sent 2000 before iteration 2, 1 - 0.08; sparse all of its 7 * 300.
  EXPECT_EQ(standings[1].budget, 2100);
  EXPECT_EQ(order(result, standings[1]),
            (std::vector<std::string>{"dense 0.9350", "sparse 0.9450"}));
  EXPECT_EQ(standings[1].methods[0].spent, 2000);
  EXPECT_EQ(standings[1].methods[1].spent, 2100);
}

TEST_F(Comparisons, HaveStudentsIntervalOverTheSeeds) {
  const Summary result = summary({{.aggregator = "a"}, {.aggregator = "b", .fall = 0.02}});
  const Spread& best = result.comparisons[0].standings[0].methods[0].value;

  // 0.81 and 0.82: t_{0.975, 1} = 12.7062, standard error 0.005.
  EXPECT_NEAR(*best.mean, 0.815, 1e-12);
  EXPECT_NEAR(best.interval->low, 0.815 - 12.7062 * 0.005, 1e-6);
  EXPECT_NEAR(best.interval->high, 0.815 + 12.7062 * 0.005, 1e-6);
}

TEST_F(Comparisons, ByModelledTimeWhereItWasMeasured) {
  const Summary with = summary(
      {{.aggregator = "slow", .fall = 0.02, .time = 2}, {.aggregator = "fast", .time = 0.5}});
  const Standing& standing = with.comparisons[0].standings[2];
  // 5 s: slow has spent 4 before iteration 2, 1 - 0.04; fast has ended, 1 - 0.1.
  EXPECT_EQ(standing.budget, 5);
  EXPECT_EQ(order(with, standing), (std::vector<std::string>{"fast 0.9150", "slow 0.9750"}));

  const Summary without = summary({{.aggregator = "a"}, {.aggregator = "b"}});
  EXPECT_FALSE(without.comparisons[0].standings[2].budget);
  EXPECT_THAT(without.comparisons[0].standings[2].absent, HasSubstr("no network model"));
}

TEST_F(Comparisons, SayWhenAValueIsFromLongBefore) {
  write({{.aggregator = "dense", .fall = 0.04, .bytes = 700}, {.aggregator = "sparse"}});
  const Summary result = collect(path());
  // 1000 bytes: dense was evaluated at 0 and at 1400.
  EXPECT_EQ(result.comparisons[0].standings[1].methods[1].spent, 0);
  EXPECT_THAT(page(), HasSubstr("<small>evaluated at 0 B</small>"));
}

TEST_F(Comparisons, KnowTheBytesOfIterationsThatWereNotMeasuredByTheirRunningTotal) {
  // Measured at 0, 2, .. 8, and the last of 9 is one of them.
  const Summary result = summary({{.aggregator = "dense",
                                   .iterations = 9,
                                   .fall = 0.04,
                                   .bytes = 1000,
                                   .has_totals = true,
                                   .measured_every = 2},
                                  {.aggregator = "sparse",
                                   .iterations = 9,
                                   .bytes = 300,
                                   .has_totals = true,
                                   .measured_every = 2}});
  // 2700 bytes: dense has sent 2000 before iteration 2, 1 - 0.08; sparse all of its 9 * 300.
  const Standing& standing = result.comparisons[0].standings[1];
  EXPECT_EQ(standing.budget, 2700);
  EXPECT_EQ(order(result, standing), (std::vector<std::string>{"sparse 0.9250", "dense 0.9350"}));
}

TEST_F(Comparisons, WithoutEveryIterationThereAreNoBytes) {
  const Summary result = summary({{.aggregator = "a"}, {.aggregator = "b", .measured_every = 2}});
  const auto& standings = result.comparisons[0].standings;

  EXPECT_EQ(standings[0].budget, 10);
  EXPECT_FALSE(standings[1].budget);
  EXPECT_THAT(standings[1].absent, HasSubstr("not every iteration was measured"));
}

TEST_F(Comparisons, OfDifferentObjectivesAreNone) {
  EXPECT_TRUE(summary({{.aggregator = "a"}, {.aggregator = "b", .objective = "ridge"}})
                  .comparisons.empty());
  EXPECT_THAT(page(), Not(HasSubstr("At equal cost")));
}

TEST_F(Comparisons, AMethodThatDivergedComesLast) {
  write({{.aggregator = "a", .seeds = 1}, {.aggregator = "b", .seeds = 1}});
  testing::change_status(path(), id_of(0, 1), [](Json& status) { status["state"] = "diverged"; });
  const Summary result = collect(path());
  const auto& methods = result.comparisons[0].standings[0].methods;

  ASSERT_EQ(methods.size(), 2U);
  EXPECT_EQ(result.groups[methods[1].group].group.label, "a");
  EXPECT_FALSE(methods[1].value.mean);
}

TEST_F(Comparisons, StandInSummaryAndReport) {
  write(
      {{.aggregator = "<dense>", .fall = 0.04, .seeds = 1}, {.aggregator = "sparse", .seeds = 1}});
  collect(path());
  const Json json = read_json(path() / "summary.json")["comparisons"][0];
  EXPECT_EQ(json["quantity"], "loss");
  const Json& first = json["at_equal"][0];
  EXPECT_EQ(first["cost"], "iterations");
  EXPECT_EQ(first["budget"], 10);
  EXPECT_EQ(first["methods"][0]["label"], "<dense>");
  EXPECT_EQ(first["methods"][0]["seeds"], 1);
  EXPECT_EQ(first["methods"][0]["interval"], nullptr);
  EXPECT_EQ(json["at_equal"][2]["absent"], "not measured, as there is no network model");

  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("<h3>At equal cost</h3>"));
  EXPECT_THAT(html, HasSubstr("<strong>0.61</strong><small>one seed: no interval</small>"));
  EXPECT_THAT(html, HasSubstr("At equal modelled time: not measured"));
  EXPECT_THAT(html, Not(HasSubstr("<dense>")));
}

}  // namespace
}  // namespace residuum::reports
