#include "reports/exports/summary_tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "reports/tables/files.h"
#include "reports/tables/result_folder.h"

namespace residuum::reports {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string field_at(const Json& object, std::string_view dotted) {
  return json_field(value_at(object, dotted));
}

std::string end_of_interval(const Json& object, std::size_t end) {
  const Json& interval = value_at(object, "interval");
  return interval.is_array() && end < interval.size() ? json_field(interval[end]) : std::string();
}

TextTable theorems(const Json& summary) {
  TextTable table{.file = {},
                  .header = {"method",
                             "theorem",
                             "verdict",
                             "seeds",
                             "iterations",
                             "lhs",
                             "rhs",
                             "slack",
                             "largest_term",
                             "share"},
                  .rows = {}};
  for (const auto& group : value_at(summary, "groups")) {
    for (const auto& theorem : value_at(group, "theorems")) {
      auto& row = table.rows.emplace_back();
      row.push_back(field_at(group, "label"));
      for (const char* path : {"name", "verdict", "seeds", "iterations", "lhs", "rhs", "slack"}) {
        row.push_back(field_at(theorem, path));
      }
      const Json& terms = value_at(theorem, "terms");
      const auto most =
          std::max_element(terms.begin(), terms.end(), [](const Json& a, const Json& b) {
            return number_at(a, "share") < number_at(b, "share");
          });
      row.push_back(most == terms.end() ? "" : field_at(*most, "attribution"));
      row.push_back(most == terms.end() ? "" : field_at(*most, "share"));
    }
  }
  return table;
}

TextTable checks(const Json& summary) {
  TextTable table{.file = {}, .header = {"method", "check", "worst_ratio"}, .rows = {}};
  for (const auto& group : value_at(summary, "groups")) {
    for (const auto& [check, found] : value_at(group, "checks").items()) {
      if (std::string ratio = field_at(found, "worst_ratio"); !ratio.empty()) {
        table.rows.push_back({field_at(group, "label"), check, std::move(ratio)});
      }
    }
  }
  return table;
}

TextTable rates(const Json& summary) {
  TextTable table{
      .file = {}, .header = {"method", "against", "slope", "lower", "upper", "seeds"}, .rows = {}};
  for (const auto& rate : value_at(summary, "rates")) {
    table.rows.push_back({field_at(rate, "label"),
                          field_at(rate, "against"),
                          field_at(rate, "slope"),
                          end_of_interval(rate, 0),
                          end_of_interval(rate, 1),
                          field_at(rate, "seeds")});
  }
  return table;
}

void add_at_equal(const std::string& quantity, const Json& at, Rows& rows) {
  for (const auto& method : value_at(at, "methods")) {
    rows.push_back({field_at(method, "label"),
                    quantity,
                    field_at(at, "cost"),
                    field_at(at, "budget"),
                    field_at(method, "mean"),
                    end_of_interval(method, 0),
                    end_of_interval(method, 1),
                    field_at(method, "seeds")});
  }
}

TextTable equal(const Json& summary) {
  TextTable table{
      .file = {},
      .header = {"method", "quantity", "cost", "budget", "mean", "lower", "upper", "seeds"},
      .rows = {}};
  for (const auto& comparison : value_at(summary, "comparisons")) {
    for (const auto& at : value_at(comparison, "at_equal")) {
      add_at_equal(field_at(comparison, "quantity"), at, table.rows);
    }
  }
  return table;
}

TextTable predicted(const Json& summary) {
  TextTable table{.file = {},
                  .header = {"method", "workers_count", "normal", "laplace", "largest_workers"},
                  .rows = {}};
  for (const auto& method : value_at(summary, "delta_against_workers")) {
    for (const auto& place : value_at(method, "places")) {
      table.rows.push_back({field_at(method, "method"),
                            field_at(place, "workers"),
                            field_at(place, "predicted"),
                            field_at(place, "predicted_laplace"),
                            field_at(method, "predicted_largest_workers")});
    }
  }
  return table;
}

/// Rows that are equal are one: runs of one problem have the same facts.
TextTable facts(const std::filesystem::path& results, const Json& summary) {
  TextTable table{.file = {}, .header = {"smoothness", "without_l2", "minimum"}, .rows = {}};
  std::set<std::vector<std::string>> seen;
  for (const auto& run : value_at(summary, "runs")) {
    const std::string id = text_at(run, "run_id");
    require(is_run_id(id), "summary.json names a run that is no run_id: {}", id);
    const Json status = read_run(results / "runs" / id, id).status;
    const auto smoothness = number_at(status, "facts.smoothness");
    const auto convexity = number_at(status, "facts.strong_convexity");
    std::vector<std::string> row{
        field_at(status, "facts.smoothness"),
        smoothness && convexity ? json_field(json_number(*smoothness - *convexity)) : "",
        field_at(status, "facts.minimum")};
    if (seen.insert(row).second) {
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

using MakeTable = TextTable (*)(const std::filesystem::path&, const Json&);

constexpr std::array<std::pair<std::string_view, MakeTable>, 6> kTables{
    {{"theorems",
      [](const std::filesystem::path&, const Json& summary) { return theorems(summary); }},
     {"checks", [](const std::filesystem::path&, const Json& summary) { return checks(summary); }},
     {"rates", [](const std::filesystem::path&, const Json& summary) { return rates(summary); }},
     {"equal", [](const std::filesystem::path&, const Json& summary) { return equal(summary); }},
     {"predicted",
      [](const std::filesystem::path&, const Json& summary) { return predicted(summary); }},
     {"facts", facts}}};

}  // namespace

std::vector<std::string> summary_table_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : kTables) {
    names.emplace_back(name);
  }
  return names;
}

TextTable summary_table(const std::filesystem::path& results, const std::string& name) {
  const auto* const found = std::find_if(
      kTables.begin(), kTables.end(), [&](const auto& table) { return table.first == name; });
  require(found != kTables.end(), "--tables: unknown '{}'", name);
  TextTable table = found->second(results, read_json(results / "summary.json"));
  table.file = name + ".csv";
  require(!table.rows.empty(), "the report of {} has nothing for {}", results.string(), table.file);
  return table;
}

}  // namespace residuum::reports
