// A checkpoint file:
//
//   magic   format  head's length  head   state   CRC-32 of all before it
//   8 bytes uint32  uint32         JSON   bytes   uint32
//
// A run saves its state through run_state.h. Its tables grow from then on, so the head says how
// long each was and which checksum it had. To go on, a run takes the newest file whose checksum is
// right, cuts its tables to those lengths, and loads the state. A newer file that is damaged is set
// aside as refused-NNN:
//
//   iterations.csv.part  |=======rows=======|==rows==|
//                        ^0                 ^bytes in the head; what follows is cut off
//   checkpoint/          state-100           state-200 (being written: state-200.part)
//
// A file gets its name when it is whole, and the last two are kept: if the newest is damaged, the
// run goes on from the one before. Numbers are in the machine's own order of bytes. The magic
// refuses a file of another order.

#include "experiments/program/runs/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/console/streams.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;

}  // namespace

std::uint32_t GrowingSums::of(const std::filesystem::path& file, std::uint64_t bytes) {
  Summed& known = known_[file];
  if (bytes < known.bytes) {
    known = {};
  }
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(known.bytes));
  std::vector<char> chunk(
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes - known.bytes, kPiece)));
  while (known.bytes < bytes) {
    const auto size = std::min<std::uint64_t>(bytes - known.bytes, chunk.size());
    if (!stream.read(chunk.data(), static_cast<std::streamsize>(size))) {
      resource_error("cannot read {}", file.string());
    }
    known.sum = checksum(known.sum, {chunk.data(), static_cast<std::size_t>(size)});
    known.bytes += size;
  }
  return known.sum;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "state-";
constexpr std::string_view kRefusedPrefix = "refused-";
constexpr std::uint64_t kMagic = 0x5253444d53544154;  // read backwards on the other kind of machine
constexpr std::uint32_t kFormat = 5;
constexpr std::uint32_t kLongestCheckpointHead = 1U << 16U;
constexpr std::size_t kChunk = std::size_t{1} << 20U;

// The standard lets char alias every type, so bytes may be read and written as characters.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)

template <class T>
std::string_view text_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// Appends to a file that gets its name when it is whole.
class Writer final : public StateStream {
 public:
  explicit Writer(AtomicFile& file) : file_(file) {}

  void pass(std::span<std::byte> bytes) override {
    append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void append(std::string_view bytes) {
    sum_ = checksum(sum_, bytes);
    file_.append(bytes);
  }
  std::uint32_t sum() const { return sum_; }

 private:
  AtomicFile& file_;
  std::uint32_t sum_ = 0;
};

class Reader final : public StateStream {
 public:
  Reader(std::ifstream& file, const fs::path& path, std::uint64_t size)
      : file_(file), path_(path), left_(size) {}

  void pass(std::span<std::byte> bytes) override {
    take(bytes.size());
    file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file_) {
      resource_error("cannot read {}", path_.string());
    }
  }
  void skip(std::uint64_t size) override {
    take(size);
    file_.seekg(static_cast<std::streamoff>(size), std::ios::cur);
  }
  std::uint64_t left() const { return left_; }

 private:
  void take(std::uint64_t size) {
    if (size > left_) {
      resource_error("its state is shorter than this training's");
    }
    left_ -= size;
  }

  std::ifstream& file_;
  const fs::path& path_;
  std::uint64_t left_;
};

// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

reports::Json as_json(const CheckpointHead& head) {
  return {{"run_id", head.run_id},
          {"iteration", head.iteration},
          {"iterations_bytes", head.iterations_bytes},
          {"checks_bytes", head.checks_bytes},
          {"details", head.details},
          {"table_sums", head.table_sums},
          {"data_fingerprint", head.data_fingerprint},
          {"found", head.found},
          {"started_utc", head.started_utc},
          {"revision", head.revision}};
}

/// Reads a whole number of the head; the library would make one of any number.
template <class Number>
Number whole_number(const reports::Json& value) {
  require(value.is_number_unsigned() &&
              value.get<std::uint64_t>() <= std::numeric_limits<Number>::max(),
          "it is damaged");
  return value.get<Number>();
}

template <class Number>
std::map<std::string, Number> whole_numbers(const reports::Json& head, const char* key) {
  std::map<std::string, Number> numbers;
  for (const auto& [name, value] : head.at(key).items()) {
    numbers[name] = whole_number<Number>(value);
  }
  return numbers;
}

