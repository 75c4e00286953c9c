#pragma once
// How each assumption is measured: the ratios of the seeds on average, and those of single
// iterations. What is made of them is in assumptions.cc.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/estimators/held_ratio.h"
#include "assumptions/theorems/evidence.h"

namespace residuum {

/// What the mean of the ratios is held against. Single quotients: the largest of each seed instead.
enum class Limit { at_most_one, below_one, around_one, around_zero, single_quotients };

/// The seeds' ratios over the run, or why there are none.
struct Ratios {
  std::vector<double> values;
  double trend = 0;     // sum over the seeds of their sampling errors
  double variance = 0;  // likewise
  std::uint64_t rows = 0;
  std::uint64_t iterations = 0;
  std::string missing;
  std::string note;
  std::string by_law;  // why the ratio is one in expectation; empty: it is measured

  /// Of the mean over the seeds: the trend between rows, which the seeds share, and twice the
  /// standard error by what differs from row to row.
  double sampling_error() const;
};

/// Single iterations of each seed, or why there are none.
struct SinglesOfSeeds {
  std::vector<Singles> seeds;
  std::string missing;
  std::string in_expectation;  // why single draws decide nothing; empty: they do
  bool holds_by_law = false;   // then: the expectation is known
};

struct Judge {
  std::string_view name;
  std::string_view statement;
  std::string_view paper;
  std::string_view cadence;  // the key that says how often it is measured
  Limit limit;
  Ratios (*ratios)(const Evidence& evidence);
  SinglesOfSeeds (*singles)(const Evidence& evidence) = nullptr;
  bool tests_growth = false;
};

std::span<const Judge> assumption_judges();

}  // namespace residuum
