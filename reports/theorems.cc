#include "reports/theorems.h"

#include <fmt/format.h>

#include <utility>

#include "core/text.h"
#include "reports/csv.h"
#include "reports/html.h"
#include "reports/table.h"

namespace residuum::reports {
namespace {

Json terms_json(const Bound& bound) {
  Json terms = Json::array();
  for (const auto& term : bound.terms) {
    const bool has_share = bound.rhs && *bound.rhs > 0;
    terms.push_back({{"attribution", attribution_text(term.attribution)},
                     {"formula", term.formula},
                     {"value", json_number(term.value)},
                     {"share", has_share ? json_number(term.value / *bound.rhs) : Json(nullptr)}});
  }
  return terms;
}

Json preconditions_json(const Bound& bound) {
  Json preconditions = Json::array();
  for (const auto& one : bound.preconditions) {
    preconditions.push_back({{"statement", one.statement},
                             {"met", one.state != PreconditionState::not_met},
                             {"state", precondition_text(one.state)},
                             {"detail", one.detail}});
  }
  return preconditions;
}

Json constants_json(const Bound& bound) {
  Json constants = Json::array();
  for (const auto& one : bound.constants) {
    constants.push_back(
        {{"symbol", one.symbol}, {"value", json_number(one.value)}, {"origin", one.origin}});
  }
  return constants;
}

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

}  // namespace

std::vector<TheoremSummary> judge_theorems(const Evidence& evidence) {
  std::vector<TheoremSummary> all;
  for (const auto& theorem : residuum::theorems()) {
    all.push_back({.theorem = &theorem, .bound = theorem.evaluate(evidence)});
  }
  return all;
}

Json to_json(const TheoremSummary& summary) {
  const Bound& bound = summary.bound;
  Json interval = nullptr;
  if (bound.excess) {
    interval = Json::array({json_number(bound.excess->low), json_number(bound.excess->high)});
  }
  return {{"name", summary.theorem->name},
          {"verdict", verdict_text(bound.verdict)},
          {"reason", bound.reason},
          {"left", bound.left},
          {"iterations", json_number(bound.iterations)},
          {"seeds", bound.seeds},
          {"lhs", json_number(bound.lhs)},
          {"rhs", json_number(bound.rhs)},
          {"slack", json_number(bound.slack)},
          {"interval_of_lhs_minus_rhs", interval},
          {"p_value", json_number(bound.p_value)},
          {"horizon", json_number(bound.horizon)},
          {"remarks", bound.remarks},
          {"terms", terms_json(bound)},
          {"preconditions", preconditions_json(bound)},
          {"constants", constants_json(bound)}};
}

std::string bounds_csv(const Summary& summary) {
  std::string text = "method,theorem,iterations,lhs,rhs\n";
  for (const auto& group : summary.groups) {
    const std::string method = csv_field(group.group.label);
    for (const auto& [theorem, bound] : group.theorems) {
      for (const auto& point : bound.curve) {
        text += fmt::format("{},{},{},{},{}\n",
                            method,
                            theorem->name,
                            format_integer(point.iterations),
                            format_number(point.lhs),
                            format_number(point.rhs));
      }
    }
  }
  return text;
}

namespace {

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

/// What the bound is made of and rests on, a line each.
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
  for (const auto& group : summary.groups) {
    const TheoremSummary* one = group.theorem(name);
    if (one == nullptr) {
      continue;
    }
    const Bound& bound = one->bound;
    text += fmt::format("{}: {}\n", printable(group.group.label), verdict_text(bound.verdict));
    for (const auto& words : {bound.reason, bound.remarks}) {
      text += words.empty() ? "" : "  " + harmless(words) + "\n";
    }
    text += sides_text(bound) + parts_text(bound);
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
