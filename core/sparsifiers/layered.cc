#include <cassert>
#include <utility>

#include "core/sparsifiers/sparsifier.h"

namespace residuum {
namespace {

class Layered final : public SparsifierFor<Layered>, public DeviceSparsifier {
 public:
  Layered(std::unique_ptr<Sparsifier> inner, std::vector<Segment> layers)
      : inner_(std::move(inner)), layers_(std::move(layers)) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    if (workspace.parts.size() != layers_.size()) {
      // The workspace has no candidates of these layers; those of other segments are of no use.
      workspace.parts.assign(layers_.size(), {});
    }
    message.everything = false;
    message.entries.clear();
    message.entries.make_room(0);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto [begin, size] = layers_[l];
      workspace.part = l;
      const SelectionContext of_layer = context_of(context, l);
      auto& kept = std::get<SparseVector<Real>>(workspace.layer_entries);
      Message<Real> part;
      std::swap(part.entries, kept);
      std::swap(part.blocks, message.blocks);
      inner_->select(accumulator.subspan(begin, size), of_layer, workspace, part);
      std::swap(part.entries, kept);
      std::swap(part.blocks, message.blocks);  // kept as a buffer: the layers' entries are listed
      if (part.everything) {
        message.everything = true;
        break;
      }
      append(kept, begin, message.entries);
    }
    workspace.part = 0;
  }

  const DeviceSparsifier* on_device() const override {
    return inner_->on_device() != nullptr ? this : nullptr;
  }
  void plan_there(DeviceVectors& memory,
                  const Segment& /*of*/,
                  const SelectionContext& context,
                  DevicePlan& plan) const override {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      inner_->on_device()->plan_there(memory, layers_[l], context_of(context, l), plan);
    }
  }
  std::size_t parts_there(const Segment& /*of*/) const override {
    std::size_t parts = 0;
    for (const Segment& layer : layers_) {
      parts += inner_->on_device()->parts_there(layer);
    }
    return parts;
  }
  bool plans_by_numbers() const override { return inner_->on_device()->plans_by_numbers(); }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    assert(dimension == layers_.back().begin + layers_.back().size);
    std::size_t sum = 0;
    for (const auto& layer : layers_) {
      const auto k = inner_->k(layer.size);
      if (!k) {
        return std::nullopt;
      }
      sum += *k;
    }
    return sum;
  }

  /// The law of the whole is that of the layers with the weakest constants. But it does not keep
  /// the largest entries: those of every layer are not those of the whole.
  SparsifierLaw law(std::size_t dimension, double step_size) const override {
    assert(dimension == layers_.back().begin + layers_.back().size);
    SparsifierLaw weakest = inner_->law(layers_.front().size, step_size);
    for (const auto& layer : layers_) {
      weakest = weaker_of(weakest, inner_->law(layer.size, step_size));
    }
    weakest.keeps_largest = weakest.keeps_largest && layers_.size() == 1;
    return weakest;
  }

  std::span<const Segment> segments() const override { return layers_; }
  std::optional<std::size_t> segment_k(std::size_t segment) const override {
    return inner_->k(layers_.at(segment).size);
  }

  /// The pilot finds one threshold for all layers, with the budget that they may send together.
  std::optional<Pilot> pilot(std::size_t dimension) const override {
    assert(dimension == layers_.back().begin + layers_.back().size);
    std::optional<Pilot> whole;
    for (const auto& layer : layers_) {
      const auto pilot = inner_->pilot(layer.size);
      if (!pilot) {
        return std::nullopt;
      }
      const std::size_t before = whole ? whole->k : 0;
      whole = pilot;
      whole->k += before;
    }
    return whole;
  }

  std::unique_ptr<Sparsifier> with_threshold(double threshold) const override {
    auto inner = inner_->with_threshold(threshold);
    return inner ? make_layered(std::move(inner), layers_) : nullptr;
  }

  std::unique_ptr<Sparsifier> started(const RunPlace& place) const override {
    auto inner = inner_->started(place);
    return inner ? make_layered(std::move(inner), layers_) : nullptr;
  }
  bool can_fail() const override { return inner_->can_fail(); }

 private:
  /// Each layer has its own stream of random numbers.
  static SelectionContext context_of(const SelectionContext& context, std::size_t layer) {
    constexpr std::uint64_t kApart = 0x9e3779b97f4a7c15;
    SelectionContext of_layer = context;
    of_layer.seed += layer * kApart;
    return of_layer;
  }

  template <class Real>
  static void append(const SparseVector<Real>& layer,
                     std::size_t begin,
                     SparseVector<Real>& entries) {
    for (std::size_t i = 0; i < layer.size(); ++i) {
      entries.push_back(static_cast<std::uint32_t>(begin + layer.indices[i]), layer.values[i]);
    }
  }

  std::unique_ptr<Sparsifier> inner_;
  std::vector<Segment> layers_;
};

}  // namespace

std::unique_ptr<Sparsifier> make_layered(std::unique_ptr<Sparsifier> inner,
                                         std::vector<Segment> layers) {
  assert(!layers.empty());
  return std::make_unique<Layered>(std::move(inner), std::move(layers));
}

}  // namespace residuum
