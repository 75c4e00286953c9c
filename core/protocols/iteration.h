#pragma once
// An iteration makes version t + 1 of the model. Protocols make a version in one of three orders.
// Each step of an order is a type that can take the next step and no other, so that a wrong order
// does not compile:
//
//   lockstep   LockstepIteration --compute--> Computed --compress--> Agreed<Compressed>
//                Compressed --combine--> Combined --update--> Updated --update_residuals--> shown
//   late       LateIteration --agree--> Agreed<LateComputed>
//                LateComputed --update--> LateUpdated --finish--> shown
//   mixing     MixingIteration --agree--> Agreed<MixingComputed>
//                MixingComputed --move_to--> shown
//
// In lockstep every worker that takes part hands in one message, whose outcome updates its
// residual. A late iteration is made of messages that workers have formed at earlier versions. In a
// mixing iteration every worker has a model of its own, and the version is their mean. "Shown" is
// the last step of all: the measurement hands the version to the observer. An iteration that
// diverged has no step after the agreement on it.
//
// A step takes the object before it: a step that is taken twice is a failed assertion.
//
// Steps are collective over the processes of the cluster, unless they say otherwise.

#include <cassert>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/protocols/participant_exchange.h"
#include "core/protocols/training_state.h"

namespace residuum {

/// How an iteration is to end, as the processes agree on it, and what can take the next step: there
/// is nothing if the iteration diverged.
template <class Next>
struct Agreed {
  StepEnd end;
  std::optional<Next> next;
};

/// An Iteration is the part that the three orders of steps share.
template <class Real>
class Iteration {
 public:
  Iteration(const Iteration&) = delete;
  Iteration& operator=(const Iteration&) = delete;
  Iteration& operator=(Iteration&&) = delete;

  /// Returns eta_t.
  double step_size() const { return eta_; }
  /// True if this version shows how noisy gradients are, by half batches.
  bool splits() const { return splits_; }
  /// Sets the virtual time that the version is shown with. Not collective.
  void show_network(const NetworkView& network) { network_ = network; }
  /// Sets the wall seconds from the start of the run that the version is shown with. Not
  /// collective.
  void show_wall_time(double seconds) { times_.wall_s = seconds; }

 protected:
  /// Begins version t + 1, after versions of `gradients` gradients in all, and evaluates f at w_t
  /// if the measurement plan asks for it.
  Iteration(TrainingState<Real>& state, std::uint64_t t, std::uint64_t gradients);
  Iteration(Iteration&&) noexcept = default;
  ~Iteration() = default;

  /// Returns the end that the processes agree on.
  StepEnd agree(const StepEnd& seen) const;
  /// Returns that end, with this iteration as what can take the next step unless it diverged.
  template <class Next>
  Agreed<Next> next_after(const StepEnd& end);
  /// Counts the bytes that the workers of this process have sent as those of the first of them.
  void book(const Traffic& traffic);
  /// Lists the messages of the workers here that take part.
  void list_contributions();
  std::span<const Contribution<Real>> contributions_here() const { return state().contributions_; }
  /// Scales g/divisor as clipping demands.
  [[nodiscard]] ClippedUpdate<Real> clip(const ExchangeResult<Real>& exchanged, double divisor);
  /// Evaluates f at z_{t+1}, once the measurement has moved z.
  void evaluate_next_z();
  /// Makes w_{t+1}.
  void apply(ClippedUpdate<Real>&& clipped);
  void set_model(std::span<const double> model);
  /// Measures the finished version and shows it, with what it was `made` of unless it was made in
  /// lockstep. No step may follow.
  template <class... Made>
  void show(const ExchangeResult<Real>& exchanged, const Made&... made);

