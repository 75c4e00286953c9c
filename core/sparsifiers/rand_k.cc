// Rand_k(a): the entries of a on a uniformly random k-subset, unscaled; E|a - Rand_k(a)|^2 =
// (1 - k/d) |a|^2 exactly. With mask = "shared" all workers draw the same subset, so that their
// messages add up index by index; with "per-worker" each draws its own.

#include <algorithm>
#include <utility>

#include "core/config/amount.h"
#include "core/random/random.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

/// The stream that all workers share; no worker has this number.
constexpr std::uint32_t kShared = 0xffffffff;

/// A uniformly random k-subset of {0, ..., d-1}, increasing (Floyd; Bentley, CACM 1987).
void draw_subset(std::size_t d,
                 std::size_t k,
                 RandomStream& random,
                 std::vector<std::uint32_t>& subset) {
  std::vector<bool> taken(d);
  subset.clear();
  for (std::size_t j = d - k; j < d; ++j) {
    const auto drawn = random.below(static_cast<std::uint32_t>(j + 1));
    const auto chosen = taken[drawn] ? static_cast<std::uint32_t>(j) : drawn;
    taken[chosen] = true;
    subset.push_back(chosen);
  }
  std::sort(subset.begin(), subset.end());
}

class RandK final : public SparsifierFor<RandK> {
 public:
  RandK(Amount amount, bool shared) : amount_(std::move(amount)), shared_(shared) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    const std::uint32_t worker = shared_ ? kShared : static_cast<std::uint32_t>(context.worker);
    RandomStream random(
        context.seed, Purpose::sparsifier, worker, static_cast<std::uint32_t>(context.iteration));
    auto& subset = workspace.candidates;
    draw_subset(accumulator.size(), amount_.resolve(accumulator.size()), random, subset);
    message.everything = false;
    message.entries.clear();
    for (const std::uint32_t i : subset) {
      if (accumulator[i] != 0) {
        message.entries.push_back(i, accumulator[i]);
      }
    }
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    return amount_.resolve(dimension);
  }

  SparsifierLaw law(std::size_t dimension, double /*step_size*/) const override {
    const auto kept = static_cast<double>(amount_.resolve(dimension));
    return {.contraction = kept / static_cast<double>(dimension),
            .pathwise = false,
            .threshold = std::nullopt};
  }

 private:
  Amount amount_;
  bool shared_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_rand_k(const Section& section) {
  const Amount amount = Amount::from(section);
  const auto mask = section.choice("mask", {"shared", "per-worker"}, "shared");
  return std::make_unique<RandK>(amount, mask == "shared");
}

}  // namespace residuum
