#include "core/measurement/evaluations.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random/random.h"
#include "core/vectors/dense.h"

namespace residuum {

namespace {

/// Differences of f (relative to f) and of points (relative to |w|) must exceed these bounds to be
/// told from rounding errors (gradients of networks are float32).
constexpr double kRounding = 1e-12;
constexpr double kNearest = 1e-6;

/// Returns about `wanted` of the samples, evenly spread over every shard.
std::vector<std::vector<std::uint32_t>> thinned(
    const std::vector<std::vector<std::uint32_t>>& shards, std::size_t wanted) {
  std::size_t samples = 0;
  for (const auto& shard : shards) {
    samples += shard.size();
  }
  const std::size_t stride = std::max<std::size_t>(1, samples / std::max<std::size_t>(1, wanted));
  std::vector<std::vector<std::uint32_t>> few(shards.size());
  for (std::size_t p = 0; p < shards.size(); ++p) {
    for (std::size_t i = 0; i < shards[p].size(); i += stride) {
      few[p].push_back(shards[p][i]);
    }
  }
  return few;
}

std::size_t count(const std::vector<std::vector<std::uint32_t>>& shards) {
  std::size_t samples = 0;
  for (const auto& shard : shards) {
    samples += shard.size();
  }
  return samples;
}

/// Returns, for every shard, the samples that f is the mean over.
std::vector<std::vector<std::uint32_t>> evaluated_shards(const Training& training) {
  auto shards = training.shards;
  const auto evaluated = training.objective->evaluated();
  if (evaluated.empty()) {
    return shards;
  }
  for (auto& shard : shards) {
    std::erase_if(shard, [&](std::uint32_t sample) {
      return !std::binary_search(evaluated.begin(), evaluated.end(), sample);
    });
  }
  return shards;
}

/// direction := direction / |direction|; false if it is zero.
bool normalise(std::vector<double>& direction) {
  const double norm = std::sqrt(norm_sq<double>(direction));
  if (!(norm > 0) || !std::isfinite(norm)) {
    return false;
  }
  for (double& value : direction) {
    value /= norm;
  }
  return true;
}

double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i] * y[i];
  }
  return sum;
}

}  // namespace

std::size_t curvature_samples(const Training& training) {
  return count(thinned(evaluated_shards(training), training.plan.power_samples));
}

Evaluations::Evaluations(const Training& training, std::uint64_t local_steps)
    : training_(training),
      is_root_(training.cluster->world().is_root()),
      follows_unperturbed_(training.follows_unperturbed(local_steps)) {}

std::vector<double> Evaluations::shared(std::span<const double> on_root) const {
  std::vector<double> everywhere(training_.objective->dimension());
  if (is_root_) {
    everywhere.assign(on_root.begin(), on_root.end());
  }
  training_.cluster->world().broadcast(0, std::as_writable_bytes(std::span(everywhere)));
  return everywhere;
}

void Evaluations::evaluate_points(std::uint64_t t,
                                  const Iterates& at,
                                  std::vector<double> statistics) {
  const auto model = at.model;
  view_ = {};
  statistics_ = std::move(statistics);
  has_gradient_ = false;
  evaluated_z_ = is_due(training_.plan.virtual_points, t);
  const bool due = is_due(training_.plan.evaluated, t);
  const bool compares = evaluated_z_ && training_.plan.compares_points;
  if (due || compares) {
    evaluate_model(model, due, compares);
  }
  if (due && training_.plan.averages_iterates) {
    view_.averaged_loss = evaluate(training_, {average_, statistics_}, nullptr).loss;
  }
  if (evaluated_z_) {
    const auto point = shared(at.virtual_iterate);
    const auto at_z =
        evaluate(training_, {point, statistics_}, compares ? &virtual_gradient_ : nullptr);
    view_.virtual_loss = virtual_loss_ = at_z.loss;
    compare_points(model, at.virtual_iterate);
  }
  if (follows_unperturbed_) {
    evaluate_decayed(at);
  }
  if (is_due(training_.plan.power, t)) {
    view_.smoothness_power = dominant_curvature(t, model);
  }
}

void Evaluations::evaluate_model(std::span<const double> model, bool due, bool compares) {
  has_gradient_ = compares || training_.plan.full_gradient;
  const auto evaluation =
      evaluate(training_, {model, statistics_}, has_gradient_ ? &gradient_ : nullptr);
  if (due) {
    view_.at_model = evaluation;
  }
  if (has_gradient_ && is_root_) {
    view_.gradient = gradient_;
  }
}

/// Evaluates f + (lambda'/2)|w|^2, which the run minimises: its value at u_t, its gradient at w_t.
void Evaluations::evaluate_decayed(const Iterates& at) {
  const double decay = training_.method->effective_decay();
  if (evaluated_z_) {
    const auto point = shared(at.unperturbed);
    const double loss = evaluate(training_, {point, statistics_}, nullptr).loss;
    view_.unperturbed_loss = loss + decay / 2 * norm_sq<double>(point);
  }
  if (has_gradient_ && is_root_ && decay != 0) {
    view_.decayed_grad_norm_sq = distance_sq(gradient_, at.model, -decay);
  }
}

void Evaluations::compare_points(std::span<const double> model, std::span<const double> z) {
  if (!is_root_ || !training_.plan.compares_points) {
    return;
  }
  // For points nearer than this, rounding errors of the gradient exceed its change.
  const double nearest_sq = kNearest * kNearest * norm_sq<double>(model);
  if (const double gap = distance_sq(model, z); gap > nearest_sq) {
    view_.smoothness_gap = std::sqrt(distance_sq(gradient_, virtual_gradient_) / gap);
  }
  if (!previous_model_.empty()) {
    if (const double moved = distance_sq(model, previous_model_); moved > nearest_sq) {
      const double secant = std::sqrt(distance_sq(gradient_, previous_gradient_) / moved);
      secant_ = std::max(secant_.value_or(secant), secant);
    }
  }
  view_.smoothness_secant = secant_;
  previous_model_.assign(model.begin(), model.end());
  previous_gradient_ = gradient_;
}

