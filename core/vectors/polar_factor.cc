#include "core/vectors/polar_factor.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Vectors x_i, which rotations R make orthogonal: y = R x. The polar factor of the matrix of x is
/// R^T times that of y, whose vectors have unit length.
struct Rotated {
  std::size_t count;   // vectors
  std::size_t length;  // of each
  std::span<double> vectors;
  std::span<double> rotation;  // R, count * count

  std::span<double> vector(std::size_t i) const { return vectors.subspan(i * length, length); }
  std::span<double> row(std::size_t i) const { return rotation.subspan(i * count, count); }
};

double plain_dot(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t kLanesOfDot = 8;
  std::array<double, kLanesOfDot> lanes{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    lanes[i % kLanesOfDot] += a[i] * b[i];
  }
  double sum = 0;
  for (const double lane : lanes) {
    sum += lane;
  }
  return sum;
}

void rotate(double cosine, double sine, std::span<double> a, std::span<double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double first = a[i];
    a[i] = cosine * first - sine * b[i];
    b[i] = sine * first + cosine * b[i];
  }
}

/// Makes two vectors orthogonal. Returns false where they are already, or one is too short to
/// count.
bool rotate_pair(const Rotated& x, std::size_t p, std::size_t q, double least_sq) {
  constexpr double kOrthogonal = 1e-14;
  const double alpha = norm_sq<double>(x.vector(p));
  const double beta = norm_sq<double>(x.vector(q));
  const double gamma = plain_dot(x.vector(p), x.vector(q));
  if (std::min(alpha, beta) <= least_sq ||
      std::abs(gamma) <= kOrthogonal * std::sqrt(alpha * beta)) {
    return false;
  }
  const double zeta = (beta - alpha) / (2 * gamma);
  const double tangent = std::copysign(1 / (std::abs(zeta) + std::hypot(1.0, zeta)), zeta);
  const double cosine = 1 / std::hypot(1.0, tangent);
  rotate(cosine, cosine * tangent, x.vector(p), x.vector(q));
  rotate(cosine, cosine * tangent, x.row(p), x.row(q));
  return true;
}

void make_orthogonal(const Rotated& x, double least_sq) {
  constexpr int kMostSweeps = 40;
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMostSweeps; ++sweep) {
    rotated = false;
    for (std::size_t p = 0; p + 1 < x.count; ++p) {
      for (std::size_t q = p + 1; q < x.count; ++q) {
        rotated = rotate_pair(x, p, q, least_sq) || rotated;
      }
    }
  }
}

/// Divides every vector by its length, or leaves it out.
void make_unit(const Rotated& x, double least_share) {
  double longest = 0;
  for (std::size_t i = 0; i < x.count; ++i) {
    longest = std::max(longest, std::sqrt(norm_sq<double>(x.vector(i))));
  }
  for (std::size_t i = 0; i < x.count; ++i) {
    const double length = std::sqrt(norm_sq<double>(x.vector(i)));
    const double factor = length > least_share * longest ? 1 / length : 0;
    for (double& value : x.vector(i)) {
      value *= factor;
    }
  }
}

/// Loads the vectors, divided by the largest magnitude, and R = 1. They are the columns of the
/// matrix or its rows, whichever are fewer.
void load_vectors(std::span<const double> matrix, bool by_columns, double largest, Rotated& x) {
  for (std::size_t i = 0; i < x.count; ++i) {
    for (std::size_t j = 0; j < x.length; ++j) {
      x.vector(i)[j] = matrix[by_columns ? j * x.count + i : i * x.length + j] / largest;
    }
  }
  std::fill(x.rotation.begin(), x.rotation.end(), 0.0);
  for (std::size_t i = 0; i < x.count; ++i) {
    x.row(i)[i] = 1;
  }
}

}  // namespace

void take_polar_factor(std::size_t rows,
                       std::size_t columns,
                       double rounding,
                       std::span<double> matrix,
                       std::vector<double>& room) {
  assert(matrix.size() == rows * columns);
  const auto largest = norm_inf<double>(matrix);
  if (largest == 0) {
    return;
  }
  if (!std::isfinite(largest)) {
    std::fill(matrix.begin(), matrix.end(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const bool by_columns = columns < rows;
  const std::size_t count = std::min(rows, columns);
  room.resize(matrix.size() + count * count);
  Rotated x{.count = count,
            .length = std::max(rows, columns),
            .vectors = std::span(room).first(matrix.size()),
            .rotation = std::span(room).subspan(matrix.size())};
  load_vectors(matrix, by_columns, largest, x);
  const double least_share = rounding * static_cast<double>(x.length);
  // Vectors that are far shorter than the omitted part need no rotation.
  constexpr double kFarShorter = 1e-4;
  make_orthogonal(x, kFarShorter * least_share * least_share * norm_sq<double>(x.vectors));
  make_unit(x, least_share);
  std::fill(matrix.begin(), matrix.end(), 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      const double factor = x.row(k)[i];
      for (std::size_t j = 0; j < x.length; ++j) {
        matrix[by_columns ? j * count + i : i * x.length + j] += factor * x.vector(k)[j];
      }
    }
  }
}

}  // namespace residuum
