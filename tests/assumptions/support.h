#pragma once
// Helpers of the tests of assumptions: one step seen by the probes, and whole runs with their rows.

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/detail_rows.h"
#include "assumptions/monitor.h"
#include "core/vectors/dense.h"
#include "objectives/registry.h"
#include "tests/core/tiny_training.h"

namespace residuum::test {

/// A recorder that keeps the rows and checks in memory.
class RowKeeper final : public Recorder {
 public:
  void write(const Row& row, const std::vector<Check>& checks) override {
    rows.push_back(row);
    all_checks.push_back(checks);
  }
  void write_detail(const DetailRow& row) override { details.push_back(row); }

  std::vector<Row> rows;
  std::vector<DetailRow> details;
  std::vector<std::vector<Check>> all_checks;  // of each row
};

inline std::vector<std::string> all_probes() { return names_of(probes()); }

/// A row and its checks.
struct Seen {
  Row row;
  std::vector<Check> checks;

  double operator[](Column column) const { return row.get(column).value(); }
  bool has(Column column) const { return row.get(column).has_value(); }
  const Check& check(std::string_view name) const {
    const auto found = std::find_if(
        checks.begin(), checks.end(), [name](const Check& check) { return check.name == name; });
    if (found == checks.end()) {
      throw std::out_of_range("no check " + std::string(name));
    }
    return *found;
  }
};

inline Seen seen_by(const std::vector<std::string>& names, const StepView& view) {
  Seen seen;
  for (const auto& probe : make_probes(names, "a test")) {
    probe->observe(view, seen.row, seen.checks);
  }
  return seen;
}

/// A first step with w_0 = z_0 = 0 and given accumulators, as the trainer would show it.
struct StepSight {
  StepSight(const Rows<double>& accumulators, const StepParts& parts, std::size_t k)
      : step(step_on(accumulators, parts)) {
    const std::size_t d = accumulators.front().size();
    const auto workers = static_cast<double>(accumulators.size());
    mean_accumulator = mean(accumulators);
    mean_residual = mean(step.residuals);
    for (std::size_t j = 0; j < d; ++j) {
      model.push_back(-step.update[j] / workers);
      z.push_back(-mean_accumulator[j]);
    }
    for (std::size_t p = 0; p < accumulators.size(); ++p) {
      const auto& message = step.messages[p];
      scalars.push_back(
          {.accumulator_norm_sq = norm_sq<double>(accumulators[p]),
           .residual_norm_sq = norm_sq<double>(step.residuals[p]),
           .residual_norm_inf = norm_inf<double>(step.residuals[p]),
           .nnz_sent = static_cast<double>(message.everything ? d : message.entries.size()),
           .total_error = norm_sq<double>(step.residuals[p]),
           .magnitude = 2 * std::sqrt(norm_sq<double>(accumulators[p])),
           .bytes = 0});
      sent.push_back(message.entries);
      removed.push_back(step.residual_updates[p].removed());
      returned.push_back(step.residual_updates[p].returned());
    }
    update = sparse(step.update);
    fill(parts, k);
  }
  StepSight(const StepSight&) = delete;
  StepSight& operator=(const StepSight&) = delete;
  StepSight(StepSight&&) = delete;
  StepSight& operator=(StepSight&&) = delete;
  ~StepSight() = default;

  Seen seen() const { return seen_by(all_probes(), view); }

  Step<double> step;
  std::vector<double> mean_accumulator, mean_residual, model, z;
  std::vector<WorkerScalars> scalars;
  std::vector<SparseVector<double>> sent, removed, returned;
  SparseVector<double> update;
  RunFacts facts;
  StepView view{.facts = facts};

