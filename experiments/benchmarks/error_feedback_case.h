#pragma once
// ErrorFeedbackCase makes one worker's step of error feedback from the parts that a training is
// made of, on gradients that change from step to step.

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/feedback/feedback.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

class ErrorFeedbackCase {
 public:
  using Gradients = std::vector<std::vector<float>>;

  /// Selects by the sparsifier of this kind, in every one of the layers, k entries in proportion to
  /// their sizes.
  ErrorFeedbackCase(std::shared_ptr<const Gradients> gradients,
                    double density,
                    std::vector<Segment> layers = {},
                    std::string_view kind = "top-k");

  /// Accumulates, selects, and takes out the selected entries as if all were delivered.
  void step();

  /// Forgets where the last cuts were.
  void forget();

  std::span<float> memory() { return memory_; }
  /// The gradient of the next step.
  std::span<const float> gradient() const { return (*gradients_)[taken_ % gradients_->size()]; }
  std::size_t k() const { return sparsifier_->k(memory_.size()).value(); }

  /// Counts the steps and segments in which candidates were too few.
  std::size_t misses() const { return misses_; }
  std::size_t selections() const { return taken_ * segments_.size(); }

 private:
  std::shared_ptr<const Gradients> gradients_;
  std::unique_ptr<Sparsifier> sparsifier_;
  std::unique_ptr<Feedback> feedback_;
  std::vector<Segment> segments_;
  std::vector<std::size_t> wanted_;  // per segment
  std::vector<float> memory_;
  SelectWorkspace workspace_;
  Message<float> message_;
  Delivery<float> delivery_;
  ResidualUpdate<float> residual_update_;
  std::size_t taken_ = 0;
  std::size_t misses_ = 0;
};

}  // namespace residuum
