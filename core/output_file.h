#pragma once
// The program writes files so that they are whole or not there, and inside the folder that the user
// named: a link in a folder of results that came from elsewhere leads no write out of it. A full
// disk, a link, or a folder that may not be written is a resource error that names the file.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace residuum {

/// OutputPath is where something is written: a folder that the user named, and the way from there.
/// Links that lead to the folder are the user's own; below it none is followed.
class OutputPath {
 public:
  /// A file or a folder in a folder that the user named. Most outputs are that, so a path is one.
  OutputPath(const std::filesystem::path& path);  // NOLINT(google-explicit-constructor)
  OutputPath(const char* path) : OutputPath(std::filesystem::path(path)) {}  // NOLINT
  /// The folder that the user named.
  static OutputPath named(const std::filesystem::path& folder);

  /// Returns what lies at `more`, a relative path without "..".
  OutputPath operator/(const std::filesystem::path& more) const;
  /// Returns the folder in which this lies; the named folder lies in itself.
  OutputPath parent() const;

  /// The folder that the user named, and the way from there.
  const std::filesystem::path& root() const { return root_; }
  const std::filesystem::path& inside() const { return inside_; }
  const std::filesystem::path& path() const { return path_; }
  operator const std::filesystem::path&() const { return path_; }  // NOLINT
  std::string string() const { return path_.string(); }

 private:
  OutputPath(std::filesystem::path root, std::filesystem::path inside);

  std::filesystem::path root_;
  std::filesystem::path inside_;
  std::filesystem::path path_;
};

/// Descriptor closes a file when it goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Closes it; false if written bytes may not have arrived.
  bool close();

 private:
  int number_ = -1;
};

/// Opens a file for writing with these flags of open(2), O_TRUNC not among them. It is refused if
/// it is no regular file or if it has a second name, under which it may be somebody's.
Descriptor open_output(const OutputPath& file, int flags);

/// OutputFile is a file that is written from its beginning; a file of that name is replaced, a
/// device is written to. Appended bytes are buffered; an error of the machine shows at the next
/// flush at the latest.
class OutputFile {
 public:
  explicit OutputFile(const OutputPath& file);
  /// Goes on with a file after its first `kept` bytes; what stands behind them is cut off.
  OutputFile(const OutputPath& file, std::uint64_t kept);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Writes the bytes that are still buffered as far as it goes; only `close` says whether it went
  /// well.
  ~OutputFile();

  void append(std::string_view text);
  void flush();
  /// Flushes, and has the system begin to write to the disk, so that the wait for it is short.
  void start_writing();
  /// Flushes, waits until the disk has it, and says how many bytes there are.
  std::uint64_t synchronise();
  /// Flushes, waits until the disk has it, and closes.
  void close();

 private:
  friend class AtomicFile;
  /// Writes to an open file that messages call `shown`.
  OutputFile(Descriptor descriptor, std::filesystem::path shown);
  [[noreturn]] void fail() const;
  void begin_write_back();

  std::filesystem::path shown_;
  std::string buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t under_way_ = 0;  // so many bytes are on their way to the disk, or there
  Descriptor descriptor_;
};

/// AtomicFile appears under its name, complete, at `commit`, and not at all without it. Until then
/// it has a name that nobody can foresee; `remove_leftovers` removes those of killed programs.
class AtomicFile {
 public:
  explicit AtomicFile(const OutputPath& file);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  void append(std::string_view text) { file_.append(text); }
  void commit();

 private:
  Descriptor open_temporary();

  OutputPath target_;
  Descriptor folder_;
  std::string temporary_;
  OutputFile file_;
  bool committed_ = false;
};

void write_file_atomically(const OutputPath& file, std::string_view content);

/// Throws a usage error that names --out if the file that a user gave there is a link, a device or
/// a folder, which the written file would replace.
void require_replaceable(const std::filesystem::path& file);

/// Adds text at the end of a file, and makes the file where it is not there.
void append_to_file(const OutputPath& file, std::string_view text);

/// Makes a folder and those above it where they are not there; an error says which cannot be made.
void make_folder(const OutputPath& folder);

/// Gives a file another name; a file that has it is replaced.
void move_file(const OutputPath& from, const OutputPath& to);

/// Removes a file, or a link itself; false if it is not there or cannot be removed.
bool remove_file(const OutputPath& file);

/// Removes a folder with all that lies in it, or a file; links are removed, not followed. False if
/// something stays.
bool remove_folder(const OutputPath& folder);

/// True for a name that AtomicFile gives until `commit`.
bool is_temporary(std::string_view name);

/// Removes what killed programs have left of files that they had not finished, in the folder and
/// three levels below. Those that a program still writes stay.
void remove_leftovers(const OutputPath& folder);

/// Does so in the folder of a file alone.
void remove_leftovers_beside(const OutputPath& file);

}  // namespace residuum
