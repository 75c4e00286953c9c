#include "core/training/worker_gradient.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>

#include "core/gradient_source.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

template <class Real>
double difference_sq(const std::vector<Real>& x, const std::vector<Real>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    sum += difference * difference;
  }
  return sum;
}

std::size_t half_batch(const Training& training) { return training.batch / 2; }

}  // namespace

template <class Real>
WorkerGradient<Real>::WorkerGradient(const Training& training, int worker)
    : training_(training),
      objective_(*training.objective),
      worker_(worker),
      keeps_previous_(keeps_previous_gradient(training)),
      batches_(training.seed, worker, training.shard_of(worker), training.batch, training.sampling),
      borrows_(can_borrow()),
      borrows_there_(borrows_ && can_borrow_there()),
      gradient_(large_vector<Real>(borrows_ ? 0 : objective_.dimension())),
      previous_(keeps_previous_ ? gradient_ : std::vector<Real>()),
      optimiser_memory_(training.method->optimiser == nullptr
                            ? 0
                            : training.method->optimiser->vectors() * objective_.dimension()),
      layers_(training.method->optimiser == nullptr ? std::vector<MatrixPlace>()
                                                    : matrices_of(objective_)),
      statistics_(objective_.statistics()) {
  objective_.initial_statistics(statistics_);
}

template <class Real>
void WorkerGradient<Real>::compute(const Steps& steps,
                                   const ModelAt<Real>& model,
                                   ScratchBuffers<Real>& scratch,
                                   WorkerScalars& scalars) {
  if (keeps_previous_) {
    gradient_.swap(previous_);
  }
  is_there_ = false;
  if (borrows_) {
    assert(steps.count == 1);
    borrow();
  } else if (steps_locally(*training_.method, steps.count)) {
    step_locally(steps, model.on_host, scratch, scalars);
  } else if (model.on_device != nullptr) {
    take_there(steps.first, *model.on_device, model.on_host);
  } else {
    take(steps.first, model.on_host, scratch.part_gradient, gradient_);
  }
  if (keeps_previous_) {
    scalars.gradient_change_sq = difference_sq(gradient_, previous_);
  }
}

template <class Real>
std::span<const Real> WorkerGradient<Real>::gradient() const {
  if constexpr (std::is_same_v<Real, float>) {
    if (is_there_ && !is_here_) {
      gradient_.resize(objective_.dimension());
      borrows_ ? training_.device->read(borrowed_there_, gradient_) : there_->get(0, gradient_);
      is_here_ = true;
    }
  }
  return borrows_ && !is_there_ ? borrowed_ : std::span<const Real>(gradient_);
}

/// Takes the gradient of the batch of this number on the device, where it stays.
template <class Real>
void WorkerGradient<Real>::take_there(std::uint64_t number,
                                      DeviceModel& model,
                                      std::span<const Real> on_host) {
  if constexpr (std::is_same_v<Real, float>) {
    if (there_ == nullptr) {
      there_ = training_.device->vectors(1, objective_.dimension());
    }
    objective_.on_device()->gradient_there(draw_of(number), model.of(on_host), there_->vector(0));
    if (const double factor = weight(); factor != 1) {
      there_->scale(0, static_cast<float>(factor));
    }
    is_there_ = true;
    is_here_ = false;
  }
}

template <class Real>
Draw WorkerGradient<Real>::draw_of(std::uint64_t number) {
  return {.seed = training_.seed,
          .worker = worker_,
          .iteration = number,
          .samples = batches_.draw(number),
          .shard = training_.shard_of(worker_),
          .first_half = false,
          .statistics = statistics_};
}

/// A training outside takes one gradient in an iteration, which nothing may change.
template <class Real>
bool WorkerGradient<Real>::can_borrow() const {
  const Method& method = *training_.method;
  return std::is_same_v<Real, float> && objective_.source() != nullptr && !keeps_previous_ &&
         method.optimiser == nullptr && method.clip != Clip::worker;
}

/// True if its gradient is on the device of the memories, which take it from there.
template <class Real>
bool WorkerGradient<Real>::can_borrow_there() const {
  return training_.device != nullptr && objective_.source()->place().kind != Place::Kind::host;
}

template <class Real>
void WorkerGradient<Real>::borrow() {
  if constexpr (std::is_same_v<Real, float>) {
    const GradientSource& source = *objective_.source();
    is_there_ = borrows_there_;
    is_here_ = false;
    if (borrows_there_) {
      borrowed_there_ = source.gradient_there(worker_);
    } else {
      borrowed_ = source.gradient(worker_);
    }
  }
}

/// gradient := that of the batch of this number at `model`, weighted and clipped.
template <class Real>
void WorkerGradient<Real>::take(std::uint64_t number,
                                std::span<const Real> model,
                                std::vector<Real>& part,
                                std::vector<Real>& gradient) {
  batch_gradient(draw_of(number), model, part, gradient);
  weigh(gradient);
  clip(gradient);
}

