// AdamW (Loshchilov, Hutter, ICLR 2019), as PyTorch has it. After the gradient number t, from 1:
//   m <- b1 m + (1 - b1) g;  s <- b2 s + (1 - b2) g^2;
//   u = m/(1 - b1^t) / (sqrt(s/(1 - b2^t)) + epsilon) + lambda w.

#include <cmath>

#include "core/optimisers/optimiser.h"

namespace residuum {
namespace {

struct AdamWNumbers {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0.01;
};

class AdamW final : public OptimiserFor<AdamW> {
 public:
  explicit AdamW(const AdamWNumbers& numbers) : numbers_(numbers) {}

  std::size_t vectors() const override { return 2; }

  template <class Real>
  void direct(const Turn<Real>& turn) const {
    const std::size_t d = turn.gradient.size();
    const auto means = turn.memory.first(d);
    const auto squares = turn.memory.subspan(d);
    const auto step = static_cast<double>(turn.before) + 1;
    const auto beta1 = static_cast<Real>(numbers_.beta1);
    const auto beta2 = static_cast<Real>(numbers_.beta2);
    // These are differences of doubles: a float next to one would leave nothing.
    const auto of_gradient = static_cast<Real>(1 - numbers_.beta1);
    const auto of_square = static_cast<Real>(1 - numbers_.beta2);
    const auto epsilon = static_cast<Real>(numbers_.epsilon);
    const auto decay = static_cast<Real>(numbers_.decay);
    const auto of_mean = static_cast<Real>(1 / (1 - std::pow(numbers_.beta1, step)));
    const auto of_root = static_cast<Real>(1 / std::sqrt(1 - std::pow(numbers_.beta2, step)));
    for (std::size_t i = 0; i < d; ++i) {
      const Real gradient = turn.gradient[i];
      means[i] = beta1 * means[i] + of_gradient * gradient;
      squares[i] = beta2 * squares[i] + of_square * gradient * gradient;
      const Real root = std::sqrt(squares[i]) * of_root + epsilon;
      turn.gradient[i] = means[i] * of_mean / root + decay * turn.model[i];
    }
  }

 private:
  AdamWNumbers numbers_;
};

}  // namespace

std::unique_ptr<Optimiser> make_adamw(const Section& section) {
  AdamWNumbers numbers{.beta1 = optimiser_factor_from(section, "beta1", 0.9),
                       .beta2 = optimiser_factor_from(section, "beta2", 0.999),
                       .epsilon = section.number("epsilon", 1e-8),
                       .decay = optimiser_decay_from(section, 0.01)};
  constexpr double kLeast = 1e-30;  // it is not zero in float32
  require(numbers.epsilon >= kLeast && std::isfinite(numbers.epsilon),
          "{} must be at least {}, got {}",
          section.where("epsilon"),
          kLeast,
          numbers.epsilon);
  return std::make_unique<AdamW>(numbers);
}

}  // namespace residuum
