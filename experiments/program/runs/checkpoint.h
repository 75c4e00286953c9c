#pragma once
// The folder checkpoint/ of a run holds where the run stood, so that it can go on there. A file
// holds a head (format, run, iteration, lengths of the tables), the run's state, and a checksum
// over both. Files appear whole or not at all, and the last two are kept.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/cluster/run_state.h"
#include "core/output_file.h"
#include "objectives/data/byte_stream.h"
#include "reports/results/files.h"

namespace residuum {

/// GrowingSums takes checksums of the beginnings of files that grow. It does not read again what it
/// has summed up once.
class GrowingSums {
 public:
  /// Returns the checksum of the first `bytes` of the file, which must have them.
  std::uint32_t of(const std::filesystem::path& file, std::uint64_t bytes);

 private:
  struct Summed {
    std::uint64_t bytes = 0;
    std::uint32_t sum = 0;
  };

  std::map<std::filesystem::path, Summed> known_;
};

/// The head of a checkpoint.
struct CheckpointHead {
  std::string run_id;
  std::uint64_t iteration = 0;                        // done
  std::uint64_t iterations_bytes = 0;                 // of iterations.csv.part
  std::uint64_t checks_bytes = 0;                     // of checks.csv.part
  std::map<std::string, std::uint64_t> details = {};  // bytes of each table of details
  // Checksums of the tables, by file name, over the bytes counted above.
  std::map<std::string, std::uint32_t> table_sums = {};
  std::string data_fingerprint = {};  // empty where there are no data
  reports::Json found = nullptr;      // the threshold that pilot runs have found, and their number
  std::string started_utc = {};
  std::string revision = {};  // the build of the program
};

/// Writes checkpoint/state-NNN in `folder` and keeps the last two of those up to it. `fill` passes
/// the state through the stream.
void write_checkpoint(const OutputPath& folder,
                      const CheckpointHead& head,
                      const std::function<void(StateStream&)>& fill);

/// A checkpoint whose checksum is right and that belongs to the run.
struct Checkpoint {
  OutputPath file;
  CheckpointHead head;
};

/// The newest usable checkpoint in `folder`; each one that is not, or at whose head `check` throws
/// an Error, is named on stderr with the reason and renamed to refused-NNN, so that it never takes
/// the place of a good one, and the one before it is tried.
std::optional<Checkpoint> find_checkpoint(const OutputPath& folder,
                                          const std::string& run_id,
                                          const std::function<void(const CheckpointHead&)>& check);

/// Returns the head of the newest checkpoint whose head can be read; nothing else of it is checked.
std::optional<CheckpointHead> newest_head(const OutputPath& folder);

/// Refuses a checkpoint that `find_checkpoint` gave, because of its state, and looks for the one
/// before it. Those that this start has refused stay where they were set aside.
std::optional<Checkpoint> next_checkpoint(const OutputPath& folder,
                                          const Checkpoint& refused,
                                          const std::string& reason,
                                          const std::function<void(const CheckpointHead&)>& check);

/// Loads the state of a checkpoint that `find_checkpoint` gave. A state of another length than the
/// requested one is a resource error.
void read_checkpoint(const Checkpoint& checkpoint, const std::function<void(StateStream&)>& fill);

/// Removes all checkpoints up to iteration `newest` but the last `count`.
void keep_checkpoints(const OutputPath& folder, std::size_t count, std::uint64_t newest);

}  // namespace residuum
