// Every aggregator of the registry against the oracle, for P in {1..9, 32, 100}. If numbers are
// whole (all forms but the normal one), sums are exact, so equality is of bits.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "tests/core/aggregators/sum_oracle.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

enum class Form { normal, few_values, mostly_zero, all_equal, all_zero, one_hot, cancelling };
constexpr std::array kForms{Form::normal,
                            Form::few_values,
                            Form::mostly_zero,
                            Form::all_equal,
                            Form::all_zero,
                            Form::one_hot,
                            Form::cancelling};

double entry(Form form, std::size_t worker, std::size_t j, std::size_t d, RandomStream& random) {
  const double whole = static_cast<int>(random.below(5)) - 2;
  switch (form) {
    case Form::normal:
      return random.normal();
    case Form::few_values:
      return whole;
    case Form::mostly_zero:
      return random.below(4) == 0 ? whole : 0;
    case Form::all_equal:
      return -3;
    case Form::all_zero:
      return 0;
    case Form::one_hot:
      return j == worker % d ? 1 + static_cast<double>(worker % 3) : 0;
    case Form::cancelling:
      return worker % 2 == 0 ? static_cast<double>(j) + 1 : -static_cast<double>(j) - 1;
  }
  return 0;
}

template <class Real>
test::Rows<Real> accumulators_of(Form form, std::size_t workers, std::size_t d) {
  test::Rows<Real> rows(workers, std::vector<Real>(d));
  for (std::size_t p = 0; p < workers; ++p) {
    RandomStream random(
        23, Purpose::test, static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(form));
    for (std::size_t j = 0; j < d; ++j) {
      rows[p][j] = static_cast<Real>(entry(form, p, j, d, random));
    }
  }
  return rows;
}

struct Case {
  std::string name;
  Form form = Form::normal;
  std::size_t workers = 1;
  std::size_t d = 1;
  std::size_t k = 1;
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << c.name << ", form " << static_cast<int>(c.form) << ", P = " << c.workers
                << ", d = " << c.d << ", k = " << c.k;
}

/// Every aggregator, form, P, and k from 1 to d.
template <class Check>
void for_every_case(std::size_t d, Check check) {
  for (const auto& entry : test::aggregators_of_messages()) {
    for (const Form form : kForms) {
      for (const std::size_t workers : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 32U, 100U}) {
        for (std::size_t k = 1; k <= d; ++k) {
          const Case c{std::string(entry.name), form, workers, d, k};
          SCOPED_TRACE(testing::PrintToString(c));
          check(c);
          if (testing::Test::HasFailure()) {
            return;
          }
        }
      }
    }
  }
}

template <class Real>
ExchangeResult<Real> aggregated_by_top_k(const Case& c, const test::Rows<Real>& rows) {
  const auto messages = test::messages_of(*test::sparsifier({{"kind", "top-k"}, {"k", c.k}}), rows);
  return test::aggregate(*test::aggregator({{"kind", c.name}}), messages, rows, c.k);
}

template <class Real>
std::vector<test::Entries> widened(const test::Rows<Real>& rows) {
  std::vector<test::Entries> result;
  for (const auto& row : rows) {
    result.push_back(test::entries(std::vector<double>(row.begin(), row.end())));
  }
  return result;
}

template <class Real>
void expect_oracle(const Case& c) {
  const auto rows = accumulators_of<Real>(c.form, c.workers, c.d);
  const auto exchanged = aggregated_by_top_k(c, rows);
  const auto whole = widened(rows);
  std::vector<test::Entries> messages;
  for (const auto& row : whole) {
    messages.push_back(test::top(row, c.k));
  }
  const auto expected = test::aggregated(c.name, messages, whole, c.k);

  const auto update = exchanged.is_dense ? test::sparse(exchanged.dense_sum) : exchanged.sum;
  ASSERT_TRUE(is_well_formed(exchanged.sum, c.d));
  ASSERT_EQ(update.size(), expected.size());
  const double tolerance = c.form == Form::normal ? 1e-14 * static_cast<double>(c.workers) : 0;
  for (std::size_t i = 0; i < update.size(); ++i) {
    ASSERT_TRUE(expected.contains(update.indices[i]));
    ASSERT_NEAR(update.values[i], expected.at(update.indices[i]), tolerance);
  }
}

