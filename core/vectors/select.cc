// Exact Top_k starts warm or cold. Warm: the pass that formed the vector has noted the entries that
// reach a bound slightly below the last cut; if these are at least k, the cut is among them. Cold:
// a bound is guessed from a sample and one pass collects the entries that reach it; if the guess
// was too high, a histogram of leading bits gives a bound that at least k entries reach for
// certain.

#include "core/vectors/select.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/vectors/kernels.h"

namespace residuum {
namespace {

/// Magnitudes are compared as integers: the bits of a positive IEEE number, read as an integer, are
/// ordered as the number is. MagnitudeBits is the unsigned integer as wide as Real.
template <class Real>
using MagnitudeBits =
    std::conditional_t<sizeof(Real) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;

template <class Real>
MagnitudeBits<Real> magnitude_bits(Real value) {
  using Bits = MagnitudeBits<Real>;
  return std::bit_cast<Bits>(value) & (std::numeric_limits<Bits>::max() >> 1);
}

// --- A bound for a vector whose last cut is not known -------------------------------------------

/// Up to this size every non-zero entry becomes a candidate, because sampling and counting would
/// cost more.
constexpr std::size_t kSmallVector = 4096;

/// The bucket of a magnitude is its exponent and 3 bits of mantissa; kShift is the number of bits
/// below these.
template <class Real>
constexpr int kShift = sizeof(Real) == sizeof(float) ? 20 : 49;

/// There are 2048 buckets for float and 16384 for double.
template <class Real>
constexpr std::size_t kMagnitudeBuckets = std::size_t{1} << (sizeof(Real) * 8 - 1 - kShift<Real>);

/// Neighbours are counted in different tables, so that equal buckets do not wait for one another.
constexpr std::size_t kHistograms = 4;

template <class Real>
void count_buckets(std::span<const Real> x, std::vector<std::uint32_t>& histogram) {
  constexpr std::size_t kCount = kMagnitudeBuckets<Real>;
  histogram.assign(kHistograms * kCount, 0);
  const std::size_t whole = x.size() - x.size() % kHistograms;
  for (std::size_t i = 0; i < whole; i += kHistograms) {
    for (std::size_t table = 0; table < kHistograms; ++table) {
      ++histogram[table * kCount + (magnitude_bits(x[i + table]) >> kShift<Real>)];
    }
  }
  for (std::size_t i = whole; i < x.size(); ++i) {
    ++histogram[magnitude_bits(x[i]) >> kShift<Real>];
  }
  for (std::size_t bucket = 0; bucket < kCount; ++bucket) {
    for (std::size_t table = 1; table < kHistograms; ++table) {
      histogram[bucket] += histogram[table * kCount + bucket];
    }
  }
  histogram.resize(kCount);
}

/// Returns the magnitude, but at least the smallest positive number: zero is never selected.
template <class Real>
Real selectable(MagnitudeBits<Real> bits) {
  return std::bit_cast<Real>(std::max<MagnitudeBits<Real>>(1, bits));
}

/// Returns an odd stride, so that a sample does not keep step with the rows of a matrix.
std::size_t stride_for(std::size_t size) {
  constexpr std::size_t kShortest = 63;
  constexpr std::size_t kMostSampled = 65536;
  return std::max(kShortest, size / kMostSampled) | 1;
}

/// Returns a magnitude that slightly more than k entries reach if the sampled entries are like the
/// others. For short vectors it is the smallest positive number.
template <class Real>
Real likely_bound(std::span<const Real> x,
                  std::size_t k,
                  std::vector<MagnitudeBits<Real>>& sample) {
  if (x.size() <= kSmallVector) {
    return selectable<Real>(0);
  }
  const std::size_t stride = stride_for(x.size());
  sample.clear();
  for (std::size_t i = 0; i < x.size(); i += stride) {
    sample.push_back(magnitude_bits(x[i]));
  }
  // `expected` entries of the sample are above the k-th entry; four standard deviations more make a
  // miss rare.
  const double expected = static_cast<double>(k) / static_cast<double>(stride);
  const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 4);
  if (rank >= sample.size()) {
    return selectable<Real>(0);
  }
  const auto bound = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), bound, sample.end(), std::greater<>());
  return selectable<Real>(*bound);
}

