#include "reports/terminal/verdict_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.h"
#include "reports/analysis/words.h"
#include "reports/terminal/table.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

std::size_t count(const GroupSummary& group, BoundVerdict verdict) {
  std::size_t n = 0;
  for (const auto& one : group.theorems) {
    n += one.bound.verdict == verdict ? 1 : 0;
  }
  return n;
}

std::string names_of(const GroupSummary& group, BoundVerdict verdict) {
  std::string names;
  for (const auto& one : group.theorems) {
    if (one.bound.verdict == verdict) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", one.theorem->name);
    }
  }
  return names;
}

std::string sides_text(const Bound& bound) {
  if (!bound.lhs || !bound.rhs) {
    return {};
  }
  return fmt::format("  {} = {}, right side {}, slack {}, over {} iterations\n",
                     bound.left,
                     short_number(bound.lhs),
                     short_number(bound.rhs),
                     short_number(bound.slack),
                     short_number(bound.iterations));
}

/// Parts the slack of a linear rate: what the proof gives away, and what the problem is better than
/// the worst.
std::string rates_text(const Bound& bound) {
  if (!bound.rates) {
    return {};
  }
  std::string text =
      fmt::format("  factor of one iteration: bound {}, tight rate {}, measured {}\n",
                  short_number(bound.rates->bound),
                  short_number(bound.rates->tight),
                  short_number(bound.rates->measured));
  if (const auto of_proof = bound.rates->of_proof()) {
    text += fmt::format(
        "  slack of the proof {}: iterations by the bound over those at the tight rate\n",
        short_number(of_proof));
  }
  if (const auto of_problem = bound.rates->of_problem()) {
    text +=
        fmt::format("  slack of the problem {}: iterations at the tight rate over those measured\n",
                    short_number(of_problem));
  }
  return text;
}

/// Returns the terms, constants and preconditions of the bound, a line each.
std::string parts_text(const Bound& bound) {
  std::string text;
  for (const auto& term : bound.terms) {
    text += fmt::format("  {} = {} ({})\n",
                        term.formula,
                        short_number(term.value),
                        attribution_text(term.attribution));
  }
  for (const auto& condition : bound.preconditions) {
    text += fmt::format("  {}: {} ({})\n",
                        condition.statement,
                        precondition_text(condition.state),
                        harmless(condition.detail));
  }
  for (const auto& constant : bound.constants) {
    text += fmt::format("  {} = {} ({})\n",
                        constant.symbol,
                        short_number(constant.value),
                        harmless(constant.origin));
  }
  return text;
}

}  // namespace

std::string theorem_text(const Summary& summary, std::string_view name) {
  const Theorem* theorem = find_theorem(name);
  if (theorem == nullptr) {
    return {};
  }
  std::string text = fmt::format("{}: {}  [{}]\n", name, theorem->statement, theorem->paper);
  const auto names = printable_labels(summary);
  for (const auto& group : summary.groups) {
    const TheoremSummary* one = group.theorem(name);
    if (one == nullptr) {
      continue;
    }
    const Bound& bound = one->bound;
    text += fmt::format("{}: {}\n", names.at(group.group.label), verdict_text(bound.verdict));
    for (const auto& words : {bound.reason, bound.remarks}) {
      text += words.empty() ? "" : "  " + harmless(words) + "\n";
    }
    text += sides_text(bound) + rates_text(bound) + parts_text(bound);
  }
  return text;
}

