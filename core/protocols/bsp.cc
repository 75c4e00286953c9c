// In the bulk-synchronous protocol all workers take their gradients at one model and exchange at
// every iteration. In the symbols of the papers, at iteration t, for every worker p:
//   a^p = e^p + eta G^p(w);  s^p = C(a^p);  g = AGG(s^1 .. s^P);  w -= g / P;
//   e^p = a^p - delivered.

#include "core/protocols/protocol.h"

namespace residuum {
namespace {

template <class Real>
class BspLoop final : public Loop {
 public:
  explicit BspLoop(Stage<Real>& stage)
      : stage_(stage), exchange_(stage.aggregator().template exchange<Real>()) {}

  StepEnd advance(std::uint64_t t) override {
    stage_.begin(t);
    stage_.compute();
    const StepEnd end = stage_.form();
    if (end.diverged()) {
      return end;
    }
    exchange_->combine(stage_.cluster(), stage_.contributions(), delivery_);
    stage_.update(delivery_);
    stage_.settle(delivery_);
    return end;
  }

 private:
  Stage<Real>& stage_;
  std::unique_ptr<Exchange<Real>> exchange_;
  Delivery<Real> delivery_;
};

class Bsp final : public Protocol {
 public:
  ProtocolLaw law() const override { return {.synchrony = Synchrony::lockstep}; }
  std::unique_ptr<Loop> start(Stage<float>& stage) const override {
    return std::make_unique<BspLoop<float>>(stage);
  }
  std::unique_ptr<Loop> start(Stage<double>& stage) const override {
    return std::make_unique<BspLoop<double>>(stage);
  }
};

}  // namespace

std::unique_ptr<Protocol> make_bsp(const Section& /*section*/) { return std::make_unique<Bsp>(); }

const Protocol& bulk_synchronous() {
  static const Bsp bsp;
  return bsp;
}

}  // namespace residuum
