// `residuum falsify` searches for accumulators that violate an assumption and writes the worst as a
// file that `residuum inspect` reads back with the same number.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/falsify/falsify.h"
#include "assumptions/falsify/tight_runs.h"
#include "assumptions/falsify/tight_search.h"
#include "assumptions/one_step.h"
#include "core/output_file.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/component_options.h"
#include "experiments/program/commands/vectors_file.h"
#include "experiments/program/console/streams.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

/// Beyond this the search holds gigabytes.
constexpr std::int64_t kMostNumbers = 10'000'000;
constexpr std::int64_t kIterationsOfRuns = 1300;  // at least, before a single one is searched

void check_k(const Options& options, const Target& target) {
  if (is_of_low_rank(options)) {
    require(!target.needs_random_selection,
            "--against delta compares with random entries, and --aggregator {} sends none; use "
            "--against contraction or --against conservation",
            options.aggregator);
    return;
  }
  const std::int64_t dimension = options.falsify.dimension;
  require(options.k.has_value(), "--k is missing: how many entries a worker keeps");
  require(*options.k >= 1 && *options.k <= dimension,
          "--k is {}, but must be from 1 to --dim, {}",
          *options.k,
          dimension);
  require(!target.needs_random_selection || *options.k < dimension,
          "--against delta needs --k below --dim: with k = d there is no random selection to "
          "compare with");
}

/// Vectors are written as an array, the problem of a run as a study.
std::string format_of(const FalsifyOptions& given) { return given.steps ? ".toml" : ".npy"; }

void check_extent(const FalsifyOptions& given) {
  require(given.workers >= 1, "--workers is {}, but at least 1 is needed", given.workers);
  require(given.dimension >= 1, "--dim is {}, but at least 1 is needed", given.dimension);
  require(given.dimension <= kMostNumbers / given.workers,
          "--workers {} and --dim {} are more than the {} numbers that can be searched; make one "
          "smaller",
          given.workers,
          given.dimension,
          kMostNumbers);
  require(
      given.evaluations >= 1, "--evaluations is {}, but at least 1 is needed", given.evaluations);
  require(given.seed >= 0, "--seed is {}, but must not be negative", given.seed);
  const std::string format = format_of(given);
  require(given.out.extension() == format,
          "--out {} must end in {}, the format that is written",
          given.out.string(),
          format);
  require_replaceable(given.out);
  // A missing folder is found before the search and not after it.
  const auto folder = given.out.parent_path();
  require(folder.empty() || std::filesystem::is_directory(folder),
          "--out {}: there is no folder '{}'; make it first",
          given.out.string(),
          folder.string());
}

void check(const Options& options, const Target& target) {
  check_extent(options.falsify);
  check_k(options, target);
}

/// Nothing is ever lost, whatever is drawn; the other targets are assumptions on expectations.
void check_draws(const Options& options, const Method& method, const Target& target) {
  const auto dimension = static_cast<std::size_t>(options.falsify.dimension);
  require(method.sparsifier->law(dimension, 1).deterministic || !target.is_expected,
          "--sparsifier {} draws at random, and one draw says nothing of the expectation that "
          "--against {} bounds; use \"top-k\" or \"chunk-top-k\", or --against conservation",
          options.sparsifier,
          target.name);
  require(!method.aggregator->law().quantises_itself || !target.is_expected,
          "--aggregator {} rounds at random, and one draw says nothing of the expectation that "
          "--against {} bounds; use --against conservation",
          options.aggregator,
          target.name);
  const bool draws = method.quantiser != nullptr && method.quantiser->law(1).random;
  require(!draws || !target.is_expected,
          "--quantiser {} draws at random, and one draw says nothing of the expectation that "
          "--against {} bounds; use \"sign\" or \"table\", or --against conservation",
          quantiser_kind(options),
          target.name);
}

/// Names selection and quantiser where they are not the usual ones.
void add_compression_names(const Options& options, reports::Json& json) {
  if (options.sparsifier != Options().sparsifier) {
    json["sparsifier"] = options.sparsifier;
  }
  add_quantiser_names(options, json);
}

