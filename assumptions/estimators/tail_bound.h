#pragma once
// The "(1 - k/d)^2" claim (Shi, Chu, Cheung, See: Understanding Top-k Sparsification in Distributed
// Deep Learning, 2019) says that |x - Top_k x|^2 <= (1 - k/d)^2 |x|^2 if the sorted squares form a
// convex curve. That needs a vanishing smallest magnitude too: a constant vector loses 1 - k/d. For
// squares y_1 >= ... >= y_d that are convex (y_i - y_{i+1} does not increase) this holds:
//   sum_{i>k} y_i <= (1 - k/d) (1 - k/(d-1)) (sum y - d y_d) + (d - k) y_d.
// Proof: h_i = (y_i - y_d)/(d - i) does not increase by convexity, and its average over the tail
// with weights d - i is at most that over the whole range.

#include <cstddef>
#include <span>

namespace residuum {

/// The shape of one vector's tail at one k; energies are relative to |x|^2.
struct TailShape {
  double ratio = 0;         // |x - Top_k x|^2 / |x|^2
  double bound = 0;         // the inequality above; holds if convexity = 1
  double claim = 0;         // (1 - k/d)^2
  double random_ratio = 0;  // 1 - k/d: a random selection's ratio, the bound for any shape
  double convexity = 1;     // fraction of i with y_i - 2 y_{i+1} + y_{i+2} >= 0 to rounding
};

/// Requires 1 <= k; all zeros for k >= d, and ratio and bound 0 for a zero vector.
/// One sort: O(d log d) time, O(d) memory.
TailShape tail_shape(std::span<const double> x, std::size_t k);

}  // namespace residuum
