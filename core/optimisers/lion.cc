// Lion (Chen et al., "Symbolic discovery of optimization algorithms", NeurIPS 2023, algorithm 2):
//   u = sign(b1 m + (1 - b1) g) + lambda w;  m <- b2 m + (1 - b2) g.
// The sign of a zero is 0. With the quantiser "sign" of scale "one" in bsp and an outer step by
// signs, this is Distributed Lion with a majority vote (Liu et al., arXiv 2404.00438).

#include "core/optimisers/optimiser.h"

namespace residuum {
namespace {

struct LionNumbers {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double decay = 0;
};

class Lion final : public OptimiserFor<Lion> {
 public:
  explicit Lion(const LionNumbers& numbers) : numbers_(numbers) {}

  std::size_t vectors() const override { return 1; }

  template <class Real>
  void make_direction(const OptimiserStep<Real>& step) const {
    const auto beta1 = static_cast<Real>(numbers_.beta1);
    const auto beta2 = static_cast<Real>(numbers_.beta2);
    const auto of_direction = static_cast<Real>(1 - numbers_.beta1);
    const auto of_mean = static_cast<Real>(1 - numbers_.beta2);
    const auto decay = static_cast<Real>(numbers_.decay);
    for (std::size_t i = 0; i < step.gradient.size(); ++i) {
      const Real gradient = step.gradient[i];
      Real& mean = step.memory[i];
      const Real mixed = beta1 * mean + of_direction * gradient;
      // NaN stays NaN, so that divergence is noticed.
      const Real sign = mixed > 0 ? Real{1} : mixed < 0 ? Real{-1} : mixed;
      mean = beta2 * mean + of_mean * gradient;
      step.gradient[i] = sign + decay * step.model[i];
    }
  }

 private:
  LionNumbers numbers_;
};

}  // namespace

std::unique_ptr<Optimiser> make_lion(const Section& section) {
  return std::make_unique<Lion>(LionNumbers{.beta1 = optimiser_factor_from(section, "beta1", 0.9),
                                            .beta2 = optimiser_factor_from(section, "beta2", 0.99),
                                            .decay = optimiser_decay_from(section, 0)});
}

}  // namespace residuum
