#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

using HtmlRow = std::vector<Cell>;

constexpr std::size_t kMostMethodsDrawn = 6;
constexpr std::string_view kResidualBoundCaption =
    " Thin and grey: what its expectation cannot exceed if the residuals contract by q in every "
    "iteration, Q(q) = q/(1 − √q)², with the largest window means of q and of G², the mean of "
    "‖G_p‖² over the workers.";

std::string_view css_class(BoundVerdict verdict) {
  switch (verdict) {
    case BoundVerdict::holds:
      return "pass";
    case BoundVerdict::fails:
      return "fail";
    case BoundVerdict::marginal:
      return "known";
    default:
      return "none";
  }
}

std::string badge(BoundVerdict verdict) {
  return fmt::format("<span class=\"{}\">{}</span>", css_class(verdict), verdict_text(verdict));
}

std::string small_if_any(const std::string& text) {
  return text.empty() ? std::string() : small(text);
}

Cell verdict_cell(const Bound& bound) {
  return {.html = badge(bound.verdict) + small_if_any(bound.reason) + small_if_any(bound.remarks),
          .is_number = false};
}

Cell certificate_cell(const GroupSummary& group) {
  const TheoremSummary* certificate = group.certificate();
  if (certificate == nullptr) {
    return text_cell("–");
  }
  Cell cell{.html = badge(certificate->bound.verdict), .is_number = false};
  if (certificate->bound.slack) {
    cell.html += small_if_any(fmt::format("slack {}", short_number(certificate->bound.slack)));
  } else {
    cell.html += small_if_any(certificate->bound.reason);
  }
  return cell;
}

/// Shows the theorem with the least right side, of those on gradients that could be evaluated.
Cell tightest_cell(const GroupSummary& group) {
  const TheoremSummary* best = nullptr;
  for (const auto& one : group.theorems) {
    const bool is_gradient = one.bound.left == group.theorems.front().bound.left;
    const bool is_other = &one != group.certificate();
    if (one.bound.rhs && is_gradient && is_other &&
        (best == nullptr || *one.bound.rhs < *best->bound.rhs)) {
      best = &one;
    }
  }
  if (best == nullptr) {
    return text_cell("–");
  }
  return {.html = escape(best->theorem->name) +
                  small_if_any(fmt::format("slack {}", short_number(best->bound.slack))),
          .is_number = false};
}

Cell names_cell(const GroupSummary& group, BoundVerdict verdict) {
  std::string names;
  for (const auto& one : group.theorems) {
    if (one.bound.verdict == verdict) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", one.theorem->name);
    }
  }
  return text_cell(names.empty() ? "–" : names);
}

std::string share_text(const BoundTerm& term, const Bound& bound) {
  const bool has_share = bound.rhs && *bound.rhs > 0;
  return fmt::format("{} {}: {} = {}",
                     attribution_text(term.attribution),
                     has_share ? percent(term.value / *bound.rhs) : std::string(),
                     term.formula,
                     short_number(term.value));
}

Cell terms_cell(const Bound& bound) {
  Cell cell{.html = {}, .is_number = false};
  for (const auto& term : bound.terms) {
    cell.html += fmt::format("<div>{}</div>", escape(share_text(term, bound)));
  }
  return cell;
}

Cell constants_cell(const Bound& bound) {
  Cell cell{.html = {}, .is_number = false};
  for (const auto& constant : bound.constants) {
    cell.html += small_if_any(
        fmt::format("{} = {}: {}", constant.symbol, short_number(constant.value), constant.origin));
  }
  return cell;
}

/// Shows the slack, and of a linear rate its two factors.
Cell slack_cell(const Bound& bound) {
  Cell cell = number_cell(short_number(bound.slack));
  if (bound.rates && bound.rates->of_proof()) {
    cell.html +=
        small_if_any(fmt::format("in iterations: proof {}", short_number(bound.rates->of_proof())));
  }
  if (bound.rates && bound.rates->of_problem()) {
    cell.html += small_if_any(fmt::format("problem {}", short_number(bound.rates->of_problem())));
  }
  return cell;
}

HtmlRow row_of(const TheoremSummary& one) {
  const Bound& bound = one.bound;
  return {{.html = fmt::format("<b>{}</b>", escape(one.theorem->name)) +
                   small_if_any(std::string(one.theorem->statement)) +
                   small_if_any(std::string(one.theorem->paper)),
           .is_number = false},
          verdict_cell(bound),
          number_cell(short_number(bound.lhs)),
          number_cell(short_number(bound.rhs)),
          slack_cell(bound),
          number_cell(short_number(bound.horizon)),
          terms_cell(bound),
          constants_cell(bound)};
}

/// Returns a table of the theorems that apply to the method.
std::string judged_table(const GroupSummary& group) {
  const HtmlRow header{text_cell("theorem"),
                       text_cell("verdict"),
                       number_cell("left"),
                       number_cell("right"),
                       number_cell("slack"),
                       number_cell("T*"),
                       text_cell("what the right side is owed to"),
                       text_cell("constants")};
  std::vector<HtmlRow> rows;
  for (const auto& one : group.theorems) {
    if (one.bound.verdict != BoundVerdict::not_applicable) {
      rows.push_back(row_of(one));
    }
  }
  return table(header, rows);
}

/// Returns a table of the theorems that do not apply, and which precondition was not met.
std::string refused_table(const GroupSummary& group) {
  std::vector<HtmlRow> rows;
  for (const auto& one : group.theorems) {
    if (one.bound.verdict == BoundVerdict::not_applicable) {
      rows.push_back({text_cell(one.theorem->name), text_cell(one.bound.reason)});
    }
  }
  if (rows.empty()) {
    return {};
  }
  return table({text_cell("does not apply"), text_cell("precondition that is not met")}, rows);
}

