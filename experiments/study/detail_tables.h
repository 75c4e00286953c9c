#pragma once
// Which tables of details a run is asked for (probes.workers,
// probes.layers), and the files of those that it
// leaves. They lie beside iterations.csv and are treated as it is: written under another name until
// the run has ended, and cut to what a checkpoint has counted when it goes on.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assumptions/details/layer_details.h"
#include "assumptions/monitor.h"
#include "core/config/section.h"
#include "core/objective.h"
#include "reports/tables/csv.h"

namespace residuum {

struct DetailTables {
  bool workers = false;
  std::vector<NumberedLayer> layers;  // those that were named, in the order of the model

  bool any() const { return workers || !layers.empty(); }
  std::vector<const TableInfo*> tables() const;
  /// Has the monitor write their rows.
  void add_to(Monitor& monitor) const;
};

/// Reads the keys in [probes]; an unknown layer is a usage error.
DetailTables read_detail_tables(const Section& probes, const Objective& objective);

/// A table that is not asked for is no part of a run's identity: runs keep the ids they had when
/// there were no such tables.
void forget_absent_tables(nlohmann::json& probes);

/// Names of tables, and the bytes of each that a checkpoint goes with.
using TableBytes = std::map<std::string, std::uint64_t>;

class DetailFiles {
 public:
  DetailFiles() = default;
  /// Begins the tables anew, or goes on after the first `kept` bytes of each.
  DetailFiles(const std::filesystem::path& folder,
              const std::string& run_id,
              const std::vector<const TableInfo*>& tables,
              const TableBytes* kept);

  /// Whether each of the tables has the bytes that a checkpoint has counted.
  static bool reach(const std::filesystem::path& folder,
                    const std::vector<const TableInfo*>& tables,
                    const TableBytes& counted);

  void write(const DetailRow& row);
  TableBytes synchronise();
  void close();

  /// "workers.csv", and its name until the run has ended.
  static std::string name(const TableInfo& table) { return std::string(table.name) + ".csv"; }
  static std::string part(const TableInfo& table) { return name(table) + ".part"; }

 private:
  std::vector<std::unique_ptr<reports::DetailWriter>> files_;
};

}  // namespace residuum
