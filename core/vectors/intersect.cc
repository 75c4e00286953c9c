#include "core/vectors/intersect.h"

#include <algorithm>
#include <cassert>

namespace residuum {
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