template <class Real>
void WorkerGradient<Real>::step_locally(const Steps& steps,
                                        std::span<const Real> model,
                                        ScratchBuffers<Real>& scratch,
                                        WorkerScalars& scalars) {
  scratch.local_model.assign(model.begin(), model.end());
  scratch.step_gradient.resize(model.size());
  std::fill(gradient_.begin(), gradient_.end(), Real{0});
  const auto step_size = static_cast<Real>(steps.step_size);
  const Optimiser* const optimiser = training_.method->optimiser.get();
  scalars.step_grad_norm_sq = 0;
  for (std::uint64_t h = 0; h < steps.count; ++h) {
    take(steps.first + h,
         std::span<const Real>(scratch.local_model),
         scratch.part_gradient,
         scratch.step_gradient);
    scalars.step_grad_norm_sq +=
        norm_sq<Real>(scratch.step_gradient) / static_cast<double>(steps.count);
    if (h == 0 && training_.follows_unperturbed(steps.count)) {
      first_ = scratch.step_gradient;
    }
    if (h == 0 && steps.splits_first) {
      take_half(steps.first, model, scratch.part_gradient, scratch.step_gradient, scalars);
    }
    if (optimiser != nullptr) {
      optimiser->direct(OptimiserStep<Real>{.before = steps.first + h,
                                            .model = scratch.local_model,
                                            .gradient = scratch.step_gradient,
                                            .memory = optimiser_memory_,
                                            .layers = layers_,
                                            .room = &scratch.optimiser_room});
    }
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      gradient_[i] += scratch.step_gradient[i];
      scratch.local_model[i] -= step_size * scratch.step_gradient[i];
    }
  }
}

/// Takes the gradient of a batch in parts: the mean of the parts' gradients, each with its own
/// random streams.
template <class Real>
void WorkerGradient<Real>::batch_gradient(const Draw& draw,
                                          std::span<const Real> model,
                                          std::vector<Real>& part,
                                          std::span<Real> gradient) {
  if (training_.accumulation == 1) {
    objective_.stochastic_gradient(draw, model, gradient);
    return;
  }
  const std::size_t size = training_.batch / training_.accumulation;
  part.resize(gradient.size());
  std::fill(gradient.begin(), gradient.end(), Real{0});
  Draw of_part = draw;
  of_part.iteration = draw.iteration * training_.accumulation;
  for (std::size_t begin = 0; begin < draw.samples.size(); begin += size) {
    of_part.samples = draw.samples.subspan(begin, std::min(size, draw.samples.size() - begin));
    objective_.stochastic_gradient(of_part, model, part);
    const auto share = static_cast<Real>(static_cast<double>(of_part.samples.size()) /
                                         static_cast<double>(draw.samples.size()));
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += share * part[i];
    }
    ++of_part.iteration;
  }
}

/// G^p := G^p min(1, C / (sqrt(P) |G^p|)), P being how many take part. A gradient that is not
/// finite stays as it is, so that divergence is noticed.
template <class Real>
void WorkerGradient<Real>::clip(std::vector<Real>& gradient) const {
  if (training_.method->clip != Clip::worker) {
    return;
  }
  const double bound = training_.method->clip_norm / std::sqrt(training_.taking_part());
  const double norm = std::sqrt(norm_sq<Real>(gradient));
  if (!std::isfinite(norm) || norm <= bound) {
    return;
  }
  for (Real& value : gradient) {
    value *= static_cast<Real>(bound / norm);
  }
}

template <class Real>
void WorkerGradient<Real>::compute_half(std::uint64_t t,
                                        std::span<const Real> model,
                                        ScratchBuffers<Real>& scratch,
                                        WorkerScalars& scalars) {
  gradient();  // a copy of it, where it is on a device
  take_half(t, model, scratch.part_gradient, gradient_, scalars);
}

/// Takes the gradient of the first half of the batch of this number at `model`, and the noise that
/// it shows beside that of the whole batch.
template <class Real>
void WorkerGradient<Real>::take_half(std::uint64_t number,
                                     std::span<const Real> model,
                                     std::vector<Real>& part,
                                     const std::vector<Real>& whole,
                                     WorkerScalars& scalars) {
  const Draw draw{.seed = training_.seed,
                  .worker = worker_,
                  .iteration = number,
                  .samples = objective_.samples() > 0
                                 ? batches_.draw(number).first(half_batch(training_))
                                 : std::span<const std::uint32_t>(),
                  .shard = training_.shard_of(worker_),
                  .first_half = true,
                  .statistics = {}};
  half_.resize(whole.size());
  batch_gradient(draw, model, part, half_);
  weigh(half_);
  const double first = first_half_of_batch(training_);
  scalars.noise_variance = difference_sq(half_, whole) * first / (1 - first);
}

/// Returns P n_p / n, or 1 without data.
template <class Real>
double WorkerGradient<Real>::weight() const {
  const auto n = static_cast<double>(objective_.samples());
  const auto own = static_cast<double>(training_.shard_of(worker_).size());
  return n == 0 ? 1 : own * training_.cluster->workers() / n;
}

/// Weights a gradient by P n_p / n. The update averages over workers, f over samples: with the
/// weights the mean of the workers' gradients is an unbiased estimate of grad f, also where shards
/// differ in size.
template <class Real>
void WorkerGradient<Real>::weigh(std::vector<Real>& gradient) const {
  const double factor = weight();
  if (factor == 1) {
    return;
  }
  for (Real& value : gradient) {
    value *= static_cast<Real>(factor);
  }
}

bool steps_locally(const Method& method, std::uint64_t gradients) {
  return gradients > 1 || method.optimiser != nullptr;
}

bool can_split(const Training& training) {
  const bool has_samples = training.objective->samples() > 0;
  const bool has_independent_halves = training.batch >= 2 && training.sampling != Sampling::shuffle;
  return training.objective->has_function() && training.method->clip != Clip::worker &&
         (!has_samples || has_independent_halves);
}

double first_half_of_batch(const Training& training) {
  return training.objective->samples() > 0
             ? static_cast<double>(half_batch(training)) / static_cast<double>(training.batch)
             : 0.5;
}

bool keeps_previous_gradient(const Training& training) {
  const Feedback& feedback = *training.method->feedback;
  return training.plan.measure && feedback.estimates() && !feedback.averaging() &&
         !feedback.controls_error();
}

template class WorkerGradient<float>;
template class WorkerGradient<double>;

}  // namespace residuum
