#pragma once
// SoftmaxLoss is the data part of multi-class logistic regression,
//   (1/n) sum_i [log sum_c exp(z_ic) - z_iy_i],  z_ic = sum_j x_ij w[j C + c],
// for C classes: w has the C weights of a feature side by side, so that a stored entry of a sparse
// row meets C neighbours.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "objectives/feature_matrix.h"

namespace residuum {

class SoftmaxLoss {
 public:
  /// Labels are 0 .. classes - 1, one per row.
  SoftmaxLoss(std::unique_ptr<const FeatureMatrix> rows,
              std::vector<std::int32_t> labels,
              std::size_t classes);

  std::size_t samples() const { return labels_.size(); }
  std::size_t classes() const { return classes_; }
  std::size_t dimension() const { return rows_->columns() * classes_; }
  const FeatureMatrix& rows() const { return *rows_; }
  std::span<const std::int32_t> labels() const { return labels_; }
  std::span<const std::uint32_t> all_rows() const { return all_rows_; }

  /// gradient += mean over `batch` of grad f_i(w). The batch must not be empty.
  template <class Real>
  void add_mean_gradient(std::span<const std::uint32_t> batch,
                         std::span<const Real> w,
                         std::span<Real> gradient) const;

  /// Returns (1/n) sum over `shard` of f_i(w) and adds its gradient to `gradient` unless that is
  /// empty.
  double evaluate(std::span<const std::uint32_t> shard,
                  std::span<const double> w,
                  std::span<double> gradient) const;

  /// Returns the probabilities of all samples, C for each.
  std::vector<double> probabilities(std::span<const double> w) const;
  /// product += H v for the Hessian H of this part, where the samples have these probabilities.
  void add_hessian_product(std::span<const double> probabilities,
                           std::span<const double> v,
                           std::span<double> product) const;

  /// Returns an upper bound of L of the mean over `shard`, lambda_max(A^T A) / (2 n): the Hessian
  /// of log sum exp is at most 1/2 (Boehning, Annals of the Institute of Statistical Mathematics
  /// 44, 1992). Every call is expensive.
  double smoothness(std::span<const std::uint32_t> shard) const;

  /// Returns the fraction of samples whose class has the largest z; ties go to the lower class.
  double accuracy(std::span<const double> w) const;

 private:
  std::unique_ptr<const FeatureMatrix> rows_;
  std::vector<std::int32_t> labels_;
  std::size_t classes_;
  std::vector<std::uint32_t> all_rows_;
};

}  // namespace residuum
