// HT_lambda(a) keeps a_j iff |a_j| >= lambda (Sahu et al., NeurIPS 2021). Every dropped entry is
// below lambda, so |a - HT(a)|_inf < lambda whatever a is: an absolute compressor.
//
// With rule = "fixed" lambda is `threshold`, for the accumulator as it is.
// With rule = "eta-scaled" lambda is eta_t * threshold, the threshold being in gradient units.
// With `k` or `density` instead of `threshold`, the threshold is 1/(2 sqrt(k)), the rule of the
// authors' code, in gradient units; it presumes accumulators of norm about one.
// With threshold = "matched" or "pilot", and `k` or `density`, pilot runs find it
// (core/trainer/pilot.h).

#include <cassert>
#include <cmath>
#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

struct ThresholdRule {
  std::optional<double> threshold;   // absent: follows from `intended`, or a pilot finds it
  std::optional<Amount> intended;    // entries per worker and iteration
  std::optional<Pilot::Rule> pilot;  // how a pilot finds the threshold
  bool eta_scaled = false;
};

class HardThreshold final : public SparsifierFor<HardThreshold>, public DeviceSparsifier {
 public:
  explicit HardThreshold(ThresholdRule rule) : rule_(std::move(rule)) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    message.everything = false;
    const auto threshold = lambda(accumulator.size(), context.step_size);
    assert(threshold.has_value());  // training begins after the pilot
    select_above(accumulator, static_cast<Real>(*threshold), workspace, message.entries);
  }

  const DeviceSparsifier* on_device() const override { return this; }
  void plan_there(DeviceVectors& /*memory*/,
                  const Segment& of,
                  const SelectionContext& context,
                  DevicePlan& plan) const override {
    const auto threshold = lambda(of.size, context.step_size);
    assert(threshold.has_value());  // training begins after the pilot
    plan.parts.push_back({.at = of, .most = of.size, .least = static_cast<float>(*threshold)});
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    if (rule_.intended) {
      rule_.intended->resolve(dimension);  // a k above d is an error here too
    }
    return std::nullopt;
  }

  SparsifierLaw law(std::size_t dimension, double step_size) const override {
    return {.contraction = std::nullopt,
            .pathwise = true,
            .threshold = lambda(dimension, step_size),
            .deterministic = true,
            .keeps_values = true,
            .threshold_scales = rule_.eta_scaled};
  }

  std::optional<Pilot> pilot(std::size_t dimension) const override {
    if (!rule_.pilot || rule_.threshold) {
      return std::nullopt;
    }
    return Pilot{.rule = *rule_.pilot,
                 .k = rule_.intended->resolve(dimension),
                 .eta_scaled = rule_.eta_scaled};
  }

  std::unique_ptr<Sparsifier> with_threshold(double threshold) const override {
    ThresholdRule rule = rule_;
    rule.threshold = threshold;
    return std::make_unique<HardThreshold>(std::move(rule));
  }

 private:
  /// Returns lambda, absent as long as a pilot has not found it.
  std::optional<double> lambda(std::size_t dimension, double step_size) const {
    const double scale = rule_.eta_scaled ? step_size : 1.0;
    if (rule_.threshold) {
      return scale * *rule_.threshold;
    }
    if (rule_.pilot) {
      return std::nullopt;
    }
    return scale / (2 * std::sqrt(static_cast<double>(rule_.intended->resolve(dimension))));
  }

  ThresholdRule rule_;
};

/// Reads threshold = "matched" or "pilot".
ThresholdRule read_pilot(const Section& section) {
  const bool matched = section.choice("threshold", {"matched", "pilot"}) == "matched";
  const auto rule = section.choice("rule", {"fixed", "eta-scaled"}, "fixed");
  require(matched || rule == "fixed",
          "{}: an order statistic of accumulators is a fixed threshold; use rule \"fixed\" or "
          "threshold \"matched\"",
          section.where("rule"));
  return {.threshold = std::nullopt,
          .intended = Amount::from(section),
          .pilot = matched ? Pilot::Rule::matched_budget : Pilot::Rule::order_statistic,
          .eta_scaled = rule == "eta-scaled"};
}

}  // namespace

std::unique_ptr<Sparsifier> make_hard_threshold(const Section& section) {
  const bool from_k = section.has("k") || section.has("density");
  if (section.has("threshold") && section.any("threshold").is_string()) {
    return std::make_unique<HardThreshold>(read_pilot(section));
  }
  require(from_k != section.has("threshold"),
          "section [{}] of kind 'hard-threshold' needs either 'threshold', or 'k' or 'density' "
          "for the rule 1/(2 sqrt(k))",
          section.name());
  ThresholdRule rule;
  rule.eta_scaled =
      section.choice("rule", {"fixed", "eta-scaled"}, from_k ? "eta-scaled" : "fixed") ==
      "eta-scaled";
  if (from_k) {
    rule.intended = Amount::from(section);
    return std::make_unique<HardThreshold>(std::move(rule));
  }
  rule.threshold = section.number("threshold");
  require(*rule.threshold >= 0,
          "{} must not be negative, got {}",
          section.where("threshold"),
          *rule.threshold);
  return std::make_unique<HardThreshold>(std::move(rule));
}

}  // namespace residuum
