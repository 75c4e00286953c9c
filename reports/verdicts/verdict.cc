#include "reports/verdicts/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/verdicts/remarks.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kConservation = "conservation";

struct BoundTotal {
  std::size_t methods = 0;
  std::size_t silent = 0;  // methods left out as a worker sent nothing
  std::size_t drawn = 0;   // methods left out as their selection is drawn
  std::size_t n = 0;
  std::size_t held = 0;
  const GroupSummary* worst_group = nullptr;
  Extreme worst;
};

/// Adds up the methods of which something can hold in single iterations: in their runs every worker
/// sent, and the selection is not drawn.
BoundTotal total(const Summary& summary, BoundSummary GroupSummary::*bound) {
  BoundTotal sum;
  for (const auto& group : summary.groups) {
    const BoundSummary& one = group.*bound;
    if (one.n == 0) {
      continue;
    }
    if (has_silent_worker(summary.folder, group.group)) {
      ++sum.silent;
      continue;
    }
    if (selects_at_random(summary.folder, group.group)) {
      ++sum.drawn;
      continue;
    }
    ++sum.methods;
    sum.n += one.n;
    sum.held += one.held;
    Worst comparison{.value = sum.worst.value, .iteration = 0};
    comparison.add(one.worst.value.value_or(0), 1);
    if (comparison.iteration == 1) {
      sum.worst = one.worst;
      sum.worst_group = &group;
    }
  }
  return sum;
}

std::string place_text(const BoundTotal& sum) {
  return fmt::format("{} ({}, iteration {})",
                     short_number(sum.worst.value),
                     sum.worst_group->group.label,
                     sum.worst.iteration);
}

std::string methods_text(std::size_t n) {
  return n == 1 ? "the one method" : fmt::format("all {} methods", n);
}

/// Returns " with a measured δ, of 3 in the study" where other methods have none, or says why
/// others that have one are left out.
std::string of_study(const Summary& summary, const BoundTotal& sum) {
  const std::size_t all =
      summary.groups.size() + methods_not_begun(summary.folder, groups_of(summary)).size();
  if (sum.methods == all) {
    return {};
  }
  if (sum.silent + sum.drawn == 0) {
    return fmt::format(" with a measured δ, of {} in the study", all);
  }
  std::vector<std::string> reasons;
  const auto add = [&](std::size_t methods, std::string_view reason) {
    if (methods > 0) {
      reasons.push_back(fmt::format("{} {}", methods, reason));
    }
  };
  add(sum.drawn, "with a random selection, of which single iterations say nothing");
  add(sum.silent, "with a worker that sent nothing");
  add(all - sum.methods - sum.drawn - sum.silent, "without a measured δ");
  return fmt::format(
      " judged by iteration, of {} in the study (left out: {})", all, fmt::join(reasons, "; "));
}

std::string invariants_sentence(const Summary& summary) {
  if (summary.checks.empty()) {
    return "No invariant was checked.";
  }
  std::string failed;
  for (const auto& check : summary.checks) {
    if (check.unexpected_failures > 0) {
      failed += fmt::format("{}{} ({} of {}, worst in {} at iteration {})",
                            failed.empty() ? "" : "; ",
                            check.name,
                            check.unexpected_failures,
                            check.n,
                            check.worst.run_id,
                            check.worst.iteration);
    }
  }
  if (failed.empty()) {
    return "Every invariant holds where it must.";
  }
  return fmt::format("An invariant that must hold FAILED: {}.", failed);
}

/// Returns whether two methods differ in the value of one key alone.
bool differ_in_one_key(const Group& a, const Group& b) {
  std::size_t differences = 0;
  for (const auto& [key, value] : a.varying.items()) {
    const auto other = b.varying.find(key);
    differences += other != b.varying.end() && *other == value ? 0 : 1;
  }
  return a.varying.size() == b.varying.size() && differences == 1;
}

