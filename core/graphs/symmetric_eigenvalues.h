#pragma once
// The eigenvalues of a small symmetric matrix, one by one. The matrix is made tridiagonal by
// Householder reflections (Golub and Van Loan, Matrix Computations, 8.3.1); a Sturm count then says
// how many eigenvalues lie below a number, and bisection finds each of them (8.4.1). Both steps are
// backward stable: the error is of the order of n times the rounding unit times the norm.

#include <span>
#include <vector>

namespace residuum {

class SymmetricEigenvalues {
 public:
  /// Takes the n x n matrix row by row and reads its lower triangle; (4/3) n^3 operations.
  SymmetricEigenvalues(int n, std::vector<double> matrix);

  int size() const { return static_cast<int>(diagonal_.size()); }
  /// Returns the eigenvalue of rank `k` in increasing order, 0 <= k < n.
  double smallest(int k) const;

 private:
  int count_below(double x) const;

  std::vector<double> diagonal_;
  std::vector<double> beside_;  ///< The element left of each diagonal one; beside_[0] is 0.
  double bound_ = 0;            ///< All eigenvalues lie in [-bound_, bound_] (Gershgorin).
};

}  // namespace residuum
