// Conservation says that sum_p e^p_{t+1} + g_t = sum_p a^p_t in every iteration, equivalently that
// w - z = mean residual (as momentum or gradient units transform it). The difference is the lost
// mass,
//   l_t = sum_p removed^p - sum_p returned^p - g_t.
// The accumulator of a worker that has no part in a version is its residual.
// Both are zero up to rounding for every method that conserves. Rounding is not tuned away: an
// entry of l_t counts as zero if it is within the error bound of summing its terms in the precision
// of the messages, and |(w-z) - mean residual| is compared with the accumulated bound of all
// roundings. If residuals decay, e^p_{t+1} = beta (a^p_t - applied^p), the part that they lose by
// it is known,
//   f_t = ((1 - beta)/beta) sum_p e^p_{t+1},
// and l_t - f_t, which must be zero where nothing else is lost, is a check of its own.
// A model that moves by the signs of the exchanged vector is judged by l_t alone.

#include <algorithm>
#include <cmath>

#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Returns sum_p e^p_{t+1} over the divisor at this index, less what the absent workers had there
/// before: if they keep it, that is the mean of what those keep that take part.
double kept_by_contributors(const StepView& view, std::size_t i) {
  if (view.mean.waiting.empty()) {
    return view.mean.residual[i];
  }
  return view.mean.residual[i] * view.facts.workers / view.divisor() - view.mean.waiting[i];
}

/// Squared norms of what an exchange lost.
struct LostMass {
  double all_sq = 0;        // |l_t|^2
  double otherwise_sq = 0;  // |l_t - f_t|^2
};

/// Takes the norms where all entries were removed, or a part of each: l = P mean a - P mean e - g.
/// Bounds of the entries are unknown, so the bound is taken for the norms.
LostMass dense_lost_mass(const StepView& view) {
  const double divisor = view.divisor();
  const double fading = 1 / view.facts.feedback.decay - 1;
  LostMass mass;
  double applied_sq = 0;
  double kept_sq = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < view.dimension(); ++i) {
    double applied = 0;
    if (view.exchange.is_dense) {
      applied = view.exchange.dense_update[i];
    } else if (next < view.exchange.update->size() && view.exchange.update->indices[next] == i) {
      applied = view.exchange.update->values[next];
      ++next;
    }
    const double kept = kept_by_contributors(view, i);
    const double lost = divisor * (view.mean.accumulator[i] - kept) - applied;
    const double faded = divisor * fading * kept;
    applied_sq += applied * applied;
    kept_sq += kept * kept;
    mass.all_sq += lost * lost;
    mass.otherwise_sq += (lost - faded) * (lost - faded);
  }
  double magnitude_sq = 0;
  for (const auto& scalars : view.contributions()) {
    magnitude_sq += scalars.accumulator_norm_sq;
  }
  for (const auto& scalars : view.worker_scalars) {
    magnitude_sq += view.leaves_out() ? scalars.residual_norm_sq : 0;
  }
  // A decay is rounded, and so are the product with it and the quotient. Scaled messages may be
  // much larger than the accumulators, and so may the update and the residuals.
  const double messages = static_cast<double>(view.contributions().size());
  const double magnitude = std::sqrt(messages) * std::sqrt(magnitude_sq) + std::sqrt(applied_sq) +
                           divisor * std::sqrt(kept_sq);
  const double rounding = (messages + (fading > 0 ? 6 : 2)) * view.unit_roundoff * magnitude;
  const auto beyond_rounding = [&](double lost_sq) {
    return std::sqrt(lost_sq) <= rounding ? 0 : lost_sq;
  };
  return {.all_sq = beyond_rounding(mass.all_sq),
          .otherwise_sq = beyond_rounding(mass.otherwise_sq)};
}

class ConservationProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::lost_mass_norm_sq, Column::conservation_defect};
  }
  Needs needs() const override {
    return {.iterate = true, .gradients = true, .mean_accumulator = true, .mean_residual = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    if (view.exchanges_gradients()) {
      observe_lost_mass(view, row, checks);
    }
    if (view.facts.update.is_plain()) {
      observe_gap(view, row, checks);
    }
  }

 private:
  void observe_lost_mass(const StepView& view, Row& row, std::vector<Check>& checks) {
    if (!view.exchange.removed_is_dense) {
      note_lost_mass(sparse_lost_mass_sq(view), view, row, checks);
      return;
    }
    const LostMass mass = dense_lost_mass(view);
    note_lost_mass(mass.all_sq, view, row, checks);
    if (view.facts.feedback.decay < 1) {
      checks.push_back({.iteration = view.iteration,
                        .name = "lost-mass-but-for-decay",
                        .worker = std::nullopt,
                        .lhs = mass.otherwise_sq,
                        .rhs = 0,
                        .holds = mass.otherwise_sq == 0,
                        .hard = true,
                        .expected = view.loses_only_by_decay});
    }
  }

  static void note_lost_mass(double lost_sq,
                             const StepView& view,
                             Row& row,
                             std::vector<Check>& checks) {
    row.set(Column::lost_mass_norm_sq, lost_sq);
    checks.push_back({.iteration = view.iteration,
                      .name = "lost-mass",
                      .worker = std::nullopt,
                      .lhs = lost_sq,
                      .rhs = 0,
                      .holds = lost_sq == 0,
                      .hard = true,
                      .expected = view.loses_nothing()});
  }

  static void observe_gap(const StepView& view, Row& row, std::vector<Check>& checks) {
    double defect_sq = 0;
    double gap_sq = 0;
    for (std::size_t i = 0; i < view.dimension(); ++i) {
      const double gap = view.iterates.model[i] - view.iterates.virtual_dense[i];
      const double defect = gap - view.iterates.expected_gap[i];
      gap_sq += gap * gap;
      defect_sq += defect * defect;
    }
    const double defect = std::sqrt(defect_sq);
    const double scale = std::sqrt(std::max({gap_sq,
                                             norm_sq<double>(view.iterates.expected_gap),
                                             view.iterates.compensated_gap_norm_sq}));
    row.set(Column::conservation_defect, scale > 0 ? defect / scale : 0);
    const double bound = rounding_bound(view);
    checks.push_back({.iteration = view.iteration,
                      .name = "conservation",
                      .worker = std::nullopt,
                      .lhs = defect,
                      .rhs = bound,
                      .holds = defect <= bound,
                      .hard = true,
                      .expected = view.loses_nothing()});
  }

  /// Bounds what rounding alone can have done to w - z - mean residual since the start: the
  /// accumulators and their sums over workers are rounded to the precision of the messages, the
  /// models to float64.
  static double rounding_bound(const StepView& view) {
    const double in_messages =
        view.unit_roundoff * view.iterates.rounded_magnitude.value_or(of_workers(view));
    const double steps = static_cast<double>(view.iteration) + 1;
    const double models = std::sqrt(norm_sq<double>(view.iterates.model)) +
                          std::sqrt(norm_sq<double>(view.iterates.virtual_dense));
    constexpr double kFloat64Roundoff = 0x1.0p-53;
    return (in_messages + 4 * steps * kFloat64Roundoff * models) /
           (1 - view.momentum_after_exchange);
  }

  static double of_workers(const StepView& view) {
    double magnitude = 0;
    for (const auto& scalars : view.worker_scalars) {
      magnitude += scalars.magnitude / view.divisor();
    }
    return (view.divisor() + 4) * magnitude;
  }

  double sparse_lost_mass_sq(const StepView& view) {
    lost_.assign(view.dimension(), 0);
    magnitude_.assign(view.dimension(), 0);
    for (const auto& list : view.exchange.removed) {
      add(list, 1);
    }
    for (const auto& list : view.exchange.returned) {
      add(list, -1);
    }
    if (view.exchange.is_dense) {
      for (std::size_t i = 0; i < view.dimension(); ++i) {
        lost_[i] -= view.exchange.dense_update[i];
      }
    } else {
      add(*view.exchange.update, -1);
    }
    double lost_sq = 0;
    const double messages = static_cast<double>(view.contributions().size());
    const double tolerance = (messages + 2) * view.unit_roundoff;
    for (std::size_t i = 0; i < view.dimension(); ++i) {
      if (std::abs(lost_[i]) > tolerance * magnitude_[i]) {
        lost_sq += lost_[i] * lost_[i];
      }
    }
    return lost_sq;
  }

  void add(const SparseVector<double>& list, double sign) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      lost_[list.indices[i]] += sign * list.values[i];
      magnitude_[list.indices[i]] += std::abs(list.values[i]);
    }
  }

  std::vector<double> lost_;
  std::vector<double> magnitude_;
};

}  // namespace

std::unique_ptr<Probe> make_conservation_probe(const Section& /*section*/) {
  return std::make_unique<ConservationProbe>();
}

}  // namespace residuum