void Evaluations::evaluate_next_z(std::span<const double> next_z,
                                  std::span<const double> mean_gradient,
                                  double step_size) {
  // If z does not move along the gradient, its step is not that of the descent inequality.
  if (!training_.plan.compares_points || !evaluated_z_ || !training_.method->follows_gradients()) {
    return;
  }
  const auto point = shared(next_z);
  const double next_loss = evaluate(training_, {point, statistics_}, nullptr).loss;
  if (!is_root_) {
    return;
  }
  const double step_sq = step_size * step_size * norm_sq<double>(mean_gradient);
  const double above_tangent =
      next_loss - virtual_loss_ + step_size * dot(virtual_gradient_, mean_gradient);
  const double rounding = kRounding * (std::abs(next_loss) + std::abs(virtual_loss_));
  if (step_sq > 0 && std::abs(above_tangent) > rounding) {
    view_.smoothness_descent = 2 * above_tangent / step_sq;
  }
}

void Evaluations::save_or_load(RunState& state) {
  if (training_.plan.averages_iterates) {
    average_.resize(training_.objective->dimension());
    state.shared(average_);
    state.shared(weight_sum_);
  }
  state.root_list(previous_model_);
  state.root_list(previous_gradient_);
  state.root(secant_);
}

void Evaluations::average(std::uint64_t t, std::span<const double> model) {
  if (!training_.plan.averages_iterates) {
    return;
  }
  average_.resize(model.size());
  const double weight = training_.method->step_rule->weight(t);
  weight_sum_ += weight;
  for (std::size_t i = 0; i < model.size(); ++i) {
    average_[i] += weight / weight_sum_ * (model[i] - average_[i]);
  }
}

/// Estimates, from below, the largest magnitude of an eigenvalue of the Hessian: power iteration by
/// central differences of the gradient, over about `power_samples` samples.
double Evaluations::dominant_curvature(std::uint64_t t, std::span<const double> model) const {
  constexpr int kSteps = 30;
  constexpr double kEnough = 1e-3;    // relative change of the eigenvalue
  constexpr double kDistance = 1e-3;  // of the two points, relative to |w|
  Training few = training_;
  const auto shards = evaluated_shards(training_);
  few.shards = thinned(shards, training_.plan.power_samples);
  const double scale =
      shards.empty() ? 1.0
                     : static_cast<double>(count(shards)) / static_cast<double>(count(few.shards));
  RandomStream random(training_.seed, Purpose::probe, 0, static_cast<std::uint32_t>(t));
  std::vector<double> direction(model.size());
  for (double& value : direction) {
    value = random.normal();
  }
  const double norm = std::sqrt(norm_sq<double>(model));
  const double distance = kDistance * (norm > 0 ? norm : 1);
  double eigenvalue = 0;
  std::vector<double> point(model.size());
  std::vector<double> ahead;
  std::vector<double> behind;
  for (int step = 0; step < kSteps && normalise(direction); ++step) {
    const auto gradient_at = [&](double offset, std::vector<double>& gradient) {
      for (std::size_t i = 0; i < point.size(); ++i) {
        point[i] = model[i] + offset * direction[i];
      }
      evaluate(few, {point, statistics_}, &gradient);
      gradient = shared(gradient);
    };
    gradient_at(distance, ahead);
    gradient_at(-distance, behind);
    for (std::size_t i = 0; i < point.size(); ++i) {
      ahead[i] = scale * (ahead[i] - behind[i]) / (2 * distance);
    }
    const double before = eigenvalue;
    eigenvalue = std::sqrt(norm_sq<double>(ahead));
    direction = ahead;
    if (std::abs(eigenvalue - before) <= kEnough * eigenvalue) {
      break;
    }
  }
  return eigenvalue;
}

Evaluation evaluate(const Training& training, const Point& at, std::vector<double>* gradient) {
  const Cluster& cluster = *training.cluster;
  const std::size_t d = at.w.size();
  // One vector per worker holds its part of the gradient and, last, its part of f.
  const auto part_of = [&](int worker) {
    std::vector<double> part(d + 1);
    const auto shard = training.shard_of(worker);
    const auto own = std::span(part).first(gradient != nullptr ? d : 0);
    part[d] = training.objective->evaluate(worker, cluster.workers(), shard, at, own);
    return part;
  };
  std::vector<double> sum(d + 1);
  if (cluster.world().size() == 1) {
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      add_to<double>(sum, part_of(worker));
    }
  } else {
    // All processes form their parts at once, before the chain of sums begins.
    std::vector<std::vector<double>> parts;
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      parts.push_back(part_of(worker));
    }
    cluster.sum_in_worker_order(
        std::span(sum),
        /*everywhere=*/false,
        [&](int worker, std::size_t begin, std::span<double> block) {
          add_to<double>(block,
                         std::span(parts[cluster.slot(worker)]).subspan(begin, block.size()));
        });
  }
  Evaluation evaluation{.loss = sum[d], .grad_norm_sq = std::nullopt};
  if (gradient != nullptr) {
    sum.resize(d);
    *gradient = std::move(sum);
    evaluation.grad_norm_sq = norm_sq<double>(*gradient);
  }
  return evaluation;
}

}  // namespace residuum
