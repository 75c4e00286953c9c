#include "assumptions/estimators/compressor_constants.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace residuum {

double amplification(double contraction) {
  if (contraction >= 1) {
    return std::numeric_limits<double>::infinity();
  }
  const double rest = 1 - std::sqrt(contraction);
  return contraction / (rest * rest);
}

double amplification_ceiling(double compression) { return 4 * compression * (compression - 1); }

double ijcai_amplification(double compression) {
  return compression * compression * compression - compression;
}

void GapRecursion::step(double contraction, double step_size) {
  bound_ = std::sqrt(contraction) * (bound_ + step_size);
  factor_ = bound_ / step_size;
}

std::optional<CompressorConstants> compressor_constants(double norm_sq,
                                                        double compressed_norm_sq,
                                                        double product) {
  if (!(norm_sq > 0)) {
    return std::nullopt;
  }
  const double none = std::numeric_limits<double>::infinity();
  CompressorConstants constants;
  constants.alpha = compressed_norm_sq / norm_sq;
  constants.gamma = product / norm_sq;
  if (compressed_norm_sq > 0) {
    constants.beta = product > 0 ? compressed_norm_sq / product : none;
  }
  // 1 - |C - x|^2/|x|^2 = (2 <C, x> - |C|^2) / |x|^2
  const double kept = 2 * product - compressed_norm_sq;
  constants.delta = kept > 0 ? std::max(1.0, norm_sq / kept) : none;
  return constants;
}

std::optional<CompressorConstants> compressor_constants(std::span<const double> x,
                                                        std::span<const double> compressed) {
  assert(x.size() == compressed.size());
  double norm_sq = 0;
  double compressed_norm_sq = 0;
  double product = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    norm_sq += x[j] * x[j];
    compressed_norm_sq += compressed[j] * compressed[j];
    product += x[j] * compressed[j];
  }
  return compressor_constants(norm_sq, compressed_norm_sq, product);
}

CompressorConstants worse(const CompressorConstants& a, const CompressorConstants& b) {
  return {.alpha = std::min(a.alpha, b.alpha),
          .beta = std::max(a.beta, b.beta),
          .gamma = std::min(a.gamma, b.gamma),
          .delta = std::max(a.delta, b.delta)};
}

EstimateRecursion::EstimateRecursion() = default;

/// The grid of A falls from 1 to 1e-4 in equal ratios, 3.7 % apart.
double EstimateRecursion::a(std::size_t i) {
  constexpr double kLeast = 1e-4;
  return std::pow(kLeast, static_cast<double>(i) / static_cast<double>(kGrid - 1));
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a time, and two norms in their order
void EstimateRecursion::look(std::uint64_t iteration, double distortion, double change_sq) {
  if (has_before_ && iteration == before_ + 1) {
    for (std::size_t i = 0; i < kGrid; ++i) {
      const double excess = distortion - (1 - a(i)) * distortion_;
      if (excess > 0) {
        least_b_[i] = std::max(least_b_[i], excess / change_sq);  // infinite where nothing changed
      } else if (std::isnan(excess)) {
        least_b_[i] = std::numeric_limits<double>::infinity();
      }
    }
    ++compared_;
  }
  has_before_ = true;
  before_ = iteration;
  distortion_ = distortion;
}

void EstimateRecursion::merge(const EstimateRecursion& other) {
  for (std::size_t i = 0; i < kGrid; ++i) {
    least_b_[i] = std::max(least_b_[i], other.least_b_[i]);
  }
  compared_ += other.compared_;
}

std::vector<EstimateRecursion::Pair> EstimateRecursion::pairs() const {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; compared_ > 0 && i < kGrid; ++i) {
    if (std::isfinite(least_b_[i])) {
      pairs.push_back({.a = a(i), .b = least_b_[i]});
    }
  }
  return pairs;
}

}  // namespace residuum
