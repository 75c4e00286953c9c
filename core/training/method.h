#pragma once
// A method is the unit that a study compares: sparsifier, aggregator, feedback and step rule of a
// run, and the training practices around them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/optimisers/optimiser.h"
#include "core/quantisers/coded_message.h"
#include "core/schedules/density_schedule.h"
#include "core/schedules/step_rule.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// Gradients are clipped nowhere; or every worker's before it is compressed, to the bound over
/// sqrt(P) (Lin et al., ICLR 2018, section 3.2); or the mean that was exchanged, to the bound, as
/// the code of the gTop-k papers does.
enum class Clip { none, worker, update };

/// The model moves by the mean that was exchanged, by the signs of its entries, or by the polar
/// factors of its layers (core/training/update_direction.h).
enum class UpdateRule { mean, signs, orthogonal };

/// Returns the law of Q(C(a)): `of_values` is that of the quantiser for as many values as C keeps
/// at most. If C keeps values unchanged, |a - Q(C(a))|^2 = |a - C(a)|^2 + |C(a) - Q(C(a))|^2, so
/// that the contractions multiply. Variances of unbiased rules multiply as 1 + omega.
SparsifierLaw quantised_law(const SparsifierLaw& of_selection, const QuantiserLaw& of_values);

struct Method;

/// Reports a usage error at `place` for a quantiser whose messages the aggregator would sum on
/// their way.
void check_quantiser(const Method& method, const std::string& aggregator, const std::string& place);

/// Reports a usage error for a sparsifier that drops entries, or a feedback that needs lists, under
/// an aggregator that approximates the sum of whole accumulators, and for gradient estimates under
/// one that weighs messages. The method was made of the
/// sections.
void check_approximation(const Method& method,
                         std::size_t dimension,
                         const Section& sparsifier,
                         const Section& aggregator,
                         const Section& feedback);

/// Reports a usage error for a feedback that clears the selected entries, if nothing is quantised
/// or if the aggregator may reject entries.
void check_clearing(const Method& method, const std::string& aggregator, const Section& feedback);

/// The parts of a method are rules without state; methods may share them.
struct Method {
  std::shared_ptr<const Sparsifier> sparsifier;  // used after the stages
  std::shared_ptr<const Aggregator> aggregator;
  std::shared_ptr<const Feedback> feedback;
  std::shared_ptr<const StepRule> step_rule;
  double momentum = 0;       // heavy ball after aggregation, as the papers' code has it
  bool looks_ahead = false;  // Nesterov's form of that momentum
  double outer_step = 1;     // alpha: the update is multiplied by it
  UpdateRule update_rule = UpdateRule::mean;
  double weight_decay = 0;  // lambda: lambda w is added to what was exchanged
  Clip clip = Clip::none;
  double clip_norm = 0;                                  // the bound, in units of gradients
  std::vector<DensityStage> stages = {};                 // by increasing `until`
  std::shared_ptr<const Quantiser> quantiser = nullptr;  // null: values travel as they are
  std::vector<Segment> quantised_layers = {};            // that are quantised one by one
  std::shared_ptr<const Optimiser> optimiser = nullptr;  // null: workers step along gradients
  /// The exchanges between two averages of each vector that the optimiser remembers, 0 where it
  /// stays with its worker. Empty where nothing is averaged.
  std::vector<std::uint64_t> memory_periods = {};

  const Sparsifier& sparsifier_at(std::uint64_t iteration) const;

  /// True if the exchange of this iteration averages that vector of the optimisers' memories over
  /// the workers.
  bool averages_memory(std::size_t vector, std::uint64_t iteration) const {
    return memory_periods[vector] > 0 && (iteration + 1) % memory_periods[vector] == 0;
  }
  /// Returns how many vectors it averages.
  std::size_t averaged_memories(std::uint64_t iteration) const;

  Coding coding() const { return {.quantiser = quantiser.get(), .layers = quantised_layers}; }

  /// Returns the law of what a worker sends of `dimension` numbers that `selection` chose from and
  /// the quantiser wrote.
  SparsifierLaw message_law(const Sparsifier& selection,
                            std::size_t dimension,
                            double step_size) const;

  /// message := Q(C(accumulator)), by the sparsifier of this iteration of the run. The context keys
  /// the random streams of both.
  template <class Real>
  void compress(std::uint64_t iteration,
                std::span<const Real> accumulator,
                const SelectionContext& context,
                SelectWorkspace& workspace,
                Message<Real>& message) const;

  /// Starts the selection from vector 0 of a memory on a device, unless the plan of it needs
  /// numbers of the vector. `device_obstacle` must be empty.
  void start_there(std::uint64_t iteration,
                   DeviceVectors& memory,
                   const SelectionContext& context,
                   DevicePlan& plan) const;
  /// message := Q(C(vector 0)), by the plan that was started. The entries that are selected are
  /// copied from there.
  void take_there(std::uint64_t iteration,
                  DeviceVectors& memory,
                  const SelectionContext& context,
                  DevicePlan& plan,
                  Message<float>& message) const;

  /// True if z moves by eta times the mean gradient: no momentum, decay, clipping or other
  /// direction of updates, and no outer step.
  bool follows_gradients() const;

  /// True if w - z of workers in lockstep is the mean residual, so that nothing but these has to be
  /// known of it.
  bool gap_is_mean_residual() const;

  /// True if nothing is ever lost but by a decay of the residuals: without one, sum_p e^p_{t+1} +
  /// g_t = sum_p a^p_t, whatever the model makes of g_t.
  bool loses_only_by_decay(bool sends_everything, int workers) const;
  /// True if nothing is ever lost.
  bool conserves(bool sends_everything, int workers) const;
  /// Names what loses mass by design; nothing where the method conserves.
  std::vector<std::string> known_losses(bool sends_everything, int workers) const;

  /// Returns how far one gradient moves the model in the end if nothing is dropped, in units of eta
  /// times the gradient: alpha/(1 - m) with momentum m, before or after the exchange. Methods
  /// that move by another direction have the gain that they would have without it.
  double gain() const;

  /// Returns the lambda' with which the run minimises f + (lambda'/2)|w|^2. It is the weight decay
  /// divided by the gain of the feedback and by alpha, because gradients pass the momentum before
  /// the exchange and the outer step, and the decay does not. A run that moves by another direction
  /// minimises no such sum, and has none: 0.
  double effective_decay() const;
};

}  // namespace residuum
