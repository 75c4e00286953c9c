#include "experiments/detail_tables.h"

#include "assumptions/details/worker_details.h"

namespace residuum {

std::vector<const TableInfo*> DetailTables::tables() const {
  std::vector<const TableInfo*> asked;
  if (workers) {
    asked.push_back(&kWorkersTable);
  }
  return asked;
}

void DetailTables::add_to(Monitor& monitor) const {
  if (workers) {
    monitor.add_details(write_worker_details);
  }
}

DetailTables read_detail_tables(const Section& probes) {
  return {.workers = probes.flag("workers", false)};
}

void forget_absent_tables(nlohmann::json& probes) {
  if (!probes["workers"].get<bool>()) {
    probes.erase("workers");
  }
}

DetailFiles::DetailFiles(const std::filesystem::path& folder,
                         const std::string& run_id,
                         const std::vector<const TableInfo*>& tables,
                         const TableBytes* kept) {
  files_.reserve(tables.size());
  for (const TableInfo* table : tables) {
    const auto path = folder / part(*table);
    files_.push_back(kept == nullptr
                         ? std::make_unique<reports::DetailWriter>(path, run_id, *table)
                         : std::make_unique<reports::DetailWriter>(
                               path, run_id, *table, kept->at(std::string(table->name))));
  }
}

void DetailFiles::write(const DetailRow& row) {
  for (const auto& file : files_) {
    if (&file->table() == &row.table()) {
      file->write(row);
    }
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
