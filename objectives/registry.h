#pragma once
// The objectives that a study can name: one file and one registry line each.

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/config/section.h"
#include "core/objective.h"

namespace residuum {

/// What an objective needs to know besides its section of the study.
struct ObjectiveContext {
  std::filesystem::path data_dir;   // where named data sets lie
  std::filesystem::path cache_dir;  // where solved facts are kept; empty: nowhere
  int workers = 1;                  // P, logical
};

/// One way to build an Objective. The example is a section without `kind`, as JSON, that needs no
/// file: it is what the law tests build and what `residuum list` prints.
struct ObjectiveEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::string_view example;
  std::unique_ptr<Objective> (*make)(const Section&, const ObjectiveContext&);
};

/// All objectives.
std::span<const ObjectiveEntry> objectives();

/// Those that need no libtorch; a part of `objectives()`.
std::span<const ObjectiveEntry> convex_objectives();

/// Builds what the section's `kind` names. The caller finishes the section.
std::unique_ptr<Objective> make_objective(const Section& section, const ObjectiveContext& context);

}  // namespace residuum
