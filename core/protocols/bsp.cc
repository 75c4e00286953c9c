// In the bulk-synchronous protocol all workers take their gradients at one model and exchange at
// every iteration. In the symbols of the papers, at iteration t, for every worker p:
//   a^p = e^p + eta G^p(w);  s^p = C(a^p);  g = AGG(s^1 .. s^P);  w -= g / P;
//   e^p = a^p - delivered.

#include <utility>

#include "core/protocols/lockstep_loop.h"

namespace residuum {
namespace {

class Bsp final : public ProtocolFor<Bsp> {
 public:
  explicit Bsp(SimulatedMachine machine) : machine_(std::move(machine)) {}

  ProtocolLaw law(int workers) const override {
    return {.contributions = static_cast<std::uint64_t>(workers),
            .times_gradients = has_virtual_time(machine_),
            .measures_gradients = machine_.measures,
            .gradient_s = machine_.compute.typical(),
            .may_leave_out = true,
            .is_on_wall_clock = machine_.is_real};
  }
  void check(const Method& /*method*/, std::size_t /*dimension*/, int workers) const override {
    check_speeds(machine_, workers);
  }
  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const {
    return std::make_unique<LockstepLoop<Real>>(state, 1, machine_);
  }

 private:
  SimulatedMachine machine_;
};

}  // namespace

std::unique_ptr<Protocol> make_bsp(const Section& section) {
  return std::make_unique<Bsp>(read_lockstep_machine(section));
}

const Protocol& bulk_synchronous() {
  static const Bsp bsp({.compute = TimeLaw::constant(0)});
  return bsp;
}

}  // namespace residuum
