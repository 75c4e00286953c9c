// In local SGD every worker steps H times on a model of its own, and then all exchange how far they
// have come (Stich, ICLR 2019; with compressed messages and error feedback Basu, Data, Karakus,
// Diggavi, NeurIPS 2019: Qsparse-local-SGD). At version t, for every worker p:
//   w^p_0 = w;  w^p_{h+1} = w^p_h - eta G^p(w^p_h), h = 0 .. H - 1;  D^p = sum_h G^p(w^p_h);
//   a^p = e^p + eta D^p = e^p + (w - w^p_H);  s^p = C(a^p);  g = AGG(s^1 .. s^P);
//   w moves by g / P as by an update of bsp, with the outer step (model_update.h);
//   e^p = a^p - applied.
// An iteration of the run is a version, so it takes H gradients of each worker, and what tables say
// of a worker's gradient they say of D^p. With H = 1 this is bsp, bit by bit.

#include <utility>

#include "core/protocols/expected_gradients.h"
#include "core/protocols/lockstep_loop.h"

namespace residuum {
namespace {

class Local final : public ProtocolFor<Local> {
 public:
  Local(std::uint64_t period, SimulatedMachine machine)
      : period_(period), machine_(std::move(machine)) {}

  ProtocolLaw law(int workers) const override {
    return {.synchrony = period_ == 1 ? Synchrony::lockstep : Synchrony::periodic,
            .local_steps = period_,
            .contributions = period_ * static_cast<std::uint64_t>(workers),
            .times_gradients = has_virtual_time(machine_),
            .measures_gradients = machine_.measures,
            .may_leave_out = true,
            .is_on_wall_clock = machine_.is_real};
  }
  void check(const Method& /*method*/, std::size_t /*dimension*/, int workers) const override {
    check_speeds(machine_, workers);
  }
  std::optional<double> gradients_within(double seconds,
                                         const Training& training,
                                         int workers) const override {
    return gradients_in_lockstep(seconds, training, machine_, workers, period_);
  }
  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const {
    return std::make_unique<LockstepLoop<Real>>(state, period_, machine_);
  }

 private:
  std::uint64_t period_;
  SimulatedMachine machine_;
};

}  // namespace

std::unique_ptr<Protocol> make_local(const Section& section) {
  constexpr std::int64_t kMostSteps = 10'000;  // a run can be stopped only between exchanges
  const auto period = section.integer("period");
  require(period >= 1 && period <= kMostSteps,
          "{} must lie in 1..{}, got {}: it is the number of gradients that a worker takes between "
          "two exchanges",
          section.where("period"),
          kMostSteps,
          period);
  return std::make_unique<Local>(static_cast<std::uint64_t>(period),
                                 read_lockstep_machine(section));
}

}  // namespace residuum
