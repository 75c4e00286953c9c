// `residuum list` prints what can be named in a study, one line each, with the paper it comes from.

#include <fmt/format.h>

#include <functional>
#include <map>
#include <span>

#include "assumptions/probes/probe.h"
#include "assumptions/theorems/theorem.h"
#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/protocols/protocol.h"
#include "core/quantisers/quantiser.h"
#include "core/record/tables.h"
#include "core/sparsifiers/sparsifier.h"
#include "experiments/commands/commands.h"
#include "experiments/console/streams.h"
#include "experiments/study/network_section.h"
#include "objectives/data/catalogue.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

struct Line {
  std::string name;
  std::string summary;
  std::string source;
};

template <class Entries>
std::vector<Line> lines_of(const Entries& entries) {
  std::vector<Line> lines;
  lines.reserve(entries.size());
  for (const auto& entry : entries) {
    lines.push_back({.name = std::string(entry.name),
                     .summary = std::string(entry.summary),
                     .source = std::string(entry.source)});
  }
  return lines;
}

std::vector<Line> dataset_lines() {
  std::vector<Line> lines;
  lines.reserve(datasets().size());
  for (const auto& entry : datasets()) {
    lines.push_back({.name = entry.name, .summary = entry.summary, .source = entry.terms});
  }
  return lines;
}

/// The columns of iterations.csv, and as workers.NAME those of the tables of details.
std::vector<Line> column_lines() {
  std::vector<Line> lines;
  const auto append = [&](const std::string& before, std::span<const ColumnInfo> columns) {
    lines.reserve(lines.size() + columns.size());
    for (const auto& column : columns) {
      lines.push_back({.name = before + std::string(column.name),
                       .summary = std::string(column.meaning),
                       .source = std::string(column.unit)});
    }
  };
  append("", kColumns);
  for (const TableInfo* table : kDetailTables) {
    append(std::string(table->name) + '.', table->columns);
  }
  return lines;
}

const std::vector<std::pair<std::string, std::function<std::vector<Line>()>>>& rooms() {
  static const std::vector<std::pair<std::string, std::function<std::vector<Line>()>>> all{
      {"objectives", [] { return lines_of(objectives()); }},
      {"datasets", dataset_lines},
      {"sparsifiers", [] { return lines_of(sparsifiers()); }},
      {"quantisers", [] { return lines_of(quantisers()); }},
      {"aggregators", [] { return lines_of(aggregators()); }},
      {"feedback", [] { return lines_of(feedbacks()); }},
      {"protocols", [] { return lines_of(protocols()); }},
      {"networks", [] { return lines_of(named_networks()); }},
      {"probes", [] { return lines_of(probes()); }},
      {"theorems",
       [] {
         std::vector<Line> lines;
         for (const auto& theorem : theorems()) {
           lines.push_back({.name = std::string(theorem.name),
                            .summary = std::string(theorem.statement),
                            .source = std::string(theorem.paper)});
         }
         return lines;
       }},
      {"columns", column_lines}};
  return all;
}

void print(const std::string& room, const std::vector<Line>& lines, bool with_title) {
  if (with_title) {
    fmt::print("{}\n", room);
  }
  for (const auto& line : lines) {
    const std::string source = line.source.empty() ? "" : fmt::format("  [{}]", line.source);
    fmt::print("{}{:<22} {}{}\n", with_title ? "  " : "", line.name, line.summary, source);
  }
}

nlohmann::json as_json(const std::vector<Line>& lines) {
  auto list = nlohmann::json::array();
  for (const auto& line : lines) {
    list.push_back({{"name", line.name}, {"summary", line.summary}, {"source", line.source}});
  }
  return list;
}

}  // namespace

ExitCode list_command(const Options& options) {
  std::vector<std::string> known;
  auto json = nlohmann::json::object();
  for (const auto& [room, lines] : rooms()) {
    known.push_back(room);
    if (!options.room.empty() && options.room != room) {
      continue;
    }
    if (options.json) {
      json[room] = as_json(lines());
    } else {
      print(room, lines(), options.room.empty());
    }
  }
  require(
      options.room.empty() || std::find(known.begin(), known.end(), options.room) != known.end(),
      "nothing called '{}' can be listed{}",
      options.room,
      suggestion(options.room, known));
  if (options.json) {
    print_json(json);
  }
  return ExitCode::done;
}

}  // namespace residuum
