#pragma once
// What delta would be, told from the laws of a method's parts alone. Where no law is known there is
// no prediction: for thresholds, selection by layer, a density that changes, rules of one's own.

#include <optional>

#include "assumptions/estimators/capture.h"

namespace residuum {

/// What a prediction must know of a method; by default nothing is.
struct SelectionLaws {
  // Of the sparsifier, over the whole model and at one density.
  bool keeps_largest = false;   // messages are the k largest entries of the accumulators
  bool shares_support = false;  // all workers send the same indices, chosen without their a^p
  std::optional<double> exact_share = std::nullopt;  // s, where E|a - C(a)|^2 = (1 - s) |a|^2

  // Of the aggregator.
  bool applies_whole_messages = false;
  bool selects_largest = false;    // it cuts sums of messages to their k largest entries
  bool cuts_in_merges = false;     // pair by pair, along a tree
  bool completes_support = false;  // g has on its support the sum of all a^p

  bool remembers_residuals = true;  // a^p is a gradient's step and a residual, or the step alone
};

struct DeltaPrediction {
  std::optional<double> delta;
  std::optional<double> largest_workers;  // P*: up to which delta <= 1; absent where it never ends
};

/// At density rho = k/d with P workers.
///
/// A shared support and an exact share s: then the mean of the messages is C(mean a), which no sum
/// of at most k entries cuts, and E delta = (1 - s)/(1 - rho) for every P and all accumulators; 1
/// for Rand-k, whose s is k/d.
///
/// The k largest entries of accumulators whose entries are independent and of one law: the formulas
/// of iid_prediction.h, and for exact gTop-k that of overlap_prediction.h, which is kept for later
/// calls (25 ms at first).
DeltaPrediction predict_delta(const SelectionLaws& laws,
                              double rho,
                              double workers,
                              const EntryLaw& entries = {});

}  // namespace residuum
