#include "assumptions/theorems/seed_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace residuum {
namespace {

constexpr double kHorizons = 60;

/// About kHorizons iterations from 1 to the last, equally spaced on a logarithmic axis.
std::vector<std::uint64_t> log_spaced(std::uint64_t last) {
  std::vector<std::uint64_t> places;
  const double ratio =
      std::pow(static_cast<double>(std::max<std::uint64_t>(last, 2)), 1 / kHorizons);
  for (double place = 1; place <= static_cast<double>(last); place *= ratio) {
    const auto whole = static_cast<std::uint64_t>(std::ceil(place));
    if (places.empty() || whole > places.back()) {
      places.push_back(whole);
    }
  }
  return places;
}

bool is_evaluated(const Row& row) {
  return row.get(Column::virtual_loss) || row.get(Column::averaged_loss_gap);
}

}  // namespace

void StepwiseSum::advance(const std::optional<double>& step, const std::optional<double>& next) {
  if (!step || !next) {
    sum = std::nullopt;
  }
  if (sum) {
    *sum += *step * before;
    before = *next;
  }
}

void HeldAverage::look(double step_sum, double value) {
  if (value_) {
    integral_ += *value_ * (step_sum - since_);
  } else {
    begin_ = step_sum;
  }
  value_ = value;
  since_ = step_sum;
  ++looks_;
}

std::optional<Average> HeldAverage::until(double step_sum) const {
  if (!value_ || begin_ != 0 || !(step_sum > 0)) {
    return std::nullopt;  // the first iterations were not seen
  }
  // A look at the very end has not counted yet.
  const std::uint64_t measured = step_sum > since_ ? looks_ : looks_ - 1;
  return Average{.value = (integral_ + *value_ * (step_sum - since_)) / step_sum,
                 .measured = measured};
}

SeedEvidence::SeedEvidence(std::uint64_t iterations)
    : measures_(iterations), iterations_(iterations), horizons_(log_spaced(iterations)) {}

void SeedEvidence::end_at(std::uint64_t iterations) {
  iterations_ = iterations;
  measures_.end_at(iterations);
}

void SeedEvidence::end_early(std::uint64_t iterations) {
  ended_early_ = true;
  end_at(iterations);
}

bool SeedEvidence::Horizons::reached(const std::vector<std::uint64_t>& horizons,
                                     std::uint64_t iteration) {
  const std::size_t before = next;
  while (next < horizons.size() && horizons[next] <= iteration) {
    ++next;
  }
  return next > before;
}

void SeedEvidence::add(const Row& row) {
  ++rows_;
  advance(row);
  look_at(row);
  compare_gap(row);
  measures_.add(row);
  keep(row);
  before_ = row;
}

/// Brings the running sums from the last row's iteration to this one's.
void SeedEvidence::advance(const Row& row) {
  if (before_) {
    advance_steps(*before_, row);
    advance_sums(*before_, row.iteration() - before_->iteration());
  } else if (row.iteration() > 0) {  // the first iterations were not seen
    step_sum_ = step_sq_sum_ = step_cube_sum_ = noise_sum_ = std::nullopt;
    gap_.sum = consensus_.sum = std::nullopt;
  }
  if (const auto& sum = row.get(Column::step_sum)) {
    step_sum_ = sum;
  }
}

/// Between two rows the step size is that of the first, if it is that of the second too; for sums
/// of squares and cubes the first is an upper bound.
void SeedEvidence::advance_steps(const Row& before, const Row& row) {
  const std::uint64_t passed = row.iteration() - before.iteration();
  const auto& step = before.get(Column::step_size);
  if (!step) {
    step_sum_ = step_sq_sum_ = step_cube_sum_ = std::nullopt;
    return;
  }
  const auto add = [n = static_cast<double>(passed)](std::optional<double>& sum, double power) {
    if (sum) {
      *sum += n * power;
    }
  };
  add(step_sum_, *step);
  add(step_sq_sum_, *step * *step);
  add(step_cube_sum_, *step * *step * *step);
  if (passed > 1 && step != row.get(Column::step_size)) {
    step_sum_ = std::nullopt;
  }
}

