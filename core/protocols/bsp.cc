// In the bulk-synchronous protocol all workers take their gradients at one model and exchange at
// every iteration. In the symbols of the papers, at iteration t, for every worker p:
//   a^p = e^p + eta G^p(w);  s^p = C(a^p);  g = AGG(s^1 .. s^P);  w -= g / P;
//   e^p = a^p - delivered.

#include "core/protocols/lockstep_loop.h"

namespace residuum {
namespace {

class Bsp final : public Protocol {
 public:
  ProtocolLaw law(int workers) const override {
    return {.contributions = static_cast<std::uint64_t>(workers)};
  }
  std::unique_ptr<Loop> start(Stage<float>& stage) const override {
    return std::make_unique<LockstepLoop<float>>(stage, 1);
  }
  std::unique_ptr<Loop> start(Stage<double>& stage) const override {
    return std::make_unique<LockstepLoop<double>>(stage, 1);
  }
};

}  // namespace

std::unique_ptr<Protocol> make_bsp(const Section& /*section*/) { return std::make_unique<Bsp>(); }

const Protocol& bulk_synchronous() {
  static const Bsp bsp;
  return bsp;
}

}  // namespace residuum