reports::Json as_json(const Worst& worst, const Target& target, const Options& options) {
  reports::Json json{{"worst", reports::json_number(worst.value)},
                     {"verdict", worst.violated ? "violated" : "not violated"},
                     {"against", target.name},
                     {"assumption", target.assumption},
                     {"bound", target.bound},
                     {"column", kColumns[static_cast<std::size_t>(target.column)].name},
                     {"aggregator", options.aggregator},
                     {"putback", options.put_back},
                     {"workers", options.falsify.workers},
                     {"k", options.k ? reports::Json(*options.k) : reports::Json()},
                     {"dimension", options.falsify.dimension},
                     {"seed", options.falsify.seed},
                     {"evaluations", worst.evaluations},
                     {"restarts", worst.restarts},
                     {"start", worst.start},
                     {"file", options.falsify.out.string()}};
  add_compression_names(options, json);
  return json;
}

// --- Against the tight rate ----------------------------------------------------------------------

constexpr std::string_view kTightRate = "tight-rate";

/// Returns the reason why a quantiser has no share that each draw keeps.
std::string_view lack_of(const QuantiserLaw& law) {
  if (!law.contraction) {
    return "what it loses is not bounded by a share of what is sent";
  }
  return law.random ? "it rounds at random, and single draws may keep less than its share"
                    : "with what the selection leaves out nothing is kept";
}

/// The theory bounds messages by the share that each draw keeps: of the selection, and of what the
/// quantiser makes of it.
double share_kept(const Options& options, const Method& method, std::size_t dimension) {
  const auto keeps = [](const SparsifierLaw& law) {
    return law.contraction.has_value() && law.pathwise;
  };
  const auto selection = method.sparsifier->law(dimension, 1);
  require(keeps(selection) && *selection.contraction < 1,
          "--against {} needs a selection that keeps a share in each draw; single draws of "
          "--sparsifier {} may keep nothing, whatever k is",
          kTightRate,
          options.sparsifier);
  const auto law = method.message_law(*method.sparsifier, dimension, 1);
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, options.k.value_or(1)));
  require(keeps(law),
          "--against {} needs messages that keep a share in each draw; with --quantiser {} they do "
          "not: {}",
          kTightRate,
          quantiser_kind(options),
          method.quantiser ? lack_of(method.quantiser->law(most)) : "");
  return *law.contraction;
}

/// Returns why V of the tight theory is not defined for a memory; empty where it is.
std::string_view obstacle_of(const Feedback& feedback) {
  if (feedback.controls_error()) {
    return "it also sums what its estimates have missed";
  }
  if (feedback.averaging()) {
    return "its estimates follow an average of the gradients";
  }
  if (feedback.has_velocity()) {
    return "it remembers velocities";
  }
  return feedback.conserves(AggregatorLaw(), false, 1) ? ""
                                                       : "it remembers nothing of what is not sent";
}

/// Makes the memory that --feedback names. Throws where the theory has no V of it.
std::unique_ptr<Feedback> feedback_with_v(const Options& options) {
  const std::string& kind = options.falsify.feedback;
  auto feedback = make_feedback(Section("feedback", reports::Json{{"kind", kind}}));
  const auto obstacle = obstacle_of(*feedback);
  require(obstacle.empty(),
          "--against {} has a V of residuals, ef14, and one of estimates, ef21; --feedback {} has "
          "neither, because {}",
          kTightRate,
          kind,
          obstacle);
  require(!feedback->estimates() || options.put_back == Options().put_back,
          "--putback {} is a rule of residuals, and --feedback {} keeps estimates; leave it out",
          options.put_back,
          kind);
  return feedback;
}

reports::Json rows_of(const std::vector<double>& numbers, std::size_t dimension) {
  auto rows = reports::Json::array();
  for (std::size_t at = 0; at < numbers.size(); at += dimension) {
    rows.push_back(
        std::vector<double>(numbers.begin() + static_cast<std::ptrdiff_t>(at),
                            numbers.begin() + static_cast<std::ptrdiff_t>(at + dimension)));
  }
  return rows;
}

