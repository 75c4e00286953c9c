// `residuum rate` says what linear rates the theory of compressed descent has at given constants:
// the tight rate of error feedback, the bounds of the registry, and descent without memory; in
// iterations and bytes to an accuracy, and over densities. At any other step it has the worst case
// that a semidefinite programme finds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "assumptions/theorems/tight.h"
#include "assumptions/worst_case/worst_rate.h"
#include "core/aggregators/aggregator.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/run_facts.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/worker_smoothness.h"
#include "objectives/data/catalogue.h"
#include "reports/analysis/words.h"
#include "reports/figures/paper_figure.h"
#include "reports/tables/result_folder.h"
#include "reports/terminal/table.h"
#include "reports/verdicts/evidence.h"
#include "reports/verdicts/summary.h"

namespace residuum {
namespace {

using OrderedJson = reports::Json;
using reports::json_number;

/// The rates are asked for these constants, size of the exchange, and how far to go.
struct RateQuestion {
  std::string of;  // a method of --from; empty: the command line
  CompressedProblem problem;
  std::optional<double> density;  // absent: only the contraction is known, and no bytes
  int workers = 1;
  std::int64_t dimension = 0;  // d, for bytes
  double accuracy = 1e-6;      // of the start
  std::optional<double> step;
  // Of the worst cases; the theorems say nothing of them.
  std::optional<double> momentum;
  int local_steps = 1;
  double error_weight = 0.001;

