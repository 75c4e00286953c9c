#pragma once
// A Study is the file as the user wrote it, checked for form and expanded into runs. run_config.h
// gives the values their meaning.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/section.h"
#include "experiments/program/study/study_search.h"
#include "experiments/program/study/study_tune.h"

namespace residuum {

/// One run before its values are read: sections of settings, each with the place it was written at.
struct RunSpec {
  std::uint64_t seed = 1;
  nlohmann::json varying = nlohmann::json::object();  // dotted key -> value
  std::map<std::string, std::map<std::string, Setting>> sections;
  std::string label = {};     // of its [[point]]; empty without one
  bool is_tuning = false;     // a run by which keys are tuned, and no run of the study itself
  bool is_extension = false;  // at values beyond the grid of a tuning, which need not be valid
};

struct Study {
  std::string name;
  std::string title;
  std::string text;  // the file's bytes
  /// Of a search or a tuning: those of a method beside each other, all it may need.
  std::vector<RunSpec> runs;
  std::optional<StudySearch> search;
  std::optional<StudyTune> tune;
  nlohmann::json expected = nlohmann::json::array();  // what papers have, for the report
  nlohmann::json labels = nlohmann::json::object();   // key -> value as text -> its name
  bool own_settings_are_a_run = false;                // beside [[point]]s of which none asks for it
};

/// The sections a study may have.
const std::vector<std::string>& section_names();

/// Reads the bytes of a study file. A file that cannot be read, or is no regular file of a study's
/// size, is a usage error.
std::string read_study_file(const std::filesystem::path& file);

/// Returns the setting by which the first real run of the study asks for real execution; null if
/// there is none.
const Setting* real_execution(const Study& study);

/// Parses `text`; `file` names it in messages ("s.toml:14:3"). `overrides` are "key=value" with
/// dotted keys and TOML values, and win over the file. Errors are usage errors with their place.
Study parse_study(const std::string& text,
                  const std::string& file,
                  const std::vector<std::string>& overrides);

}  // namespace residuum
