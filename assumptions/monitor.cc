#include "assumptions/monitor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residuum {

void SilentWorkers::note_who_takes_part(const StepView& view) {
  takes_part_.resize(view.worker_scalars.size());
  if (view.contributed.empty()) {
    std::fill(takes_part_.begin(), takes_part_.end(), std::uint8_t{1});
    return;
  }
  for (std::size_t i = 0; i < view.contributed.size(); ++i) {
    takes_part_.at(static_cast<std::size_t>(view.contributor(i))) = 1;
  }
}

void SilentWorkers::observe(const StepView& view, std::vector<Check>& checks) {
  note_who_takes_part(view);
  const std::uint64_t before = count_;
  count_ = 0;
  for (std::size_t p = 0; p < takes_part_.size(); ++p) {
    count_ += takes_part_[p] != 0 && view.worker_scalars[p].total_nnz == 0 ? 1 : 0;
  }
  if (count_ == 0 && before == 0) {
    return;
  }
  checks.push_back({.iteration = view.iteration,
                    .name = "every-worker-sends",
                    .worker = std::nullopt,
                    .lhs = static_cast<double>(count_),
                    .rhs = 0,
                    .holds = count_ == 0,
                    .hard = false,
                    .expected = true});
}

void SilentWorkers::save_or_load(RunState& state) {
  state.root_list(takes_part_);
  state.root(count_);
}

namespace {

double ratio_of(const Check& check) {
  if (check.rhs != 0) {
    return check.lhs / check.rhs;
  }
  return check.lhs == 0 ? 0 : std::numeric_limits<double>::infinity();
}

/// Sets the columns that need no probe.
void set_basics(const StepView& view, Row& row) {
  row.set(Column::epoch, view.epoch);
  row.set(Column::step_size, view.step_size);
  row.set(Column::density, view.rho());
  if (view.evaluations.at_model) {
    row.set(Column::loss, view.evaluations.at_model->loss);
    if (view.evaluations.at_model->grad_norm_sq) {
      row.set(Column::grad_norm_sq, *view.evaluations.at_model->grad_norm_sq);
    }
    if (view.facts.objective.minimum) {
      row.set(Column::loss_gap,
              view.evaluations.at_model->loss - view.facts.objective.minimum->value);
    }
  }
  if (view.iterates.distance_sq) {
    row.set(Column::distance_sq, *view.iterates.distance_sq);
  }
  if (view.iterates.shift) {
    row.set(Column::shift_gap_sq, view.iterates.shift->after_sq);
  }
  if (view.test) {
    row.set(Column::test_loss, view.test->loss);
    if (!std::isnan(view.test->accuracy)) {  // it is where nothing is classified
      row.set(Column::test_accuracy, view.test->accuracy);
    }
    if (view.test->perplexity) {
      row.set(Column::test_perplexity, *view.test->perplexity);
    }
  }
}

template <class T>
void set_if_known(Row& row, Column column, const std::optional<T>& value) {
  if (value) {
    row.set(column, static_cast<double>(*value));
  }
}

/// Sets the columns of protocols without lockstep.
void set_notes(const VersionNotes& notes, std::uint64_t iteration, Row& row) {
  row.set(Column::version, static_cast<double>(iteration + 1));
  row.set(Column::contributions, static_cast<double>(notes.contributions));
  row.set(Column::total_contributions, static_cast<double>(notes.total_contributions));
  set_if_known(row, Column::staleness_mean, notes.staleness_mean);
  set_if_known(row, Column::staleness_max, notes.staleness_max);
  set_if_known(row, Column::control_bytes, notes.control_bytes);
  set_if_known(row, Column::virtual_s, notes.seconds);
  set_if_known(row, Column::model_time_s, notes.version_seconds);
  set_if_known(row, Column::wall_s, notes.wall_s);
  set_if_known(row, Column::weight_skew, notes.weight_skew);
  set_if_known(row, Column::consensus_sq, notes.consensus_sq);
  if (notes.waits) {
    const auto& [quota, staleness, pull, idle] = *notes.waits;
    row.set(Column::quota_wait_s, quota);
    row.set(Column::staleness_wait_s, staleness);
    row.set(Column::pull_wait_s, pull);
    row.set(Column::idle_s, idle);
  }
}

/// Names are stored with their lengths.
void save_or_load_checks(RunState& state, std::map<std::string, CheckSummary>& checks) {
  std::vector<std::pair<std::string, CheckSummary>> list(checks.begin(), checks.end());
  const std::uint64_t count = state.root_count(list.size());
  if (!state.is_root()) {
    return;
  }
  if (!state.saves()) {
    list.clear();
  }
  // If the count is corrupt, reading fails at end of file.
  for (std::uint64_t i = 0; i < count && !state.damage(); ++i) {
    auto& [name, summary] = state.saves() ? list[i] : list.emplace_back();
    std::vector<char> characters(name.begin(), name.end());
    state.root_list(characters);
    name.assign(characters.begin(), characters.end());
    state.root(summary);
  }
  if (state.loads()) {
    checks = {list.begin(), list.end()};
  }
}

void set_times(const StepTimes& times, Row& row) {
  row.set(Column::compute_s, times.compute_s);
  row.set(Column::select_s, times.select_s);
  row.set(Column::aggregate_s, times.aggregate_s);
  row.set(Column::measure_s, times.measure_s);
}

/// Sets virtual time; if some of it was measured, it is not the same in every run.
void set_network(const NetworkView& network, bool records_times, Row& row) {
  if (!network.times.empty() && (records_times || !network.is_measured)) {
    row.set(Column::model_time_s, network.times.front().version_s);
    row.set(Column::virtual_s, network.times.front().total_s());
  }
}

}  // namespace

