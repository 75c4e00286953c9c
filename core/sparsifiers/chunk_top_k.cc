// The accumulator is cut into blocks of `block` consecutive entries, the last of which may be
// shorter, and block b keeps its k_b entries of largest |a_j|; ties go to the lower index, and
// zeros are never sent. Every |a_b - Top_{k_b}(a_b)|^2 <= (1 - k_b/|b|) |a_b|^2, so that over all
// blocks
//
//   |a - C(a)|^2 <= sum_b (1 - k_b/|b|) |a_b|^2 <= (1 - min_b k_b/|b|) |a|^2.
//
// An accumulator whose energy lies in the block of the least share, at equal magnitudes, meets the
// bound. The k of the section is shared out in proportion: with blocks [e_{b-1}, e_b) it is
// k_b = floor(e_b k/d) - floor(e_{b-1} k/d), which add up to k, but at least 1, without which there
// would be no contraction.
//
// An index travels as its place in its block, in ceil(log2 block) bits, and every block tells how
// many it keeps, since zeros may make them fewer than k_b (core/messages/message.h).

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

constexpr std::size_t kShortBlock = 256;

/// The shares of k: the most entries that each block keeps.
class BlockShares {
 public:
  BlockShares(const BlockCut& cut, std::size_t k) : cut_(cut), k_(k) {}

  std::size_t of(const Segment& block) const {
    const std::size_t begin = whole_share(block.begin);
    return std::max<std::size_t>(1, whole_share(block.begin + block.size) - begin);
  }
  std::size_t sum() const {
    std::size_t sum = 0;
    for (std::size_t number = 0; number < cut_.count(); ++number) {
      sum += of(cut_.segment(number));
    }
    return sum;
  }
  /// Returns min_b k_b/|b|.
  double least() const {
    double least = 1;
    for (std::size_t number = 0; number < cut_.count(); ++number) {
      const Segment block = cut_.segment(number);
      least = std::min(least, static_cast<double>(of(block)) / static_cast<double>(block.size));
    }
    return least;
  }

 private:
  /// Returns floor(end k/d); both factors have 32 bits.
  std::size_t whole_share(std::size_t end) const { return end * k_ / cut_.dimension; }

  BlockCut cut_;
  std::size_t k_;
};

/// Adds the k entries of largest magnitude among those that `order` numbers, or all of them.
/// Numbers rise with indices, so that ties go to the lower number.
template <class Real, class ValueOf, class IndexOf>
void add_largest(std::vector<std::uint32_t>& order,
                 std::size_t k,
                 const ValueOf& value_of,
                 const IndexOf& index_of,
                 SparseVector<Real>& entries) {
  if (order.size() > k) {
    const auto comes_first = [&](std::uint32_t i, std::uint32_t j) {
      const Real left = std::abs(value_of(i));
      const Real right = std::abs(value_of(j));
      return left > right || (left == right && i < j);
    };
    std::nth_element(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(), comes_first);
    order.resize(k);
    std::sort(order.begin(), order.end());
  }
  for (const std::uint32_t i : order) {
    entries.push_back(index_of(i), value_of(i));
  }
}

/// Adds the entries of a short block, which are ordered by hand: what a selection of its own costs
/// at its start would be more.
template <class Real>
void add_from_short(std::span<const Real> accumulator,
                    const Segment& block,
                    std::size_t k,
                    std::vector<std::uint32_t>& order,
                    SparseVector<Real>& entries) {
  order.clear();
  for (std::size_t i = block.begin; i < block.begin + block.size; ++i) {
    if (accumulator[i] != 0) {
      order.push_back(static_cast<std::uint32_t>(i));
    }
  }
  add_largest<Real>(
      order,
      k,
      [&](std::uint32_t i) { return accumulator[i]; },
      [](std::uint32_t i) { return i; },
      entries);
}

/// Adds the entries of a long block. The block before it has left a bound that few entries reach.
template <class Real>
void add_from_long(std::span<const Real> accumulator,
                   const Segment& block,
                   std::size_t k,
                   SelectWorkspace& workspace,
                   SparseVector<Real>& entries) {
  const auto values = accumulator.subspan(block.begin, block.size);
  auto& kept = std::get<SparseVector<Real>>(workspace.block_entries);
  note_candidates(values, workspace);
  select_top_k(values, k, workspace, kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    entries.push_back(static_cast<std::uint32_t>(block.begin + kept.indices[i]), kept.values[i]);
  }
}

/// Adds the entries of a block out of candidates [begin, end), which are at least k of its entries
/// and all that reach a bound.
template <class Real>
void add_from_candidates(const Candidates& found,
                         std::size_t begin,
                         std::size_t end,
                         std::size_t k,
                         std::vector<std::uint32_t>& order,
                         SparseVector<Real>& entries) {
  order.resize(end - begin);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(begin));
  add_largest<Real>(
      order,
      k,
      [&](std::uint32_t i) { return found.values<Real>()[i]; },
      [&](std::uint32_t i) { return found.indices[i]; },
      entries);
}

