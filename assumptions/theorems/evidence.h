#pragma once
// What theorems are judged by: the facts of a method and its objective, and the measurements of its
// seeds. A constant that was neither known nor measured has no value, and says so.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/theorems/seed_evidence.h"
#include "assumptions/theorems/theorem.h"

namespace residuum {

/// A number that is known from outside the run, and how.
struct Known {
  double value = 0;
  std::string origin;
};

/// The words are those of a study file.
struct MethodFacts {
  std::string sparsifier = "none";
  std::string aggregator = "dense";
  std::string feedback = "ef14";
  std::string units = "step";
  std::string protocol = "bsp";
  std::string sampling = "replacement";
  std::string step_rule = "constant";
  double momentum = 0;              // before or after the exchange
  double weight_decay = 0;          // added after the exchange: f does not have it
  std::string clipped = "nothing";  // or "worker" gradients, or the "update"
  double workers = 1;               // P
  double dimension = 1;             // d
  bool conserves = true;            // nothing is ever lost
  bool full_gradients = false;      // every worker's gradient is that of its whole shard
  bool deterministic = false;       // no draw of the seed enters the run

  std::optional<double> k = std::nullopt;              // entries a worker keeps
  std::optional<double> threshold = std::nullopt;      // on step-multiplied accumulators
  std::optional<double> step_shift = std::nullopt;     // a of eta_t = value/(a + t)
  std::optional<double> delay = std::nullopt;          // tau: largest staleness
  std::optional<double> contributions = std::nullopt;  // gradients in one update, with delays
  std::optional<double> period = std::nullopt;         // H: steps between two exchanges

  std::optional<bool> convex = std::nullopt;                // whether f is
  std::optional<Known> smoothness = std::nullopt;           // L
  std::optional<Known> worker_smoothness = std::nullopt;    // sqrt of the mean of the L_p^2
  std::optional<Known> strong_convexity = std::nullopt;     // mu
  std::optional<Known> minimum = std::nullopt;              // f*
  std::optional<Known> lower_bound = std::nullopt;          // of f, where f* is not known
  std::optional<Known> initial_distance_sq = std::nullopt;  // |w_0 - x*|^2
  std::optional<Known> noise_variance = std::nullopt;       // sigma^2 of a worker, at every w
};

class Evidence {
 public:
  explicit Evidence(MethodFacts method) : method_(std::move(method)) {}

  const MethodFacts& method() const { return method_; }

  /// One seed; all of a method have runs of the same length.
  void add(SeedEvidence seed) { seeds_.push_back(std::move(seed)); }
  const std::vector<SeedEvidence>& seeds() const { return seeds_; }

  /// The largest step size seen.
  Constant step_size() const;
  /// L: known, or the largest of the measured ratios, which L cannot be below.
  Constant smoothness() const;
  /// f(w_0) = f(z_0), mean over the seeds.
  Constant initial_loss() const;
  /// Delta = f(w_0) - f*, or with a lower bound of f in place of f*; mean over the seeds.
  Constant initial_gap() const;
  Constant initial_distance_sq() const;
  Constant strong_convexity() const;
  /// sigma^2 of one worker's gradient: known, or the largest window mean of its estimates.
  Constant noise_variance() const;
  /// zeta^2 with C = 0: the largest window mean of its estimates; 0 for one worker.
  Constant heterogeneity() const;
  /// M^2 with E|mean G|^2 <= M^2: the largest window mean.
  Constant second_moment() const;
  /// G^2 with the mean over workers of E|G^p|^2 <= G^2: the largest window mean.
  Constant worker_second_moment() const;
  /// q of the gap e = w - z: the largest pooled ratio of a window.
  Constant contraction() const;
  /// q of the workers' residuals: measured likewise; 1 - k/d for Rand-k, where it is exact in
  /// expectation, and for Top-k, which promises it, if nothing was measured.
  Constant worker_contraction() const;
  /// delta of the gTop-k assumption: the largest pooled ratio of a window.
  Constant selection_ratio() const;
  /// xi of Alistarh et al.: the largest seen.
  Constant xi() const;
  /// |g^p - grad f_p(w_0)|^2 of EF21 before its first step; mean over the seeds.
  Constant initial_distortion() const;

  /// (M, sigma^2) with E|xi^p|^2 <= M |grad f_p|^2 + sigma^2, by the upper line of the windows.
  std::vector<Constant> noise_growth() const;
  /// (C, zeta^2) with mean |grad f_p - grad f|^2 <= C |grad f|^2 + zeta^2, likewise.
  std::vector<Constant> similarity() const;

 private:
  Windows pooled(Windows SeedMeasures::*windows) const;

  MethodFacts method_;
  std::vector<SeedEvidence> seeds_;
};

}  // namespace residuum