/// Returns a magnitude above zero that at least k entries reach, or all non-zero ones if there are
/// fewer. It counts leading bits in a histogram and returns the lower end of the bucket that the
/// k-th largest entry is in.
template <class Real>
Real certain_bound(std::span<const Real> x, std::size_t k, std::vector<std::uint32_t>& histogram) {
  count_buckets(x, histogram);
  std::size_t bucket = histogram.size();
  std::size_t reached = 0;
  while (bucket > 0 && reached < k) {
    --bucket;
    reached += histogram[bucket];
  }
  return selectable<Real>(static_cast<MagnitudeBits<Real>>(bucket) << kShift<Real>);
}

// --- The k-th largest magnitude -----------------------------------------------------------------

/// The magnitude of the k-th largest entry, and how many entries of exactly that magnitude
/// are among the k largest.
struct KthMagnitude {
  std::uint64_t magnitude = 0;
  std::size_t ties = 0;
};

/// A ranking finds the k-th largest of many magnitudes: a histogram over their range tells its
/// bucket, and only that bucket is searched. Magnitudes are given as bits, so that buckets cover
/// equal ratios and few outliers do not leave all others in one bucket.
/// Bits is uint32 or uint64; the spans and buffers given must outlive it.
template <class Bits>
class Ranking {
 public:
  /// `magnitudes` must not be empty.
  Ranking(std::span<const Bits> magnitudes, std::vector<std::uint32_t>& histogram);

  /// Requires 1 <= k <= size.
  KthMagnitude cut(std::size_t k, std::vector<Bits>& bucket) const;

  struct Floor {
    Bits magnitude;
    std::size_t reached;  // by so many of the magnitudes
  };
  /// Returns a number that at least k of the magnitudes reach, and not many more but for ties.
  Floor floor_of(std::size_t k) const;

  Bits smallest() const { return smallest_; }

 private:
  /// A place is the bucket of the k-th largest, and the number of magnitudes in higher buckets.
  struct Place {
    std::size_t bucket;
    std::size_t above;
  };
  Place place_of(std::size_t k) const;
  std::size_t bucket_of(Bits magnitude) const { return (magnitude - smallest_) >> shift_; }

  std::span<const Bits> magnitudes_;
  std::vector<std::uint32_t>& histogram_;
  Bits smallest_ = 0;
  int shift_ = 0;
};

template <class Bits>
Ranking<Bits>::Ranking(std::span<const Bits> magnitudes, std::vector<std::uint32_t>& histogram)
    : magnitudes_(magnitudes), histogram_(histogram) {
  assert(!magnitudes.empty());
  constexpr int kFewestBits = 5;
  constexpr int kMostBits = 12;
  Bits largest = magnitudes.front();
  smallest_ = largest;
  for (const Bits magnitude : magnitudes) {
    smallest_ = std::min(smallest_, magnitude);
    largest = std::max(largest, magnitude);
  }
  // There are about as many buckets as magnitudes.
  const int bits =
      std::clamp(static_cast<int>(std::bit_width(magnitudes.size())), kFewestBits, kMostBits);
  shift_ = std::max(0, static_cast<int>(std::bit_width(largest - smallest_)) - bits);
  histogram_.reserve(2U << kMostBits);  // the most: no later ranking reallocates
  histogram_.assign(bucket_of(largest) + 1, 0);
  for (const Bits magnitude : magnitudes) {
    ++histogram_[bucket_of(magnitude)];
  }
}

template <class Bits>
typename Ranking<Bits>::Place Ranking<Bits>::place_of(std::size_t k) const {
  assert(k >= 1 && k <= magnitudes_.size());
  std::size_t bucket = histogram_.size();
  std::size_t reached = 0;
  while (reached < k) {
    --bucket;
    reached += histogram_[bucket];
  }
  return {.bucket = bucket, .above = reached - histogram_[bucket]};
}

