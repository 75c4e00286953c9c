#include "assumptions/estimators/beznosikov.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace residuum {

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

}  // namespace residuum
