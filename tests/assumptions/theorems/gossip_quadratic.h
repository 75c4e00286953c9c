#pragma once
// Gossip on quadratics, with the exact moments of every model. Nothing here is shared with the
// training loop.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/assumptions/theorems/affine.h"
#include "tests/assumptions/theorems/support.h"

namespace residuum::test {

inline RunFacts gossip_facts() {
  RunFacts facts = plain_facts();
  facts.names.protocol = "gossip";
  facts.protocol.synchrony = Synchrony::neighbours;
  facts.workers = 4;
  facts.objective.noise_variance = Known{8, "exact"};
  facts.objective.worker_smoothness_max = Known{2, "exact"};
  facts.protocol.spectral_gap = 0.5;
  return facts;
}

using MixingMatrix = std::vector<std::vector<double>>;

/// A ring of at least three workers, a third of the weight to either neighbour.
inline MixingMatrix ring(std::size_t workers) {
  MixingMatrix mixing(workers, std::vector<double>(workers));
  for (std::size_t p = 0; p < workers; ++p) {
    mixing[p][p] += 1.0 / 3;
    mixing[p][(p + 1) % workers] += 1.0 / 3;
    mixing[p][(p + workers - 1) % workers] += 1.0 / 3;
  }
  return mixing;
}

/// The eigenvalues of a circulant matrix are known: 1/3 + 2/3 cos(2 pi k/P).
inline double ring_gap(std::size_t workers) {
  double largest = 0;
  for (std::size_t k = 1; k < workers; ++k) {
    const double angle = 2 * M_PI * static_cast<double>(k) / static_cast<double>(workers);
    largest = std::max(largest, std::abs(1.0 / 3 + 2.0 / 3 * std::cos(angle)));
  }
  return 1 - largest;
}

inline MixingMatrix complete(std::size_t workers) {
  return {workers, std::vector<double>(workers, 1 / static_cast<double>(workers))};
}

/// The matrix that acts where workers go only the part `step` of the way: (1 - step) I + step W.
inline MixingMatrix part_of_the_way(MixingMatrix mixing, double step) {
  for (std::size_t p = 0; p < mixing.size(); ++p) {
    for (double& weight : mixing[p]) {
      weight *= step;
    }
    mixing[p][p] += 1 - step;
  }
  return mixing;
}

struct GossipRun {
  MixingMatrix mixing;
  double gap = 1;
  bool mixes_first = false;  // W x - eta G in place of W (x - eta G)
  /// CHOCO-SGD with this consensus step; a message has one coordinate of four, in turn, which is a
  /// linear compressor.
  double choco = 0;
  double noise_variance = 0;
  double step = 0.1;
  std::size_t versions = 100;
};

inline constexpr std::size_t kCoordinates = 4;

/// f_p(w) = sum_j s_p h_j w_j^2/2 - b^p_j w_j; the s_p have the mean 1, so that L = max h.
struct GossipQuadratics {
  std::vector<double> h{1, 0.5, 0.1, 0.02};
  std::vector<double> s;
  MixingMatrix b;  // of worker and coordinate

  explicit GossipQuadratics(std::size_t workers) : s(workers), b(workers) {
    std::mt19937_64 random(workers);
    std::uniform_real_distribution<double> law(0.2, 1.8);
    std::normal_distribution<double> normal;
    for (std::size_t p = 0; p < workers; ++p) {
      s[p] = law(random);
      for (std::size_t j = 0; j < kCoordinates; ++j) {
        b[p].push_back(h[j] * (1 + normal(random)));
      }
    }
    const double mean = std::accumulate(s.begin(), s.end(), 0.0) / static_cast<double>(workers);
    for (double& one : s) {
      one /= mean;
    }
  }
  double mean_b(std::size_t j) const {
    double sum = 0;
    for (const auto& of_worker : b) {
      sum += of_worker[j] / static_cast<double>(b.size());
    }
    return sum;
  }
  double minimum() const {
    double sum = 0;
    for (std::size_t j = 0; j < kCoordinates; ++j) {
      sum -= mean_b(j) * mean_b(j) / (2 * h[j]);
    }
    return sum;
  }
};

/// One coordinate of all workers' models.
class GossipCoordinate {
 public:
  GossipCoordinate(const GossipQuadratics& problem, const GossipRun& run, std::size_t j)
      : problem_(problem),
        run_(run),
        j_(j),
        variance_(run.noise_variance / kCoordinates),
        zero_(zero_of(problem.s.size() * run.versions)),
        models_(problem.s.size(), zero_),
        public_(models_) {}

