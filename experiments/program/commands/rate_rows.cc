#include "experiments/program/commands/rate_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "assumptions/theorems/tight.h"
#include "assumptions/worst_case/linear_compressor.h"
#include "core/aggregators/aggregator.h"
#include "core/schedules/tight_rate.h"

namespace residuum {
namespace {

using RateJson = reports::Json;

constexpr const char* kMemoryless = "memoryless";
constexpr const char* kDense = "dense";
constexpr const char* kMeasured = "measured";
constexpr const char* kSaysNothing = "says nothing of momentum and local steps";

/// Returns those of messages with the entries asked for; not a number where they are not known.
double bytes_of_entries(const RateQuestion& question) {
  if (question.own_bytes) {
    return *question.own_bytes;
  }
  return question.k ? bytes_of_exchange("allgather", question, *question.k)
                    : std::numeric_limits<double>::quiet_NaN();
}

/// Returns those of all entries.
double bytes_of_vector(const RateQuestion& question) {
  return bytes_of_exchange("dense", question, static_cast<double>(question.dimension));
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + "; " + second;
}

/// Sets iterations, and bytes where those of an iteration are a number.
void take_costs(const RateQuestion& question, double bytes, RateRow& row) {
  if (!row.rate) {
    return;
  }
  row.gap = row.gap > 0 ? row.gap : 1 - row.rate->rate;
  row.iterations = iterations_to(question.accuracy, row.gap);
  row.bytes = bytes_of(row.iterations, bytes);
  if (row.rate->rate == 1) {
    row.note = joined(row.note, "the factor rounds to 1 in float64");
  }
}

// --- Whether a source speaks of the method -------------------------------------------------------

using Unmet = std::function<std::vector<Precondition>(const RunFacts&)>;

/// A method of --from or --study need not be one that a source speaks of. If it only remembers
/// something else, the row is that of another method with the same messages, and says so.
struct Applicability {
  bool applies = true;
  std::string note;
};

std::string text_of(const std::vector<Precondition>& unmet) {
  std::string text;
  for (const auto& one : unmet) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", one.statement, one.detail);
  }
  return text;
}

/// The facts of a method that differs in its memory alone.
RunFacts with_memory(RunFacts facts, Memory memory) {
  facts.feedback.memory = memory;
  facts.conserves = facts.conserves || facts.applies_as_sent();
  return facts;
}

Applicability applicability(const RateQuestion& question, const Unmet& unmet) {
  if (question.of.empty()) {
    return {};
  }
  auto fewest = unmet(question.facts);
  if (fewest.empty()) {
    return {};
  }
  const std::string own = text_of(fewest);
  for (const Memory memory : {Memory::residual, Memory::estimate, Memory::control}) {
    auto left = unmet(with_memory(question.facts, memory));
    if (left.empty()) {
      return {.applies = true, .note = "of another method; not met here: " + own};
    }
    if (left.size() < fewest.size()) {
      fewest = std::move(left);
    }
  }
  return {.applies = false, .note = "does not apply; not met: " + text_of(fewest)};
}

WorstCaseDemands demands_of(const WorstCase& worst, const RateQuestion& question) {
  return {.compresses = worst.method != DescentMethod::dense,
          .memory = worst.kept,
          .common_minimizer = question.workers > 1 &&
                              (worst.method == DescentMethod::ef14 || question.local_steps > 1),
          .momentum = question.momentum.has_value(),
          .local_steps = question.local_steps > 1};
}

Applicability applicability(const WorstCase& worst, const RateQuestion& question) {
  return applicability(question, [&](const RunFacts& facts) {
    return unmet_by_worst_case(facts, demands_of(worst, question));
  });
}

Applicability applicability(const Theorem& theorem, const RateQuestion& question) {
  return applicability(question,
                       [&](const RunFacts& facts) { return unmet_preconditions(theorem, facts); });
}

// --- Theorems and closed forms -------------------------------------------------------------------

RateRow row_of_theorem(const Theorem& theorem, const RateQuestion& question) {
  RateRow row{.name = std::string(theorem.name), .source = std::string(theorem.paper)};
  if (question.is_beyond_theorems()) {
    row.note = kSaysNothing;
    return row;
  }
  const auto known = applicability(theorem, question);
  row.note = known.note;
  if (!known.applies) {
    return row;
  }
  row.rate = theorem.linear_rate(question.problem, question.step);
  if (!row.rate) {
    row.note = joined("says nothing of this step", row.note);
  }
  if (theorem.name.starts_with("tight-")) {
    row.gap = tight_gap(question.problem);
  }
  take_costs(question, bytes_of_entries(question), row);
  return row;
}

// --- The worst case at any step ------------------------------------------------------------------

bool has_memory(DescentMethod method) {
  return method != DescentMethod::memoryless && method != DescentMethod::dense;
}

/// Returns a note on the vectors of V, and on the f_p that the proof is for.
std::string note_of(const WorstCase& worst, const RateQuestion& question) {
  return fmt::format(
      "V: form in x − x*, ∇f{}{}, plus f − f*{}{}",
      worst.memory,
      question.momentum ? ", v, ∇f(x⁻)" : "",
      worst.method == DescentMethod::econtrol
          ? fmt::format("; error weight {:g}", question.error_weight)
          : "",
      demands_of(worst, question).common_minimizer ? "; if x* minimises every f_p" : "");
}

RateJson as_json(const WorstRateQuestion& asked, const WorstRate& found) {
  RateJson numbers = RateJson::object();
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

/// Worst cases take a while: without a step they are computed if they are named.
bool is_row(const WorstCase& worst, const RateQuestion& question, const std::string& method) {
  const bool has_own_step = question.step || question.is_beyond_theorems();
  return worst.name == method || (method.empty() && has_own_step);
}

RateRow measured_row(const RateQuestion& question) {
  RateRow row{.name = kMeasured,
              .source = "the runs",
              .rate = ContractionRate{.step = question.measured->step,
                                      .rate = question.measured->factor,
                                      .of = question.measured->of},
              .note = "mean from the start to the last row above rounding"};
  take_costs(question, std::numeric_limits<double>::quiet_NaN(), row);
  return row;
}

}  // namespace

RunFacts facts_of_theory(const CompressedProblem& problem, int workers, std::int64_t dimension) {
  RunFacts facts;
  facts.workers = workers;
  facts.dimension = static_cast<double>(dimension);
  facts.sends_everything = false;
  facts.sparsifier.contraction = problem.contraction;
  facts.sparsifier.pathwise = true;
  facts.gradients.full = true;
  facts.gradients.shares_minimizer = true;
  return facts;
}

std::string number_text(double number, int digits) {
  return std::isfinite(number) ? fmt::format("{:.{}g}", number, digits) : "–";
}

std::string rate_text(double rate) { return number_text(rate, 10); }

std::string rate_text(double rate, double gap) {
  const std::string text = rate_text(rate);
  return text == "1" && gap > 0 ? fmt::format("1 − {:.4g}", gap) : text;
}

std::string proved_text(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.15g}", *rate) : "–";
}

