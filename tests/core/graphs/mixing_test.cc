// The mixing matrix against its laws, its spectrum against closed forms, CHOCO's step against the
// rate that its paper proves.

#include "core/graphs/mixing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "core/random/random.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using std::numbers::pi;

constexpr double kRounding = std::numeric_limits<double>::epsilon();

Mixing mixing_of(const std::string& word, int workers) {
  return Mixing(make_graph(word, workers, 3));
}

/// A star and a path, where degrees differ, beside all that can be named.
std::vector<Mixing> mixings_of_every_shape() {
  std::vector<Mixing> all;
  for (const std::string& word : graph_words()) {
    for (const int workers : {1, 2, 16, 64}) {
      all.push_back(mixing_of(word, workers));
    }
  }
  for (const int workers : {3, 7, 100}) {
    all.push_back(mixing_of("ring", workers));
    all.push_back(mixing_of("complete", workers));
    all.push_back(mixing_of("erdos-renyi:0.4", workers));
  }
  std::vector<Link> star;
  std::vector<Link> path;
  for (int v = 1; v < 12; ++v) {
    star.push_back({0, v});
    path.push_back({v - 1, v});
  }
  all.emplace_back(Graph(12, star));
  all.emplace_back(Graph(12, path));
  return all;
}

/// The closed form of a spectrum, from its n terms.
std::vector<double> sorted_spectrum(int n, const std::function<double(int)>& term) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    values.push_back(term(j));
  }
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

void expect_spectrum(const Mixing& mixing, const std::vector<double>& expected) {
  const auto values = eigenvalues(mixing);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(values[k], expected[k], 1e-13) << "eigenvalue " << k << " of " << values.size();
  }
  if (expected.size() > 1) {
    const auto [gap, beta] = mixing_constants(mixing);
    EXPECT_NEAR(gap, 1 - std::max(std::abs(expected[1]), std::abs(expected.back())), 1e-13);
    EXPECT_NEAR(beta, 1 - expected.back(), 1e-13);
    EXPECT_EQ(spectral_gap(mixing), gap);
  }
}

std::vector<double> mixing_input(int n, std::uint32_t which) {
  RandomStream random(5, Purpose::test, 0, which);
  std::vector<double> x(static_cast<std::size_t>(n));
  std::generate(x.begin(), x.end(), [&] { return random.normal(); });
  return x;
}

