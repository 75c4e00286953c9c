// `residuum inspect` makes one aggregation step on vectors that the user brings.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/delta_prediction.h"
#include "assumptions/one_step.h"
#include "assumptions/verdicts/ratios.h"
#include "core/sparsifiers/magnitude_law.h"
#include "core/training/method_facts.h"
#include "core/vectors/dense.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/component_options.h"
#include "experiments/program/commands/vectors_file.h"
#include "experiments/program/console/streams.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

using Vectors = std::vector<std::vector<double>>;

Section selection_section(const Options& options) {
  if (is_of_low_rank(options)) {
    return everything_section(options);
  }
  const int given = (options.k ? 1 : 0) + (options.density ? 1 : 0) + (options.threshold ? 1 : 0);
  require(given == 1, "give one of --k, --density and --threshold");
  if (!options.threshold) {
    return sparsifier_section(options);
  }
  require(options.sparsifier == Options().sparsifier && !options.block,
          "--threshold is that of hard-threshold: leave out --sparsifier and --block");
  return {"sparsifier",
          nlohmann::json{{"kind", "hard-threshold"}, {"threshold", *options.threshold}}};
}

Method make_method(const Options& options) {
  const Section selection = selection_section(options);
  Method method = one_step_method(
      selection, aggregator_section(options), options.put_back, quantiser_section(options));
  selection.finish();
  require(!options.threshold || !method.aggregator->needs_k(),
          "aggregator '{}' selects k entries: it goes with --k or --density, not --threshold",
          options.aggregator);
  return method;
}

std::vector<double> flattened(const Vectors& vectors) {
  std::vector<double> flat;
  for (const auto& row : vectors) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

/// |mean of the rows|.
double mean_norm(const Vectors& vectors) {
  std::vector<double> mean(vectors.front().size());
  for (const auto& row : vectors) {
    add_to<double>(mean, row);
  }
  return std::sqrt(norm_sq<double>(mean)) / static_cast<double>(vectors.size());
}

reports::Json column(const Row& row, Column column) {
  return reports::json_number(row.get(column));
}

/// Tells how well each law describes the magnitudes of all entries; null where it cannot be fitted.
reports::Json magnitude_laws(const Vectors& vectors, double share) {
  using Family = MagnitudeFamily;
  const auto values = flattened(vectors);
  reports::Json laws = reports::Json::object();
  for (const auto& [name, family] : {std::pair{"normal", Family::normal},
                                     std::pair{"exponential", Family::exponential},
                                     std::pair{"gamma", Family::gamma},
                                     std::pair{"generalised_pareto", Family::generalised_pareto}}) {
    const auto fitted = fit_magnitudes<double>(family, values);
    if (!fitted) {
      laws[name] = nullptr;
      continue;
    }
    const auto fit = goodness_of_fit<double>(fitted->law, values, share);
    laws[name] = {{"shape", reports::json_number(fitted->law.shape)},
                  {"scale", reports::json_number(fitted->law.scale)},
                  {"ks_distance", reports::json_number(fit.ks_distance)},
                  {"p_value", reports::json_number(fit.p_value)},
                  {"threshold", reports::json_number(fitted->law.threshold(share))},
                  {"tail_share", reports::json_number(fit.tail_share)}};
  }
  return laws;
}

reports::Json as_json(const StepQuantities& step,
                      const Vectors& vectors,
                      const Method& method,
                      const Options& options) {
  const std::size_t workers = vectors.size();
  const std::size_t dimension = vectors.front().size();
  const auto d = static_cast<double>(dimension);
  const Row& row = step.row;
  const bool has_k = !method.aggregator->law().approximates_sum;
  RunFacts facts = method_facts(method, dimension, ProtocolLaw(), static_cast<int>(workers));
  facts.k = step.k;  // with thresholds the mean sent
  const auto predicted = predict_delta(facts);
  reports::Json json{{"workers", workers},
                     {"dimension", dimension},
                     {"k", has_k ? reports::Json(step.k) : reports::Json()},
                     {"density", has_k ? reports::Json(step.k / d) : reports::Json()},
                     {"aggregator", options.aggregator},
                     {"putback", options.put_back},
                     {"delta", column(row, Column::delta)},
                     {"delta_in", column(row, Column::delta_in)},
                     {"delta_out", column(row, Column::delta_out)},
                     {"captured_energy", column(row, Column::captured_energy)},
                     {"xi", column(row, Column::xi)},
                     {"contraction", column(row, Column::contraction)},
                     {"accumulator_norm_sq", column(row, Column::accumulator_norm_sq)},
                     {"residual_norm_sq", column(row, Column::residual_norm_sq)},
                     {"mean_residual_norm_sq", column(row, Column::mean_residual_norm_sq)},
                     {"lost_mass_norm_sq", column(row, Column::lost_mass_norm_sq)},
                     {"conservation_defect", column(row, Column::conservation_defect)},
                     {"nnz_sent", column(row, Column::nnz_sent)},
                     {"nnz_applied", column(row, Column::nnz_applied)},
                     {"sent_bytes", column(row, Column::sent_bytes)},
                     {"rounds", column(row, Column::rounds)},
                     {"predicted_delta_iid", reports::json_number(predicted.delta)}};
  if (options.fits) {
    json["magnitude_laws"] = magnitude_laws(vectors, step.k / d);
  }
  if (options.entries) {
    json["selected"] = step.update.indices;
    json["update"] = step.update.values;
  }
  if (options.sparsifier != Options().sparsifier) {
    json["sparsifier"] = options.sparsifier;
  }
  add_quantiser_names(options, json);
  return json;
}

template <class... Args>
void print_line(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(format, std::forward<Args>(args)...);
  fmt::print("\n");
}

bool is_above_one(double value) { return value > 1 + kQuotientRounding; }

void print_delta(const Row& row, const reports::Json& json) {
  const auto delta = row.get(Column::delta);
  if (!delta) {
    print_line("delta is not defined for this method and these vectors");
    return;
  }
  print_line("delta = {:.4g} {} 1: the assumption {} for these vectors",
             *delta,
             is_above_one(*delta) ? ">" : "<=",
             is_above_one(*delta) ? "fails" : "holds");
  if (json["predicted_delta_iid"].is_number()) {
    print_line("predicted delta = {:.4g}, of independent normal entries",
               json["predicted_delta_iid"].get<double>());
  }
}

void print_memory(const Row& row) {
  if (const auto q = row.get(Column::contraction)) {
    print_line("contraction = {:.4g} {} 1: the mean residual keeps {:.3g} % of |mean a|^2",
               *q,
               is_above_one(*q) ? ">" : "<=",
               100 * *q);
  }
  if (const auto xi = row.get(Column::xi)) {
    print_line("xi = {:.4g}, |Top_k(mean a) - mean Top_k(a)| over the norm of the step", *xi);
  }
  if (const auto lost = row.get(Column::lost_mass_norm_sq); lost && *lost > 0) {
    print_line("lost: a vector of squared norm {:.4g} is neither applied nor kept", *lost);
  } else if (lost) {
    print_line("nothing is lost: what is not applied is in the residuals");
  }
}

void print_traffic(const Row& row) {
  const auto number = [&](Column column) { return row.get(column).value_or(0); };
  print_line("{:.0f} entries are sent, in {:.0f} bytes and {:.0f} rounds; {:.0f} are applied",
             number(Column::nnz_sent),
             number(Column::sent_bytes),
             number(Column::rounds),
             number(Column::nnz_applied));
}

void print_fits(const reports::Json& laws) {
  for (const auto& [name, fit] : laws.items()) {
    if (fit.is_null()) {
      print_line("magnitudes: {} cannot be fitted", name);
    } else {
      print_line("magnitudes: {} has the distance {:.3g} (Kolmogorov-Smirnov, p = {:.2g})",
                 name,
                 fit["ks_distance"].get<double>(),
                 fit["p_value"].get<double>());
    }
  }
}

/// Prints a sentence for each quantity.
void print_answers(const StepQuantities& step, const reports::Json& json) {
  const std::string selection =
      json["k"].is_null()
          ? "no k"
          : fmt::format("k = {:.6g} (density {:.4g})", step.k, json["density"].get<double>());
  print_line("{} workers, d = {}, {}, aggregator {}, put-back {}",
             json["workers"].get<std::size_t>(),
             json["dimension"].get<std::size_t>(),
             selection,
             json["aggregator"].get<std::string>(),
             json["putback"].get<std::string>());
  print_delta(step.row, json);
  print_memory(step.row);
  print_traffic(step.row);
  if (json.contains("magnitude_laws")) {
    print_fits(json["magnitude_laws"]);
  }
  if (json.contains("update")) {
    for (std::size_t i = 0; i < step.update.indices.size(); ++i) {
      print_line("update {}: {}", step.update.indices[i], step.update.values[i]);
    }
  }
}

}  // namespace

