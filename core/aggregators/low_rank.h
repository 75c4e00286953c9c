#pragma once
// Low rank is the arithmetic of matrices M ~ P Q^T. M lies row after row; the few columns of P and
// of Q lie one after the other. Every sum has an order of its own that neither addresses nor the
// machine's vectors change.
//
// Left factors are products of layers with a few columns that all workers share:
//   P_p = M_p R,  P = sum_p P_p,
// where M_p is a layer of worker p as a matrix and R has as many rows as M_p has columns. Layers
// that a product does not shorten are plain: they are summed as they are. Both sums go in one
// all-reduce, all P first.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/aggregators/dense_sums.h"

namespace residuum {
namespace low_rank {

/// The columns of `left` := M times those of `right`, `rank` of each.
template <class Real>
void multiply(std::span<const Real> matrix,
              std::size_t rank,
              std::span<const Real> right,
              std::span<Real> left);

/// The columns of `right` := M^T times those of `left`.
template <class Real>
void multiply_transposed(std::span<const Real> matrix,
                         std::size_t rank,
                         std::span<const Real> left,
                         std::span<Real> right);

/// M := left right^T.
template <class Real>
void compose(std::size_t rank,
             std::span<const Real> left,
             std::span<const Real> right,
             std::span<Real> matrix);

/// Makes the columns orthonormal, by Gram-Schmidt as in the paper of PowerSGD, but each twice: one
/// pass leaves columns that nearly depend on each other far from orthogonal, two do not (Giraud,
/// Langou, Rozloznik, 2005). A column of which nothing but rounding is left becomes 0, so that
/// P P^T projects on what the columns span, whatever their rank is. Others add an epsilon to the
/// norms (PyTorch's hook 1e-8): then P P^T is no projection where columns are short.
template <class Real>
void orthonormalise(std::size_t rank, std::span<Real> columns);

/// Multiplies a column by a power of two, after which its largest entry lies in [1, 2): products of
/// products neither vanish nor overflow, and no bit of a digit changes. Returns false for 0.
template <class Real>
bool rescale(std::span<Real> column);

}  // namespace low_rank

/// A layer with a product has its columns of P and of R at these places among those of all layers.
struct FactoredLayer {
  MatrixPlace matrix;
  Segment left, right;
};

/// A plain layer has a place in the all-reduce, behind all columns of P.
struct PlainLayer {
  Segment at;
  std::size_t packed = 0;
};

/// Reads `rank`, the columns of R.
std::size_t rank_from(const Section& section, std::int64_t fallback);

/// A factor plan says how many numbers P, R and the all-reduce have, and where those of each layer
/// are.
struct FactorPlan {
  std::size_t rank = 0;  // columns of each P and R
  std::vector<FactoredLayer> factored;
  std::vector<PlainLayer> plain;
  std::size_t left = 0;    // numbers of all P
  std::size_t packed = 0;  // those and the plain layers
  std::size_t right = 0;   // numbers of all R
};

/// Makes the plan of a model with these layers; without any, its d numbers are one vector.
/// `shortens` says of a layer whether its product is worth it.
FactorPlan factor_plan(std::span<const MatrixPlace> layers,
                       std::size_t dimension,
                       std::size_t rank,
                       const std::function<bool(const MatrixPlace&)>& shortens);

template <class Numbers>
auto part_of(Numbers& numbers, const Segment& at) {
  return std::span(numbers).subspan(at.begin, at.size);
}

/// Returns the layer of a worker.
template <class Real>
std::span<const Real> matrix_of(const Contribution<Real>& worker, const MatrixPlace& at) {
  return worker.accumulator.subspan(at.begin, at.rows * at.columns);
}

template <class Real>
class LeftFactors {
 public:
  /// Makes P and the sums of the plain layers. `right` has all R.
  void sum(const FactorPlan& plan,
           std::span<const Real> right,
           const Contributions<Real>& contributions,
           const DenseRules& rules,
           Ledger& ledger);
  /// Returns P of a layer.
  std::span<Real> of(const FactoredLayer& layer) { return part_of(packed_, layer.left); }
  std::span<const Real> of(const FactoredLayer& layer) const {
    return part_of(packed_, layer.left);
  }
  /// Puts the sums of the plain layers into g.
  void copy_plain(const FactorPlan& plan, std::span<Real> sum) const;

 private:
  std::vector<Real> packed_;              // P of all layers, then the plain layers
  std::vector<std::vector<Real>> lefts_;  // P_p of the workers here
  DenseSums<Real> sums_;
};

}  // namespace residuum