  bool is_beyond_theorems() const { return momentum || local_steps > 1; }
};

/// A linear rate of one method, by one source. Bytes are those that a worker sends.
struct RateRow {
  std::string name;
  std::string source;
  std::optional<ContractionRate> rate = {};  // absent: nothing is known at the step asked for
  std::optional<double> iterations = {};
  std::optional<double> bytes = {};
  std::string note = {};
  OrderedJson proof = {};  // of a worst case: numbers by name
};

constexpr const char* kMemoryless = "memoryless";
constexpr const char* kDense = "dense";
constexpr const char* kSaysNothing = "says nothing of momentum and local steps";

/// Returns how many iterations make a quantity that falls by `rate` as small as `accuracy` of
/// itself; absent where it does not fall.
std::optional<double> iterations_to(double accuracy, double rate) {
  if (!(rate < 1)) {
    return std::nullopt;
  }
  return rate > 0 ? std::ceil(std::log(accuracy) / std::log(rate) * (1 - 1e-12)) : 1;
}

/// Returns the bytes that a worker sends in one iteration, of float32 values, by the cost model of
/// the aggregator.
double bytes_of_exchange(const char* aggregator, const RateQuestion& question, double density) {
  const Section section("aggregator", OrderedJson{{"kind", aggregator}});
  const auto exchange = make_aggregator(section);
  const auto d = static_cast<double>(question.dimension);
  const double k = std::max(1.0, std::round(density * d));
  const auto model = exchange->traffic_model({.workers = question.workers,
                                              .entries = question.workers * k,
                                              .whole_messages = k >= d,
                                              .dimension = d,
                                              .k = k});
  return model.bytes / question.workers;
}

/// Returns those of messages at the density asked for; not a number where it is not known.
double bytes_of_message(const RateQuestion& question) {
  return question.density ? bytes_of_exchange("allgather", question, *question.density)
                          : std::numeric_limits<double>::quiet_NaN();
}

/// Sets iterations, and bytes where those of an iteration are a number.
void take_costs(const RateQuestion& question, double bytes, RateRow& row) {
  if (!row.rate) {
    return;
  }
  row.iterations = iterations_to(question.accuracy, row.rate->rate);
  if (row.iterations && !std::isnan(bytes)) {
    row.bytes = *row.iterations * bytes;
  }
}

RateRow row_of_theorem(const Theorem& theorem, const RateQuestion& question) {
  RateRow row{.name = std::string(theorem.name), .source = std::string(theorem.paper)};
  if (question.is_beyond_theorems()) {
    row.note = kSaysNothing;
    return row;
  }
  row.rate = theorem.linear_rate(question.problem, question.step);
  row.note = row.rate ? "" : "says nothing of this step";
  const double bytes = bytes_of_message(question);
  take_costs(question, bytes, row);
  return row;
}

/// Gradient descent on all entries, and compressed descent without memory, have their own steps.
RateRow row_without_memory(const char* name, const RateQuestion& question) {
  const bool is_dense = std::string_view(name) == kDense;
  RateRow row{.name = name,
              .source = is_dense ? "gradient descent, messages are whole gradients"
                                 : "de Klerk, Glineur, Taylor, SIAM J. Optim. 2020"};
  CompressedProblem problem = question.problem;
  problem.contraction = is_dense ? 1 : problem.contraction;
  if (question.is_beyond_theorems()) {
    row.note = kSaysNothing;
    return row;
  }
  const double step = memoryless_step(problem);
  constexpr double kRounding = 1e-9;
  if (question.step && std::abs(*question.step - step) > kRounding * step) {
    row.note = "says nothing of this step";
    return row;
  }
  if (!is_dense && question.workers > 1) {
    row.note = "for one worker only";
    return row;
  }
  row.rate = ContractionRate{.step = step, .rate = memoryless_rate(problem), .of = "f − f*"};
  const double bytes =
      is_dense ? bytes_of_exchange("dense", question, 1) : bytes_of_message(question);
  take_costs(question, bytes, row);
  return row;
}

// --- The worst case at any step ------------------------------------------------------------------

/// The worst case of one method by worst_rate.h.
struct WorstCase {
  std::string_view name;
  DescentMethod method;
  std::string_view memory;  // what V is of besides x - x* and grad f
};

constexpr std::array kWorstCases{WorstCase{"worst-ef14", DescentMethod::ef14, ", e"},
                                 WorstCase{"worst-ef21", DescentMethod::ef21, ", g"},
                                 WorstCase{"worst-econtrol", DescentMethod::econtrol, ", h, e"},
                                 WorstCase{"worst-memoryless", DescentMethod::memoryless, ""},
                                 WorstCase{"worst-dense", DescentMethod::dense, ""}};

bool has_memory(DescentMethod method) {
  return method != DescentMethod::memoryless && method != DescentMethod::dense;
}

bool has_worst_case(const WorstCase& worst, const CompressedProblem& problem) {
  return problem.smoothness > problem.strong_convexity &&
         (problem.contraction < 1 || worst.method == DescentMethod::dense);
}

/// Returns the step that is best in the worst case. With momentum, with local steps and of EControl
/// none is known: this is the one by which the model goes as far as error feedback's best.
double best_step(const WorstCase& worst, const RateQuestion& question) {
  CompressedProblem problem = question.problem;
  double step = tight_step(problem);
  if (!has_memory(worst.method)) {
    problem.contraction = worst.method == DescentMethod::dense ? 1 : problem.contraction;
    step = memoryless_step(problem);
  }
  return step * (1 - question.momentum.value_or(0)) / question.local_steps;
}

/// Says why there is no worst case; empty where there is one.
std::string_view obstacle_of(const WorstCase& worst, const RateQuestion& question) {
  if (!has_worst_case(worst, question.problem)) {
    return "needs L above mu and messages that leave something out";
  }
  if (question.workers > 1 && worst.method == DescentMethod::memoryless) {
    return "for one worker only";
  }
  const bool estimates =
      worst.method == DescentMethod::ef21 || worst.method == DescentMethod::econtrol;
  return estimates && question.local_steps > 1 ? "estimates exclude local steps" : "";
}

/// Says what V is of, and which f_p the proof is for.
std::string note_of(const WorstCase& worst, const RateQuestion& question) {
  const bool needs_common_minimizer =
      question.workers > 1 && (worst.method == DescentMethod::ef14 || question.local_steps > 1);
  return fmt::format("V: form in x − x*, ∇f{}{}, plus f − f*{}",
                     worst.memory,
                     question.momentum ? ", v, ∇f(x⁻)" : "",
                     needs_common_minimizer ? "; if x* minimises every f_p" : "");
}

OrderedJson as_json(const WorstRateQuestion& asked, const WorstRate& found) {
  OrderedJson numbers = OrderedJson::object();
  const auto names = proof_names(asked);
  for (std::size_t i = 0; i < names.size(); ++i) {
    numbers[names[i]] = found.proof[i];
  }
  return {{"numbers", std::move(numbers)},
          {"least_pivot", found.least_pivot},
          {"v_state", found.lyapunov.state},
          {"v_objective", found.lyapunov.objective},
          {"v_last_objective", found.lyapunov.last},
          {"v_deviation", found.lyapunov.deviation}};
}

RateRow row_of_worst_case(const WorstCase& worst, const RateQuestion& question) {
  RateRow row{.name = std::string(worst.name),
              .source =
                  "semidefinite programme with V unknown, as arXiv:2506.05271; the proof is "
                  "checked in rational numbers"};
  const auto obstacle = obstacle_of(worst, question);
  if (!obstacle.empty()) {
    row.note = obstacle;
    return row;
  }
  const WorstRateQuestion asked{.method = worst.method,
                                .problem = question.problem,
                                .step = question.step.value_or(best_step(worst, question)),
                                .workers = question.workers,
                                .momentum = question.momentum,
                                .local_steps = question.local_steps,
                                .error_weight = question.error_weight};
  const auto found = worst_rate(asked);
  if (!found) {
    row.note = "no proof of a factor below 1 found";
    return row;
  }
  row.rate = ContractionRate{.step = asked.step, .rate = found->rate, .of = "V of this step"};
  row.note = note_of(worst, question);
  row.proof = as_json(asked, *found);
  const bool is_dense = worst.method == DescentMethod::dense;
  take_costs(question,
             is_dense ? bytes_of_exchange("dense", question, 1) : bytes_of_message(question),
             row);
  return row;
}

/// The worst cases at one multiple of each method's best step; absent rates are 1 or more.
struct CurveRow {
  double multiple = 1;
  std::array<double, kWorstCases.size()> steps{};
  std::array<std::optional<double>, kWorstCases.size()> rates{};
};

CurveRow curve_row(const RateQuestion& question, const std::string& method, double multiple) {
  CurveRow row{.multiple = multiple};
  for (std::size_t i = 0; i < kWorstCases.size(); ++i) {
    RateQuestion at = question;
    row.steps[i] = multiple * best_step(kWorstCases[i], question);
    at.step = row.steps[i];
    const bool is_wanted = method.empty() || method == kWorstCases[i].name;
    const auto found = is_wanted ? row_of_worst_case(kWorstCases[i], at).rate : std::nullopt;
    row.rates[i] = found ? std::optional(found->rate) : std::nullopt;
  }
  return row;
}

std::vector<CurveRow> curve_rows(const RateQuestion& question, const std::string& method) {
  constexpr std::array kMultiples{0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 1.0, 1.01, 1.02, 1.05, 1.1};
  std::vector<CurveRow> rows;
  rows.reserve(kMultiples.size());
  for (const double multiple : kMultiples) {
    rows.push_back(curve_row(question, method, multiple));
  }
  return rows;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& theorem : theorems()) {
    if (theorem.linear_rate != nullptr) {
      names.emplace_back(theorem.name);
    }
  }
  names.emplace_back(kMemoryless);
  names.emplace_back(kDense);
  for (const auto& worst : kWorstCases) {
    names.emplace_back(worst.name);
  }
  return names;
}

std::vector<RateRow> rows_of(const RateQuestion& question, const std::string& method) {
  std::vector<RateRow> rows;
  const auto is_wanted = [&](std::string_view name) { return method.empty() || method == name; };
  for (const auto& theorem : theorems()) {
    if (theorem.linear_rate != nullptr && is_wanted(theorem.name)) {
      rows.push_back(row_of_theorem(theorem, question));
    }
  }
  for (const char* name : {kMemoryless, kDense}) {
    if (is_wanted(name)) {
      rows.push_back(row_without_memory(name, question));
    }
  }
  for (const auto& worst : kWorstCases) {
    if (worst.name == method ||
        (method.empty() && (question.step || question.is_beyond_theorems()))) {
      rows.push_back(row_of_worst_case(worst, question));
    }
  }
  return rows;
}

// --- Densities -----------------------------------------------------------------------------------

struct DensityRow {
  double density = 1;
  double step = 0;
  double rate = 1;
  std::optional<double> iterations;
  double bytes = 0;  // to the accuracy, not rounded to whole iterations
};

/// With all entries sent error feedback has nothing to remember: it is gradient descent.
DensityRow density_row(const RateQuestion& question, double density) {
  CompressedProblem problem = question.problem;
  problem.contraction = density;
  const double rate = tight_rate(problem);
  const double per_iteration =
      bytes_of_exchange(density < 1 ? "allgather" : "dense", question, density);
  return {.density = density,
          .step = tight_step(problem),
          .rate = rate,
          .iterations = iterations_to(question.accuracy, rate),
          .bytes = per_iteration * (rate > 0 ? std::log(question.accuracy) / std::log(rate) : 1)};
}

std::vector<DensityRow> density_rows(const RateQuestion& question) {
  constexpr std::array kDensities{1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001};
  std::vector<DensityRow> rows;
  rows.reserve(kDensities.size());
  for (const double density : kDensities) {
    rows.push_back(density_row(question, density));
  }
  return rows;
}

/// Returns the density of the fewest bytes, of 400 from 1/d to 1 in equal ratios.
DensityRow cheapest_density(const RateQuestion& question) {
  constexpr int kSteps = 400;
  const double least = std::log(1 / static_cast<double>(question.dimension));
  DensityRow best = density_row(question, 1);
  for (int i = 1; i <= kSteps; ++i) {
    const DensityRow row = density_row(question, std::exp(least * i / kSteps));
    best = row.bytes < best.bytes ? row : best;
  }
  return best;
}

/// Returns the bytes to the accuracy at a density by a bound of the registry; absent where it has
/// none.
std::optional<double> bytes_by(const Theorem& theorem,
                               const RateQuestion& question,
                               double density) {
  CompressedProblem problem = question.problem;
  problem.contraction = density;
  const auto rate = theorem.linear_rate(problem, {});
  const bool falls = rate && rate->rate > 0 && rate->rate < 1;
  return falls ? std::optional(bytes_of_exchange("allgather", question, density) *
                               std::log(question.accuracy) / std::log(rate->rate))
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
  const auto add_curve = [&](const std::string& label, bool is_bound, const auto& bytes_at) {
    reports::Curve curve;
    curve.label = label;
    curve.style = spec.curves.size();
    curve.is_bound = is_bound;
    const double least = std::log(1 / static_cast<double>(question.dimension));
    for (int i = kPoints; i >= 1; --i) {
      const double density = std::exp(least * i / kPoints);
      curve.points.push_back(point(density, bytes_at(density)));
    }
    spec.curves.push_back(std::move(curve));
  };
  add_curve("EF14 and EF21, tight rate", false, [&](double density) {
    return std::optional(density_row(question, density).bytes);
  });
  const DensityRow best = cheapest_density(question);
  reports::Curve mark;
  mark.label = fmt::format("fewest: {:.3g} bytes at density {:.3g}", best.bytes, best.density);
  mark.style = 1;
  mark.points = {point(best.density, best.bytes)};
  spec.curves.push_back(std::move(mark));
  for (const auto& theorem : theorems()) {
    const auto of_question =
        theorem.linear_rate != nullptr ? bytes_by(theorem, question, 0.5) : std::nullopt;
    if (of_question && *of_question != density_row(question, 0.5).bytes) {
      add_curve(std::string(theorem.name), true, [&](double density) {
        return bytes_by(theorem, question, density);
      });
    }
  }
  spec.reference =
      reports::Reference{.y = density_row(question, 1).bytes, .label = "all entries, all-reduce"};
  return spec;
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
  require(!given.curve, "--figure draws bytes over densities; leave --curve out");
  require(questions.size() == 1,
          "--figure draws the densities of one method, and there are {}; give its constants",
          questions.size());
  require(questions.front().workers > 1,
          "--figure draws the bytes that a worker sends, and a single one sends none; give "
          "--workers");
  require(questions.front().dimension > 1, "--figure needs --dim above 1, to have densities");
  reports::write_paper_figure(density_figure(questions.front()), *given.figure);
}

// --- What is asked -------------------------------------------------------------------------------

void check_problem(const RateOptions& given) {
  require(given.smoothness && *given.smoothness > 0 && std::isfinite(*given.smoothness),
          "--smoothness is missing or not above 0: L of every worker's objective");
  require(given.strong_convexity && std::isfinite(*given.strong_convexity),
          "--strong-convexity is missing: mu of every worker's objective");
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
  require(given.workers >= 1 && given.workers <= 1'000'000,
          "--workers is {}, but must be from 1 to 1000000",
          given.workers);
  require(given.dimension >= 1 && given.dimension < std::int64_t{1} << 32,
          "--dim is {}, but must be from 1 to 2^32 - 1",
          given.dimension);
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
  require(given.error_weight > 0 && given.error_weight <= 1,
          "--error-weight is {}, but must lie in (0, 1]",
          given.error_weight);
  const auto names = method_names();
  require(
      given.method.empty() || std::find(names.begin(), names.end(), given.method) != names.end(),
      "--method {}: unknown{}",
      given.method,
      suggestion(given.method, names));
}

RateQuestion question_of(const RateOptions& given) {
  check_problem(given);
  return {.of = "",
          .problem = {.smoothness = *given.smoothness,
                      .strong_convexity = *given.strong_convexity,
                      .contraction = given.density.value_or(given.contraction.value_or(1))},
          .density = given.density,
          .workers = static_cast<int>(given.workers),
          .dimension = given.dimension,
          .accuracy = given.accuracy,
          .step = given.step,
          .momentum = given.momentum,
          .local_steps = static_cast<int>(given.local_steps),
          .error_weight = given.error_weight};
}

/// The constants that a study or a folder has say nothing of accuracy and step.
void refuse_constants(const RateOptions& given, const char* option) {
  require(!given.smoothness && !given.strong_convexity && !given.density && !given.contraction,
          "{} has the constants; leave --smoothness, --strong-convexity, --density and "
          "--contraction out",
          option);
}

/// The facts of a method give this problem; nothing, with a note, where no linear rate follows.
void add_question(const RateOptions& given,
                  const std::string& label,
                  const RunFacts& facts,
                  const CompressedProblem& problem,
                  std::vector<RateQuestion>& questions) {
  if (!problem.is_valid()) {
    say(
        fmt::format("note: {}: no linear rate without L, mu > 0 and a share that messages keep "
                    "(L = {:g}, mu = {:g}, share {:g}; 0: not known)",
                    reports::printable(label),
                    problem.smoothness,
                    problem.strong_convexity,
                    problem.contraction));
    return;
  }
  questions.push_back(
      {.of = label,
       .problem = problem,
       .density = facts.k ? std::optional(*facts.k / facts.dimension) : std::nullopt,
       .workers = static_cast<int>(facts.workers),
       .dimension = static_cast<std::int64_t>(facts.dimension),
       .accuracy = given.accuracy,
       .step = given.step,
       .momentum = given.momentum,
       .local_steps = static_cast<int>(given.local_steps),
       .error_weight = given.error_weight});
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
    add_question(given,
                 group.label,
                 evidence.method(),
                 {.smoothness = smoothness.value_or(0),
                  .strong_convexity = convexity.value_or(0),
                  .contraction = evidence.method().contraction.value_or(0)},
                 questions);
  }
  require(!questions.empty(),
          "--from {}: no method has L, mu > 0 and a share that messages keep",
          given.from->string());
  return questions;
}

