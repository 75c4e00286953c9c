#pragma once
// Error feedback conserves mass: what came in and has not come out is the residual,
//   e_{t+1} = decay e_t + g_t - C(decay e_t + g_t).
// Inputs and outputs alone determine it, and a contraction bounds it,
//   |e_{t+1}| <= sqrt(1 - contraction) (decay |e_t| + |g_t|),
// so mass that is lost shows once zero vectors have driven the bound below it.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assumptions/testing/compressor_laws.h"

namespace residuum::laws {

struct WatchedStep {
  std::span<const float> input;
  std::span<const float> output;
  std::span<const float> told_residual;  // empty: it is not told
};

class ConservationWatch {
 public:
  /// Without a contraction above 0 only residuals that are told can be judged. A compressor that
  /// draws at random keeps the bound in the mean of squares, and exceeds it 1e9-fold with a
  /// probability below 1e-9 (Markov).
  ConservationWatch(std::optional<double> contraction, double decay, bool random, std::size_t d);

  /// Takes a step. Returns how the law is broken; empty: it is not.
  std::string step(const WatchedStep& taken);

  /// Returns how many zero vectors drive the bound below 1e-6 of the largest that it was, 0 if it
  /// is there, or never comes there. Before, a memory that loses little, or is none, is not seen.
  std::size_t steps_to_drain() const;

  bool has_bound() const { return factor_ < 1; }

 private:
  double factor_;  // sqrt(1 - contraction)
  double decay_;
  double slack_;  // a factor on the bound, for draws
  std::vector<double> outstanding_;
  double bound_ = 0;
  double largest_bound_ = 0;
  double rounding_ = 0;
};

}  // namespace residuum::laws
