#pragma once

namespace residuum {

/// What holds for an aggregator whatever the messages are.
struct AggregatorLaw {
  bool applies_whole_messages = true;  // g is the sum of the messages
  bool cuts_in_merges = false;         // partial sums can be cut from a branch, P > 2
  bool is_sparse = true;               // g has at most k entries

  // Predictions and verdicts go by these; an aggregator that says nothing claims nothing.
  bool completes_support = false;  // g has on its support the sum of all a^p: no error there
  bool selects_largest = false;    // it cuts sums of messages to their k largest entries
};

}  // namespace residuum