reports::Json as_json(const WorstIteration& worst,
                      const WorstRun& of_runs,
                      const Options& options) {
  const auto dimension = static_cast<std::size_t>(options.falsify.dimension);
  reports::Json json{
      {"worst", reports::json_number(worst.ratio)},
      {"verdict", worst.is_above() ? "violated" : "not violated"},
      {"against", kTightRate},
      {"assumption", "V' <= rho* V in one iteration of error feedback, from any state"},
      {"feedback", options.falsify.feedback},
      {"bound", reports::json_number(worst.rate)},
      {"worst_of_runs", reports::json_number(of_runs.ratio)},
      {"aggregator", options.aggregator},
      {"putback", options.put_back},
      {"workers", options.falsify.workers},
      {"k", options.k ? reports::Json(*options.k) : reports::Json()},
      {"dimension", options.falsify.dimension},
      {"condition", reports::json_number(options.falsify.condition)},
      {"step", reports::json_number(worst.step)},
      {"model", worst.model},
      {"residuals", rows_of(worst.residuals, dimension)},
      {"gradients", rows_of(worst.gradients, dimension)},
      {"seed", options.falsify.seed},
      {"evaluations", worst.evaluations},
      {"restarts", worst.restarts},
      {"runs", of_runs.evaluations},
      {"file", options.falsify.out.string()}};
  add_compression_names(options, json);
  return json;
}

// --- Runs at the tight step ----------------------------------------------------------------------

/// Returns d rows of d numbers for each worker.
reports::Json matrices_of(const WorstRun& worst, std::size_t dimension) {
  auto matrices = reports::Json::array();
  const std::size_t size = dimension * dimension;
  for (std::size_t at = 0; at < worst.matrices.size(); at += size) {
    const auto first = worst.matrices.begin() + static_cast<std::ptrdiff_t>(at);
    matrices.push_back(
        rows_of(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(size)), dimension));
  }
  return matrices;
}

/// A section of a study; values are texts, numbers and lists, which TOML writes as JSON does.
std::string section_text(const std::string& name, const reports::Json& values) {
  std::string text = fmt::format("\n[{}]\n", name);
  for (const auto& [key, value] : values.items()) {
    text += fmt::format("{} = {}\n", key, value.dump());
  }
  return text;
}

/// Returns a study that `residuum run` repeats the worst run with.
std::string study_of(const WorstRun& worst, const Options& options, const Section& selection) {
  const FalsifyOptions& given = options.falsify;
  const auto dimension = static_cast<std::size_t>(given.dimension);
  std::string text = fmt::format(
      "# The worst of the runs that `residuum falsify --against {}` tried: V is multiplied by\n"
      "# {} in an iteration on average and by {} in iteration {}, where the rate of whole "
      "messages\n"
      "# is {}.\n"
      "schema = 1\nname = \"worst-run\"\nseeds = 1\n",
      kTightRate,
      worst.average,
      worst.largest,
      worst.largest_at,
      worst.rate);
  text += section_text("objective",
                       {{"kind", "matrix-quadratic"},
                        {"matrix", matrices_of(worst, dimension)},
                        {"minimizers", std::vector<double>(dimension, 0.0)},
                        {"start", worst.start},
                        {"precision", "float64"}});
  text += section_text("workers", {{"count", given.workers}});
  text += section_text("sparsifier", selection.given());
  text += section_text("aggregator", aggregator_section(options).given());
  if (quantiser_kind(options) != "none") {
    text += section_text("quantiser", quantiser_section(options).given());
  }
  reports::Json memory{{"kind", given.feedback}};
  if (!worst.estimates) {
    memory["putback"] = options.put_back;
  }
  text += section_text("feedback", memory);
  text += section_text("step", {{"value", worst.step}});
  text += section_text("budget", {{"iterations", *given.steps + (worst.estimates ? 1 : 0)}});
  return text + section_text("probes", {{"names", {"lyapunov"}}, {"times", false}});
}

reports::Json as_json(const WorstRun& worst, const Options& options) {
  const FalsifyOptions& given = options.falsify;
  reports::Json json{
      {"worst", reports::json_number(worst.ratio)},
      {"verdict", worst.is_above() ? "violated" : "not violated"},
      {"against", kTightRate},
      {"assumption",
       given.ratio == "largest" ? "V' <= rho* V in every iteration of a run from e = 0"
                                : "V falls by rho* on average over a run from e = 0"},
      {"feedback", given.feedback},
      {"bound", reports::json_number(worst.rate)},
      {"aggregator", options.aggregator},
      {"putback", options.put_back},
      {"workers", given.workers},
      {"k", options.k ? reports::Json(*options.k) : reports::Json()},
      {"dimension", given.dimension},
      {"condition", reports::json_number(given.condition)},
      {"step", reports::json_number(worst.step)},
      {"steps", *given.steps},
      {"skip", given.skip},
      {"ratio", given.ratio},
      {"average", reports::json_number(worst.average)},
      {"largest", reports::json_number(worst.largest)},
      {"largest_at", worst.largest_at},
      {"later", worst.later ? reports::json_number(*worst.later) : reports::Json()},
      {"seed", given.seed},
      {"evaluations", worst.evaluations},
      {"restarts", worst.restarts},
      {"file", given.out.string()}};
  if (!given.nearby.empty()) {
    json["nearby"] = given.nearby;
    json["nearby_later"] =
        worst.nearby_later ? reports::json_number(*worst.nearby_later) : reports::Json();
  }
  add_compression_names(options, json);
  return json;
}

