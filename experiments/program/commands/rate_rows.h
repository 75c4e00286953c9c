#pragma once
// The rows of `residuum rate`: a linear rate of one method by one source, with what it costs to an
// accuracy.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/theorems/theorem.h"
#include "assumptions/worst_case/worst_rate.h"
#include "core/record/run_facts.h"
#include "reports/results/result_folder.h"

namespace residuum {

/// A rate that runs had, and their step.
struct MeasuredRate {
  double factor = 1;
  double step = 0;
  std::string_view of;  // what falls
};

/// The rates are asked for these constants, size of the exchange, and how far to go.
struct RateQuestion {
  std::string of;  // a method of --from or --study; empty: the command line
  CompressedProblem problem;
  RunFacts facts;           // of the method, or what all rows take for met
  std::optional<double> k;  // entries of a message; absent: no bytes are known
  /// Bytes that a worker sends in an iteration of --from or --study; absent: those of lists of k
  /// entries in an all-gather.
  std::optional<double> own_bytes = {};
  double value_bytes = 4;  // of a number in a message
  int workers = 1;
  std::int64_t dimension = 0;  // d, for bytes
  double accuracy = 1e-6;      // of the start
  std::optional<double> step;
  // Of the worst cases; the theorems say nothing of them.
  std::optional<double> momentum;
  int local_steps = 1;
  double error_weight = 0.001;
  std::optional<MeasuredRate> measured = {};
  std::optional<double> own_step = {};  // of the method's runs, if it is constant

  bool is_beyond_theorems() const { return momentum || local_steps > 1; }
};

/// Returns the facts of a method that meets what all theorems of linear rates and worst cases ask
/// for, but for the memory, which is error feedback's.
RunFacts facts_of_theory(const CompressedProblem& problem, int workers, std::int64_t dimension);

/// A linear rate of one method, by one source. Bytes are those that a worker sends.
struct RateRow {
  std::string name;
  std::string source;
  std::optional<ContractionRate> rate = {};  // absent: nothing is known at the step asked for
  std::optional<double> reached = {};        // of a worst case: a factor that a problem has
  double gap = 0;  // 1 - factor, with digits that a factor near 1 has not, where they are known
  std::optional<double> iterations = {};
  std::optional<double> bytes = {};
  std::string note = {};
  reports::Json proof = {};  // of a worst case: numbers by name
};

/// The worst case of one method by worst_rate.h.
struct WorstCase {
  std::string_view name;
  DescentMethod method;
  std::optional<Memory> kept;  // by a worker
  std::string_view memory;     // what V is of besides x - x* and grad f
};

inline constexpr std::array kWorstCases{
    WorstCase{"worst-ef14", DescentMethod::ef14, Memory::residual, ", e"},
    WorstCase{"worst-ef21", DescentMethod::ef21, Memory::estimate, ", g"},
    WorstCase{"worst-econtrol", DescentMethod::econtrol, Memory::control, ", h, e"},
    WorstCase{"worst-memoryless", DescentMethod::memoryless, std::nullopt, ""},
    WorstCase{"worst-dense", DescentMethod::dense, std::nullopt, ""}};

/// Returns whether the constants have worst cases of compressed methods.
bool has_worst_cases(const CompressedProblem& problem);

/// Returns the step that is best in the worst case. With momentum, with local steps and of EControl
/// none is known: this is the one by which the model goes as far as error feedback's best.
double best_step(const WorstCase& worst, const RateQuestion& question);

/// Returns the reason why the question has no worst case of the method; empty where it has one.
std::string obstacle_of(const WorstCase& worst, const RateQuestion& question);

/// Returns the worst case at the question's step, or at the best one.
RateRow row_of_worst_case(const WorstCase& worst, const RateQuestion& question);

/// Returns what the registry has for a method with the memory of a worst case, at a step: each
/// theorem with a linear rate that applies to it.
std::vector<const Theorem*> theorems_for(const WorstCase& worst, const RateQuestion& question);

/// Returns the closed form for methods without memory, which holds at their best step alone.
RateRow row_without_memory(bool is_dense, const RateQuestion& question);

/// Returns the rows of the question, or that of one method.
std::vector<RateRow> rows_of(const RateQuestion& question, const std::string& method);

/// Returns the reason why a method has no rate at all; empty where it has some.
std::string obstacle_of_rates(const RateQuestion& question);

/// Returns the reason why error feedback has no tight rate with the question's messages and
/// updates, whatever workers remember; empty where it has one.
std::string obstacle_of_tight_rates(const RateQuestion& question);

/// Returns a number with `digits` digits; "–" if it is not finite.
std::string number_text(double number, int digits);

/// Returns a factor with ten digits.
std::string rate_text(double rate);
/// The same; where that is 1 and the gap to 1 is known, "1 − " and the gap.
std::string rate_text(double rate, double gap);

/// Returns a proved factor: a decimal with all of its digits, since fewer would be rounded down.
std::string proved_text(const std::optional<double>& rate);

/// Returns the names that rows can have.
std::vector<std::string> rate_methods();

/// Returns how many iterations make a quantity that falls by 1 - `gap` as small as `accuracy` of
/// itself; absent where it does not fall.
std::optional<double> iterations_to(double accuracy, double gap);

/// Returns the whole number of entries, at least one, that is nearest to this share of them.
double entries_at(const RateQuestion& question, double density);

/// Returns the bytes that a worker sends in one iteration with k entries in a message, of float32
/// values, by the cost model of the aggregator.
double bytes_of_exchange(const char* aggregator, const RateQuestion& question, double k);

/// Returns the bytes that a worker sends in so many iterations, which are whole; absent where one
/// of the two is not known, but 0 if no iteration has any.
std::optional<double> bytes_of(const std::optional<double>& iterations, double of_iteration);

}  // namespace residuum