/// Returns the bound for the next pass over a vector like this one of d entries: one that the k_b
/// largest entries of five blocks in six reach. A lower bound saves a second look at the sixth
/// block, but costs more time for candidates: error feedback keeps many just below the cuts. If the
/// largest blocks alone have too many candidates, the bound is higher, and the blocks without
/// enough of them are read once more.
double next_bound(const Candidates& found,
                  std::vector<double>& cuts,
                  std::size_t k,
                  std::size_t d) {
  constexpr double kMargin = 1.0 / 128;
  constexpr double kChange = 1.0 / 16;
  constexpr std::size_t kLowOnes = 6;
  if (cuts.empty()) {
    return 0;
  }
  const auto low = cuts.begin() + static_cast<std::ptrdiff_t>(cuts.size() / kLowOnes);
  std::nth_element(cuts.begin(), low, cuts.end());
  const double lowest = (1 - kMargin) * *low;
  if (found.bound == 0) {
    return lowest;
  }
  const std::size_t most = 8 * k + d / 64;
  const std::size_t count = found.indices.size();
  const double change = !found.complete     ? 2  // the pass gave up
                        : count > most      ? 1 + kChange
                        : 2 * count <= most ? 1 - kChange
                                            : 1;
  return std::max(lowest, change * found.bound);
}

/// Selects from one block after the other. The candidates that the pass has noted are of the whole
/// vector: blocks that have enough of them are not read again.
template <class Real>
class BlockByBlock {
 public:
  BlockByBlock(std::span<const Real> accumulator,
               SelectWorkspace& workspace,
               SparseVector<Real>& entries)
      : accumulator_(accumulator), workspace_(workspace), entries_(entries) {
    std::swap(workspace.found(), workspace.of_all_blocks);
    workspace.found().complete = false;
    workspace.found().bound = 0;
    workspace.block_cuts.clear();
  }

  void add(const Segment& block, std::size_t k) {
    const std::size_t before = entries_.size();
    const std::size_t begin = at_;
    const Candidates& found = workspace_.of_all_blocks;
    while (found.complete && at_ < found.indices.size() &&
           found.indices[at_] < block.begin + block.size) {
      ++at_;
    }
    if (at_ - begin >= k) {
      add_from_candidates<Real>(found, begin, at_, k, workspace_.subset, entries_);
    } else if (block.size <= kShortBlock) {
      add_from_short(accumulator_, block, k, workspace_.subset, entries_);
    } else {
      add_from_long(accumulator_, block, k, workspace_, entries_);
    }
    if (entries_.size() - before == k) {
      note_cut(before);
    }
  }

  void finish() {
    Candidates& found = workspace_.of_all_blocks;
    found.bound = next_bound(found, workspace_.block_cuts, entries_.size(), accumulator_.size());
    found.complete = false;
    std::swap(workspace_.found(), found);
  }

 private:
  void note_cut(std::size_t first) {
    Real cut = std::abs(entries_.values[first]);
    for (std::size_t i = first; i < entries_.size(); ++i) {
      cut = std::min(cut, std::abs(entries_.values[i]));
    }
    workspace_.block_cuts.push_back(static_cast<double>(cut));
  }

  std::span<const Real> accumulator_;
  SelectWorkspace& workspace_;
  SparseVector<Real>& entries_;
  std::size_t at_ = 0;  // of the candidates, those before are of earlier blocks
};

class ChunkTopK final : public SparsifierFor<ChunkTopK>, public DeviceSparsifier {
 public:
  ChunkTopK(Amount amount, std::uint32_t block) : amount_(std::move(amount)), block_(block) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& /*context*/,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    message.everything = false;
    message.entries.clear();
    const BlockCut cut = cut_of(accumulator.size());
    const BlockShares shares = shares_of(accumulator.size());
    BlockByBlock<Real> blocks(accumulator, workspace, message.entries);
    for (std::size_t number = 0; number < cut.count(); ++number) {
      const Segment block = cut.segment(number);
      blocks.add(block, shares.of(block));
    }
    blocks.finish();
  }

  const DeviceSparsifier* on_device() const override { return this; }
  void plan_there(DeviceVectors& /*memory*/,
                  const Segment& of,
                  const SelectionContext& /*context*/,
                  DevicePlan& plan) const override {
    const BlockCut cut = cut_of(of.size);
    const BlockShares shares = shares_of(of.size);
    plan.parts.reserve(plan.parts.size() + cut.count());
    for (std::size_t number = 0; number < cut.count(); ++number) {
      const Segment block = cut.segment(number);
      plan.parts.push_back(
          {.at = {.begin = of.begin + block.begin, .size = block.size}, .most = shares.of(block)});
    }
  }

  std::size_t parts_there(const Segment& of) const override { return cut_of(of.size).count(); }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    return shares_of(dimension).sum();
  }

  SparsifierLaw law(std::size_t dimension, double /*step_size*/) const override {
    return {.contraction = shares_of(dimension).least(),
            .pathwise = true,
            .threshold = std::nullopt,
            .deterministic = true,
            .keeps_values = true,
            .keeps_largest = cut_of(dimension).count() == 1};
  }

  IndexForm index_form(std::size_t /*dimension*/) const override {
    return {.kind = IndexForm::Kind::local, .block = block_};
  }

 private:
  BlockCut cut_of(std::size_t dimension) const { return {.dimension = dimension, .block = block_}; }
  BlockShares shares_of(std::size_t dimension) const {
    return {cut_of(dimension), amount_.resolve(dimension)};
  }

  Amount amount_;
  std::uint32_t block_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_chunk_top_k(const Section& section) {
  constexpr std::int64_t kUsual = 4096;
  const Amount amount = Amount::from(section);
  return std::make_unique<ChunkTopK>(amount, block_from(section, kUsual));
}

}  // namespace residuum
