#pragma once
// A model shift is what workers know of a server's model x where it sends them compressed changes
// (EF21-P: Gruntkowska, Tyurin, Richtarik, ICML 2023, Algorithm 1). They take gradients at the
// shift W; in the paper's symbols, where w is the shift,
//   x_{t+1} = x_t - eta g_t,  g_t of gradients at W_t;
//   W_{t+1} = W_t + C(x_{t+1} - W_t),  W_0 = x_0,
// with C = Top_k. The server remembers W in place of a residual: x - W is the part that it has not
// sent yet. As Top_k keeps the share k/d of any vector,
//   |x_{t+1} - W_{t+1}|^2 <= (1 - k/d) |x_{t+1} - W_t|^2.
// Every process makes the same W from the same x.

#include <cstddef>
#include <span>
#include <vector>

#include "core/vectors/select.h"

namespace residuum {

/// The gap of a shift W of the model x before and after a server has
/// sent a change of x. By the law of its messages, `after_sq` <= `kept` `before_sq`.
struct ShiftGap {
  double before_sq = 0;  // |x_{t+1} - W_t|^2
  double after_sq = 0;   // |x_{t+1} - W_{t+1}|^2
  double kept = 1;       // 1 - k/d
};

template <class Real>
class ModelShift {
 public:
  /// The server sends `entries` entries; x is the model at the start.
  ModelShift(std::size_t entries, std::span<const double> x)
      : entries_(entries), rounded_(x.begin(), x.end()), difference_(x.size()) {}

  /// Returns x rounded to the numbers that travel, which the caller keeps up to date.
  std::vector<Real>& rounded() { return rounded_; }
  const std::vector<Real>& rounded() const { return rounded_; }

  /// W := W + Top_k(x - W) for the rounded x, which must be finite. W has as many numbers.
  void follow(std::span<Real> shift);

  /// Returns |x - W|^2 before and after the last message.
  const ShiftGap& gap() const { return gap_; }

 private:
  std::size_t entries_;  // k
  std::vector<Real> rounded_;
  std::vector<Real> difference_;
  SelectWorkspace workspace_;
  SparseVector<Real> sent_;
  ShiftGap gap_;
};

}  // namespace residuum
