#include "reports/exports/summary_tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string field_at(const Json& object, std::string_view dotted) {
  return json_text(value_at(object, dotted));
}

std::string end_of_interval(const Json& object, std::size_t end) {
  const Json& interval = value_at(object, "interval");
  return interval.is_array() && end < interval.size() ? json_text(interval[end]) : std::string();
}

/// A method's columns: its name, and the value of every key in which methods differ.
class MethodColumns {
 public:
  explicit MethodColumns(const Json& summary) {
    for (const auto& group : value_at(summary, "groups")) {
      for (const auto& [key, value] : value_at(group, "varying").items()) {
        if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) {
          keys_.push_back(key);
        }
      }
    }
  }

  std::vector<std::string> header(const std::vector<std::string>& more) const {
    std::vector<std::string> names{"method"};
    for (std::string key : keys_) {
      std::replace(key.begin(), key.end(), '.', '_');
      names.push_back("p_" + key);
    }
    names.insert(names.end(), more.begin(), more.end());
    return names;
  }

  std::vector<std::string> row(const Json& group, const std::vector<std::string>& more) const {
    std::vector<std::string> fields{field_at(group, "label")};
    const Json& varying = value_at(group, "varying");
    for (const auto& key : keys_) {
      const auto value = varying.find(key);
      fields.push_back(value == varying.end() ? "" : json_text(*value));
    }
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }

 private:
  std::vector<std::string> keys_;
};

/// Returns a theorem's verdict, both sides, and the term with the largest share of the right one.
std::vector<std::string> theorem_fields(const Json& theorem) {
  std::vector<std::string> fields;
  for (const char* path : {"name", "verdict", "seeds", "iterations", "lhs", "rhs", "slack"}) {
    fields.push_back(field_at(theorem, path));
  }
  const Json& terms = value_at(theorem, "terms");
  const auto most = std::max_element(terms.begin(), terms.end(), [](const Json& a, const Json& b) {
    return number_at(a, "share") < number_at(b, "share");
  });
  for (const char* path : {"attribution", "share"}) {
    fields.push_back(most == terms.end() ? "" : field_at(*most, path));
  }
  return fields;
}

TextTable theorems(const Json& summary) {
  const MethodColumns methods(summary);
  TextTable table{.file = {},
                  .header = methods.header({"theorem",
                                            "verdict",
                                            "seeds",
                                            "iterations",
                                            "lhs",
                                            "rhs",
                                            "slack",
                                            "largest_term",
                                            "share"}),
                  .rows = {}};
  for (const auto& group : value_at(summary, "groups")) {
    for (const auto& theorem : value_at(group, "theorems")) {
      table.rows.push_back(methods.row(group, theorem_fields(theorem)));
    }
  }
  return table;
}

TextTable checks(const Json& summary) {
  const MethodColumns methods(summary);
  TextTable table{.file = {}, .header = methods.header({"check", "worst_ratio"}), .rows = {}};
  for (const auto& group : value_at(summary, "groups")) {
    for (const auto& [check, found] : value_at(group, "checks").items()) {
      if (const std::string ratio = field_at(found, "worst_ratio"); !ratio.empty()) {
        table.rows.push_back(methods.row(group, {check, ratio}));
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
  const MethodColumns methods(summary);
  TextTable table{
      .file = {}, .header = methods.header({"normal", "laplace", "largest_workers"}), .rows = {}};
  for (const auto& group : value_at(summary, "groups")) {
    std::vector<std::string> fields{field_at(group, "prediction.gaussian.delta"),
                                    field_at(group, "prediction.laplace.delta"),
                                    field_at(group, "prediction.gaussian.largest_workers")};
    if (!fields.front().empty()) {
      table.rows.push_back(methods.row(group, fields));
    }
  }
  return table;
}

/// Returns the medians over the seeds of the times that clocks predicted and that a real run took.
TextTable times(const Json& summary) {
  TextTable table{.file = {},
                  .header = {"method", "iteration", "predicted_s", "measured_s", "ratio", "seeds"},
                  .rows = {}};
  for (const auto& held : value_at(summary, "predictions")) {
    table.rows.push_back({field_at(held, "method"),
                          field_at(held, "iteration"),
                          field_at(held, "predicted_s.median"),
                          field_at(held, "measured_s.median"),
                          field_at(held, "ratio.median"),
                          field_at(held, "ratio.n")});
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
        smoothness && convexity ? json_text(json_number(*smoothness - *convexity)) : "",
        field_at(status, "facts.minimum")};
    if (seen.insert(row).second) {
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

using MakeTable = TextTable (*)(const std::filesystem::path&, const Json&);

constexpr std::array<std::pair<std::string_view, MakeTable>, 7> kTables{
    {{"theorems",
      [](const std::filesystem::path&, const Json& summary) { return theorems(summary); }},
     {"checks", [](const std::filesystem::path&, const Json& summary) { return checks(summary); }},
     {"rates", [](const std::filesystem::path&, const Json& summary) { return rates(summary); }},
     {"equal", [](const std::filesystem::path&, const Json& summary) { return equal(summary); }},
     {"predicted",
      [](const std::filesystem::path&, const Json& summary) { return predicted(summary); }},
     {"times", [](const std::filesystem::path&, const Json& summary) { return times(summary); }},
     {"facts", facts}}};

}  // namespace

std::vector<std::string> summary_table_names() {
  std::vector<std::string> names;
  names.reserve(kTables.size());
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
