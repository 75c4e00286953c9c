#pragma once
// Measured ratios, of which verdicts are made: one number of each seed, pooled over its run, and
// the single iterations of each seed.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/estimators/held_ratio.h"
#include "assumptions/theorems/evidence.h"

namespace residuum {

/// Ratios that are one by theory may come out a little above by rounding. Difference quotients of
/// gradients do so by more: points as near as 1e-6 of |w| are compared.
inline constexpr double kRatioRounding = 1e-9;
inline constexpr double kQuotientRounding = 1e-6;

/// The seeds' ratios over the run, or why there are none.
struct Ratios {
  std::vector<double> values;
  /// The ratios of the four quarters of each seed's run; empty where one of them has none.
  std::vector<std::array<double, 4>> quarters;
  double trend = 0;     // sum over the seeds of their sampling errors
  double variance = 0;  // sum over the seeds of the squares of their standard errors
  std::uint64_t rows = 0;
  std::uint64_t iterations = 0;
  std::string missing;
  std::string note;
  std::string by_law;     // why the ratio is one in expectation; empty: it is measured
  std::string known_not;  // why the assumption is known not to be met, whatever was measured

  /// The sampling error of the mean over the seeds is the trend between rows, which the seeds
  /// share, and twice the standard error by what differs from row to row.
  double sampling_error() const;
};

/// Single iterations of each seed, or why there are none.
struct SinglesOfSeeds {
  std::vector<Singles> seeds;
  std::string missing;
  std::string in_expectation;  // why single draws decide nothing; empty: they do
  bool holds_by_law = false;   // then the expectation is known
};

Ratios no_ratios(std::string why);
SinglesOfSeeds no_singles(std::string why);

/// Takes one number of each seed from `ratio`, which returns none where the seed was not measured;
/// `source` names what it needs.
template <class Ratio>
Ratios ratios_of_seeds(const Evidence& evidence, std::string_view source, Ratio ratio) {
  Ratios ratios;
  for (const auto& seed : evidence.seeds()) {
    const std::optional<double> value = ratio(seed.measures());
    if (!value) {
      return no_ratios(fmt::format("needs {}", source));
    }
    if (std::isnan(*value)) {
      return no_ratios("what was measured is not finite");
    }
    ratios.values.push_back(*value);
  }
  return ratios.values.empty() ? no_ratios("no run has finished") : ratios;
}

/// The pooled ratio of each seed times its `factor`, with what sampling may have hidden.
Ratios pooled_ratios(
    const Evidence& evidence,
    std::string_view source,
    HeldRatio SeedMeasures::*held,
    const std::function<double(const SeedMeasures&)>& factor = [](const auto&) { return 1.0; });

SinglesOfSeeds singles_of_seeds(const Evidence& evidence,
                                std::string_view source,
                                Singles SeedMeasures::*member);

// The list of judges says which assumptions there are and how each is measured: by the ratios of
// the seeds on average, and by those of single iterations. assumptions.cc makes verdicts of them. A
// new assumption is a function or two in judges.cc and a line of its table.

/// The mean of the ratios is held against this limit; with `single_quotients` the largest ratio of
/// each seed is. `no_growth`: the ratio is one if nothing grew; its interval lies above one, or
/// below kGrowth, or nothing is decided.
enum class Limit { at_most_one, below_one, around_one, around_zero, single_quotients, no_growth };

/// The factor below which `no_growth` takes a quantity for one that did not grow.
inline constexpr double kGrowth = 1.1;

struct Judge {
  std::string_view name;
  std::string_view statement;
  std::string_view paper;
  std::string_view cadence;  // the key that says how often it is measured
  Limit limit;
  Ratios (*ratios)(const Evidence& evidence);
  SinglesOfSeeds (*singles)(const Evidence& evidence) = nullptr;
};

std::span<const Judge> assumption_judges();

}  // namespace residuum
