#pragma once
// Rows made by hand, and the evidence they make.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/theorems/evidence.h"
#include "assumptions/theorems/theorem.h"

namespace residuum::test {

using Values = std::vector<std::pair<Column, double>>;

/// The state of the precondition whose statement begins so.
inline PreconditionState state_of(const Bound& bound, std::string_view statement) {
  for (const auto& one : bound.preconditions) {
    if (one.statement.starts_with(statement)) {
      return one.state;
    }
  }
  ADD_FAILURE() << "no precondition " << statement;
  return PreconditionState::not_met;
}

/// The value of the constant with this symbol; not a number where it has none.
inline double value_of(const Bound& bound, std::string_view symbol) {
  for (const auto& one : bound.constants) {
    if (one.symbol == symbol) {
      return one.value.value_or(std::nan(""));
    }
  }
  ADD_FAILURE() << "no constant " << symbol;
  return std::nan("");
}

inline Row row_of(std::uint64_t t, const Values& values) {
  Row row(t);
  for (const auto& [column, value] : values) {
    row.set(column, value);
  }
  return row;
}

/// `iterations` rows that are all alike but for their running sums, at constant step size.
struct SteadyRun {
  std::uint64_t iterations = 101;
  double step = 0.1;
  double gradient = 1;  // |grad f(w_t)|^2
  Values further = {};  // set in every row

  SeedEvidence seed() const {
    SeedEvidence evidence(iterations);
    for (std::uint64_t t = 0; t < iterations; ++t) {
      Row row = row_of(t, further);
      row.set(Column::step_size, step);
      row.set(Column::grad_norm_sq, gradient);
      if (t == 0 && !row.get(Column::loss)) {
        row.set(Column::loss, 1);  // with f* = 0: Delta = 1
      }
      evidence.add(row);
    }
    return evidence;
  }

  /// The same twice: an interval of no width.
  Evidence evidence(const RunFacts& facts) const {
    Evidence both(facts);
    both.add(seed());
    both.add(seed());
    return both;
  }
};

/// L = 1, f* = 0, P = 1, d = 100; no sparsifier.
inline RunFacts plain_facts() {
  RunFacts facts;
  facts.dimension = 100;
  facts.objective.smoothness = Known{1, "exact"};
  facts.objective.minimum = Known{0, "exact: f*"};
  return facts;
}

/// The first term of that attribution.
inline const BoundTerm& term(const Bound& bound, Attribution attribution) {
  return *std::find_if(bound.terms.begin(), bound.terms.end(), [&](const BoundTerm& one) {
    return one.attribution == attribution;
  });
}

/// Top-k of all workers gathered, sigma^2 = 1.
inline RunFacts top_k_facts(double k) {
  RunFacts facts = plain_facts();
  facts.names.sparsifier = "top-k";
  facts.names.aggregator = "allgather";
  facts.sends_everything = false;
  facts.k = k;
  facts.sparsifier.contraction = k / facts.dimension;
  facts.sparsifier.keeps_largest = true;
  facts.objective.noise_variance = Known{1, "exact"};
  return facts;
}

inline Bound evaluate(std::string_view name, const Evidence& evidence) {
  return find_theorem(name)->evaluate(evidence);
}

}  // namespace residuum::test
