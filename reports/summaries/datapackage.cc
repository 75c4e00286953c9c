// The schema of the collected tables is a Frictionless data package
// (https://specs.frictionlessdata.io), made of the tables that also write the headers.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/record/columns.h"
#include "reports/summaries/collect.h"
#include "reports/summaries/search_table.h"

namespace residuum::reports {
namespace {

Json field(std::string_view name,
           std::string_view type,
           std::string_view meaning,
           std::string_view unit = {}) {
  Json object{{"name", name}, {"type", type}};
  if (!meaning.empty()) {
    object["description"] = meaning;
  }
  if (!unit.empty()) {
    object["unit"] = unit;
  }
  if (type == "boolean") {
    object["trueValues"] = Json::array({"1"});
    object["falseValues"] = Json::array({"0"});
  }
  return object;
}

Json resource(std::string_view name, const Json& fields, const Json& primary_key) {
  Json schema{{"fields", fields}, {"missingValues", Json::array({""})}};
  if (!primary_key.empty()) {
    schema["primaryKey"] = primary_key;
  }
  if (name != "runs" && name != "bounds" && name != "search" && name != "tuning") {
    schema["foreignKeys"] = Json::array({Json{
        {"fields", "run_id"}, {"reference", Json{{"resource", "runs"}, {"fields", "run_id"}}}}});
  }
  return {{"name", name},
          {"path", std::string(name) + ".csv"},
          {"profile", "tabular-data-resource"},
          {"format", "csv"},
          {"mediatype", "text/csv"},
          {"encoding", "utf-8"},
          {"dialect", Json{{"delimiter", ","}, {"lineTerminator", "\n"}, {"header", true}}},
          {"schema", schema}};
}

Json run_fields(const ResultFolder& folder) {
  Json fields = Json::array();
  for (const auto& column : run_columns(folder)) {
    fields.push_back(field(column.name, column.type, column.meaning));
  }
  return fields;
}

void append_fields(std::span<const ColumnInfo> columns, Json& fields) {
  for (const auto& column : columns) {
    const bool is_integer = column.type == ColumnType::integer;
    fields.push_back(
        field(column.name, is_integer ? "integer" : "number", column.meaning, column.unit));
  }
}

Json iteration_fields() {
  Json fields = Json::array({field("run_id", "string", "the run"),
                             field("iteration", "integer", "t: from w_t to w_{t+1}")});
  append_fields(kColumns, fields);
  return fields;
}

Json detail_resource(const TableInfo& table) {
  Json fields = Json::array({field("run_id", "string", "the run"),
                             field("iteration", "integer", "t"),
                             field(table.key, table.key_type, table.key_meaning)});
  append_fields(table.columns, fields);
  return resource(table.name, fields, Json::array({"run_id", "iteration", table.key}));
}

Json check_fields() {
  return Json::array({field("run_id", "string", "the run"),
                      field("iteration", "integer", "t"),
                      field("check", "string", "the inequality or invariant lhs <= rhs"),
                      field("worker", "integer", "empty for global ones"),
                      field("lhs", "number", ""),
                      field("rhs", "number", ""),
                      field("ratio", "number", "lhs / rhs; empty for 0 / 0"),
                      field("holds", "boolean", "")});
}

Json bound_fields() {
  return Json::array(
      {field(
           "method", "string", "the runs that differ by their seed only, as the report names them"),
       field("theorem", "string", "its name in `residuum list theorems`"),
       field("iterations", "integer", "T: both sides are of the first T iterations"),
       field("lhs", "number", "left side, mean over the seeds"),
       field("rhs", "number", "right side with the measured constants, mean over the seeds")});
}

Json search_fields() {
  Json fields = Json::array();
  for (const auto& column : search_columns()) {
    fields.push_back(field(column.name, column.type, column.meaning));
  }
  return fields;
}

Json tuning_fields(const ResultFolder& folder) {
  Json fields = Json::array();
  for (const auto& column : tuning_columns(tuned_keys(folder))) {
    fields.push_back(field(column.name, column.type, column.meaning));
  }
  return fields;
}

/// Returns the one type that all values of a parameter have; string where they differ.
std::string type_of_parameter(const ResultFolder& folder, const std::string& key) {
  std::string type;
  for (const auto& run : folder.runs) {
    const Json& value = parameter_of(run, key);
    if (value.is_null()) {
      continue;
    }
    std::string_view one = "string";
    if (value.is_number()) {
      one = "number";
    } else if (value.is_boolean()) {
      one = "boolean";
    }
    if (!type.empty() && type != one) {
      return "string";
    }
    type = one;
  }
  return type.empty() ? "string" : type;
}

Json package_of(const ResultFolder& folder,
                const std::function<bool(const TableInfo&)>& has_table,
                bool has_search,
                bool has_tuning) {
  Json package{{"profile", "tabular-data-package"},
               {"name", folder.name},
               {"title", folder.title},
               {"schema_version", 1}};
  package["resources"] = Json::array(
      {resource("runs", run_fields(folder), "run_id"),
       resource("iterations", iteration_fields(), Json::array({"run_id", "iteration"})),
       resource("checks", check_fields(), nullptr),
       resource("bounds", bound_fields(), Json::array({"method", "theorem", "iterations"}))});
  for (const TableInfo* table : kDetailTables) {
    if (has_table(*table)) {
      package["resources"].push_back(detail_resource(*table));
    }
  }
  if (has_search) {
    package["resources"].push_back(resource("search", search_fields(), "look"));
  }
  if (has_tuning) {
    package["resources"].push_back(resource("tuning", tuning_fields(folder), "run_id"));
  }
  return package;
}

}  // namespace

Json joined_package(const ResultFolder& folder, const std::string& file) {
  Json fields = iteration_fields();
  fields.push_back(field("study", "string", "the name of the study that the run is of"));
  fields.push_back(field("seed", "integer", "all that the run draws comes from it"));
  fields.push_back(field("state", "string", "finished or diverged"));
  for (const auto& key : folder.varying_keys) {
    Json parameter = field(parameter_column(key),
                           type_of_parameter(folder, key),
                           fmt::format("the key {} of the study; empty where a run has none", key));
    if (parameter["type"] == "boolean") {
      parameter["trueValues"] = Json::array({"true"});
      parameter["falseValues"] = Json::array({"false"});
    }
    fields.push_back(std::move(parameter));
  }
  fields.push_back(field("label", "string", "name of the method"));
  Json table = resource("joined", fields, Json::array({"study", "run_id", "iteration"}));
  table["path"] = file;
  table["schema"].erase("foreignKeys");  // there is no table of runs
  return {{"profile", "tabular-data-package"},
          {"name", folder.name},
          {"title", folder.title},
          {"schema_version", 1},
          {"resources", Json::array({std::move(table)})}};
}

std::string parameter_column(std::string_view key) {
  std::string name = "p_";
  for (const char c : key) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += is_plain ? c : '_';
  }
  return name;
}

