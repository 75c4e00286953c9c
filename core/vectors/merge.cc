#include "core/vectors/merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <functional>
#include <span>

namespace residuum {

namespace {

using list_kernels::Bits;
using list_kernels::magnitude;

/// Below this size a histogram costs more than comparing the entries directly.
constexpr std::size_t kSmall = 512;

constexpr int kBucketBits = 11;
constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;

/// Neighbours are counted in different tables, so that equal buckets do not wait for one another.
constexpr std::size_t kTables = 4;

/// A cut is the magnitude of the k-th entry of the order, the number of entries that have exactly
/// that, and how many of these are among the first k.
template <class Real>
struct Cut {
  Bits<Real> magnitude = 0;
  std::size_t equal = 0;
  std::size_t ties = 0;
};

/// Names the bucket that the `wanted`-th largest magnitude lies in; `wanted` becomes its rank
/// there. Buckets have equal width.
struct Bucket {
  std::size_t number = 0;
  std::size_t wanted = 0;
};

template <class Real>
Bucket find_bucket(std::span<const Bits<Real>> magnitudes,
                   Bits<Real> lowest,
                   int shift,
                   std::size_t wanted,
                   std::vector<std::uint32_t>& histogram) {
  histogram.assign(kTables * kBuckets, 0);
  const std::size_t whole = magnitudes.size() - magnitudes.size() % kTables;
  for (std::size_t i = 0; i < whole; i += kTables) {
    for (std::size_t table = 0; table < kTables; ++table) {
      ++histogram[table * kBuckets + ((magnitudes[i + table] - lowest) >> shift)];
    }
  }
  for (std::size_t i = whole; i < magnitudes.size(); ++i) {
    ++histogram[(magnitudes[i] - lowest) >> shift];
  }
  std::size_t bucket = kBuckets;
  for (;;) {
    assert(bucket > 0);
    --bucket;
    std::size_t count = 0;
    for (std::size_t table = 0; table < kTables; ++table) {
      count += histogram[table * kBuckets + bucket];
    }
    if (wanted <= count) {
      return {.number = bucket, .wanted = wanted};
    }
    wanted -= count;
  }
}

/// Narrows the magnitudes down to one bucket after the other, each a 2048th of the range left,
/// until few are left or all that are left are equal.
template <class Real>
Cut<Real> find_cut(std::size_t k, SplitWorkspace<Real>& workspace) {
  std::span<Bits<Real>> left = workspace.magnitudes;
  assert(k >= 1 && k <= left.size());
  std::size_t wanted = k;
  while (left.size() > kSmall) {
    Bits<Real> lowest = left.front();
    Bits<Real> highest = left.front();
    for (const Bits<Real> m : left) {
      lowest = std::min(lowest, m);
      highest = std::max(highest, m);
    }
    if (lowest == highest) {
      return {.magnitude = lowest, .equal = left.size(), .ties = wanted};
    }
    const int shift = std::max(0, static_cast<int>(std::bit_width(highest - lowest)) - kBucketBits);
    const auto bucket = find_bucket<Real>(left, lowest, shift, wanted, workspace.histogram);
    const Bits<Real> first = lowest + (static_cast<Bits<Real>>(bucket.number) << shift);
    left = left.first(list_kernels::best<Real>().keep_within(
        left.data(), left.size(), first, Bits<Real>{1} << shift));
    wanted = bucket.wanted;
  }
  const auto kth = left.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(left.begin(), kth, left.end(), std::greater<>());
  const Bits<Real> cut = *kth;
  const auto above = std::count_if(left.begin(), kth, [cut](Bits<Real> m) { return m > cut; });
  const auto equal = std::count(left.begin(), left.end(), cut);
  return {.magnitude = cut,
          .equal = static_cast<std::size_t>(equal),
          .ties = wanted - static_cast<std::size_t>(above)};
}

/// Returns the position after the last tie that is kept: ties go to lower indices.
template <class Real>
std::size_t end_of_ties(const SparseVector<Real>& vector, const Cut<Real>& cut) {
  if (cut.ties == cut.equal) {
    return vector.size();
  }
  std::size_t ties = 0;
  std::size_t i = 0;
  while (ties < cut.ties) {
    ties += magnitude(vector.values[i]) == cut.magnitude ? 1U : 0U;
    ++i;
  }
  return i;
}

/// Keeps the entries that reach the cut up to `ties_end`, and those that exceed it from there on.
template <class Real>
void divide(const SparseVector<Real>& vector,
            std::size_t ties_end,
            Bits<Real> cut_magnitude,
            std::size_t k,
            SparseVector<Real>& kept,
            SparseVector<Real>& dropped) {
  kept.resize(k + list_kernels::kSlack);
  dropped.resize(vector.size() - k + list_kernels::kSlack);
  std::size_t reached = 0;
  const auto divide_part = [&](std::size_t begin, std::size_t end, Bits<Real> bound) {
    const std::size_t below = begin - reached;
    reached += list_kernels::best<Real>().divide(
        {vector.indices.data() + begin, vector.values.data() + begin, end - begin},
        bound,
        {kept.indices.data() + reached, kept.values.data() + reached},
        {dropped.indices.data() + below, dropped.values.data() + below});
  };
  divide_part(0, ties_end, cut_magnitude);
  divide_part(ties_end, vector.size(), cut_magnitude + 1);
  assert(reached == k);
  kept.resize(k);
  dropped.resize(vector.size() - k);
}

}  // namespace

template <class Real>
void split_top_k(const SparseVector<Real>& vector,
                 std::size_t k,
                 SplitWorkspace<Real>& workspace,
                 SparseVector<Real>& kept,
                 SparseVector<Real>& dropped) {
  assert(&kept != &vector && &dropped != &vector && &kept != &dropped);
  if (vector.size() <= k) {
    copy(vector, kept);
    dropped.clear();
    return;
  }
  if (k == 0) {
    kept.clear();
    copy(vector, dropped);
    return;
  }
  auto& magnitudes = workspace.magnitudes;
  magnitudes.resize(vector.size());
  std::transform(vector.values.begin(), vector.values.end(), magnitudes.begin(), [](Real value) {
    return magnitude(value);
  });
  const auto found = find_cut(k, workspace);
  divide(vector, end_of_ties(vector, found), found.magnitude, k, kept, dropped);
}

template <class Real>
void split_above(const SparseVector<Real>& vector,
                 Real threshold,
                 SparseVector<Real>& kept,
                 SparseVector<Real>& dropped) {
  assert(&kept != &vector && &dropped != &vector && &kept != &dropped);
  kept.resize(vector.size() + list_kernels::kSlack);
  dropped.resize(vector.size() + list_kernels::kSlack);
  const std::size_t reached = list_kernels::best<Real>().divide(
      {vector.indices.data(), vector.values.data(), vector.size()},
      magnitude(threshold),
      {kept.indices.data(), kept.values.data()},
      {dropped.indices.data(), dropped.values.data()});
  kept.resize(reached);
  dropped.resize(vector.size() - reached);
}

template void split_above<float>(const SparseVector<float>&,
                                 float,
                                 SparseVector<float>&,
                                 SparseVector<float>&);
template void split_above<double>(const SparseVector<double>&,
                                  double,
                                  SparseVector<double>&,
                                  SparseVector<double>&);
template void split_top_k<float>(const SparseVector<float>&,
                                 std::size_t,
                                 SplitWorkspace<float>&,
                                 SparseVector<float>&,
                                 SparseVector<float>&);
template void split_top_k<double>(const SparseVector<double>&,
                                  std::size_t,
                                  SplitWorkspace<double>&,
                                  SparseVector<double>&,
                                  SparseVector<double>&);

// --- Intersection -----------------------------------------------------------------------------

namespace {

using list_kernels::Bits;

/// A range has 2^18 coordinates, whose bits take 32 KiB.
constexpr int kRangeShift = 18;

template <class Real>
constexpr std::uint32_t kWordBits = 8 * sizeof(Bits<Real>);

/// Returns the end of the run of `indices`, from `begin` on, that lies in the range.
std::size_t end_in_range(std::span<const std::uint32_t> indices,
                         std::size_t begin,
                         std::uint32_t range) {
  const auto first = indices.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto end = std::partition_point(
      first, indices.end(), [range](std::uint32_t i) { return i >> kRangeShift <= range; });
  return static_cast<std::size_t>(end - indices.begin());
}

/// Skips the entries before the range and collects the marked ones in it.
template <class Real>
void look_in_range(const SparseVector<Real>& vector,
                   std::uint32_t range,
                   IntersectWorkspace<Real>& workspace,
                   std::size_t& cursor,
                   SparseVector<Real>& inside) {
  if (range > 0) {
    cursor = end_in_range(vector.indices, cursor, range - 1);
  }
  const std::size_t end = end_in_range(vector.indices, cursor, range);
  const std::size_t room = end - cursor + list_kernels::kSlack;
  auto& found = workspace.found;
  if (found.size() < room) {
    found.resize(room);
  }
  const auto kept = static_cast<std::ptrdiff_t>(list_kernels::best<Real>().keep_marked(
      {vector.indices.data() + cursor, vector.values.data() + cursor, end - cursor},
      {workspace.marks.data(), range << kRangeShift},
      {found.indices.data(), found.values.data()}));
  inside.indices.insert(inside.indices.end(), found.indices.begin(), found.indices.begin() + kept);
  inside.values.insert(inside.values.end(), found.values.begin(), found.values.begin() + kept);
  cursor = end;
}

template <class Real>
void set_marks(std::span<const std::uint32_t> members, bool set, std::vector<Bits<Real>>& marks) {
  for (const std::uint32_t i : members) {
    const std::uint32_t at = i & ((std::uint32_t{1} << kRangeShift) - 1);
    const Bits<Real> bit = Bits<Real>{1} << (at % kWordBits<Real>);
    auto& word = marks[at / kWordBits<Real>];
    word = set ? word | bit : word & ~bit;
  }
}

}  // namespace

template <class Real>
void intersect(std::span<const SparseVector<Real>* const> vectors,
               std::span<const std::uint32_t> support,
               IntersectWorkspace<Real>& workspace,
               std::span<SparseVector<Real>> inside) {
  assert(vectors.size() == inside.size());
  workspace.marks.resize((std::size_t{1} << kRangeShift) / kWordBits<Real>);
  workspace.cursors.assign(vectors.size(), 0);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    inside[i].clear();
    inside[i].make_room(support.size());
  }
  for (std::size_t begin = 0; begin < support.size();) {
    const std::uint32_t range = support[begin] >> kRangeShift;
    const std::size_t end = end_in_range(support, begin, range);
    const auto members = support.subspan(begin, end - begin);
    set_marks<Real>(members, true, workspace.marks);
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      look_in_range(*vectors[i], range, workspace, workspace.cursors[i], inside[i]);
    }
    set_marks<Real>(members, false, workspace.marks);
    begin = end;
  }
}

template void intersect<float>(std::span<const SparseVector<float>* const>,
                               std::span<const std::uint32_t>,
                               IntersectWorkspace<float>&,
                               std::span<SparseVector<float>>);
template void intersect<double>(std::span<const SparseVector<double>* const>,
                                std::span<const std::uint32_t>,
                                IntersectWorkspace<double>&,
                                std::span<SparseVector<double>>);

}  // namespace residuum