/// Adds the iteration of the row before; nothing is known of iterations without a row.
void SeedEvidence::advance_sums(const Row& before, std::uint64_t passed) {
  const auto step = passed == 1 ? before.get(Column::step_size) : std::nullopt;
  const auto& drawn = before.get(Column::mean_grad_norm_sq);
  if (!step || !drawn) {
    noise_sum_ = std::nullopt;
  } else if (noise_sum_) {
    *noise_sum_ += *step * *step * *drawn;
  }
  gap_.advance(step, before.get(Column::gap_norm_sq));
  consensus_.advance(step, before.get(Column::consensus_sq));
}

void SeedEvidence::look_at(const Row& row) {
  if (!step_sum_) {
    return;
  }
  const auto look = [&](HeldAverage& average, Column column) {
    if (const auto& value = row.get(column)) {
      average.look(*step_sum_, *value);
    }
  };
  look(gradient_, Column::grad_norm_sq);
  look(split_gradient_, Column::grad_norm_sq_split);
  look(decayed_gradient_, Column::decayed_grad_norm_sq);
  look(split_decayed_gradient_, Column::decayed_grad_norm_sq_split);
  look(loss_gap_, Column::loss_gap);
}

/// The part of the gap that is not the mean residual was lost.
void SeedEvidence::compare_gap(const Row& row) {
  const auto& gap = row.get(Column::gap_norm_sq);
  const auto& residual = row.get(Column::mean_residual_norm_sq);
  if (gap && residual) {
    gap_total_ += *gap;
    residual_total_ += *residual;
  }
}

Snapshot SeedEvidence::snapshot(const Row& row) const {
  Snapshot now;
  now.iterations = row.iteration();
  now.step_sum = step_sum_;
  now.step_sq_sum = step_sq_sum_;
  now.step_cube_sum = step_cube_sum_;
  const auto& noise_sum = row.get(Column::noise_sum);
  const auto& gap_sum = row.get(Column::gap_sum);
  now.noise_sum = noise_sum ? noise_sum : noise_sum_;
  now.gap_sum = gap_sum ? gap_sum : gap_.sum;
  now.consensus_sum = consensus_.sum;
  now.initial_loss = measures_.initial_loss;
  now.loss = row.get(Column::loss);
  now.virtual_loss = row.get(Column::virtual_loss);
  now.averaged_gap = row.get(Column::averaged_loss_gap);
  now.last_gap = row.get(Column::loss_gap);
  now.unperturbed = {.step_sum = row.get(Column::unperturbed_step_sum),
                     .noise_sum = row.get(Column::unperturbed_noise_sum),
                     .gap_sum = row.get(Column::unperturbed_gap_sum),
                     .initial_loss = measures_.initial_unperturbed_loss,
                     .loss = row.get(Column::unperturbed_loss)};
  if (step_sum_) {
    now.gradient = gradient_.until(*step_sum_);
    now.split_gradient = split_gradient_.until(*step_sum_);
    now.decayed_gradient = decayed_gradient_.until(*step_sum_);
    now.split_decayed_gradient = split_decayed_gradient_.until(*step_sum_);
    now.loss_gap = loss_gap_.until(*step_sum_);
  }
  if (gap_total_ > 0) {
    now.leak_share = std::clamp(1 - residual_total_ / gap_total_, 0.0, 1.0);
  }
  return now;
}

void SeedEvidence::keep(const Row& row) {
  last_ = snapshot(row);
  const bool is_horizon = any_.reached(horizons_, row.iteration());
  bool is_evaluated_horizon = false;
  if (is_evaluated(row)) {
    last_evaluated_ = last_;
    is_evaluated_horizon = evaluated_.reached(horizons_, row.iteration());
  }
  if (is_horizon || is_evaluated_horizon) {
    kept_.emplace(row.iteration(), *last_);
  }
}

std::map<std::uint64_t, Snapshot> SeedEvidence::snapshots() const {
  auto all = kept_;
  for (const auto& one : {last_, last_evaluated_}) {
    if (one) {
      all.emplace(one->iterations, *one);
    }
  }
  return all;
}

}  // namespace residuum