  /// Returns what the measurement reads: w_t before the update, w_{t+1} after it.
  StepState<Real> step_state(const ExchangeResult<Real>& exchanged);
  TrainingState<Real>& state() {
    assert(state_ != nullptr);  // else the step was taken before
    return *state_;
  }
  const TrainingState<Real>& state() const {
    assert(state_ != nullptr);
    return *state_;
  }
  std::vector<Worker<Real>>& workers() { return state().workers_; }
  Measurement<Real>& measurement() { return state().measurement_; }
  const ProtocolLaw& law() const { return state().law_; }
  std::uint64_t number() const { return t_; }
  /// Returns how many entries a message may have; d where the data decide.
  std::size_t k() const {
    return state().method_.sparsifier_at(t_).k(state().d_).value_or(state().d_);
  }
  bool measured() const { return measured_; }
  bool takes_part(const Worker<Real>& worker) const {
    return state().participants_.has(worker.number);
  }
  /// Returns the turn of a worker in lockstep.
  typename WorkerMemory<Real>::Turn lockstep_turn(const Worker<Real>& worker) const {
    return {.number = t_, .version = t_, .step_size = eta_, .before = turn_of(worker)};
  }
  /// Returns how many versions the worker took part in before this one.
  std::uint64_t turn_of(const Worker<Real>& worker) const {
    return state().participants_.are_all() ? t_ : worker.turns;
  }

  /// Adds the seconds since the last lap to that part of the version's time, and begins another
  /// lap. No time is taken where no row will show it.
  void lap(double StepTimes::*part);

 private:
  using Clock = std::chrono::steady_clock;
  struct KeepState {
    void operator()(const TrainingState<Real>* /*state*/) const {}
  };

  void begin(std::uint64_t gradients);
  void evaluate_points();

  std::unique_ptr<TrainingState<Real>, KeepState> state_;  // null after the step was taken
  std::uint64_t t_;
  double epoch_ = 0;
  double eta_ = 0;
  bool measured_ = false;
  bool splits_ = false;
  double update_scale_ = 1;
  NetworkView network_ = {};
  std::optional<TestResult> test_ = std::nullopt;
  StepTimes times_ = {};
  Clock::time_point mark_ = {};
};

// --- Lockstep ---------------------------------------------------------------------------------

template <class Real>
class Computed;
template <class Real>
class Compressed;
template <class Real>
class Combined;
template <class Real>
class Updated;

template <class Real>
class LockstepIteration : public Iteration<Real> {
 public:
  /// Begins version t + 1, after versions of `gradients` gradients in all.
  LockstepIteration(TrainingState<Real>& state, std::uint64_t t, std::uint64_t gradients)
      : Iteration<Real>(state, t, gradients) {}

  /// Computes G^p at w_t, on the next batch of every worker that takes part. If `local_steps` > 1,
  /// each worker takes that many SGD steps from w_t and G^p is the sum of its gradients. The
  /// seconds of each worker here are taken where `seconds` has room for them. Elsewhere memories on
  /// a device go on with a gradient while the next worker's is computed.
  [[nodiscard]] Computed<Real> compute(std::uint64_t local_steps, LocalSeconds& seconds) &&;
};

/// The workers that take part have their gradients.
template <class Real>
class Computed : public Iteration<Real> {
 public:
  /// Forms a^p = e^p + c G^p and s^p = C(a^p), and agrees with the other processes on how the
  /// version is to end.
  [[nodiscard]] Agreed<Compressed<Real>> compress(LocalSeconds& seconds) &&;
  /// Lets the workers wait by act(), whose seconds count as those of the gradients.
  template <class Act>
  void wait(const Act& act) {
    act();
    this->lap(&StepTimes::compute_s);
  }

 private:
  friend class LockstepIteration<Real>;
  explicit Computed(Iteration<Real>&& before) : Iteration<Real>(std::move(before)) {}
};

/// The workers that take part have their messages.
template <class Real>
class Compressed : public Iteration<Real> {
 public:
  /// Exchanges s^p and a^p of the workers that take part, which makes g. `exchanged` must live
  /// until the version is shown.
  [[nodiscard]] Combined<Real> combine(ParticipantExchange<Real>& exchange,
                                       ExchangeResult<Real>& exchanged) &&;

 private:
  friend class Iteration<Real>;
  explicit Compressed(Iteration<Real>&& before) : Iteration<Real>(std::move(before)) {}
};

/// An iteration whose exchange has made g.
template <class Real>
class Combined : public Iteration<Real> {
 public:
  /// Makes w_{t+1} from g.
  [[nodiscard]] Updated<Real> update() &&;

