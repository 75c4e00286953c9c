#include "reports/tables/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/error.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16U;

/// Waits until the disk has the file; a pipe or a device cannot be waited for.
bool synchronise(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

/// Waits until the disk has the folder, and with it the names of new files. Without that a file may
/// be missing after a power cut, never half there, so a folder that cannot be opened is no error.
void synchronise_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    (void)synchronise(descriptor);
    (void)::close(descriptor);
  }
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return folder_of(path) / fmt::format(".{}.{}", path.filename().string(), ::getpid());
}

std::string system_text() { return std::generic_category().message(errno); }

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path) : OutputFile(path, path) {}

OutputFile::OutputFile(std::filesystem::path path, std::filesystem::path shown)
    : path_(std::move(path)),
      shown_(std::move(shown)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) {
    fail();
  }
}

OutputFile::OutputFile(std::filesystem::path path, std::uint64_t kept)
    : path_(std::move(path)),
      shown_(path_),
      written_(kept),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)) {
  const auto end = static_cast<off_t>(kept);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, end) != 0 ||
      ::lseek(descriptor_, end, SEEK_SET) != end) {
    fail();
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) {
    return;
  }
  try {
    flush();
  } catch (const Error&) {  // whoever wanted to know has called close()
    buffer_.clear();
  }
  (void)::close(descriptor_);
}

void OutputFile::fail() const {
  resource_error("cannot write '{}': {}", shown_.string(), system_text());
}

void OutputFile::append(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) {
    flush();
  }
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      buffer_.clear();
      fail();
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
    written_ += static_cast<std::uint64_t>(written);
  }
  buffer_.clear();
}

std::uint64_t OutputFile::synchronise() {
  flush();
  if (!reports::synchronise(descriptor_)) {
    fail();
  }
  return written_;
}

void OutputFile::close() {
  if (descriptor_ < 0) {
    return;
  }
  flush();
  const bool on_disk = reports::synchronise(descriptor_);
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!on_disk || !closed) {
    fail();
  }
}

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : target_(path), file_(temporary_name(path), path) {}

AtomicFile::~AtomicFile() {
  if (!committed_) {
    (void)::unlink(file_.path().c_str());
  }
}

void AtomicFile::commit() {
  file_.close();
  if (std::rename(file_.path().c_str(), target_.c_str()) != 0) {
    resource_error("cannot write '{}': {}", target_.string(), system_text());
  }
  committed_ = true;
  synchronise_folder(folder_of(target_));
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    resource_error("cannot make the folder '{}': {}", path.string(), error.message());
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.append(content);
  file.commit();
}

std::string indented_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

void write_json_atomically(const std::filesystem::path& path, const Json& value) {
  write_file_atomically(path, indented_text(value) + "\n");
}

void require_regular_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  require(status.type() != std::filesystem::file_type::not_found,
          "cannot read '{}': there is no such file",
          path.string());
  require(!error, "cannot read '{}': {}", path.string(), error.message());
  require(
      !std::filesystem::is_directory(status), "cannot read '{}': it is a folder", path.string());
  require(std::filesystem::is_regular_file(status),
          "cannot read '{}': it is a device or a pipe, not a file",
          path.string());
}

std::string read_file(const std::filesystem::path& path, std::uint64_t most) {
  require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    resource_error("cannot read '{}': {}", path.string(), system_text());
  }
  std::string content;
  std::vector<char> chunk(kBufferBytes);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    content.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    require(content.size() <= most,
            "cannot read '{}': it has more than {} bytes, the most such a file may have",
            path.string(),
            most);
  }
  if (file.bad()) {
    resource_error("cannot read '{}': {}", path.string(), system_text());
  }
  return content;
}

Json read_json(const std::filesystem::path& path) {
  constexpr int kDeepest = 64;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28U;
  const std::string content = read_file(path, kMostBytes);
  // The library writes JSON by a function that calls itself for each level, so deep nesting would
  // exhaust the stack.
  const auto bound = [&](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    require(depth <= kDeepest, "'{}' is nested more than {} deep", path.string(), kDeepest);
    return true;
  };
  try {
    Json value = Json::parse(content, bound);
    require(value.is_object(), "'{}' does not hold a JSON object", path.string());
    return value;
  } catch (const Json::parse_error& error) {
    usage_error(
        "'{}' is not valid JSON at byte {}; was it written to the end?", path.string(), error.byte);
  } catch (const Json::out_of_range&) {
    usage_error("'{}' holds a number that float64 does not have", path.string());
  }
}

bool is_run_id(std::string_view text) {
  constexpr std::size_t kHashDigits = 12;
  constexpr std::size_t kLongest = 200;  // file systems end at 255
  if (text.size() < kHashDigits + 2 || text.size() > kLongest) {
    return false;
  }
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto is_separator = [](char c) { return c == '.' || c == '-' || c == '_'; };
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const std::string_view hash = text.substr(text.size() - kHashDigits);
  return is_plain(text.front()) && is_separator(text[text.size() - kHashDigits - 1]) &&
         std::all_of(hash.begin(), hash.end(), is_hex) &&
         std::all_of(
             text.begin(), text.end(), [&](char c) { return is_plain(c) || is_separator(c); });
}

}  // namespace residuum::reports