/// Returns in words which of a leaking method and one that differs in a single key ends higher;
/// empty where no common seeds say so.
std::string leak_sentence(const Summary& summary, std::size_t leaking, std::size_t keeping) {
  const GroupSummary& leak = summary.groups[leaking];
  const GroupSummary& keep = summary.groups[keeping];
  const bool has_gap = leak.metric("final_loss_gap") != nullptr;
  const std::string_view name = has_gap ? "final_loss_gap" : "final_loss";
  const auto metric = std::find_if(run_metrics().begin(),
                                   run_metrics().end(),
                                   [&](const Metric& one) { return one.name == name; });
  const Difference difference = difference_of(end_of(summary.folder, leak.group, leaking, *metric),
                                              end_of(summary.folder, keep.group, keeping, *metric),
                                              IntervalKind::student);
  if (!difference.is_paired || !difference.interval) {
    return {};
  }
  const std::string_view quantity = has_gap ? "loss gap" : "loss";
  const std::string by = fmt::format("{} {} ({} seeds, 95 %)",
                                     short_number(difference.mean, digits_for(difference.interval)),
                                     short_interval(*difference.interval),
                                     difference.values.size());
  if (difference.interval->low <= 0 && difference.interval->high >= 0) {
    return fmt::format(
        "{} loses gradient mass; that its {} ends above that of {} is not decided: by {}.",
        leak.group.label,
        quantity,
        keep.group.label,
        by);
  }
  return fmt::format(
      "{} loses gradient mass, and its {} ends {} that of {}, which keeps it: by {}.",
      leak.group.label,
      quantity,
      *difference.mean > 0 ? "above" : "below",
      keep.group.label,
      by);
}

std::string contraction_sentence(const Summary& summary) {
  const BoundTotal sum = total(summary, &GroupSummary::contraction);
  if (sum.n == 0) {
    return {};
  }
  if (sum.held == sum.n) {
    return fmt::format("The gap contracted (q < 1) in every measured iteration; largest q = {}.",
                       place_text(sum));
  }
  return fmt::format(
      "The gap did not contract (q ≥ 1) in {} of {} measured iterations; largest q = {}.",
      sum.n - sum.held,
      sum.n,
      place_text(sum));
}

/// Says since when a run that calls itself running has written nothing, as it may have been killed.
std::string written_words(const Run& run) {
  const std::string time = run.state == "running" ? last_written(run) : std::string();
  return time.empty() ? time : fmt::format(", nothing written since {}", time);
}

/// Returns "2 missing (a, b)": how many runs are in this state, and which; many are counted.
std::string runs_in(const Summary& summary, const std::string& state, std::size_t count) {
  constexpr std::size_t kMostNamed = 4;
  std::string names;
  std::size_t named = 0;
  for (const auto& run : summary.folder.runs) {
    if (run.state == state && named < kMostNamed) {
      names += fmt::format("{}{}{}", names.empty() ? "" : ", ", run.id, written_words(run));
      ++named;
    }
  }
  if (count > named) {
    names += fmt::format(" and {} more", count - named);
  }
  return fmt::format("{} {} ({})", count, state, names);
}

std::size_t diverged_runs(const Summary& summary) {
  const auto found = summary.states.find("diverged");
  return found == summary.states.end() ? 0 : found->second;
}

bool all_diverged(const Summary& summary) {
  return diverged_runs(summary) == summary.folder.runs.size();
}

/// Returns "All 6 runs diverged. ", or "7 of 24 runs diverged, among them all of 1 method. ": what
/// a reader must know before any assumption is said to have held; empty where no run diverged.
std::string divergence_words(const Summary& summary) {
  const std::size_t runs = diverged_runs(summary);
  if (runs == 0) {
    return {};
  }
  if (all_diverged(summary)) {
    return runs == 1 ? "The one run diverged. " : fmt::format("All {} runs diverged. ", runs);
  }
  const auto lost =
      std::count_if(summary.groups.begin(), summary.groups.end(), [](const GroupSummary& group) {
        return group.diverged > 0 && group.diverged == group.group.runs.size();
      });
  return fmt::format(
      "{} of {} runs diverged{}. ",
      runs,
      summary.folder.runs.size(),
      lost == 0 ? "" : fmt::format(", among them all of {} method{}", lost, lost == 1 ? "" : "s"));
}

