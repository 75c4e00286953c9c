#include "experiments/program/study/method_sections.h"

#include <algorithm>
#include <cmath>

namespace residuum {
namespace {

/// Reports a usage error for what has no meaning beside polar factors of updates.
void check_polar_factors(const Section& outer, const Section& step, const Method& method) {
  require(method.momentum == 0,
          "{}: a momentum after the exchange cannot add up polar factors; take out {}, and average "
          "gradients by feedback \"ef21-sgdm\"",
          outer.where("kind"),
          step.where("momentum"));
  require(method.clip != Clip::update,
          "{}: clipping changes no polar factor, so {} would do nothing; use \"worker\", or leave "
          "out step.clip_norm",
          outer.where("kind"),
          step.where("clip_at"));
}

/// Reports a usage error for what has no meaning beside signs of updates.
void check_signs(const Section& outer,
                 const Section& step,
                 const Section& feedback,
                 const Method& method) {
  require(method.momentum == 0,
          "{}: a momentum after the exchange cannot add up signs; take out {}, and use residuals "
          "that fade (feedback.decay)",
          outer.where("kind"),
          step.where("momentum"));
  require(!method.feedback->estimates(),
          "{}: {} exchanges changes of gradient estimates, and no update of which signs could be "
          "taken; use feedback \"ef14\" or \"none\"",
          outer.where("kind"),
          feedback.where("kind"));
  require(method.clip != Clip::update,
          "{}: clipping changes no sign, so {} would do nothing; use \"worker\", or leave out "
          "step.clip_norm",
          outer.where("kind"),
          step.where("clip_at"));
}

}  // namespace

void read_update(const Section& step,
                 const Section& feedback,
                 const ProtocolLaw& protocol,
                 Method& method) {
  method.momentum = step.number("momentum", 0);
  require(method.momentum >= 0 && method.momentum < 1,
          "{} must lie in [0, 1), got {}",
          step.where("momentum"),
          method.momentum);
  require(method.momentum == 0 || !method.feedback->has_velocity(),
          "{}: {} has a momentum of its own before the exchange; give one of them",
          step.where("momentum"),
          feedback.where("kind"));
  method.weight_decay = step.number("weight_decay", 0);
  require(method.weight_decay >= 0,
          "{} must be at least 0, got {}",
          step.where("weight_decay"),
          method.weight_decay);
  require(method.weight_decay == 0 || protocol.local_steps == 1,
          "{}: with {} local steps this decay acts once per exchange only; put it into the "
          "objective (objective.l2), or into an optimiser (local.weight_decay)",
          step.where("weight_decay"),
          protocol.local_steps);
  method.clip_norm = step.number("clip_norm", 0);
  require(method.clip_norm >= 0,
          "{} must be at least 0, got {}",
          step.where("clip_norm"),
          method.clip_norm);
  const auto at =
      step.if_used(method.clip_norm > 0).choice("clip_at", {"worker", "update"}, "worker");
  if (at) {
    method.clip = *at == "worker" ? Clip::worker : Clip::update;
  }
}

void read_local(const Section& local,
                const ProtocolLaw& protocol,
                const Section& feedback,
                Method& method) {
  method.optimiser = make_optimiser(local);
  if (method.optimiser == nullptr) {
    return;
  }
  const std::string place = local.where("optimiser");
  require(protocol.synchrony == Synchrony::lockstep || protocol.synchrony == Synchrony::periodic,
          "{}: under this protocol workers have no optimisers of their own; take protocol \"bsp\" "
          "or \"local\", or optimiser \"sgd\"",
          place);
  require(!method.feedback->estimates() && !method.feedback->has_velocity(),
          "{}: {} estimates gradients or has a momentum of its own, and an optimiser hands in "
          "steps; use feedback \"ef14\" or \"none\", or optimiser \"sgd\"",
          place,
          feedback.where("kind"));
  method.memory_periods = memory_periods_from(local, *method.optimiser);
}

void read_outer(const Section& outer,
                const Section& step,
                const Section& feedback,
                Method& method) {
  const auto kind =
      outer.choice("kind", {"plain", "sign", "orthogonal", "heavy-ball", "nesterov"}, "plain");
  method.outer_step = outer.number("step", 1);
  require(
      method.outer_step > 0, "{} must be positive, got {}", outer.where("step"), method.outer_step);
  if (kind == "sign") {
    check_signs(outer, step, feedback, method);
    method.update_rule = UpdateRule::signs;
  }
  if (kind == "orthogonal") {
    check_polar_factors(outer, step, method);
    method.update_rule = UpdateRule::orthogonal;
  }
  if (kind != "heavy-ball" && kind != "nesterov") {
    require(!outer.has("momentum"),
            "{}: an outer step of kind \"{}\" has no momentum; use \"heavy-ball\" or "
            "\"nesterov\"",
            outer.where("momentum"),
            kind);
    return;
  }
  require(method.momentum == 0 && !method.feedback->has_velocity(),
          "{}: there is a momentum already, by {}; give one of them",
          outer.where("kind"),
          method.momentum != 0 ? step.where("momentum") : feedback.where("kind"));
  method.momentum = outer.number("momentum", 0.9);
  require(method.momentum > 0 && method.momentum < 1,
          "{} must lie in (0, 1), got {}",
          outer.where("momentum"),
          method.momentum);
  method.looks_ahead = kind == "nesterov";
}

void read_quantiser(const Section& section,
                    const Section& aggregator,
                    const ProtocolLaw& protocol,
                    std::span<const Segment> layers,
                    Method& method) {
  method.quantiser = make_quantiser(section);
  const auto scope =
      section.if_used(method.quantiser != nullptr).choice("scope", {"model", "layer"}, "model");
  if (scope == "layer") {
    require(!layers.empty(),
            "{}: these vectors have no layers; use scope \"model\"",
            section.where("scope"));
    method.quantised_layers.assign(layers.begin(), layers.end());
  }
  // Messages of late gradients and of neighbours meet no aggregator on their way.
  const bool meets_aggregator = protocol.synchrony == Synchrony::lockstep ||
                                protocol.synchrony == Synchrony::periodic || protocol.in_rounds;
  if (method.quantiser != nullptr && meets_aggregator) {
    check_quantiser(method, aggregator.text("kind"), section.where("kind"));
  }
}

namespace {

constexpr const char* kKey = "participation";

}  // namespace

std::optional<int> read_participation(const Section& workers, int count) {
  const auto value = workers.any(kKey, "all");
  if (value == "all") {
    return std::nullopt;
  }
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    require(number >= 1 && number <= count,
            "{} must lie in 1..{}, the number of workers, got {}; or give a fraction of them",
            workers.where(kKey),
            count,
            shown(value));
    return static_cast<int>(number);
  }
  const double fraction = value.is_number() ? value.get<double>() : 0;
  require(fraction > 0 && fraction <= 1,
          "{} must be \"all\", a fraction in (0, 1], or a whole number of workers; got {}",
          workers.where(kKey),
          shown(value));
  return std::max(1, static_cast<int>(std::lround(fraction * count)));
}

