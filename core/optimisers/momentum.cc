// SGD with momentum, as PyTorch has it:
//   g <- g + lambda w;  v <- m v + g;  u = v, or g + m v by Nesterov.

#include "core/optimisers/optimiser.h"

namespace residuum {
namespace {

class Momentum final : public OptimiserFor<Momentum> {
 public:
  Momentum(double momentum, double decay, bool looks_ahead)
      : momentum_(momentum), decay_(decay), looks_ahead_(looks_ahead) {}

  std::size_t vectors() const override { return 1; }
  double gain() const override { return 1 / (1 - momentum_); }

  template <class Real>
  void make_direction(const OptimiserStep<Real>& step) const {
    const auto momentum = static_cast<Real>(momentum_);
    const auto decay = static_cast<Real>(decay_);
    for (std::size_t i = 0; i < step.gradient.size(); ++i) {
      const Real gradient = step.gradient[i] + decay * step.model[i];
      Real& velocity = step.memory[i];
      velocity = momentum * velocity + gradient;
      step.gradient[i] = looks_ahead_ ? gradient + momentum * velocity : velocity;
    }
  }

 private:
  double momentum_;
  double decay_;
  bool looks_ahead_;
};

}  // namespace

std::unique_ptr<Optimiser> make_local_momentum(const Section& section) {
  const double momentum = optimiser_factor_from(section, "momentum", 0.9);
  const double decay = optimiser_decay_from(section, 0);
  return std::make_unique<Momentum>(momentum, decay, section.flag("nesterov", false));
}

}  // namespace residuum
