#include "reports/verdicts/summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "reports/analysis/groups.h"
#include "reports/verdicts/evidence.h"

namespace residuum::reports {
namespace {

/// A run says what it was when it comes to its end: before, no precondition is known to be met.
Bound bound_of(const Theorem& theorem, const Evidence& evidence) {
  if (!evidence.seeds().empty()) {
    return theorem.evaluate(evidence);
  }
  Bound unknown;
  unknown.reason = "no run has finished";
  return unknown;
}

std::vector<TheoremSummary> judge_theorems(const Evidence& evidence) {
  std::vector<TheoremSummary> all;
  for (const auto& theorem : residuum::theorems()) {
    all.push_back({.theorem = &theorem, .bound = bound_of(theorem, evidence)});
  }
  return all;
}

/// Fills `assumptions` and the predictions of `summary`, whose numbers are complete.
void judge_assumptions(const ResultFolder& folder,
                       const Evidence& evidence,
                       GroupSummary& summary) {
  std::vector<const Run*> runs;
  for (const std::size_t i : summary.group.runs) {
    if (folder.runs[i].has_tables()) {
      runs.push_back(&folder.runs[i]);
    }
  }
  for (auto& verdict : residuum::judge_assumptions(evidence)) {
    AssumptionSummary one{
        .verdict = std::move(verdict), .worst_run = {}, .worst_every_run = {}, .worst = {}};
    if (one.verdict.worst && one.verdict.worst_seed < runs.size()) {
      one.worst_run = runs[one.verdict.worst_seed]->id;
    }
    if (one.verdict.every && one.verdict.every->worst_seed < runs.size()) {
      one.worst_every_run = runs[one.verdict.every->worst_seed]->id;
    }
    if (one.verdict.name == kDeltaAssumption) {
      one.worst = summary.delta.worst;
    } else if (one.verdict.name == "contraction") {
      one.worst = summary.contraction.worst;
    }
    summary.assumptions.push_back(std::move(one));
  }
  if (!runs.empty()) {
    const RunFacts& method = evidence.method();
    summary.gaussian = predict_delta(method, {.kind = EntryLaw::Kind::gaussian});
    summary.laplace = predict_delta(method, {.kind = EntryLaw::Kind::laplace});
  }
}

/// Tells all methods on one objective the largest smoothness ratio that any of them has met.
void share_smoothness(const ResultFolder& folder,
                      const std::vector<Group>& groups,
                      std::vector<Evidence>& evidence) {
  for (const auto& field : fields_of(folder, groups)) {
    std::optional<double> largest;
    for (const std::size_t g : field.groups) {
      largest = std::max(largest, evidence[g].largest_smoothness());
    }
    for (const std::size_t g : field.groups) {
      if (largest) {
        evidence[g].see_smoothness(*largest);
      }
    }
  }
}

GroupSummary summarise_group(const ResultFolder& folder,
                             const Group& group,
                             const std::vector<RunMeasures>& measures,
                             const Evidence& evidence) {
  GroupSummary summary{numbers_of(folder, group, measures), {}, {}, {}, {}, {}};
  summary.theorems = judge_theorems(evidence);
  judge_assumptions(folder, evidence, summary);
  summary.residual_bound = worker_residual_bound(evidence);
  return summary;
}

/// Corrects the verdicts: those of all methods are one family of tests, and so are the theorems'.
void correct_for_their_number(Summary& summary) {
  std::vector<AssumptionVerdict*> assumptions;
  std::vector<Bound*> bounds;
  for (auto& group : summary.groups) {
    for (auto& one : group.assumptions) {
      assumptions.push_back(&one.verdict);
    }
    for (auto& one : group.theorems) {
      bounds.push_back(&one.bound);
    }
  }
  control_false_alarms(assumptions);
  control_false_alarms(bounds);
}

}  // namespace

const TheoremSummary* GroupSummary::theorem(std::string_view name) const {
  const auto found = std::find_if(
      theorems.begin(), theorems.end(), [&](const auto& one) { return one.theorem->name == name; });
  return found == theorems.end() ? nullptr : &*found;
}

const TheoremSummary* GroupSummary::certificate() const {
  const TheoremSummary* plain = theorem("certificate");
  const TheoremSummary* of_any_rule = theorem("certificate-any-rule");
  const bool takes_other = plain != nullptr && of_any_rule != nullptr &&
                           plain->bound.verdict == BoundVerdict::not_applicable &&
                           of_any_rule->bound.verdict != BoundVerdict::not_applicable;
  return takes_other ? of_any_rule : plain;
}

const TheoremSummary* GroupSummary::linear_rate() const {
  const TheoremSummary* smallest = nullptr;
  for (const auto& one : theorems) {
    const auto& rates = one.bound.rates;
    const bool has_factors =
        one.bound.has_verdict() && rates && rates->of_proof() && rates->of_problem();
    if (has_factors && (smallest == nullptr || rates->bound < smallest->bound.rates->bound)) {
      smallest = &one;
    }
  }
  return smallest;
}

std::vector<Group> groups_of(const Summary& summary) {
  std::vector<Group> groups;
  for (const auto& group : summary.groups) {
    groups.push_back(group.group);
  }
  return groups;
}

Summary make_summary(ResultFolder folder, const std::vector<RunMeasures>& measures) {
  const auto groups = group_runs(folder);
  std::vector<Evidence> evidence;
  evidence.reserve(groups.size());
  for (const auto& group : groups) {
    evidence.push_back(evidence_of(folder, group, measures));
  }
  share_smoothness(folder, groups, evidence);
  std::vector<GroupSummary> judged;
  judged.reserve(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    judged.push_back(summarise_group(folder, groups[g], measures, evidence[g]));
  }
  auto search = critical_ratio(folder);
  auto tuning = tuned_study(folder, groups);
  Summary summary{numbers_of(std::move(folder), groups, measures),
                  std::move(judged),
                  std::move(search),
                  std::move(tuning)};
  correct_for_their_number(summary);
  return summary;
}

std::vector<RunMeasures> measures_of(const ResultFolder& folder) {
  std::vector<RunMeasures> measures(folder.runs.size());
  const auto lengths = run_lengths(folder);
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    const Run& run = folder.runs[i];
    if (run.has_tables()) {
      MeasureTaker taker(lengths[i]);
      read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
        taker.add(record);
      });
      measures[i] = taker.finish();
    }
  }
  return measures;
}

