#pragma once
// The tests of core share this: components from JSON, one exchange of given accumulators.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/cluster.h"
#include "core/feedback/feedback.h"
#include "core/quantisers/quantiser.h"
#include "core/random/random.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum::test {

using Json = nlohmann::json;

/// The message of the Error that `action` throws; empty if it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

template <class Interface>
std::unique_ptr<Interface> build(std::unique_ptr<Interface> (*make)(const Section&),
                                 const std::string& section_name,
                                 const Json& values) {
  const Section section(section_name, values);
  auto component = make(section);
  section.finish();
  return component;
}

inline std::unique_ptr<Sparsifier> sparsifier(const Json& values) {
  return build(&make_sparsifier, "sparsifier", values);
}
inline std::unique_ptr<Quantiser> quantiser(const Json& values) {
  return build(&make_quantiser, "quantiser", values);
}
inline std::unique_ptr<Aggregator> aggregator(const Json& values) {
  return build(&make_aggregator, "aggregator", values);
}
inline std::unique_ptr<Feedback> feedback(const Json& values) {
  return build(&make_feedback, "feedback", values);
}

/// The aggregators that take any messages: all that do not compress whole accumulators themselves.
inline std::vector<Entry<Aggregator>> aggregators_of_messages() {
  std::vector<Entry<Aggregator>> entries;
  std::copy_if(aggregators().begin(),
               aggregators().end(),
               std::back_inserter(entries),
               [](const auto& entry) {
                 const Section section = example_section("aggregator", entry);
                 return !entry.make(section)->law().approximates_sum;
               });
  return entries;
}

inline std::vector<std::string> aggregator_names() {
  std::vector<std::string> names;
  for (const auto& entry : aggregators_of_messages()) {
    names.emplace_back(entry.name);
  }
  return names;
}

/// All but the dense one: those whose messages are lists.
inline std::vector<std::string> list_aggregator_names() {
  auto names = aggregator_names();
  std::erase(names, "dense");
  return names;
}

/// A pass over one whole vector of d numbers; looks for nothing unless told to.
struct WholePass {
  explicit WholePass(std::size_t d, double bound = 0) : segment{.begin = 0, .size = d} {
    candidates.bound = bound;
  }
  operator Pass() { return {{&segment, 1}, {&candidates, 1}}; }  // NOLINT: that is what it is for

  Segment segment;
  Candidates candidates;
};

/// One vector per worker.
template <class Real>
using Rows = std::vector<std::vector<Real>>;

template <class Real>
std::vector<Real> dense(const SparseVector<Real>& sparse, std::size_t dimension) {
  std::vector<Real> result(dimension);
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    result[sparse.indices[i]] = sparse.values[i];
  }
  return result;
}

template <class Real>
SparseVector<Real> sparse(const std::vector<Real>& values) {
  SparseVector<Real> result;
  to_sparse<Real>(values, result);
  return result;
}

/// `count` normal numbers, the same for the same seed.
template <class Real = double>
std::vector<Real> normal_vector(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test, 0, 0);
  std::vector<Real> v(count);
  for (Real& v_j : v) {
    v_j = static_cast<Real>(random.normal());
  }
  return v;
}

/// The messages that `rule` makes of the workers' accumulators, in iteration 0 of seed 1.
template <class Real>
std::vector<Message<Real>> messages_of(const Sparsifier& rule, const Rows<Real>& accumulators) {
  std::vector<Message<Real>> messages(accumulators.size());
  SelectWorkspace workspace;
  for (std::size_t p = 0; p < accumulators.size(); ++p) {
    const SelectionContext context{
        .seed = 1, .worker = static_cast<int>(p), .iteration = 0, .step_size = 1};
    rule.select(std::span<const Real>(accumulators[p]), context, workspace, messages[p]);
  }
  return messages;
}

/// Returns what workers with these messages and accumulators bring to an exchange.
template <class Real>
std::vector<Contribution<Real>> contributions_of(const std::vector<Message<Real>>& messages,
                                                 const Rows<Real>& accumulators) {
  std::vector<Contribution<Real>> brought;
  for (std::size_t p = 0; p < messages.size(); ++p) {
    brought.push_back({.message = &messages[p], .accumulator = accumulators[p]});
  }
  return brought;
}

/// Returns the exchanged of an exchange of the messages, with one process for all workers.
template <class Real>
ExchangeResult<Real> aggregate(const Aggregator& rule,
                               const std::vector<Message<Real>>& messages,
                               const Rows<Real>& accumulators,
                               std::size_t k) {
  const auto world = make_single_process();
  const Cluster cluster(*world, static_cast<int>(accumulators.size()));
  const auto brought = contributions_of(messages, accumulators);
  ExchangeResult<Real> result;
  rule.exchange<Real>()->combine(
      cluster,
      Contributions<Real>{.dimension = accumulators.front().size(), .k = k, .of_workers = brought},
      result);
  return result;
}

/// One whole step of selection, exchange and put-back.
template <class Real>
struct Step {
  std::vector<Message<Real>> messages;
  ExchangeResult<Real> exchanged;
  std::vector<ResidualUpdate<Real>> residual_updates;
  Rows<Real> residuals;
  std::vector<Real> update;  // g, dense

  /// sum_p a^p - sum_p e^p - g, entry by entry, added in double in worker order.
  std::vector<double> lost(const Rows<Real>& accumulators) const {
    std::vector<double> lost(update.size());
    for (std::size_t j = 0; j < update.size(); ++j) {
      for (std::size_t p = 0; p < residuals.size(); ++p) {
        lost[j] += static_cast<double>(accumulators[p][j]) - static_cast<double>(residuals[p][j]);
      }
      lost[j] -= static_cast<double>(update[j]);
    }
    return lost;
  }
};

struct StepParts {
  Json sparsifier;
  Json aggregator;
  Json feedback = {{"kind", "ef14"}};
};

template <class Real>
Step<Real> step_on(const Rows<Real>& accumulators, const StepParts& parts) {
  const auto selection = sparsifier(parts.sparsifier);
  const auto exchange = aggregator(parts.aggregator);
  const auto memory = feedback(parts.feedback);
  const std::size_t d = accumulators.front().size();
  Step<Real> step;
  step.messages = messages_of(*selection, accumulators);
  step.exchanged = aggregate(*exchange, step.messages, accumulators, selection->k(d).value_or(d));
  step.residuals = accumulators;
  for (auto& row : step.residuals) {
    row.resize(d * memory->vectors());
  }
  step.residual_updates.resize(accumulators.size());
  for (std::size_t p = 0; p < accumulators.size(); ++p) {
    memory->update_residual(std::span<Real>(step.residuals[p]),
                            step.exchanged.outcome(step.messages[p], p),
                            step.residual_updates[p]);
    step.residuals[p].resize(d);
  }
  step.update = step.exchanged.is_dense ? step.exchanged.dense_sum : dense(step.exchanged.sum, d);
  return step;
}

}  // namespace residuum::test
