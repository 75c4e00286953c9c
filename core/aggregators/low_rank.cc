#include "core/aggregators/low_rank.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

#include "core/vectors/dense.h"

namespace residuum {
namespace low_rank {
namespace {

/// Lanes of a sum, which compilers turn into vectors of any width.
constexpr std::size_t kLanes = 16;

template <class Real>
Real dot(const Real* a, const Real* b, std::size_t size) {
  std::array<Real, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (std::size_t lane = 0; i + lane < size; ++lane) {
    lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      lanes[lane] += lanes[lane + half];
    }
  }
  return lanes[0];
}

/// The dot product of columns is taken in float64, as norms are.
template <class Real>
double wide_dot(std::span<const Real> a, std::span<const Real> b) {
  std::array<double, kLanes> lanes{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    lanes[i % kLanes] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  double sum = 0;
  for (const double lane : lanes) {
    sum += lane;
  }
  return sum;
}

/// Takes out of a column what it has of the columns before it.
template <class Real>
void project_out(std::span<const Real> before, std::span<Real> column) {
  for (std::size_t begin = 0; begin < before.size(); begin += column.size()) {
    const auto direction = before.subspan(begin, column.size());
    const double share = wide_dot<Real>(direction, column);
    for (std::size_t i = 0; i < column.size(); ++i) {
      column[i] = static_cast<Real>(static_cast<double>(column[i]) -
                                    share * static_cast<double>(direction[i]));
    }
  }
}

template <class Real>
double norm_of(std::span<const Real> column) {
  return std::sqrt(norm_sq<Real>(column));
}

}  // namespace

template <class Real>
void multiply(std::span<const Real> matrix,
              std::size_t rank,
              std::span<const Real> right,
              std::span<Real> left) {
  const std::size_t rows = left.size() / rank;
  const std::size_t columns = right.size() / rank;
  assert(matrix.size() == rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < rank; ++c) {
      left[c * rows + row] = dot(&matrix[row * columns], &right[c * columns], columns);
    }
  }
}

template <class Real>
void multiply_transposed(std::span<const Real> matrix,
                         std::size_t rank,
                         std::span<const Real> left,
                         std::span<Real> right) {
  const std::size_t rows = left.size() / rank;
  const std::size_t columns = right.size() / rank;
  assert(matrix.size() == rows * columns);
  std::fill(right.begin(), right.end(), Real{0});
  for (std::size_t row = 0; row < rows; ++row) {
    const Real* of_row = &matrix[row * columns];
    for (std::size_t c = 0; c < rank; ++c) {
      const Real factor = left[c * rows + row];
      Real* sum = &right[c * columns];
      for (std::size_t j = 0; j < columns; ++j) {
        sum[j] += factor * of_row[j];
      }
    }
  }
}

template <class Real>
void compose(std::size_t rank,
             std::span<const Real> left,
             std::span<const Real> right,
             std::span<Real> matrix) {
  const std::size_t rows = left.size() / rank;
  const std::size_t columns = right.size() / rank;
  assert(matrix.size() == rows * columns);
  std::fill(matrix.begin(), matrix.end(), Real{0});
  for (std::size_t row = 0; row < rows; ++row) {
    Real* of_row = &matrix[row * columns];
    for (std::size_t c = 0; c < rank; ++c) {
      const Real factor = left[c * rows + row];
      const Real* addend = &right[c * columns];
      for (std::size_t j = 0; j < columns; ++j) {
        of_row[j] += factor * addend[j];
      }
    }
  }
}

template <class Real>
void orthonormalise(std::size_t rank, std::span<Real> columns) {
  // Rounding leaves less than this of a column that depends on those before it.
  constexpr double kRounding = 64 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  const std::size_t rows = columns.size() / rank;
  for (std::size_t c = 0; c < rank; ++c) {
    const auto before = columns.first(c * rows);
    const auto column = columns.subspan(c * rows, rows);
    const double length = norm_of<Real>(column);
    project_out<Real>(before, column);
    project_out<Real>(before, column);
    const double left = norm_of<Real>(column);
    const double factor = left > kRounding * length ? 1 / left : 0;
    for (Real& value : column) {
      value = static_cast<Real>(static_cast<double>(value) * factor);
    }
  }
}

template <class Real>
bool rescale(std::span<Real> column) {
  const Real largest = norm_inf<Real>(column);
  if (largest == 0) {
    return false;
  }
  if (std::isfinite(largest)) {
    const int exponent = std::ilogb(largest);
    for (Real& value : column) {
      value = std::scalbn(value, -exponent);
    }
  }
  return true;
}

template void multiply<float>(std::span<const float>,
                              std::size_t,
                              std::span<const float>,
                              std::span<float>);
template void multiply<double>(std::span<const double>,
                               std::size_t,
                               std::span<const double>,
                               std::span<double>);
template void multiply_transposed<float>(std::span<const float>,
                                         std::size_t,
                                         std::span<const float>,
                                         std::span<float>);
template void multiply_transposed<double>(std::span<const double>,
                                          std::size_t,
                                          std::span<const double>,
                                          std::span<double>);
template void compose<float>(std::size_t,
                             std::span<const float>,
                             std::span<const float>,
                             std::span<float>);
template void compose<double>(std::size_t,
                              std::span<const double>,
                              std::span<const double>,
                              std::span<double>);
template void orthonormalise<float>(std::size_t, std::span<float>);
template void orthonormalise<double>(std::size_t, std::span<double>);
template bool rescale<float>(std::span<float>);
template bool rescale<double>(std::span<double>);

}  // namespace low_rank