TEST(Aggregators, GiveTheOraclesUpdateInDouble) {
  for_every_case(6, [](const Case& c) { expect_oracle<double>(c); });
}

TEST(Aggregators, GiveTheOraclesUpdateInFloatWhereSumsAreExact) {
  for_every_case(6, [](const Case& c) {
    if (c.form != Form::normal) {
      expect_oracle<float>(c);
    }
  });
}

TEST(Aggregators, GiveTheOraclesUpdateInOneDimension) {
  for_every_case(1, [](const Case& c) { expect_oracle<double>(c); });
}

/// The sum of lists of whole numbers.
test::Entries total(const std::vector<SparseVector<double>>& lists) {
  std::vector<test::Entries> all;
  for (const auto& list : lists) {
    all.push_back(test::entries(list));
  }
  return test::sum(all);
}

TEST(Aggregators, SayExactlyWhatTheyDeliveredAndCut) {
  for_every_case(6, [](const Case& c) {
    if (c.form == Form::normal) {
      return;
    }
    const auto rows = accumulators_of<double>(c.form, c.workers, c.d);
    const auto exchanged = aggregated_by_top_k(c, rows);
    if (exchanged.applied_whole) {
      return;
    }
    ASSERT_EQ(exchanged.applied.size(), c.workers);
    ASSERT_EQ(exchanged.dropped_in_merges.size(), c.workers);
    for (std::size_t p = 0; p < c.workers; ++p) {
      ASSERT_TRUE(is_well_formed(exchanged.applied[p], c.d));
      ASSERT_TRUE(is_well_formed(exchanged.dropped_in_merges[p], c.d));
      for (std::size_t i = 0; i < exchanged.applied[p].size(); ++i) {
        ASSERT_EQ(exchanged.applied[p].values[i], rows[p][exchanged.applied[p].indices[i]]);
      }
    }
    // sum applied = sum applied + sum cut
    const auto applied_and_cut =
        test::sum(test::entries(exchanged.sum), total(exchanged.dropped_in_merges));
    ASSERT_EQ(total(exchanged.applied), applied_and_cut);
  });
}

TEST(Aggregators, KeepTheirLawOnSparsityAndWholeMessages) {
  for_every_case(6, [](const Case& c) {
    const auto law = test::aggregator({{"kind", c.name}})->law();
    const auto rows = accumulators_of<double>(c.form, c.workers, c.d);
    const auto exchanged = aggregated_by_top_k(c, rows);
    ASSERT_EQ(exchanged.applied_whole, law.applies_whole_messages);
    if (law.is_sparse) {
      ASSERT_LE(exchanged.sum.size(), c.k);
    }
    if (!law.drops_in_merges || c.workers <= 2) {
      for (const auto& cuts : exchanged.dropped_in_merges) {
        ASSERT_TRUE(law.applies_whole_messages || cuts.empty());
      }
    }
  });
}

TEST(Aggregators, KeepTheirLawOnCompleteSupportsAndOnSumsOfFewEntries) {
  for_every_case(6, [](const Case& c) {
    const auto law = test::aggregator({{"kind", c.name}})->law();
    const auto rows = accumulators_of<double>(c.form, c.workers, c.d);
    const auto exchanged = aggregated_by_top_k(c, rows);
    const auto sum_of_all = [&](std::uint32_t index) {
      double sum = 0;
      for (const auto& row : rows) {
        sum += row[index];
      }
      return sum;
    };
    for (std::size_t i = 0; law.completes_support && i < exchanged.sum.size(); ++i) {
      ASSERT_NEAR(exchanged.sum.values[i], sum_of_all(exchanged.sum.indices[i]), 1e-12);
    }
    if (!law.selects_largest) {
      return;
    }
    // All messages on the same k indices: nothing is cut.
    const auto few = test::sparsifier({{"kind", "rand-k"}, {"k", c.k}});
    const auto messages = test::messages_of(*few, rows);
    const auto whole = test::aggregate(*test::aggregator({{"kind", c.name}}), messages, rows, c.k);
    const auto plain =
        test::aggregate(*test::aggregator({{"kind", "allgather"}}), messages, rows, c.k);
    ASSERT_EQ(whole.sum.indices, plain.sum.indices);
    for (std::size_t i = 0; i < whole.sum.size(); ++i) {
      ASSERT_NEAR(whole.sum.values[i], plain.sum.values[i], 1e-12);
    }
  });
}

