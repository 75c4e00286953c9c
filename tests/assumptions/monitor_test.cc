#include "assumptions/monitor.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "tests/assumptions/support.h"

namespace residuum {
namespace {

/// Makes the check "law" with the sides it was given, one pair per observation.
class ScriptedProbe final : public Probe {
 public:
  explicit ScriptedProbe(std::vector<std::pair<double, double>> sides) : sides_(std::move(sides)) {}

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    const auto [lhs, rhs] = sides_[next_++];
    row.set(Column::delta, lhs);
    row.set(Column::total_nnz_sent, 3.0 * static_cast<double>(next_));
    row.set(Column::total_sent_bytes, 24.0 * static_cast<double>(next_));
    checks.push_back({.iteration = view.iteration,
                      .name = "law",
                      .worker = std::nullopt,
                      .lhs = lhs,
                      .rhs = rhs,
                      .holds = lhs <= rhs,
                      .hard = false,
                      .expected = true});
  }

 private:
  std::vector<std::pair<double, double>> sides_;
  std::size_t next_ = 0;
};

RunSummary summary_of(std::vector<std::pair<double, double>> sides) {
  const std::size_t count = sides.size();
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(std::make_unique<ScriptedProbe>(std::move(sides)));
  test::RowKeeper keeper;
  Monitor monitor(std::move(probes), keeper, [](auto /*done*/, auto /*total*/) {});
  for (std::size_t t = 0; t < count; ++t) {
    StepView view;
    view.iteration = t;
    monitor.observe(view);
  }
  EXPECT_EQ(keeper.rows.size(), count);
  return monitor.summary();
}

TEST(Monitor, KeepsTheWorstRatioAndWhereItWas) {
  const auto law = summary_of({{1, 2}, {6, 4}, {3, 4}}).checks.at("law");

  EXPECT_EQ(law.n, 3U);
  EXPECT_EQ(law.failures, 1U);
  EXPECT_EQ(law.worst_ratio, 1.5);
  EXPECT_EQ(law.worst_iteration, 1U);
  EXPECT_FALSE(law.hard);
  EXPECT_TRUE(law.expected);
}

TEST(Monitor, CountsAnythingOverNothingAsInfinitelyBadAndNothingOverNothingAsFine) {
  EXPECT_EQ(summary_of({{0, 0}}).checks.at("law").worst_ratio, 0);
  EXPECT_EQ(summary_of({{0, 0}, {1e-9, 0}}).checks.at("law").worst_ratio,
            std::numeric_limits<double>::infinity());
}

TEST(Monitor, TakesTheLastTotalsOfTheTrafficAndTheLargestDelta) {
  const auto summary = summary_of({{1, 2}, {6, 4}, {3, 4}});

  EXPECT_EQ(summary.rows, 3U);
  EXPECT_EQ(summary.sent_bytes, 72);
  EXPECT_EQ(summary.nnz_sent, 9);
  EXPECT_EQ(summary.delta_max, 6);
  EXPECT_EQ(summary.evaluations, 0U);
}

TEST(Monitor, WritesLossGapAndTestsWhereTheyWereLookedAt) {
  test::RowKeeper keeper;
  Monitor monitor({}, keeper, [](auto /*done*/, auto /*total*/) {});
  RunFacts facts;
  StepView view{.facts = facts};
  view.epoch = 0.5;
  view.step_size = 0.1;
  monitor.observe(view);
  view.evaluations.at_model = Evaluation{.loss = 3, .grad_norm_sq = 4};
  facts.objective.minimum = Known{1, "exact"};
  view.test = TestResult{.loss = 2, .accuracy = 0.75, .perplexity = 7.389};
  monitor.observe(view);

  EXPECT_EQ(keeper.rows[0].get(Column::epoch), 0.5);
  EXPECT_EQ(keeper.rows[0].get(Column::step_size), 0.1);
  EXPECT_EQ(keeper.rows[0].get(Column::loss), std::nullopt);
  EXPECT_EQ(keeper.rows[0].get(Column::test_accuracy), std::nullopt);
  EXPECT_EQ(keeper.rows[1].get(Column::loss), 3);
  EXPECT_EQ(keeper.rows[1].get(Column::loss_gap), 2);
  EXPECT_EQ(keeper.rows[1].get(Column::grad_norm_sq), 4);
  EXPECT_EQ(keeper.rows[1].get(Column::test_loss), 2);
  EXPECT_EQ(keeper.rows[1].get(Column::test_accuracy), 0.75);
  EXPECT_EQ(keeper.rows[1].get(Column::test_perplexity), 7.389);
  EXPECT_EQ(monitor.summary().evaluations, 1U);
  EXPECT_EQ(monitor.summary().grad_norm_sq_sum, 4);
}

TEST(Monitor, PassesProgressOn) {
  test::RowKeeper keeper;
  std::pair<std::uint64_t, std::uint64_t> last;
  Monitor monitor({}, keeper, [&last](std::uint64_t done, std::uint64_t total) {
    last = {done, total};
  });
  monitor.progress(3, 9);

  EXPECT_EQ(last, (std::pair<std::uint64_t, std::uint64_t>{3, 9}));
}

TEST(Probes, AreFoundByNameAndTheNearestIsSuggested) {
  EXPECT_EQ(make_probes({"delta", "xi"}, "'probes.names'").size(), 2U);
  EXPECT_EQ(test::error_of([] {
              make_probes({"delta", "conservaton"}, "'probes.names'");
            }),
            "unknown probe 'conservaton' in 'probes.names'; did you mean 'conservation'?");
}

/// The numbers of silent workers that the check has after each of the iterations; none where there
/// is no check. `totals` are the entries that each worker has sent by then.
std::vector<std::optional<double>> silent_after(const std::vector<std::vector<double>>& totals,
                                                const std::vector<std::vector<int>>& who = {}) {
  test::RowKeeper keeper;
  Monitor monitor({}, keeper, [](auto /*done*/, auto /*total*/) {});
  for (std::size_t t = 0; t < totals.size(); ++t) {
    std::vector<WorkerScalars> scalars(totals[t].size());
    for (std::size_t p = 0; p < scalars.size(); ++p) {
      scalars[p].total_nnz = totals[t][p];
    }
    StepView view;
    view.iteration = t;
    view.worker_scalars = scalars;
    std::vector<WorkerScalars> contributed;
    if (!who.empty()) {
      contributed.resize(who[t].size());
      view.contributed = contributed;
      view.contributors = who[t];
    }
    monitor.observe(view);
  }
  std::vector<std::optional<double>> silent;
  for (const auto& checks : keeper.all_checks) {
    silent.emplace_back();
    for (const auto& check : checks) {
      EXPECT_EQ(check.name, "every-worker-sends");
      EXPECT_EQ(check.holds, check.lhs == 0);
      EXPECT_FALSE(check.hard);
      silent.back() = check.lhs;
    }
  }
  EXPECT_EQ(monitor.summary().silent_workers,
            static_cast<std::uint64_t>(silent.back().value_or(0)));
  return silent;
}

TEST(SilentWorkers, AreCountedUntilEachHasSentAnEntry) {
  using Silent = std::vector<std::optional<double>>;
  constexpr auto kNone = std::nullopt;
  EXPECT_EQ(silent_after({{0, 0}, {0, 0}}), (Silent{2, 2})) << "nothing was ever sent";
  EXPECT_EQ(silent_after({{0, 0}, {0, 3}, {1, 3}, {1, 4}}), (Silent{2, 1, 0, kNone}));
  EXPECT_EQ(silent_after({{1, 1}, {2, 2}}), (Silent{kNone, kNone}));
  EXPECT_EQ(silent_after({{0, 5}, {0, 9}}, {{1}, {1}}), (Silent{kNone, kNone}))
      << "the first takes no part";
  EXPECT_EQ(silent_after({{0, 5}, {0, 9}}, {{1}, {0}}), (Silent{kNone, 1}));
}

}  // namespace
}  // namespace residuum