std::vector<std::string> theorem_lines(const Summary& summary) {
  std::vector<std::string> lines;
  for (const auto& group : summary.groups) {
    const TheoremSummary* certificate = group.certificate();
    std::string line = group.group.label + ":";
    if (certificate != nullptr) {
      line += fmt::format(" certificate {}", verdict_text(certificate->bound.verdict));
      if (certificate->bound.slack) {
        line += fmt::format(", slack {}", short_number(certificate->bound.slack));
      }
    }
    line += fmt::format(
        "; theorems: {} hold, {} marginal, {} fail, {} undecided, {} not measured, "
        "{} not applicable",
        count(group, BoundVerdict::holds),
        count(group, BoundVerdict::marginal),
        count(group, BoundVerdict::fails),
        count(group, BoundVerdict::undecided),
        count(group, BoundVerdict::not_measured),
        count(group, BoundVerdict::not_applicable));
    const std::string failed = names_of(group, BoundVerdict::fails);
    if (!failed.empty()) {
      line += "; FAILS: ";
      line += failed;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

/// Keys of a study whose cost is known from its runs.
constexpr std::string_view kSeedsKey = "seeds";
constexpr std::string_view kRowsKey = "probes.every";

std::size_t count_theorems(const GroupSummary& group, BoundVerdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(group.theorems.begin(), group.theorems.end(), [&](const TheoremSummary& one) {
        return one.bound.verdict == verdict;
      }));
}

/// Returns "fails 15 % / holds": in every measured iteration, and on average.
std::string verdict_words(const AssumptionVerdict& verdict) {
  std::string average(verdict.state == AssumptionState::not_measured ? "–" : average_word(verdict));
  if (!verdict.every) {
    return average;
  }
  return verdict.is_average ? every_word(*verdict.every) + " / " + average
                            : every_word(*verdict.every);
}

/// Returns "1.4 × 2.1 (tight-ef14)": the slack in iterations of the method's linear rate.
std::string factors_of_slack(const GroupSummary& group) {
  const TheoremSummary* linear = group.linear_rate();
  if (linear == nullptr) {
    return "–";
  }
  const RateSlack& rates = *linear->bound.rates;
  return fmt::format("{} × {} ({})",
                     short_number(rates.of_proof()),
                     short_number(rates.of_problem()),
                     linear->theorem->name);
}

bool has_linear_rate(const GroupSummary& group) { return group.linear_rate() != nullptr; }

/// Returns a method's row of the verdicts: the assumptions at `shown`, then what its theorems say.
std::vector<std::string> verdict_row(const GroupSummary& group,
                                     const std::string& name,
                                     const std::vector<std::size_t>& shown,
                                     bool with_factors) {
  const std::string misses = group.misses();
  std::vector<std::string> row{name + (misses.empty() ? misses : fmt::format(" ({})", misses))};
  for (const std::size_t i : shown) {
    row.push_back(verdict_words(group.assumptions[i].verdict));
  }
  const TheoremSummary* certificate = group.certificate();
  row.emplace_back(certificate == nullptr ? "–" : verdict_text(certificate->bound.verdict));
  row.push_back(certificate == nullptr ? "–" : short_number(certificate->bound.slack));
  if (with_factors) {
    row.push_back(factors_of_slack(group));
  }
  row.push_back(fmt::format("{} hold, {} fail",
                            count_theorems(group, BoundVerdict::holds),
                            count_theorems(group, BoundVerdict::fails)));
  return row;
}

/// Returns in words where averages are over a part of the iterations; empty where every one was
/// measured.
std::string sampling_line(const Summary& summary) {
  std::uint64_t rows = 0;
  std::uint64_t iterations = 0;
  for (const auto& group : summary.groups) {
    for (const auto& one : group.assumptions) {
      if (one.verdict.name == kDeltaAssumption) {
        rows += one.verdict.rows;
        iterations += one.verdict.iterations;
      }
    }
  }
  if (rows >= iterations) {
    return {};
  }
  return fmt::format(
      "rows at {} of {} iterations, each counting for those until the next\n", rows, iterations);
}

/// Adds up how many verdicts each key of the study would decide.
struct OpenVerdicts {
  std::size_t verdicts = 0;
  std::size_t undecided = 0;
  std::map<std::string_view, std::size_t> by_key;

  void add(bool is_measured, bool is_undecided, std::string_view key) {
    verdicts += is_measured ? 1 : 0;
    undecided += is_undecided ? 1 : 0;
    if (is_undecided && !key.empty()) {
      ++by_key[key];
    }
  }
  void add(AssumptionState state, std::string_view key) {
    add(state != AssumptionState::not_measured, state == AssumptionState::undecided, key);
  }
  void add(const Bound& bound) {
    add(bound.has_verdict(), bound.verdict == BoundVerdict::undecided, bound.open_key);
  }
};

/// Returns the time that more seeds or rows would cost; empty if it is not known.
std::string cost_of(std::string_view key, const RunningTime& time) {
  if (time.runs == 0 || !(time.wall_s > 0)) {
    return {};
  }
  if (key == kSeedsKey) {
    return fmt::format(", at {} s a run",
                       short_number(time.wall_s / static_cast<double>(time.runs), 2));
  }
  if (key == kRowsKey && time.more_rows_s > 0) {
    return fmt::format(", at {} s more than the {} s of the runs",
                       short_number(time.more_rows_s, 2),
                       short_number(time.wall_s, 2));
  }
  return {};
}

}  // namespace

std::string undecided_line(const Summary& summary) {
  OpenVerdicts open;
  std::size_t seeds = 1;
  for (const auto& group : summary.groups) {
    seeds = std::max(seeds, group.group.runs.size());
    for (const auto& one : group.theorems) {
      open.add(one.bound);
    }
    for (const auto& one : group.assumptions) {
      if (one.verdict.is_average) {
        open.add(one.verdict.state, one.verdict.open_key);
      }
      if (one.verdict.every) {
        open.add(one.verdict.every->state, one.verdict.every->open_key);
      }
    }
  }
  const auto most =
      std::max_element(open.by_key.begin(), open.by_key.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  if (most == open.by_key.end()) {
    return {};
  }
  const auto& [key, count] = *most;
  // Four times the seeds halve an interval.
  const std::size_t value = key != kSeedsKey ? 1 : seeds == 1 ? 5 : 4 * seeds;
  return fmt::format("{} of {} verdicts are undecided; {} = {} may decide {} of them{}\n",
                     open.undecided,
                     open.verdicts,
                     key,
                     value,
                     count,
                     cost_of(key, summary.time));
}

std::vector<std::string> failed_assumptions(const Summary& summary) {
  const auto names = printable_labels(summary);
  std::vector<std::string> lines;
  for (const auto& group : summary.groups) {
    const std::string& label = names.at(group.group.label);
    for (const auto& one : group.assumptions) {
      const AssumptionVerdict& verdict = one.verdict;
      if (verdict.is_average && verdict.state == AssumptionState::fails) {
        lines.push_back(fmt::format("{}: assumption '{}' fails on average: {}",
                                    label,
                                    verdict.name,
                                    number_with_interval(verdict)));
      }
      if (verdict.every && verdict.every->state == AssumptionState::fails) {
        lines.push_back(fmt::format("{}: assumption '{}' fails in single iterations: {}",
                                    label,
                                    verdict.name,
                                    every_text(*verdict.every)));
      }
    }
  }
  return lines;
}

std::string verdict_lines(const Summary& summary, std::size_t methods) {
  const auto shown = measured_assumptions(summary);
  std::vector<std::vector<std::string>> rows{{"in every iteration / on average"}};
  for (const std::size_t i : shown) {
    rows[0].emplace_back(summary.groups[0].assumptions[i].verdict.name);
  }
  const bool with_factors =
      std::any_of(summary.groups.begin(), summary.groups.end(), has_linear_rate);
  rows[0].insert(rows[0].end(), {"certificate", "slack"});
  if (with_factors) {
    rows[0].emplace_back("proof × problem");
  }
  rows[0].emplace_back("theorems");
  const auto names = printable_labels(summary);
  for (std::size_t g = 0; g < std::min(methods, summary.groups.size()); ++g) {
    const GroupSummary& group = summary.groups[g];
    rows.push_back(verdict_row(group, names.at(group.group.label), shown, with_factors));
  }
  std::string text = aligned_within(rows) + sampling_line(summary);
  if (with_factors) {
    text +=
        "proof × problem: slack of a linear rate in iterations, by its theorem: what the bound "
        "gives "
        "away against the tight rate, and by how much the problem is better than the worst\n";
  }
  for (const auto& sentence : notices_of(summary)) {
    text += harmless(sentence) + '\n';
  }
  for (const auto& sentence : leak_sentences(summary)) {
    text += harmless(sentence) + '\n';
  }
  return text;
}

}  // namespace residuum::reports
