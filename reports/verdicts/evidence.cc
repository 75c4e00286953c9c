#include "reports/verdicts/evidence.h"

#include <algorithm>

#include "reports/verdicts/remarks.h"

namespace residuum::reports {
namespace {

// This is 2^53: what a foreign file says beyond it is no number of iterations.
constexpr double kMostIterations = 9007199254740992.0;

/// Returns the facts that all of the runs have; none are told of where there is no run.
RunFacts facts_of_all(const std::vector<const Run*>& runs) {
  RunFacts facts;
  for (const Run* run : runs) {
    facts = run == runs.front() ? run->facts : weaker_of(facts, run->facts);
  }
  return facts;
}

}  // namespace

std::vector<std::uint64_t> run_lengths(const ResultFolder& folder) {
  std::vector<std::uint64_t> lengths(folder.runs.size(), 1);
  for (const auto& group : group_runs(folder)) {
    double longest = 1;
    for (const std::size_t i : group.runs) {
      const double done = number_at(folder.runs[i].status, "iterations").value_or(1);
      longest = done > longest ? std::min(done, kMostIterations) : longest;
    }
    for (const std::size_t i : group.runs) {
      lengths[i] = static_cast<std::uint64_t>(longest);
    }
  }
  return lengths;
}

namespace {

/// Ends the evidence of a run after the iterations that it had.
void end_as(const Run& run, SeedEvidence& seed) {
  const auto done = number_at(run.status, "iterations");
  if (!done || !(*done >= 0)) {
    return;
  }
  const auto iterations = static_cast<std::uint64_t>(std::min(*done, kMostIterations));
  if (run.state == "diverged") {
    seed.end_early(iterations);
  } else if (run.state == "finished") {
    seed.end_at(iterations);
  }
}

}  // namespace

Evidence evidence_of(const ResultFolder& folder,
                     const Group& group,
                     const std::vector<RunMeasures>& measures) {
  std::vector<SeedEvidence> seeds;
  std::vector<const Run*> runs;
  std::size_t missed = 0;
  std::size_t silent = 0;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!run.has_tables() || !measures[i].evidence) {
      missed += run.state == "failed" || run.state == "interrupted" ? 1 : 0;
      continue;
    }
    runs.push_back(&run);
    silent += silent_workers(run) > 0 ? 1 : 0;
    seeds.push_back(*measures[i].evidence);
    end_as(run, seeds.back());
  }
  Evidence evidence(facts_of_all(runs));
  for (auto& seed : seeds) {
    evidence.add(std::move(seed));
  }
  evidence.miss(missed);
  evidence.note_silence(silent);
  return evidence;
}

}  // namespace residuum::reports
