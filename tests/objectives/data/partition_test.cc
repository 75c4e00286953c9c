#include "objectives/data/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::usage_message;
using Shards = std::vector<std::vector<std::uint32_t>>;

constexpr std::uint64_t kSeed = 17;

std::vector<std::int32_t> cyclic_labels(std::size_t samples, std::int32_t classes) {
  std::vector<std::int32_t> labels(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes));
  }
  return labels;
}

void expect_every_sample_once(const Shards& shards, std::size_t samples) {
  std::vector<std::uint32_t> all;
  for (const auto& shard : shards) {
    EXPECT_FALSE(shard.empty());
    EXPECT_TRUE(std::is_sorted(shard.begin(), shard.end()));
    all.insert(all.end(), shard.begin(), shard.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::uint32_t> expected(samples);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(all, expected);
}

class EveryPartition : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryPartition, GivesEverySampleToExactlyOneWorkerAndEachWorkerSome) {
  for (const std::size_t samples : {1U, 2U, 9U, 10U, 33U, 100U}) {
    for (const int workers : {1, 2, 3, 4, 5, 6, 7, 8, 9, 32, 100}) {
      if (static_cast<std::size_t>(workers) <= samples) {
        const auto shards =
            make_partition(GetParam(), samples, workers, cyclic_labels(samples, 3), kSeed);
        ASSERT_EQ(shards.size(), static_cast<std::size_t>(workers));
        expect_every_sample_once(shards, samples);
      }
    }
  }
}

TEST_P(EveryPartition, IsAFunctionOfItsSeed) {
  const auto labels = cyclic_labels(500, 4);
  EXPECT_EQ(make_partition(GetParam(), 500, 7, labels, 1),
            make_partition(GetParam(), 500, 7, labels, 1));
}

INSTANTIATE_TEST_SUITE_P(AllKinds,
                         EveryPartition,
                         ::testing::Values("iid",
                                           "contiguous",
                                           "by-label",
                                           "dirichlet:1e-300",
                                           "dirichlet:0.001",
                                           "dirichlet:0.5",
                                           "dirichlet:1e9"));

TEST(Partition, SizesOfAllButDirichletDifferByAtMostOne) {
  for (const char* kind : {"iid", "contiguous", "by-label"}) {
    for (const int workers : {1, 2, 3, 7, 10, 99, 100}) {
      const auto shards = make_partition(kind, 100, workers, cyclic_labels(100, 3), kSeed);
      const auto [low, high] =
          std::minmax_element(shards.begin(), shards.end(), [](const auto& a, const auto& b) {
            return a.size() < b.size();
          });
      EXPECT_LE(high->size() - low->size(), 1U) << kind << ' ' << workers;
    }
  }
}

TEST(Partition, ContiguousCutsTheFileInOrder) {
  EXPECT_THAT(make_partition("contiguous", 7, 3, {}, kSeed),
              ElementsAre(ElementsAre(0U, 1U), ElementsAre(2U, 3U), ElementsAre(4U, 5U, 6U)));
}

TEST(Partition, ByLabelCutsTheStablySortedLabels) {
  const std::vector<std::int32_t> labels{1, -1, 1, -1, 1, 1};

  EXPECT_THAT(make_partition("by-label", 6, 3, labels, kSeed),
              ElementsAre(ElementsAre(1U, 3U), ElementsAre(0U, 2U), ElementsAre(4U, 5U)));
}

TEST(Partition, IidIsAnyCutEquallyOften) {
  // Four samples on two workers: six possible first shards, each with probability 1/6.
  constexpr int kRounds = 6000;
  std::map<std::vector<std::uint32_t>, int> counts;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    ++counts[make_partition("iid", 4, 2, {}, seed)[0]];
  }

  ASSERT_EQ(counts.size(), 6U);
  const double six_deviations = 6 * std::sqrt(kRounds * (1.0 / 6) * (5.0 / 6));
  for (const auto& [shard, count] : counts) {
    EXPECT_NEAR(count, kRounds / 6.0, six_deviations);
  }
}

