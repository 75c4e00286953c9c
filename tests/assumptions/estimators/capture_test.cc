// The table of captured energies and the largest numbers of workers, both known from the closed
// forms and from simulations of independent programs.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "assumptions/delta_prediction.h"
#include "core/random/random.h"

namespace residuum {
namespace {

constexpr EntryLaw kGaussian{.kind = EntryLaw::Kind::gaussian};
constexpr EntryLaw kLaplace{.kind = EntryLaw::Kind::laplace};
constexpr EntryLaw kUniform{.kind = EntryLaw::Kind::uniform};

struct TableRow {
  double kappa;
  std::array<double, 3> captured;  // Gaussian, Laplace, uniform
  std::array<double, 3> delta;
};

constexpr std::array<TableRow, 7> kTable{{
    {0.1, {0.439286, 0.595353, 0.271000}, {0.623015, 0.449607, 0.810000}},
    {0.01, {0.084492, 0.162090, 0.029701}, {0.924756, 0.846374, 0.980100}},
    {0.004, {0.040496, 0.087059, 0.011952}, {0.963357, 0.916608, 0.992016}},
    {0.001, {0.012696, 0.031766, 0.002997}, {0.988293, 0.969203, 0.998001}},
    {0.00025, {0.003825, 0.010922, 0.000750}, {0.996424, 0.989325, 0.999500}},
    {1e-4, {0.001703, 0.005263, 0.000300}, {0.998396, 0.994837, 0.999800}},
    {5e-5, {0.000918, 0.002997, 0.000150}, {0.999132, 0.997053, 0.999900}},
}};

TEST(Capture, IsThatOfTheTable) {
  const std::array<EntryLaw, 3> laws{kGaussian, kLaplace, kUniform};
  for (const auto& row : kTable) {
    for (std::size_t i = 0; i < laws.size(); ++i) {
      EXPECT_NEAR(capture(laws[i], row.kappa), row.captured[i], 5.1e-7) << row.kappa;
      const auto delta = predicted_delta_iid(Combination::whole, row.kappa, 4, laws[i]);
      EXPECT_NEAR(*delta, row.delta[i], 5.1e-7) << row.kappa;
    }
  }
}

TEST(Capture, OfEverythingIsEverything) {
  for (const EntryLaw& law : {kGaussian, kLaplace, kUniform}) {
    EXPECT_DOUBLE_EQ(capture(law, 1), 1);
  }
  EXPECT_DOUBLE_EQ(capture({.kind = EntryLaw::Kind::pareto, .tail = 4}, 0.01), 0.1);
}

TEST(Capture, IsWhatSortedDrawsHold) {
  // 10^6 draws: the fraction scatters by far less than 1 %.
  constexpr std::size_t kDraws = 1'000'000;
  RandomStream random(3, Purpose::test, 0, 0);
  const auto captured = [&](const std::function<double()>& draw, double kappa) {
    std::vector<double> squares(kDraws);
    double total = 0;
    for (double& square : squares) {
      const double x = draw();
      square = x * x;
      total += square;
    }
    std::sort(squares.begin(), squares.end(), std::greater<>());
    double head = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kappa * kDraws); ++i) {
      head += squares[i];
    }
    return head / total;
  };
  const double gaussian = captured([&] { return random.normal(); }, 0.01);
  const double laplace = captured([&] { return std::log(1 - random.uniform()); }, 0.01);
  const double uniform = captured([&] { return random.uniform(); }, 0.01);
  EXPECT_NEAR(gaussian / capture(kGaussian, 0.01), 1, 0.01);
  EXPECT_NEAR(laplace / capture(kLaplace, 0.01), 1, 0.01);
  EXPECT_NEAR(uniform / capture(kUniform, 0.01), 1, 0.01);
}

TEST(IidPrediction, HoldsUpToTheNumbersOfWorkersOfTheTable) {
  const std::array<double, 5> densities{0.1, 0.01, 0.001, 1e-4, 5e-5};
  const std::array<double, 5> gaussian{8, 13, 18, 23, 24};
  const std::array<double, 5> laplace{20, 44, 75, 111, 124};
  for (std::size_t i = 0; i < densities.size(); ++i) {
    EXPECT_EQ(largest_workers_iid(densities[i], kGaussian), gaussian[i]);
    EXPECT_EQ(largest_workers_iid(densities[i], kLaplace), laplace[i]);
  }
}

TEST(IidPrediction, TurnsExactlyAtTheLargestNumberOfWorkers) {
  for (const EntryLaw& law :
       {kGaussian, kLaplace, kUniform, EntryLaw{.kind = EntryLaw::Kind::pareto, .tail = 3.5}}) {
    for (const double rho : {0.2, 0.013, 1.1e-3}) {
      const double most = *largest_workers_iid(rho, law);
      EXPECT_LE(*predicted_delta_iid(Combination::selected, rho, most, law), 1 + 1e-12);
      EXPECT_GT(*predicted_delta_iid(Combination::selected, rho, most + 1, law), 1);
    }
  }
  // Pareto: (rho/P)^(1-2/a) = rho gives P = rho^(1 - a/(a-2)) = rho^-2 at a = 3.
  EXPECT_NEAR(*largest_workers_iid(0.01, {EntryLaw::Kind::pareto, 3}), 1e4, 1);
}

TEST(IidPrediction, HasNoLimitWhereSelectedValuesAreWhole) {
  EXPECT_FALSE(largest_workers_iid(1));
  EXPECT_LT(*predicted_delta_iid(Combination::completed, 0.001, 1e6), 1);
  EXPECT_FALSE(predicted_delta_iid(Combination::whole, 0, 4));
}

}  // namespace
}  // namespace residuum
