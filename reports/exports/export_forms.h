#pragma once
// Measurements of a study in the forms of other programs.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/output_file.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

/// The joined table is one flat file: every measured iteration of every run, with what the run was
/// in columns of its own. Writes the rows of iterations.csv of all finished and diverged runs to
/// `file`, streamed, each followed by the columns study, seed, state, p_<key> for every key that
/// varies in the study, and label where the study names its methods. Beside it lies its data
/// package. Returns the number of rows. A damaged table is a usage error that names it.
std::uint64_t write_joined_table(const ResultFolder& folder, const std::filesystem::path& file);

/// Returns the file with the data package of a joined table: joined.datapackage.json of joined.csv.
std::filesystem::path package_beside(std::filesystem::path file);

// TensorBoard reads event files: records of a length, its checksum, a message of protocol buffers
// and its checksum. Only two messages of few fields are needed here, so they are encoded by hand.

/// Returns the CRC-32C (Castagnoli) of the bytes, which event files of TensorBoard have.
std::uint32_t crc32c(std::string_view bytes);

/// Returns the bytes as one record of an event file.
std::string event_record(std::string_view message);

struct Scalar {
  std::string_view tag;
  float value = 0;
};

/// Returns the message of the first record of every event file.
std::string version_event(double wall_time);
/// Returns the message of these scalars at a step; the wall time is in seconds since 1970.
std::string scalars_event(double wall_time, std::int64_t step, const std::vector<Scalar>& scalars);

/// The number of runs that have event files, and of values that were left out.
struct EventFiles {
  std::size_t runs = 0;
  std::size_t left_out = 0;  // values
};

/// Writes `target`/RUN_ID/events.out.tfevents.SECONDS.residuum for every finished and diverged run:
/// all measured columns by iteration, and by the wall time that its measured iterations had taken.
/// Event files hold float32: a number that would become infinite in it, or 0, is left out and
/// counted. Files of an earlier export are replaced.
EventFiles write_event_files(const ResultFolder& folder, const OutputPath& target);

}  // namespace residuum::reports
