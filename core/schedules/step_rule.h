#pragma once
// Step sizes eta_t. One class per rule, all in step_rule.cc.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/config/registry.h"
#include "core/objective.h"

namespace residuum {

class StepRule {
 public:
  StepRule() = default;
  StepRule(const StepRule&) = delete;
  StepRule& operator=(const StepRule&) = delete;
  StepRule(StepRule&&) = delete;
  StepRule& operator=(StepRule&&) = delete;
  virtual ~StepRule() = default;

  /// eta_t > 0 at iteration t, `epoch` passes over the data into the run.
  virtual double at(std::uint64_t iteration, double epoch) const = 0;

  /// The step size, where it is the same in every iteration.
  virtual std::optional<double> constant() const { return std::nullopt; }

  /// The weight of w_t in the average of the iterates that the rule's theorem is about.
  virtual double weight(std::uint64_t /*iteration*/) const { return 1; }
};

/// What a step size may refer to.
struct StepContext {
  std::function<Facts()> facts;  // asked only if the rule refers to L or mu
  double dimension = 1;          // d
  double k = 1;                  // kept entries, d if nothing is dropped
  double iterations = 1;         // T
  double workers = 1;            // P
  bool has_epochs = true;        // there is a data set to pass over
};

/// Reads `rule`, `value`, the rule's own keys and a warm-up; the caller finishes the section.
std::unique_ptr<StepRule> make_step_rule(const Section& section, const StepContext& context);

}  // namespace residuum