std::string diverged_sentence(const Summary& summary) {
  const auto found = summary.states.find("diverged");
  if (found == summary.states.end()) {
    return {};
  }
  return fmt::format(
      "Of {} runs, {}.", summary.folder.runs.size(), runs_in(summary, found->first, found->second));
}

/// Returns whether runs that have not come to an end may still measure delta.
bool may_measure_delta(const Summary& summary) {
  const auto& runs = summary.folder.runs;
  const auto has_ended = [](const Run& run) {
    return run.state == "finished" || run.state == "diverged";
  };
  const auto has_probe = [](const Run& run) {
    const Json& names = value_at(run.config, "config.probes.names");
    return run.config.empty() || std::find(names.begin(), names.end(), "delta") != names.end();
  };
  return !std::all_of(runs.begin(), runs.end(), has_ended) &&
         std::any_of(runs.begin(), runs.end(), has_probe);
}

/// Returns the labels of the methods of which no run has a result.
std::vector<std::string> unknown_methods(const Summary& summary) {
  std::vector<std::string> labels;
  for (const auto& group : summary.groups) {
    if (group.finished + group.diverged == 0) {
      labels.push_back(group.group.label);
    }
  }
  for (const auto& label : methods_not_begun(summary.folder, groups_of(summary))) {
    labels.push_back(label);
  }
  return labels;
}

/// Returns "; on average: holds 1, fails 1", counting the methods that total() counts.
std::string average_words(const Summary& summary) {
  std::map<AssumptionState, std::size_t> count;
  for (const auto& group : summary.groups) {
    if (group.delta.n == 0 || has_silent_worker(summary.folder, group.group) ||
        selects_at_random(summary.folder, group.group)) {
      continue;
    }
    for (const auto& one : group.assumptions) {
      if (one.verdict.name == kDeltaAssumption &&
          one.verdict.state != AssumptionState::not_measured) {
        ++count[one.verdict.state];
      }
    }
  }
  std::string text;
  for (const auto& [state, n] : count) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", state_text(state), n);
  }
  return text.empty() ? text : fmt::format("; on average: {}", text);
}

/// δ ≤ 1 is the assumption of gTop-k; of other methods it is a comparison with a random selection.
std::string_view name_of_assumption(const Summary& summary) {
  const bool is_of_gtopk =
      std::any_of(summary.groups.begin(), summary.groups.end(), [&](const GroupSummary& group) {
        const Run& run = summary.folder.runs[group.group.runs.front()];
        return run.facts.aggregator.selects_largest;
      });
  return is_of_gtopk ? "The gTop-k assumption" : "The comparison with a random selection";
}

/// Says in how many iterations δ ≤ 1 held, and where it was largest.
std::string assumption_sentence(const Summary& summary) {
  const BoundTotal sum = total(summary, &GroupSummary::delta);
  const bool all_draw =
      !summary.groups.empty() &&
      std::all_of(summary.groups.begin(), summary.groups.end(), [&](const GroupSummary& group) {
        return selects_at_random(summary.folder, group.group);
      });
  if (all_draw) {
    return "The selection is random: δ ≤ 1 is about its expectation, of which single iterations "
           "say "
           "nothing.";
  }
  if (sum.n == 0 && !silence_sentences(summary).empty()) {
    return "The gTop-k assumption is about what is sent: of no method did every worker send.";
  }
  if (sum.n == 0) {
    return may_measure_delta(summary) ? "The gTop-k assumption has not been measured yet."
                                      : "The gTop-k assumption was not measured in this study.";
  }
  if (all_diverged(summary)) {
    return fmt::format("No assumption holds of runs that diverged; until then the largest δ = {}.",
                       place_text(sum));
  }
  if (sum.held == sum.n) {
    return fmt::format(
        "{} δ ≤ 1 held in every measured iteration of {}{}{}; largest δ = {}.",
        name_of_assumption(summary),
        methods_text(sum.methods),
        of_study(summary, sum),
        diverged_runs(summary) > 0 ? ", which decides nothing of the runs that diverged" : "",
        place_text(sum));
  }
  return fmt::format("{} δ ≤ 1 failed in {} of {} measured iterations of {}{}{}; largest δ = {}.",
                     name_of_assumption(summary),
                     sum.n - sum.held,
                     sum.n,
                     methods_text(sum.methods),
                     of_study(summary, sum),
                     average_words(summary),
                     place_text(sum));
}

}  // namespace

