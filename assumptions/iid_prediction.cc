#include "assumptions/iid_prediction.h"

#include <boost/math/distributions/normal.hpp>

#include <cassert>

namespace residuum {

double gaussian_capture(double kappa) {
  assert(kappa > 0 && kappa <= 1);
  const boost::math::normal_distribution<double> normal;
  const double t = boost::math::quantile(boost::math::complement(normal, kappa / 2));
  return kappa + 2 * t * boost::math::pdf(normal, t);
}

std::optional<double> predicted_delta_iid(std::string_view aggregator, double rho, double workers) {
  if (!(rho > 0 && rho < 1)) {
    return std::nullopt;
  }
  if (aggregator == "gtopk-exact" || aggregator == "gtopk-tree") {
    return (1 - gaussian_capture(rho / workers)) / (1 - rho);
  }
  if (aggregator == "gtopk-mask") {
    return (1 - gaussian_capture(rho / workers) - rho * (workers - 1) / workers) / (1 - rho);
  }
  if (aggregator == "allgather") {
    return (1 - gaussian_capture(rho)) / (1 - rho);
  }
  return std::nullopt;
}

}  // namespace residuum
