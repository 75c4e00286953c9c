#include "assumptions/iid_prediction.h"

namespace residuum {

std::optional<double> predicted_delta_iid(Combination combination,
                                          double rho,
                                          double workers,
                                          const EntryLaw& law) {
  if (!(rho > 0 && rho < 1)) {
    return std::nullopt;
  }
  switch (combination) {
    case Combination::whole:
      return (1 - capture(law, rho)) / (1 - rho);
    case Combination::selected:
      return (1 - capture(law, rho / workers)) / (1 - rho);
    case Combination::completed:
      break;
  }
  return (1 - capture(law, rho / workers) - rho * (workers - 1) / workers) / (1 - rho);
}

std::optional<double> largest_workers_iid(double rho, const EntryLaw& law) {
  if (!(rho > 0 && rho < 1)) {
    return std::nullopt;
  }
  const auto holds = [&](double workers) { return capture(law, rho / workers) >= rho; };
  double below = 1;  // cap(rho) >= rho always
  double above = 2;
  constexpr double kMostWorkers = 0x1.0p52;
  while (holds(above) && above < kMostWorkers) {
    below = above;
    above *= 2;
  }
  while (above - below > 1) {
    const double middle = below + (above - below) / 2;
    (holds(middle) ? below : above) = static_cast<double>(static_cast<long long>(middle));
  }
  return below;
}

}  // namespace residuum
