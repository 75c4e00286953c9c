#pragma once
// Quadratics on which gradients come late, with the exact moments of every iterate: w_t is linear
// in the draws, and this keeps its coefficients. Nothing here is shared with the training loop.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/assumptions/theorems/affine.h"
#include "tests/assumptions/theorems/support.h"

namespace residuum::test {

/// The bases of the gradients that each version is the mean of.
using Schedule = std::vector<std::vector<std::size_t>>;

/// The s-th of P workers needs a time drawn from an exponential law, times `slowness`^s.
struct AsynchronousWorkers {
  std::size_t workers = 4;
  std::size_t quota = 1;  // gradients in a version
  double slowness = 1;
  bool round_robin = false;  // all gradients take the same time
  std::uint64_t seed = 1;
};

/// A worker takes its next gradient at the newest model as soon as the last one is done.
inline Schedule schedule_of(const AsynchronousWorkers& of, std::size_t versions) {
  std::mt19937_64 random(of.seed);
  std::exponential_distribution<double> law(1);
  struct Job {
    double done = 0;
    std::size_t worker = 0;
    std::size_t base = 0;
    bool operator>(const Job& other) const {
      return std::pair(done, worker) > std::pair(other.done, other.worker);
    }
  };
  const auto time = [&](std::size_t worker) {
    return of.round_robin ? 1.0 : law(random) * std::pow(of.slowness, static_cast<double>(worker));
  };
  std::priority_queue<Job, std::vector<Job>, std::greater<>> jobs;
  for (std::size_t p = 0; p < of.workers; ++p) {
    jobs.push(
        {.done = time(p) + (of.round_robin ? 1e-3 * static_cast<double>(p) : 0), .worker = p});
  }
  Schedule schedule(versions);
  for (std::size_t t = 0; t < versions; ++t) {
    while (schedule[t].size() < of.quota) {
      const Job job = jobs.top();
      jobs.pop();
      schedule[t].push_back(job.base);
      const std::size_t newest = t + (schedule[t].size() == of.quota ? 1 : 0);
      jobs.push({.done = job.done + time(job.worker), .worker = job.worker, .base = newest});
    }
  }
  return schedule;
}

inline std::size_t largest_staleness(const Schedule& schedule) {
  std::size_t largest = 0;
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    for (const std::size_t base : schedule[t]) {
      largest = std::max(largest, t - base);
    }
  }
  return largest;
}

/// f(w) = sum_j h_j w_j^2 / 2 from w_0 = (1 .. 1); a gradient carries noise of variance sigma^2/d
/// in each of d coordinates.
struct LateQuadratic {
  std::vector<double> curvatures = {1};
  double noise_variance = 0;
  double step = 0.1;
  bool falling = false;  // eta_t = step / sqrt(t + 1)

  double dimension() const { return static_cast<double>(curvatures.size()); }
  double smoothness() const { return *std::max_element(curvatures.begin(), curvatures.end()); }
  double step_at(std::size_t t) const {
    return falling ? step / std::sqrt(static_cast<double>(t + 1)) : step;
  }
};

/// Expectations of one version.
struct Moments {
  double loss = 0;         // f(w_t)
  double gradient_sq = 0;  // |grad f(w_t)|^2
  double update_sq = 0;    // |g_t|^2
  double worker_sq = 0;    // mean over the version's gradients of |G|^2
};

/// Adds what one coordinate of curvature h contributes to the moments.
inline void add_coordinate(const LateQuadratic& problem,
                           const Schedule& schedule,
                           double h,
                           std::vector<Moments>& moments) {
  const double variance = problem.noise_variance / problem.dimension();
  std::size_t draws = 0;
  for (const auto& bases : schedule) {
    draws += bases.size();
  }
  const Affine zero = zero_of(draws);
  std::vector<Affine> w(1, zero);
  w[0].mean = 1;
  std::size_t draw = 0;
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    Affine update = zero;
    const double share = 1 / static_cast<double>(schedule[t].size());
    for (const std::size_t base : schedule[t]) {
      Affine gradient = zero;
      gradient.add(h, w[base]);
      gradient.of_draws[draw++] += 1;
      moments[t].worker_sq += share * gradient.square(variance);
      update.add(share, gradient);
    }
    moments[t].loss += h / 2 * w[t].square(variance);
    moments[t].gradient_sq += h * h * w[t].square(variance);
    moments[t].update_sq += update.square(variance);
    w.push_back(w[t]);
    w.back().add(-problem.step_at(t), update);
  }
}

