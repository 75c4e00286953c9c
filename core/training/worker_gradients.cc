#include "core/training/worker_gradients.h"

#include <algorithm>
#include <cmath>

#include "core/vectors/dense.h"
#include "core/vectors/large_vector.h"

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

}  // namespace

template <class Real>
WorkerGradients<Real>::WorkerGradients(const Training& training)
    : training_(training),
      objective_(*training.objective),
      cluster_(*training.cluster),
      statistics_(static_cast<std::size_t>(cluster_.count()),
                  std::vector<double>(objective_.statistics())) {
  for (std::size_t slot = 0; slot < statistics_.size(); ++slot) {
    gradients_.push_back(large_vector<Real>(objective_.dimension()));
  }
  for (auto& statistics : statistics_) {
    objective_.initial_statistics(statistics);
  }
  if (keeps_previous()) {
    previous_ = gradients_;
  }
  for (int worker = cluster_.first(); worker < cluster_.first() + cluster_.count(); ++worker) {
    batches_.emplace_back(
        training.seed, worker, training.shard_of(worker), training.batch, training.sampling);
  }
}

template <class Real>
void WorkerGradients<Real>::compute(std::uint64_t t,
                                    std::span<const Real> model,
                                    std::span<WorkerScalars> scalars) {
  for (std::size_t slot = 0; slot < gradients_.size(); ++slot) {
    const int worker = cluster_.first() + static_cast<int>(slot);
    const Draw draw{.seed = training_.seed,
                    .worker = worker,
                    .iteration = t,
                    .samples = batches_[slot].draw(t),
                    .shard = training_.shard_of(worker),
                    .first_half = false,
                    .statistics = statistics_[slot]};
    if (keeps_previous()) {
      gradients_[slot].swap(previous_[slot]);
    }
    batch_gradient(draw, model, gradients_[slot]);
    weigh(worker, gradients_[slot]);
    clip(gradients_[slot]);
    if (keeps_previous()) {
      scalars[slot].gradient_change_sq = difference_sq(gradients_[slot], previous_[slot]);
    }
  }
}

/// Takes the gradient of a batch in parts: the mean of the parts' gradients, each with its own
/// random streams.
template <class Real>
void WorkerGradients<Real>::batch_gradient(const Draw& draw,
                                           std::span<const Real> model,
                                           std::span<Real> gradient) {
  if (training_.accumulation == 1) {
    objective_.stochastic_gradient(draw, model, gradient);
    return;
  }
  const std::size_t part = training_.batch / training_.accumulation;
  part_gradient_.resize(gradient.size());
  std::fill(gradient.begin(), gradient.end(), Real{0});
  Draw of_part = draw;
  of_part.iteration = draw.iteration * training_.accumulation;
  for (std::size_t begin = 0; begin < draw.samples.size(); begin += part) {
    of_part.samples = draw.samples.subspan(begin, std::min(part, draw.samples.size() - begin));
    objective_.stochastic_gradient(of_part, model, part_gradient_);
    const auto share = static_cast<Real>(static_cast<double>(of_part.samples.size()) /
                                         static_cast<double>(draw.samples.size()));
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += share * part_gradient_[i];
    }
    ++of_part.iteration;
  }
}

/// G^p := G^p min(1, C / (sqrt(P) |G^p|)). A gradient that is not finite stays as it is, so that
/// divergence is noticed.
template <class Real>
void WorkerGradients<Real>::clip(std::vector<Real>& gradient) const {
  if (training_.method->clip != Clip::worker) {
    return;
  }
  const double bound = training_.method->clip_norm / std::sqrt(cluster_.workers());
  const double norm = std::sqrt(norm_sq<Real>(gradient));
  if (!std::isfinite(norm) || norm <= bound) {
    return;
  }
  for (Real& value : gradient) {
    value *= static_cast<Real>(bound / norm);
  }
}

template <class Real>
bool WorkerGradients<Real>::compute_halves(std::uint64_t t,
                                           std::span<const Real> model,
                                           std::span<WorkerScalars> scalars) {
  const bool has_samples = objective_.samples() > 0;
  if (training_.method->clip == Clip::worker ||
      (has_samples && (training_.batch < 2 || training_.sampling == Sampling::shuffle))) {
    return false;
  }
  const std::size_t half = training_.batch / 2;
  first_half_ =
      has_samples ? static_cast<double>(half) / static_cast<double>(training_.batch) : 0.5;
  halves_.resize(gradients_.size(), std::vector<Real>(objective_.dimension()));
  for (std::size_t slot = 0; slot < halves_.size(); ++slot) {
    const int worker = cluster_.first() + static_cast<int>(slot);
    const Draw draw{.seed = training_.seed,
                    .worker = worker,
                    .iteration = t,
                    .samples = has_samples ? batches_[slot].draw(t).first(half)
                                           : std::span<const std::uint32_t>(),
                    .shard = training_.shard_of(worker),
                    .first_half = true,
                    .statistics = {}};
    batch_gradient(draw, model, halves_[slot]);
    weigh(worker, halves_[slot]);
    scalars[slot].noise_variance =
        difference_sq(halves_[slot], gradients_[slot]) * first_half_ / (1 - first_half_);
  }
  return true;
}

template <class Real>
std::vector<double> WorkerGradients<Real>::mean_statistics() const {
  std::vector<double> mean(objective_.statistics());
  if (mean.empty()) {
    return mean;
  }
  cluster_.sum_in_worker_order(std::span(mean),
                               /*everywhere=*/true,
                               [&](int worker, std::size_t begin, std::span<double> block) {
                                 const std::span<const double> own =
                                     statistics_[cluster_.slot(worker)];
                                 add_to<double>(block, own.subspan(begin, block.size()));
                               });
  for (double& value : mean) {
    value /= cluster_.workers();
  }
  return mean;
}

/// True if previous gradients are kept. The theory of gradient estimates bounds their error by the
/// change of what they follow: the gradients, unless the feedback averages them.
template <class Real>
bool WorkerGradients<Real>::keeps_previous() const {
  const Feedback& feedback = *training_.method->feedback;
  return training_.plan.measure && feedback.estimates() && !feedback.averaging();
}

/// Weights a gradient by P n_p / n. The update averages over workers, f over samples: with the
/// weights the mean of the workers' gradients is an unbiased estimate of grad f, also where shards
/// differ in size.
template <class Real>
void WorkerGradients<Real>::weigh(int worker, std::vector<Real>& gradient) const {
  const auto n = static_cast<double>(objective_.samples());
  if (n == 0) {
    return;
  }
  const auto own = static_cast<double>(training_.shard_of(worker).size());
  const double weight = own * cluster_.workers() / n;
  if (weight == 1) {
    return;
  }
  for (Real& value : gradient) {
    value *= static_cast<Real>(weight);
  }
}

template <class Real>
void WorkerGradients<Real>::visit(RunState& state) {
  state.workers(statistics_, objective_.statistics());
  if (keeps_previous()) {
    state.workers(gradients_, objective_.dimension());
  }
}

template class WorkerGradients<float>;
template class WorkerGradients<double>;

}  // namespace residuum
