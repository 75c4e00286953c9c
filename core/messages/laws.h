#pragma once
// Laws are the properties of a component that the rest of the program uses, whatever its name is.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace residuum {

/// The law of a sparsifier holds for every accumulator a of d entries; a bound that does not exist
/// is absent.
struct SparsifierLaw {
  std::optional<double> contraction = std::nullopt;  // alpha: E|a - C(a)|^2 <= (1 - alpha)|a|^2
  bool pathwise = true;  // the bound holds for each draw, not only in expectation
  std::optional<double> threshold = std::nullopt;  // |a_i - C(a)_i| < threshold for every i

  // Theorems, verdicts and predictions rely on these claims; by default a rule makes none.
  bool exact = false;             // E|a - C(a)|^2 = (1 - alpha) |a|^2
  bool deterministic = false;     // no draw enters C(a)
  bool keeps_values = false;      // C(a)_i is a_i or 0
  bool keeps_largest = false;     // C(a) = Top_k(a), the k largest entries of all d unchanged
  bool shares_support = false;    // one set of indices for all workers, chosen without their a
  bool unbiased = false;          // E C(a) = a
  bool threshold_scales = false;  // the threshold is proportional to the step size
  bool reuses_threshold = false;  // C depends on the messages before, by Candidates' threshold

  bool claimed = false;  // a study claims this law of a rule that the program does not know
};

/// The law of a quantiser holds for every x of n values whose squares have a finite float64 sum, up
/// to the rounding of the decoded values; a bound that does not exist is absent. No bound grows
/// stronger with n.
struct QuantiserLaw {
  std::optional<double> contraction = std::nullopt;  // alpha: E|x - Q(x)|^2 <= (1 - alpha) |x|^2
  std::optional<double> variance =
      std::nullopt;     // omega: E Q(x) = x and E|Q(x) - x|^2 <= omega |x|^2
  bool random = false;  // draws enter Q(x); else the bounds hold for each x itself
  int bits = 0;         // of one value; scales and tables come on top
};

/// The properties of an aggregator that hold for all messages.
struct AggregatorLaw {
  bool applies_whole_messages = true;  // g is the sum of the messages
  bool drops_in_merges = false;        // for P > 2, partial sums can be dropped from a branch
  /// True if an entry that a merge drops counts as not applied at its senders. Then the applied
  /// entries add up to g.
  bool dropped_stay_with_senders = false;
  bool is_sparse = true;  // g has at most k entries
  /// True if messages are forwarded unchanged and summed only at the end, at every worker or at a
  /// server. Quantisers need this, since their codes cannot be added.
  bool forwards_messages = false;
  /// True if it quantises its messages at random, by keys of its own: `quantiser` and `bits`.
  bool quantises_itself = false;
  bool carries_vectors = false;  // workers send vectors of d numbers, whatever the messages hold
  /// True if g approximates the sum of whole accumulators: g is no sum of messages and has no k,
  /// and what is applied of the accumulators has no lists (`DenseApproximation`).
  bool approximates_sum = false;
  /// True if g is not the plain mean of the messages. The update then differs from the entries that
  /// the workers clear, whatever the feedback.
  bool weighs_messages = false;
  /// True if a server sends the workers compressed changes of the model, so that they take
  /// gradients at a shift of it (core/training/model_shift.h).
  bool shifts_model = false;

  // Predictions and verdicts rely on these claims; by default an aggregator makes none.
  bool completes_support = false;  // on its support g is the sum of all a^p: no error there
  bool selects_largest = false;    // of sums of messages it keeps the k largest entries
};

/// The form in which a worker keeps entries that were not applied.
enum class Memory { residual, velocity, estimate, control };

/// Returns "residual", "velocity", "estimate" or "control".
constexpr std::string_view name_of(Memory memory) {
  switch (memory) {
    case Memory::residual:
      return "residual";
    case Memory::velocity:
      return "velocity";
    case Memory::estimate:
      return "estimate";
    case Memory::control:
      return "control";
  }
  return "";
}

/// Returns the memory of this name, if there is one.
constexpr std::optional<Memory> memory_of(std::string_view name) {
  for (const auto memory :
       {Memory::residual, Memory::velocity, Memory::estimate, Memory::control}) {
    if (name_of(memory) == name) {
      return memory;
    }
  }
  return std::nullopt;
}

