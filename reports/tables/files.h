#pragma once
// Files written by these functions are either whole or not there. A full disk or a folder that may
// not be written is a resource error that names the file.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace residuum::reports {

/// JSON whose objects keep the order they were written in.
using Json = nlohmann::ordered_json;

/// OutputFile is a file that is written from its beginning. What is appended is buffered; an error
/// of the machine shows at the next flush at the latest.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  /// Opens a file that messages call `shown`, the name that it will get.
  OutputFile(std::filesystem::path path, std::filesystem::path shown);
  /// Goes on with a file after its first `kept` bytes; what stands behind them is cut off.
  OutputFile(std::filesystem::path path, std::uint64_t kept);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Writes what is still buffered as far as it goes; only `close` says whether it went well.
  ~OutputFile();

  void append(std::string_view text);
  void flush();
  /// Flushes, waits until the disk has it, and says how many bytes there are.
  std::uint64_t synchronise();
  /// Flushes, waits until the disk has it, and closes.
  void close();

  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::filesystem::path shown_;
  std::string buffer_;
  std::uint64_t written_ = 0;
  int descriptor_ = -1;
};

/// AtomicFile appears under its name, complete, at `commit`, and not at all without it.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  void append(std::string_view text) { file_.append(text); }
  void commit();

 private:
  std::filesystem::path target_;
  OutputFile file_;
  bool committed_ = false;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Makes a folder and those above it where they are not there; an error says which cannot be made.
void make_folder(const std::filesystem::path& path);

/// Returns indented JSON. Bytes that are no UTF-8 (a host's name, a message) are replaced, because
/// they must not cost the file.
std::string indented_text(const Json& value);

/// Writes indented JSON with a line end.
void write_json_atomically(const std::filesystem::path& path, const Json& value);

/// Throws a usage error that names `path` unless it is a file with an end: no folder, no pipe, no
/// device.
void require_regular_file(const std::filesystem::path& path);

/// Reads the whole file. A file that is missing, unreadable, not regular or longer than `most`
/// bytes is a usage error that names it.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Reads a JSON object. A file that holds none, or one nested too deep, is a usage error that names
/// file and place.
Json read_json(const std::filesystem::path& path);

/// Returns whether `text` is a slug, a separator and 12 hexadecimal digits, of [a-z0-9._-] alone
/// and not opening with a dot. Such a text is safe as a folder's name.
bool is_run_id(std::string_view text);

}  // namespace residuum::reports