void check_participation(const Section& workers,
                         const Training& training,
                         const ProtocolLaw& law,
                         const Method& method) {
  if (!law.participants) {
    return;
  }
  const std::string where = workers.where(kKey);
  require(law.may_leave_out,
          "{}: under this protocol no worker can be left out of a version; use protocol \"bsp\" "
          "without a lag, or \"local\"",
          where);
  require(training.networks.empty() && !training.times_work && !law.times_gradients,
          "{}: virtual clocks follow all workers of every version; take out [network], and "
          "'compute' of [protocol]",
          where);
  require(!method.feedback->controls_error(),
          "{}: this feedback sums up what estimates have missed, which of absent workers nobody "
          "knows; use feedback \"ef21\" or \"ef14\"",
          where);
  require(!method.aggregator->law().shifts_model,
          "{}: a worker that is absent would miss changes of the model that the server sends; set "
          "aggregator.down = \"whole\"",
          where);
}

void check_memory_periods(const Section& local, const Training& training, const Method& method) {
  const std::string where = local.where("average_every");
  require(method.memory_periods.empty() || !training.participants,
          "{}: an absent worker would keep a memory that the others have averaged; set "
          "workers.participation = \"all\"",
          where);
  require(method.memory_periods.empty() || training.overlap.rule == OverlapRule::none,
          "{}: with overlap the clocks follow gradients layer by layer, and not what optimisers "
          "remember; set network.overlap = \"none\"",
          where);
}

void check_shift(const Section& aggregator, const Training& training, const Method& method) {
  // A number of entries above that of parameters is a usage error.
  static_cast<void>(method.aggregator->shift_entries(training.objective->dimension()));
  require(!method.aggregator->law().shifts_model || training.objective->source() == nullptr,
          "{}: a training outside takes gradients at its own model, not at what a server sends of "
          "it; use \"whole\"",
          aggregator.where("down"));
}

}  // namespace residuum