template <class Bits>
KthMagnitude Ranking<Bits>::cut(std::size_t k, std::vector<Bits>& bucket) const {
  const Place place = place_of(k);
  // Every magnitude is written and the position moves on only for those of the bucket, hence one
  // more place.
  bucket.reserve(std::bit_ceil(histogram_[place.bucket] + 1U));
  bucket.resize(histogram_[place.bucket] + 1);
  std::size_t filled = 0;
  for (const Bits magnitude : magnitudes_) {
    bucket[filled] = magnitude;
    filled += bucket_of(magnitude) == place.bucket ? 1 : 0;
  }
  bucket.resize(filled);
  const std::size_t rank = k - place.above;
  const auto kth = bucket.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(bucket.begin(), kth, bucket.end(), std::greater<>());
  const Bits cut = *kth;
  const auto larger = static_cast<std::size_t>(
      std::count_if(bucket.begin(), kth, [cut](Bits magnitude) { return magnitude > cut; }));
  return {.magnitude = cut, .ties = rank - larger};
}

template <class Bits>
typename Ranking<Bits>::Floor Ranking<Bits>::floor_of(std::size_t k) const {
  const Place place = place_of(k);
  return {.magnitude = smallest_ + (static_cast<Bits>(place.bucket) << shift_),
          .reached = place.above + histogram_[place.bucket]};
}

// --- Selection ----------------------------------------------------------------------------------

template <class Real>
using Magnitudes = std::vector<MagnitudeBits<Real>>;

template <class Real>
Magnitudes<Real>& magnitudes_of(SelectWorkspace& workspace) {
  return std::get<Magnitudes<Real>>(workspace.magnitudes);
}
template <class Real>
Magnitudes<Real>& bucket_of(SelectWorkspace& workspace) {
  return std::get<Magnitudes<Real>>(workspace.bucket);
}

template <class Real>
double value_of(std::uint64_t magnitude) {
  return static_cast<double>(std::bit_cast<Real>(static_cast<MagnitudeBits<Real>>(magnitude)));
}

/// found := all entries whose magnitude reaches the bound, in order.
template <class Real>
void collect(std::span<const Real> x, Real bound, Candidates& found) {
  constexpr std::size_t kChunk = 2048;
  // The buffer needs no initial values: it is written before it is read.
  std::array<std::uint32_t, kChunk + kernels::kHitsSlack> hits;  // NOLINT(*-member-init)
  const auto kernel = kernels::best<Real>().collect;
  found.clear<Real>();
  for (std::size_t first = 0; first < x.size(); first += kChunk) {
    const std::uint32_t* const begin = hits.data();
    const std::uint32_t* const end =
        kernel(x.data() + first,
               std::min(kChunk, x.size() - first),
               {.bound = bound, .first = static_cast<std::uint32_t>(first), .hits = hits.data()});
    found.append<Real>({begin, end}, x);
  }
  found.bound = static_cast<double>(bound);
}

/// Reserves room for the likely number of candidates, so that no later selection reallocates: all
/// entries of a short vector, about twice the selected ones of a long vector.
template <class Real>
void make_room(std::size_t size, std::size_t k, SelectWorkspace& workspace) {
  constexpr std::size_t kMargin = 1024;
  const std::size_t likely = size <= kSmallVector ? size : std::min(size, 2 * k + kMargin);
  const std::size_t room = std::bit_ceil(likely + 1);
  workspace.cold.reserve<Real>(room);
  magnitudes_of<Real>(workspace).reserve(room);
  bucket_of<Real>(workspace).reserve(room);
}

/// True for entries within the cut. Calls must go in index order, so that ties go to lower indices.
bool is_within(KthMagnitude& cut, std::uint64_t magnitude) {
  const bool is_tie = magnitude == cut.magnitude && cut.ties > 0;
  cut.ties -= is_tie ? 1 : 0;
  return is_tie || magnitude > cut.magnitude;
}

/// Returns how many entries should reach the next bound: k, plus a margin against a drift of the
/// cut that stays cheap beside the pass.
std::size_t wanted_candidates(std::size_t k, std::size_t size) {
  constexpr std::size_t kLeastMore = 16;
  constexpr std::size_t kShare = 24;
  return k + std::min(k / 2, size / kShare) + kLeastMore;
}

