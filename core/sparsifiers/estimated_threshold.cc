// These sparsifiers estimate a threshold instead of selecting exactly: a law is fitted to the
// entries of the accumulator, and the entries that reach its quantile for a share of k/d are sent,
// about k of them.
//
// gaussian-k (Shi, Chu, Cheung, See 2019) assumes normal entries; the threshold is then corrected
// up to three times, by 0.5 if fewer than 2k/3 entries reach it and by 1.5 if more than 4k/3 do.
// exponential-k, gamma-k, pareto-k (SIDCo: Abdelmoniem et al., MLSys 2021) assume laws of the
// magnitudes.
// stages = M refines them: each stage but the last keeps a quarter of what reached the threshold
// before it, and the next law is fitted to the excesses over that; from the second stage on gamma-k
// fits generalised Pareto excesses, as the paper has it.

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/magnitude_law.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

/// Gives the moments by which a threshold of an accumulator on the host is estimated.
template <class Real>
class NumbersHere {
 public:
  NumbersHere(std::span<const Real> accumulator, SelectWorkspace& workspace)
      : accumulator_(accumulator), workspace_(workspace) {}

  MagnitudeMoments moments(bool with_logarithms) const {
    return magnitude_moments(accumulator_, with_logarithms);
  }
  MagnitudeMoments excesses(double threshold, bool with_logarithms) const {
    return excess_moments(accumulator_, threshold, with_logarithms);
  }
  std::size_t count(double threshold) const {
    return count_above(accumulator_, static_cast<Real>(threshold), workspace_);
  }

 private:
  std::span<const Real> accumulator_;
  SelectWorkspace& workspace_;
};

/// The same of one on a device.
class NumbersThere {
 public:
  NumbersThere(DeviceVectors& memory, const Segment& of) : memory_(memory), of_(of) {}

  MagnitudeMoments moments(bool with_logarithms) const {
    return memory_.moments(of_, with_logarithms);
  }
  MagnitudeMoments excesses(double threshold, bool with_logarithms) const {
    return memory_.excess_moments(of_, threshold, with_logarithms);
  }
  std::size_t count(double threshold) const {
    return memory_.count(of_, static_cast<float>(threshold));
  }

 private:
  DeviceVectors& memory_;
  Segment of_;
};

class EstimatedThreshold final : public SparsifierFor<EstimatedThreshold>, public DeviceSparsifier {
 public:
  EstimatedThreshold(Amount amount, MagnitudeFamily family, std::int64_t stages)
      : amount_(std::move(amount)), family_(family), stages_(stages) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& /*context*/,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    message.everything = false;
    const double threshold =
        threshold_of(NumbersHere<Real>(accumulator, workspace), accumulator.size());
    select_above(accumulator, static_cast<Real>(threshold), workspace, message.entries);
  }

  const DeviceSparsifier* on_device() const override { return this; }
  void plan_there(DeviceVectors& memory,
                  const Segment& of,
                  const SelectionContext& /*context*/,
                  DevicePlan& plan) const override {
    const double threshold = threshold_of(NumbersThere(memory, of), of.size);
    plan.parts.push_back({.at = of, .most = of.size, .least = static_cast<float>(threshold)});
  }
  bool plans_by_numbers() const override { return true; }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    amount_.resolve(dimension);  // a k above d is an error here too
    return std::nullopt;
  }

  /// The law claims nothing: an estimate can be wrong by any factor on some accumulator.
  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override {
    return {.contraction = std::nullopt,
            .pathwise = true,
            .threshold = std::nullopt,
            .deterministic = true,
            .keeps_values = true};
  }

 private:
  template <class Numbers>
  double threshold_of(const Numbers& numbers, std::size_t d) const {
    const auto wanted = static_cast<double>(amount_.resolve(d));
    const double threshold = estimate(numbers, wanted);
    return family_ == MagnitudeFamily::normal ? corrected(numbers, wanted, threshold) : threshold;
  }

  /// Returns the threshold, 0 where no law can be fitted: entries that are all alike are all sent.
  template <class Numbers>
  double estimate(const Numbers& numbers, double wanted) const {
    constexpr double kStageShare = 0.25;
    const auto first = fit_moments(family_, numbers.moments(takes_logarithms(family_)));
    if (!first) {
      return 0;
    }
    const double share = wanted / static_cast<double>(first->entries);
    double threshold = first->law.threshold(stages_ > 1 ? std::max(share, kStageShare) : share);
    for (std::int64_t stage = 2; stage <= stages_; ++stage) {
      const auto fitted =
          fit_moments(tail_family(), numbers.excesses(threshold, takes_logarithms(tail_family())));
      if (!fitted || wanted >= static_cast<double>(fitted->entries)) {
        break;
      }
      const double left = wanted / static_cast<double>(fitted->entries);
      threshold += fitted->law.threshold(stage < stages_ ? std::max(left, kStageShare) : left);
    }
    return threshold;
  }

  MagnitudeFamily tail_family() const {
    return family_ == MagnitudeFamily::gamma ? MagnitudeFamily::generalised_pareto : family_;
  }

  static bool takes_logarithms(MagnitudeFamily family) { return family == MagnitudeFamily::gamma; }

  template <class Numbers>
  static double corrected(const Numbers& numbers, double wanted, double threshold) {
    constexpr int kCorrections = 3;
    for (int i = 0; i < kCorrections; ++i) {
      const auto count = static_cast<double>(numbers.count(threshold));
      if (count < 2 * wanted / 3) {
        threshold *= 0.5;
      } else if (count > 4 * wanted / 3) {
        threshold *= 1.5;
      } else {
        break;
      }
    }
    return threshold;
  }

  Amount amount_;
  MagnitudeFamily family_;
  std::int64_t stages_;
};

std::unique_ptr<Sparsifier> make_staged(const Section& section, MagnitudeFamily family) {
  constexpr std::int64_t kMostStages = 20;
  const auto stages = section.integer("stages", 1);
  require(stages >= 1 && stages <= kMostStages,
          "{} must lie in 1..{}, got {}",
          section.where("stages"),
          kMostStages,
          stages);
  return std::make_unique<EstimatedThreshold>(Amount::from(section), family, stages);
}

}  // namespace

std::unique_ptr<Sparsifier> make_gaussian_k(const Section& section) {
  return std::make_unique<EstimatedThreshold>(Amount::from(section), MagnitudeFamily::normal, 1);
}
std::unique_ptr<Sparsifier> make_exponential_k(const Section& section) {
  return make_staged(section, MagnitudeFamily::exponential);
}
std::unique_ptr<Sparsifier> make_gamma_k(const Section& section) {
  return make_staged(section, MagnitudeFamily::gamma);
}
std::unique_ptr<Sparsifier> make_pareto_k(const Section& section) {
  return make_staged(section, MagnitudeFamily::generalised_pareto);
}

}  // namespace residuum
