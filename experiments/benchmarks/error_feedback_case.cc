#include "experiments/benchmarks/error_feedback_case.h"

#include <nlohmann/json.hpp>

#include "core/config/amount.h"

namespace residuum {

ErrorFeedbackCase::ErrorFeedbackCase(std::shared_ptr<const Gradients> gradients,
                                     double density,
                                     std::vector<Segment> layers,
                                     std::string_view kind)
    : gradients_(std::move(gradients)),
      segments_(std::move(layers)),
      memory_(gradients_->front().size()) {
  const nlohmann::json settings{
      {"kind", kind}, {"density", density}, {"scope", segments_.empty() ? "model" : "layer"}};
  const Section section("sparsifier", settings);
  sparsifier_ = make_sparsifier(section, segments_);
  feedback_ = make_feedback(Section("feedback", nlohmann::json{{"kind", "ef14"}}));
  if (segments_.empty()) {
    segments_.push_back({.begin = 0, .size = memory_.size()});
  }
  for (const auto& segment : segments_) {
    wanted_.push_back(Amount::from(section).resolve(segment.size));
  }
  workspace_.parts.resize(segments_.size());
  delivery_.applied_whole = true;
}

void ErrorFeedbackCase::step() {
  feedback_->accumulate(std::span<float>(memory_),
                        gradient(),
                        1.0,
                        {.segments = segments_, .candidates = workspace_.parts});
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const Candidates& found = workspace_.parts[s];
    misses_ += found.complete && found.indices.size() >= wanted_[s] ? 0 : 1;
  }
  const SelectionContext context{.seed = 1, .worker = 0, .iteration = taken_, .step_size = 1};
  sparsifier_->select(std::span<const float>(memory_), context, workspace_, message_);
  feedback_->update_residual(
      std::span<float>(memory_), delivery_.outcome(message_, 0), residual_update_);
  ++taken_;
}

void ErrorFeedbackCase::forget() {
  for (auto& part : workspace_.parts) {
    part.bound = 0;
  }
}

}  // namespace residuum
