#include "core/training/method_facts.h"

#include <algorithm>

#include "core/messages/message.h"
#include "core/quantisers/coded_message.h"

namespace residuum {
namespace {

/// Returns the weakest law of all stages, at the step size that the sparsifier sees, with what the
/// quantiser adds.
SparsifierLaw sparsifier_law(const Method& method, std::size_t dimension, bool in_gradient_units) {
  const double seen_step = in_gradient_units ? 1.0 : method.step_rule->at(0, 0);
  SparsifierLaw law = method.message_law(*method.sparsifier, dimension, seen_step);
  for (const auto& stage : method.stages) {
    law = weaker_of(law, method.message_law(*stage.sparsifier, dimension, seen_step));
  }
  return law;
}

/// Makes a threshold one on step-multiplied accumulators. A threshold on gradients is eta times as
/// large there, and follows the step.
void multiply_threshold(const Method& method, bool in_gradient_units, SparsifierLaw& law) {
  const auto step = method.step_rule->constant();
  law.threshold_scales = law.threshold && (in_gradient_units || law.threshold_scales);
  if (!law.threshold || !step) {
    law.threshold.reset();
    return;
  }
  law.threshold = in_gradient_units ? *step * *law.threshold : *law.threshold;
}

UpdateLaw update_law(const Method& method) {
  const bool has_velocity = method.feedback->law().memory == Memory::velocity;
  return {.momentum = has_velocity ? method.feedback->momentum() : method.momentum,
          .outer_step = method.outer_step,
          .takes_signs = method.update_rule == UpdateRule::signs,
          .direction =
              method.update_rule == UpdateRule::orthogonal ? "the polar factors of its layers" : "",
          .weight_decay = method.weight_decay,
          .effective_decay = method.effective_decay(),
          .clipped = method.clip == Clip::none     ? "nothing"
                     : method.clip == Clip::worker ? "worker"
                                                   : "update",
          .has_optimisers = method.optimiser != nullptr};
}

}  // namespace

RunFacts method_facts(const Method& method,
                      std::size_t dimension,
                      const ProtocolLaw& protocol,
                      int workers) {
  RunFacts facts;
  facts.workers = workers;
  facts.dimension = static_cast<double>(dimension);
  const auto k = method.sparsifier->k(dimension);
  facts.k = k ? std::optional(static_cast<double>(*k)) : std::nullopt;
  facts.selects_by_layer = !method.sparsifier->segments().empty();
  facts.density_varies = !method.stages.empty();

  facts.feedback = method.feedback->law();
  const bool in_gradient_units = facts.feedback.in_gradient_units;
  facts.sparsifier = sparsifier_law(method, dimension, in_gradient_units);
  facts.sends_everything = facts.sparsifier.contraction == 1.0;  // E|a - C(a)|^2 <= 0
  multiply_threshold(method, in_gradient_units, facts.sparsifier);
  if (method.quantiser != nullptr) {
    facts.quantiser = method.quantiser->law(std::max<std::size_t>(1, k.value_or(dimension)));
  }
  facts.aggregator = method.aggregator->law();
  if (facts.aggregator.shifts_model) {
    facts.shift_contraction =
        static_cast<double>(method.aggregator->shift_entries(dimension)) / facts.dimension;
  }
  facts.protocol = protocol;
  if (!facts.sends_everything) {  // no matrix mixes models whose differences are compressed
    facts.protocol.spectral_gap.reset();
  }
  const auto taking_part =
      protocol.participants ? static_cast<int>(*protocol.participants) : workers;
  facts.conserves = protocol.synchrony == Synchrony::neighbours ||
                    method.known_losses(facts.sends_everything, taking_part).empty();
  facts.step = method.step_rule->law();
  facts.update = update_law(method);
  return facts;
}

template <class Real>
std::size_t bytes_of_message(const Method& method,
                             std::uint64_t iteration,
                             std::size_t values,
                             std::size_t d) {
  const IndexForm form = method.sparsifier_at(iteration).index_form(d);
  const Coding coding = method.coding();
  return coding.quantiser != nullptr ? most_coded_bytes<Real>(form, coding, values, d)
                                     : index_bytes(form, values, d) + values * sizeof(Real);
}

template std::size_t bytes_of_message<float>(const Method&,
                                             std::uint64_t,
                                             std::size_t,
                                             std::size_t);
template std::size_t bytes_of_message<double>(const Method&,
                                              std::uint64_t,
                                              std::size_t,
                                              std::size_t);

}  // namespace residuum
