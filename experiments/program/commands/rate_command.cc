// `residuum rate` says what linear rates the theory of compressed descent has at given constants:
// the tight rate of error feedback, the bounds of the registry, and descent without memory; in
// iterations and bytes to an accuracy, and over densities. At any other step it has the worst case
// that a semidefinite programme finds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/theorems/tight.h"
#include "core/aggregators/aggregator.h"
#include "core/schedules/tight_rate.h"
#include "core/text.h"
#include "core/training/method_facts.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/rate_rows.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/planned_runs.h"
#include "experiments/program/runs/run_status.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/worker_smoothness.h"
#include "objectives/data/catalogue.h"
#include "reports/analysis/words.h"
#include "reports/figures/paper_figure.h"
#include "reports/results/result_folder.h"
#include "reports/results/run_facts.h"
#include "reports/terminal/table.h"
#include "reports/verdicts/evidence.h"
#include "reports/verdicts/summary.h"

namespace residuum {
namespace {

using OrderedJson = reports::Json;
using reports::json_number;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// --- Densities -----------------------------------------------------------------------------------

struct DensityRow {
  double k = 1;
  double density = 1;  // k/d
  double step = 0;
  double rate = 1;
  double gap = 0;  // 1 - rate
  std::optional<double> iterations;
  std::optional<double> bytes;  // to the accuracy
};

/// With all entries sent error feedback has nothing to remember: it is gradient descent.
DensityRow density_row(const RateQuestion& question, double k) {
  const auto d = static_cast<double>(question.dimension);
  CompressedProblem problem = question.problem;
  problem.contraction = k / d;
  const double gap = tight_gap(problem);
  const auto iterations = iterations_to(question.accuracy, gap);
  return {
      .k = k,
      .density = k / d,
      .step = tight_step(problem),
      .rate = tight_rate(problem),
      .gap = gap,
      .iterations = iterations,
      .bytes = bytes_of(iterations, bytes_of_exchange(k < d ? "allgather" : "dense", question, k))};
}

/// Returns the numbers of entries that are nearest to d^(-i/steps), i = 0, 1, ..., without repeats.
std::vector<double> entries_down_to_one(const RateQuestion& question, int steps) {
  const double least = std::log(1 / static_cast<double>(question.dimension));
  std::vector<double> entries;
  entries.reserve(static_cast<std::size_t>(steps) + 1);
  for (int i = 0; i <= steps; ++i) {
    entries.push_back(entries_at(question, std::exp(least * i / steps)));
  }
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

/// Densities that round to the same k have one row.
std::vector<DensityRow> density_rows(const RateQuestion& question) {
  constexpr std::array kDensities{1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001};
  std::vector<DensityRow> rows;
  rows.reserve(kDensities.size());
  for (const double density : kDensities) {
    const double k = entries_at(question, density);
    if (rows.empty() || rows.back().k != k) {
      rows.push_back(density_row(question, k));
    }
  }
  return rows;
}

/// Returns the density of the fewest bytes, of 400 from 1 to 1/d in equal ratios.
DensityRow cheapest_density(const RateQuestion& question) {
  constexpr int kSteps = 400;
  const auto bytes = [](const DensityRow& row) {
    return row.bytes.value_or(std::numeric_limits<double>::infinity());
  };
  DensityRow best = density_row(question, static_cast<double>(question.dimension));
  for (const double k : entries_down_to_one(question, kSteps)) {
    const DensityRow row = density_row(question, k);
    best = bytes(row) < bytes(best) ? row : best;
  }
  return best;
}

/// Returns the bytes to the accuracy with messages of k entries by a bound of the registry; absent
/// where it has none.
std::optional<double> bytes_by(const Theorem& theorem, const RateQuestion& question, double k) {
  CompressedProblem problem = question.problem;
  problem.contraction = k / static_cast<double>(question.dimension);
  const auto rate = theorem.linear_rate(problem, {});
  return rate ? bytes_of(iterations_to(question.accuracy, 1 - rate->rate),
                         bytes_of_exchange("allgather", question, k))
              : std::nullopt;
}

/// The bytes of a worker over densities below 1, by the tight rate and by the bounds of the
/// registry, with the density of the fewest.
reports::FigureSpec density_figure(const RateQuestion& question) {
  constexpr int kPoints = 60;
  reports::FigureSpec spec;
  spec.name = "densities";
  spec.x_label = "density k/d";
  spec.y_label = "bytes per worker";
  spec.x_scale = reports::Scale::log;
  spec.y_scale = reports::Scale::log;
  spec.paper = reports::PaperSize();
  const auto point = [](double density, std::optional<double> bytes) {
    reports::Point made;
    made.x = density;
    made.middle = bytes;
    return made;
  };
  const auto d = static_cast<double>(question.dimension);
  auto entries = entries_down_to_one(question, kPoints);
  entries.erase(entries.begin());  // all of them
  std::reverse(entries.begin(), entries.end());
  const auto add_curve = [&](const std::string& label, bool is_bound, const auto& bytes_at) {
    reports::Curve curve;
    curve.label = label;
    curve.style = spec.curves.size();
    curve.is_bound = is_bound;
    curve.points.reserve(entries.size());
    for (const double k : entries) {
      curve.points.push_back(point(k / d, bytes_at(k)));
    }
    spec.curves.push_back(std::move(curve));
  };
  add_curve(
      "EF14 and EF21, tight rate", false, [&](double k) { return density_row(question, k).bytes; });
  const DensityRow best = cheapest_density(question);
  reports::Curve mark;
  mark.label = fmt::format("fewest: {} bytes at density {:.3g}",
                           number_text(best.bytes.value_or(kUnknown), 3),
                           best.density);
  mark.style = 1;
  mark.points = {point(best.density, best.bytes)};
  spec.curves.push_back(std::move(mark));
  for (const auto& theorem : theorems()) {
    const double half = entries_at(question, 0.5);
    const auto of_question =
        theorem.linear_rate != nullptr ? bytes_by(theorem, question, half) : std::nullopt;
    if (of_question && of_question != density_row(question, half).bytes) {
      add_curve(std::string(theorem.name), true, [&](double k) {
        return bytes_by(theorem, question, k);
      });
    }
  }
  const auto all = density_row(question, d).bytes;
  require(all.has_value(), "--figure has nothing to draw: no number of iterations is enough");
  spec.reference = reports::Reference{.y = *all, .label = "all entries, all-reduce"};
  return spec;
}

// --- Curves over steps ---------------------------------------------------------------------------

// The proved worst case, the rate that a problem reaches, the bounds of the registry, and the rates
// of the runs.

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
OrderedJson json_at(const RateCurve& curve, std::size_t place) {
  OrderedJson json{{"step", nullptr}, {"factor", nullptr}, {"note", curve.obstacle}};
  if (place >= curve.points.size()) {
    return json;
  }
  const RateAtStep& point = curve.points[place];
  auto bounds = OrderedJson::object();
  for (std::size_t i = 0; i < point.bounds.size(); ++i) {
    bounds[curve.bounds[i]] = json_number(point.bounds[i]);
  }
  json["step"] = json_number(point.step);
  json["factor"] = json_number(point.proved);
  json["reached"] = json_number(point.reached);
  json["bounds"] = std::move(bounds);
  json["measured"] = json_number(point.measured);
  return json;
}

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

/// Returns the curves of all worst cases, or of the one with that name; of a theorem's name none.
std::vector<RateCurve> rate_curves(const RateQuestion& question, const std::string& method) {
  std::vector<RateCurve> curves;
  for (const auto& worst : kWorstCases) {
    if (method.empty() || method == worst.name) {
      curves.push_back(curve_of(worst, question));
    }
  }
  return curves;
}

/// Draws 1 - factor over steps, on logarithmic axes. Absent where there is nothing to draw.
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

/// Returns an object for each multiple, with all methods.
OrderedJson curves_json(const std::vector<RateCurve>& curves) {
  auto rows = OrderedJson::array();
  for (const double multiple : multiples_of(curves)) {
    auto methods = OrderedJson::object();
    for (const auto& curve : curves) {
      methods[std::string(curve.worst->name)] = json_at(curve, rows.size());
    }
    rows.push_back({{"of_best_step", multiple}, {"methods", std::move(methods)}});
  }
  return rows;
}

// --- The figure ----------------------------------------------------------------------------------

/// Returns what --figure draws for a question; throws where there is nothing to draw.
reports::FigureSpec figure_of(const RateOptions& given, const RateQuestion& question) {
  if (given.curve) {
    const auto curves = rate_curves(question, given.method);
    auto figure = curve_figure(curves);
    require(figure.has_value(), "--figure has no curve to draw: {}", curves.front().obstacle);
    return *figure;
  }
  std::string obstacle = obstacle_of_rates(question);
  obstacle = obstacle.empty() ? obstacle_of_tight_rates(question) : obstacle;
  require(obstacle.empty(), "--figure draws what tight rates cost; of this method: {}", obstacle);
  require(question.workers > 1,
          "--figure draws the bytes that a worker sends, and a single one sends none; give "
          "--workers");
  require(question.dimension > 1, "--figure needs --dim above 1, to have densities");
  return density_figure(question);
}

/// Draws into the file that --figure names, if it is given.
void draw_figure(const RateOptions& given, const std::vector<RateQuestion>& questions) {
  if (!given.figure) {
    return;
  }
  const auto ending = given.figure->extension();
  require(ending == ".svg" || ending == ".pdf" || ending == ".tex",
          "--figure {} must end in .svg, .pdf or .tex",
          given.figure->string());
  reports::require_figure_file(*given.figure);
  require(questions.size() == 1,
          "--figure draws one method, and there are {}; give its constants",
          questions.size());
  reports::write_paper_figure(figure_of(given, questions.front()), *given.figure);
}

// --- Questions -----------------------------------------------------------------------------------

void check_problem(const RateOptions& given) {
  require(given.smoothness.has_value(), "--smoothness is missing: L of every worker's objective");
  require(given.strong_convexity.has_value(),
          "--strong-convexity is missing: mu of every worker's objective");
  for (const auto& [name, constant] : {std::pair{"--smoothness", *given.smoothness},
                                       std::pair{"--strong-convexity", *given.strong_convexity}}) {
    require(std::isfinite(constant), "{} is {}, but must be finite", name, constant);
  }
  require(*given.smoothness > 0, "--smoothness is {}, but must be above 0", *given.smoothness);
  require(*given.strong_convexity != 0,
          "--strong-convexity is 0: no linear rate is left. What remains is theorem ef21, X_T <= "
          "2 Delta/(eta T) + G0/(theta T); see 'residuum list theorems'");
  require(*given.strong_convexity > 0,
          "--strong-convexity is {}, but must be above 0",
          *given.strong_convexity);
  require(*given.strong_convexity <= *given.smoothness,
          "--strong-convexity {} is above --smoothness {}, but mu is never above L",
          *given.strong_convexity,
          *given.smoothness);
  require(given.density.has_value() != given.contraction.has_value(),
          "give --density or --contraction, one of them");
  for (const auto& [name, share] :
       {std::pair{"--density", given.density}, std::pair{"--contraction", given.contraction}}) {
    require(!share || (*share > 0 && *share <= 1),
            "{} is {}, but must lie in (0, 1]",
            name,
            share.value_or(0));
  }
}

void check_extent(const RateOptions& given) {
  const std::int64_t workers = given.workers.value_or(1);
  require(workers >= 1 && workers <= 1'000'000,
          "--workers is {}, but must be from 1 to 1000000",
          workers);
  const std::int64_t dimension = given.dimension.value_or(1);
  require(dimension >= 1 && dimension < std::int64_t{1} << 32,
          "--dim is {}, but must be from 1 to 2^32 - 1",
          dimension);
  require(given.accuracy > 0 && given.accuracy < 1,
          "--accuracy is {}, but must lie between 0 and 1",
          given.accuracy);
  require(!given.step || (*given.step > 0 && std::isfinite(*given.step)),
          "--step is {}, but must be above 0",
          given.step.value_or(0));
  require(given.local_steps >= 1 && given.local_steps <= kMostLocalSteps,
          "--local-steps is {}, but must be from 1 to {}",
          given.local_steps,
          kMostLocalSteps);
  const double momentum = given.momentum.value_or(0);
  require(momentum >= 0 && momentum < 1, "--momentum is {}, but must lie in [0, 1)", momentum);
  const double error_weight = given.error_weight.value_or(1);
  require(error_weight > 0 && error_weight <= 1,
          "--error-weight is {}, but must lie in (0, 1]",
          error_weight);
  const auto names = rate_methods();
  require(
      given.method.empty() || std::find(names.begin(), names.end(), given.method) != names.end(),
      "--method {}: unknown{}",
      given.method,
      suggestion(given.method, names));
}

/// Returns what the options say of any question.
RateQuestion asked_of_all(const RateOptions& given) {
  RateQuestion question;
  question.accuracy = given.accuracy;
  question.step = given.step;
  question.momentum = given.momentum;
  question.local_steps = static_cast<int>(given.local_steps);
  question.error_weight = given.error_weight.value_or(question.error_weight);
  return question;
}

RateQuestion question_of(const RateOptions& given) {
  check_problem(given);
  RateQuestion question = asked_of_all(given);
  question.workers = static_cast<int>(given.workers.value_or(1));
  question.dimension = given.dimension.value_or(1'000'000);
  question.problem = {.smoothness = *given.smoothness,
                      .strong_convexity = *given.strong_convexity,
                      .contraction = given.contraction.value_or(1)};
  if (given.density) {
    question.k = entries_at(question, *given.density);
    question.problem.contraction = *question.k / static_cast<double>(question.dimension);
  }
  question.facts = facts_of_theory(question.problem, question.workers, question.dimension);
  return question;
}

/// A study or a folder has the constants of its methods; it says nothing of accuracy and step.
void refuse_constants(const RateOptions& given, const char* option) {
  require(!given.smoothness && !given.strong_convexity && !given.density && !given.contraction &&
              !given.workers && !given.dimension,
          "{} has the constants; leave --smoothness, --strong-convexity, --density, --contraction, "
          "--workers and --dim out",
          option);
}

/// A method of a folder or a study, with the constants of its problem.
struct RatedMethod {
  std::string label;
  RunFacts facts;
  CompressedProblem problem;
  std::optional<MeasuredRate> measured = {};
  std::optional<double> step = {};   // if it is constant
  std::optional<double> bytes = {};  // that a worker sends in an iteration
  double value_bytes = sizeof(float);
};

/// Adds the question of a method; nothing, with a note, where no linear rate follows.
void add_question(const RateOptions& given,
                  const RatedMethod& method,
                  std::vector<RateQuestion>& questions) {
  const RunFacts& facts = method.facts;
  if (!method.problem.is_valid()) {
    say(
        fmt::format("note: {}: no linear rate without L, mu > 0 and a share that messages keep "
                    "(L = {:g}, mu = {:g}, share {:g}; 0: not known)",
                    reports::printable(method.label),
                    method.problem.smoothness,
                    method.problem.strong_convexity,
                    method.problem.contraction));
    return;
  }
  RateQuestion question = asked_of_all(given);
  question.of = method.label;
  question.problem = method.problem;
  question.facts = facts;
  question.k = facts.k;
  question.workers = static_cast<int>(facts.workers);
  question.dimension = static_cast<std::int64_t>(facts.dimension);
  if (!given.error_weight) {
    question.error_weight = facts.feedback.error_weight.value_or(question.error_weight);
  }
  question.measured = method.measured;
  question.own_step = method.step;
  question.own_bytes = method.bytes;
  question.value_bytes = method.value_bytes;
  questions.push_back(std::move(question));
}

/// Returns the mean factor of f - f*, from the start to the last look at which it is above what
/// float64 tells of f; of all seeds.
std::optional<double> measured_factor_of_gap(const Evidence& evidence) {
  constexpr double kTold = 1e-9;
  const auto start = evidence.initial_gap().value;
  double log_sum = 0;
  double iterations = 0;
  for (const auto& seed : evidence.seeds()) {
    const auto snapshots = seed.snapshots();
    const auto last = std::find_if(snapshots.rbegin(), snapshots.rend(), [&](const auto& one) {
      return start && one.second.last_gap && *one.second.last_gap > kTold * *start;
    });
    if (last != snapshots.rend() && last->first > 0) {
      log_sum += std::log(*last->second.last_gap / *start);
      iterations += static_cast<double>(last->first);
    }
  }
  return iterations > 0 ? std::optional(std::exp(log_sum / iterations)) : std::nullopt;
}

std::optional<MeasuredRate> measured_rate(const Evidence& evidence) {
  const auto step = evidence.step_size().value;
  const auto of_v = measured_lyapunov_factor(evidence);
  const auto factor = of_v ? of_v : measured_factor_of_gap(evidence);
  if (!step || !factor) {
    return std::nullopt;
  }
  return MeasuredRate{.factor = *factor, .step = *step, .of = of_v ? "V" : "f − f*"};
}

double value_bytes_of(const reports::Run& run) {
  const auto& precision = reports::value_at(run.config, "config.objective.precision");
  return precision == "float64" ? sizeof(double) : sizeof(float);
}

/// Returns the bytes that a worker has sent in an iteration, in the mean of the method's runs.
std::optional<double> measured_bytes(const reports::ResultFolder& folder,
                                     const reports::Group& group) {
  double bytes = 0;
  double worker_iterations = 0;
  for (const std::size_t place : group.runs) {
    const reports::Run& run = folder.runs[place];
    const auto sent = reports::number_at(run.status, "totals.sent_bytes");
    const auto iterations = reports::number_at(run.status, "iterations");
    if (run.has_tables() && sent && iterations) {
      bytes += *sent;
      worker_iterations += *iterations * run.facts.workers;
    }
  }
  return worker_iterations > 0 ? std::optional(bytes / worker_iterations) : std::nullopt;
}

/// Returns the bytes that a worker sends in an iteration, by the model of the aggregator.
template <class Real>
double bytes_by_the_model(const PreparedRun& run, double k) {
  const auto message = static_cast<double>(
      bytes_of_message<Real>(*run.method, 0, static_cast<std::size_t>(k), run.dimension));
  const auto model = run.method->aggregator->traffic_model(
      {.workers = run.workers,
       .entries = run.workers * k,
       .whole_messages = k >= static_cast<double>(run.dimension),
       .dimension = static_cast<double>(run.dimension),
       .k = k,
       .value_bytes = sizeof(Real),
       .coded_bytes = run.workers * message,
       .coded_bytes_are_exact = run.method->quantised_layers.empty()});
  return model.bytes / run.workers;
}

std::optional<double> bytes_by_the_model(const PreparedRun& run, const std::optional<double>& k) {
  if (!k) {
    return std::nullopt;
  }
  return run.training.precision == Precision::float64 ? bytes_by_the_model<double>(run, *k)
                                                      : bytes_by_the_model<float>(run, *k);
}

/// Takes the constants of each method of a result folder. A worker's L that is not known is the
/// largest ratio that was measured, which L cannot be below.
std::vector<RateQuestion> questions_of_results(const RateOptions& given) {
  refuse_constants(given, "--from");
  const auto folder = reports::read_result_folders({*given.from});
  const auto measures = reports::measures_of(folder);
  std::vector<RateQuestion> questions;
  for (const auto& group : reports::group_runs(folder)) {
    const Evidence evidence = reports::evidence_of(folder, group, measures);
    const auto known = evidence.largest_worker_smoothness().value;
    const auto own = evidence.worker_strong_convexity().value;
    const auto smoothness = known ? known : evidence.smoothness().value;
    const auto convexity = own ? own : evidence.strong_convexity().value;
    const bool is_constant = evidence.method().step.constant;
    add_question(given,
                 {.label = group.label,
                  .facts = evidence.method(),
                  .problem = {.smoothness = smoothness.value_or(0),
                              .strong_convexity = convexity.value_or(0),
                              .contraction = evidence.method().sparsifier.contraction.value_or(0)},
                  .measured = measured_rate(evidence),
                  .step = is_constant ? evidence.step_size().value : std::nullopt,
                  .bytes = measured_bytes(folder, group),
                  .value_bytes = value_bytes_of(folder.runs[group.runs.front()])},
                 questions);
  }
  require(!questions.empty(),
          "--from {}: no method has L, mu > 0 and a share that messages keep",
          given.from->string());
  return questions;
}

/// The names come from the configuration, as in a result folder.
RunFacts facts_with_names(const PreparedRun& run) {
  OrderedJson status = OrderedJson::object();
  reports::write_run_facts(run_facts(run), status);
  return reports::read_run_facts(OrderedJson(run.config), status);
}

/// Takes the constants of the runs of a study with its first seed. Nothing is run.
std::vector<RateQuestion> questions_of_study(const Options& options) {
  const RateOptions& given = options.rate;
  refuse_constants(given, "--study");
  Study study = parse_study(read_study_file(*given.study), given.study->string(), {});
  ObjectiveCache objectives({.data_dir = data_directory(options.data_dir),
                             .cache_dir = cache_folder(),
                             .workers = 1,
                             .allow_commands = false});
  KnownKeys known;
  const std::uint64_t first_seed = study.runs.front().seed;
  std::erase_if(study.runs, [&](const RunSpec& spec) { return spec.seed != first_seed; });
  std::vector<PreparedRun> runs;
  runs.reserve(study.runs.size());
  for (const auto& spec : study.runs) {
    runs.push_back(prepare(spec, objectives, known));
  }
  const auto methods = method_names(study, runs);
  std::vector<RateQuestion> questions;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const PreparedRun& run = runs[i];
    const RunFacts facts = facts_with_names(run);
    const auto of_workers = worker_smoothness(run);
    const auto largest = std::max_element(of_workers.begin(), of_workers.end());
    const auto& convexity = facts.objective.worker_strong_convexity;
    add_question(given,
                 {.label = reports::printable(methods[i]),
                  .facts = facts,
                  .problem = {.smoothness = largest == of_workers.end() ? 0 : *largest,
                              .strong_convexity = convexity ? convexity->value : 0,
                              .contraction = facts.sparsifier.contraction.value_or(0)},
                  .measured = std::nullopt,
                  .step = run.method->step_rule->constant(),
                  .bytes = bytes_by_the_model(run, facts.k),
                  .value_bytes = run.training.precision == Precision::float64
                                     ? static_cast<double>(sizeof(double))
                                     : sizeof(float)},
                 questions);
  }
  require(!questions.empty(),
          "--study {}: no method has L, mu > 0 and a share that messages keep",
          given.study->string());
  return questions;
}

std::vector<RateQuestion> questions_of(const Options& options) {
  const RateOptions& given = options.rate;
  require(!given.from || !given.study, "give --from or --study, not both");
  if (given.study) {
    return questions_of_study(options);
  }
  return given.from ? questions_of_results(given) : std::vector<RateQuestion>{question_of(given)};
}

std::vector<std::string_view> worst_case_names() {
  std::vector<std::string_view> names;
  names.reserve(kWorstCases.size());
  for (const auto& worst : kWorstCases) {
    names.push_back(worst.name);
  }
  return names;
}

bool is_worst_case(std::string_view name) {
  const auto names = worst_case_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// --- Text and JSON -------------------------------------------------------------------------------

std::string count_text(const std::optional<double>& count) {
  return count ? fmt::format("{:.0f}", *count) : "–";
}

std::string factor_text(const RateRow& row) {
  if (!row.rate) {
    return "–";
  }
  return row.proof.is_null() ? rate_text(row.rate->rate, row.gap) : proved_text(row.rate->rate);
}

void print_rows(const std::vector<RateRow>& rows) {
  const bool with_reached = std::any_of(
      rows.begin(), rows.end(), [](const RateRow& row) { return row.reached.has_value(); });
  std::vector<std::vector<std::string>> cells{{"", "falls", "step", "factor"}};
  if (with_reached) {
    cells.back().emplace_back("reached");
  }
  for (const char* head : {"iterations", "bytes/worker", "note"}) {
    cells.back().emplace_back(head);
  }
  for (const auto& row : rows) {
    cells.push_back({row.name,
                     row.rate ? std::string(row.rate->of) : "–",
                     row.rate ? number_text(row.rate->step, 6) : "–",
                     factor_text(row)});
    if (with_reached) {
      cells.back().push_back(row.reached ? rate_text(*row.reached) : "–");
    }
    cells.back().push_back(count_text(row.iterations));
    cells.back().push_back(number_text(row.bytes.value_or(kUnknown), 4));
    cells.back().push_back(row.note);
  }
  fmt::print("{}", reports::aligned(cells));
}

void print_densities(const RateQuestion& question) {
  if (const std::string obstacle = obstacle_of_tight_rates(question); !obstacle.empty()) {
    fmt::print("no tight rate over densities: {}\n", obstacle);
    return;
  }
  std::vector<std::vector<std::string>> cells{
      {"k", "density", "step", "tight factor", "iterations", "bytes/worker"}};
  for (const auto& row : density_rows(question)) {
    cells.push_back({fmt::format("{:.0f}", row.k),
                     fmt::format("{:g}", row.density),
                     number_text(row.step, 6),
                     rate_text(row.rate, row.gap),
                     count_text(row.iterations),
                     number_text(row.bytes.value_or(kUnknown), 4)});
  }
  fmt::print("\n{}", reports::aligned(cells));
  const DensityRow best = cheapest_density(question);
  if (question.workers == 1) {
    fmt::print("a single worker sends no bytes: give --workers\n");
    return;
  }
  if (!best.bytes) {
    return;
  }
  fmt::print("fewest bytes in the worst case: k = {:.0f}, density {:.4g}, {:.4g} bytes/worker{}\n",
             best.k,
             best.density,
             *best.bytes,
             best.density < 1 ? "" : " (all entries, by all-reduce)");
}

void print_question(const RateQuestion& question) {
  fmt::print(
      "{}L = {:g}, mu = {:g}, kappa = {}, share kept {:g}{}, P = {}, d = {}, to {:g} of the "
      "start\n",
      question.of.empty() ? "" : reports::printable(question.of) + ": ",
      question.problem.smoothness,
      question.problem.strong_convexity,
      number_text(question.problem.smoothness / question.problem.strong_convexity, 6),
      question.problem.contraction,
      question.k ? fmt::format(" (k = {:g})", *question.k) : "",
      question.workers,
      question.dimension,
      question.accuracy);
}

OrderedJson as_json(const RateRow& row) {
  OrderedJson json{{"name", row.name},
                   {"source", row.source},
                   {"falls", nullptr},
                   {"step", nullptr},
                   {"factor", nullptr},
                   {"one_minus_factor", nullptr},
                   {"reached", json_number(row.reached)},
                   {"iterations", json_number(row.iterations)},
                   {"bytes_per_worker", json_number(row.bytes)},
                   {"note", row.note}};
  if (!row.proof.is_null()) {
    json["proof"] = row.proof;
  }
  if (row.rate) {
    json["falls"] = row.rate->of;
    json["step"] = json_number(row.rate->step);
    json["factor"] = json_number(row.rate->rate);
    json["one_minus_factor"] = json_number(row.gap);
  }
  return json;
}

OrderedJson as_json(const DensityRow& row) {
  return {{"k", json_number(row.k)},
          {"density", json_number(row.density)},
          {"step", json_number(row.step)},
          {"factor", json_number(row.rate)},
          {"one_minus_factor", json_number(row.gap)},
          {"iterations", json_number(row.iterations)},
          {"bytes_per_worker", json_number(row.bytes)}};
}

OrderedJson as_json(const RateQuestion& question, const std::vector<RateRow>& rows) {
  const std::string obstacle = obstacle_of_rates(question);
  const bool has_tight_rates = obstacle.empty() && obstacle_of_tight_rates(question).empty();
  OrderedJson densities = OrderedJson::array();
  if (has_tight_rates) {
    for (const auto& row : density_rows(question)) {
      densities.push_back(as_json(row));
    }
  }
  OrderedJson rates = OrderedJson::array();
  for (const auto& row : rows) {
    rates.push_back(as_json(row));
  }
  return {{"method", question.of.empty() ? OrderedJson() : OrderedJson(question.of)},
          {"smoothness", json_number(question.problem.smoothness)},
          {"strong_convexity", json_number(question.problem.strong_convexity)},
          {"contraction", json_number(question.problem.contraction)},
          {"k", json_number(question.k)},
          {"density",
           question.k ? json_number(*question.k / static_cast<double>(question.dimension))
                      : OrderedJson()},
          {"workers", question.workers},
          {"dimension", question.dimension},
          {"accuracy", json_number(question.accuracy)},
          {"obstacle", obstacle.empty() ? OrderedJson() : OrderedJson(obstacle)},
          {"rates", std::move(rates)},
          {"densities", std::move(densities)},
          {"fewest_bytes", has_tight_rates ? as_json(cheapest_density(question)) : OrderedJson()}};
}

void check_curve(const RateOptions& given, const std::vector<RateQuestion>& questions) {
  if (!given.curve) {
    return;
  }
  require(given.method.empty() || is_worst_case(given.method),
          "--curve is of worst cases; --method {} is none of them: {}",
          given.method,
          fmt::join(worst_case_names(), ", "));
  require(!given.step, "--curve has its own steps; leave --step out");
  for (const auto& question : questions) {
    require(has_worst_cases(question.problem),
            "--curve needs L above mu and a share below 1: L = {:g}, mu = {:g}, share {:g}",
            question.problem.smoothness,
            question.problem.strong_convexity,
            question.problem.contraction);
  }
}

OrderedJson json_of(const RateQuestion& question, const RateOptions& given) {
  OrderedJson json = as_json(question, rows_of(question, given.method));
  if (given.curve && obstacle_of_rates(question).empty()) {
    json["curve"] = curves_json(rate_curves(question, given.method));
  }
  return json;
}

void print_answer(const RateQuestion& question, const RateOptions& given) {
  const auto rows = rows_of(question, given.method);
  print_question(question);
  if (const std::string obstacle = obstacle_of_rates(question); !obstacle.empty()) {
    fmt::print("{}\n", obstacle);
    if (!rows.empty()) {
      print_rows(rows);
    }
    return;
  }
  print_rows(rows);
  if (given.curve) {
    print_curves(rate_curves(question, given.method));
  } else if (given.method.empty()) {
    print_densities(question);
  }
}

}  // namespace

ExitCode rate_command(const Options& options) {
  const RateOptions& given = options.rate;
  check_extent(given);
  const auto questions = questions_of(options);
  check_curve(given, questions);
  draw_figure(given, questions);
  OrderedJson all = OrderedJson::array();
  for (const auto& question : questions) {
    if (options.json) {
      all.push_back(json_of(question, given));
    } else {
      print_answer(question, given);
    }
  }
  if (options.json) {
    print_json(given.from || given.study ? all : all.front());
  }
  return ExitCode::done;
}

}  // namespace residuum
