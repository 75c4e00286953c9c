#include "core/training/method.h"

#include <algorithm>
#include <cassert>

namespace residuum {
namespace {

RandomStream quantiser_stream(const SelectionContext& context) {
  return {context.seed,
          Purpose::quantiser,
          static_cast<std::uint32_t>(context.worker),
          static_cast<std::uint32_t>(context.iteration)};
}

void start_selection(const DeviceSparsifier& selection,
                     DeviceVectors& memory,
                     const SelectionContext& context,
                     DevicePlan& plan) {
  plan.everything = false;
  plan.parts.clear();
  selection.plan_there(memory, {.begin = 0, .size = memory.dimension()}, context, plan);
  plan.is_made = true;
  if (!plan.everything) {
    memory.start_select(plan.parts);
  }
}

}  // namespace

std::size_t Method::averaged_memories(std::uint64_t iteration) const {
  std::size_t count = 0;
  for (std::size_t vector = 0; vector < memory_periods.size(); ++vector) {
    count += averages_memory(vector, iteration) ? 1 : 0;
  }
  return count;
}

const Sparsifier& Method::sparsifier_at(std::uint64_t iteration) const {
  for (const auto& stage : stages) {
    if (iteration < stage.until) {
      return *stage.sparsifier;
    }
  }
  return *sparsifier;
}

SparsifierLaw quantised_law(const SparsifierLaw& of_selection, const QuantiserLaw& of_values) {
  SparsifierLaw law{.contraction = std::nullopt,
                    .pathwise = of_selection.pathwise && !of_values.random,
                    .threshold = std::nullopt};
  law.deterministic = of_selection.deterministic && !of_values.random;
  law.unbiased = of_selection.unbiased && of_values.variance;
  law.claimed = of_selection.claimed;
  if (of_selection.keeps_values && of_selection.contraction && of_values.contraction) {
    law.contraction = *of_selection.contraction * *of_values.contraction;
  } else if (law.unbiased && of_selection.contraction) {
    const double of_both = (2 - *of_selection.contraction) * (1 + *of_values.variance) - 1;
    law.contraction = of_both < 1 ? std::optional(1 - of_both) : std::nullopt;
  }
  return law;
}

void check_quantiser(const Method& method,
                     const std::string& aggregator,
                     const std::string& place) {
  require(method.quantiser == nullptr || method.aggregator->law().forwards_messages,
          "{}: aggregator '{}' sums messages on their way, and the codes of a quantiser cannot be "
          "summed; use aggregator \"allgather\", \"gtopk-exact\" or "
          "\"parameter-server\"",
          place,
          aggregator);
}

void check_approximation(const Method& method,
                         std::size_t dimension,
                         const Section& sparsifier,
                         const Section& aggregator,
                         const Section& feedback) {
  require(!method.aggregator->law().weighs_messages || !method.feedback->estimates(),
          "{}: this feedback needs a plain sum of the messages; use feedback \"ef14\", or take "
          "weighting and clip out of [aggregator]",
          feedback.where("kind"));
  if (!method.aggregator->law().approximates_sum) {
    return;
  }
  const auto drops_nothing = [&](const Sparsifier& rule) {
    const SparsifierLaw law = rule.law(dimension, 1);
    return law.pathwise && law.contraction == 1.0;
  };
  const bool sends_all =
      drops_nothing(*method.sparsifier) &&
      std::all_of(method.stages.begin(), method.stages.end(), [&](const auto& stage) {
        return drops_nothing(*stage.sparsifier);
      });
  require(sends_all,
          "{}: aggregator '{}' compresses whole accumulators itself, so that nothing may be "
          "selected before; take out [sparsifier], or use kind \"none\"",
          sparsifier.where("kind"),
          aggregator.text("kind"));
  require(!method.feedback->needs_lists(),
          "{}: this feedback needs entries applied whole, and aggregator '{}' applies a part; use "
          "\"ef14\", or take the masking out of \"dgc\"",
          feedback.where("kind"),
          aggregator.text("kind"));
}

void check_clearing(const Method& method, const std::string& aggregator, const Section& feedback) {
  if (!method.feedback->clears_selection()) {
    return;
  }
  require(method.quantiser != nullptr,
          "{}: without [quantiser] a worker sends what it selects; take this key out",
          feedback.where("clears"));
  const AggregatorLaw law = method.aggregator->law();
  require(law.applies_whole_messages || law.weighs_messages,
          "{}: aggregator '{}' applies a part of what was selected; use \"allgather\"",
          feedback.where("clears"),
          aggregator);
}

SparsifierLaw Method::message_law(const Sparsifier& selection,
                                  std::size_t dimension,
                                  double step_size) const {
  const SparsifierLaw law = selection.law(dimension, step_size);
  const std::size_t most = std::max<std::size_t>(1, selection.k(dimension).value_or(dimension));
  return quantiser == nullptr ? law : quantised_law(law, quantiser->law(most));
}

template <class Real>
void Method::compress(std::uint64_t iteration,
                      std::span<const Real> accumulator,
                      const SelectionContext& context,
                      SelectWorkspace& workspace,
                      Message<Real>& message) const {
  sparsifier_at(iteration).select(accumulator, context, workspace, message);
  if (quantiser != nullptr) {
    if (feedback->clears_selection()) {
      message.chosen = message.entries;
      message.chose_everything = message.everything;
    }
    RandomStream random = quantiser_stream(context);
    quantise(coding(), accumulator, random, message);
  }
}

void Method::start_there(std::uint64_t iteration,
                         DeviceVectors& memory,
                         const SelectionContext& context,
                         DevicePlan& plan) const {
  plan.is_made = false;
  const DeviceSparsifier& selection = *sparsifier_at(iteration).on_device();
  if (!selection.plans_by_numbers()) {
    start_selection(selection, memory, context, plan);
  }
}

void Method::take_there(std::uint64_t iteration,
                        DeviceVectors& memory,
                        const SelectionContext& context,
                        DevicePlan& plan,
                        Message<float>& message) const {
  const Sparsifier& selection = sparsifier_at(iteration);
  const std::size_t d = memory.dimension();
  if (!plan.is_made) {
    start_selection(*selection.on_device(), memory, context, plan);
  }
  message.form = selection.index_form(d);
  message.everything = plan.everything;
  message.entries.clear();
  if (!plan.everything) {
    memory.take_selected(message.entries);
  }
  if (quantiser != nullptr) {
    assert(!message.everything);
    if (feedback->clears_selection()) {
      message.chosen = message.entries;
      message.chose_everything = false;
    }
    RandomStream random = quantiser_stream(context);
    quantise_entries(coding(), d, random, message);
  }
}

bool Method::follows_gradients() const {
  return momentum == 0 && weight_decay == 0 && clip != Clip::update && outer_step == 1 &&
         update_rule == UpdateRule::mean && !feedback->has_velocity();
}

bool Method::gap_is_mean_residual() const {
  return momentum == 0 && feedback->units() != Units::gradient && clip != Clip::update &&
         outer_step == 1;
}

bool Method::loses_only_by_decay(bool sends_everything, int workers) const {
  const AggregatorLaw law = aggregator->law();
  return !law.weighs_messages && feedback->conserves(law, sends_everything, workers);
}

bool Method::conserves(bool sends_everything, int workers) const {
  return feedback->decay() == 1 && loses_only_by_decay(sends_everything, workers);
}

std::vector<std::string> Method::known_losses(bool sends_everything, int workers) const {
  std::vector<std::string> losses;
  const AggregatorLaw law = aggregator->law();
  if (feedback->decay() < 1) {
    losses.emplace_back("residuals decay");
  }
  if (law.weighs_messages) {
    losses.emplace_back("messages are weighed after residuals were updated");
  }
  if (!feedback->conserves(law, sends_everything, workers)) {
    losses.emplace_back(feedback->loss());
  }
  return losses;
}

double Method::gain() const { return outer_step * feedback->gain() / (1 - momentum); }

double Method::effective_decay() const {
  return update_rule == UpdateRule::mean ? weight_decay / (outer_step * feedback->gain()) : 0;
}

template void Method::compress<float>(std::uint64_t,
                                      std::span<const float>,
                                      const SelectionContext&,
                                      SelectWorkspace&,
                                      Message<float>&) const;
template void Method::compress<double>(std::uint64_t,
                                       std::span<const double>,
                                       const SelectionContext&,
                                       SelectWorkspace&,
                                       Message<double>&) const;

}  // namespace residuum