/// Returns how many of the entries of this vector the next bound is to let through. `rank` is that
/// of the last bound, and `found` how many entries of this vector reached it. They are more where
/// residuals grow, and the next vector is likely to be as this one. Half of the difference, as a
/// ratio, is made up for.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): numbers of entries, all of them
std::size_t next_rank(std::size_t rank, std::size_t found, std::size_t k, std::size_t wanted) {
  if (rank == 0) {
    return wanted;
  }
  const double ratio = static_cast<double>(wanted) / static_cast<double>(found);
  const auto next = static_cast<std::size_t>(static_cast<double>(rank) * std::sqrt(ratio));
  return std::clamp(next, k / 8 + 1, 2 * wanted);
}

/// Sets the bound for the next pass. If fewer entries are known than are to reach it, it is put
/// twice as far below the cut as now, within limits.
template <class Real>
void set_next_bound(const Ranking<MagnitudeBits<Real>>& ranking,
                    std::size_t known,
                    std::size_t rank,
                    double cut,
                    double bound,
                    Candidates& found) {
  if (known > rank) {
    const auto floor = ranking.floor_of(rank);
    found.bound = value_of<Real>(floor.magnitude);
    found.rank = floor.reached;
  } else {
    found.bound = cut - std::clamp(2 * (cut - bound), cut / 16, cut / 2);
    found.rank = 0;
  }
}

/// Returns candidates that include the first k entries, in index order, with the bound that they
/// reach.
template <class Real>
const Candidates& candidates_for(std::span<const Real> x,
                                 std::size_t k,
                                 SelectWorkspace& workspace) {
  const Candidates& found = workspace.found();
  const bool is_complete = std::exchange(workspace.found().complete, false);
  // With far more candidates than wanted, a bound from a sample is soon faster.
  const bool too_many = x.size() > kSmallVector && found.indices.size() > 3 * k + x.size() / 32;
  if (is_complete && found.indices.size() >= k && !too_many) {
    assert(found.indices.empty() || found.indices.back() < x.size());
    return found;
  }
  Candidates& cold = workspace.cold;
  collect(x, likely_bound(x, k, magnitudes_of<Real>(workspace)), cold);
  if (cold.indices.size() < k && x.size() > kSmallVector) {
    collect(x, certain_bound(x, k, workspace.histogram), cold);
  }
  return cold;
}

template <class Real>
void take_magnitudes(std::span<const Real> values, Magnitudes<Real>& magnitudes) {
  magnitudes.reserve(std::bit_ceil(values.size() + 1));
  magnitudes.resize(values.size());
  std::transform(values.begin(), values.end(), magnitudes.begin(), magnitude_bits<Real>);
}

/// selected := the `count` entries within the cut.
template <class Real>
void emit(const Candidates& candidates,
          const Magnitudes<Real>& magnitudes,
          KthMagnitude cut,
          std::size_t count,
          SparseVector<Real>& selected) {
  // Every candidate is written and the position moves on only for those within the cut, hence one
  // more place. A branch would often be mispredicted.
  selected.indices.resize(count + 1);
  selected.values.resize(count + 1);
  const auto& values = candidates.values<Real>();
  std::size_t filled = 0;
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    selected.indices[filled] = candidates.indices[i];
    selected.values[filled] = values[i];
    filled += is_within(cut, magnitudes[i]) ? 1 : 0;
  }
  assert(filled == count);
  selected.indices.resize(count);
  selected.values.resize(count);
}

/// Returns the threshold, raised to the smallest positive number where it is 0: zeros are not
/// selected.
template <class Real>
Real above_zero(Real threshold) {
  return std::max(threshold, std::numeric_limits<Real>::denorm_min());
}

/// True if the candidates of a pass include all entries that reach the threshold.
template <class Real>
bool covers(const Candidates& found, Real threshold) {
  return found.complete && static_cast<Real>(found.bound) <= threshold;
}

}  // namespace