std::string settings_text(const OrderedJson& varying) {
  std::string text;
  for (const auto& [key, value] : varying.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, harmless(shown(value)));
  }
  return text.empty() ? "the study" : text;
}

/// Takes the constants of the runs of a study with its first seed. Nothing is run.
std::vector<RateQuestion> questions_of_study(const Options& options) {
  const RateOptions& given = options.rate;
  refuse_constants(given, "--study");
  const Study study = parse_study(read_study_file(*given.study), given.study->string(), {});
  ObjectiveCache objectives({.data_dir = data_directory(options.data_dir),
                             .cache_dir = cache_folder(),
                             .workers = 1,
                             .allow_commands = false});
  KnownKeys known;
  std::vector<RateQuestion> questions;
  for (const auto& spec : study.runs) {
    if (spec.seed != study.runs.front().seed) {
      continue;
    }
    const PreparedRun run = prepare(spec, objectives, known);
    const RunFacts facts = run_facts(run);
    const auto of_workers = worker_smoothness(run);
    const auto largest = std::max_element(of_workers.begin(), of_workers.end());
    add_question(given,
                 settings_text(run.varying),
                 facts,
                 {.smoothness = largest == of_workers.end() ? 0 : *largest,
                  .strong_convexity =
                      facts.worker_strong_convexity ? facts.worker_strong_convexity->value : 0,
                  .contraction = facts.contraction.value_or(0)},
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

// --- Text and JSON -------------------------------------------------------------------------------

std::string rate_text(double rate) { return fmt::format("{:.10g}", rate); }

/// A proved rate is a decimal: all of its digits, since fewer would be rounded down.
std::string proved_text(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.15g}", *rate) : "–";
}

std::string count_text(const std::optional<double>& count) {
  return count ? fmt::format("{:.0f}", *count) : "–";
}

std::string factor_text(const RateRow& row) {
  if (!row.rate) {
    return "–";
  }
  return row.proof.is_null() ? rate_text(row.rate->rate) : proved_text(row.rate->rate);
}

void print_rows(const std::vector<RateRow>& rows) {
  std::vector<std::vector<std::string>> cells{
      {"", "falls", "step", "factor", "iterations", "bytes/worker", "note"}};
  for (const auto& row : rows) {
    cells.push_back({row.name,
                     row.rate ? std::string(row.rate->of) : "–",
                     row.rate ? fmt::format("{:.6g}", row.rate->step) : "–",
                     factor_text(row),
                     count_text(row.iterations),
                     row.bytes ? fmt::format("{:.4g}", *row.bytes) : "–",
                     row.note});
  }
  fmt::print("{}", reports::aligned(cells));
}

void print_densities(const RateQuestion& question) {
  std::vector<std::vector<std::string>> cells{
      {"density", "step", "tight factor", "iterations", "bytes/worker"}};
  for (const auto& row : density_rows(question)) {
    cells.push_back({fmt::format("{:g}", row.density),
                     fmt::format("{:.6g}", row.step),
                     rate_text(row.rate),
                     count_text(row.iterations),
                     fmt::format("{:.4g}", row.bytes)});
  }
  fmt::print("\n{}", reports::aligned(cells));
  const DensityRow best = cheapest_density(question);
  if (best.bytes == 0) {
    fmt::print("a single worker sends no bytes: give --workers\n");
    return;
  }
  fmt::print("fewest bytes in the worst case: density {:.4g}, {:.4g} bytes/worker{}\n",
             best.density,
             best.bytes,
             best.density < 1 ? "" : " (all entries, by all-reduce)");
}

/// A worst case over steps; those of error feedback share the steps of the first.
struct CurveColumn {
  std::size_t method = 0;  // of kWorstCases
  bool has_steps = true;
};

std::vector<CurveColumn> curve_columns(const std::string& method) {
  std::vector<CurveColumn> columns;
  for (std::size_t i = 0; i < kWorstCases.size(); ++i) {
    if (method.empty() || method == kWorstCases[i].name) {
      columns.push_back(
          {.method = i, .has_steps = columns.empty() || !has_memory(kWorstCases[i].method)});
    }
  }
  return columns;
}

void print_curve(const RateQuestion& question, const std::string& method) {
  const auto columns = curve_columns(method);
  std::vector<std::vector<std::string>> cells{{"of the best step"}};
  const auto add = [&](const CurveColumn& column, const std::string& step, std::string rate) {
    if (column.has_steps) {
      cells.back().push_back(step);
    }
    cells.back().push_back(std::move(rate));
  };
  for (const auto& column : columns) {
    add(column, "step", std::string(kWorstCases[column.method].name));
  }
  for (const auto& row : curve_rows(question, method)) {
    cells.push_back({fmt::format("{:g}", row.multiple)});
    for (const auto& column : columns) {
      add(column,
          fmt::format("{:.6g}", row.steps[column.method]),
          proved_text(row.rates[column.method]));
    }
  }
  fmt::print("\n{}", reports::aligned(cells));
}

void print_question(const RateQuestion& question) {
  fmt::print(
      "{}L = {:g}, mu = {:g}, kappa = {:g}, share kept {:g}, P = {}, d = {}, to {:g} of the "
      "start\n",
      question.of.empty() ? "" : reports::printable(question.of) + ": ",
      question.problem.smoothness,
      question.problem.strong_convexity,
      question.problem.smoothness / question.problem.strong_convexity,
      question.problem.contraction,
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
  }
  return json;
}

OrderedJson as_json(const DensityRow& row) {
  return {{"density", json_number(row.density)},
          {"step", json_number(row.step)},
          {"factor", json_number(row.rate)},
          {"iterations", json_number(row.iterations)},
          {"bytes_per_worker", json_number(row.bytes)}};
}

OrderedJson as_json(const CurveRow& row) {
  OrderedJson methods = OrderedJson::object();
  for (std::size_t i = 0; i < kWorstCases.size(); ++i) {
    methods[std::string(kWorstCases[i].name)] = {{"step", json_number(row.steps[i])},
                                                 {"factor", json_number(row.rates[i])}};
  }
  return {{"of_best_step", row.multiple}, {"methods", std::move(methods)}};
}

OrderedJson curve_json(const RateQuestion& question, const std::string& method) {
  OrderedJson curve = OrderedJson::array();
  for (const auto& row : curve_rows(question, method)) {
    curve.push_back(as_json(row));
  }
  return curve;
}

OrderedJson as_json(const RateQuestion& question, const std::vector<RateRow>& rows) {
  OrderedJson densities = OrderedJson::array();
  for (const auto& row : density_rows(question)) {
    densities.push_back(as_json(row));
  }
  OrderedJson rates = OrderedJson::array();
  for (const auto& row : rows) {
    rates.push_back(as_json(row));
  }
  return {{"method", question.of.empty() ? OrderedJson() : OrderedJson(question.of)},
          {"smoothness", json_number(question.problem.smoothness)},
          {"strong_convexity", json_number(question.problem.strong_convexity)},
          {"contraction", json_number(question.problem.contraction)},
          {"density", json_number(question.density)},
          {"workers", question.workers},
          {"dimension", question.dimension},
          {"accuracy", json_number(question.accuracy)},
          {"rates", std::move(rates)},
          {"densities", std::move(densities)},
          {"fewest_bytes", as_json(cheapest_density(question))}};
}

}  // namespace

ExitCode rate_command(const Options& options) {
  const RateOptions& given = options.rate;
  check_extent(given);
  const auto questions = questions_of(options);
  for (const auto& question : questions) {
    require(!given.curve || has_worst_case(kWorstCases.front(), question.problem),
            "--curve needs L above mu and a share below 1: L = {:g}, mu = {:g}, share {:g}",
            question.problem.smoothness,
            question.problem.strong_convexity,
            question.problem.contraction);
  }
  draw_figure(given, questions);
  OrderedJson all = OrderedJson::array();
  for (const auto& question : questions) {
    const auto rows = rows_of(question, given.method);
    if (options.json) {
      all.push_back(as_json(question, rows));
      if (given.curve) {
        all.back()["curve"] = curve_json(question, given.method);
      }
      continue;
    }
    print_question(question);
    print_rows(rows);
    if (given.curve) {
      print_curve(question, given.method);
    } else if (given.method.empty()) {
      print_densities(question);
    }
  }
  if (options.json) {
    print_json(given.from || given.study ? all : all.front());
  }
  return ExitCode::done;
}

}  // namespace residuum
