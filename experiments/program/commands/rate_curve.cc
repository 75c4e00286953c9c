#include "experiments/program/commands/rate_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reports/terminal/table.h"

namespace residuum {
namespace {

constexpr std::array kMultiples{0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 1.0, 1.01, 1.02, 1.05, 1.1};

/// Returns the worst case of the method that the question is of: what its workers keep decides.
const WorstCase* own_worst_case(const RateQuestion& question) {
  const auto* const own =
      std::find_if(kWorstCases.begin(), kWorstCases.end(), [&](const WorstCase& worst) {
        return worst.kept == question.facts.feedback.memory;
      });
  return question.of.empty() || own == kWorstCases.end() ? nullptr : own;
}

/// Returns the multiples of the best step, with that of the method's own step.
std::vector<double> multiples_of(const RateQuestion& question) {
  std::vector<double> multiples(kMultiples.begin(), kMultiples.end());
  const WorstCase* const own = own_worst_case(question);
  if (own == nullptr || !question.own_step) {
    return multiples;
  }
  constexpr double kRounding = 1e-9;
  const double multiple = *question.own_step / best_step(*own, question);
  const bool is_there = std::any_of(multiples.begin(), multiples.end(), [&](double other) {
    return std::abs(other - multiple) <= kRounding * multiple;
  });
  if (!is_there) {
    multiples.insert(std::upper_bound(multiples.begin(), multiples.end(), multiple), multiple);
  }
  return multiples;
}

bool is_same_step(double a, double b) {
  constexpr double kRounding = 1e-9;
  return std::abs(a - b) <= kRounding * b;
}

std::optional<double> factor_of(const std::optional<ContractionRate>& rate) {
  return rate ? std::optional(rate->rate) : std::nullopt;
}

/// The bounds are those of theorems, or the closed form of methods without memory.
std::vector<std::optional<double>> bounds_at(const WorstCase& worst,
                                             const RateQuestion& question,
                                             const std::vector<const Theorem*>& theorems) {
  std::vector<std::optional<double>> bounds;
  if (!worst.kept) {
    bounds.push_back(
        factor_of(row_without_memory(worst.method == DescentMethod::dense, question).rate));
  }
  for (const Theorem* theorem : theorems) {
    bounds.push_back(factor_of(theorem->linear_rate(question.problem, question.step)));
  }
  return bounds;
}

RateCurve curve_of(const WorstCase& worst, const RateQuestion& question) {
  RateCurve curve{.worst = &worst,
                  .obstacle = obstacle_of(worst, question),
                  .error_weight = question.error_weight};
  if (!curve.obstacle.empty()) {
    return curve;
  }
  const auto theorems = theorems_for(worst, question);
  if (!worst.kept) {
    curve.bounds.emplace_back("closed form");
  }
  for (const Theorem* theorem : theorems) {
    curve.bounds.emplace_back(theorem->name);
  }
  for (const double multiple : multiples_of(question)) {
    RateQuestion at = question;
    at.step = multiple * best_step(worst, question);
    const RateRow row = row_of_worst_case(worst, at);
    RateAtStep point{.multiple = multiple,
                     .step = *at.step,
                     .proved = factor_of(row.rate),
                     .reached = row.reached,
                     .bounds = bounds_at(worst, at, theorems)};
    if (own_worst_case(question) == &worst && question.measured &&
        is_same_step(question.measured->step, point.step)) {
      point.measured = question.measured->factor;
    }
    curve.points.push_back(std::move(point));
  }
  return curve;
}

std::string rounded_text(const std::optional<double>& rate) {
  return rate ? rate_text(*rate) : "–";
}

bool has_measured(const RateCurve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), [](const RateAtStep& point) {
    return point.measured.has_value();
  });
}

std::vector<std::string> cells_of(const RateAtStep& point, bool with_measured) {
  std::vector<std::string> cells{fmt::format("{:.4g}", point.multiple),
                                 number_text(point.step, 6),
                                 proved_text(point.proved),
                                 rounded_text(point.reached)};
  for (const auto& bound : point.bounds) {
    cells.push_back(rounded_text(bound));
  }
  if (with_measured) {
    cells.push_back(rounded_text(point.measured));
  }
  return cells;
}

/// The name, with the weight where the method has one.
std::string label_of(const RateCurve& curve) {
  return curve.worst->method == DescentMethod::econtrol
             ? fmt::format("{}, w = {:g}", curve.worst->name, curve.error_weight)
             : std::string(curve.worst->name);
}

void print_curve(const RateCurve& curve) {
  if (!curve.obstacle.empty()) {
    fmt::print("\n{}: {}\n", label_of(curve), curve.obstacle);
    return;
  }
  std::vector<std::string> head{"of the best step", "step", label_of(curve), "reached"};
  head.insert(head.end(), curve.bounds.begin(), curve.bounds.end());
  const bool with_measured = has_measured(curve);
  if (with_measured) {
    head.emplace_back("measured");
  }
  std::vector<std::vector<std::string>> cells{head};
  for (const auto& point : curve.points) {
    cells.push_back(cells_of(point, with_measured));
  }
  fmt::print("\n{}", reports::aligned(cells));
}

