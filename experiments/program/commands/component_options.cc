#include "experiments/program/commands/component_options.h"

#include <array>

namespace residuum {
namespace {

/// True if the quantiser that is asked for is that of the aggregator's own messages.
bool aggregator_quantises(const Options& options) {
  return make_aggregator(Section("aggregator", {{"kind", options.aggregator}}))
      ->law()
      .quantises_itself;
}

}  // namespace

std::string quantiser_kind(const Options& options) { return options.quantiser.value_or("none"); }

void add_quantiser_names(const Options& options, nlohmann::ordered_json& json) {
  if (options.quantiser && options.quantiser != "none") {
    json["quantiser"] = *options.quantiser;
  }
  if (options.bits) {
    json["bits"] = *options.bits;
  }
}

Section quantiser_section(const Options& options) {
  if (aggregator_quantises(options)) {
    return {"quantiser", nlohmann::json{{"kind", "none"}}};
  }
  nlohmann::json values{{"kind", quantiser_kind(options)}};
  if (options.bits) {
    values["bits"] = *options.bits;
  }
  return {"quantiser", values};
}

Section sparsifier_section(const Options& options) {
  nlohmann::json values{{"kind", options.sparsifier}};
  if (options.k) {
    values["k"] = *options.k;
  }
  if (options.density) {
    values["density"] = *options.density;
  }
  if (options.block) {
    values["block"] = *options.block;
  }
  return {"sparsifier", values};
}

void check_has_k(const Options& options, const Sparsifier& sparsifier, std::size_t dimension) {
  require(sparsifier.k(dimension).has_value(),
          "--sparsifier {} keeps as many entries as the data decide; use one that keeps k, such as "
          "\"top-k\" or \"chunk-top-k\"",
          options.sparsifier);
}

Section aggregator_section(const Options& options) {
  nlohmann::json values{{"kind", options.aggregator}};
  if (options.rank) {
    values["rank"] = *options.rank;
  }
  if (aggregator_quantises(options)) {
    if (options.quantiser) {
      values["quantiser"] = *options.quantiser;
    }
    if (options.bits) {
      values["bits"] = *options.bits;
    }
  }
  return {"aggregator", values};
}

bool is_of_low_rank(const Options& options) {
  return make_aggregator(aggregator_section(options))->law().approximates_sum;
}

Section everything_section(const Options& options) {
  require(!options.k && !options.density && !options.threshold && !options.block &&
              options.sparsifier == Options().sparsifier,
          "--aggregator {} sends no entries: leave out --k, --density, --threshold, --sparsifier "
          "and --block",
          options.aggregator);
  return {"sparsifier", nlohmann::json{{"kind", "none"}}};
}

std::size_t rows_of(const Options& options,
                    const Method& method,
                    std::size_t workers,
                    std::size_t dimension) {
  if (!method.aggregator->reads_matrices()) {
    require(!options.rows && !options.rank,
            "{} goes with an aggregator that reads matrices, not with '{}'",
            options.rows ? "--rows" : "--rank",
            options.aggregator);
    return 1;
  }
  require(options.rows.has_value(),
          "--aggregator {} takes accumulators as matrices: say with --rows how many rows they have",
          options.aggregator);
  require(*options.rows > 1 && static_cast<std::size_t>(*options.rows) < dimension &&
              dimension % static_cast<std::size_t>(*options.rows) == 0,
          "--rows is {}, but must divide the {} entries of an accumulator into a matrix",
          *options.rows,
          dimension);
  const auto rows = static_cast<std::size_t>(*options.rows);
  const std::array matrix{MatrixPlace{.rows = rows, .columns = dimension / rows}};
  method.aggregator->check(static_cast<int>(workers), matrix);
  return rows;
}

}  // namespace residuum
