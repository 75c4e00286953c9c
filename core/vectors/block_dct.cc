#include "core/vectors/block_dct.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace residuum {
namespace {

using Block = std::array<double, BlockDct::kLargestSide * BlockDct::kLargestSide>;

/// Returns D_n[u][i]. It is taken in long double and rounded once, so that it has the same bits
/// whatever the last bits of a library's cosine are.
double basis_entry(std::size_t n, std::size_t u, std::size_t i) {
  const auto size = static_cast<long double>(n);
  if (u == 0) {
    return static_cast<double>(std::sqrt(1 / size));
  }
  const std::size_t parts = (2 * i + 1) * u % (4 * n);  // the angle, of which 4n make a turn
  const long double angle =
      std::numbers::pi_v<long double> * static_cast<long double>(parts) / (2 * size);
  return static_cast<double>(std::sqrt(2 / size) * std::cos(angle));
}

/// product := left x, where left has h times h numbers and x has h rows of w numbers.
void multiply_left(
    std::span<const double> left, const Block& x, std::size_t h, std::size_t w, Block& product) {
  for (std::size_t u = 0; u < h; ++u) {
    double* const row = &product[u * w];
    std::fill_n(row, w, 0.0);
    for (std::size_t i = 0; i < h; ++i) {
      const double factor = left[u * h + i];
      const double* const of_x = &x[i * w];
      for (std::size_t v = 0; v < w; ++v) {
        row[v] += factor * of_x[v];
      }
    }
  }
}

/// product := x right, where right has w times w numbers.
void multiply_right(
    const Block& x, std::span<const double> right, std::size_t h, std::size_t w, Block& product) {
  for (std::size_t i = 0; i < h; ++i) {
    double* const row = &product[i * w];
    std::fill_n(row, w, 0.0);
    for (std::size_t j = 0; j < w; ++j) {
      const double factor = x[i * w + j];
      const double* const of_right = &right[j * w];
      for (std::size_t v = 0; v < w; ++v) {
        row[v] += factor * of_right[v];
      }
    }
  }
}

}  // namespace

std::size_t BlockDct::side_of(std::size_t n) {
  std::size_t side = std::min(n, kLargestSide);
  while (side > 1 && n % side != 0) {
    --side;
  }
  return side;
}

BlockDct::BlockDct(std::span<const Matrix> matrices) {
  for (const Matrix& matrix : matrices) {
    if (matrix.rows * matrix.columns == 0) {
      continue;
    }
    const Cut cut{
        .matrix = matrix, .height = side_of(matrix.rows), .width = side_of(matrix.columns)};
    make_basis(cut.height);
    make_basis(cut.width);
    cuts_.push_back(cut);
  }
}

void BlockDct::make_basis(std::size_t n) {
  Basis& basis = bases_[n];
  if (!basis.rows.empty()) {
    return;
  }
  basis.rows.resize(n * n);
  basis.transposed.resize(n * n);
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t i = 0; i < n; ++i) {
      basis.rows[u * n + i] = basis.transposed[i * n + u] = basis_entry(n, u, i);
    }
  }
}

template <class Real>
void BlockDct::forward_all(std::span<const Real> from, std::span<Real> to) const {
  assert(from.size() == to.size());
  Block block{};
  Block product{};
  for (const auto& [matrix, h, w] : cuts_) {
    auto coefficient = to.begin() + static_cast<std::ptrdiff_t>(matrix.begin);
    for (std::size_t row = 0; row < matrix.rows; row += h) {
      for (std::size_t column = 0; column < matrix.columns; column += w) {
        for (std::size_t i = 0; i < h; ++i) {
          const Real* const of_matrix = &from[matrix.begin + (row + i) * matrix.columns + column];
          std::copy_n(of_matrix, w, &block[i * w]);
        }
        multiply_right(block, bases_[w].transposed, h, w, product);
        multiply_left(bases_[h].rows, product, h, w, block);
        coefficient = std::transform(block.begin(),
                                     block.begin() + static_cast<std::ptrdiff_t>(h * w),
                                     coefficient,
                                     [](double value) { return static_cast<Real>(value); });
      }
    }
  }
}

template <class Real>
void BlockDct::inverse_all(std::span<const Real> from, std::span<Real> to) const {
  assert(from.size() == to.size());
  Block block{};
  Block product{};
  for (const auto& [matrix, h, w] : cuts_) {
    auto coefficient = from.begin() + static_cast<std::ptrdiff_t>(matrix.begin);
    for (std::size_t row = 0; row < matrix.rows; row += h) {
      for (std::size_t column = 0; column < matrix.columns; column += w) {
        std::copy_n(coefficient, h * w, block.begin());
        coefficient += static_cast<std::ptrdiff_t>(h * w);
        multiply_left(bases_[h].transposed, block, h, w, product);
        multiply_right(product, bases_[w].rows, h, w, block);
        for (std::size_t i = 0; i < h; ++i) {
          Real* const of_matrix = &to[matrix.begin + (row + i) * matrix.columns + column];
          std::transform(&block[i * w], &block[i * w] + w, of_matrix, [](double value) {
            return static_cast<Real>(value);
          });
        }
      }
    }
  }
}

void BlockDct::forward(std::span<const float> from, std::span<float> to) const {
  forward_all(from, to);
}
void BlockDct::forward(std::span<const double> from, std::span<double> to) const {
  forward_all(from, to);
}
void BlockDct::inverse(std::span<const float> from, std::span<float> to) const {
  inverse_all(from, to);
}
void BlockDct::inverse(std::span<const double> from, std::span<double> to) const {
  inverse_all(from, to);
}

}  // namespace residuum
