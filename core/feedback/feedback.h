#pragma once
// A feedback decides how a worker keeps the entries that were not applied. Each kind has its own
// file and a line in registry.cc. A feedback is a rule without state: the memory of a worker is a
// vector that the trainer owns. Its first d numbers are the residual e^p_t before `accumulate`, the
// accumulator a^p_t between `accumulate` and `update_residual`, and e^p_{t+1} afterwards.

#include <memory>
#include <optional>
#include <span>

#include "core/config/registry.h"
#include "core/messages/exchange_result.h"
#include "core/messages/laws.h"
#include "core/vectors/device.h"
#include "core/vectors/fused.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// A residual update is how a residual is made of an accumulator: a - removed + returned. If
/// everything, or a fraction of every entry, was removed, both lists are empty. The lists may refer
/// to those of the message or its outcome and are valid only as long as these.
template <class Real>
class ResidualUpdate {
 public:
  const SparseVector<Real>& removed() const { return removed_ != nullptr ? *removed_ : own_; }
  const SparseVector<Real>& returned() const { return returned_ != nullptr ? *returned_ : none_; }
  bool removed_everything() const { return removed_part_ == Part::everything; }
  /// True if the removed entries have no list: everything, or a part of every entry.
  bool removed_is_dense() const { return removed_part_ != Part::list; }

  void remove_nothing() { set(Part::list, nullptr, nullptr); }
  void remove_everything() { set(Part::everything, nullptr, nullptr); }
  void remove_part_of_all() { set(Part::of_all, nullptr, nullptr); }
  void remove(const SparseVector<Real>& list) { set(Part::list, &list, nullptr); }
  /// Notes the entries of both lists; at an index that both have, those of `a`.
  void remove_union(const SparseVector<Real>& a, const SparseVector<Real>& b) {
    set(Part::list, nullptr, nullptr);
    unite(a, b, own_);
  }
  void return_entries(const SparseVector<Real>& list) { returned_ = &list; }

 private:
  enum class Part { list, of_all, everything };

  void set(Part part, const SparseVector<Real>* removed, const SparseVector<Real>* returned) {
    removed_part_ = part;
    removed_ = removed;
    returned_ = returned;
    own_.clear();
  }

  Part removed_part_ = Part::list;
  const SparseVector<Real>* removed_ = nullptr;
  const SparseVector<Real>* returned_ = nullptr;
  SparseVector<Real> own_, none_;
};

/// The memory is in units of steps (gradients times the step size, as in theory) or of gradients
/// (as in most training code).
enum class Units { step, gradient };

/// The form of a feedback for memories on a device. It has the bits of the feedback on the host but
/// for norms, and vector 0 is what `accumulate` and `update_residual` make there of the first d
/// numbers.
class DeviceFeedback {
 public:
  DeviceFeedback() = default;
  DeviceFeedback(const DeviceFeedback&) = delete;
  DeviceFeedback& operator=(const DeviceFeedback&) = delete;
  DeviceFeedback(DeviceFeedback&&) = delete;
  DeviceFeedback& operator=(DeviceFeedback&&) = delete;
  virtual ~DeviceFeedback() = default;

  /// Starts the pass, whose norms the caller takes.
  virtual void start_accumulate_there(DeviceVectors& memory,
                                      DeviceSpan gradient,
                                      double step_size,
                                      std::span<const Segment> segments) const = 0;
  virtual void update_residual_there(DeviceVectors& memory,
                                     const MessageOutcome<float>& outcome,
                                     ResidualUpdate<float>& residual_update) const = 0;
};

class Feedback {
 public:
  Feedback() = default;
  Feedback(const Feedback&) = delete;
  Feedback& operator=(const Feedback&) = delete;
  Feedback(Feedback&&) = delete;
  Feedback& operator=(Feedback&&) = delete;
  virtual ~Feedback() = default;

  /// Initialises the memory, which is zero, before the first `accumulate`; most feedbacks leave it
  /// zero.
  virtual void begin(std::span<float> /*memory*/, std::span<const float> /*first_gradient*/) const {
  }
  virtual void begin(std::span<double> /*memory*/,
                     std::span<const double> /*first_gradient*/) const {}

  /// memory := accumulator a^p = e^p + c G^p, c = eta in step units and 1 in gradient units, in one
  /// pass that also looks for large entries.
  virtual PassNorms accumulate(std::span<float> memory,
                               std::span<const float> gradient,
                               double step_size,
                               const Pass& pass) const = 0;
  virtual PassNorms accumulate(std::span<double> memory,
                               std::span<const double> gradient,
                               double step_size,
                               const Pass& pass) const = 0;

