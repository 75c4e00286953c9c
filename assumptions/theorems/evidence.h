#pragma once
// Theorems are judged by evidence: the facts of a method and its objective, and the measurements of
// its seeds. A constant that was neither known nor measured has no value, and says so.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/theorems/seed_evidence.h"
#include "assumptions/theorems/theorem.h"
#include "core/record/run_facts.h"

namespace residuum {

class Evidence {
 public:
  explicit Evidence(RunFacts method) : method_(std::move(method)) {}

  const RunFacts& method() const { return method_; }

  /// Adds one seed; all seeds of a method have runs of the same length.
  void add(SeedEvidence seed) { seeds_.push_back(std::move(seed)); }
  const std::vector<SeedEvidence>& seeds() const { return seeds_; }

  /// Notes seeds whose runs failed or were cut, and left nothing to measure.
  void miss(std::size_t seeds) { missed_ += seeds; }
  /// Notes seeds in which some worker never sent an entry.
  void note_silence(std::size_t seeds) { silent_ += seeds; }
  /// Returns the reason why nothing may be said to hold of the method: runs that did not come to
  /// their end, or a worker that never sent anything: "2 of 5 runs diverged, failed or were cut".
  /// Empty where there is no such run.
  std::string reservation() const;

  /// The largest step size seen.
  Constant step_size() const;
  /// L if known; otherwise the largest secant ratio that any method has met on this f, a lower
  /// bound of L.
  Constant smoothness() const;
  /// Tells a ratio that another method has met on the same f. Methods share one L, so that none
  /// profits from having explored less of f.
  void see_smoothness(double ratio) { seen_ = std::max(seen_, std::optional(ratio)); }
  /// The largest ratio measured on f itself, whether L is known or not.
  std::optional<double> largest_smoothness() const;
  /// f(w_0) = f(z_0), mean over the seeds.
  Constant initial_loss() const;
  /// Delta = f(w_0) - f*, or with a lower bound of f in place of f*; mean over the seeds.
  Constant initial_gap() const;
  Constant initial_distance_sq() const;
  Constant strong_convexity() const;
  /// A mu that the objective of every worker has.
  Constant worker_strong_convexity() const;
  /// sigma^2 of one worker's gradient: known, or the largest window mean of its estimates.
  Constant noise_variance() const;
  /// zeta^2 with C = 0: the largest window mean of its estimates; 0 for one worker.
  Constant heterogeneity() const;
  /// M^2 with E|mean G|^2 <= M^2: the largest window mean.
  Constant second_moment() const;
  /// G^2 with the mean over workers of E|G^p|^2 <= G^2: the largest window mean.
  Constant worker_second_moment() const;
  /// The largest window mean of |grad f(w_t)|^2.
  Constant true_gradient() const;
  /// q of the gap e = w - z, the largest of windows: sum |e_{t+1}|^2 over sum |e_t + eta mean G|^2.
  Constant contraction() const;
  /// The largest such ratio over the beginnings of the runs. A proof that sums over all iterations
  /// before it bounds needs this one.
  Constant contraction_on_average() const;
  /// The largest of single iterations. A proof that bounds each step needs this one.
  Constant contraction_in_every_iteration() const;
  /// q of the workers' residuals, on average over the run: what the sparsifier promises if that is
  /// exact, else as measured, else the promise.
  Constant worker_contraction() const;
  /// True if `worker_contraction` is a promise, or was measured in each iteration.
  bool worker_contraction_is_known() const;
  /// q of the workers' residuals over windows: what the sparsifier promises if that is exact, else
  /// the largest window.
  Constant worker_contraction_in_windows() const;
  /// delta of the gTop-k assumption: the largest of single iterations.
  Constant selection_ratio() const;
  /// Says where `singles` of all seeds were measured: "in each of 300 iterations", "at 64 of 300
  /// iterations".
  bool measured_everywhere(Singles SeedMeasures::*singles) const;
  /// xi of Alistarh et al.: the largest seen.
  Constant xi() const;
  /// |g^p - grad f_p(w_0)|^2 of EF21 before its first step; mean over the seeds.
  Constant initial_distortion() const;
  /// mean |e^p|^2 after the first iteration; mean over the seeds.
  Constant initial_residual() const;
  /// The same distortion with weights: mean L_p times the mean of |g^p - grad f_p(w_0)|^2 / L_p.
  Constant initial_weighted_distortion() const;
  /// sqrt of the mean of the L_p^2, and the mean of the L_p.
  Constant worker_smoothness() const;
  Constant largest_worker_smoothness() const;
  Constant mean_worker_smoothness() const;
  /// The recursion that the distortions of all seeds' estimates obey, step by step.
  EstimateRecursion estimate_recursion() const;
  /// The number of pairs of successive iterations in which it could have been compared.
  std::uint64_t successive_iterations() const;

  /// tau, the largest number of versions between a gradient's base and its use: measured if every
  /// version was, else the protocol's limit.
  Constant largest_staleness() const;
  /// The mean number of such versions, if every version was measured.
  std::optional<double> mean_staleness() const;
  /// b, the fewest gradients that a version is the mean of.
  Constant fewest_contributions() const;
  /// tau_C, how many gradients can be in the making at a time, the one that enters next included.
  Constant concurrency() const;
  /// H, the gradients that a worker takes between two exchanges.
  Constant local_steps() const;
  /// p = 1 - |lambda_2| of the matrix that acts on the models of neighbours.
  Constant spectral_gap() const;
  /// V^2 with the mean over workers of E|G^p - mean G|^2 <= V^2: the largest window mean.
  Constant gradient_spread() const;

  /// (M, sigma^2) with E|xi^p|^2 <= M |grad f_p|^2 + sigma^2, by the upper line of the windows.
  std::vector<Constant> noise_growth() const;
  /// (C, zeta^2) with mean |grad f_p - grad f|^2 <= C |grad f|^2 + zeta^2, by the same line.
  std::vector<Constant> similarity() const;

 private:
  Windows pooled(HeldRatio SeedMeasures::*ratio) const;
  /// The range over all versions of all seeds; absent if one was not measured.
  std::optional<Range> range_of_all_versions(Range SeedMeasures::*range) const;

  RunFacts method_;
  std::vector<SeedEvidence> seeds_;
  std::size_t missed_ = 0;
  std::size_t silent_ = 0;
  std::optional<double> seen_;  // smoothness ratio
};

}  // namespace residuum