Verdict verdict_of(const CheckNumbers* check) {
  if (check == nullptr || (check->n == 0 && check->holds)) {
    return Verdict::not_looked;
  }
  if (check->unexpected_failures > 0) {
    return Verdict::fail;
  }
  if (!check->holds) {
    return Verdict::known;
  }
  return check->expected ? Verdict::pass : Verdict::held_here;
}

Verdict verdict_of_others(const GroupSummary& group) {
  Verdict gravest = Verdict::not_looked;
  const auto gravity = [](Verdict verdict) {
    switch (verdict) {
      case Verdict::fail:
        return 4;
      case Verdict::known:
        return 3;
      case Verdict::pass:
        return 2;
      case Verdict::held_here:
        return 1;
      case Verdict::not_looked:
        return 0;
    }
    return 0;
  };
  for (const auto& check : group.checks) {
    const Verdict verdict = verdict_of(&check);
    if (check.name != kConservation && gravity(verdict) > gravity(gravest)) {
      gravest = verdict;
    }
  }
  return gravest;
}

std::string verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::fail:
      return "FAIL";
    case Verdict::known:
      return "fails, as known";
    case Verdict::held_here:
      return "held here";
    case Verdict::not_looked:
      break;
  }
  return "–";
}

std::string answer(const Summary& summary) {
  if (!summary.folder.mixed_data.empty()) {
    return summary.folder.mixed_data;
  }
  const std::string before = divergence_words(summary);
  const std::string ended = outcome(summary);
  return before + (ended.empty() ? assumption_sentence(summary) : ended);
}

std::string unfinished_sentence(const Summary& summary) {
  std::string runs;
  std::size_t unfinished = 0;
  for (const auto& [state, count] : summary.states) {
    if (state != "finished" && state != "diverged") {
      runs += fmt::format("{}{}", runs.empty() ? "" : "; ", runs_in(summary, state, count));
      unfinished += count;
    }
  }
  if (runs.empty()) {
    return {};
  }
  const auto methods = unknown_methods(summary);
  return fmt::format(
      "This study is not finished: of {} runs {} have no result: {}.{} {} goes on with it.",
      summary.folder.runs.size(),
      unfinished,
      runs,
      methods.empty() ? "" : fmt::format(" Nothing is known yet of {}.", fmt::join(methods, "; ")),
      summary.folder.command == kAttached ? "A checkpoint of the training" : "residuum run");
}

std::vector<std::string> leak_sentences(const Summary& summary) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < summary.groups.size() && sentences.size() < kMost; ++i) {
    if (verdict_of(summary.groups[i].check(kConservation)) != Verdict::known) {
      continue;
    }
    for (std::size_t j = 0; j < summary.groups.size(); ++j) {
      const bool keeps = verdict_of(summary.groups[j].check(kConservation)) == Verdict::pass;
      if (!keeps || !differ_in_one_key(summary.groups[i].group, summary.groups[j].group)) {
        continue;
      }
      if (std::string sentence = leak_sentence(summary, i, j); !sentence.empty()) {
        sentences.push_back(std::move(sentence));
        break;
      }
    }
  }
  return sentences;
}