double mean_entry(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double distance_to(double centre, const std::vector<double>& x) {
  double square = 0;
  for (const double value : x) {
    square += (value - centre) * (value - centre);
  }
  return std::sqrt(square);
}

TEST(Mixing, HasTheWeightsOfMetropolisAndHastings) {
  const Mixing path(Graph(4, {{0, 1}, {1, 2}, {1, 3}}));
  EXPECT_EQ(path.weights(0)[0], 1.0 / 4);
  EXPECT_DOUBLE_EQ(path.own_weight(0), 3.0 / 4);
  EXPECT_DOUBLE_EQ(path.own_weight(1), 1.0 / 4);
  EXPECT_EQ(path.weights(1).size(), 3U);
}

TEST(Mixing, IsSymmetricInEveryBitWithPositiveWeights) {
  for (const Mixing& mixing : mixings_of_every_shape()) {
    for (int i = 0; i < mixing.vertices(); ++i) {
      EXPECT_GT(mixing.own_weight(i), 0);
      const auto neighbours = mixing.graph().neighbours(i);
      for (std::size_t at = 0; at < neighbours.size(); ++at) {
        const int j = neighbours[at];
        const auto back = mixing.graph().neighbours(j);
        const auto mine = std::find(back.begin(), back.end(), i) - back.begin();
        EXPECT_GT(mixing.weights(i)[at], 0);
        EXPECT_EQ(mixing.weights(i)[at], mixing.weights(j)[static_cast<std::size_t>(mine)]);
      }
    }
  }
}

TEST(Mixing, HasRowsThatSumToOneUpToOneRounding) {
  for (const Mixing& mixing : mixings_of_every_shape()) {
    for (int i = 0; i < mixing.vertices(); ++i) {
      const auto row = mixing.weights(i);
      const long double sum = std::accumulate(row.begin(), row.end(), 0.0L);
      EXPECT_LE(std::abs(static_cast<double>(sum + mixing.own_weight(i) - 1)), kRounding / 2);
    }
  }
}

TEST(Mixing, OnTheCompleteGraphIsTheMean) {
  for (const int n : {2, 3, 10, 200}) {
    const Mixing mixing = mixing_of("complete", n);
    EXPECT_EQ(mixing.weights(0)[0], 1.0 / n);
    EXPECT_NEAR(mixing.own_weight(0), 1.0 / n, kRounding);
    const auto x = mixing_input(n, 0);
    std::vector<double> mixed(x.size());
    mixing.mix(x, mixed);
    EXPECT_LT(distance_to(mean_entry(x), mixed), 1e-13);
  }
}

TEST(Mixing, ReachesTheMeanAtLeastAtTheRateOfTheGap) {
  for (const Mixing& mixing : mixings_of_every_shape()) {
    const double rate = 1 - spectral_gap(mixing);
    for (std::uint32_t draw = 0; draw < 3; ++draw) {
      auto x = mixing_input(mixing.vertices(), draw);
      const double mean = mean_entry(x);
      const double begin = distance_to(mean, x);
      std::vector<double> mixed(x.size());
      for (int t = 1; t <= 40; ++t) {
        mixing.mix(x, mixed);
        x.swap(mixed);
        EXPECT_LE(distance_to(mean, x), begin * std::pow(rate, t) * (1 + 1e-9) + 1e-13);
        EXPECT_NEAR(mean_entry(x), mean, 1e-13);
      }
    }
  }
}

TEST(Mixing, ReachesTheMeanAtThatRateAndNoFaster) {
  const Mixing ring = mixing_of("ring", 20);
  auto x = mixing_input(20, 0);
  std::vector<double> mixed(x.size());
  const double mean = mean_entry(x);
  double before = 0;
  for (int t = 0; t < 200; ++t) {
    before = distance_to(mean, x);
    ring.mix(x, mixed);
    x.swap(mixed);
  }
  EXPECT_NEAR(distance_to(mean, x) / before, 1 - spectral_gap(ring), 1e-5);
}

TEST(MixingSpectrum, OfOneWorkerIsOne) {
  expect_spectrum(mixing_of("ring", 1), {1});
  EXPECT_EQ(mixing_constants(mixing_of("ring", 1)).gap, 1);
  EXPECT_EQ(mixing_constants(mixing_of("ring", 1)).beta, 0);
}

TEST(MixingSpectrum, OfTwoWorkersIsThatOfTheMean) {
  for (const std::string& word : graph_words()) {
    expect_spectrum(mixing_of(word, 2), {1, 0});
  }
}

TEST(MixingSpectrum, OfARingIsItsClosedForm) {
  for (const int n : {3, 4, 5, 16, 33, 200}) {
    expect_spectrum(mixing_of("ring", n), sorted_spectrum(n, [n](int j) {
                      return (1 + 2 * std::cos(2 * pi * j / n)) / 3;
                    }));
  }
}

TEST(MixingSpectrum, OfTheCompleteGraphIsOneAndZeros) {
  for (const int n : {3, 8, 65}) {
    expect_spectrum(mixing_of("complete", n),
                    sorted_spectrum(n, [](int j) { return j == 0 ? 1 : 0; }));
  }
}

TEST(MixingSpectrum, OfAHypercubeIsItsClosedForm) {
  for (const int dimension : {2, 3, 5, 7}) {
    const int n = 1 << dimension;
    expect_spectrum(mixing_of("hypercube", n), sorted_spectrum(n, [dimension](int j) {
                      return 1 - 2.0 * std::popcount(static_cast<unsigned>(j)) / (dimension + 1);
                    }));
  }
}

TEST(MixingSpectrum, OfATorusIsItsClosedForm) {
  for (const auto& [rows, columns] : {std::pair{3, 3}, {3, 4}, {4, 5}, {3, 13}, {10, 12}}) {
    const int c = columns;
    const int r = rows;
    expect_spectrum(
        mixing_of("torus", r * c), sorted_spectrum(r * c, [r, c](int j) {
          const int row = j / c;
          const int column = j % c;
          return (1 + 2 * std::cos(2 * pi * row / r) + 2 * std::cos(2 * pi * column / c)) / 5;
        }));
  }
}

TEST(MixingSpectrum, OfAStarIsItsClosedForm) {
  // W = I - L/n: the Laplacian of a star has the eigenvalues 0, n and, n - 2 times, 1.
  constexpr int kWorkers = 12;
  std::vector<Link> links;
  for (int v = 1; v < kWorkers; ++v) {
    links.push_back({0, v});
  }
  expect_spectrum(Mixing(Graph(kWorkers, links)), sorted_spectrum(kWorkers, [](int j) {
                    return j == 0 ? 1 : j == 1 ? 0 : 1 - 1.0 / kWorkers;
                  }));
}

TEST(MixingSpectrum, HasTheTraceAndTheSquaresOfTheMatrix) {
  for (const Mixing& mixing : mixings_of_every_shape()) {
    double trace = 0;
    double squares = 0;
    for (int i = 0; i < mixing.vertices(); ++i) {
      trace += mixing.own_weight(i);
      squares += mixing.own_weight(i) * mixing.own_weight(i);
      for (const double weight : mixing.weights(i)) {
        squares += weight * weight;
      }
    }
    for (const double value : eigenvalues(mixing)) {
      trace -= value;
      squares -= value * value;
    }
    EXPECT_NEAR(trace, 0, 1e-12);
    EXPECT_NEAR(squares, 0, 1e-12);
  }
}

TEST(MixingSpectrum, HasNoGapWhereTheGraphIsNotConnected) {
  EXPECT_NEAR(spectral_gap(Mixing(Graph(4, {{0, 1}, {2, 3}}))), 0, 1e-15);
}

TEST(MixingSpectrum, OfTooManyWorkersIsRefused) {
  const Mixing ring = mixing_of("ring", kMostSpectrumWorkers + 1);
  EXPECT_EQ(test::error_of([&] { spectral_gap(ring); }),
            "the spectral gap of a graph is computed for at most 1024 workers, not for 1025");
}

TEST(ChocoStep, IsTheFormulaOfThePaper) {
  EXPECT_DOUBLE_EQ(choco_step(1, 1, 1), 1.0 / 15);  // 16 + 1 + 4 + 2 - 8
  EXPECT_DOUBLE_EQ(choco_step(0.5, 1.5, 0.25), 0.0625 / 18.5);
}

/// CHOCO-Gossip on the workers' vectors x and their public copies.
struct ChocoGossip {
  const Mixing& mixing;
  double step;
  std::vector<std::vector<double>> x;
  std::vector<std::vector<double>> copies;

  /// Adds the largest entry of x_i - copy_i to the copy; this is Top-1.
  void publish() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::size_t largest = 0;
      for (std::size_t e = 1; e < x[i].size(); ++e) {
        if (std::abs(x[i][e] - copies[i][e]) > std::abs(x[i][largest] - copies[i][largest])) {
          largest = e;
        }
      }
      copies[i][largest] = x[i][largest];
    }
  }

  void gossip() {
    for (int i = 0; i < mixing.vertices(); ++i) {
      const auto neighbours = mixing.graph().neighbours(i);
      const auto mine = static_cast<std::size_t>(i);
      for (std::size_t at = 0; at < neighbours.size(); ++at) {
        const auto& theirs = copies[static_cast<std::size_t>(neighbours[at])];
        for (std::size_t e = 0; e < theirs.size(); ++e) {
          x[mine][e] += step * mixing.weights(i)[at] * (theirs[e] - copies[mine][e]);
        }
      }
    }
  }

  /// The paper's e_t: the squared distances to the mean and to the copies.
  double error(const std::vector<double>& mean) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t e = 0; e < mean.size(); ++e) {
        sum += std::pow(x[i][e] - mean[e], 2) + std::pow(x[i][e] - copies[i][e], 2);
      }
    }
    return sum;
  }
};

TEST(ChocoStep, GivesCompressedGossipTheRateOfThePaper) {
  constexpr int kDimension = 5;
  for (const char* word : {"ring", "torus", "complete", "erdos-renyi:0.4"}) {
    const Mixing mixing = mixing_of(word, 9);
    const auto [gap, beta] = mixing_constants(mixing);
    const double contraction = 1.0 / kDimension;  // of Top-1
    ChocoGossip choco{mixing, choco_step(gap, beta, contraction), {}, {}};
    std::vector<double> mean(kDimension, 0.0);
    for (std::uint32_t i = 0; i < 9; ++i) {
      choco.x.push_back(mixing_input(kDimension, i));
      choco.copies.emplace_back(kDimension, 0.0);
      for (std::size_t e = 0; e < mean.size(); ++e) {
        mean[e] += choco.x.back()[e] / 9;
      }
    }
    choco.publish();
    const double begin = choco.error(mean);
    const double rate = 1 - gap * gap * contraction / 82;
    for (int t = 1; t <= 3000; ++t) {
      choco.gossip();
      choco.publish();
      ASSERT_LE(choco.error(mean), begin * std::pow(rate, t) + 1e-25) << word << " at " << t;
    }
  }
}

}  // namespace
}  // namespace residuum
