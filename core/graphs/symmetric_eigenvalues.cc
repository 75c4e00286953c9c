#include "core/graphs/symmetric_eigenvalues.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <utility>

namespace residuum {
namespace {

/// Reflects the symmetric m x m block A to H A H, H = I - v v^T / h. The span has its rows, whose
/// lower triangle is read and written; `step` is the distance of two rows.
void reflect_block(std::span<double> a, std::size_t step, std::span<const double> v, double h) {
  const std::size_t m = v.size();
  std::vector<double> q(m, 0.0);
  for (std::size_t i = 0; i < m; ++i) {  // q = A v / h, by the lower triangle
    const double* row = &a[i * step];
    double sum = row[i] * v[i];
    for (std::size_t j = 0; j < i; ++j) {
      sum += row[j] * v[j];
      q[j] += row[j] * v[i] / h;
    }
    q[i] += sum / h;
  }
  double along = 0;
  for (std::size_t i = 0; i < m; ++i) {
    along += v[i] * q[i];
  }
  for (std::size_t i = 0; i < m; ++i) {
    q[i] -= along / (2 * h) * v[i];
  }
  for (std::size_t i = 0; i < m; ++i) {  // A <- A - v q^T - q v^T
    double* row = &a[i * step];
    for (std::size_t j = 0; j <= i; ++j) {
      row[j] -= v[i] * q[j] + q[i] * v[j];
    }
  }
}

}  // namespace

SymmetricEigenvalues::SymmetricEigenvalues(int n, std::vector<double> matrix)
    : diagonal_(static_cast<std::size_t>(n)), beside_(static_cast<std::size_t>(n), 0.0) {
  const auto size = static_cast<std::size_t>(n);
  assert(matrix.size() == size * size);
  // Squares of entries below 1e-100 would lose digits to underflow; such entries count as zeros.
  constexpr double kNothing = 1e-200;
  for (std::size_t i = size; i-- > 1;) {
    const std::span<double> v = std::span(matrix).subspan(i * size, i);
    double others = 0;
    for (const double x : v.first(i - 1)) {
      others += x * x;
    }
    const double last = v.back();
    if (others <= kNothing) {
      beside_[i] = last;
      continue;
    }
    const double square = others + last * last;
    // The reflection takes the row to (0, ..., 0, beside); the sign avoids cancellation in v.
    beside_[i] = -std::copysign(std::sqrt(square), last);
    v.back() = last - beside_[i];
    reflect_block(std::span(matrix).first(i * size), size, v, square - last * beside_[i]);
  }
  for (std::size_t i = 0; i < size; ++i) {
    diagonal_[i] = matrix[i * size + i];
    const double right = i + 1 < size ? std::abs(beside_[i + 1]) : 0;
    bound_ = std::max(bound_, std::abs(diagonal_[i]) + std::abs(beside_[i]) + right);
  }
}

int SymmetricEigenvalues::count_below(double x) const {
  // By Sylvester's law of inertia, the negative pivots of A - x I are counted.
  constexpr double kLeastPivot = 1e-290;
  int count = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < diagonal_.size(); ++i) {
    pivot = diagonal_[i] - x - beside_[i] * beside_[i] / pivot;
    if (std::abs(pivot) < kLeastPivot) {
      pivot = -kLeastPivot;
    }
    count += pivot < 0 ? 1 : 0;
  }
  return count;
}

double SymmetricEigenvalues::smallest(int k) const {
  assert(0 <= k && k < size());
  double low = -bound_;
  double high = bound_;
  constexpr int kHalvings = 60;  // more than the digits of a double
  for (int halving = 0; halving < kHalvings; ++halving) {
    const double middle = (low + high) / 2;
    (count_below(middle) > k ? high : low) = middle;
  }
  return (low + high) / 2;
}

}  // namespace residuum
