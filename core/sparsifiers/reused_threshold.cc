// Every `period`-th message of a worker is Top_k of its accumulator; the magnitude of the smallest
// entry sent is the threshold of the messages in between, which have every entry that reaches it:
// about k where accumulators change slowly (Ok-Topk: Li and Hoefler, PPoPP 2022). The threshold is
// part of the worker's state.

#include <cmath>
#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

class ReusedThreshold final : public SparsifierFor<ReusedThreshold> {
 public:
  ReusedThreshold(Amount amount, std::uint64_t period)
      : amount_(std::move(amount)), period_(period) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    message.everything = false;
    double& threshold = workspace.found().reused_threshold;
    const std::size_t k = amount_.resolve(accumulator.size());
    if (threshold != kNoThreshold && context.messages_before() % period_ != 0) {
      select_above(accumulator, static_cast<Real>(threshold), workspace, message.entries);
      return;
    }
    select_top_k(accumulator, k, workspace, message.entries);
    threshold =
        k < accumulator.size() ? smallest_magnitude<Real>(message.entries.values) : kNoThreshold;
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    amount_.resolve(dimension);  // a k above d is an error here too
    return std::nullopt;
  }

  /// The law claims no contraction: accumulators may have shrunk below the threshold. It is not
  /// deterministic in the sense of the law, as the messages before decide, too.
  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override {
    return {.contraction = std::nullopt,
            .pathwise = true,
            .threshold = std::nullopt,
            .deterministic = false,
            .keeps_values = true,
            .reuses_threshold = true};
  }

 private:
  static constexpr double kNoThreshold = 0;

  template <class Real>
  static double smallest_magnitude(std::span<const Real> values) {
    double smallest = kNoThreshold;
    for (const Real value : values) {
      const auto magnitude = static_cast<double>(std::abs(value));
      smallest = smallest == kNoThreshold ? magnitude : std::min(smallest, magnitude);
    }
    return smallest;
  }

  Amount amount_;
  std::uint64_t period_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_reused_threshold(const Section& section) {
  constexpr std::int64_t kPeriod = 32;  // as the paper trains VGG-16
  const std::int64_t period = section.integer("period", kPeriod);
  require(period >= 1, "{} must be at least 1, got {}", section.where("period"), period);
  return std::make_unique<ReusedThreshold>(Amount::from(section),
                                           static_cast<std::uint64_t>(period));
}

}  // namespace residuum