TEST(Aggregators, SayWhatPredictionsGoBy) {
  const auto flags = [](const char* kind) {
    const auto law = test::aggregator({{"kind", kind}})->law();
    return std::vector<bool>{law.applies_whole_messages,
                             law.drops_in_merges,
                             law.completes_support,
                             law.selects_largest};
  };
  EXPECT_EQ(flags("dense"), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(flags("allgather"), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(flags("sparse-reduce-scatter"), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(flags("ok-topk"), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(flags("gtopk-exact"), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(flags("gtopk-tree"), (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(flags("gtopk-mask"), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(flags("gtopk-doubling"), (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(flags("parameter-server"), (std::vector<bool>{true, false, false, false}));
}

/// The rule, without what it is to remember from one exchange to the next.
std::unique_ptr<Aggregator> rule_without_memory(const std::string& name) {
  test::Json values{{"kind", name}};
  if (name == "ok-topk") {
    values.update({{"period", 1}, {"region_period", 1}});
  }
  return test::aggregator(values);
}

TEST(Aggregators, ForgetWhatTheirExchangeHeldBefore) {
  for (const auto& entry : test::aggregators_of_messages()) {
    const auto rule = rule_without_memory(std::string(entry.name));
    const auto selection = test::sparsifier({{"kind", "top-k"}, {"k", 2}});
    const auto world = make_single_process();
    const auto exchange = rule->exchange<double>();
    ExchangeResult<double> reused;
    for (const std::size_t workers : {9U, 4U, 5U}) {
      const auto rows = accumulators_of<double>(Form::few_values, workers, 6);
      const auto messages = test::messages_of(*selection, rows);
      const Cluster cluster(*world, static_cast<int>(workers));
      const auto brought = test::contributions_of(messages, rows);
      exchange->combine(
          cluster, Contributions<double>{.dimension = 6, .k = 2, .of_workers = brought}, reused);
      const auto fresh = test::aggregate(*rule, messages, rows, 2);

      EXPECT_EQ(reused.dense_sum, fresh.dense_sum) << entry.name;
      EXPECT_EQ(reused.sum, fresh.sum) << entry.name;
      EXPECT_EQ(reused.applied, fresh.applied) << entry.name;
      EXPECT_EQ(reused.dropped_in_merges, fresh.dropped_in_merges) << entry.name;
      EXPECT_EQ(reused.traffic.bytes, fresh.traffic.bytes) << entry.name;
    }
  }
}

TEST(Aggregators, SumWholeAccumulatorsAsTheySumTheirEntries) {
  for (const auto& entry : aggregators()) {
    const auto rows = accumulators_of<double>(Form::mostly_zero, 5, 6);
    const auto messages = test::messages_of(*test::sparsifier({{"kind", "none"}}), rows);
    const auto aggregator = test::aggregator({{"kind", std::string(entry.name)}});
    if (aggregator->law().approximates_sum) {
      continue;  // tests of its own say how well
    }
    const auto exchanged = test::aggregate(*aggregator, messages, rows, 6);

    const auto update = exchanged.is_dense ? test::sparse(exchanged.dense_sum) : exchanged.sum;
    EXPECT_EQ(test::entries(update), test::sum(widened(rows))) << entry.name;
  }
}

}  // namespace
}  // namespace residuum
