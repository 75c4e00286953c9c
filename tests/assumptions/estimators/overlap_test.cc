#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assumptions/delta_prediction.h"
#include "core/random/random.h"

namespace residuum {
namespace {

constexpr EntryLaw kGaussianEntries{};
constexpr EntryLaw kLaplaceEntries{.kind = EntryLaw::Kind::laplace};

TEST(OverlapPrediction, IsTheEnergyCaptureOfOneWorker) {
  for (const double rho : {0.3, 0.1, 0.01, 0.001}) {
    for (const EntryLaw& law : {kGaussianEntries, kLaplaceEntries}) {
      EXPECT_NEAR(*overlapping_delta_iid(rho, 1, law), (1 - capture(law, rho)) / (1 - rho), 1e-5);
    }
  }
}

TEST(OverlapPrediction, NeglectsWhatIsNegligibleWhereSelectionsHardlyMeet) {
  for (const EntryLaw& law : {kGaussianEntries, kLaplaceEntries}) {
    EXPECT_NEAR(*overlapping_delta_iid(1e-4, 8, law),
                *predicted_delta_iid(Combination::selected, 1e-4, 8, law),
                1e-5);
  }
}

/// Delta of exact gTop-k on numbers that are drawn and selected one by one.
double drawn_delta(std::size_t d, std::size_t k, int workers) {
  std::vector<double> dense(d);
  std::vector<double> sum(d);
  RandomStream random(7, Purpose::synthetic, 0, 0);
  std::vector<double> entries(d);
  const auto nth = [&](std::vector<double> magnitudes) {
    const auto place = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(magnitudes.begin(), place, magnitudes.end(), std::greater<>());
    return *place;
  };
  const auto magnitudes = [](std::vector<double> values) {
    std::transform(
        values.begin(), values.end(), values.begin(), [](double v) { return std::abs(v); });
    return values;
  };
  for (int p = 0; p < workers; ++p) {
    std::generate(entries.begin(), entries.end(), [&] { return random.normal(); });
    const double least = nth(magnitudes(entries));
    for (std::size_t j = 0; j < d; ++j) {
      dense[j] += entries[j];
      sum[j] += std::abs(entries[j]) >= least ? entries[j] : 0;
    }
  }
  const double least = nth(magnitudes(sum));
  double error = 0;
  double energy = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const double kept = std::abs(sum[j]) >= least ? sum[j] : 0;
    error += (dense[j] - kept) * (dense[j] - kept);
    energy += dense[j] * dense[j];
  }
  const double rho = static_cast<double>(k) / static_cast<double>(d);
  return error / energy / (1 - rho);
}

// The error of a draw is about sqrt(delta (1 - delta)/d), 1e-3 at most.
TEST(OverlapPrediction, IsWhatDrawsGive) {
  for (const int workers : {2, 4, 8, 32}) {
    EXPECT_NEAR(*overlapping_delta_iid(0.1, workers), drawn_delta(200'000, 20'000, workers), 0.004)
        << workers;
    EXPECT_NEAR(*overlapping_delta_iid(0.01, workers), drawn_delta(200'000, 2'000, workers), 0.003)
        << workers;
  }
}

// Disjoint selections would have it pass 1 after 8, 13 and 18 workers.
TEST(OverlapPrediction, PassesOneLaterThanDisjointSelectionsDo) {
  EXPECT_FALSE(largest_workers_overlapping(0.1));
  EXPECT_EQ(largest_workers_overlapping(0.01), 88);
  EXPECT_EQ(largest_workers_overlapping(0.001), 22);
  EXPECT_LT(*overlapping_delta_iid(0.1, 4096), 0.9);
}

TEST(OverlapPrediction, IsAbsentWhereItIsNotKnown) {
  EXPECT_FALSE(overlapping_delta_iid(0, 4));
  EXPECT_FALSE(overlapping_delta_iid(1, 4));
  EXPECT_FALSE(overlapping_delta_iid(0.1, 0));
  EXPECT_FALSE(overlapping_delta_iid(0.1, 5000));
  EXPECT_FALSE(overlapping_delta_iid(0.1, 4, {.kind = EntryLaw::Kind::uniform}));
}

}  // namespace
}  // namespace residuum