/// Returns what a pilot has found, or null.
reports::Json found_of(const reports::Json& head) {
  const auto& found = head.at("found");
  if (!found.is_null()) {
    const auto& threshold = found.at("threshold");
    require(threshold.is_number() && threshold.get<double>() >= 0, "it is damaged");
    require(whole_number<std::uint16_t>(found.at("pilot_runs")) > 0, "it is damaged");
  }
  return found;
}

CheckpointHead parse_head(const std::string& text) {
  const auto json = reports::Json::parse(text);
  return {.run_id = json.at("run_id").get<std::string>(),
          .iteration = whole_number<std::uint64_t>(json.at("iteration")),
          .iterations_bytes = whole_number<std::uint64_t>(json.at("iterations_bytes")),
          .checks_bytes = whole_number<std::uint64_t>(json.at("checks_bytes")),
          .details = whole_numbers<std::uint64_t>(json, "details"),
          .table_sums = whole_numbers<std::uint32_t>(json, "table_sums"),
          .data_fingerprint = json.at("data_fingerprint").get<std::string>(),
          .found = found_of(json),
          .started_utc = json.at("started_utc").get<std::string>(),
          .revision = json.at("revision").get<std::string>()};
}

template <class T>
T read_number(std::ifstream& file) {
  std::array<char, sizeof(T)> bytes{};
  file.read(bytes.data(), bytes.size());
  return std::bit_cast<T>(bytes);
}

/// A file that has been read up to its state.
struct Opened {
  std::ifstream file;
  CheckpointHead head;
  std::uint64_t state_size = 0;
};

/// Opens a checkpoint; a usage error with the reason if it cannot be what we wrote.
Opened open_checkpoint(const fs::path& path) {
  std::error_code ignored;
  require(fs::is_regular_file(path, ignored), "it is no file");  // a pipe would never answer
  Opened opened{.file = std::ifstream(path, std::ios::binary), .head = {}, .state_size = 0};
  require(opened.file.good(), "it cannot be read");
  const auto magic = read_number<std::uint64_t>(opened.file);
  require(opened.file && magic == kMagic, "it is no checkpoint of a machine like this one");
  const auto format = read_number<std::uint32_t>(opened.file);
  require(
      format == kFormat,
      "another version of Residuum wrote it, in format {}, and this program reads {}; go on with "
      "that version, or let the run begin anew",
      format,
      kFormat);
  const auto head_size = read_number<std::uint32_t>(opened.file);
  require(opened.file && head_size <= kLongestCheckpointHead, "it is damaged");
  std::string head(head_size, '\0');
  opened.file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::uint64_t size = fs::file_size(path);
  const std::uint64_t around = sizeof(kMagic) + 3 * sizeof(std::uint32_t) + head.size();
  require(opened.file && size >= around, "it is cut off");
  opened.state_size = size - around;
  try {
    opened.head = parse_head(head);
  } catch (const nlohmann::json::exception&) {
    usage_error("it is damaged");
  }
  return opened;
}

void verify_checksum(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t left = fs::file_size(path) - sizeof(std::uint32_t);
  std::vector<char> chunk(std::min<std::uint64_t>(left, kChunk));
  std::uint32_t sum = 0;
  while (left > 0) {
    const auto size = std::min<std::uint64_t>(left, chunk.size());
    file.read(chunk.data(), static_cast<std::streamsize>(size));
    require(file.good(), "it cannot be read");
    sum = checksum(sum, {chunk.data(), size});
    left -= size;
  }
  require(read_number<std::uint32_t>(file) == sum && file, "its checksum is wrong");
}

/// Reads the iteration from a file name of ours.
std::optional<std::uint64_t> iteration_in(const fs::path& file, std::string_view prefix) {
  const std::string name = file.filename().string();
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  return parsed<std::uint64_t>(std::string_view(name).substr(prefix.size()));
}

struct NumberedFile {
  std::uint64_t iteration = 0;
  OutputPath file;
};

/// Newest first.
std::vector<NumberedFile> numbered_files(const OutputPath& folder, std::string_view prefix) {
  std::vector<NumberedFile> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator((folder / "checkpoint").path(), ignored)) {
    if (const auto iteration = iteration_in(entry.path(), prefix)) {
      found.push_back(
          {.iteration = *iteration, .file = folder / "checkpoint" / entry.path().filename()});
    }
  }
  std::sort(found.begin(), found.end(), [](const NumberedFile& a, const NumberedFile& b) {
    return a.iteration > b.iteration;
  });
  return found;
}