template <class Real>
void select_top_k(std::span<const Real> x,
                  std::size_t k,
                  SelectWorkspace& workspace,
                  SparseVector<Real>& selected) {
  assert(x.size() <= std::numeric_limits<std::uint32_t>::max());
  make_room<Real>(x.size(), k, workspace);
  selected.clear();
  if (k == 0) {
    workspace.found().complete = false;
    workspace.found().bound = 0;
    return;
  }
  const Candidates& candidates = candidates_for(x, k, workspace);
  const double bound = candidates.bound;
  Candidates& found = workspace.found();
  const std::size_t last_rank = std::exchange(found.rank, 0);
  found.bound = 0;
  auto& magnitudes = magnitudes_of<Real>(workspace);
  take_magnitudes<Real>(candidates.values<Real>(), magnitudes);
  if (magnitudes.empty()) {
    return;
  }
  const Ranking<MagnitudeBits<Real>> ranking(magnitudes, workspace.histogram);
  const std::size_t count = std::min(k, magnitudes.size());
  const KthMagnitude cut = ranking.cut(count, bucket_of<Real>(workspace));
  emit(candidates, magnitudes, cut, count, selected);
  const std::size_t wanted = wanted_candidates(k, x.size());
  if (count == k && wanted <= most_candidates(x.size())) {
    const bool is_warm = &candidates == &found;
    const std::size_t rank = is_warm ? next_rank(last_rank, magnitudes.size(), k, wanted) : wanted;
    set_next_bound<Real>(
        ranking, magnitudes.size(), rank, value_of<Real>(cut.magnitude), bound, found);
  }
}

template <class Real>
void note_candidates(std::span<const Real> x, SelectWorkspace& workspace) {
  Candidates& found = workspace.found();
  if (found.bound > 0) {
    collect(x, above_zero(static_cast<Real>(found.bound)), found);
    found.complete = true;
  }
}

template <class Real>
void select_above(std::span<const Real> x,
                  Real threshold,
                  SelectWorkspace& workspace,
                  SparseVector<Real>& selected) {
  // The margin keeps the bound below a threshold that falls with the step size.
  constexpr double kMargin = 1.0 / 32;
  make_room<Real>(x.size(), 0, workspace);
  const Real least = above_zero(threshold);
  Candidates& found = workspace.found();
  const bool is_warm = covers(found, least);
  found.complete = false;
  if (!is_warm) {
    collect(x, least, workspace.cold);
  }
  const Candidates& candidates = is_warm ? found : workspace.cold;
  const auto& values = candidates.values<Real>();
  selected.clear();
  selected.make_room(0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) >= least) {
      selected.push_back(candidates.indices[i], values[i]);
    }
  }
  const bool is_sparse = 2 * selected.size() <= most_candidates(x.size());
  found.bound = is_sparse ? (1 - kMargin) * static_cast<double>(threshold) : 0;
}

template <class Real>
std::size_t count_above(std::span<const Real> x, Real threshold, SelectWorkspace& workspace) {
  const Real least = above_zero(threshold);
  const Candidates& found = workspace.found();
  if (!covers(found, least)) {
    return kernels::best<Real>().count(x.data(), x.size(), least);
  }
  const auto& values = found.values<Real>();
  return static_cast<std::size_t>(std::count_if(
      values.begin(), values.end(), [&](Real value) { return std::abs(value) >= least; }));
}

template void select_top_k<float>(std::span<const float>,
                                  std::size_t,
                                  SelectWorkspace&,
                                  SparseVector<float>&);
template void select_top_k<double>(std::span<const double>,
                                   std::size_t,
                                   SelectWorkspace&,
                                   SparseVector<double>&);
template void note_candidates<float>(std::span<const float>, SelectWorkspace&);
template void note_candidates<double>(std::span<const double>, SelectWorkspace&);
template void select_above<float>(std::span<const float>,
                                  float,
                                  SelectWorkspace&,
                                  SparseVector<float>&);
template void select_above<double>(std::span<const double>,
                                   double,
                                   SelectWorkspace&,
                                   SparseVector<double>&);
template std::size_t count_above<float>(std::span<const float>, float, SelectWorkspace&);
template std::size_t count_above<double>(std::span<const double>, double, SelectWorkspace&);

}  // namespace residuum
