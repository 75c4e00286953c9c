// Top_k(a) keeps the k entries of largest |a_j|; ties go to the lower index, and zeros are never
// sent. |a - Top_k(a)|^2 <= (1 - k/d) |a|^2, with equality for equal magnitudes (Stich et al.,
// NeurIPS 2018, Lemma A.1).

#include <utility>

#include "core/config/amount.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

class TopK final : public SparsifierFor<TopK>, public DeviceSparsifier {
 public:
  explicit TopK(Amount amount) : amount_(std::move(amount)) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& /*context*/,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    message.everything = false;
    select_top_k(accumulator, amount_.resolve(accumulator.size()), workspace, message.entries);
  }

  const DeviceSparsifier* on_device() const override { return this; }
  void plan_there(DeviceVectors& /*memory*/,
                  const Segment& of,
                  const SelectionContext& /*context*/,
                  DevicePlan& plan) const override {
    plan.parts.push_back({.at = of, .most = amount_.resolve(of.size)});
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    return amount_.resolve(dimension);
  }

  SparsifierLaw law(std::size_t dimension, double /*step_size*/) const override {
    const auto kept = static_cast<double>(amount_.resolve(dimension));
    return {.contraction = kept / static_cast<double>(dimension),
            .pathwise = true,
            .threshold = std::nullopt,
            .deterministic = true,
            .keeps_values = true,
            .keeps_largest = true};
  }

 private:
  Amount amount_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_top_k(const Section& section) {
  return std::make_unique<TopK>(Amount::from(section));
}

}  // namespace residuum
