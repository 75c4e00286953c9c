#include "core/training/memory_vectors.h"

#include <cassert>
#include <type_traits>
#include <vector>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

template <class Real>
class HostMemory final : public MemoryVectors<Real> {
 public:
  explicit HostMemory(const Training& training)
      : method_(*training.method),
        d_(training.objective->dimension()),
        numbers_(large_vector<Real>(d_ * method_.feedback->vectors())) {}

  void start(const MemoryStep<Real>& /*step*/, std::span<const Segment> /*segments*/) override {}
  PassNorms accumulate(const MemoryStep<Real>& step, const Pass& pass) override {
    const std::span<const Real> gradient = step.gradient.on_host;
    if (step.is_first) {
      method_.feedback->begin(std::span<Real>(numbers_), gradient);
    }
    return method_.feedback->accumulate(std::span<Real>(numbers_), gradient, step.step_size, pass);
  }
  void compress(const MemoryStep<Real>& step,
                SelectWorkspace& workspace,
                Message<Real>& message) override {
    method_.compress(step.version, first(), step.context, workspace, message);
  }
  void update_residual(const MessageOutcome<Real>& outcome,
                       ResidualUpdate<Real>& residual_update) override {
    method_.feedback->update_residual(std::span<Real>(numbers_), outcome, residual_update);
  }

  double dot(const SparseVector<Real>& entries) const override {
    double sum = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      sum += static_cast<double>(entries.values[i]) *
             static_cast<double>(numbers_[entries.indices[i]]);
    }
    return sum;
  }
  ResidualNorms norms(std::span<const Segment> segments) const override {
    return {.square = norm_sq(first(), segments),
            .largest = static_cast<double>(norm_inf<Real>(first()))};
  }

  std::span<const Real> for_exchange(const Message<Real>& /*message*/) const override {
    return first();
  }
  std::span<const Real> first() const override { return std::span<const Real>(numbers_).first(d_); }
  std::span<const Real> all() const override { return numbers_; }
  std::span<Real> all_to_write() override { return numbers_; }

 private:
  const Method& method_;
  std::size_t d_;
  std::vector<Real> numbers_;
};

/// The vectors are on a device. The host has copies of those that it has asked for.
class DeviceMemory final : public MemoryVectors<float> {
 public:
  explicit DeviceMemory(const Training& training)
      : method_(*training.method),
        device_(*training.device),
        d_(training.objective->dimension()),
        there_(device_.vectors(method_.feedback->vectors(), d_)),
        is_here_(method_.feedback->vectors()) {}

  void start(const MemoryStep<float>& step, std::span<const Segment> segments) override {
    DeviceVectors& memory = there();
    method_.feedback->on_device()->start_accumulate_there(
        memory, placed(step.gradient), step.step_size, segments);
    method_.start_there(step.version, memory, step.context, plan_);
    is_started_ = true;
  }
  PassNorms accumulate(const MemoryStep<float>& step, const Pass& pass) override {
    if (!is_started_) {
      start(step, pass.segments);
    }
    is_started_ = false;
    return there_->take_norms();
  }
  void compress(const MemoryStep<float>& step,
                SelectWorkspace& /*workspace*/,
                Message<float>& message) override {
    method_.take_there(step.version, *there_, step.context, plan_, message);
  }
  void update_residual(const MessageOutcome<float>& outcome,
                       ResidualUpdate<float>& residual_update) override {
    method_.feedback->on_device()->update_residual_there(there(), outcome, residual_update);
  }

  double dot(const SparseVector<float>& entries) const override {
    std::vector<float> values(entries.size());
    taken_over().gather(0, entries.indices, values);
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += static_cast<double>(entries.values[i]) * static_cast<double>(values[i]);
    }
    return sum;
  }
  ResidualNorms norms(std::span<const Segment> segments) const override {
    const DeviceVectors& vectors = taken_over();
    return {.square = vectors.norm_sq(0, segments),
            .largest = static_cast<double>(vectors.norm_inf(0))};
  }

  std::span<const float> for_exchange(const Message<float>& message) const override {
    return message.everything ? first() : std::span<const float>();
  }
  std::span<const float> first() const override { return fetched(0); }
  std::span<const float> all() const override {
    for (std::size_t number = 0; number < is_here_.size(); ++number) {
      fetched(number);
    }
    return here_;
  }
  std::span<float> all_to_write() override {
    all();
    is_written_ = true;
    return here_;
  }

 private:
  /// Returns the vectors, once they have what the host has written.
  DeviceVectors& taken_over() const {
    if (is_written_) {
      is_written_ = false;
      for (std::size_t number = 0; number < is_here_.size(); ++number) {
        there_->set(number, part(number));
      }
    }
    return *there_;
  }
  /// Returns the vectors for a change, after which no copy here is theirs.
  DeviceVectors& there() {
    DeviceVectors& vectors = taken_over();
    is_here_.assign(is_here_.size(), false);
    return vectors;
  }

  std::span<const float> fetched(std::size_t number) const {
    here_.resize(is_here_.size() * d_);
    if (!is_here_[number]) {
      there_->get(number, part(number));
      is_here_[number] = true;
    }
    return part(number);
  }
  std::span<float> part(std::size_t number) const {
    return std::span(here_).subspan(number * d_, d_);
  }

  /// Returns the gradient on the device; one of the host is copied there.
  DeviceSpan placed(const GradientAt<float>& gradient) {
    if (gradient.on_device.data != nullptr) {
      return gradient.on_device;
    }
    if (gradient_ == nullptr) {
      gradient_ = device_.vectors(1, d_);
    }
    gradient_->set(0, gradient.on_host);
    return gradient_->vector(0).span();
  }

  const Method& method_;
  const Device& device_;
  std::size_t d_;
  std::unique_ptr<DeviceVectors> there_;
  std::unique_ptr<DeviceVectors> gradient_;  // only for gradients that come from the host
  DevicePlan plan_;                          // of the selection
  bool is_started_ = false;                  // a step is, whose norms are to be taken
  mutable std::vector<float> here_;          // copies, one vector after the other
  mutable std::vector<bool> is_here_;        // of each vector: the copy is up to date
  mutable bool is_written_ = false;          // the host has written its copies
};

}  // namespace

template <class Real>
std::unique_ptr<MemoryVectors<Real>> make_memory_vectors(const Training& training) {
  if constexpr (std::is_same_v<Real, float>) {
    if (training.device != nullptr) {
      return std::make_unique<DeviceMemory>(training);
    }
  }
  return std::make_unique<HostMemory<Real>>(training);
}

template std::unique_ptr<MemoryVectors<float>> make_memory_vectors(const Training&);
template std::unique_ptr<MemoryVectors<double>> make_memory_vectors(const Training&);

}  // namespace residuum
