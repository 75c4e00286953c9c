#include "objectives/feature_matrix.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace residuum {

FeatureMatrix::FeatureMatrix(SparseDataset&& data) : rows_(data.rows()), columns_(data.features) {
  std::size_t non_zero = 0;
  for (const double value : data.values) {
    non_zero += value != 0 ? 1U : 0U;
  }
  if (2 * non_zero > rows_ * columns_) {
    make_dense(data);
    return;
  }
  row_begin_ = std::move(data.row_begin);
  column_ = std::move(data.columns);
  if (!std::all_of(data.values.begin(), data.values.end(), [](double x) { return x == 1; })) {
    value_ = std::move(data.values);
  }
}

void FeatureMatrix::make_dense(const SparseDataset& data) {
  value_.assign(rows_ * columns_, 0.0);
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::uint64_t entry = data.row_begin[row]; entry < data.row_begin[row + 1]; ++entry) {
      value_[row * columns_ + data.columns[entry]] = data.values[entry];
    }
  }
}

template <>
RowsView<double> FeatureMatrix::view() const {
  return {.columns = columns_,
          .row_begin = is_dense() ? nullptr : row_begin_.data(),
          .column = column_.data(),
          .value = value_.empty() ? nullptr : value_.data(),
          .dense = is_dense() ? &row_kernels<double>() : nullptr};
}

template <>
RowsView<float> FeatureMatrix::view() const {
  std::call_once(float_made_, [this] {
    float_value_.reserve(value_.size());
    for (const double value : value_) {
      float_value_.push_back(static_cast<float>(value));
    }
  });
  return {.columns = columns_,
          .row_begin = is_dense() ? nullptr : row_begin_.data(),
          .column = column_.data(),
          .value = float_value_.empty() ? nullptr : float_value_.data(),
          .dense = is_dense() ? &row_kernels<float>() : nullptr};
}

void FeatureMatrix::multiply(std::span<const double> w, std::span<double> product) const {
  assert(w.size() == columns_ && product.size() == rows_);
  const auto rows = view<double>();
  for (std::size_t row = 0; row < rows_; ++row) {
    product[row] = rows.dot(row, w.data());
  }
}

void FeatureMatrix::add_transposed(std::span<const double> c, std::span<double> sum) const {
  assert(c.size() == rows_ && sum.size() == columns_);
  const auto rows = view<double>();
  for (std::size_t row = 0; row < rows_; ++row) {
    rows.add(row, c[row], sum.data());
  }
}

double FeatureMatrix::norm_sq() const {
  if (value_.empty()) {
    return static_cast<double>(column_.size());
  }
  double sum = 0;
  for (const double value : value_) {
    sum += value * value;
  }
  return sum;
}

}  // namespace residuum
