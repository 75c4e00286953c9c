#pragma once
// A study may ask for tables of details (probes.workers, probes.layers, probes.staleness,
// probes.magnitudes_every). Their files lie beside iterations.csv and are treated as it is: written
// under another name until the run has ended, and cut to what a checkpoint has counted when it goes
// on.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assumptions/detail_rows.h"
#include "assumptions/monitor.h"
#include "core/config/section.h"
#include "core/messages/laws.h"
#include "core/objective.h"
#include "core/output_file.h"
#include "reports/results/csv.h"

namespace residuum {

struct DetailTables {
  bool workers = false;
  std::vector<NumberedLayer> layers;   // those that were named, in the order of the model
  bool networks = false;               // a row for each network; the study names them, not [probes]
  std::vector<Layer> overlapped = {};  // all layers, where exchanges overlap with gradients
  bool staleness = false;
  bool magnitudes = false;

  bool any() const { return workers || !layers.empty() || staleness || magnitudes || networks; }
  std::vector<const TableInfo*> tables() const;
  /// Makes the monitor write their rows.
  void add_to(Monitor& monitor) const;
};

/// Reads the keys in [probes]; an unknown layer is a usage error, and so is the table of staleness
/// for a protocol under which no gradient is late.
DetailTables read_detail_tables(const Section& probes,
                                const Objective& objective,
                                const ProtocolLaw& protocol);

/// Removes tables that are not asked for from a run's identity: they are no part of the run.
void forget_absent_tables(nlohmann::json& probes);

/// The names of tables, and how many bytes of each belong to a checkpoint.
using TableBytes = std::map<std::string, std::uint64_t>;

class DetailFiles {
 public:
  DetailFiles() = default;
  /// Begins the tables anew, or goes on after the first `kept` bytes of each.
  DetailFiles(const OutputPath& folder,
              const std::string& run_id,
              const std::vector<const TableInfo*>& tables,
              const TableBytes* kept);

  void write(const DetailRow& row);
  void start_writing();
  TableBytes synchronise();
  void close();

  /// `name` is "workers.csv", `part` is its name until the run has ended.
  static std::string name(const TableInfo& table) { return std::string(table.name) + ".csv"; }
  static std::string part(const TableInfo& table) { return name(table) + ".part"; }

 private:
  std::vector<std::unique_ptr<reports::DetailWriter>> files_;
};

}  // namespace residuum