  /// memory := residual e^p_{t+1}, from what became of the worker's message.
  virtual void update_residual(std::span<float> memory,
                               const MessageOutcome<float>& outcome,
                               ResidualUpdate<float>& residual_update) const = 0;
  virtual void update_residual(std::span<double> memory,
                               const MessageOutcome<double>& outcome,
                               ResidualUpdate<double>& residual_update) const = 0;

  /// Returns the form for memories on a device; null if it has none.
  virtual const DeviceFeedback* on_device() const { return nullptr; }

  virtual Units units() const = 0;

  /// Returns how many vectors of d numbers the memory of a worker has.
  virtual std::size_t vectors() const { return 1; }

  /// True if a velocity, which is a sum or an average of the gradients so far, enters the memory in
  /// place of the gradient (momentum): between `accumulate` and `update_residual` it is the second
  /// d numbers of the memory.
  virtual bool has_velocity() const { return false; }

  /// Returns m where the velocity is a sum v := m v + G; 0 for other feedbacks.
  virtual double momentum() const { return 0; }

  /// Returns how far one gradient moves the model in the end if nothing is dropped, in units of eta
  /// times the gradient.
  double gain() const { return 1 / (1 - momentum()); }

  /// Returns the weight a of the newest gradient if the velocity is an average v := (1 - a) v + a G
  /// that begins at the first gradient; absent for other feedbacks.
  virtual std::optional<double> averaging() const { return std::nullopt; }

  /// True if workers exchange changes of gradient estimates g^p: the update is then eta times the
  /// mean of the estimates, which is the sum of all exchanged vectors so far.
  virtual bool estimates() const { return false; }

  /// True if beside the estimates it keeps the sum e^p of what they have missed: that is its
  /// residual, and not what they miss now.
  bool controls_error() const { return error_weight().has_value(); }
  /// Returns the part of that sum that enters messages; absent for other feedbacks.
  virtual std::optional<double> error_weight() const { return std::nullopt; }

  /// Returns what theorems, verdicts and probes must know of it.
  FeedbackLaw law() const {
    return {.memory = controls_error() ? Memory::control
                      : estimates()    ? Memory::estimate
                      : has_velocity() ? Memory::velocity
                                       : Memory::residual,
            .in_gradient_units = units() == Units::gradient,
            .averaging = averaging(),
            .error_weight = error_weight(),
            .decay = decay(),
            .forgets = forgets()};
  }

  /// True if a residual loses the selected values, whatever a quantiser made of them.
  virtual bool clears_selection() const { return false; }

  /// Returns beta, the factor of a residual after the exchange: below 1, the rest is lost by
  /// design.
  virtual double decay() const { return 1; }

  /// True if it remembers nothing of what was not applied.
  virtual bool forgets() const { return false; }

  /// True if it must know which entries were applied: it cannot take a dense approximation.
  virtual bool needs_lists() const { return false; }

  /// True if with this aggregator nothing is ever lost but by the decay: without one, sum_p
  /// e^p_{t+1} + g_t = sum_p a^p_t.
  virtual bool conserves(const AggregatorLaw& aggregator,
                         bool sends_everything,
                         int workers) const = 0;
  /// Returns the reason of a loss, other than the decay, for a feedback that has one.
  virtual const char* loss() const {
    return "the put-back rule does not return all that was dropped";
  }
};

/// Implements the overloads by member templates of the same names of Derived.
template <class Derived>
class FeedbackFor : public Feedback {
 public:
  PassNorms accumulate(std::span<float> memory,
                       std::span<const float> gradient,
                       double step_size,
                       const Pass& pass) const final {
    return self().template accumulate<float>(memory, gradient, step_size, pass);
  }
  PassNorms accumulate(std::span<double> memory,
                       std::span<const double> gradient,
                       double step_size,
                       const Pass& pass) const final {
    return self().template accumulate<double>(memory, gradient, step_size, pass);
  }
  void update_residual(std::span<float> memory,
                       const MessageOutcome<float>& outcome,
                       ResidualUpdate<float>& residual_update) const final {
    self().template update_residual<float>(memory, outcome, residual_update);
  }
  void update_residual(std::span<double> memory,
                       const MessageOutcome<double>& outcome,
                       ResidualUpdate<double>& residual_update) const final {
    self().template update_residual<double>(memory, outcome, residual_update);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

std::span<const Entry<Feedback>> feedbacks();

/// Builds what the section's `kind` names; the caller finishes the section.
std::unique_ptr<Feedback> make_feedback(const Section& section);

/// Reads `units`: "step" (default) or "gradient".
Units units_from(const Section& section);

}  // namespace residuum
