#pragma once
// What delta would be if the workers' accumulators were independent Gaussian vectors: the noise-
// dominated regime.

#include <optional>
#include <string_view>

namespace residuum {

/// Fraction of the energy of iid N(0,1) entries that the largest fraction kappa of them holds:
/// kappa + 2 t phi(t) with kappa = 2 (1 - Phi(t)). Requires 0 < kappa <= 1.
double gaussian_capture(double kappa);

/// Predicted delta at density rho with P workers: with cap the function above,
///   gtopk-exact, gtopk-tree  (1 - cap(rho/P)) / (1 - rho)
///   gtopk-mask               (1 - cap(rho/P) - rho (P-1)/P) / (1 - rho)
///   allgather                (1 - cap(rho)) / (1 - rho)
/// Absent for other aggregators and where rho is not in (0, 1).
std::optional<double> predicted_delta_iid(std::string_view aggregator, double rho, double workers);

}  // namespace residuum