ExitCode inspect_command(const Options& options) {
  const Vectors accumulators = read_vectors(options.file, options.step, options.member);
  const Method method = make_method(options);
  const std::size_t workers = accumulators.size();
  const std::size_t dimension = accumulators.front().size();
  const std::size_t rows = rows_of(options, method, workers, dimension);
  if (!options.threshold && !is_of_low_rank(options)) {
    check_has_k(options, *method.sparsifier, dimension);
  }
  const std::vector<double> flat = flattened(accumulators);
  require(std::isfinite(norm_sq<double>(flat)),
          "{}: the squares of its numbers exceed float64, so nothing can be said of them; scale "
          "them down",
          options.file.string());
  OneStep step(method, static_cast<int>(workers), dimension, OneStep::usual_probes(), rows);
  // Bytes are those of a training, whose messages are float32.
  const auto bytes = step.on(flat, Precision::float32).get(Column::sent_bytes);
  StepQuantities quantities = step.on(flat);
  if (bytes) {
    quantities.row.set(Column::sent_bytes, *bytes);
  }
  if (options.gradient) {
    const bool is_archive = options.gradient->extension() == ".npz";
    const Vectors gradients =
        read_vectors(*options.gradient, options.step, is_archive ? options.member : std::nullopt);
    require(gradients.size() == workers && gradients.front().size() == dimension,
            "{} holds {} vectors of {} numbers, {} holds {} of {}",
            options.gradient->string(),
            gradients.size(),
            gradients.front().size(),
            options.file.string(),
            workers,
            dimension);
    // xi is relative to the gradient's step alone, the accumulator being residual plus that step.
    const double scale = mean_norm(gradients);
    if (const auto xi = quantities.get(Column::xi); xi && scale > 0) {
      quantities.row.set(Column::xi, *xi * mean_norm(accumulators) / scale);
    }
  }
  const auto json = as_json(quantities, accumulators, method, options);
  if (options.json) {
    print_json(json, -1);
  } else {
    print_answers(quantities, json);
  }
  return ExitCode::done;
}

}  // namespace residuum