 private:
  static std::vector<double> mean(const Rows<double>& rows) {
    std::vector<double> result(rows.front().size());
    for (const auto& row : rows) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        result[j] += row[j] / static_cast<double>(rows.size());
      }
    }
    return result;
  }

  void fill(const StepParts& parts, std::size_t k) {
    const auto exchange = aggregator(parts.aggregator);
    view.step_size = view.memory_step = 1;
    facts.workers = static_cast<double>(scalars.size());
    facts.dimension = static_cast<double>(model.size());
    facts.aggregator = exchange->law();
    facts.feedback = feedback(parts.feedback)->law();
    view.selection.k = static_cast<double>(k);
    view.selection.keeps_largest = sparsifier(parts.sparsifier)->law(model.size(), 1).keeps_largest;
    view.loses_only_by_decay = feedback(parts.feedback)
                                   ->conserves(facts.aggregator,
                                               step.messages.front().everything,
                                               static_cast<int>(scalars.size()));
    view.unit_roundoff = 0x1.0p-53;
    view.mean.gradient = view.mean.accumulator = mean_accumulator;
    view.mean.residual = view.iterates.expected_gap = mean_residual;
    view.iterates.model = model;
    view.iterates.virtual_dense = z;
    view.iterates.virtual_step_norm = std::sqrt(norm_sq<double>(z));
    view.iterates.compensated_gap_norm_sq = norm_sq<double>(z);
    view.exchange.is_dense = step.exchanged.is_dense;
    view.exchange.dense_update = step.exchanged.dense_sum;
    view.exchange.update = &update;
    view.exchange.sent = sent;
    view.exchange.removed = removed;
    view.exchange.returned = returned;
    view.exchange.sent_everything = step.messages.front().everything;
    view.exchange.removed_is_dense = step.residual_updates.front().removed_is_dense();
    view.worker_scalars = scalars;
    view.exchange.traffic = step.exchanged.traffic;
    double entries = 0;
    for (const auto& worker : scalars) {
      entries += worker.nnz_sent;
    }
    view.exchange.traffic_model =
        exchange->traffic_model({.workers = static_cast<int>(scalars.size()),
                                 .entries = entries,
                                 .whole_messages = view.exchange.sent_everything,
                                 .dimension = static_cast<double>(model.size()),
                                 .k = view.selection.k,
                                 .value_bytes = sizeof(double)});
  }
};

/// The step of Top_k messages through the named aggregator.
inline Seen top_k_step(const Rows<double>& accumulators,
                       const std::string& aggregator,
                       std::size_t k,
                       const std::string& putback = "captured") {
  const StepSight sight(accumulators,
                        {.sparsifier = {{"kind", "top-k"}, {"k", k}},
                         .aggregator = {{"kind", aggregator}},
                         .feedback = {{"kind", "ef14"}, {"putback", putback}}},
                        k);
  return sight.seen();
}

/// The convex objective of the registry that has this name, for values of [objective].
inline std::unique_ptr<Objective> convex(const std::string& kind, const Json& values, int workers) {
  for (const auto& entry : convex_objectives()) {
    if (entry.name == kind) {
      return entry.make(Section("objective", values),
                        {.data_dir = {}, .cache_dir = {}, .workers = workers});
    }
  }
  throw std::out_of_range(kind);
}

struct MeasuredRun {
  Outcome outcome;
  std::vector<Seen> rows;
  std::vector<DetailRow> workers;  // of every measured iteration
  std::vector<DetailRow> layers;   // of every measured iteration, three parts of the model
  RunSummary summary;
};

/// Three layers: a tenth of the model, a single parameter, and the rest.
inline std::vector<NumberedLayer> three_layers(std::size_t d) {
  const std::size_t first = std::max<std::size_t>(1, d / 10);
  return {{0, {.name = "a", .shape = {}, .offset = 0, .size = first}},
          {1, {.name = "b", .shape = {}, .offset = first, .size = 1}},
          {2, {.name = "c", .shape = {}, .offset = first + 1, .size = d - first - 1}}};
}

/// Trains on `world` with these probes; only the root gets rows.
inline MeasuredRun measure(World& world,
                           const Objective& objective,
                           const Recipe& recipe,
                           const std::vector<std::string>& names = all_probes()) {
  RowKeeper keeper;
  Monitor monitor(make_probes(names, "a test"), keeper, [](auto /*done*/, auto /*total*/) {});
  monitor.add_details(write_worker_details);
  if (objective.dimension() > 2) {
    monitor.add_details(
        [layers = three_layers(objective.dimension())](const StepView& view, Recorder& recorder) {
          write_layer_details(layers, view, recorder);
        });
  }
  MeasuredRun run;
  run.outcome = train(world, objective, recipe, monitor);
  for (std::size_t i = 0; i < keeper.rows.size(); ++i) {
    run.rows.push_back({keeper.rows[i], keeper.all_checks[i]});
  }
  for (const auto& row : keeper.details) {
    (&row.table() == &kWorkersTable ? run.workers : run.layers).push_back(row);
  }
  run.summary = monitor.summary();
  return run;
}

inline MeasuredRun measure(const Objective& objective,
                           const Recipe& recipe,
                           const std::vector<std::string>& names = all_probes()) {
  const auto world = make_single_process();
  return measure(*world, objective, recipe, names);
}

}  // namespace residuum::test