Summary summarise(ResultFolder folder) {
  const auto measures = measures_of(folder);
  return make_summary(std::move(folder), measures);
}

Summary summarise(const std::filesystem::path& result_dir) {
  return summarise(read_result_folder(result_dir));
}

namespace {

constexpr std::string_view kWorkers = "workers.count";

const AssumptionVerdict* delta_of(const GroupSummary& group) {
  for (const auto& one : group.assumptions) {
    if (one.verdict.name == kDeltaAssumption && one.verdict.value) {
      return &one.verdict;
    }
  }
  return nullptr;
}

/// Finds the two measured numbers of workers between which delta crosses one; nothing is
/// interpolated.
void bracket(WorkersCurve& curve) {
  for (const auto& point : curve.points) {
    if (*point.delta->value > 1) {
      curve.fails_from = point.workers;
      return;
    }
    curve.holds_to = point.workers;
  }
}

}  // namespace

std::vector<WorkersCurve> delta_against_workers(const Summary& summary) {
  std::vector<WorkersCurve> curves;
  std::map<std::string, std::size_t> place;
  for (std::size_t number = 0; number < summary.groups.size(); ++number) {
    const GroupSummary& group = summary.groups[number];
    const auto found = group.group.varying.find(std::string(kWorkers));
    const AssumptionVerdict* delta = delta_of(group);
    if (found == group.group.varying.end() || !found->is_number() || delta == nullptr) {
      continue;
    }
    const Run& run = summary.folder.runs[group.group.runs.front()];
    const std::string label = method_label(run, kWorkers);
    const auto [at, is_new] = place.emplace(label, curves.size());
    if (is_new) {
      curves.push_back({.label = label,
                        .points = {},
                        .predicted = group.gaussian.largest_workers,
                        .holds_to = std::nullopt,
                        .fails_from = std::nullopt});
    }
    curves[at->second].points.push_back(
        {.workers = found->get<double>(), .group = &group, .number = number, .delta = delta});
  }
  for (auto& curve : curves) {
    std::stable_sort(curve.points.begin(), curve.points.end(), [](const auto& a, const auto& b) {
      return a.workers < b.workers;
    });
    bracket(curve);
  }
  curves.erase(
      std::remove_if(
          curves.begin(), curves.end(), [](const auto& curve) { return curve.points.size() < 2; }),
      curves.end());
  return curves;
}

}  // namespace residuum::reports