RunRatio ratio_of(const FalsifyOptions& given) {
  require(given.ratio == "average" || given.ratio == "largest",
          "--ratio is '{}', but must be average or largest",
          given.ratio);
  return given.ratio == "average" ? RunRatio::average : RunRatio::largest;
}

ExitCode falsify_tight_runs(const Options& options,
                            const Method& method,
                            const Section& selection) {
  constexpr std::int64_t kMostSteps = 100'000;
  constexpr std::int64_t kMostEntries = 1'000'000;
  const FalsifyOptions& given = options.falsify;
  require(*given.steps >= 1 && *given.steps <= kMostSteps,
          "--steps is {}, but must be from 1 to {}",
          *given.steps,
          kMostSteps);
  require(given.skip >= 0 && given.skip < *given.steps,
          "--skip is {}, but must be from 0 to --steps less 1",
          given.skip);
  require(given.dimension <= kMostEntries / given.dimension / given.workers,
          "--workers {} matrices of --dim {} are more than {} numbers; make one smaller",
          given.workers,
          given.dimension,
          kMostEntries);
  for (const double size : given.nearby) {
    require(size > 0 && size <= 0.1,
            "--nearby has {}, but sizes must be above 0 and at most 0.1",
            size);
  }
  const RunRatio ratio = ratio_of(given);
  const auto dimension = static_cast<std::size_t>(given.dimension);
  const auto worst = falsify_runs(method,
                                  {.workers = static_cast<int>(given.workers),
                                   .dimension = dimension,
                                   .condition = given.condition,
                                   .contraction = share_kept(options, method, dimension),
                                   .steps = static_cast<std::uint64_t>(*given.steps),
                                   .skip = static_cast<std::uint64_t>(given.skip),
                                   .ratio = ratio,
                                   .nearby = given.nearby,
                                   .seed = static_cast<std::uint64_t>(given.seed),
                                   .evaluations = static_cast<std::uint64_t>(given.evaluations)});
  write_file_atomically(given.out, study_of(worst, options, selection));
  print_json(as_json(worst, options), options.json ? -1 : 2);
  return ExitCode::done;
}

/// Searches short runs before single iterations, which then start from the worst of these.
void falsify_tight_iteration(const Options& options,
                             const Method& method,
                             const Method& of_runs,
                             bool estimates) {
  const FalsifyOptions& given = options.falsify;
  const auto dimension = static_cast<std::size_t>(given.dimension);
  const double contraction = share_kept(options, method, dimension);
  const auto seed = static_cast<std::uint64_t>(given.seed);
  const auto evaluations = static_cast<std::uint64_t>(given.evaluations);
  constexpr std::uint64_t kSteps = 100;
  constexpr std::uint64_t kForARun = 13;  // evaluations
  const WorstRun run =
      falsify_runs(of_runs,
                   {.workers = static_cast<int>(given.workers),
                    .dimension = dimension,
                    .condition = given.condition,
                    .contraction = contraction,
                    .steps = kSteps,
                    .ratio = RunRatio::largest,
                    .seed = seed,
                    .evaluations = std::max<std::uint64_t>(1, evaluations / kForARun)});
  const auto worst = falsify_rate(method,
                                  {.workers = static_cast<int>(given.workers),
                                   .dimension = dimension,
                                   .condition = given.condition,
                                   .contraction = contraction,
                                   .seed = seed,
                                   .evaluations = evaluations,
                                   .estimates = estimates},
                                  std::span(&run, 1));
  write_vectors(given.out, worst.accumulators, dimension);
  print_json(as_json(worst, run, options), options.json ? -1 : 2);
  constexpr double kRounding = 1e-9;
  if (run.ratio > worst.ratio * (1 + kRounding)) {
    say(fmt::format(
        "note: worst_of_runs is larger, since --aggregator {} remembers earlier exchanges",
        options.aggregator));
  }
  say("note: a run cannot begin with residuals, so a single iteration has no study; --steps has "
      "one");
}

