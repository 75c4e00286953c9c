#pragma once
// The critical ratio is the largest compression that ends no worse than dense training, by more
// than a margin. It is searched for by sequential paired tests:
//
// - Compressed and dense training run with the same seeds, so with the same data, start and batches
//   (common random numbers). The loss of a seed is how much worse the compressed run of that seed
//   ends, and the excess is the loss less the margin, which is a number or a part of what dense
//   training ends at (then the excess is x - (1 + r) y of the pair: Hauschke, Kieser, Diletti,
//   Burke, Statistics in Medicine 1999).
// - A ratio is looked at after n_1 < n_2 < ... < n_K seeds. A look takes Student's interval of the
//   mean excess. If it lies below zero the ratio has no significant loss, if it lies above zero it
//   has one, and else more seeds run; after n_K the ratio is undecided. A diverged run is an
//   infinite loss, which needs no test.
// - The error alpha is divided among the m ratios equally and among the looks by the spending
//   function alpha (n/n_K)^2 (Lan and DeMets, Biometrika 1983; Kim and DeMets, Biometrika 1987).
//   Each interval uses up what its look may spend, and by Bonferroni's inequality all of them, at
//   every ratio and every look, hold together with probability 1 - alpha, whichever are looked at,
//   if the excesses of a ratio are independent normal draws. Skewed ones are wrong more often (the
//   tests simulate exponential and lognormal ones), so each look has the skewness that it saw.
//   These are repeated confidence intervals (Jennison and Turnbull, JRSS B 1989).
// - Without a margin nothing can show that there is no loss; a ratio then counts as one without a
//   significant loss if none was found with n_K seeds, and its interval says what is excluded.
//
// Bisection takes for granted that more compression never loses less. That decides which ratios are
// looked at; the error holds without it.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assumptions/estimators/intervals.h"

namespace residuum::reports {

/// The least error of a search: below, the quantiles of few degrees of freedom are no numbers.
inline constexpr double kLeastAlpha = 1e-100;

/// A plan is made before the first run.
struct SearchPlan {
  std::size_t levels = 0;  // m, compressions; the least first
  double margin = 0;
  bool is_relative = false;  // the margin is a part of dense training's quantity
  bool higher_is_better = false;
  double alpha = 0.05;                  // in [kLeastAlpha, 1)
  std::vector<std::size_t> looks = {};  // n_1 < ... < n_K, at least 2
  bool ascends = false;                 // from the least compression on, instead of bisection
};

/// An ending says how a run ended, if it has.
struct Ending {
  enum class Kind { missing, finished, diverged, failed };
  Kind kind = Kind::missing;
  double value = 0;  // of a finished one; NaN where the quantity was not measured
};

/// Returns how the run of a method ended, by the number of its seed. Method 0 is dense, 1 + i is
/// level i.
using Endings = std::function<Ending(std::size_t method, std::size_t seed)>;

enum class Decision { no_loss, none_found, loss, undecided };

struct SearchLook {
  std::size_t level = 0;
  std::size_t n = 0;  // seeds
  double error = 0;   // what the look spends of alpha
  double loss = 0;    // the mean; infinite if a run diverged, and then without intervals
  std::optional<Interval> loss_interval = {};
  double excess = 0;
  std::optional<Interval> excess_interval = {};  // the one that decides
  double skewness = 0;                           // of the excesses; 0 if they are all the same
  Decision decision = Decision::undecided;
};

struct SearchResult {
  std::vector<SearchLook> looks;   // as they were made
  std::vector<std::size_t> seeds;  // how many each method has needed so far, missing ones too
  bool is_over = false;
  std::string trouble;                 // why it cannot go on
  std::optional<std::size_t> largest;  // level without significant loss
  bool is_monotone = true;             // no level loses significantly more than one beyond it

  /// Returns the last look at a level; nullptr if there was none.
  const SearchLook* last_look(std::size_t level) const;
};

/// Makes the search anew from the first look on, until a run that it needs is missing.
SearchResult follow_search(const SearchPlan& plan, const Endings& endings);

/// Returns m_3/m_2^(3/2) of the central moments m_i; 0 if all values are the same or one is not
/// finite. It is at most (n - 2)/sqrt(n - 1).
double skewness_of(std::span<const double> values);

/// Returns what look k of a level may spend of alpha.
double error_of_look(const SearchPlan& plan, std::size_t look);

/// Returns how many levels a search looks at, at most.
std::size_t most_levels(const SearchPlan& plan);

/// Returns numbers of seeds from `first` to `most`, each twice the one before.
std::vector<std::size_t> doubling_looks(std::size_t first, std::size_t most);

}  // namespace residuum::reports
