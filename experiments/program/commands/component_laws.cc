#include "experiments/program/commands/component_laws.h"

#include <fmt/format.h>

namespace residuum {
namespace {

constexpr std::size_t kDimension = 1000;
constexpr int kWorkers = 8;

using Points = std::vector<std::string>;

/// Describes the built component, if there is something to say of it.
Points example_points(std::string_view example) {
  return example == "{}" ? Points() : Points{fmt::format("Built with `{}`", example)};
}

void add_if(bool holds, Points& points, std::string text) {
  if (holds) {
    points.push_back(std::move(text));
  }
}

std::string_view synchrony_text(Synchrony synchrony) {
  switch (synchrony) {
    case Synchrony::lockstep:
      return "Workers take gradients at one model and exchange in every version";
    case Synchrony::periodic:
      return "Workers step on models of their own and exchange now and then";
    case Synchrony::late:
      return "A version may be made of gradients that were taken at older versions";
    case Synchrony::neighbours:
      break;
  }
  return "Each worker has a model of its own and exchanges with its neighbours in every version";
}

/// Builds a component by its example, as the law tests do.
template <class Interface>
std::unique_ptr<Interface> example_of(const char* section, const Entry<Interface>& entry) {
  return entry.make(example_section(section, entry));
}

}  // namespace

std::vector<std::string> law_of(const Entry<Sparsifier>& entry) {
  const auto sparsifier = example_of("sparsifier", entry);
  const SparsifierLaw law = sparsifier->law(kDimension, 1);
  const auto k = sparsifier->k(kDimension);
  Points points = example_points(entry.example);
  points.push_back(k ? fmt::format("A worker sends at most {} of {} entries", *k, kDimension)
                     : "The data decide how many entries a worker sends");
  if (law.contraction) {
    points.push_back(fmt::format("E‖a − C(a)‖² {} (1 − α)‖a‖² with α = {:.6g}, {}",
                                 law.exact ? "=" : "≤",
                                 *law.contraction,
                                 law.pathwise ? "for each draw" : "in expectation"));
  }
  add_if(law.threshold.has_value(),
         points,
         law.threshold_scales
             ? "Every entry that is not sent is below a threshold proportional to the step size"
             : "Every entry that is not sent is below a fixed threshold");
  add_if(law.keeps_largest, points, "C(a) are the k largest entries of all d");
  add_if(law.keeps_values, points, "Entries are sent unchanged");
  add_if(law.unbiased, points, "E C(a) = a");
  add_if(law.shares_support, points, "All workers send the same indices, chosen without their a");
  add_if(law.deterministic, points, "No draw enters C(a)");
  add_if(!law.deterministic && !law.reuses_threshold, points, "Draws may enter C(a)");
  add_if(law.reuses_threshold, points, "C(a) depends on earlier messages by its threshold");
  return points;
}

std::vector<std::string> law_of(const Entry<Quantiser>& entry) {
  const auto quantiser = example_of("quantiser", entry);
  const QuantiserLaw law = quantiser->law(kDimension);
  Points points = example_points(entry.example);
  points.push_back(
      fmt::format("{} of {} values take {} bytes",
                  law.bits == 1 ? "Codes of 1 bit" : fmt::format("Codes of {} bits", law.bits),
                  kDimension,
                  quantiser->packed_bytes(kDimension, sizeof(float))));
  if (law.contraction) {
    points.push_back(fmt::format("E‖x − Q(x)‖² ≤ (1 − α)‖x‖² with α = {:.6g}", *law.contraction));
  }
  if (law.variance) {
    points.push_back(
        fmt::format("E Q(x) = x and E‖Q(x) − x‖² ≤ ω‖x‖² with ω = {:.6g}", *law.variance));
  }
  points.push_back(law.random ? "Draws enter Q(x)" : "No draw enters Q(x)");
  return points;
}

std::vector<std::string> law_of(const Entry<Aggregator>& entry) {
  const auto aggregator = example_of("aggregator", entry);
  const AggregatorLaw law = aggregator->law();
  Points points = example_points(entry.example);
  add_if(law.applies_whole_messages, points, "g is the sum of the messages");
  add_if(law.approximates_sum, points, "g approximates the sum of the whole accumulators");
  add_if(law.weighs_messages, points, "g is not the plain mean of the messages");
  add_if(law.is_sparse, points, "g has at most k entries");
  add_if(law.selects_largest, points, "Sums of messages are cut to their k largest entries");
  add_if(law.completes_support, points, "On its support g is the sum of all accumulators");
  add_if(law.cuts_in_merges, points, "A merge may cut an entry of one branch that g contains");
  add_if(law.cuts_stay_with_senders, points, "What a merge cuts stays with those that sent it");
  add_if(law.forwards_messages, points, "Messages arrive as they were sent, so they may be codes");
  add_if(law.shifts_model, points, "Workers take gradients at a shift of the model");
  add_if(law.carries_vectors, points, "Workers send vectors of d numbers");
  add_if(aggregator->needs_k(), points, "The sparsifier must have a k");
  return points;
}

std::vector<std::string> law_of(const Entry<Feedback>& entry) {
  const auto feedback = example_of("feedback", entry);
  const bool conserves = feedback->conserves(AggregatorLaw(), false, kWorkers);
  Points points = example_points(entry.example);
  points.push_back(fmt::format(
      "A worker's memory has {} of d numbers",
      feedback->vectors() == 1 ? "one vector" : fmt::format("{} vectors", feedback->vectors())));
  add_if(feedback->estimates(), points, "Workers exchange changes of gradient estimates");
  add_if(feedback->controls_error(), points, "It sums up what the estimates have missed");
  add_if(feedback->has_velocity(), points, "A velocity takes the place of the gradient");
  points.push_back(conserves ? "Nothing is lost where every message is applied as it was sent"
                             : fmt::format("Mass is lost: {}", feedback->loss()));
  return points;
}

std::vector<std::string> law_of(const Entry<Optimiser>& entry) {
  const auto optimiser = example_of("worker", entry);
  Points points = example_points(entry.example);
  points.push_back(fmt::format(
      "A worker's memory has {} of d numbers",
      optimiser->vectors() == 1 ? "one vector" : fmt::format("{} vectors", optimiser->vectors())));
  add_if(optimiser->gain() != 1,
         points,
         fmt::format("One gradient moves the model by {:.6g} η times the gradient in the end",
                     optimiser->gain()));
  return points;
}

std::vector<std::string> law_of(const Entry<Protocol>& entry) {
  const auto protocol = example_of("protocol", entry);
  const ProtocolLaw law = protocol->law(kWorkers);
  Points points = example_points(entry.example);
  points.emplace_back(synchrony_text(law.synchrony));
  add_if(law.local_steps > 1, points, fmt::format("Local steps H = {}", law.local_steps));
  points.push_back(law.staleness ? fmt::format("Staleness τ ≤ {}", *law.staleness)
                                 : "Staleness has no limit");
  points.push_back(law.contributions ? fmt::format("Gradients in a version: {}", *law.contributions)
                                     : "The number of gradients in a version varies");
  if (law.spectral_gap) {
    points.push_back(fmt::format("Spectral gap 1 − |λ_2| = {:.6g}", *law.spectral_gap));
  }
  add_if(!law.contributions_weigh_alike, points, "A version is no plain mean of its gradients");
  add_if(law.times_gradients, points, "The study says how long gradients take in virtual time");
  add_if(
      law.may_leave_out, points, "A study may let some workers make a version (`participation`)");
  return points;
}

}  // namespace residuum
