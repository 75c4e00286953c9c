#pragma once
// The registry lists the objectives that a study can name; each has its own file and one line in
// convex.cc or network_module.cc.

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/config/section.h"
#include "core/objective.h"

namespace residuum {

/// A number of workers notes whether it was asked for: an objective that was built without it is
/// the same for any.
class WorkerCount {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): it stands for a number
  WorkerCount(int count) : count_(count) {}

  int get() const {
    was_asked_for_ = true;
    return count_;
  }
  bool was_asked_for() const { return was_asked_for_; }

 private:
  int count_;
  mutable bool was_asked_for_ = false;
};

/// The context has the values that an objective needs besides its section of the study.
struct ObjectiveContext {
  std::filesystem::path data_dir;    // the folder of named data sets
  std::filesystem::path cache_dir;   // the folder of solved facts; empty: they are not kept
  WorkerCount workers = 1;           // P, logical
  int local_rank = 0;                // of this process among those on its machine
  bool allow_commands = false;       // code of somebody else may be executed (--allow-commands)
  GradientSource* source = nullptr;  // the training outside that objective `live` is attached to
  std::filesystem::path study_dir = {};  // of the study file; empty: the working directory

  /// Returns the file that a study means by a path: relative ones begin at the study's folder.
  std::string file_of(const std::string& path) const { return (study_dir / path).string(); }
};

/// An entry is one way to build an Objective. The example is a section without `kind`, as JSON,
/// that needs no file; the law tests build it and `residuum list` prints it. One that executes
/// foreign code needs a file, `model.pt`. It is empty where the objective cannot be built of a
/// section at all.
struct ObjectiveEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::string_view example;
  std::unique_ptr<Objective> (*make)(const Section&, const ObjectiveContext&);
  /// The key of the section that names code which making the objective executes; empty: none. It is
  /// refused unless the context allows commands.
  std::string_view foreign_code = {};
};

/// Returns all objectives.
std::span<const ObjectiveEntry> objectives();

/// Returns the objectives that need no libtorch; they are a part of `objectives()`.
std::span<const ObjectiveEntry> convex_objectives();

/// Returns the objective of a training outside of this program, which hands over its gradients. It
/// has no example: a study with it is run by attaching it to a training (residuum_live.h,
/// residuum.py).
const ObjectiveEntry& live_objective();

/// Refuses what executes code that a study names, unless the user has allowed it: a usage error.
void require_allowed(const ObjectiveEntry& entry,
                     const Section& section,
                     const ObjectiveContext& context);

/// Builds what the section's `kind` names, in its `coordinates`. The caller finishes the section.
std::unique_ptr<Objective> make_objective(const Section& section, const ObjectiveContext& context);

}  // namespace residuum
