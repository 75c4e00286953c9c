#pragma once
// A gradient source hands a run the gradients of a training outside of this program, one iteration
// after the other. Objective `live` has one; other objectives compute or read their gradients.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/objective.h"

namespace residuum {

class GradientSource {
 public:
  /// The next action of the run: an iteration, a checkpoint, or its end.
  enum class Next { iteration, save, end };

  GradientSource() = default;
  GradientSource(const GradientSource&) = delete;
  GradientSource& operator=(const GradientSource&) = delete;
  GradientSource(GradientSource&&) = delete;
  GradientSource& operator=(GradientSource&&) = delete;
  virtual ~GradientSource() = default;

  virtual std::size_t dimension() const = 0;
  /// Returns the named parts of a gradient in their order; together they have `dimension` entries.
  virtual const std::vector<Layer>& layers() const = 0;

  /// Says in words whose gradients these are: "the gradients of a training ...".
  virtual std::string description() const = 0;

  /// Waits between two iterations until the training has the next gradients, wants the state saved,
  /// or has ended. All processes of the run get the same answers.
  virtual Next await() = 0;
  /// Returns the gradient, d numbers, of a worker of this process in the iteration that `await`
  /// has announced.
  virtual std::span<const float> gradient(int worker) const = 0;
  /// Says where the training has its gradients.
  virtual Place place() const { return {}; }
  /// Returns that gradient where it is, if that is a device; the call above then copies it to the
  /// host.
  virtual DeviceSpan gradient_there(int /*worker*/) const { return {}; }
  /// Returns the learning rate of the training in that iteration, positive and finite.
  virtual double step_size() const = 0;
  /// Returns d numbers that the run sets to w_t - w_{t+1} before that is rounded; empty where the
  /// training does not ask for it.
  virtual std::span<double> update() { return {}; }
};

}  // namespace residuum