/// Says whose gradients these are where the objective has not computed them; empty where it has.
std::string gradients_sentence(const Summary& summary) {
  for (const auto& run : summary.folder.runs) {
    if (const std::string of = text_at(run.status, "data.gradients_of"); !of.empty()) {
      return fmt::format("What is said here is said of {}.", of);
    }
  }
  return {};
}

std::vector<std::string> notices_of(const Summary& summary) {
  auto sentences = silence_sentences(summary);
  if (std::string sentence = gradients_sentence(summary); !sentence.empty()) {
    sentences.push_back(std::move(sentence));
  }
  if (std::string sentence = asked_k_sentence(summary); !sentence.empty()) {
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::vector<std::string> findings(const Summary& summary) {
  std::vector<std::string> sentences{invariants_sentence(summary),
                                     outcome(summary).empty() ? "" : assumption_sentence(summary),
                                     known_losses_sentence(summary),
                                     contraction_sentence(summary),
                                     diverged_sentence(summary),
                                     unfinished_sentence(summary)};
  const auto silence = silence_sentences(summary);
  sentences.insert(sentences.begin(), silence.begin(), silence.end());
  sentences.push_back(asked_k_sentence(summary));
  sentences.push_back(gradients_sentence(summary));
  sentences.erase(std::remove(sentences.begin(), sentences.end(), ""), sentences.end());
  const auto leaks = leak_sentences(summary);
  sentences.insert(sentences.end(), leaks.begin(), leaks.end());
  return sentences;
}

namespace {

std::string share_text(const EveryVerdict& every) {
  const double share = 100 * every.share;
  if (share < 1) {
    return every.counts_all ? "<1 %" : ">0 %";
  }
  if (share > 99 && every.violations < every.measured) {
    return ">99 %";
  }
  return fmt::format("{}{:.0f} %", every.counts_all ? "" : "≥", share);
}

}  // namespace

std::string number_with_interval(const AssumptionVerdict& verdict) {
  if (!verdict.value) {
    return "–";
  }
  const std::string text = short_number(verdict.value, digits_for(verdict.interval));
  std::string mean = verdict.interval ? text + ' ' + short_interval(*verdict.interval) : text;
  if (!verdict.largest_quarter) {
    return mean;
  }
  return fmt::format(
      "{}, in quarter {} of the run {}",
      mean,
      verdict.largest_quarter->quarter,
      short_number(verdict.largest_quarter->value, digits_for(verdict.largest_quarter->interval)));
}

std::string_view average_word(const AssumptionVerdict& verdict) {
  if (verdict.tests_growth && verdict.state == AssumptionState::holds) {
    return "growth ≤ 1.1";
  }
  if (verdict.tests_growth && verdict.state == AssumptionState::fails) {
    return "grew";
  }
  return state_text(verdict.state);
}

std::string every_word(const EveryVerdict& every) {
  if (every.state == AssumptionState::not_measured) {
    return "–";
  }
  std::string word(state_text(every.state));
  return every.state == AssumptionState::fails ? word + " " + share_text(every) : word;
}

std::string every_text(const EveryVerdict& every) {
  return fmt::format("{}{} of {} measured iterations above, largest {} at iteration {}",
                     every.counts_all ? "" : "at least ",
                     every.violations,
                     every.measured,
                     short_number(every.worst),
                     every.worst_iteration);
}

std::vector<std::size_t> measured_assumptions(const Summary& summary) {
  std::vector<std::size_t> measured;
  const std::size_t count = summary.groups.empty() ? 0 : summary.groups[0].assumptions.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool any =
        std::any_of(summary.groups.begin(), summary.groups.end(), [i](const auto& group) {
          const AssumptionVerdict& verdict = group.assumptions[i].verdict;
          return verdict.state != AssumptionState::not_measured ||
                 (verdict.every && verdict.every->state != AssumptionState::not_measured);
        });
    if (any) {
      measured.push_back(i);
    }
  }
  return measured;
}

}  // namespace residuum::reports
