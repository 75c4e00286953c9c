#pragma once
// A step rule gives the step sizes eta_t. There is one class per rule, all in step_rule.cc.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/config/registry.h"
#include "core/messages/laws.h"
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

  /// Returns eta_t > 0 at iteration t, which begins after `epoch` passes over the data.
  virtual double at(std::uint64_t iteration, double epoch) const = 0;

  /// Returns the step size if it is the same in every iteration.
  virtual std::optional<double> constant() const { return std::nullopt; }

  /// Returns the rule's law; by default it promises nothing.
  virtual StepLaw law() const {
    return {.constant = constant().has_value(), .may_grow = !constant()};
  }

  /// Returns the weight of w_t in the average of the iterates that the rule's theorem is about.
  virtual double weight(std::uint64_t /*iteration*/) const { return 1; }
};

/// The tight theory of error feedback asks for an L and a mu that every worker's f_p has, and
/// the share of each accumulator that a message keeps. An unknown value is absent.
struct TightFacts {
  std::optional<double> smoothness;
  std::optional<double> strong_convexity;
  std::optional<double> contraction;  // alpha
};

/// A step size may refer to these numbers.
struct StepContext {
  std::function<Facts()> facts;            // asked only if the rule refers to L or mu
  double dimension = 1;                    // d
  double k = 1;                            // kept entries, d if nothing is dropped
  double iterations = 1;                   // T; 0 where it is open
  double workers = 1;                      // P
  bool has_epochs = true;                  // there is a data set, so epochs are defined
  std::function<double()> live = {};       // learning rate of a training outside, if there is one
  std::function<TightFacts()> tight = {};  // asked only if the step is "tight"
};

/// Reads `rule`, `value`, the rule's own keys and a warm-up; the caller finishes the section.
std::unique_ptr<StepRule> make_step_rule(const Section& section, const StepContext& context);

}  // namespace residuum
