#pragma once
// FeatureMatrix has the rows x_i of a data set as the objectives read them: compressed sparse rows,
// or dense rows when more than half of the entries are non-zero. Memory per stored entry: 8 bytes,
// 4 for the column of a sparse one, and 4 more once a float gradient has been asked for. Sparse
// rows of ones, as one-hot features give them, have columns alone: a batch then reads half as much.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/vectors/row_kernels.h"
#include "objectives/data/dataset.h"

namespace residuum {

/// Most rows whose products with w come before they are added to a gradient.
inline constexpr std::size_t kRowsAtOnce = 32;

/// A view has plain pointers into a FeatureMatrix, for hot loops.
template <class Real>
struct RowsView {
  std::size_t columns = 0;
  const std::uint64_t* row_begin = nullptr;  // null: the rows are dense
  const std::uint32_t* column = nullptr;
  const Real* value = nullptr;              // null: all that is stored is 1
  const RowKernels<Real>* dense = nullptr;  // null: the rows are sparse

  /// Returns the value of a stored entry of sparse rows.
  Real value_of(std::uint64_t entry) const { return value == nullptr ? Real{1} : value[entry]; }

  /// Returns x_row . w.
  Real dot(std::size_t row, const Real* w) const {
    return row_begin == nullptr ? dense->dot(value + row * columns, w, columns)
                                : sparse_dot(row, w);
  }

  /// Calls use(part, products) for one part of the rows after another, of at most kRowsAtOnce, with
  /// x_row . w of each of its rows. The processor overlaps the products of many rows, if no sum
  /// into a gradient comes between.
  template <class Use>
  void for_products(std::span<const std::uint32_t> rows, const Real* w, Use use) const {
    const std::size_t ahead = row_begin == nullptr ? 8 : kRowsAtOnce;  // measured
    const std::size_t at_once = rows_at_once();
    for (const std::uint32_t row : rows.first(std::min(ahead, rows.size()))) {
      prefetch(row);
    }
    std::array<Real, kRowsAtOnce> products{};
    for (std::size_t first = 0; first < rows.size(); first += at_once) {
      const auto part = rows.subspan(first, std::min(at_once, rows.size() - first));
      for (std::size_t at = 0; at < part.size(); ++at) {
        if (first + at + ahead < rows.size()) {
          prefetch(rows[first + at + ahead]);
        }
        products[at] = dot(part[at], w);
      }
      use(part, std::span(products).first(part.size()));
    }
  }

  /// sum += scale * x_row
  void add(std::size_t row, Real scale, Real* sum) const {
    if (row_begin == nullptr) {
      dense->add(scale, value + row * columns, columns, sum);
      return;
    }
    const std::uint64_t end = row_begin[row + 1];
    if (value == nullptr) {
      for (std::uint64_t entry = row_begin[row]; entry < end; ++entry) {
        sum[column[entry]] += scale;
      }
      return;
    }
    for (std::uint64_t entry = row_begin[row]; entry < end; ++entry) {
      sum[column[entry]] += scale * value[entry];
    }
  }

  /// sum += scales_r x_row for each of these rows, the first one first.
  void add_rows(std::span<const std::uint32_t> rows, const Real* scales, Real* sum) const {
    constexpr std::size_t kTogether = RowKernels<Real>::kTogether;
    if (row_begin == nullptr) {
      for (; rows.size() >= kTogether; rows = rows.subspan(kTogether), scales += kTogether) {
        std::array<const Real*, kTogether> x;  // NOLINT(*-member-init): written next
        std::transform(rows.begin(), rows.begin() + kTogether, x.begin(), [this](auto row) {
          return value + row * columns;
        });
        dense->add_rows(scales, x.data(), columns, sum);
      }
    }
    for (const std::uint32_t row : rows) {
      add(row, *scales++, sum);
    }
  }

 private:
  /// Returns how many rows form a part. Dense ones are read again for the gradient, so that they
  /// should still lie in the processor's first cache, of 32 KiB or more, beside what is fetched.
  std::size_t rows_at_once() const {
    if (row_begin != nullptr) {
      return kRowsAtOnce;
    }
    constexpr std::size_t kBytes = 12288;  // measured
    constexpr std::size_t kFewest = 8;     // as many numbers as the widest vector has
    const std::size_t fit = kBytes / (sizeof(Real) * std::max<std::size_t>(columns, 1));
    return std::clamp(fit / kFewest * kFewest, kFewest, kRowsAtOnce);
  }

  /// Asks the processor for the beginning of a row that will soon be read. Batches take rows at
  /// random, which it cannot foresee. (GCC 12 drops calls of a function that only prefetches.)
  [[gnu::always_inline]] void prefetch(std::size_t row) const {
    if (row_begin == nullptr) {
      constexpr std::size_t kLine = 64 / sizeof(Real);  // values in a cache line
      constexpr std::size_t kMost = 16 * kLine;         // what follows it foresees
      for (std::size_t at = 0; at < std::min(columns, kMost); at += kLine) {
        __builtin_prefetch(value + row * columns + at);
      }
      return;
    }
    const std::uint64_t entry = row_begin[row];
    constexpr std::uint64_t kLine = 64 / sizeof(std::uint32_t);  // columns in a cache line
    __builtin_prefetch(column + entry);
    __builtin_prefetch(column + entry + kLine);
    if (value != nullptr) {
      __builtin_prefetch(value + entry);
      __builtin_prefetch(value + entry + kLine);
    }
  }

  Real sparse_dot(std::size_t row, const Real* w) const {
    Real sum = 0;
    const std::uint64_t end = row_begin[row + 1];
    if (value == nullptr) {
      for (std::uint64_t entry = row_begin[row]; entry < end; ++entry) {
        sum += w[column[entry]];
      }
      return sum;
    }
    for (std::uint64_t entry = row_begin[row]; entry < end; ++entry) {
      sum += value[entry] * w[column[entry]];
    }
    return sum;
  }
};

class FeatureMatrix {
 public:
  /// Takes the rows of a data set; its labels are ignored.
  explicit FeatureMatrix(SparseDataset&& data);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  bool is_dense() const { return row_begin_.empty(); }

  /// Returns a view; Real is double or float. The first call for float makes the float copy.
  template <class Real>
  RowsView<Real> view() const;

  /// product := A w, one number per row.
  void multiply(std::span<const double> w, std::span<double> product) const;

  /// sum += A^T c, one number per column.
  void add_transposed(std::span<const double> c, std::span<double> sum) const;

  /// Returns the sum of squares of all entries, the trace of A^T A.
  double norm_sq() const;

 private:
  void make_dense(const SparseDataset& data);

  std::size_t rows_;
  std::size_t columns_;
  std::vector<std::uint64_t> row_begin_;  // empty where the rows are dense
  std::vector<std::uint32_t> column_;
  std::vector<double> value_;  // empty where sparse rows have ones alone
  mutable std::vector<float> float_value_;
  mutable std::once_flag float_made_;
};

}  // namespace residuum
