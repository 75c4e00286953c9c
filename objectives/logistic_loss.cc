#include "objectives/logistic_loss.h"

#include <fmt/format.h>

#include <numeric>

#include "core/notes.h"
#include "objectives/spectrum.h"

namespace residuum {

LogisticLoss::LogisticLoss(std::unique_ptr<const FeatureMatrix> rows,
                           std::vector<std::int32_t> labels)
    : rows_(std::move(rows)), labels_(std::move(labels)), all_rows_(labels_.size()) {
  assert(rows_->rows() == labels_.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0U);
}

/// Returns f_i(w) and adds (1/n) grad f_i(w) to `gradient` unless that is empty.
double LogisticLoss::add_sample(const RowsView<double>& rows,
                                std::size_t i,
                                std::span<const double> w,
                                std::span<double> gradient) const {
  const double label = labels_[i];
  const double margin = label * rows.dot(i, w.data());
  if (!gradient.empty()) {
    const double share = 1 / static_cast<double>(samples());
    rows.add(i, -share * label * logistic_weight(margin), gradient.data());
  }
  return logistic_value(margin);
}

double LogisticLoss::evaluate(std::span<const std::uint32_t> shard,
                              std::span<const double> w,
                              std::span<double> gradient) const {
  assert(w.size() == dimension() && (gradient.empty() || gradient.size() == dimension()));
  const auto rows = rows_->view<double>();
  double sum = 0;
  for (const std::uint32_t i : shard) {
    sum += add_sample(rows, i, w, gradient);
  }
  return sum / static_cast<double>(samples());
}

double LogisticLoss::mean(std::span<const double> w, std::span<double> gradient) const {
  assert(w.size() == dimension() && (gradient.empty() || gradient.size() == dimension()));
  const auto rows = rows_->view<double>();
  double sum = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    sum += add_sample(rows, i, w, gradient);
  }
  return sum / static_cast<double>(samples());
}

double LogisticLoss::smoothness() const {
  std::call_once(smoothness_known_, [this] { smoothness_ = smoothness(all_rows()); });
  return smoothness_;
}

double LogisticLoss::smoothness(std::span<const std::uint32_t> shard) const {
  assert(!shard.empty());
  const LargestEigenvalue largest = largest_gram_eigenvalue(*rows_, shard);
  if (largest.is_bound) {
    tell(NoteKind::note,
         fmt::format("many eigenvalues of the Gram matrix of {} rows lie close to the largest; L "
                     "uses an upper bound, at most 0.01 % too large, {}",
                     shard.size(),
                     largest.value));
  }
  return largest.value / (4 * static_cast<double>(shard.size()));
}

double LogisticLoss::accuracy(std::span<const double> w) const {
  const auto rows = rows_->view<double>();
  std::size_t right = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    const int predicted = rows.dot(i, w.data()) > 0 ? 1 : -1;
    right += predicted == labels_[i] ? 1U : 0U;
  }
  return static_cast<double>(right) / static_cast<double>(samples());
}

}  // namespace residuum
