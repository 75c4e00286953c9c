// Exact Top_k: a bound that at least k entries reach is guessed from every 64th entry, one pass
// over memory collects what reaches it, and the cut is made exactly among these. Where the guess
// was too high, a histogram of the leading bits of |x| finds a bound that is certain. The bits of a
// positive IEEE number, read as an integer, are ordered as the number is.

#include "core/vectors/select.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

namespace residuum {
namespace {

template <class Real>
struct Bits;
template <>
struct Bits<float> {
  using Integer = std::uint32_t;
  static constexpr int kShift = 20;  // 8 bits of exponent and 3 of mantissa: 2048 buckets
};
template <>
struct Bits<double> {
  using Integer = std::uint64_t;
  static constexpr int kShift = 49;  // 11 and 3: 16384 buckets
};

template <class Real>
using Integer = typename Bits<Real>::Integer;

template <class Real>
Integer<Real> magnitude(Real value) {
  return std::bit_cast<Integer<Real>>(value) & (std::numeric_limits<Integer<Real>>::max() >> 1);
}

/// Below this size a histogram costs more than looking at every entry.
constexpr std::size_t kSmall = 4096;

/// Counting neighbours in different tables keeps equal buckets from waiting for one another.
constexpr std::size_t kTables = 4;

template <class Real>
void count_buckets(std::span<const Real> x, std::vector<std::uint32_t>& histogram) {
  constexpr std::size_t kBuckets = std::size_t{1} << (sizeof(Real) * 8 - 1 - Bits<Real>::kShift);
  histogram.assign(kTables * kBuckets, 0);
  const std::size_t whole = x.size() - x.size() % kTables;
  for (std::size_t i = 0; i < whole; i += kTables) {
    for (std::size_t table = 0; table < kTables; ++table) {
      ++histogram[table * kBuckets + (magnitude(x[i + table]) >> Bits<Real>::kShift)];
    }
  }
  for (std::size_t i = whole; i < x.size(); ++i) {
    ++histogram[magnitude(x[i]) >> Bits<Real>::kShift];
  }
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (std::size_t table = 1; table < kTables; ++table) {
      histogram[bucket] += histogram[table * kBuckets + bucket];
    }
  }
  histogram.resize(kBuckets);
}

/// The smallest magnitude of the highest buckets that together hold at least k entries; at least
/// that of the smallest non-zero number.
template <class Real>
Integer<Real> certain_bound(std::span<const Real> x,
                            std::size_t k,
                            std::vector<std::uint32_t>& histogram) {
  count_buckets(x, histogram);
  std::size_t bucket = histogram.size();
  std::size_t reached = 0;
  while (bucket > 0 && reached < k) {
    --bucket;
    reached += histogram[bucket];
  }
  return std::max<Integer<Real>>(1, static_cast<Integer<Real>>(bucket) << Bits<Real>::kShift);
}

/// Where the k-th entry of the order stands: its magnitude, and how many entries of exactly that
/// magnitude are among the first k.
struct Cut {
  std::uint64_t magnitude = 0;
  std::size_t ties = 0;
};

Cut find_cut(std::vector<std::uint64_t>& magnitudes, std::size_t k) {
  assert(k >= 1 && k <= magnitudes.size());
  const auto kth = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<>());
  const std::uint64_t cut = *kth;
  const auto above = static_cast<std::size_t>(
      std::count_if(magnitudes.begin(), kth, [cut](std::uint64_t m) { return m > cut; }));
  return {.magnitude = cut, .ties = k - above};
}

/// True for entries within the cut; to be asked in index order, so that ties go to lower indices.
bool is_within(Cut& cut, std::uint64_t magnitude) {
  if (magnitude == cut.magnitude && cut.ties > 0) {
    --cut.ties;
    return true;
  }
  return magnitude > cut.magnitude;
}

/// A magnitude that a few more than k entries reach, if the entries sampled are like the others; 1,
/// which every non-zero entry reaches, for short vectors.
template <class Real>
Integer<Real> likely_bound(std::span<const Real> x,
                           std::size_t k,
                           std::vector<std::uint64_t>& sample) {
  constexpr std::size_t kStride = 64;
  if (x.size() <= kSmall) {
    return 1;
  }
  sample.clear();
  for (std::size_t i = 0; i < x.size(); i += kStride) {
    sample.push_back(magnitude(x[i]));
  }
  // k/64 of the sample are expected above the k-th entry; four deviations more make a miss rare.
  const double expected = static_cast<double>(k) / kStride;
  const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 4);
  if (rank >= sample.size()) {
    return 1;
  }
  const auto bound = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), bound, sample.end(), std::greater<>());
  return std::max<Integer<Real>>(1, static_cast<Integer<Real>>(*bound));
}

/// The entries of at least this magnitude, in index order.
template <class Real>
void collect(std::span<const Real> x, Integer<Real> bound, SelectWorkspace& workspace) {
  workspace.candidates.clear();
  workspace.magnitudes.clear();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto bits = magnitude(x[i]);
    if (bits >= bound) {
      workspace.candidates.push_back(static_cast<std::uint32_t>(i));
      workspace.magnitudes.push_back(bits);
    }
  }
}

}  // namespace

template <class Real>
void select_top_k(std::span<const Real> x,
                  std::size_t k,
                  SelectWorkspace& workspace,
                  SparseVector<Real>& selected) {
  assert(x.size() <= std::numeric_limits<std::uint32_t>::max());
  selected.clear();
  if (k == 0) {
    return;
  }
  collect(x, likely_bound(x, k, workspace.magnitudes), workspace);
  if (workspace.candidates.size() < k && x.size() > kSmall) {
    collect(x, certain_bound(x, k, workspace.histogram), workspace);
  }
  const auto& candidates = workspace.candidates;
  Cut cut;
  if (candidates.size() > k) {
    cut = find_cut(workspace.magnitudes, k);
  }
  for (const std::uint32_t i : candidates) {
    if (is_within(cut, magnitude(x[i]))) {
      selected.push_back(i, x[i]);
    }
  }
}

template <class Real>
void select_above(std::span<const Real> x, Real threshold, SparseVector<Real>& selected) {
  selected.clear();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) >= threshold && x[i] != 0) {
      selected.push_back(static_cast<std::uint32_t>(i), x[i]);
    }
  }
}

template void select_top_k<float>(std::span<const float>,
                                  std::size_t,
                                  SelectWorkspace&,
                                  SparseVector<float>&);
template void select_top_k<double>(std::span<const double>,
                                   std::size_t,
                                   SelectWorkspace&,
                                   SparseVector<double>&);
template void select_above<float>(std::span<const float>, float, SparseVector<float>&);
template void select_above<double>(std::span<const double>, double, SparseVector<double>&);

}  // namespace residuum
