#include "reports/analysis/practice.h"

#include <gtest/gtest.h>

#include "reports/verdicts/evidence.h"

namespace residuum::reports {
namespace {

using Words = std::vector<std::string>;

Run run_with(const Json& config) {
  Run run;
  run.config = Json{{"config", config}};
  return run;
}

TEST(Practice, IsNothingWhereAllIsOff) {
  EXPECT_EQ(practice_of(run_with({{"step", {{"rule", "constant"}, {"momentum", 0}}},
                                  {"feedback", {{"kind", "ef14"}}},
                                  {"workers", {{"batch", 32}}}})),
            Words{});
  EXPECT_EQ(practice_of(reports::Run{}), Words{});
}

TEST(Practice, NamesEverythingThatIsOn) {
  const Json step{{"rule", "milestones"},
                  {"momentum", 0.9},
                  {"weight_decay", 1e-4},
                  {"clip_norm", 0.25},
                  {"clip_at", "update"},
                  {"warmup", 10},
                  {"warmup_from", "1/P"},
                  {"unit", "epochs"},
                  {"factor", 0.1},
                  {"milestones", {81, 122}}};
  const Json sparsifier{{"kind", "top-k"}, {"schedule", "dgc"}, {"schedule_epochs", 1}};

  EXPECT_EQ(practice_of(run_with({{"step", step},
                                  {"feedback", {{"kind", "ef14"}}},
                                  {"sparsifier", sparsifier},
                                  {"workers", {{"accumulate", 4}}}})),
            (Words{"momentum 0.9 after the aggregation",
                   "weight decay 0.0001 after the aggregation",
                   "updates clipped to norm 0.25 after the aggregation",
                   "step warm-up from 1/P of its size over 10 epochs",
                   "step times 0.1 at epochs [81,122]",
                   "density warm-up dgc, 1 epochs a stage",
                   "gradients of 4 batches accumulated"}));
}

TEST(Practice, NamesOptimisersOfWorkersAndTheCosine) {
  const Json step{{"rule", "cosine"}, {"floor", 0.1}, {"until", 2000}, {"unit", "iterations"}};
  const Json local{{"optimiser", "adamw"}, {"beta1", 0.9}, {"beta2", 0.95}};
  EXPECT_EQ(practice_of(run_with({{"step", step}, {"local", local}})),
            (Words{"workers step by adamw (beta1 0.9, beta2 0.95)",
                   "step falls as a cosine to 0.1 of its size after 2000 iterations"}));
  EXPECT_EQ(practice_of(run_with({{"local", {{"optimiser", "sgd"}}}})), Words{});
}

TEST(Practice, NamesWhatLosesMassByDesign) {
  const Json aggregator{{"kind", "allgather"}, {"weighting", "senders"}, {"clip", "median-norm"}};
  EXPECT_EQ(
      practice_of(run_with(
          {{"aggregator", aggregator}, {"feedback", {{"kind", "ef14"}, {"decay", 0.95}}}})),
      (Words{"residuals fade by 0.95 after each exchange, by design",
             "entries are divided by how many workers sent them",
             "messages are clipped to the median of their norms after residuals were updated"}));
}

TEST(Practice, NamesWhatDgcDoesBeforeTheExchange) {
  EXPECT_EQ(
      practice_of(run_with({{"step", {{"clip_norm", 2}, {"clip_at", "worker"}}},
                            {"feedback", {{"kind", "dgc"}, {"momentum", 0.5}, {"masking", true}}},
                            {"sparsifier", {{"schedule", {0.5}}, {"schedule_iterations", 7}}}})),
      (Words{"momentum correction 0.5, with factor masking",
             "workers' gradients clipped to norm 2/sqrt(P)",
             "density warm-up [0.5], 7 iterations a stage"}));
}

}  // namespace
}  // namespace residuum::reports
