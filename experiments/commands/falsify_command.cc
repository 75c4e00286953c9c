// `residuum falsify` searches for accumulators that violate an assumption and writes the worst as a
// file that `residuum inspect` reads back with the same number.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/falsify/falsify.h"
#include "assumptions/falsify/tight_search.h"
#include "assumptions/one_step.h"
#include "core/output_file.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/component_options.h"
#include "experiments/commands/vectors_file.h"
#include "experiments/console/streams.h"
#include "reports/tables/result_folder.h"

namespace residuum {
namespace {

/// Beyond this the search holds gigabytes.
constexpr std::int64_t kMostNumbers = 10'000'000;

void check_k(const Options& options, const Target& target) {
  if (is_of_low_rank(options)) {
    require(target.name != "delta",
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
  require(target.name != "delta" || *options.k < dimension,
          "--against delta needs --k below --dim: with k = d there is no random selection to "
          "compare with");
}

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
  require(given.out.extension() == ".npy",
          "--out {} must end in .npy, the format that is written",
          given.out.string());
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
  require(method.sparsifier->law(dimension, 1).deterministic || target.name == "conservation",
          "--sparsifier {} draws at random, and one draw says nothing of the expectation that "
          "--against {} bounds; use \"top-k\" or \"chunk-top-k\", or --against conservation",
          options.sparsifier,
          target.name);
  const bool draws = method.quantiser != nullptr && method.quantiser->law(1).random;
  require(!draws || target.name == "conservation",
          "--quantiser {} draws at random, and one draw says nothing of the expectation that "
          "--against {} bounds; use \"sign\" or \"table\", or --against conservation",
          options.quantiser,
          target.name);
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
  if (options.sparsifier != Options().sparsifier) {
    json["sparsifier"] = options.sparsifier;
  }
  if (options.quantiser != "none") {
    json["quantiser"] = options.quantiser;
  }
  return json;
}

// --- Against the tight rate ----------------------------------------------------------------------

constexpr std::string_view kTightRate = "tight-rate";

/// The theory bounds selections by the share that each draw keeps.
double share_kept(const Options& options, const Method& method, std::size_t dimension) {
  const auto law = method.message_law(*method.sparsifier, dimension, 1);
  require(law.contraction.has_value() && law.pathwise && *law.contraction < 1,
          "--against {} needs messages that keep a share of every accumulator, below 1, in each "
          "draw; --sparsifier {} with this --k does not",
          kTightRate,
          options.sparsifier);
  return *law.contraction;
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

reports::Json as_json(const WorstIteration& worst, const Options& options) {
  const auto dimension = static_cast<std::size_t>(options.falsify.dimension);
  return {{"worst", reports::json_number(worst.ratio)},
          {"verdict", worst.is_above() ? "violated" : "not violated"},
          {"against", kTightRate},
          {"assumption", "V' <= rho* V in one iteration of error feedback, from any state"},
          {"bound", reports::json_number(worst.rate)},
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
          {"file", options.falsify.out.string()}};
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
  require(given.condition > 1 && std::isfinite(given.condition),
          "--condition is {}, but must be above 1",
          given.condition);
  const Section selection = sparsifier_section(options);
  const Method method = one_step_method(
      selection, aggregator_section(options), options.put_back, quantiser_section(options));
  selection.finish();
  const auto dimension = static_cast<std::size_t>(given.dimension);
  check_has_k(options, *method.sparsifier, dimension);
  const auto worst = falsify_rate(method,
                                  {.workers = static_cast<int>(given.workers),
                                   .dimension = dimension,
                                   .condition = given.condition,
                                   .contraction = share_kept(options, method, dimension),
                                   .seed = static_cast<std::uint64_t>(given.seed),
                                   .evaluations = static_cast<std::uint64_t>(given.evaluations)});
  write_vectors(given.out, worst.accumulators, dimension);
  print_json(as_json(worst, options), options.json ? -1 : 2);
  return ExitCode::done;
}

}  // namespace

ExitCode falsify_command(const Options& options) {
  const FalsifyOptions& given = options.falsify;
  if (given.against == kTightRate) {
    return falsify_tight_rate(options);
  }
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

}  // namespace residuum
