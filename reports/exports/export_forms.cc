#include "reports/exports/export_forms.h"

#include <boost/crc.hpp>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/record/columns.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/summaries/collect.h"

namespace residuum::reports {
namespace {

/// Returns the columns of the run, each after a comma.
std::string run_fields(const ResultFolder& folder, const Run& run, const std::string& label) {
  std::string fields =
      fmt::format(",{},{},{}", csv_field(study_of(folder, run)), run.seed, run.state);
  for (const auto& key : folder.varying_keys) {
    fields += ',' + json_field(parameter_of(run, key));
  }
  return fields + ',' + csv_field(label);
}

}  // namespace

std::filesystem::path package_beside(std::filesystem::path file) {
  return file.replace_extension(".datapackage.json");
}

std::uint64_t write_joined_table(const ResultFolder& folder, const std::filesystem::path& file) {
  remove_leftovers_beside(file);
  AtomicFile joined(file);
  std::string header = iterations_header();
  header.pop_back();  // the line end
  header += ",study,seed,state";
  for (const auto& key : folder.varying_keys) {
    header += ',' + csv_field(parameter_column(key));
  }
  header += ",label";
  joined.append(header + '\n');
  const auto labels = method_labels(folder);
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    const Run& run = folder.runs[i];
    if (!run.has_tables()) {
      continue;
    }
    const std::string fields = run_fields(folder, run, labels[i]);
    read_iterations(
        run.folder / "iterations.csv",
        run.id,
        [&](const IterationRecord& /*record*/) { ++rows; },
        [&](std::string_view line) {
          line.remove_suffix(1);
          joined.append(line);
          joined.append(fields + '\n');
        });
  }
  joined.commit();
  write_json_atomically(package_beside(file), joined_package(folder, file.filename().string()));
  return rows;
}

namespace {

/// Returns the checksum as event files have it: rotated, plus a constant, so that the checksum of
/// bytes that hold checksums is not weak.
std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t kMask = 0xA282EAD8;
  return std::rotr(crc32c(bytes), 15) + kMask;
}

template <class Number>
std::string little_endian(Number number) {
  auto rest = static_cast<std::make_unsigned_t<Number>>(number);
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(rest & 0xFFU);
    rest >>= 8U;
  }
  return bytes;
}

// Protocol buffers write a field as its number and wire type, then its value: 0 is a
// variable-length number, 1 and 5 are 8 and 4 bytes, 2 is a length and as many bytes.

std::string variable_length(std::uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7U) {
    bytes += static_cast<char>(number % 128 + 128);
  }
  return bytes + static_cast<char>(number);
}

std::string key(std::uint64_t field, std::uint64_t wire_type) {
  return variable_length(field * 8 + wire_type);
}
std::string number_field(std::uint64_t field, std::int64_t value) {
  return key(field, 0) + variable_length(static_cast<std::uint64_t>(value));
}
std::string double_field(std::uint64_t field, double value) {
  return key(field, 1) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string float_field(std::uint64_t field, float value) {
  return key(field, 5) + little_endian(std::bit_cast<std::uint32_t>(value));
}
std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  return key(field, 2) + variable_length(bytes.size()) + std::string(bytes);
}

/// Returns the wall time that an iteration took as far as it was measured.
double seconds_of(const IterationRecord& record) {
  double seconds = 0;
  for (const Column column :
       {Column::compute_s, Column::select_s, Column::aggregate_s, Column::measure_s}) {
    seconds += record.get(column).value_or(0);
  }
  return seconds;
}

/// Returns the number as event files hold it; absent where it would become infinite, or 0.
std::optional<float> as_float32(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const bool is_too_large = std::isfinite(value) && std::abs(value) > kLargest;
  const bool is_too_small =
      value != 0 && std::abs(value) < std::numeric_limits<float>::denorm_min();
  return is_too_large || is_too_small ? std::nullopt : std::optional(static_cast<float>(value));
}

/// Writes the file of one run and returns how many values it does not hold.
std::size_t write_events(const Run& run, const OutputPath& target) {
  const double start = seconds_of_utc(text_at(run.status, "started_utc")).value_or(0);
  make_folder(target / run.id);
  AtomicFile file(target / run.id / fmt::format("events.out.tfevents.{:.0f}.residuum", start));
  file.append(event_record(version_event(start)));
  double taken = 0;
  std::size_t left_out = 0;
  std::vector<Scalar> scalars;
  read_iterations(run.folder / "iterations.csv", run.id, [&](const auto& record) {
    taken += seconds_of(record);
    scalars.clear();
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const auto value = record.get(static_cast<Column>(i));
      const auto held = value ? as_float32(*value) : std::nullopt;
      left_out += value && !held ? 1 : 0;
      if (held) {
        scalars.push_back({.tag = kColumns[i].name, .value = *held});
      }
    }
    const auto step = static_cast<std::int64_t>(record.iteration());
    file.append(event_record(scalars_event(start + taken, step, scalars)));
  });
  file.commit();
  return left_out;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  constexpr std::uint32_t kCastagnoli = 0x1EDC6F41;
  boost::crc_optimal<32, kCastagnoli, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return static_cast<std::uint32_t>(sum.checksum());
}

std::string event_record(std::string_view message) {
  const std::string length = little_endian(static_cast<std::uint64_t>(message.size()));
  return length + little_endian(masked_crc32c(length)) + std::string(message) +
         little_endian(masked_crc32c(message));
}

std::string version_event(double wall_time) {
  return double_field(1, wall_time) + bytes_field(3, "brain.Event:2");
}

std::string scalars_event(double wall_time, std::int64_t step, const std::vector<Scalar>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    summary += bytes_field(1, bytes_field(1, tag) + float_field(2, value));
  }
  return double_field(1, wall_time) + number_field(2, step) + bytes_field(5, summary);
}

EventFiles write_event_files(const ResultFolder& folder, const OutputPath& target) {
  EventFiles written;
  remove_leftovers(target);
  for (const auto& run : folder.runs) {
    if (run.has_tables()) {
      written.left_out += write_events(run, target);
      ++written.runs;
    }
  }
  return written;
}

}  // namespace residuum::reports
