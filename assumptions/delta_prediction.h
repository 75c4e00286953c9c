#pragma once
// This file predicts delta from the laws of a method's parts alone. There is no prediction where no
// law is known: for thresholds, selection by layer, a changing density, a user's own components.

#include <optional>

#include "assumptions/estimators/capture.h"

namespace residuum {

/// A prediction goes by these laws of a method; by default none is known.
struct SelectionLaws {
  // These are the sparsifier's, over the whole model and at one density.
  bool keeps_largest = false;   // messages are the k largest entries of the accumulators
  bool shares_support = false;  // all workers send the same indices, chosen without their a^p
  std::optional<double> exact_contraction = std::nullopt;  // s, where E|a - C(a)|^2 = (1 - s) |a|^2

  // These are the aggregator's.
  bool applies_whole_messages = false;
  bool selects_largest = false;    // it cuts sums of messages to their k largest entries
  bool cuts_in_merges = false;     // it cuts pair by pair, along a tree
  bool completes_support = false;  // g has on its support the sum of all a^p

  bool remembers_residuals = true;  // a^p is a gradient's step and a residual, or the step alone
};

struct DeltaPrediction {
  std::optional<double> delta;
  std::optional<double> largest_workers;  // P*: delta <= 1 up to here; absent where it has no end
};

/// Predicts delta at density rho = k/d with P workers.
///
/// With a shared support and an exact share s the mean of the messages is C(mean a), which no sum
/// of at most k entries cuts, and E delta = (1 - s)/(1 - rho) for every P and all accumulators. It
/// is 1 for Rand-k, whose s is k/d.
///
/// For the k largest entries of accumulators with independent entries of one law it takes the
/// formulas of iid_prediction.h, and for exact gTop-k that of overlap_prediction.h, whose result is
/// kept for later calls (the first takes 25 ms).
DeltaPrediction predict_delta(const SelectionLaws& laws,
                              double rho,
                              double workers,
                              const EntryLaw& entries = {});

}  // namespace residuum
