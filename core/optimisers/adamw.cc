// AdamW (Loshchilov, Hutter, ICLR 2019), as PyTorch has it; adamw.h has its direction.

#include "core/optimisers/adamw.h"

#include "core/optimisers/optimiser.h"

namespace residuum {
namespace {

class AdamW final : public OptimiserFor<AdamW> {
 public:
  explicit AdamW(const AdamWNumbers& numbers) : numbers_(numbers) {}

  std::size_t vectors() const override { return 2; }

  template <class Real>
  void make_direction(const OptimiserStep<Real>& step) const {
    const std::size_t d = step.gradient.size();
    take_adamw_direction<Real>(numbers_,
                               step.before,
                               step.model,
                               step.gradient,
                               step.memory.first(d),
                               step.memory.subspan(d, d));
  }

 private:
  AdamWNumbers numbers_;
};

}  // namespace

AdamWNumbers adamw_numbers_from(const Section& section, const AdamWNumbers& fallback) {
  AdamWNumbers numbers{.beta1 = optimiser_factor_from(section, "beta1", fallback.beta1),
                       .beta2 = optimiser_factor_from(section, "beta2", fallback.beta2),
                       .epsilon = section.number("epsilon", fallback.epsilon),
                       .decay = optimiser_decay_from(section, fallback.decay)};
  constexpr double kLeast = 1e-30;  // it is not zero in float32
  require(numbers.epsilon >= kLeast && std::isfinite(numbers.epsilon),
          "{} must be at least {}, got {}",
          section.where("epsilon"),
          kLeast,
          numbers.epsilon);
  return numbers;
}

std::unique_ptr<Optimiser> make_adamw(const Section& section) {
  return std::make_unique<AdamW>(adamw_numbers_from(section, {}));
}

}  // namespace residuum
