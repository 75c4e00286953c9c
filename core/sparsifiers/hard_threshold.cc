// HT_lambda(a): keep a_j iff |a_j| >= lambda (Sahu et al., NeurIPS 2021). What is dropped is below
// lambda entry by entry, so |a - HT(a)|_inf < lambda whatever a is: an absolute compressor.
//
// rule = "fixed": lambda is `threshold`, on the accumulator as it is.
// rule = "eta-scaled": lambda is eta_t * threshold, the threshold being in gradient units.
// With `k` or `density` instead of `threshold`, the threshold is 1/(2 sqrt(k)), the rule of the
// authors' code, in gradient units; it presumes accumulators of norm about one.

#include <cmath>
#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

class HardThreshold final : public SparsifierFor<HardThreshold> {
 public:
  HardThreshold(std::optional<double> threshold, std::optional<Amount> intended, bool eta_scaled)
      : threshold_(threshold), intended_(std::move(intended)), eta_scaled_(eta_scaled) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& /*workspace*/,
              Message<Real>& message) const {
    message.everything = false;
    const double threshold = lambda(accumulator.size(), context.step_size);
    select_above(accumulator, static_cast<Real>(threshold), message.entries);
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    if (intended_) {
      intended_->resolve(dimension);  // a k above d is an error here too
    }
    return std::nullopt;
  }

  SparsifierLaw law(std::size_t dimension, double step_size) const override {
    return {
        .contraction = std::nullopt, .pathwise = true, .threshold = lambda(dimension, step_size)};
  }

 private:
  double lambda(std::size_t dimension, double step_size) const {
    const double in_own_units =
        threshold_ ? *threshold_
                   : 1 / (2 * std::sqrt(static_cast<double>(intended_->resolve(dimension))));
    return eta_scaled_ ? step_size * in_own_units : in_own_units;
  }

  std::optional<double> threshold_;
  std::optional<Amount> intended_;
  bool eta_scaled_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_hard_threshold(const Section& section) {
  const bool from_k = section.has("k") || section.has("density");
  require(from_k != section.has("threshold"),
          "section [{}] of kind 'hard-threshold' needs either 'threshold', or 'k' or 'density' "
          "for the rule 1/(2 sqrt(k))",
          section.name());
  const auto rule =
      section.choice("rule", {"fixed", "eta-scaled"}, from_k ? "eta-scaled" : "fixed");
  if (from_k) {
    return std::make_unique<HardThreshold>(
        std::nullopt, Amount::from(section), rule == "eta-scaled");
  }
  const double threshold = section.number("threshold");
  require(threshold >= 0, "{} must not be negative, got {}", section.where("threshold"), threshold);
  return std::make_unique<HardThreshold>(threshold, std::nullopt, rule == "eta-scaled");
}

}  // namespace residuum
