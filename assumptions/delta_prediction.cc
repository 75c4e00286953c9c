#include "assumptions/delta_prediction.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/erf.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <complex>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>
#include <unsupported/Eigen/FFT>
#include <vector>

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

namespace {

constexpr int kMostWorkers = 4096;
constexpr std::size_t kCells = std::size_t{1} << 16;

using Spectrum = std::vector<std::complex<double>>;

/// P(x > s) of an entry of mean 0 and variance 1, s >= 0.
double upper_tail(const EntryLaw& law, double s) {
  return law.kind == EntryLaw::Kind::gaussian ? 0.5 * std::erfc(s / std::numbers::sqrt2)
                                              : 0.5 * std::exp(-std::numbers::sqrt2 * s);
}

/// The t with P(|x| > t) = rho.
double threshold(const EntryLaw& law, double rho) {
  return law.kind == EntryLaw::Kind::gaussian ? std::numbers::sqrt2 * boost::math::erfc_inv(rho)
                                              : -std::log(rho) / std::numbers::sqrt2;
}

/// The width of a cell is such that S leaves the grid with a probability below 1e-12, and that t
/// lies between two cells.
double cell_width(double t, double variance) {
  const double reach = 12 * std::sqrt(variance) + 25;
  const double widest = 2 * reach / static_cast<double>(kCells);
  return t / (std::ceil(t / widest) + 0.5);
}

/// Probabilities of y on the grid; cell i stands for i h, cell kCells - i for -i h.
Spectrum sent_law(const EntryLaw& law, double rho, double t, double h) {
  Spectrum cells(kCells);
  for (std::size_t i = 1; i < kCells / 2; ++i) {
    const double lower = (static_cast<double>(i) - 0.5) * h;
    if (lower < t - h / 4) {
      continue;
    }
    const double mass = upper_tail(law, lower) - upper_tail(law, lower + h);
    cells[i] = mass;
    cells[kCells - i] = mass;
  }
  cells[0] = 1 - rho;
  return cells;
}

/// E[S^2; |S| among the fraction rho of largest].
double energy_of_largest(const Spectrum& law_of_sum, double rho, double h) {
  double left = rho;
  double energy = 0;
  for (std::size_t i = kCells / 2 - 1; i > 0 && left > 0; --i) {
    const double mass = std::clamp(law_of_sum[i].real() + law_of_sum[kCells - i].real(), 0.0, left);
    const double value = static_cast<double>(i) * h;
    left -= mass;
    energy += mass * value * value;
  }
  return energy;
}

}  // namespace

std::optional<double> overlapping_delta_iid(double rho, int workers, const EntryLaw& law) {
  const bool is_known = law.kind == EntryLaw::Kind::gaussian || law.kind == EntryLaw::Kind::laplace;
  if (!is_known || !(rho > 0 && rho < 1) || workers < 1 || workers > kMostWorkers) {
    return std::nullopt;
  }
  const double t = threshold(law, rho);
  const double h = cell_width(t, workers * capture(law, rho));
  const Spectrum cells = sent_law(law, rho, t, h);
  Eigen::FFT<double> fourier;
  Spectrum transformed;
  fourier.fwd(transformed, cells);
  for (auto& value : transformed) {
    value = std::pow(value.real(), workers);  // y is symmetric
  }
  Spectrum sum;
  fourier.inv(sum, transformed);
  return (1 - energy_of_largest(sum, rho, h) / workers) / (1 - rho);
}

std::optional<int> largest_workers_overlapping(double rho, const EntryLaw& law) {
  const auto fails = [&](int workers) {
    const auto delta = overlapping_delta_iid(rho, workers, law);
    return delta && *delta > 1;
  };
  int above = 2;
  while (!fails(above)) {
    if (above >= kMostWorkers) {
      return std::nullopt;
    }
    above *= 2;
  }
  int below = above / 2;
  while (above - below > 1) {
    const int middle = (above + below) / 2;
    (fails(middle) ? above : below) = middle;
  }
  return below;
}

namespace {

/// Returns what compute() gave at the first call with this key.
template <class Key, class Compute>
std::optional<double> remembered(const Key& key, const Compute& compute) {
  static std::mutex guard;
  static std::map<Key, std::optional<double>> memory;
  const std::lock_guard lock(guard);
  const auto found = memory.find(key);
  return found != memory.end() ? found->second : memory.emplace(key, compute()).first->second;
}

DeltaPrediction predict_exact(double rho, double workers, const EntryLaw& entries) {
  constexpr double kMostRemembered = 1e6;
  const int count = workers <= kMostRemembered ? static_cast<int>(workers) : 0;
  return {.delta = remembered(std::tuple(entries.kind, rho, count),
                              [&] { return overlapping_delta_iid(rho, count, entries); }),
          .largest_workers = remembered(std::tuple(entries.kind, rho), [&] {
            const auto limit = largest_workers_overlapping(rho, entries);
            return limit ? std::optional<double>(*limit) : std::nullopt;
          })};
}

DeltaPrediction predict_largest(const AggregatorLaw& law,
                                double rho,
                                double workers,
                                const EntryLaw& entries) {
  if (law.applies_whole_messages) {
    return {.delta = predicted_delta_iid(Combination::whole, rho, workers, entries),
            .largest_workers = std::nullopt};
  }
  if (!law.selects_largest) {
    return {};
  }
  if (law.completes_support) {
    return {.delta = predicted_delta_iid(Combination::completed, rho, workers, entries),
            .largest_workers = std::nullopt};
  }
  if (law.drops_in_merges) {
    return {.delta = predicted_delta_iid(Combination::selected, rho, workers, entries),
            .largest_workers = largest_workers_iid(rho, entries)};
  }
  return predict_exact(rho, workers, entries);
}

}  // namespace

DeltaPrediction predict_delta(const RunFacts& facts, const EntryLaw& entries) {
  const double rho = facts.k.value_or(facts.dimension) / facts.dimension;
  if (!(rho > 0 && rho < 1) || facts.density_varies) {
    return {};
  }
  const SparsifierLaw& law = facts.sparsifier;
  const bool is_never_cut =
      facts.aggregator.applies_whole_messages || facts.aggregator.selects_largest;
  if (law.shares_support && law.exact && law.contraction && is_never_cut) {
    return {.delta = (1 - *law.contraction) / (1 - rho), .largest_workers = std::nullopt};
  }
  if (!law.keeps_largest || facts.feedback.memory != Memory::residual) {
    return {};
  }
  return predict_largest(facts.aggregator, rho, facts.taking_part(), entries);
}

}  // namespace residuum
