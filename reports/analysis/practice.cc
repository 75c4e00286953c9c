#include "reports/analysis/practice.h"

#include <fmt/format.h>

namespace residuum::reports {
namespace {

void add_momentum(const Json& config, std::vector<std::string>& practice) {
  if (const auto momentum = number_at(config, "step.momentum"); momentum && *momentum > 0) {
    practice.push_back(fmt::format("momentum {} after the aggregation", *momentum));
  }
  if (const auto momentum = number_at(config, "feedback.momentum")) {
    practice.push_back(fmt::format("momentum correction {}, {} factor masking",
                                   *momentum,
                                   flag_at(config, "feedback.masking", true) ? "with" : "without"));
  }
}

void add_decay_of_residuals(const Json& config, std::vector<std::string>& practice) {
  if (const auto decay = number_at(config, "feedback.decay"); decay && *decay < 1) {
    practice.push_back(fmt::format("residuals fade by {} after each exchange, by design", *decay));
  }
}

void add_weighing(const Json& config, std::vector<std::string>& practice) {
  if (text_at(config, "aggregator.weighting") == "senders") {
    practice.emplace_back("entries are divided by how many workers sent them");
  }
  if (text_at(config, "aggregator.clip") == "median-norm") {
    practice.emplace_back(
        "messages are clipped to the median of their norms after residuals were updated");
  }
}

void add_optimiser(const Json& config, std::vector<std::string>& practice) {
  const std::string name = text_at(config, "local.optimiser");
  if (name.empty() || name == "sgd") {
    return;
  }
  std::vector<std::string> numbers;
  for (const auto& [key, value] : value_at(config, "local").items()) {
    if (key != "optimiser") {
      numbers.push_back(fmt::format("{} {}", key, plain_text(value)));
    }
  }
  practice.push_back(fmt::format("workers step by {} ({})", name, fmt::join(numbers, ", ")));
}

void add_local_steps(const Json& config, std::vector<std::string>& practice) {
  if (const auto period = number_at(config, "protocol.period"); period && *period > 1) {
    practice.push_back(fmt::format("{} local steps between exchanges", *period));
  }
  add_optimiser(config, practice);
  const auto step = number_at(config, "outer.step");
  if (const auto momentum = number_at(config, "outer.momentum")) {
    practice.push_back(fmt::format(
        "outer step {} with {} momentum {}", *step, text_at(config, "outer.kind"), *momentum));
  } else if (step && *step != 1) {
    practice.push_back(fmt::format("outer step {}", *step));
  }
  if (text_at(config, "outer.kind") == "sign") {
    practice.emplace_back("the model moves by signs of the update");
  }
  if (text_at(config, "outer.kind") == "orthogonal") {
    practice.emplace_back("the model moves by the polar factors of the update's layers");
  }
}

void add_update(const Json& config, std::vector<std::string>& practice) {
  if (const auto decay = number_at(config, "step.weight_decay"); decay && *decay > 0) {
    practice.push_back(fmt::format("weight decay {} after the aggregation", *decay));
  }
  if (const auto bound = number_at(config, "step.clip_norm"); bound && *bound > 0) {
    practice.push_back(text_at(config, "step.clip_at") == "update"
                           ? fmt::format("updates clipped to norm {} after the aggregation", *bound)
                           : fmt::format("workers' gradients clipped to norm {}/sqrt(P)", *bound));
  }
}

void add_step(const Json& config, std::vector<std::string>& practice) {
  const std::string unit = text_at(config, "step.unit");
  if (const auto length = number_at(config, "step.warmup"); length && *length > 0) {
    practice.push_back(fmt::format("step warm-up from {} of its size over {} {}",
                                   plain_text(value_at(config, "step.warmup_from")),
                                   *length,
                                   unit));
  }
  if (text_at(config, "step.rule") == "cosine") {
    practice.push_back(fmt::format("step falls as a cosine to {} of its size after {} {}",
                                   plain_text(value_at(config, "step.floor")),
                                   plain_text(value_at(config, "step.until")),
                                   unit));
  }
  if (text_at(config, "step.rule") == "milestones") {
    practice.push_back(fmt::format("step times {} at {} {}",
                                   plain_text(value_at(config, "step.factor")),
                                   unit,
                                   plain_text(value_at(config, "step.milestones"))));
  }
}

void add_density(const Json& config, std::vector<std::string>& practice) {
  const Json& schedule = value_at(config, "sparsifier.schedule");
  if (schedule.is_null()) {
    return;
  }
  const auto epochs = number_at(config, "sparsifier.schedule_epochs");
  const auto iterations = number_at(config, "sparsifier.schedule_iterations");
  practice.push_back(fmt::format("density warm-up {}, {} {} a stage",
                                 plain_text(schedule),
                                 epochs ? *epochs : iterations.value_or(0),
                                 epochs ? "epochs" : "iterations"));
}

}  // namespace

std::vector<std::string> practice_of(const Run& run) {
  const Json& config = value_at(run.config, "config");
  std::vector<std::string> practice;
  add_decay_of_residuals(config, practice);
  add_weighing(config, practice);
  add_local_steps(config, practice);
  add_momentum(config, practice);
  add_update(config, practice);
  add_step(config, practice);
  add_density(config, practice);
  if (const auto parts = number_at(config, "workers.accumulate"); parts && *parts > 1) {
    practice.push_back(fmt::format("gradients of {} batches accumulated", *parts));
  }
  return practice;
}

}  // namespace residuum::reports
