#pragma once
// The weights of Mem-SGD's average.

namespace residuum {

/// S_T = sum of (a + t)^2 over t < T = T (2T^2 + 6aT - 3T + 6a^2 - 6a + 1)/6.
double mem_sgd_weight_sum(double iterations, double shift);

}  // namespace residuum