namespace {

void add_layer(const MatrixPlace& layer, bool is_factored, FactorPlan& plan) {
  if (!is_factored) {
    plan.plain.push_back({.at = {.begin = layer.begin, .size = layer.rows * layer.columns}});
    return;
  }
  plan.factored.push_back({.matrix = layer,
                           .left = {.begin = plan.left, .size = plan.rank * layer.rows},
                           .right = {.begin = plan.right, .size = plan.rank * layer.columns}});
  plan.left += plan.rank * layer.rows;
  plan.right += plan.rank * layer.columns;
}

}  // namespace

std::size_t rank_from(const Section& section, std::int64_t fallback) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  const auto rank = section.integer("rank", fallback);
  require(rank >= 1 && rank <= kMost,
          "{} must lie in 1..{}, got {}",
          section.where("rank"),
          kMost,
          rank);
  return static_cast<std::size_t>(rank);
}

FactorPlan factor_plan(std::span<const MatrixPlace> layers,
                       std::size_t dimension,
                       std::size_t rank,
                       const std::function<bool(const MatrixPlace&)>& shortens) {
  FactorPlan plan{.rank = rank, .factored = {}, .plain = {}};
  for (const MatrixPlace& layer : layers) {
    add_layer(layer, shortens(layer), plan);
  }
  if (layers.empty()) {
    add_layer({.rows = dimension}, /*is_factored=*/false, plan);
  }
  plan.packed = plan.left;
  for (PlainLayer& layer : plan.plain) {
    layer.packed = plan.packed;
    plan.packed += layer.at.size;
  }
  return plan;
}

template <class Real>
void LeftFactors<Real>::sum(const FactorPlan& plan,
                            std::span<const Real> right,
                            const Contributions<Real>& contributions,
                            const DenseRules& rules,
                            Ledger& ledger) {
  packed_.resize(plan.packed);
  if (lefts_.size() < contributions.of_workers.size()) {
    lefts_.resize(contributions.of_workers.size(), std::vector<Real>(plan.left));
  }
  const Cluster& cluster = ledger.cluster();
  for (int worker = 0; worker < cluster.workers(); ++worker) {
    ledger.work(worker, [&] {
      const std::size_t slot = cluster.slot(worker);
      for (const FactoredLayer& layer : plan.factored) {
        low_rank::multiply<Real>(matrix_of(contributions.of_workers[slot], layer.matrix),
                                 plan.rank,
                                 part_of(right, layer.right),
                                 part_of(lefts_[slot], layer.left));
      }
    });
  }
  const auto add = [&](int worker, std::size_t begin, std::span<Real> block) {
    const std::size_t slot = cluster.slot(worker);
    add_overlap<Real>(lefts_[slot], 0, begin, block);
    for (const PlainLayer& layer : plan.plain) {
      add_overlap<Real>(part_of(contributions.of_workers[slot].accumulator, layer.at),
                        layer.packed,
                        begin,
                        block);
    }
  };
  sums_.take_and_charge(rules, std::cref(add), packed_, ledger);
}

template <class Real>
void LeftFactors<Real>::copy_plain(const FactorPlan& plan, std::span<Real> sum) const {
  for (const PlainLayer& layer : plan.plain) {
    const auto numbers = part_of(packed_, {.begin = layer.packed, .size = layer.at.size});
    std::copy(numbers.begin(), numbers.end(), part_of(sum, layer.at).begin());
  }
}

template class LeftFactors<float>;
template class LeftFactors<double>;

}  // namespace residuum