 private:
  friend class Compressed<Real>;
  Combined(Iteration<Real>&& before, const ExchangeResult<Real>& exchanged)
      : Iteration<Real>(std::move(before)), exchanged_(exchanged) {}

  const ExchangeResult<Real>& exchanged_;
};

/// The model is w_{t+1}, and the memories still have the accumulators.
template <class Real>
class Updated : public Iteration<Real> {
 public:
  /// Makes e^p_{t+1} from the outcome of each message, and shows the version.
  void update_residuals() &&;

 private:
  friend class Combined<Real>;
  Updated(Iteration<Real>&& before, const ExchangeResult<Real>& exchanged)
      : Iteration<Real>(std::move(before)), exchanged_(exchanged) {}

  const ExchangeResult<Real>& exchanged_;
};

// --- Late messages ----------------------------------------------------------------------------

template <class Real>
class LateComputed;
template <class Real>
class LateUpdated;

/// The loop itself lets workers compute and compress while a late iteration is in the making.
template <class Real>
class LateIteration : public Iteration<Real> {
 public:
  LateIteration(TrainingState<Real>& state, std::uint64_t t, std::uint64_t gradients)
      : Iteration<Real>(state, t, gradients) {}

  /// Ends the computation, and agrees with the other processes on how the version is to end; `seen`
  /// is the end that the loop has found on this one.
  [[nodiscard]] Agreed<LateComputed<Real>> agree(const StepEnd& seen) &&;
  /// Ends the computation on the server of a real run, which agrees with the other processes
  /// between two versions. It is not collective.
  [[nodiscard]] LateComputed<Real> end_on_server() &&;
};

/// All messages of which the version is made are here.
template <class Real>
class LateComputed : public Iteration<Real> {
 public:
  /// Makes w_{t+1} from g, which is the weighted sum of the late messages. `exchanged` and `parts`
  /// must live until the version is shown. It is not collective: every process that calls it has
  /// all messages.
  [[nodiscard]] LateUpdated<Real> update(const ExchangeResult<Real>& exchanged,
                                         const VersionParts<Real>& parts) &&;

 private:
  friend class Iteration<Real>;
  friend class LateIteration<Real>;
  explicit LateComputed(Iteration<Real>&& before) : Iteration<Real>(std::move(before)) {}
};

/// The model is w_{t+1}.
template <class Real>
class LateUpdated : public Iteration<Real> {
 public:
  /// Shows the version, of which the parts have the notes by now. It is collective unless the run
  /// is real.
  void finish() &&;

 private:
  friend class LateComputed<Real>;
  LateUpdated(Iteration<Real>&& before,
              const ExchangeResult<Real>& exchanged,
              const VersionParts<Real>& parts)
      : Iteration<Real>(std::move(before)), exchanged_(exchanged), parts_(parts) {}

  const ExchangeResult<Real>& exchanged_;
  const VersionParts<Real>& parts_;
};

// --- Models of the workers' own ---------------------------------------------------------------

template <class Real>
class MixingComputed;

/// The loop itself lets workers compute and compress.
template <class Real>
class MixingIteration : public Iteration<Real> {
 public:
  MixingIteration(TrainingState<Real>& state, std::uint64_t t, std::uint64_t gradients)
      : Iteration<Real>(state, t, gradients) {}

  /// Ends the computation, and agrees with the other processes on how the version is to end.
  [[nodiscard]] Agreed<MixingComputed<Real>> agree() &&;
};

/// The workers have their messages. The loop lets them mix their models.
template <class Real>
class MixingComputed : public Iteration<Real> {
 public:
  /// Makes w_{t+1} the mean of the workers' models, and shows the version. `exchanged` has the
  /// traffic and no update.
  void move_to(std::span<const double> mean,
               const ExchangeResult<Real>& exchanged,
               const VersionNotes& notes) &&;

 private:
  friend class Iteration<Real>;
  explicit MixingComputed(Iteration<Real>&& before) : Iteration<Real>(std::move(before)) {}
};

}  // namespace residuum
