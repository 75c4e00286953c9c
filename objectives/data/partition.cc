#include "objectives/data/partition.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/random/random.h"
#include "core/text.h"

namespace residuum {
namespace {

using Samples = std::vector<std::uint32_t>;
using Shards = std::vector<Samples>;

constexpr std::string_view kDirichlet = "dirichlet:";
// A partition draws from several streams: number 0 for the permutation, c + 1 for class c (in order
// of labels).
constexpr std::uint32_t kPermutation = 0;

RandomStream partition_stream(std::uint64_t seed, std::uint32_t number) {
  return {seed, Purpose::partition, 0, number};
}

/// Returns the concentration that "dirichlet:ALPHA" names, or nothing for the other kinds.
std::optional<double> parse_kind(const std::string& kind, const std::string& place) {
  if (kind == "iid" || kind == "contiguous" || kind == "by-label") {
    return std::nullopt;
  }
  const std::vector<std::string> known{"iid", "contiguous", "by-label", "dirichlet:0.5"};
  require(kind == "dirichlet" || kind.starts_with(kDirichlet),
          "{}: unknown partition '{}'{}",
          place,
          kind,
          suggestion(kind, known));
  constexpr double kLargest = 1e9;  // far beyond any data set, and sums of draws stay finite
  const double alpha =
      parsed<double>(kind.substr(std::min(kDirichlet.size(), kind.size()))).value_or(0);
  require(alpha > 0 && alpha <= kLargest,
          "{} must be \"dirichlet:ALPHA\" with a number ALPHA in (0, 1e9], got \"{}\"",
          place,
          kind);
  return alpha;
}

void shuffle(Samples& samples, RandomStream& random) {
  for (std::size_t left = samples.size(); left > 1; --left) {
    std::swap(samples[left - 1], samples[random.below(static_cast<std::uint32_t>(left))]);
  }
}

Shards cut_evenly(const Samples& samples, std::size_t workers) {
  Shards shards;
  for (std::size_t p = 0; p < workers; ++p) {
    const auto begin = static_cast<std::ptrdiff_t>(p * samples.size() / workers);
    const auto end = static_cast<std::ptrdiff_t>((p + 1) * samples.size() / workers);
    shards.emplace_back(samples.begin() + begin, samples.begin() + end);
  }
  return shards;
}

/// Returns cumulative shares: entry p is the share of a class that goes to the workers up to p.
std::vector<double> dirichlet_sums(double alpha, RandomStream& random, std::size_t workers) {
  std::vector<double> sums(workers);
  std::generate(sums.begin(), sums.end(), [&] { return random.gamma(alpha); });
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  const double total = sums.back();
  if (total == 0) {
    // All draws underflowed, as they do for tiny alpha; its limit is one worker for the class.
    const auto owner = random.below(static_cast<std::uint32_t>(workers));
    std::fill(sums.begin() + owner, sums.end(), 1.0);
    return sums;
  }
  for (double& sum : sums) {
    sum /= total;
  }
  return sums;
}

void feed_the_empty(Shards& shards) {
  for (auto& shard : shards) {
    if (shard.empty()) {
      auto& largest = *std::max_element(
          shards.begin(), shards.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
      shard.push_back(largest.back());
      largest.pop_back();
    }
  }
}

Shards dirichlet(double alpha,
                 std::size_t workers,
                 std::span<const std::int32_t> labels,
                 std::uint64_t seed) {
  std::map<std::int32_t, Samples> classes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    classes[labels[i]].push_back(static_cast<std::uint32_t>(i));
  }
  Shards shards(workers);
  std::uint32_t number = kPermutation;
  for (auto& [label, members] : classes) {
    RandomStream random = partition_stream(seed, ++number);
    shuffle(members, random);
    const auto sums = dirichlet_sums(alpha, random, workers);
    auto begin = members.begin();
    for (std::size_t p = 0; p < workers; ++p) {
      const auto end = members.begin() + std::lround(sums[p] * static_cast<double>(members.size()));
      shards[p].insert(shards[p].end(), begin, end);
      begin = end;
    }
  }
  feed_the_empty(shards);
  return shards;
}

}  // namespace

void check_partition(const std::string& kind, const std::string& place) { parse_kind(kind, place); }

std::vector<std::vector<std::uint32_t>> make_partition(const std::string& kind,
                                                       std::size_t samples,
                                                       int workers,
                                                       std::span<const std::int32_t> labels,
                                                       std::uint64_t seed) {
  assert(labels.empty() || labels.size() == samples);
  const std::optional<double> alpha = parse_kind(kind, "'partition'");
  require(workers >= 1, "a partition needs at least 1 worker, got {}", workers);
  const auto count = static_cast<std::size_t>(workers);
  require(count <= samples,
          "{} workers share {} samples: each needs at least one; use fewer workers",
          workers,
          samples);
  require(samples <= std::numeric_limits<std::uint32_t>::max(),
          "{} samples: at most 2^32-1 can be partitioned",
          samples);
  require((kind != "by-label" && !alpha) || !labels.empty(),
          "partition '{}' needs class labels, and this data has none; use iid or contiguous",
          kind);

  Samples order(samples);
  std::iota(order.begin(), order.end(), 0U);
  if (kind == "iid") {
    RandomStream random = partition_stream(seed, kPermutation);
    shuffle(order, random);
  } else if (kind == "by-label") {
    std::stable_sort(
        order.begin(), order.end(), [&](auto a, auto b) { return labels[a] < labels[b]; });
  }
  Shards shards = alpha ? dirichlet(*alpha, count, labels, seed) : cut_evenly(order, count);
  for (auto& shard : shards) {
    std::sort(shard.begin(), shard.end());
  }
  return shards;
}

}  // namespace residuum