Curve curve_of(const Bound& bound, std::string label, bool is_left) {
  Curve curve;
  curve.label = std::move(label);
  for (const auto& point : bound.curve) {
    curve.points.push_back({.x = point.iterations,
                            .middle = is_left ? point.lhs : point.rhs,
                            .lower = std::nullopt,
                            .upper = std::nullopt,
                            .n = 1});
  }
  return curve;
}

/// Returns the theorem's name and the formula of its right side.
std::string bound_label(const TheoremSummary& one) {
  std::string label(one.theorem->name);
  for (std::size_t i = 0; i < one.bound.terms.size(); ++i) {
    label += (i == 0 ? ": " : " + ") + one.bound.terms[i].formula;
  }
  return label;
}

/// Returns one left side and the bounds that share it; empty where none could be formed.
std::vector<Curve> curves_of(const GroupSummary& group, const std::string& left) {
  const TheoremSummary* longest = nullptr;
  std::vector<Curve> bounds;
  for (const auto& one : group.theorems) {
    if (one.bound.curve.empty() || one.bound.left != left) {
      continue;
    }
    if (longest == nullptr || one.bound.curve.size() > longest->bound.curve.size()) {
      longest = &one;
    }
    Curve curve = curve_of(one.bound, bound_label(one), false);
    curve.style = bounds.size();
    curve.is_bound = true;
    bounds.push_back(std::move(curve));
  }
  if (longest != nullptr) {
    bounds.insert(bounds.begin(), curve_of(longest->bound, left, true));
  }
  return bounds;
}

std::vector<std::string> left_sides(const GroupSummary& group) {
  std::vector<std::string> sides;
  for (const auto& one : group.theorems) {
    if (std::find(sides.begin(), sides.end(), one.bound.left) == sides.end()) {
      sides.push_back(one.bound.left);
    }
  }
  return sides;
}

}  // namespace

std::string theorem_overview(const Summary& summary) {
  const HtmlRow header{text_cell("method"),
                       text_cell("certificate"),
                       text_cell("tightest other bound"),
                       text_cell("hold"),
                       text_cell("marginal"),
                       text_cell("fail"),
                       text_cell("undecided"),
                       text_cell("not measured")};
  std::vector<HtmlRow> rows;
  TableUse use;
  for (const auto& group : summary.groups) {
    use.methods.emplace_back(use.methods.size());
    rows.push_back({method_cell(group),
                    certificate_cell(group),
                    tightest_cell(group),
                    names_cell(group, BoundVerdict::holds),
                    names_cell(group, BoundVerdict::marginal),
                    names_cell(group, BoundVerdict::fails),
                    names_cell(group, BoundVerdict::undecided),
                    names_cell(group, BoundVerdict::not_measured)});
  }
  return table(header, rows, use);
}

std::string theorem_details(const Summary& summary) {
  std::string html;
  for (std::size_t g = 0; g < summary.groups.size(); ++g) {
    const GroupSummary& group = summary.groups[g];
    html += fmt::format("<details data-of=\"{}\"><summary>{}</summary>\n{}{}</details>\n",
                        g,
                        escape(group.group.label),
                        judged_table(group),
                        refused_table(group));
  }
  return html;
}

std::vector<ReportFigure> plan_bound_figures(const Summary& summary) {
  std::vector<ReportFigure> figures;
  const auto styles = method_styles(summary.folder, groups_of(summary));
  std::size_t methods = 0;
  for (std::size_t place = 0; place < summary.groups.size(); ++place) {
    const GroupSummary& group = summary.groups[place];
    const std::size_t before = figures.size();
    for (const auto& left : left_sides(group)) {
      std::vector<Curve> curves = curves_of(group, left);
      if (curves.empty()) {
        continue;
      }
      ReportFigure figure;
      figure.title = fmt::format("Bounds of {} — {}", left, group.group.label);
      figure.caption =
          "Over the first T iterations: the left side of the theorems (solid, mean over the seeds) "
          "and what they allow with the measured constants (thin, grey). A bound below the solid "
          "line "
          "is broken; one far above says little.";
      figure.spec.name = fmt::format("bounds-{}", figures.size() + 1);
      figure.spec.x_label = "iterations T";
      figure.spec.y_label = left;
      figure.spec.x_scale = Scale::log;
      figure.spec.y_scale = scale_for(curves, 5);
      figure.spec.is_of_one_method = true;
      curves.front().style = styles[place];
      curves.front().label += ", " + group.group.label;
      for (Curve& curve : curves) {
        curve.group = place;
      }
      figure.spec.curves = std::move(curves);
      figures.push_back(std::move(figure));
    }
    methods += figures.size() > before ? 1 : 0;
    if (methods == kMostMethodsDrawn) {
      break;
    }
  }
  return figures;
}

std::vector<MethodBound> residual_bounds(const Summary& summary) {
  std::vector<MethodBound> bounds;
  for (std::size_t i = 0; i < summary.groups.size(); ++i) {
    const auto& bound = summary.groups[i].residual_bound;
    if (!bound) {
      continue;
    }
    const Run& run = summary.folder.runs[summary.groups[i].group.runs.front()];
    const bool in_gradients = run.facts.feedback.in_gradient_units;
    bounds.push_back({.group = i,
                      .column = Column::residual_norm_sq,
                      .value = *bound,
                      .formula = in_gradients ? "Q(q) G²" : "Q(q) η² G²",
                      .caption = kResidualBoundCaption});
  }
  return bounds;
}

}  // namespace residuum::reports
