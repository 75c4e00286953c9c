#pragma once
// The varied keys of a run are its columns p_* of runs.csv. Those of runs that differ in the seed
// alone are the same: they are one method. Tables without run ids name it, as in
// "aggregator_kind=dense workers_count=4".

#include <map>
#include <span>
#include <string>

namespace residuum::reports {

class CsvReader;

/// The varied keys of a run with their values, "aggregator_kind" = "dense", without those that it
/// leaves out.
using RunKeys = std::map<std::string, std::string>;

/// Returns the varied keys that a row of runs.csv has. There is a field for each column.
RunKeys keys_in_row(std::span<const std::string> header, std::span<const std::string> fields);
/// Does so for the current record.
RunKeys keys_in_row(const CsvReader& runs);

/// Returns the name of a method, "all" where nothing varies.
std::string method_name(const RunKeys& keys);

/// Reads the name of a method. A word that is no KEY=VALUE belongs to the value before it, as in
/// "command=[a, b]". A name without that form was written for people, and has no keys.
RunKeys keys_in_name(const std::string& method);

}  // namespace residuum::reports
