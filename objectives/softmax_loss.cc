#include "objectives/softmax_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/notes.h"
#include "objectives/spectrum.h"

namespace residuum {
namespace {

/// Calls use(column, value) for the stored entries of a row.
template <class Real, class Use>
void for_entries(const RowsView<Real>& rows, std::size_t row, const Use& use) {
  if (rows.row_begin == nullptr) {
    for (std::size_t j = 0; j < rows.columns; ++j) {
      use(j, rows.value[row * rows.columns + j]);
    }
    return;
  }
  for (std::uint64_t entry = rows.row_begin[row]; entry < rows.row_begin[row + 1]; ++entry) {
    use(std::size_t{rows.column[entry]}, rows.value_of(entry));
  }
}

/// z := the C numbers of a row.
template <class Real>
void logits_of(const RowsView<Real>& rows,
               std::size_t row,
               std::span<const Real> w,
               std::span<Real> z) {
  std::fill(z.begin(), z.end(), Real{0});
  for_entries(rows, row, [&](std::size_t column, Real value) {
    const Real* const weights = w.data() + column * z.size();
    for (std::size_t c = 0; c < z.size(); ++c) {
      z[c] += value * weights[c];
    }
  });
}

/// sum += x_row times the C factors.
template <class Real>
void add_outer(const RowsView<Real>& rows,
               std::size_t row,
               std::span<const Real> factors,
               std::span<Real> sum) {
  for_entries(rows, row, [&](std::size_t column, Real value) {
    Real* const place = sum.data() + column * factors.size();
    for (std::size_t c = 0; c < factors.size(); ++c) {
      place[c] += value * factors[c];
    }
  });
}

/// z := exp(z) / sum exp(z); returns log sum exp(z). Exponentials are taken of numbers below 0.
template <class Real>
Real to_probabilities(std::span<Real> z) {
  const Real largest = *std::max_element(z.begin(), z.end());
  Real sum = 0;
  for (Real& z_c : z) {
    z_c = std::exp(z_c - largest);
    sum += z_c;
  }
  for (Real& z_c : z) {
    z_c /= sum;
  }
  return largest + std::log(sum);
}

}  // namespace

SoftmaxLoss::SoftmaxLoss(std::unique_ptr<const FeatureMatrix> rows,
                         std::vector<std::int32_t> labels,
                         std::size_t classes)
    : rows_(std::move(rows)),
      labels_(std::move(labels)),
      classes_(classes),
      all_rows_(labels_.size()) {
  assert(rows_->rows() == labels_.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0U);
}

template <class Real>
void SoftmaxLoss::add_mean_gradient(std::span<const std::uint32_t> batch,
                                    std::span<const Real> w,
                                    std::span<Real> gradient) const {
  assert(!batch.empty() && w.size() == dimension() && gradient.size() == dimension());
  const auto rows = rows_->view<Real>();
  const Real share = Real{1} / static_cast<Real>(batch.size());
  std::vector<Real> z(classes_);
  for (const std::uint32_t i : batch) {
    logits_of<Real>(rows, i, w, z);
    to_probabilities<Real>(z);
    z[static_cast<std::size_t>(labels_[i])] -= 1;
    for (Real& factor : z) {
      factor *= share;
    }
    add_outer<Real>(rows, i, z, gradient);
  }
}

template void SoftmaxLoss::add_mean_gradient(std::span<const std::uint32_t>,
                                             std::span<const float>,
                                             std::span<float>) const;
template void SoftmaxLoss::add_mean_gradient(std::span<const std::uint32_t>,
                                             std::span<const double>,
                                             std::span<double>) const;

double SoftmaxLoss::evaluate(std::span<const std::uint32_t> shard,
                             std::span<const double> w,
                             std::span<double> gradient) const {
  assert(w.size() == dimension() && (gradient.empty() || gradient.size() == dimension()));
  const auto rows = rows_->view<double>();
  const double share = 1 / static_cast<double>(samples());
  std::vector<double> z(classes_);
  double sum = 0;
  for (const std::uint32_t i : shard) {
    logits_of<double>(rows, i, w, z);
    const auto label = static_cast<std::size_t>(labels_[i]);
    const double own = z[label];
    sum += to_probabilities<double>(z) - own;
    if (!gradient.empty()) {
      z[label] -= 1;
      for (double& factor : z) {
        factor *= share;
      }
      add_outer<double>(rows, i, z, gradient);
    }
  }
  return sum * share;
}

std::vector<double> SoftmaxLoss::probabilities(std::span<const double> w) const {
  const auto rows = rows_->view<double>();
  std::vector<double> all(samples() * classes_);
  for (std::size_t i = 0; i < samples(); ++i) {
    const std::span<double> z = std::span(all).subspan(i * classes_, classes_);
    logits_of<double>(rows, i, w, z);
    to_probabilities<double>(z);
  }
  return all;
}

void SoftmaxLoss::add_hessian_product(std::span<const double> probabilities,
                                      std::span<const double> v,
                                      std::span<double> product) const {
  const auto rows = rows_->view<double>();
  const double share = 1 / static_cast<double>(samples());
  std::vector<double> u(classes_);
  for (std::size_t i = 0; i < samples(); ++i) {
    logits_of<double>(rows, i, v, u);
    const auto p = probabilities.subspan(i * classes_, classes_);
    const double mean = std::inner_product(p.begin(), p.end(), u.begin(), 0.0);
    for (std::size_t c = 0; c < classes_; ++c) {
      u[c] = share * p[c] * (u[c] - mean);
    }
    add_outer<double>(rows, i, u, product);
  }
}

double SoftmaxLoss::smoothness(std::span<const std::uint32_t> shard) const {
  assert(!shard.empty());
  const LargestEigenvalue largest = largest_gram_eigenvalue(*rows_, shard);
  if (largest.is_bound) {
    tell(NoteKind::note,
         fmt::format("many eigenvalues of the Gram matrix of {} rows lie close to the largest; L "
                     "uses an upper bound, at most 0.01 % too large, {}",
                     shard.size(),
                     largest.value));
  }
  return largest.value / (2 * static_cast<double>(shard.size()));
}

double SoftmaxLoss::accuracy(std::span<const double> w) const {
  const auto rows = rows_->view<double>();
  std::vector<double> z(classes_);
  std::size_t right = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    logits_of<double>(rows, i, w, z);
    const auto best = std::max_element(z.begin(), z.end()) - z.begin();
    right += best == labels_[i] ? 1U : 0U;
  }
  return static_cast<double>(right) / static_cast<double>(samples());
}

}  // namespace residuum
