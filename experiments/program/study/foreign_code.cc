#include "experiments/program/study/foreign_code.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <unistd.h>

#include "core/sparsifiers/sparsifier.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

template <class Entries>
std::string_view key_in(const Entries& entries, const std::string& kind) {
  const auto found = std::find_if(
      entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == kind; });
  return found == entries.end() ? std::string_view() : found->foreign_code;
}

/// A section whose components can execute foreign code, and the key by which one of them names it;
/// empty for a component that executes none.
struct ForeignSection {
  const char* name;
  std::string_view (*key_of)(const std::string& kind);
};

constexpr std::array kForeignSections{
    ForeignSection{"objective", [](const std::string& kind) { return key_in(objectives(), kind); }},
    ForeignSection{"sparsifier",
                   [](const std::string& kind) { return key_in(sparsifiers(), kind); }}};

ForeignCode code_of(const std::string& section, std::string_view key, const Setting& setting) {
  ForeignCode code;
  code.where = fmt::format("'{}.{}' at {}", section, key, setting.place);
  if (!setting.value.is_array()) {
    code.text = setting.value.is_string() ? setting.value.get<std::string>() : shown(setting.value);
    return code;
  }
  for (const auto& word : setting.value) {
    code.text += code.text.empty() ? "" : " ";
    code.text += word.is_string() ? word.get<std::string>() : shown(word);
  }
  if (!setting.value.empty() && setting.value.front().is_string()) {
    code.program = setting.value.front().get<std::string>();
  }
  return code;
}

bool is_program(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

/// Looks where execvp would.
bool can_be_found(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return is_program(program);
  }
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (is_program(std::filesystem::path(folder.empty() ? "." : folder) / program)) {
      return true;
    }
  }
  return false;
}

std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(" and {} more", count - 1) : std::string();
}

/// Returns the setting of a section; null where the run has none.
const Setting* setting_of(const RunSpec& run, const std::string& section, const std::string& key) {
  const auto settings = run.sections.find(section);
  if (settings == run.sections.end()) {
    return nullptr;
  }
  const auto setting = settings->second.find(key);
  return setting == settings->second.end() ? nullptr : &setting->second;
}

/// Returns what the section of a run executes.
std::optional<ForeignCode> code_in(const RunSpec& run, const ForeignSection& foreign) {
  const Setting* const kind = setting_of(run, foreign.name, "kind");
  if (kind == nullptr || !kind->value.is_string()) {
    return std::nullopt;
  }
  const std::string key(foreign.key_of(kind->value.get<std::string>()));
  const Setting* const setting = key.empty() ? nullptr : setting_of(run, foreign.name, key);
  return setting == nullptr ? std::nullopt : std::optional(code_of(foreign.name, key, *setting));
}

}  // namespace

std::vector<ForeignCode> foreign_code(const Study& study) {
  std::vector<ForeignCode> all;
  const auto add = [&](ForeignCode code) {
    const bool is_new = std::none_of(
        all.begin(), all.end(), [&](const auto& known) { return known.text == code.text; });
    if (is_new) {
      all.push_back(std::move(code));
    }
  };
  for (const auto& run : study.runs) {
    for (const auto& foreign : kForeignSections) {
      if (auto code = code_in(run, foreign)) {
        add(*std::move(code));
      }
    }
  }
  return all;
}

std::string foreign_code_note(const Study& study) {
  const auto all = foreign_code(study);
  return all.empty() ? std::string()
                     : fmt::format(
                           "note: 'run' and 'verify' would execute '{}'{}, of {}; they do so with "
                           "--allow-commands alone",
                           all.front().text,
                           and_more(all.size()),
                           all.front().where);
}

void require_allowed(const Study& study, bool allowed) {
  const auto all = foreign_code(study);
  require(all.empty() || allowed,
          "{} executes '{}'{}, which is no part of this program; if you trust it, add "
          "--allow-commands",
          all.empty() ? "" : all.front().where,
          all.empty() ? "" : all.front().text,
          and_more(all.size()));
  for (const auto& code : all) {
    require(code.program.empty() || can_be_found(code.program),
            "{}: cannot start '{}': there is no such program{}",
            code.where,
            code.program,
            code.program.find('/') == std::string::npos ? " on the PATH" : "");
  }
}

}  // namespace residuum
