#include "reports/terminal/theorem_text.h"

#include <fmt/format.h>

#include <utility>

#include "core/text.h"
#include "reports/analysis/words.h"
#include "reports/terminal/printable_names.h"

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

}  // namespace residuum::reports