CheckpointHead verified_head(const NumberedFile& numbered, const std::string& run_id) {
  const auto opened = open_checkpoint(numbered.file);
  verify_checksum(numbered.file);
  const CheckpointHead& head = opened.head;
  require(head.run_id == run_id, "it belongs to run {}", head.run_id);
  require(head.iteration == numbered.iteration, "it is of iteration {}", head.iteration);
  return head;
}

void tell_refused(const NumberedFile& refused, const std::string& reason) {
  say(fmt::format("{} is not used: {}; it is kept as {}{}",
                  refused.file.string(),
                  reason,
                  kRefusedPrefix,
                  refused.iteration));
}

/// Removes files that an earlier start has set aside, so that they do not fill the disk.
void remove_set_aside(const OutputPath& folder) {
  for (const auto& [iteration, file] : numbered_files(folder, kRefusedPrefix)) {
    remove_folder(file);
  }
}

/// Renames files that cannot be used, so that they are not tried again.
void set_aside(const std::vector<NumberedFile>& refused) {
  for (const auto& [iteration, file] : refused) {
    move_file(file, file.parent() / fmt::format("{}{}", kRefusedPrefix, iteration));
  }
}

/// Returns the newest checkpoint that can be used; those above it are told of and listed.
std::optional<Checkpoint> newest_usable(const OutputPath& folder,
                                        const std::string& run_id,
                                        const std::function<void(const CheckpointHead&)>& check,
                                        std::vector<NumberedFile>& refused) {
  for (const auto& numbered : numbered_files(folder, kPrefix)) {
    const auto refuse = [&](const std::string& reason) {
      tell_refused(numbered, reason);
      refused.push_back(numbered);
    };
    try {
      const auto head = verified_head(numbered, run_id);
      check(head);
      return Checkpoint{.file = numbered.file, .head = head};
    } catch (const Error& error) {
      refuse(error.what());
    } catch (const fs::filesystem_error& error) {
      refuse(error.code().message());
    }
  }
  return std::nullopt;
}

}  // namespace

void write_checkpoint(const OutputPath& folder,
                      const CheckpointHead& head,
                      const std::function<void(StateStream&)>& fill) {
  make_folder(folder / "checkpoint");
  const std::string text = as_json(head).dump();
  AtomicFile file(folder / "checkpoint" / fmt::format("{}{}", kPrefix, head.iteration));
  Writer writer(file);
  writer.append(text_of(kMagic));
  writer.append(text_of(kFormat));
  const auto head_size = static_cast<std::uint32_t>(text.size());
  writer.append(text_of(head_size));
  writer.append(text);
  fill(writer);
  const std::uint32_t sum = writer.sum();
  file.append(text_of(sum));
  file.commit();
  keep_checkpoints(folder, 2, head.iteration);
}

std::optional<Checkpoint> find_checkpoint(const OutputPath& folder,
                                          const std::string& run_id,
                                          const std::function<void(const CheckpointHead&)>& check) {
  std::vector<NumberedFile> refused;
  auto usable = newest_usable(folder, run_id, check, refused);
  if (!refused.empty()) {
    remove_set_aside(folder);
  }
  set_aside(refused);
  return usable;
}

std::optional<Checkpoint> next_checkpoint(const OutputPath& folder,
                                          const Checkpoint& refused,
                                          const std::string& reason,
                                          const std::function<void(const CheckpointHead&)>& check) {
  const NumberedFile first{.iteration = refused.head.iteration, .file = refused.file};
  tell_refused(first, reason);
  set_aside({first});
  std::vector<NumberedFile> others;
  auto usable = newest_usable(folder, refused.head.run_id, check, others);
  set_aside(others);
  return usable;
}

std::optional<CheckpointHead> newest_head(const OutputPath& folder) {
  for (const auto& [iteration, file] : numbered_files(folder, kPrefix)) {
    try {
      return open_checkpoint(file).head;
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

void read_checkpoint(const Checkpoint& checkpoint, const std::function<void(StateStream&)>& fill) {
  auto opened = open_checkpoint(checkpoint.file);
  Reader reader(opened.file, checkpoint.file, opened.state_size);
  fill(reader);
  if (reader.left() > 0) {
    resource_error("its state is longer than this training's");
  }
}

void keep_checkpoints(const OutputPath& folder, std::size_t count, std::uint64_t newest) {
  std::size_t kept = 0;
  for (const auto& [iteration, file] : numbered_files(folder, kPrefix)) {
    if (iteration > newest) {
      continue;  // not this training's
    }
    if (kept < count) {
      ++kept;
      continue;
    }
    remove_file(file);  // one too many does no harm
  }
}

}  // namespace residuum
