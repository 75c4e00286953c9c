// T-CONS: sum_p e^p_{t+1} + g_t = sum_p a^p_t, exactly on whole numbers, for every triple of
// sparsifier, aggregator and feedback that claims it; and those that do not are seen to lose.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::Json;

constexpr std::size_t kFewEntries = 8;
constexpr std::array kWorkers{1U, 2U, 3U, 4U, 5U, 7U, 8U, 16U};

std::vector<Json> all_sparsifiers() {
  std::vector<Json> all;
  for (const auto& entry : sparsifiers()) {
    auto values = Json::parse(entry.example);
    values["kind"] = std::string(entry.name);
    all.push_back(values);
  }
  all.push_back({{"kind", "rand-k"}, {"k", 2}, {"mask", "per-worker"}});
  // d/k = 4 keeps whole numbers whole.
  all.push_back({{"kind", "rand-k"}, {"k", 2}, {"scaled", true}});
  all.push_back({{"kind", "rand-k"}, {"k", 2}, {"mask", "per-worker"}, {"scaled", true}});
  all.push_back({{"kind", "top-k"}, {"k", 1}});
  all.push_back({{"kind", "hard-threshold"}, {"threshold", 3}});
  return all;
}

std::vector<Json> all_feedbacks() {
  std::vector<Json> all;
  for (const auto& entry : feedbacks()) {
    all.push_back({{"kind", std::string(entry.name)}});
  }
  for (const char* putback : {"captured", "published", "discard"}) {
    all.push_back({{"kind", "ef14"}, {"putback", putback}});
  }
  return all;
}

template <class Real>
test::Rows<Real> whole_numbers(std::size_t workers, std::uint32_t number) {
  test::Rows<Real> rows(workers, std::vector<Real>(kFewEntries));
  RandomStream random(31, Purpose::test, static_cast<std::uint32_t>(workers), number);
  for (auto& row : rows) {
    for (Real& value : row) {
      value = static_cast<Real>(static_cast<int>(random.below(13)) - 6);
    }
  }
  return rows;
}

/// The triple that is tried, and whether its parts fit together at all.
struct Triple {
  test::StepParts parts;

  bool fits() const {
    const auto exchange = test::aggregator(parts.aggregator);
    return !exchange->needs_k() || test::sparsifier(parts.sparsifier)->k(kFewEntries).has_value();
  }
  bool sends_everything() const { return parts.sparsifier["kind"] == "none"; }
  bool claims_conservation(std::size_t workers) const {
    return test::feedback(parts.feedback)
        ->conserves(test::aggregator(parts.aggregator)->law(),
                    sends_everything(),
                    static_cast<int>(workers));
  }
};

std::ostream& operator<<(std::ostream& stream, const Triple& triple) {
  return stream << triple.parts.sparsifier << triple.parts.aggregator << triple.parts.feedback;
}

std::vector<Triple> all_triples() {
  std::vector<Triple> triples;
  for (const auto& sparsifier : all_sparsifiers()) {
    for (const auto& entry : test::aggregators_of_messages()) {
      for (const auto& feedback : all_feedbacks()) {
        const Triple triple{{sparsifier, {{"kind", std::string(entry.name)}}, feedback}};
        if (triple.fits()) {
          triples.push_back(triple);
        }
      }
    }
  }
  return triples;
}

template <class Real>
bool loses(const Triple& triple, const test::Rows<Real>& rows) {
  const auto lost = test::step_on(rows, triple.parts).lost(rows);
  return std::any_of(lost.begin(), lost.end(), [](double value) { return value != 0; });
}

TEST(Conservation, HoldsExactlyForEveryTripleThatClaimsIt) {
  for (const auto& triple : all_triples()) {
    for (const std::size_t workers : kWorkers) {
      if (!triple.claims_conservation(workers)) {
        continue;
      }
      for (std::uint32_t number = 0; number < 20; ++number) {
        EXPECT_FALSE(loses(triple, whole_numbers<double>(workers, number)))
            << triple << ", P = " << workers;
        EXPECT_FALSE(loses(triple, whole_numbers<float>(workers, number)))
            << triple << ", P = " << workers;
      }
    }
  }
}

/// Messages of which something is left out or rejected: neither whole accumulators, nor lists that
/// all have the same k indices (a shared mask), nor all non-zero whole numbers (a threshold of
/// 0.5).
bool sends_what_can_be_lost(const Json& sparsifier) {
  return sparsifier["kind"] == "top-k" || sparsifier.value("mask", "") == "per-worker" ||
         sparsifier.value("threshold", 0.0) == 3;
}

TEST(Conservation, IsSeenToFailForEveryTripleThatDoesNotClaimItAndHasSomethingToLose) {
  int tried = 0;
  for (const auto& triple : all_triples()) {
    if (!sends_what_can_be_lost(triple.parts.sparsifier) || triple.claims_conservation(8)) {
      continue;
    }
    ++tried;
    bool seen = false;
    for (std::uint32_t number = 0; number < 200 && !seen; ++number) {
      seen = loses(triple, whole_numbers<double>(8, number));
    }
    EXPECT_TRUE(seen) << triple;
  }
  EXPECT_GE(tried, 20);
}

bool claims(const char* aggregator, const Json& feedback, std::size_t workers) {
  return Triple{{{{"kind", "top-k"}, {"k", 1}}, {{"kind", aggregator}}, feedback}}
      .claims_conservation(workers);
}

TEST(Conservation, IsClaimedByCapturedWithEveryAggregator) {
  for (const auto& entry : test::aggregators_of_messages()) {
    for (const std::size_t workers : kWorkers) {
      EXPECT_TRUE(claims(entry.name.data(), {{"kind", "ef14"}}, workers)) << entry.name;
    }
  }
}

TEST(Conservation, IsClaimedByPublishedWithTheTreeForTwoWorkersAtMost) {
  const Json published{{"kind", "ef14"}, {"putback", "published"}};
  EXPECT_TRUE(claims("gtopk-tree", published, 1));
  EXPECT_TRUE(claims("gtopk-tree", published, 2));
  EXPECT_FALSE(claims("gtopk-tree", published, 3));
  EXPECT_FALSE(claims("gtopk-tree", published, 4));
  EXPECT_TRUE(claims("gtopk-exact", published, 32));
  EXPECT_TRUE(claims("gtopk-mask", published, 32));
  EXPECT_TRUE(claims("gtopk-doubling", published, 32)) << "what was cut stays with its sender";
}

TEST(Conservation, IsSeenToFailForPublishedWithTheTreeOfThreeWorkersAlready) {
  // Worker 2 is folded into worker 0 first; its 1 at index 0 is cut there, worker 1's 9 survives.
  const test::Rows<double> rows{{0, 5}, {9, 0}, {1, 0}};
  const Triple triple{{{{"kind", "top-k"}, {"k", 1}},
                       {{"kind", "gtopk-tree"}},
                       {{"kind", "ef14"}, {"putback", "published"}}}};

  EXPECT_EQ(test::step_on(rows, triple.parts).lost(rows), (std::vector<double>{1, 0}));
}

TEST(Conservation, IsNotClaimedByDiscardWithAnyGTopKNorByNoFeedback) {
  for (const char* aggregator : {"gtopk-exact", "gtopk-tree", "gtopk-mask", "gtopk-doubling"}) {
    EXPECT_FALSE(claims(aggregator, {{"kind", "ef14"}, {"putback", "discard"}}, 2)) << aggregator;
  }
  EXPECT_FALSE(claims("allgather", {{"kind", "none"}}, 2));
}

}  // namespace
}  // namespace residuum
