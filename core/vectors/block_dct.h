#pragma once
// BlockDct is an orthonormal change of coordinates: the two-dimensional cosine transform of blocks
// of matrices, as DeMo takes it of momentum (Peng, Quesnelle, Kingma, Decoupled Momentum
// Optimization, 2024). A block X of h rows and w columns becomes
//   C = D_h X D_w',  D_n[u][i] = s_u cos(pi (2i + 1) u / (2n)),  s_0 = sqrt(1/n), s_u = sqrt(2/n),
// the orthonormal DCT-II along both of its sides. D_n' is its inverse.
//
// A matrix is cut into blocks whose sides are the largest divisors of its own that are at most 64.
// The coefficients of a block are consecutive, row after row, and blocks follow each other row
// after row of blocks: a matrix and its coefficients have the same place in the vector.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace residuum {

class BlockDct {
 public:
  /// A matrix is a part of the vector, row after row; a tensor of one dimension is one row.
  struct Matrix {
    std::size_t begin = 0;
    std::size_t rows = 1;
    std::size_t columns = 0;
  };

  static constexpr std::size_t kLargestSide = 64;

  /// Returns the side of a block along a side of n numbers; 1 where no larger divisor is small
  /// enough, and nothing is transformed along it.
  static std::size_t side_of(std::size_t n);

  /// The matrices tile the vector.
  explicit BlockDct(std::span<const Matrix> matrices);

  // These functions take sums in float64, in a fixed order, and allocate nothing. `from` and `to`
  // are vectors of the same size that do not overlap.
  void forward(std::span<const float> from, std::span<float> to) const;
  void forward(std::span<const double> from, std::span<double> to) const;
  void inverse(std::span<const float> from, std::span<float> to) const;
  void inverse(std::span<const double> from, std::span<double> to) const;

 private:
  /// D_n and its transpose, row after row; empty for sides that no block has.
  struct Basis {
    std::vector<double> rows, transposed;
  };
  struct Cut {
    Matrix matrix;
    std::size_t height = 0, width = 0;  // of a block
  };

  void make_basis(std::size_t n);
  template <class Real>
  void forward_all(std::span<const Real> from, std::span<Real> to) const;
  template <class Real>
  void inverse_all(std::span<const Real> from, std::span<Real> to) const;

  std::vector<Cut> cuts_;
  std::array<Basis, kLargestSide + 1> bases_;
};

}  // namespace residuum
