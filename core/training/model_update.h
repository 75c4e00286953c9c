#pragma once
// ModelUpdate moves the model by the exchanged update: clipping, weight decay and momentum follow
// the aggregation in this order, as in the public code of the gTop-k papers.
//   u = s g/P, s = alpha min(1, C/|g/P|);  v = m v + u + lambda w;  w -= eta v.
// alpha is the outer step of local methods, 1 without; Nesterov's momentum has w -= eta (u + lambda
// w + m v) in place of the last (Douillard et al., DiLoCo, 2023). Of signs and
// polar factors there is no momentum:
//   u = alpha signs(g/P);  w -= eta (u + lambda w), whatever the units of the memories are.

#include <span>
#include <utility>
#include <vector>

#include "core/objective.h"
#include "core/training/training.h"
#include "core/training/update_direction.h"
#include "core/training/worker_parts.h"

namespace residuum {

template <class Real>
class ClippedUpdate;
template <class Real>
class ModelUpdate;

/// The g of an iteration and the number that makes a mean of it, once gradient estimates have moved
/// by that mean. It can be clipped, once.
template <class Real>
class MeanUpdate {
 public:
  MeanUpdate(const MeanUpdate&) = delete;
  MeanUpdate& operator=(const MeanUpdate&) = delete;
  MeanUpdate(MeanUpdate&&) noexcept = default;
  MeanUpdate& operator=(MeanUpdate&&) = delete;
  ~MeanUpdate() = default;

 private:
  friend class ClippedUpdate<Real>;
  friend class ModelUpdate<Real>;
  MeanUpdate(const ExchangeResult<Real>& exchanged, double divisor)
      : exchanged_(exchanged), divisor_(divisor) {}

  const ExchangeResult<Real>& exchanged_;
  double divisor_;
};

/// A mean update with its scale s. It can be applied, once.
template <class Real>
class ClippedUpdate : private MeanUpdate<Real> {
 public:
  /// Returns s.
  double scale() const { return scale_; }
  const ExchangeResult<Real>& exchanged() const { return this->exchanged_; }

 private:
  friend class ModelUpdate<Real>;
  ClippedUpdate(MeanUpdate<Real>&& mean, double scale)
      : MeanUpdate<Real>(std::move(mean)), scale_(scale) {}

  double scale_;
};

template <class Real>
class ModelUpdate {
 public:
  explicit ModelUpdate(const Training& training);

  /// Takes the exchanged update: `divisor` makes a mean of the sum g, which gradient estimates move
  /// by. In lockstep it is the number of workers that take part, or of all where they have
  /// estimates.
  [[nodiscard]] MeanUpdate<Real> take(const ExchangeResult<Real>& exchanged, double divisor);

  /// Computes s.
  [[nodiscard]] ClippedUpdate<Real> clip(MeanUpdate<Real>&& mean, double eta) const;

  /// Moves the float64 model; the working copy, from which gradients are computed, is its rounding.
  /// Returns false if an entry that moved is no longer usable.
  bool apply(ClippedUpdate<Real>&& clipped,
             double eta,
             std::span<double> model,
             std::span<Real> working_model);

  /// True if only entries that g lists move the model.
  bool moves_listed_entries(const ExchangeResult<Real>& exchanged) const {
    return !exchanged.is_dense && method_.momentum == 0 && method_.weight_decay == 0 &&
           direction_.empty() && estimate_.empty();
  }

  void save_or_load(RunState& state);

 private:
  void take_velocity(const ClippedUpdate<Real>& clipped,
                     double push,
                     std::span<const double> model);
  double ahead_of_velocity(std::size_t i) const;
  void take_direction(const ClippedUpdate<Real>& clipped);

  const Method& method_;
  const Objective& objective_;
  std::size_t d_;
  std::vector<double> velocity_;           // v
  std::vector<double> previous_velocity_;  // for Nesterov's momentum
  std::vector<double> estimate_;  // mean of the workers' gradient estimates, in place of g/P
  UpdateDirection rule_;
  std::vector<double> direction_;  // where it is not the update itself
};

}  // namespace residuum