/// The exact evidence of one run: rows hold expectations, so that no interval is needed.
inline Evidence late_evidence(const LateQuadratic& problem,
                              const Schedule& schedule,
                              const AsynchronousWorkers& of) {
  std::vector<Moments> moments(schedule.size());
  for (const double h : problem.curvatures) {
    add_coordinate(problem, schedule, h, moments);
  }
  SeedEvidence seed(schedule.size());
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    double mean = 0;
    std::size_t largest = 0;
    for (const std::size_t base : schedule[t]) {
      mean += static_cast<double>(t - base) / static_cast<double>(schedule[t].size());
      largest = std::max(largest, t - base);
    }
    seed.add(row_of(t,
                    {{Column::step_size, problem.step_at(t)},
                     {Column::loss, moments[t].loss},
                     {Column::loss_gap, moments[t].loss},
                     {Column::grad_norm_sq, moments[t].gradient_sq},
                     {Column::mean_grad_norm_sq, moments[t].update_sq},
                     {Column::worker_grad_norm_sq, moments[t].worker_sq},
                     {Column::staleness_mean, mean},
                     {Column::staleness_max, static_cast<double>(largest)},
                     {Column::contributions, static_cast<double>(schedule[t].size())}}));
  }
  RunFacts facts;
  facts.names.protocol = "late";
  facts.protocol = {
      .synchrony = Synchrony::late,
      .staleness = std::nullopt,
      .contributions = of.quota == 1 ? std::optional<std::uint64_t>(1) : std::nullopt};
  facts.workers = static_cast<double>(of.workers);
  facts.gradients.workers_alike = true;
  facts.dimension = problem.dimension();
  facts.objective.smoothness = Known{problem.smoothness(), "exact"};
  facts.objective.minimum = Known{0, "exact: f*"};
  facts.objective.noise_variance = Known{problem.noise_variance, "exact"};
  facts.objective.initial_distance_sq = Known{problem.dimension(), "exact"};
  facts.objective.convex = true;
  facts.step.constant = !problem.falling;
  facts.deterministic = true;
  Evidence evidence(facts);
  evidence.add(std::move(seed));
  return evidence;
}

inline std::vector<AsynchronousWorkers> all_crowds(std::size_t quota) {
  std::vector<AsynchronousWorkers> all;
  for (const std::size_t workers : {1, 2, 4, 9}) {
    all.push_back({.workers = workers, .quota = quota, .round_robin = true});
    for (const double slowness : {1.0, 1.7}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        all.push_back({.workers = workers, .quota = quota, .slowness = slowness, .seed = seed});
      }
    }
  }
  return all;
}

inline const std::vector<std::vector<double>> kLateSpectra{
    {1}, {1, 0.3, 0.1, 0.01}, {2, 2, 2, 0.05}};

inline std::string name_of_schedule(const AsynchronousWorkers& of,
                                    double noise,
                                    std::size_t spectrum) {
  return fmt::format("P = {}, b = {}, slowness {}, seed {}, sigma^2 = {}, spectrum {}",
                     of.workers,
                     of.quota,
                     of.round_robin ? 0 : of.slowness,
                     of.seed,
                     noise,
                     spectrum);
}

/// Calls `look` with every schedule of one `quota`, noise and spectrum, its name and its staleness.
template <class Look>
void for_all_schedules(std::size_t quota, Look look) {
  for (const auto& of : all_crowds(quota)) {
    const Schedule schedule = schedule_of(of, 120);
    const std::size_t tau = largest_staleness(schedule);
    for (const double noise : {0.0, 1.0, 30.0}) {
      for (std::size_t i = 0; i < kLateSpectra.size(); ++i) {
        look({.curvatures = kLateSpectra[i], .noise_variance = noise},
             schedule,
             of,
             tau,
             name_of_schedule(of, noise, i));
      }
    }
  }
}

inline RunFacts late_facts() {
  RunFacts facts = plain_facts();
  facts.names.protocol = "asp";
  facts.protocol = {
      .synchrony = Synchrony::late, .staleness = std::nullopt, .contributions = std::nullopt};
  facts.workers = 4;
  facts.gradients.workers_alike = true;
  facts.objective.noise_variance = Known{8, "exact"};
  return facts;
}

}  // namespace residuum::test