ExitCode falsify_tight_rate(const Options& options) {
  const FalsifyOptions& given = options.falsify;
  check_extent(given);
  require(!is_of_low_rank(options),
          "--against {} needs messages of entries, and --aggregator {} sends none",
          kTightRate,
          options.aggregator);
  require(options.k && *options.k >= 1 && *options.k < given.dimension,
          "--against {} needs --k from 1 to --dim less 1, so that messages leave something out",
          kTightRate);
  constexpr double kMostWork = 2e7;
  const double work =
      static_cast<double>(given.workers) * static_cast<double>(given.dimension) *
      static_cast<double>(std::max<std::int64_t>(given.evaluations, kIterationsOfRuns));
  require(
      work <= kMostWork,
      "--workers {} and --dim {} with --evaluations {} are {:.3g} numbers to search, but at most "
      "{:.3g}; make one smaller",
      given.workers,
      given.dimension,
      given.evaluations,
      work,
      kMostWork);
  require(given.condition > 1 && std::isfinite(given.condition),
          "--condition is {}, but must be above 1",
          given.condition);
  const Section selection = sparsifier_section(options);
  auto feedback = feedback_with_v(options);
  const bool estimates = feedback->estimates();
  Method method = one_step_method(
      selection, aggregator_section(options), options.put_back, quantiser_section(options));
  selection.finish();
  const auto dimension = static_cast<std::size_t>(given.dimension);
  check_has_k(options, *method.sparsifier, dimension);
  Method of_runs = one_step_method(
      selection, aggregator_section(options), options.put_back, quantiser_section(options));
  if (estimates) {
    of_runs.feedback = std::move(feedback);
  }
  if (given.steps) {
    return falsify_tight_runs(options, of_runs, selection);
  }
  falsify_tight_iteration(options, method, of_runs, estimates);
  return ExitCode::done;
}

Options with_file(const Options& given) {
  Options options = given;
  if (options.falsify.out.empty()) {
    options.falsify.out = "worst" + format_of(options.falsify);
  }
  return options;
}

ExitCode falsify_assumption(const Options& options) {
  const FalsifyOptions& given = options.falsify;
  const Target& target = target_named(given.against);
  check(options, target);
  const bool has_k = !is_of_low_rank(options);
  const Section selection = has_k ? sparsifier_section(options) : everything_section(options);
  const Method method = one_step_method(
      selection, aggregator_section(options), options.put_back, quantiser_section(options));
  selection.finish();
  const auto workers = static_cast<std::size_t>(given.workers);
  const auto dimension = static_cast<std::size_t>(given.dimension);
  const std::size_t rows = rows_of(options, method, workers, dimension);
  if (has_k) {
    check_has_k(options, *method.sparsifier, dimension);
  }
  check_draws(options, method, target);
  const Worst worst = falsify(method,
                              target,
                              {.workers = static_cast<int>(given.workers),
                               .dimension = dimension,
                               .rows = rows,
                               .seed = static_cast<std::uint64_t>(given.seed),
                               .evaluations = static_cast<std::uint64_t>(given.evaluations)});
  write_vectors(given.out, worst.accumulators, dimension);
  const auto json = as_json(worst, target, options);
  print_json(json, options.json ? -1 : 2);
  return ExitCode::done;
}

}  // namespace

ExitCode falsify_command(const Options& options) {
  const Options named = with_file(options);
  const FalsifyOptions& given = named.falsify;
  require(!given.steps || given.against == kTightRate,
          "--steps are those of runs --against {}; got --against {}",
          kTightRate,
          given.against);
  require(given.feedback == FalsifyOptions().feedback || given.against == kTightRate,
          "--feedback is for --against {}: the other assumptions are on what a residual keeps",
          kTightRate);
  require(given.steps ||
              (given.skip == 0 && given.ratio == FalsifyOptions().ratio && given.nearby.empty()),
          "--skip, --ratio and --nearby are for runs; say how long they are by --steps");
  return given.against == kTightRate ? falsify_tight_rate(named) : falsify_assumption(named);
}

}  // namespace residuum
