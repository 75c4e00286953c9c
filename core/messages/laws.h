#pragma once

namespace residuum {

/// A law is what holds for an aggregator whatever the messages are.
struct AggregatorLaw {
  bool applies_whole_messages = true;  // g is the sum of the messages
  bool cuts_in_merges = false;         // for P > 2, partial sums can be cut from a branch
  bool is_sparse = true;               // g has at most k entries

  // Predictions and verdicts rely on these claims; by default an aggregator makes none.
  bool completes_support = false;  // on its support g is the sum of all a^p: no error there
  bool selects_largest = false;    // it cuts sums of messages to their k largest entries
};

}  // namespace residuum
