#pragma once

#include <cstdint>

#include "core/measurement/step_view.h"

namespace residuum {

/// An observer is shown the measured iterations, on the root process only.
class StepObserver {
 public:
  StepObserver() = default;
  StepObserver(const StepObserver&) = delete;
  StepObserver& operator=(const StepObserver&) = delete;
  StepObserver(StepObserver&&) = delete;
  StepObserver& operator=(StepObserver&&) = delete;
  virtual ~StepObserver() = default;
  virtual void observe(const StepView& view) = 0;
  /// Reports progress; called for every iteration done, measured or not.
  virtual void progress(std::uint64_t done, std::uint64_t total) = 0;
};

/// Ignores all iterations.
class NoObserver final : public StepObserver {
 public:
  void observe(const StepView& /*view*/) override {}
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
};

}  // namespace residuum
