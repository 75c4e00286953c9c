#pragma once
// The direction of AdamW (Loshchilov, Hutter, ICLR 2019), which other optimisers take for some of
// the numbers. After the gradient number t, from 1:
//   m <- b1 m + (1 - b1) g;  s <- b2 s + (1 - b2) g^2;
//   u = m/(1 - b1^t) / (sqrt(s/(1 - b2^t)) + epsilon) + lambda w.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/config/section.h"
#include "core/elementary.h"

namespace residuum {

struct AdamWNumbers {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0.01;
};

/// Reads `beta1`, `beta2`, `epsilon` and `weight_decay`, whose defaults are `fallback`.
AdamWNumbers adamw_numbers_from(const Section& section, const AdamWNumbers& fallback);

/// gradient := u. All spans have as many numbers; `before` counts the gradients before this one.
template <class Real>
void take_adamw_direction(const AdamWNumbers& numbers,
                          std::uint64_t before,
                          std::span<const Real> model,
                          std::span<Real> gradient,
                          std::span<Real> means,
                          std::span<Real> squares) {
  const auto step = static_cast<double>(before) + 1;
  const auto beta1 = static_cast<Real>(numbers.beta1);
  const auto beta2 = static_cast<Real>(numbers.beta2);
  // These are differences of doubles: a float next to one would leave nothing.
  const auto of_gradient = static_cast<Real>(1 - numbers.beta1);
  const auto of_square = static_cast<Real>(1 - numbers.beta2);
  const auto epsilon = static_cast<Real>(numbers.epsilon);
  const auto decay = static_cast<Real>(numbers.decay);
  const auto of_mean = static_cast<Real>(1 / (1 - elementary::power(numbers.beta1, step)));
  const auto of_root = static_cast<Real>(1 / std::sqrt(1 - elementary::power(numbers.beta2, step)));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const Real now = gradient[i];
    means[i] = beta1 * means[i] + of_gradient * now;
    squares[i] = beta2 * squares[i] + of_square * now * now;
    const Real root = std::sqrt(squares[i]) * of_root + epsilon;
    gradient[i] = means[i] * of_mean / root + decay * model[i];
  }
}

}  // namespace residuum
