#include "reports/exports/made_runs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "reports/tables/result_folder.h"

namespace residuum::reports {
namespace {

/// The record of the making of one run: its seed, duration, provenance and start.
struct Made {
  std::string run;
  Json seed;
  double wall_s = 0;
  Json from;  // its provenance
  Json started_utc;
};

Json seed_of(const ListedRun& run) {
  std::int64_t seed = 0;
  const char* const end = run.seed.data() + run.seed.size();
  const auto [stop, error] = std::from_chars(run.seed.data(), end, seed);
  require(error == std::errc() && stop == end,
          "runs.csv: the seed of {} is '{}', which is no whole number",
          run.id,
          run.seed);
  return seed;
}

Made made_by(const ListedRun& run, const std::filesystem::path& results, const Json& summary) {
  require(is_run_id(run.id), "runs.csv names a run that is no run_id: {}", run.id);
  const auto file = results / "runs" / run.id / "status.json";
  const Json status = read_json(file);
  require(
      value_at(status, "provenance.residuum").is_string() && value_at(status, "wall_s").is_number(),
      "'{}' says nothing of the program, or not how long the run took",
      file.string());
  Made made{.run = run.id,
            .seed = seed_of(run),
            .wall_s = status["wall_s"].get<double>(),
            .from = summary["provenance"],
            .started_utc = value_at(status, "started_utc")};
  made.from.update(status["provenance"]);
  require(value_at(made.from, "command").is_string(),
          "neither '{}' nor summary.json says by which command the run was made",
          file.string());
  if (made.started_utc.is_null()) {
    made.started_utc = value_at(summary, "timing.started_utc");
  }
  return made;
}

/// Returns the end of the digits that begin at `at`.
std::size_t end_of_digits(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size());
}

/// Returns where " --shard 2/8" ends whose name ends at `at`; `at` if it is another option.
std::size_t end_of_share(std::string_view command, std::size_t at) {
  if (at == command.size() || (command[at] != ' ' && command[at] != '=')) {
    return at;
  }
  const std::size_t slash = end_of_digits(command, at + 1);
  if (slash == at + 1 || slash == command.size() || command[slash] != '/') {
    return at;
  }
  const std::size_t end = end_of_digits(command, slash + 1);
  return end == slash + 1 ? at : end;
}

std::string without_share(std::string command) {
  constexpr std::string_view kOption = " --shard";
  for (auto begin = command.find(kOption); begin != std::string::npos;
       begin = command.find(kOption, begin + 1)) {
    const std::size_t name_end = begin + kOption.size();
    if (const std::size_t end = end_of_share(command, name_end); end != name_end) {
      return command.erase(begin, end - begin);
    }
  }
  return command;
}

std::string whole_command(const Made& made) {
  return without_share(made.from["command"].get<std::string>());
}

/// Returns the values that all runs of one entry share: command, machine, compiler and libtorch.
std::vector<Json> origin_of(const Made& made) {
  std::vector<Json> origin{whole_command(made)};
  for (const char* key : {"CPU", "cores", "GPU", "compiler", "libtorch"}) {
    origin.push_back(value_at(made.from, key));
  }
  return origin;
}

Json list_of_values(const std::set<Json>& values) {
  Json list = Json::array();
  for (const auto& value : values) {
    list.push_back(value);
  }
  return list;
}

/// Whole numbers have no point.
Json json_seconds(double seconds) {
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  const bool is_whole = seconds == std::trunc(seconds) && std::abs(seconds) < kMostExact;
  return is_whole ? Json(static_cast<std::int64_t>(seconds)) : Json(seconds);
}

Json entry_of(const std::vector<Made>& group) {
  std::set<Json> commands;
  std::set<Json> seeds;
  std::set<Json> programs;
  std::set<Json> starts;
  Json runs = Json::array();
  double run_s = 0;
  for (const auto& made : group) {
    commands.insert(made.from["command"]);
    seeds.insert(made.seed);
    programs.insert(made.from["residuum"]);
    starts.insert(made.started_utc);
    runs.push_back(made.run);
    run_s += made.wall_s;
  }
  const Made& first = group.front();
  return {{"command", commands.size() == 1 ? *commands.begin() : Json(whole_command(first))},
          {"seeds", list_of_values(seeds)},
          {"runs", std::move(runs)},
          {"programs", list_of_values(programs)},
          {"CPU", value_at(first.from, "CPU")},
          {"cores", value_at(first.from, "cores")},
          {"GPU", value_at(first.from, "GPU")},
          {"compiler", value_at(first.from, "compiler")},
          {"libtorch", value_at(first.from, "libtorch")},
          {"started_utc", *starts.begin()},
          {"run_s", json_seconds(run_s)}};
}

}  // namespace

Json made_entries(const std::filesystem::path& results,
                  const Json& summary,
                  const std::vector<ListedRun>& runs) {
  std::map<std::vector<Json>, std::vector<Made>> groups;
  for (const auto& run : runs) {
    Made made = made_by(run, results, summary);
    auto origin = origin_of(made);
    groups[std::move(origin)].push_back(std::move(made));
  }
  Json entries = Json::array();
  for (const auto& group : groups) {
    entries.push_back(entry_of(group.second));
  }
  return entries;
}

Json made_study(const std::filesystem::path& results,
                const Json& summary,
                const std::vector<ListedRun>& runs) {
  std::set<Json> programs;
  std::set<Json> seeds;
  for (const auto& run : runs) {
    const Made made = made_by(run, results, summary);
    programs.insert(made.from["residuum"]);
    seeds.insert(made.seed);
  }
  const Json& collected = value_at(summary, "provenance");
  return {{"programs", list_of_values(programs)},
          {"command", value_at(collected, "command")},
          {"seeds", list_of_values(seeds)},
          {"CPU", value_at(collected, "CPU")},
          {"cores", value_at(collected, "cores")},
          {"GPU", value_at(collected, "GPU")},
          {"compiler", value_at(collected, "compiler")},
          {"libtorch", value_at(collected, "libtorch")},
          {"MPI", value_at(collected, "MPI")},
          {"started_utc", value_at(summary, "timing.started_utc")},
          {"wall_s", value_at(summary, "timing.wall_s")}};
}

Json joined_entries(const Json& old, const Json& added, const std::filesystem::path& file) {
  std::set<Json> later;
  for (const auto& entry : added) {
    later.insert(entry["runs"].begin(), entry["runs"].end());
  }
  Json entries = Json::array();
  for (Json entry : old) {
    const auto runs = entry.find("runs");
    if (runs != entry.end()) {
      require(runs->is_array(), "the runs of an entry of '{}' are no list", file.string());
      Json own = Json::array();
      std::copy_if(runs->begin(), runs->end(), std::back_inserter(own), [&](const Json& run) {
        return !later.contains(run);
      });
      *runs = std::move(own);
    }
    if (runs == entry.end() || !runs->empty()) {
      entries.push_back(std::move(entry));
    }
  }
  entries.insert(entries.end(), added.begin(), added.end());
  return entries;
}

}  // namespace residuum::reports