Monitor::Monitor(std::vector<std::unique_ptr<Probe>> probes, Recorder& recorder, Progress progress)
    : probes_(std::move(probes)), recorder_(recorder), progress_(std::move(progress)) {}

void Monitor::observe(const StepView& view) {
  Row row(view.iteration);
  std::vector<Check> checks;
  set_basics(view, row);
  if (times_) {
    set_times(view.times, row);
  }
  set_network(view.network, times_, row);
  set_if_known(row, Column::wall_s, view.times.wall_s);
  if (view.notes) {
    set_notes(*view.notes, view.iteration, row);
  }
  for (const auto& probe : probes_) {
    probe->observe(view, row, checks);
  }
  silent_workers_.observe(view, checks);
  summary_.silent_workers = silent_workers_.count();
  for (const auto& check : checks) {
    note(check);
  }
  note(row);
  recorder_.write(row, checks);
  for (const auto& details : details_) {
    details(view, recorder_);
  }
}

void Monitor::save_or_load(RunState& state) {
  save_or_load_checks(state, summary_.checks);
  state.root(summary_.rows);
  state.root(summary_.sent_bytes);
  state.root(summary_.uplink_bytes);
  state.root(summary_.nnz_sent);
  state.root(summary_.evaluations);
  state.root(summary_.grad_norm_sq_sum);
  state.root(summary_.delta_max);
  state.root(summary_.total_error);
  silent_workers_.save_or_load(state);
  summary_.silent_workers = silent_workers_.count();
  for (const auto& probe : probes_) {
    probe->save_or_load(state);
  }
}

void Monitor::note(const Check& check) {
  auto& summary = summary_.checks[std::string(check.name)];
  summary.hard = check.hard;
  summary.expected = check.expected;
  const double ratio = ratio_of(check);
  if (summary.n == 0 || ratio > summary.worst_ratio) {
    summary.worst_ratio = ratio;
    summary.worst_iteration = check.iteration;
  }
  ++summary.n;
  summary.failures += check.holds ? 0 : 1;
}

void Monitor::note(const Row& row) {
  ++summary_.rows;
  summary_.sent_bytes = row.get(Column::total_sent_bytes);
  summary_.uplink_bytes = row.get(Column::total_uplink_bytes);
  summary_.nnz_sent = row.get(Column::total_nnz_sent);
  summary_.total_error = row.get(Column::total_error);
  if (const auto grad = row.get(Column::grad_norm_sq)) {
    ++summary_.evaluations;
    summary_.grad_norm_sq_sum += *grad;
  }
  if (const auto delta = row.get(Column::delta)) {
    summary_.delta_max = std::max(summary_.delta_max.value_or(*delta), *delta);
  }
}

std::vector<std::unique_ptr<Probe>> make_probes(const std::vector<std::string>& names,
                                                const std::string& where) {
  std::vector<std::unique_ptr<Probe>> made;
  const auto known = names_of(probes());
  for (const auto& name : names) {
    const auto entries = probes();
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& candidate) {
      return candidate.name == name;
    });
    require(
        entry != entries.end(), "unknown probe '{}' in {}{}", name, where, suggestion(name, known));
    made.push_back(entry->make(Section()));
  }
  return made;
}

}  // namespace residuum
