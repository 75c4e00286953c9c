// rTop_k(a) keeps k entries that are drawn at random among the r of largest magnitude (Barnes,
// Inan, Isik, Ozgur, "rTop-k: a statistical estimation approach to distributed SGD", IEEE JSAIT
// 2020, arXiv 2005.10761). It is Top_k for r = k and Rand_k for r = d. Each of the r entries is
// kept with probability k/r, so that
//   E|a - rTop_k(a)|^2 = |a|^2 - (k/r) |Top_r(a)|^2 <= (1 - k/d) |a|^2,
// because |Top_r(a)|^2 >= (r/d) |a|^2. Zeros are never sent: if a has fewer than r nonzero entries,
// the draw is among them. r is `r_over_k` times k, rounded, at most d, so that it follows the
// density from layer to layer. Every worker draws for itself.

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

class RTopK final : public SparsifierFor<RTopK> {
 public:
  RTopK(Amount amount, double ratio) : amount_(std::move(amount)), ratio_(ratio) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    const std::size_t k = amount_.resolve(accumulator.size());
    message.everything = false;
    select_top_k(accumulator, largest_of(accumulator.size()), workspace, message.entries);
    if (message.entries.size() <= k) {
      return;
    }
    RandomStream random = selection_stream(context, /*shared=*/false);
    draw_subset(message.entries.size(), k, random, workspace);
    for (std::size_t i = 0; i < k; ++i) {  // the subset increases, so that no entry is overwritten
      message.entries.indices[i] = message.entries.indices[workspace.subset[i]];
      message.entries.values[i] = message.entries.values[workspace.subset[i]];
    }
    message.entries.resize(k);
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    return amount_.resolve(dimension);
  }

  SparsifierLaw law(std::size_t dimension, double /*step_size*/) const override {
    const std::size_t kept = amount_.resolve(dimension);
    const bool draws = largest_of(dimension) > kept;
    return {.contraction = static_cast<double>(kept) / static_cast<double>(dimension),
            .pathwise = !draws,
            .threshold = std::nullopt,
            .deterministic = !draws,
            .keeps_values = true,
            .keeps_largest = !draws};
  }

 private:
  /// Returns r.
  std::size_t largest_of(std::size_t dimension) const {
    const std::size_t kept = amount_.resolve(dimension);
    const double wanted = std::round(ratio_ * static_cast<double>(kept));
    return wanted < static_cast<double>(dimension)
               ? std::max(kept, static_cast<std::size_t>(wanted))
               : dimension;
  }

  Amount amount_;
  double ratio_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_r_top_k(const Section& section) {
  constexpr double kRatio = 2;
  const double ratio = section.number("r_over_k", kRatio);
  require(ratio >= 1 && std::isfinite(ratio),
          "{} must be at least 1, got {}: k entries are drawn among so many times k",
          section.where("r_over_k"),
          ratio);
  return std::make_unique<RTopK>(Amount::from(section), ratio);
}

}  // namespace residuum
