// Rand_k(a) keeps the entries of a on a uniformly random k-subset; E|a - Rand_k(a)|^2 = (1 - k/d)
// |a|^2 exactly. With mask = "shared" all workers draw the same subset, so that their messages add
// up index by index; with "per-worker" each draws its own.
//
// scaled = true sends (d/k) a_j instead, the unbiased operator (as in Wangni et al., NeurIPS 2018):
// E C(a) = a, at the price of E|a - C(a)|^2 = (d/k - 1) |a|^2, which is a contraction only for k >
// d/2. An error feedback then keeps a_j - (d/k) a_j.

#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

class RandK final : public SparsifierFor<RandK> {
 public:
  RandK(Amount amount, bool shared, bool scaled)
      : amount_(std::move(amount)), shared_(shared), scaled_(scaled) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    RandomStream random = selection_stream(context, shared_);
    const std::size_t d = accumulator.size();
    const std::size_t kept = amount_.resolve(d);
    draw_subset(d, kept, random, workspace);
    const auto scale =
        static_cast<Real>(scaled_ ? static_cast<double>(d) / static_cast<double>(kept) : 1.0);
    message.everything = false;
    message.entries.clear();
    for (const std::uint32_t i : workspace.subset) {
      if (accumulator[i] != 0) {
        message.entries.push_back(i, scale * accumulator[i]);
      }
    }
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    return amount_.resolve(dimension);
  }

  SparsifierLaw law(std::size_t dimension, double /*step_size*/) const override {
    const auto kept = static_cast<double>(amount_.resolve(dimension));
    const auto d = static_cast<double>(dimension);
    SparsifierLaw law{.contraction = kept / d, .pathwise = false, .threshold = std::nullopt};
    if (scaled_) {
      law.contraction = 2 * kept > d ? std::optional(2 - d / kept) : std::nullopt;
    }
    law.exact = law.contraction.has_value();
    law.keeps_values = !scaled_;
    law.shares_support = shared_;
    law.unbiased = scaled_;
    return law;
  }

 private:
  Amount amount_;
  bool shared_;
  bool scaled_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_rand_k(const Section& section) {
  const Amount amount = Amount::from(section);
  const auto mask = section.choice("mask", {"shared", "per-worker"}, "shared");
  const bool scaled = section.flag("scaled", false);
  return std::make_unique<RandK>(amount, mask == "shared", scaled);
}

}  // namespace residuum
