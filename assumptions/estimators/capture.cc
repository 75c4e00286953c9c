#include "assumptions/estimators/capture.h"

#include <boost/math/distributions/normal.hpp>

#include <cassert>
#include <cmath>

namespace residuum {

double gaussian_capture(double kappa) {
  assert(kappa > 0 && kappa <= 1);
  const boost::math::normal_distribution<double> normal;
  const double t = boost::math::quantile(boost::math::complement(normal, kappa / 2));
  return kappa + 2 * t * boost::math::pdf(normal, t);
}

double capture(const EntryLaw& law, double kappa) {
  assert(kappa > 0 && kappa <= 1);
  switch (law.kind) {
    case EntryLaw::Kind::gaussian:
      return gaussian_capture(kappa);
    case EntryLaw::Kind::laplace: {
      const double l = std::log(1 / kappa);
      return kappa * (1 + l + l * l / 2);
    }
    case EntryLaw::Kind::uniform:
      return kappa * (3 - 3 * kappa + kappa * kappa);  // 1 - (1-kappa)^3 without cancellation
    case EntryLaw::Kind::pareto:
      assert(law.tail > 2);
      return std::pow(kappa, 1 - 2 / law.tail);
  }
  return 0;  // not reached: every kind has returned
}

}  // namespace residuum
