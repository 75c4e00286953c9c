#pragma once
// This file turns the settings of a run into the objects that train it and into its identity: the
// resolved values (defaults included) of every section, and a hash of them that is the same
// everywhere.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config/section.h"
#include "core/protocols/protocol.h"
#include "core/trainer/pilot.h"
#include "core/trainer/trainer.h"
#include "experiments/program/study/budget_section.h"
#include "experiments/program/study/detail_tables.h"
#include "experiments/program/study/device_key.h"
#include "experiments/program/study/study.h"
#include "objectives/registry.h"

namespace residuum {

/// The number of workers P where a study gives none.
inline constexpr int kDefaultWorkers = 4;

/// The cache makes objectives from their settings; the last one stays loaded, since neighbouring
/// runs share it.
class ObjectiveCache {
 public:
  explicit ObjectiveCache(ObjectiveContext context) : context_(std::move(context)) {}

  /// Builds the objective of a run, or returns the one that was built last if it is the same.
  std::shared_ptr<const Objective> get(const Section& section, int workers);
  /// Builds the objective of a run anew, and keeps the last one.
  std::unique_ptr<const Objective> build(const Section& section, int workers) const;

 private:
  ObjectiveContext context_;
  std::string settings_;
  std::optional<int> workers_;  // none where the objective is the same for any number
  std::shared_ptr<const Objective> last_;
  nlohmann::json resolved_;
};

/// A run whose every value was read and found valid.
struct PreparedRun {
  std::string id;
  std::uint64_t seed = 1;
  nlohmann::json varying;
  nlohmann::json config = nlohmann::json::object();  // resolved values by section
  std::size_t dimension = 0;                         // d of the objective
  std::size_t samples = 0;                           // that it has; 0 without data
  std::string data_fingerprint;  // of what the objective has loaded; empty without data
  std::shared_ptr<const Objective> objective;
  std::shared_ptr<const Method> method;
  std::shared_ptr<const Protocol> protocol;
  Training training;  // cluster, minimum and stop are set when it runs
  std::vector<std::string> probes;
  DetailTables details;
  bool records_times = true;
  int workers = 1;
  /// Returns how many workers take part in a version.
  int participants() const { return training.participants.value_or(workers); }

  /// Returns whether the number of iterations is known only once the run has ended. A run that is
  /// only identified may be open without being known to be.
  bool has_open_end() const {
    return training.budget.is_open() || (objective != nullptr && objective->source() != nullptr &&
                                         training.iterations == kOpenEnd);
  }

  /// True if workers leave nothing out and keep no more than residuals: then no setting of the
  /// feedback changes the run.
  bool puts_nothing_back = false;
  WantedDevice device;          // of the workers' memories
  bool wants_device = false;    // they are to be on a device
  std::string device_obstacle;  // why they stay on the host all the same; empty: they do not
  // Why gradients that a device computes, and residuals there, are copied to the host between
  // measured iterations; empty: they are not.
  std::string gradient_obstacle, residual_obstacle;
  bool needs_pilot = false;             // its threshold is yet to be found
  std::optional<FoundThreshold> found;  // the threshold that was; no part of the identity
  std::string failure;  // why it could not be prepared; then it has an identity and nothing else
  /// True if a study cannot have it, and does without: values beyond the grid of a tuning. Then it
  /// has no id, and is never made.
  bool is_refused = false;
};

/// Returns the law of a run's protocol, for as many workers as take part.
ProtocolLaw law_of(const PreparedRun& run);

/// The keys that sections of a study were asked for, over all its runs. A key that no run reads is
/// a mistake; one that some run does not need (a density for kind "none" in a sweep over kinds) is
/// not.
class KnownKeys {
 public:
  void note(const std::string& section, const std::vector<std::string>& keys);
  /// Throws a usage error if a key of the study was read by none of its runs.
  void check(const Study& study) const;
  /// Returns the keys by section.
  const std::map<std::string, std::set<std::string>>& all() const { return keys_; }

 private:
  std::map<std::string, std::set<std::string>> keys_;
};

/// Says what of a run that wants a device is done on the host, and why.
std::vector<std::string> host_notes(const PreparedRun& run);

/// Reads and checks one run. Errors are usage errors that name the key and its place.
PreparedRun prepare(const RunSpec& spec, ObjectiveCache& objectives, KnownKeys& known);

/// Loads the data of a run anew and returns their fingerprint; empty without data.
std::string fingerprint_now(const RunSpec& spec, const ObjectiveCache& objectives);

/// Reads the number of workers P of a run, and nothing else of it.
int workers_of(const RunSpec& spec);

/// Reads [probes], the quantities and the iterations that are measured, into a run whose objective
/// and number of iterations are known.
void read_probes(const Section& section, PreparedRun& run);

}  // namespace residuum
