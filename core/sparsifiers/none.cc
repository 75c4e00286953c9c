// This sparsifier keeps everything: C(a) = a.

#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

class None final : public SparsifierFor<None>, public DeviceSparsifier {
 public:
  template <class Real>
  void select(std::span<const Real> /*accumulator*/,
              const SelectionContext& /*context*/,
              SelectWorkspace& /*workspace*/,
              Message<Real>& message) const {
    message.everything = true;
    message.entries.clear();
  }

  const DeviceSparsifier* on_device() const override { return this; }
  void plan_there(DeviceVectors& /*memory*/,
                  const Segment& /*of*/,
                  const SelectionContext& /*context*/,
                  DevicePlan& plan) const override {
    plan.everything = true;
  }

  std::optional<std::size_t> k(std::size_t dimension) const override { return dimension; }

  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override {
    return {.contraction = 1.0,
            .pathwise = true,
            .threshold = std::nullopt,
            .exact = true,
            .deterministic = true,
            .keeps_values = true,
            .keeps_largest = true,
            .shares_support = true,
            .unbiased = true};
  }
};

}  // namespace

std::unique_ptr<Sparsifier> make_none_sparsifier(const Section& /*section*/) {
  return std::make_unique<None>();
}

}  // namespace residuum
