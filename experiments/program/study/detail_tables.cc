#include "experiments/program/study/detail_tables.h"

#include <algorithm>
#include <set>

#include "assumptions/detail_rows.h"

namespace residuum {
namespace {

void check_layer(const std::string& name,
                 const std::vector<std::string>& known,
                 const std::string& where) {
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return;
  }
  const std::string near = nearest(name, known);
  usage_error("unknown layer '{}' in {}{} (residuum plan STUDY.toml --layers lists them)",
              name,
              where,
              near.empty() ? near : fmt::format("; did you mean '{}'?", near));
}

/// Returns the names in the list; each must be a layer's.
std::set<std::string> named_layers(const nlohmann::json& list,
                                   const std::vector<Layer>& layers,
                                   const std::string& where) {
  constexpr const char* kWanted = R"({} must be "all" or a list of layer names, got {})";
  require(list.is_array(), kWanted, where, shown(list));
  std::vector<std::string> known;
  known.reserve(layers.size());
  for (const auto& layer : layers) {
    known.push_back(layer.name);
  }
  std::set<std::string> names;
  for (const auto& name : list) {
    require(name.is_string(), kWanted, where, shown(list));
    check_layer(name.get<std::string>(), known, where);
    names.insert(name.get<std::string>());
  }
  return names;
}

std::vector<NumberedLayer> read_layers(const Section& probes, const Objective& objective) {
  const auto value = probes.any("layers", nlohmann::json::array());
  const auto layers = objective.layers();
  const bool all = value == "all";
  const auto names =
      all ? std::set<std::string>() : named_layers(value, layers, probes.where("layers"));
  std::vector<NumberedLayer> chosen;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (all || names.contains(layers[i].name)) {
      chosen.push_back({.number = i, .layer = layers[i]});
    }
  }
  return chosen;
}

bool read_staleness(const Section& probes, const ProtocolLaw& protocol) {
  const bool is_asked = probes.flag("staleness", false);
  require(!is_asked || protocol.synchrony == Synchrony::late,
          "{}: no gradient is late under this protocol; take the key out, or take a protocol with "
          "late gradients (ssp, asp, inhad, or bsp with a lag)",
          probes.where("staleness"));
  return is_asked;
}

/// Workers have accumulators that are counted where all exchange in lockstep.
bool read_magnitudes(const Section& probes, const ProtocolLaw& protocol) {
  const bool is_asked = probes.has("magnitudes_every");
  require(
      !is_asked ||
          (protocol.synchrony != Synchrony::late && protocol.synchrony != Synchrony::neighbours),
      "{}: this table needs a protocol in lockstep; take the key out, or take \"bsp\" or \"local\"",
      probes.where("magnitudes_every"));
  return is_asked;
}

}  // namespace

std::vector<const TableInfo*> DetailTables::tables() const {
  std::vector<const TableInfo*> asked;
  if (workers) {
    asked.push_back(&kWorkersTable);
  }
  if (!layers.empty()) {
    asked.push_back(&kLayersTable);
  }
  if (staleness) {
    asked.push_back(&kStalenessTable);
  }
  if (magnitudes) {
    asked.push_back(&kMagnitudesTable);
  }
  if (networks) {
    asked.push_back(&kNetworksTable);
  }
  if (!overlapped.empty()) {
    asked.push_back(&kOverlapTable);
    asked.push_back(&kLayerTimesTable);
  }
  return asked;
}

void DetailTables::add_to(Monitor& monitor) const {
  if (workers) {
    monitor.add_details(write_worker_details);
  }
  if (!layers.empty()) {
    monitor.add_details([chosen = layers](const StepView& view, Recorder& recorder) {
      write_layer_details(chosen, view, recorder);
    });
  }
  if (staleness) {
    monitor.add_details(write_staleness_details);
  }
  if (magnitudes) {
    monitor.add_details(write_magnitude_details);
  }
  if (networks) {
    monitor.add_details(write_network_details);
  }
  if (!overlapped.empty()) {
    monitor.add_details(write_overlap_details);
    monitor.add_details([layers = overlapped](const StepView& view, Recorder& recorder) {
      write_layer_times(layers, view, recorder);
    });
  }
}

DetailTables read_detail_tables(const Section& probes,
                                const Objective& objective,
                                const ProtocolLaw& protocol) {
  return {.workers = probes.flag("workers", false),
          .layers = read_layers(probes, objective),
          .staleness = read_staleness(probes, protocol),
          .magnitudes = read_magnitudes(probes, protocol)};
}

void forget_absent_tables(nlohmann::json& probes) {
  if (!probes["workers"].get<bool>()) {
    probes.erase("workers");
  }
  if (probes["layers"].empty()) {
    probes.erase("layers");
  }
  if (!probes["staleness"].get<bool>()) {
    probes.erase("staleness");
  }
}

DetailFiles::DetailFiles(const OutputPath& folder,
                         const std::string& run_id,
                         const std::vector<const TableInfo*>& tables,
                         const TableBytes* kept) {
  files_.reserve(tables.size());
  for (const TableInfo* table : tables) {
    const OutputPath file = folder / part(*table);
    files_.push_back(kept == nullptr
                         ? std::make_unique<reports::DetailWriter>(file, run_id, *table)
                         : std::make_unique<reports::DetailWriter>(
                               file, run_id, *table, kept->at(std::string(table->name))));
  }
}

void DetailFiles::write(const DetailRow& row) {
  for (const auto& file : files_) {
    if (&file->table() == &row.table()) {
      file->write(row);
    }
  }
}

void DetailFiles::start_writing() {
  for (const auto& file : files_) {
    file->start_writing();
  }
}

TableBytes DetailFiles::synchronise() {
  TableBytes bytes;
  for (const auto& file : files_) {
    bytes[std::string(file->table().name)] = file->synchronise();
  }
  return bytes;
}

void DetailFiles::close() {
  for (const auto& file : files_) {
    file->close();
  }
}

}  // namespace residuum