  /// Adds the expectations of version t to the row, and makes the next one.
  void advance(std::size_t t, Row& row) {
    const std::size_t workers = models_.size();
    const Affine mean = mean_of(models_);
    Affine slope = zero_;
    slope.add(problem_.h[j_], mean);
    slope.mean -= problem_.mean_b(j_);
    add(row, Column::grad_norm_sq, slope.square(variance_));
    add(row,
        Column::loss,
        problem_.h[j_] / 2 * mean.square(variance_) - problem_.mean_b(j_) * mean.mean);
    std::vector<Affine> gradients(workers, zero_);
    for (std::size_t p = 0; p < workers; ++p) {
      gradients[p].add(problem_.s[p] * problem_.h[j_], models_[p]);
      gradients[p].mean -= problem_.b[p][j_];
      gradients[p].of_draws[t * workers + p] += 1;
      add(row,
          Column::worker_grad_norm_sq,
          gradients[p].square(variance_) / static_cast<double>(workers));
    }
    add(row, Column::mean_grad_norm_sq, mean_of(gradients).square(variance_));
    step_and_mix(t, gradients);
    const Affine next = mean_of(models_);
    for (const Affine& model : models_) {
      Affine distance = model;
      distance.add(-1, next);
      add(row, Column::consensus_sq, distance.square(variance_) / static_cast<double>(workers));
    }
  }

 private:
  static void add(Row& row, Column column, double value) {
    row.set(column, row.get(column).value_or(0) + value);
  }
  Affine mean_of(const std::vector<Affine>& all) const {
    Affine mean = zero_;
    for (const Affine& one : all) {
      mean.add(1 / static_cast<double>(all.size()), one);
    }
    return mean;
  }
  std::vector<Affine> mixed(const std::vector<Affine>& all) const {
    std::vector<Affine> result(all.size(), zero_);
    for (std::size_t p = 0; p < all.size(); ++p) {
      for (std::size_t q = 0; q < all.size(); ++q) {
        if (run_.mixing[p][q] != 0) {
          result[p].add(run_.mixing[p][q], all[q]);
        }
      }
    }
    return result;
  }
  void step(const std::vector<Affine>& gradients) {
    for (std::size_t p = 0; p < models_.size(); ++p) {
      models_[p].add(-run_.step, gradients[p]);
    }
  }
  void step_and_mix(std::size_t t, const std::vector<Affine>& gradients) {
    if (run_.choco > 0) {
      step(gradients);
      const auto around = mixed(public_);
      for (std::size_t p = 0; p < models_.size(); ++p) {
        models_[p].add(run_.choco, around[p]);
        models_[p].add(-run_.choco, public_[p]);
      }
      if (t % kCoordinates == j_) {
        public_ = models_;
      }
    } else if (run_.mixes_first) {
      models_ = mixed(models_);
      step(gradients);
    } else {
      step(gradients);
      models_ = mixed(models_);
    }
  }

  const GossipQuadratics& problem_;
  const GossipRun& run_;
  std::size_t j_;
  double variance_;
  Affine zero_;
  std::vector<Affine> models_;
  std::vector<Affine> public_;  // what neighbours know of a model, with CHOCO
};

inline Evidence gossip_evidence(const GossipRun& run) {
  const GossipQuadratics problem(run.mixing.size());
  std::vector<Row> rows;
  for (std::size_t t = 0; t < run.versions; ++t) {
    rows.push_back(row_of(t, {{Column::step_size, run.step}}));
  }
  for (std::size_t j = 0; j < kCoordinates; ++j) {
    GossipCoordinate coordinate(problem, run, j);
    for (std::size_t t = 0; t < run.versions; ++t) {
      coordinate.advance(t, rows[t]);
    }
  }
  SeedEvidence seed(run.versions);
  for (const Row& row : rows) {
    seed.add(row);
  }
  RunFacts facts = gossip_facts();
  facts.workers = static_cast<double>(run.mixing.size());
  facts.sends_everything = run.choco == 0;
  facts.deterministic = true;  // rows hold expectations
  facts.objective.noise_variance = Known{run.noise_variance, "exact"};
  facts.protocol.spectral_gap = run.gap;
  facts.objective.minimum = Known{problem.minimum(), "exact"};
  facts.objective.worker_smoothness_max =
      Known{*std::max_element(problem.s.begin(), problem.s.end()), "exact"};
  Evidence evidence(facts);
  evidence.add(std::move(seed));
  return evidence;
}

}  // namespace residuum::test