const Json& parameter_of(const Run& run, std::string_view key) {
  static const Json nothing;
  if (run.moot.contains(std::string(key))) {
    return nothing;
  }
  const auto given = run.varying.find(std::string(key));
  if (given != run.varying.end()) {
    return *given;
  }
  const Json& value = value_at(value_at(run.config, "config"), key);
  const auto fallback = run.defaults.find(std::string(key));
  return value.is_null() && fallback != run.defaults.end() ? *fallback : value;
}

std::vector<RunColumn> run_columns(const ResultFolder& folder) {
  std::vector<RunColumn> columns{
      {"run_id", "string", "the run; the same configuration has the same id everywhere"},
      {"study", "string", ""},
      {"status", "string", "finished, diverged, failed, interrupted, running or missing"},
      {"stop_reason", "string", "why it is not finished"},
      {"seed", "integer", ""}};
  for (const auto& key : folder.varying_keys) {
    columns.push_back({parameter_column(key), type_of_parameter(folder, key), key});
  }
  columns.push_back({"iterations", "integer", "iterations done"});
  for (const auto& metric : run_metrics()) {
    columns.push_back({std::string(metric.name), "number", std::string(metric.meaning)});
  }
  columns.push_back({"dimension", "integer", "d, parameters of the model"});
  columns.push_back({"k", "integer", "entries a worker may send"});
  columns.push_back({"processes", "integer", "processes the workers lived on"});
  columns.push_back({"started_utc", "string", ""});
  columns.push_back({"finished_utc", "string", ""});
  columns.push_back({"label", "string", "name of the method"});
  if (!folder.tune.is_null()) {
    for (const auto& key : tuned_keys(folder)) {
      columns.push_back({tuned_column_name(key), "string", "value of " + key + " by tuning"});
    }
    columns.push_back({"tuned_on", "string", "quantity, seeds and values of the tuning"});
  }
  return columns;
}

Json data_package(const ResultFolder& folder) {
  return package_of(
      folder,
      [&](const TableInfo& table) { return has_details(folder, table); },
      !folder.search.is_null(),
      !folder.tune.is_null());
}

Json data_package_of_all_tables() {
  return package_of(
      ResultFolder(), [](const TableInfo& /*table*/) { return true; }, true, true);
}

}  // namespace residuum::reports
