// Study files, and descriptions of tables. Grids that a file may ask for, but that only take time,
// are cut down.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>

#include "experiments/program/commands/page_tables.h"
#include "experiments/program/study/foreign_code.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"
#include "tests/fuzzing/targets.h"

namespace residuum::fuzzing {
namespace {

/// Whether a number of more than two digits may stand behind the word `seeds`.
bool asks_for_many_seeds(const std::string& text) {
  for (auto at = text.find("seeds"); at != std::string::npos; at = text.find("seeds", at + 1)) {
    const auto line_end = std::min(text.find('\n', at), text.size());
    const auto digits =
        std::count_if(text.begin() + static_cast<std::ptrdiff_t>(at),
                      text.begin() + static_cast<std::ptrdiff_t>(line_end),
                      [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
    constexpr std::ptrdiff_t kOfTheWordItself = 3;  // e, e and d
    if (digits > 2 + kOfTheWordItself) {
      return true;
    }
  }
  return false;
}

/// With n commas between the values of its axes a grid has at most 2^n points.
void check_sweep(const std::string& text) {
  constexpr std::ptrdiff_t kMostCommas = 8;
  const auto sweep = text.find("sweep");
  require(sweep == std::string::npos ||
              std::count(text.begin() + static_cast<std::ptrdiff_t>(sweep), text.end(), ',') <=
                  kMostCommas,
          "a grid that large only takes time");
}

Study parsed_study(std::string_view bytes) {
  const std::string text(bytes);
  check_sweep(text);
  return parse_study(
      text,
      "study.toml",
      asks_for_many_seeds(text) ? std::vector<std::string>{"seeds=2"} : std::vector<std::string>{});
}

/// An objective that is made at once, whatever the study asks for; its other settings stay.
void make_small(std::map<std::string, Setting>& objective) {
  const auto set = [&](const char* key, const nlohmann::json& value) {
    objective[key] = {.value = value, .place = "the fuzzer"};
  };
  const auto kind = objective.find("kind");
  if (kind != objective.end() && kind->second.value == "logistic") {
    set("data", "synthetic-logistic");
    set("rows", 24);
    set("features", 6);
    return;
  }
  set("kind", "quadratic");
  set("dimension", 12);
}

void make_few(std::map<std::string, Setting>& workers) {
  constexpr int kMost = 64;
  const auto count = workers.find("count");
  if (count != workers.end() && count->second.value.is_number() && count->second.value > kMost) {
    count->second.value = kMost;
  }
}

}  // namespace

void take_study(std::string_view bytes) {
  static_cast<void>(foreign_code_note(parsed_study(bytes)));
}

void take_sections(std::string_view bytes) {
  constexpr std::size_t kMostRuns = 8;
  Study study = parsed_study(bytes);
  require(study.runs.size() <= kMostRuns, "so many runs only take time");
  for (RunSpec& run : study.runs) {
    make_small(run.sections["objective"]);
    make_few(run.sections["workers"]);
  }
  ObjectiveCache objectives(ObjectiveContext{});
  static_cast<void>(prepare_all(study, objectives));
}

void take_page_tables(std::string_view bytes) {
  check_table_description(std::string(bytes), "tables.toml");
}

}  // namespace residuum::fuzzing