TEST(Partition, DirichletSharesHaveTheirKnownSecondMoment) {
  // For shares s of Dirichlet(alpha) over P workers, E sum_p s_p^2 = (alpha + 1)/(P alpha + 1).
  constexpr std::size_t kClasses = 400;
  constexpr std::size_t kPerClass = 1000;
  constexpr int kWorkers = 4;
  const auto labels = cyclic_labels(kClasses * kPerClass, static_cast<std::int32_t>(kClasses));
  for (const auto& [kind, alpha] :
       {std::pair("dirichlet:0.5", 0.5), std::pair("dirichlet:5", 5.0)}) {
    const auto shards = make_partition(kind, labels.size(), kWorkers, labels, kSeed);
    std::vector<double> squares(kClasses, 0.0);
    for (const auto& shard : shards) {
      std::vector<int> held(kClasses, 0);
      for (const std::uint32_t sample : shard) {
        ++held[static_cast<std::size_t>(labels[sample])];
      }
      for (std::size_t c = 0; c < kClasses; ++c) {
        const double share = static_cast<double>(held[c]) / static_cast<double>(kPerClass);
        squares[c] += share * share;
      }
    }
    const double mean = std::accumulate(squares.begin(), squares.end(), 0.0) / kClasses;
    double variance = 0;
    for (const double square : squares) {
      variance += (square - mean) * (square - mean) / (kClasses - 1);
    }
    // A share is rounded by less than 1/1000, which moves a sum of squares by less than 2/1000.
    const double bound = 6 * std::sqrt(variance / kClasses) + 0.002;
    EXPECT_NEAR(mean, (alpha + 1) / (kWorkers * alpha + 1), bound) << kind;
  }
}

TEST(Partition, TinyAlphaGivesEachClassToOneWorker) {
  const auto labels = cyclic_labels(300, 3);
  const auto shards = make_partition("dirichlet:1e-300", 300, 2, labels, kSeed);

  std::map<std::int32_t, std::vector<std::size_t>> held;
  for (const auto& shard : shards) {
    for (std::int32_t c = 0; c < 3; ++c) {
      held[c].push_back(static_cast<std::size_t>(
          std::count_if(shard.begin(), shard.end(), [&](auto i) { return labels[i] == c; })));
    }
  }
  for (const auto& [c, counts] : held) {
    // 99 when the other worker would have had nothing at all.
    EXPECT_GE(*std::max_element(counts.begin(), counts.end()), 99U);
  }
}

TEST(Partition, AnEmptyWorkerTakesFromTheLargest) {
  // One class, all of it on one worker, and nine workers that need one sample each.
  const auto shards = make_partition("dirichlet:1e-300", 20, 10, cyclic_labels(20, 1), kSeed);

  std::vector<std::size_t> sizes;
  for (const auto& shard : shards) {
    sizes.push_back(shard.size());
  }
  std::sort(sizes.begin(), sizes.end());
  EXPECT_THAT(sizes, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 11));
}

TEST(Partition, HugeAlphaSpreadsEachClassEvenly) {
  const auto shards = make_partition("dirichlet:1e9", 800, 4, cyclic_labels(800, 2), kSeed);
  for (const auto& shard : shards) {
    EXPECT_EQ(shard.size(), 200U);
  }
}

TEST(Partition, SeedsDiffer) {
  const auto labels = cyclic_labels(100, 2);
  for (const char* kind : {"iid", "dirichlet:0.5"}) {
    EXPECT_NE(make_partition(kind, 100, 4, labels, 1), make_partition(kind, 100, 4, labels, 2));
  }
}

void expect_refused(const std::string& kind, const std::string& expected) {
  EXPECT_THAT(usage_message([&] { check_partition(kind, "place"); }), HasSubstr(expected));
  EXPECT_THAT(usage_message([&] { make_partition(kind, 10, 2, cyclic_labels(10, 2), 1); }),
              HasSubstr(expected));
}

TEST(Partition, RefusesUnknownKindsWithTheNearest) {
  expect_refused("idd", "unknown partition 'idd'; did you mean 'iid'?");
  expect_refused("by-labels", "did you mean 'by-label'?");
  expect_refused("dirchlet:0.5", "did you mean 'dirichlet:0.5'?");
  expect_refused("", "unknown partition ''");
}

TEST(Partition, RefusesABadAlpha) {
  for (const char* kind : {"dirichlet",
                           "dirichlet:",
                           "dirichlet:0",
                           "dirichlet:-1",
                           "dirichlet:nan",
                           "dirichlet:inf",
                           "dirichlet:0.5x",
                           "dirichlet:x",
                           "dirichlet:2e9"}) {
    expect_refused(kind, "must be \"dirichlet:ALPHA\" with a number ALPHA in (0, 1e9]");
  }
}

TEST(Partition, RefusesMoreWorkersThanSamplesNoWorkersAndMissingLabels) {
  EXPECT_THAT(usage_message([] { make_partition("iid", 3, 4, {}, 1); }),
              HasSubstr("4 workers share 3 samples"));
  EXPECT_THAT(usage_message([] { make_partition("iid", 3, 0, {}, 1); }),
              HasSubstr("at least 1 worker, got 0"));
  EXPECT_THAT(usage_message([] { make_partition("by-label", 3, 2, {}, 1); }),
              HasSubstr("'by-label' needs class labels"));
  EXPECT_THAT(usage_message([] { make_partition("dirichlet:1", 3, 2, {}, 1); }),
              HasSubstr("'dirichlet:1' needs class labels"));
}

}  // namespace
}  // namespace residuum