/// Returns the multiples that all curves share.
std::vector<double> multiples_of(const std::vector<RateCurve>& curves) {
  std::vector<double> multiples;
  for (const auto& curve : curves) {
    for (std::size_t i = multiples.size(); i < curve.points.size(); ++i) {
      multiples.push_back(curve.points[i].multiple);
    }
  }
  return multiples;
}

/// Returns the point of a curve; of a method that has none, why.
reports::Json json_at(const RateCurve& curve, std::size_t place) {
  reports::Json json{{"step", nullptr}, {"factor", nullptr}, {"note", curve.obstacle}};
  if (place >= curve.points.size()) {
    return json;
  }
  const RateAtStep& point = curve.points[place];
  auto bounds = reports::Json::object();
  for (std::size_t i = 0; i < point.bounds.size(); ++i) {
    bounds[curve.bounds[i]] = reports::json_number(point.bounds[i]);
  }
  json["step"] = reports::json_number(point.step);
  json["factor"] = reports::json_number(point.proved);
  json["reached"] = reports::json_number(point.reached);
  json["bounds"] = std::move(bounds);
  json["measured"] = reports::json_number(point.measured);
  return json;
}

// --- The figure ----------------------------------------------------------------------------------

using Factor = std::optional<double> (*)(const RateAtStep&, std::size_t);

/// Returns 1 - factor over steps; absent where that is not above 0.
reports::Curve drawn(const RateCurve& curve, std::string label, Factor factor, std::size_t which) {
  reports::Curve made;
  made.label = std::move(label);
  for (const auto& point : curve.points) {
    const auto at = factor(point, which);
    reports::Point drawn_point;
    drawn_point.x = point.step;
    drawn_point.middle = at && *at < 1 ? std::optional(1 - *at) : std::nullopt;
    made.points.push_back(drawn_point);
  }
  return made;
}

bool has_points(const reports::Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(), [](const reports::Point& point) {
    return point.middle.has_value();
  });
}

void add_curves(const RateCurve& curve, std::vector<reports::Curve>& all) {
  const auto add = [&](reports::Curve made, bool is_bound) {
    if (has_points(made)) {
      made.is_bound = is_bound;
      made.style = all.size();
      all.push_back(std::move(made));
    }
  };
  const std::string name = label_of(curve);
  add(drawn(
          curve, name, [](const RateAtStep& at, std::size_t) { return at.proved; }, 0),
      false);
  add(drawn(
          curve,
          name + ", reached",
          [](const RateAtStep& at, std::size_t) { return at.reached; },
          0),
      false);
  add(drawn(
          curve, "measured", [](const RateAtStep& at, std::size_t) { return at.measured; }, 0),
      false);
  for (std::size_t i = 0; i < curve.bounds.size(); ++i) {
    add(drawn(
            curve,
            curve.bounds[i],
            [](const RateAtStep& at, std::size_t which) { return at.bounds[which]; },
            i),
        true);
  }
}

}  // namespace

std::vector<RateCurve> rate_curves(const RateQuestion& question, const std::string& method) {
  std::vector<RateCurve> curves;
  for (const auto& worst : kWorstCases) {
    if (method.empty() || method == worst.name) {
      curves.push_back(curve_of(worst, question));
    }
  }
  return curves;
}

std::optional<reports::FigureSpec> curve_figure(const std::vector<RateCurve>& curves) {
  reports::FigureSpec spec;
  spec.name = "steps";
  spec.x_label = "step";
  spec.y_label = "1 - factor of an iteration";
  spec.x_scale = reports::Scale::log;
  spec.y_scale = reports::Scale::log;
  spec.paper = reports::PaperSize();
  for (const auto& curve : curves) {
    if (curve.obstacle.empty()) {
      add_curves(curve, spec.curves);
    }
  }
  return spec.curves.empty() ? std::nullopt : std::optional(spec);
}

void print_curves(const std::vector<RateCurve>& curves) {
  for (const auto& curve : curves) {
    print_curve(curve);
  }
  fmt::print(
      "\nreached: the slowest quadratic with a linear compressor that a search finds. 'residuum "
      "falsify --against tight-rate' searches at the tight step alone, and is left out.\n");
}

reports::Json curves_json(const std::vector<RateCurve>& curves) {
  auto rows = reports::Json::array();
  for (const double multiple : multiples_of(curves)) {
    auto methods = reports::Json::object();
    for (const auto& curve : curves) {
      methods[std::string(curve.worst->name)] = json_at(curve, rows.size());
    }
    rows.push_back({{"of_best_step", multiple}, {"methods", std::move(methods)}});
  }
  return rows;
}

}  // namespace residuum
