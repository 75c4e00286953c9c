// In the bulk-synchronous protocol all workers take their gradients at one model and exchange at
// every iteration. In the symbols of the papers, at iteration t, for every worker p:
//   a^p = e^p + eta G^p(w);  s^p = C(a^p);  g = AGG(s^1 .. s^P);  w -= g / P;
//   e^p = a^p - applied.
// With `lag` = tau > 0 an exchange lasts while the next tau gradients are computed (lag_loop.h).

#include <utility>

#include "core/protocols/expected_gradients.h"
#include "core/protocols/lag_loop.h"
#include "core/protocols/lockstep_loop.h"

namespace residuum {
namespace {

/// The versions by which a gradient is late, and where a study says so, for messages.
struct Lag {
  std::uint64_t versions = 0;
  std::string place = {};
};

class Bsp final : public ProtocolFor<Bsp> {
 public:
  Bsp(SimulatedMachine machine, Lag lag) : machine_(std::move(machine)), lag_(std::move(lag)) {}

  ProtocolLaw law(int workers) const override {
    const bool is_late = lag_.versions > 0;
    return {.synchrony = is_late ? Synchrony::late : Synchrony::lockstep,
            .staleness = lag_.versions,
            .contributions = static_cast<std::uint64_t>(workers),
            .in_rounds = is_late,
            .times_gradients = has_virtual_time(machine_),
            .measures_gradients = machine_.measures,
            .may_leave_out = !is_late,
            .is_on_wall_clock = machine_.is_real};
  }
  void check(const Method& method, std::size_t dimension, int workers) const override {
    check_speeds(machine_, workers);
    if (lag_.versions > 0) {
      check_lag(method, dimension);
    }
  }
  std::optional<double> gradients_within(double seconds,
                                         const Training& training,
                                         int workers) const override {
    return gradients_in_lockstep(seconds, training, machine_, workers, 1);
  }
  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const {
    if (lag_.versions > 0) {
      return std::make_unique<LagLoop<Real>>(state, lag_.versions, machine_);
    }
    return std::make_unique<LockstepLoop<Real>>(state, 1, machine_);
  }

 private:
  void check_lag(const Method& method, std::size_t dimension) const;

  SimulatedMachine machine_;
  Lag lag_;
};

/// Reports a usage error for a method that cannot work with a lag.
void Bsp::check_lag(const Method& method, std::size_t dimension) const {
  require(!machine_.is_real,
          "{}: exchanges overlap with gradients in virtual time alone; set protocol.execution = "
          "\"simulated\"",
          lag_.place);
  require(method.aggregator->law().applies_whole_messages,
          "{}: with a lag a worker must know its residual before the exchange, but the aggregator "
          "drops entries of sums; set aggregator.kind to \"allgather\", \"dense\" or "
          "\"sparse-reduce-scatter\"",
          lag_.place);
  require(
      !method.feedback->has_velocity() && !method.feedback->estimates(),
      "{}: with a lag workers remember residuals, but the feedback keeps velocities or gradient "
      "estimates; use feedback \"ef14\", with step.momentum",
      lag_.place);
  require(!method.aggregator->law().shifts_model,
          "{}: with a lag the changes of the model that a server sends would be late, too; set "
          "aggregator.down = \"whole\"",
          lag_.place);
  require(!method.sparsifier->pilot(dimension),
          "{}: a threshold is found by a pilot training without a lag; give sparsifier.threshold",
          lag_.place);
}

/// The most rounds whose messages are kept at a time.
constexpr std::int64_t kMostLag = 1000;

/// Reads `lag`, which is no part of a run where it is 0.
Lag read_lag(const Section& section) {
  if (!section.has("lag") || section.given()["lag"] == 0) {
    return {};
  }
  const auto versions = section.integer("lag");
  require(versions >= 0 && versions <= kMostLag,
          "{} must lie in 0..{}, the versions between a gradient and its update; got {}",
          section.where("lag"),
          kMostLag,
          versions);
  return {.versions = static_cast<std::uint64_t>(versions), .place = section.where("lag")};
}

}  // namespace

std::unique_ptr<Protocol> make_bsp(const Section& section) {
  return std::make_unique<Bsp>(read_lockstep_machine(section), read_lag(section));
}

const Protocol& bulk_synchronous() {
  static const Bsp bsp({.compute = TimeLaw::constant(0)}, {});
  return bsp;
}

}  // namespace residuum
