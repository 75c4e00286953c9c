#pragma once
// A method is what a study compares: the sparsifier, the aggregator, the feedback and the step rule
// of a run, and the training practices around them.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/schedules/density_schedule.h"
#include "core/schedules/step_rule.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// Gradients are clipped nowhere; or every worker's before it is compressed, to the bound over
/// sqrt(P) (Lin et al., ICLR 2018, section 3.2); or the mean that was exchanged, to the bound, as
/// the code of the gTop-k papers does.
enum class Clip { none, worker, update };

/// The parts of a method are rules without state; methods may share them.
struct Method {
  std::shared_ptr<const Sparsifier> sparsifier;  // used after the stages
  std::shared_ptr<const Aggregator> aggregator;
  std::shared_ptr<const Feedback> feedback;
  std::shared_ptr<const StepRule> step_rule;
  double momentum = 0;       // heavy ball after aggregation, as the papers' code has it
  bool looks_ahead = false;  // Nesterov's form of that momentum
  double outer_step = 1;     // alpha: the update is multiplied by it
  double weight_decay = 0;   // lambda: lambda w is added to what was exchanged
  Clip clip = Clip::none;
  double clip_norm = 0;                   // the bound, in units of gradients
  std::vector<DensityStage> stages = {};  // by increasing `until`

  const Sparsifier& sparsifier_at(std::uint64_t iteration) const;

  /// True if z moves by eta times the mean gradient: no momentum, decay or clipping of updates, and
  /// no outer step.
  bool follows_gradients() const;

  /// Returns how far one gradient moves the model in the end if nothing is dropped, in units of eta
  /// times the gradient: alpha/(1 - m) with momentum m, before or after the exchange.
  double gain() const;

  /// Returns lambda' such that the run minimises f + (lambda'/2)|w|^2. It is the weight decay
  /// divided by the gain of the feedback and by alpha, because gradients pass the momentum before
  /// the exchange and the outer step, and the decay does not.
  double effective_decay() const;
};

}  // namespace residuum
