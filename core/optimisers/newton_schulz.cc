#include "core/optimisers/newton_schulz.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

constexpr int kNewtonSchulzSteps = 5;

/// Returns the dot product in lanes of a fixed number, which has the same bits on every machine.
template <class Real>
Real row_dot(std::span<const Real> a, std::span<const Real> b) {
  constexpr std::size_t kLanesOfRow = 16;
  std::array<Real, kLanesOfRow> lanes{};
  std::size_t i = 0;
  for (; i + kLanesOfRow <= a.size(); i += kLanesOfRow) {
    for (std::size_t lane = 0; lane < kLanesOfRow; ++lane) {
      lanes[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (std::size_t lane = 0; i + lane < a.size(); ++lane) {
    lanes[lane] += a[i + lane] * b[i + lane];
  }
  Real sum = 0;
  for (const Real lane : lanes) {
    sum += lane;
  }
  return sum;
}

template <class Real>
void transpose(std::size_t rows, std::span<const Real> matrix, std::span<Real> transposed) {
  const std::size_t columns = matrix.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      transposed[j * rows + i] = matrix[i * columns + j];
    }
  }
}

/// product := X X^T, symmetric.
template <class Real>
void square_of_rows(std::size_t rows, std::span<const Real> x, std::span<Real> product) {
  const std::size_t columns = x.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Real value = row_dot(x.subspan(i * columns, columns), x.subspan(j * columns, columns));
      product[i * rows + j] = value;
      product[j * rows + i] = value;
    }
  }
}

/// next := a X + B X, where B is square.
template <class Real>
void take_step(std::size_t rows,
               Real a,
               std::span<const Real> b,
               std::span<const Real> x,
               std::span<Real> next) {
  const std::size_t columns = x.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    Real* const row = &next[i * columns];
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] = a * x[i * columns + j];
    }
    for (std::size_t k = 0; k < rows; ++k) {
      const Real factor = b[i * rows + k];
      const Real* const addend = &x[k * columns];
      for (std::size_t j = 0; j < columns; ++j) {
        row[j] += factor * addend[j];
      }
    }
  }
}

}  // namespace

template <class Real>
void orthogonalise_by_newton_schulz(std::size_t rows,
                                    std::size_t columns,
                                    std::span<Real> matrix,
                                    std::vector<Real>& room) {
  assert(matrix.size() == rows * columns && rows > 0 && columns > 0);
  constexpr auto kA = static_cast<Real>(3.4445);
  constexpr auto kB = static_cast<Real>(-4.7750);
  constexpr auto kC = static_cast<Real>(2.0315);
  constexpr double kNotZero = 1e-7;
  // X has the fewer rows: A is small.
  const bool is_tall = rows > columns;
  const std::size_t side = std::min(rows, columns);
  const std::size_t size = matrix.size();
  room.resize(2 * size + 2 * side * side);
  std::span<Real> x = std::span(room).first(size);
  std::span<Real> next = std::span(room).subspan(size, size);
  const std::span<Real> a = std::span(room).subspan(2 * size, side * side);
  const std::span<Real> b = std::span(room).subspan(2 * size + side * side);
  const auto factor = static_cast<Real>(1 / (std::sqrt(norm_sq<Real>(matrix)) + kNotZero));
  if (is_tall) {
    transpose<Real>(rows, matrix, x);
  } else {
    std::copy(matrix.begin(), matrix.end(), x.begin());
  }
  for (Real& value : x) {
    value *= factor;
  }
  for (int step = 0; step < kNewtonSchulzSteps; ++step) {
    square_of_rows<Real>(side, x, a);
    square_of_rows<Real>(side, a, b);  // A is symmetric: A A^T = A^2
    for (std::size_t i = 0; i < a.size(); ++i) {
      b[i] = kB * a[i] + kC * b[i];
    }
    take_step<Real>(side, kA, b, x, next);
    std::swap(x, next);
  }
  if (is_tall) {
    transpose<Real>(side, x, matrix);
  } else {
    std::copy(x.begin(), x.end(), matrix.begin());
  }
}

template void orthogonalise_by_newton_schulz<float>(std::size_t,
                                                    std::size_t,
                                                    std::span<float>,
                                                    std::vector<float>&);
template void orthogonalise_by_newton_schulz<double>(std::size_t,
                                                     std::size_t,
                                                     std::span<double>,
                                                     std::vector<double>&);

}  // namespace residuum
