#include "reports/results/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kColumnPrefix = "p_";

/// True for letters, digits, '_' and '.', at least one.
bool is_key(std::string_view text) {
  const auto is_of_key = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_of_key);
}

}  // namespace

RunKeys keys_in_row(std::span<const std::string> header, std::span<const std::string> fields) {
  assert(header.size() == fields.size());
  RunKeys keys;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i].starts_with(kColumnPrefix) && !fields[i].empty()) {
      keys[header[i].substr(kColumnPrefix.size())] = fields[i];
    }
  }
  return keys;
}

RunKeys keys_in_row(const CsvReader& runs) { return keys_in_row(runs.header(), runs.texts()); }

std::string method_name(const RunKeys& keys) {
  std::string name;
  for (const auto& [key, value] : keys) {
    name += fmt::format("{}{}={}", name.empty() ? "" : " ", key, value);
  }
  return name.empty() ? "all" : name;
}

RunKeys keys_in_name(const std::string& method) {
  RunKeys keys;
  std::string* value = nullptr;  // of the last key
  std::istringstream words(method);
  for (std::string word; std::getline(words, word, ' ');) {
    const auto equals = word.find('=');
    if (equals != std::string::npos && is_key(std::string_view(word).substr(0, equals))) {
      value = &keys[word.substr(0, equals)];
      *value = word.substr(equals + 1);
    } else if (value != nullptr) {
      *value += ' ' + word;
    }
  }
  return keys;
}

namespace {

std::optional<double> iterations_in(const std::string& text,
                                    const std::string& run,
                                    const TextTable& runs) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto number = parsed<double>(text);
  require(number.has_value(),
          "'{}': the iterations of {} are '{}', which is no number",
          runs.file,
          run,
          text);
  return std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

void require_tables_of_one_data(const std::filesystem::path& folder) {
  require_own_schema_in(folder);
  const auto file = folder / "summary.json";
  if (!std::filesystem::exists(file)) {
    return;
  }
  const Json mixed = value_at(read_json(file), "mixed_data");
  require(!mixed.is_string(),
          "{}: {}",
          folder.string(),
          mixed.is_string() ? mixed.get<std::string>() : std::string());
}

std::vector<ListedRun> listed_runs(const TextTable& runs) {
  const auto id = runs.column("run_id");
  const auto seed = runs.column("seed");
  const auto status = runs.find("status");
  const auto iterations = runs.find("iterations");
  const auto label = runs.find("label");
  std::vector<ListedRun> listed;
  listed.reserve(runs.rows.size());
  for (const auto& row : runs.rows) {
    ListedRun run;
    run.id = row[id];
    run.seed = row[seed];
    run.method = method_name(keys_in_row(runs.header, row));
    if (label) {
      run.label = row[*label];
    }
    if (status) {
      run.state = row[*status];
    }
    if (iterations) {
      run.iterations = iterations_in(row[*iterations], run.id, runs);
    }
    listed.push_back(std::move(run));
  }
  return listed;
}

void require_distinct(const std::vector<ListedRun>& runs, const std::string& file) {
  std::set<std::string> ids;
  std::map<std::pair<std::string, std::string>, std::string> run_of;
  for (const auto& run : runs) {
    require(ids.insert(run.id).second, "'{}' has the run {} twice", file, run.id);
    const auto [found, is_new] = run_of.try_emplace({run.method, run.seed}, run.id);
    require(is_new,
            "'{}' has two runs of seed {} of {}: {} and {}",
            file,
            run.seed,
            run.method,
            found->second,
            run.id);
  }
}

}  // namespace residuum::reports
