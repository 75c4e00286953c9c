// The accumulator is cut into B = ceil(d/block) blocks of `block` consecutive entries, the last of
// which may be shorter, and a uniformly random set of m blocks is sent whole, zeros included. Each
// block is in the set with probability m/B, whatever its length, so that
//
//   E|a - C(a)|^2 = (1 - m/B) |a|^2 exactly, and m d/B entries are sent in the mean.
//
// m is B k/d, rounded to the nearest, and at least 1: if the block divides d and k, m/B is k/d.
// With a short last block m blocks have up to min(d, m block) entries, which is the k that is told,
// and m/B is below k/d: the expected delta of a shared mask is then a little above 1. With mask =
// "shared" all workers draw the same blocks, with "per-worker" each its own.
//
// scaled = true sends (B/m) a_j, the unbiased operator: E C(a) = a, at the price of
//
//   E|a - C(a)|^2 = (B/m - 1) |a|^2, which is a contraction only for m > B/2.
//
// A block travels as its number and its values. If the mask is shared, the receiver of a message
// has drawn the same blocks, and the values travel alone (core/messages/message.h).

#include <algorithm>
#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

struct BlockMask {
  bool is_shared = true;
  bool is_scaled = false;
};

class RandomBlock final : public SparsifierFor<RandomBlock> {
 public:
  RandomBlock(Amount amount, std::uint32_t block, BlockMask mask)
      : amount_(std::move(amount)), block_(block), mask_(mask) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    RandomStream random = selection_stream(context, mask_.is_shared);
    const BlockCut cut = cut_of(accumulator.size());
    draw_subset(cut.count(), drawn_of(cut), random, workspace);
    message.everything = false;
    message.entries.clear();
    message.blocks.assign(workspace.subset.begin(), workspace.subset.end());
    const auto scale = static_cast<Real>(mask_.is_scaled ? inverse_share_of(cut) : 1.0);
    for (const std::uint32_t number : message.blocks) {
      const auto [begin, size] = cut.segment(number);
      for (std::size_t i = begin; i < begin + size; ++i) {
        if (accumulator[i] != 0) {
          message.entries.push_back(static_cast<std::uint32_t>(i), scale * accumulator[i]);
        }
      }
    }
  }

  /// Returns the entries of as many blocks; with the last, they are fewer.
  std::optional<std::size_t> k(std::size_t dimension) const override {
    const BlockCut cut = cut_of(dimension);
    return std::min(dimension, drawn_of(cut) * cut.block);
  }

  SparsifierLaw law(std::size_t dimension, double /*step_size*/) const override {
    const BlockCut cut = cut_of(dimension);
    const double share = static_cast<double>(drawn_of(cut)) / static_cast<double>(cut.count());
    SparsifierLaw law{.contraction = share, .pathwise = false, .threshold = std::nullopt};
    if (mask_.is_scaled) {
      law.contraction =
          2 * drawn_of(cut) > cut.count() ? std::optional(2 - inverse_share_of(cut)) : std::nullopt;
    }
    law.exact = law.contraction.has_value();
    law.keeps_values = !mask_.is_scaled;
    law.shares_support = mask_.is_shared;
    law.unbiased = mask_.is_scaled;
    return law;
  }

  IndexForm index_form(std::size_t /*dimension*/) const override {
    return {.kind = mask_.is_shared ? IndexForm::Kind::agreed : IndexForm::Kind::blocks,
            .block = block_};
  }

 private:
  BlockCut cut_of(std::size_t dimension) const { return {.dimension = dimension, .block = block_}; }
  /// Returns m.
  std::size_t drawn_of(const BlockCut& cut) const {
    const std::size_t product = cut.count() * amount_.resolve(cut.dimension);  // 64 bits hold it
    const std::size_t floor = product / cut.dimension;
    const bool rounds_up = 2 * (product % cut.dimension) >= cut.dimension;
    return std::max<std::size_t>(1, floor + (rounds_up ? 1 : 0));
  }
  /// Returns B/m.
  double inverse_share_of(const BlockCut& cut) const {
    return static_cast<double>(cut.count()) / static_cast<double>(drawn_of(cut));
  }

  Amount amount_;
  std::uint32_t block_;
  BlockMask mask_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_random_block(const Section& section) {
  constexpr std::int64_t kUsual = 256;
  const Amount amount = Amount::from(section);
  const std::uint32_t block = block_from(section, kUsual);
  const auto mask = section.choice("mask", {"shared", "per-worker"}, "shared");
  const bool scaled = section.flag("scaled", false);
  return std::make_unique<RandomBlock>(
      amount, block, BlockMask{.is_shared = mask == "shared", .is_scaled = scaled});
}

}  // namespace residuum
