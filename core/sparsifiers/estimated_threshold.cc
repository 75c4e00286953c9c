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

class EstimatedThreshold final : public SparsifierFor<EstimatedThreshold> {
 public:
  EstimatedThreshold(Amount amount, MagnitudeFamily family, std::int64_t stages)
      : amount_(std::move(amount)), family_(family), stages_(stages) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& /*context*/,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    message.everything = false;
    const auto wanted = static_cast<double>(amount_.resolve(accumulator.size()));
    double threshold = estimate(accumulator, wanted);
    if (family_ == MagnitudeFamily::normal) {
      threshold = corrected(accumulator, wanted, threshold, workspace);
    }
    select_above(accumulator, static_cast<Real>(threshold), workspace, message.entries);
  }

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
  /// Returns the threshold, 0 where no law can be fitted: entries that are all alike are all sent.
  template <class Real>
  double estimate(std::span<const Real> accumulator, double wanted) const {
    constexpr double kStageShare = 0.25;
    const auto first = fit_magnitudes(family_, accumulator);
    if (!first) {
      return 0;
    }
    const double share = wanted / static_cast<double>(first->entries);
    double threshold = first->law.threshold(stages_ > 1 ? std::max(share, kStageShare) : share);
    for (std::int64_t stage = 2; stage <= stages_; ++stage) {
      const auto fitted = fit_excesses(tail_family(), accumulator, threshold);
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

  template <class Real>
  static double corrected(std::span<const Real> accumulator,
                          double wanted,
                          double threshold,
                          SelectWorkspace& workspace) {
    constexpr int kCorrections = 3;
    for (int i = 0; i < kCorrections; ++i) {
      const auto count =
          static_cast<double>(count_above(accumulator, static_cast<Real>(threshold), workspace));
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
