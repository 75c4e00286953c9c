#pragma once
// Rates over steps, for `residuum rate --curve`: the proved worst case, the rate that a problem
// reaches, the bounds of the registry, and the rates of the runs.

#include <optional>
#include <string>
#include <vector>

#include "experiments/program/commands/rate_rows.h"
#include "reports/figures/figure.h"

namespace residuum {

/// Factors of one iteration at one step; an absent rate is not known, or 1 or more for `proved`.
struct RateAtStep {
  double multiple = 1;  // of the method's best step
  double step = 0;
  std::optional<double> proved;
  std::optional<double> reached;              // by slowest_linear(); may be above 1
  std::vector<std::optional<double>> bounds;  // by the theorems of the curve
  std::optional<double> measured = {};
};

struct RateCurve {
  const WorstCase* worst = nullptr;
  std::string obstacle;                  // why there is no curve; empty where there is one
  double error_weight = 0;               // of EControl
  std::vector<std::string> bounds = {};  // names of theorems, or of the closed form
  std::vector<RateAtStep> points = {};   // by rising steps, the same multiples for all methods
};

/// Returns the curves of all worst cases, or of the one with that name; of a theorem's name none.
std::vector<RateCurve> rate_curves(const RateQuestion& question, const std::string& method);

/// Draws 1 - factor over steps, on logarithmic axes. Absent where there is nothing to draw.
std::optional<reports::FigureSpec> curve_figure(const std::vector<RateCurve>& curves);

void print_curves(const std::vector<RateCurve>& curves);

/// Returns an object for each multiple, with all methods.
reports::Json curves_json(const std::vector<RateCurve>& curves);

}  // namespace residuum