std::optional<double> iterations_to(double accuracy, double gap) {
  if (!(gap > 0)) {
    return std::nullopt;
  }
  const double count = gap < 1 ? std::ceil(std::log(accuracy) / std::log1p(-gap) * (1 - 1e-12)) : 1;
  return std::isfinite(count) ? std::optional(count) : std::nullopt;
}

double entries_at(const RateQuestion& question, double density) {
  return std::max(1.0, std::round(density * static_cast<double>(question.dimension)));
}

double bytes_of_exchange(const char* aggregator, const RateQuestion& question, double k) {
  const Section section("aggregator", RateJson{{"kind", aggregator}});
  const auto exchange = make_aggregator(section);
  const auto d = static_cast<double>(question.dimension);
  const auto model = exchange->traffic_model({.workers = question.workers,
                                              .entries = question.workers * k,
                                              .whole_messages = k >= d,
                                              .dimension = d,
                                              .k = k,
                                              .value_bytes = question.value_bytes});
  return model.bytes / question.workers;
}

std::optional<double> bytes_of(const std::optional<double>& iterations, double of_iteration) {
  if (of_iteration == 0) {
    return 0.0;  // a single worker sends nothing, however long it takes
  }
  return iterations && !std::isnan(of_iteration) ? std::optional(*iterations * of_iteration)
                                                 : std::nullopt;
}