/// The properties of a feedback, whatever the outcome of a message.
struct FeedbackLaw {
  Memory memory = Memory::residual;
  bool in_gradient_units = false;  // the memory holds gradients, not steps
  /// a, where estimates follow an average v := (1 - a) v + a G of the gradients.
  std::optional<double> averaging = std::nullopt;
  /// w, the part of what estimates have missed that enters messages.
  std::optional<double> error_weight = std::nullopt;
  double decay = 1;      // factor of the residual per iteration; below 1 the rest is lost by design
  bool forgets = false;  // nothing is remembered: what is not applied is lost
};

/// How the workers of a run stay in step.
enum class Synchrony {
  lockstep,   // all take their gradients at one model, and exchange in every version
  periodic,   // each steps on a model of its own; now and then they exchange
  late,       // a version is made of gradients that may be taken at older versions
  neighbours  // each has a model of its own and exchanges with its neighbours in every version
};

constexpr std::string_view name_of(Synchrony synchrony) {
  switch (synchrony) {
    case Synchrony::lockstep:
      return "lockstep";
    case Synchrony::periodic:
      return "periodic";
    case Synchrony::late:
      return "late";
    case Synchrony::neighbours:
      return "neighbours";
  }
  return "";
}

/// Returns the synchrony of this name, if there is one.
constexpr std::optional<Synchrony> synchrony_of(std::string_view name) {
  for (const auto synchrony :
       {Synchrony::lockstep, Synchrony::periodic, Synchrony::late, Synchrony::neighbours}) {
    if (name_of(synchrony) == name) {
      return synchrony;
    }
  }
  return std::nullopt;
}

/// The properties of a protocol in a run of a given number of workers.
struct ProtocolLaw {
  Synchrony synchrony = Synchrony::lockstep;
  std::uint64_t local_steps = 1;  // gradients that a worker takes for one version
  /// The most versions that are made between the one a gradient is taken at and the one it enters;
  /// absent where there is no limit.
  std::optional<std::uint64_t> staleness = 0;
  std::optional<std::uint64_t> contributions = 1;  // gradients in a version, absent if it varies
  /// 1 - |lambda_2| of the matrix that neighbours mix their models by, if these arrive whole.
  std::optional<double> spectral_gap = std::nullopt;
  bool contributions_weigh_alike = true;  // a version is the plain mean of its gradients
  /// True if gradients are late by rounds: a version has one gradient of every worker, all of them
  /// taken at one model, and clocks do not change the trained model.
  bool in_rounds = false;
  /// True if a study says how long gradients take in virtual time.
  bool times_gradients = false;
  /// True if these times are measured on this machine, and so differ from run to run.
  bool measures_gradients = false;
  /// True if a version can be made by some of the workers, while the others take no gradient.
  bool may_leave_out = false;
  std::optional<std::uint64_t> participants = std::nullopt;  // m of a version; absent: all P
  /// True if workers run in their own time on processes of their own: a server, which is the root,
  /// sees their messages and nothing else. A real run is not bit-reproducible.
  bool is_real = false;
  /// True if rows have the time of the wall clock and none that is virtual. It holds wherever
  /// is_real does, and for workers in lockstep that a study wants to be timed so.
  bool is_on_wall_clock = false;
};

/// The properties of the step sizes of a rule.
struct StepLaw {
  bool constant = false;                       // all steps are equal
  bool may_grow = true;                        // a step may be larger than one before it
  std::optional<double> shift = std::nullopt;  // a of eta_t = value/(a + t)
};

/// The properties of the rule by which the exchanged vector moves the model.
struct UpdateLaw {
  double momentum = 0;              // before or after the exchange
  double outer_step = 1;            // the update is multiplied by it
  bool takes_signs = false;         // the model moves by the signs of the update
  std::string direction = {};       // what else of the update the model moves by; empty: the update
  double weight_decay = 0;          // added after the exchange: f does not have it
  double effective_decay = 0;       // the run minimises f + (this/2)|w|^2
  std::string clipped = "nothing";  // or "worker" gradients, or the "update"
  bool has_optimisers = false;      // workers step along an optimiser's directions, not gradients

  /// True if the model moves by the update itself.
  bool is_plain() const { return !takes_signs && direction.empty(); }
};

/// True if times of gradients and messages decide which gradients a version is made of.
constexpr bool clocks_decide(const ProtocolLaw& law) {
  return law.synchrony == Synchrony::late && !law.in_rounds;
}

/// Returns the law of a protocol of P workers in a run in which `participants` take part in each
/// version.
constexpr ProtocolLaw with_participants(ProtocolLaw law, int workers, int participants) {
  if (participants == workers) {
    return law;
  }
  law.participants = static_cast<std::uint64_t>(participants);
  if (law.contributions) {
    law.contributions =
        *law.contributions / static_cast<std::uint64_t>(workers) * *law.participants;
  }
  return law;
}

}  // namespace residuum