/// Gradient descent on all entries, and compressed descent without memory, have their own steps.
RateRow row_without_memory(bool is_dense, const RateQuestion& question) {
  RateRow row{.name = is_dense ? kDense : kMemoryless,
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
  const auto known = applicability(question, [&](const RunFacts& facts) {
    return unmet_by_worst_case(facts, {.compresses = !is_dense});
  });
  row.note = known.note;
  if (!known.applies) {
    return row;
  }
  row.rate = ContractionRate{.step = step, .rate = memoryless_rate(problem), .of = "f − f*"};
  row.gap = memoryless_gap(problem);
  take_costs(question, is_dense ? bytes_of_vector(question) : bytes_of_entries(question), row);
  return row;
}

bool has_worst_cases(const CompressedProblem& problem) {
  return problem.smoothness > problem.strong_convexity && problem.contraction < 1;
}

double best_step(const WorstCase& worst, const RateQuestion& question) {
  CompressedProblem problem = question.problem;
  double step = tight_step(problem);
  if (!has_memory(worst.method)) {
    problem.contraction = worst.method == DescentMethod::dense ? 1 : problem.contraction;
    step = memoryless_step(problem);
  }
  return step * (1 - question.momentum.value_or(0)) / question.local_steps;
}

std::string obstacle_of(const WorstCase& worst, const RateQuestion& question) {
  const CompressedProblem& problem = question.problem;
  if (!(problem.smoothness > problem.strong_convexity) ||
      (worst.method != DescentMethod::dense && !(problem.contraction < 1))) {
    return "needs L above mu and messages that leave something out";
  }
  if (question.workers > 1 && worst.method == DescentMethod::memoryless) {
    return "for one worker only";
  }
  const bool estimates =
      worst.method == DescentMethod::ef21 || worst.method == DescentMethod::econtrol;
  if (estimates && question.local_steps > 1) {
    return "estimates exclude local steps";
  }
  const auto known = applicability(worst, question);
  return known.applies ? "" : known.note;
}

RateRow row_of_worst_case(const WorstCase& worst, const RateQuestion& question) {
  RateRow row{.name = std::string(worst.name),
              .source =
                  "semidefinite programme with V unknown, as arXiv:2506.05271; the proof is "
                  "checked in rational numbers"};
  row.note = obstacle_of(worst, question);
  if (!row.note.empty()) {
    return row;
  }
  const WorstRateQuestion asked{.method = worst.method,
                                .problem = question.problem,
                                .step = question.step.value_or(best_step(worst, question)),
                                .workers = question.workers,
                                .momentum = question.momentum,
                                .local_steps = question.local_steps,
                                .error_weight = question.error_weight};
  const LinearCompressor slowest = slowest_linear(asked);
  row.reached = slowest.rate;
  const auto found = worst_rate(asked);
  if (!found) {
    row.note = slowest.rate < 1 ? "no proof of a factor below 1 found"
                                : "diverges on a quadratic with a linear compressor";
    return row;
  }
  row.rate = ContractionRate{.step = asked.step, .rate = found->rate, .of = "V of this step"};
  row.note = joined(note_of(worst, question), applicability(worst, question).note);
  constexpr double kLoose = 1.01;  // in iterations
  if (1 - slowest.rate > kLoose * (1 - found->rate)) {
    row.note = joined("the best bound lies between reached and factor", row.note);
  }
  row.proof = as_json(asked, *found);
  row.proof["slowest_linear"] = {
      {"factor", slowest.rate}, {"curvature", slowest.curvature}, {"angle", slowest.angle}};
  const bool is_dense = worst.method == DescentMethod::dense;
  take_costs(question, is_dense ? bytes_of_vector(question) : bytes_of_entries(question), row);
  return row;
}

std::vector<const Theorem*> theorems_for(const WorstCase& worst, const RateQuestion& question) {
  std::vector<const Theorem*> found;
  if (!worst.kept || question.is_beyond_theorems()) {
    return found;
  }
  const RunFacts facts = with_memory(question.facts, *worst.kept);
  for (const auto& theorem : theorems()) {
    if (theorem.linear_rate != nullptr && unmet_preconditions(theorem, facts).empty()) {
      found.push_back(&theorem);
    }
  }
  return found;
}

std::string obstacle_of_rates(const RateQuestion& question) {
  const bool forgets =
      !question.of.empty() && question.facts.feedback.forgets && !question.facts.sends_everything;
  return forgets && question.workers > 1 ? "no rate: with several workers a method without memory "
                                           "of what it leaves out can diverge at every step"
                                         : "";
}

std::string obstacle_of_tight_rates(const RateQuestion& question) {
  if (question.of.empty()) {
    return {};
  }
  const WorstCase& estimates = kWorstCases[1];  // any minimisers
  const auto known = applicability(estimates, question);
  return known.applies ? "" : known.note;
}

std::vector<std::string> rate_methods() {
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

namespace {

/// Returns the rows of the theorems of linear rates, or of the one of this name.
std::vector<RateRow> rows_of_theorems(const RateQuestion& question, const std::string& method) {
  std::vector<RateRow> rows;
  for (const auto& theorem : theorems()) {
    const bool is_wanted = method.empty() || method == theorem.name;
    if (theorem.linear_rate != nullptr && is_wanted) {
      rows.push_back(row_of_theorem(theorem, question));
    }
  }
  return rows;
}

}  // namespace

std::vector<RateRow> rows_of(const RateQuestion& question, const std::string& method) {
  if (!obstacle_of_rates(question).empty()) {
    return question.measured && method.empty() ? std::vector{measured_row(question)}
                                               : std::vector<RateRow>();
  }
  const auto is_wanted = [&](std::string_view name) { return method.empty() || method == name; };
  std::vector<RateRow> rows = rows_of_theorems(question, method);
  for (const auto& [name, is_dense] : {std::pair{kMemoryless, false}, std::pair{kDense, true}}) {
    if (is_wanted(name)) {
      rows.push_back(row_without_memory(is_dense, question));
    }
  }
  for (const auto& worst : kWorstCases) {
    if (is_row(worst, question, method)) {
      rows.push_back(row_of_worst_case(worst, question));
    }
  }
  if (question.measured && method.empty()) {
    rows.push_back(measured_row(question));
  }
  return rows;
}

}  // namespace residuum
