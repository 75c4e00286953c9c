#include "core/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "core/error.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = std::size_t{1} << 16U;
constexpr std::uint64_t kWriteBack = std::uint64_t{1}
                                     << 20U;  // written before the disk is to begin
constexpr mode_t kFileMode = 0666;            // less what the user's umask takes away
constexpr mode_t kFolderMode = 0777;
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::string_view kTemporary = ".residuum-";
constexpr std::size_t kTemporaryDigits = 16;

std::string system_text(int cause) { return std::generic_category().message(cause); }

bool is_link(int folder, const fs::path& name) {
  struct stat found {};
  return fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode);
}

[[noreturn]] void refuse_link(const fs::path& link) {
  resource_error("'{}' is a link, and links in a folder of results are not followed; remove it",
                 link.string());
}

/// Says why a folder on the way to `wanted` cannot be had.
[[noreturn]] void refuse_folder(const OutputPath& wanted, bool make, const std::string& cause) {
  resource_error("cannot {} '{}': {}", make ? "make the folder" : "write", wanted.string(), cause);
}

/// Opens the folder that the user named, through links too.
Descriptor open_root(const OutputPath& wanted, bool make) {
  const fs::path root = wanted.root().empty() ? fs::path(".") : wanted.root();
  std::error_code error;
  if (make) {
    fs::create_directories(root, error);
  }
  if (error) {
    refuse_folder(wanted, make, error.message());
  }
  Descriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) {
    refuse_folder(wanted, make, system_text(errno));
  }
  return folder;
}

/// Opens the folder `inside` the root, no link on the way; makes what is not there where `make`
/// says so. Messages name `wanted`.
Descriptor open_folder(const OutputPath& wanted, const fs::path& inside, bool make) {
  Descriptor folder = open_root(wanted, make);
  fs::path shown = wanted.root();
  for (const fs::path& name : inside) {
    shown /= name;
    if (make && mkdirat(folder.get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST) {
      refuse_folder(wanted, make, system_text(errno));
    }
    Descriptor next(openat(folder.get(), name.c_str(), kFolderFlags));
    if (!next.is_open()) {
      const int cause = errno;
      if (is_link(folder.get(), name)) {
        refuse_link(shown);
      }
      refuse_folder(wanted, make, system_text(cause));
    }
    folder = std::move(next);
  }
  return folder;
}

Descriptor open_folder_of(const OutputPath& file) {
  return open_folder(file, file.inside().parent_path(), false);
}

/// The name in its folder; the named folder itself has none.
fs::path name_of(const OutputPath& file) { return file.inside().filename(); }

/// Waits until the disk has the file; a pipe or a device cannot be waited for.
bool synchronise_descriptor(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

/// Waits until the disk has the folder, and with it the names of new files. Without that a file may
/// be missing after a power cut, never half there, so a folder that cannot be opened is no error.
void synchronise_folder(int folder) {
  const Descriptor readable(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (readable.is_open()) {
    (void)synchronise_descriptor(readable.get());
  }
}

/// Bits that nobody can foresee. They name files only, and no result depends on them.
std::uint64_t unpredictable_bits() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    resource_error("cannot get random bytes: {}", system_text(errno));
  }
  return bits;
}

/// Makes a file that is not there yet, so nobody has put a link in its place.
Descriptor create_new(int folder, const fs::path& name) {
  return Descriptor(openat(
      folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
}

/// True if a file may take the place of what has this name: nothing, a file, or a link. A device or
/// a pipe is nobody's to remove.
bool is_replaceable(int folder, const fs::path& name) {
  struct stat found {};
  return fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 ||
         S_ISREG(found.st_mode) || S_ISLNK(found.st_mode) || S_ISDIR(found.st_mode);
}

/// Removes what a killed program has left: nobody holds its lock. An empty file may be just being
/// made, and is locked only then, so it stays for a minute.
void remove_leftover(const OutputPath& file) {
  constexpr std::time_t kBeingMade = 60;
  const Descriptor folder = open_folder_of(file);
  const fs::path name = name_of(file);
  const Descriptor left(
      openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found {};
  if (!left.is_open() || flock(left.get(), LOCK_EX | LOCK_NB) != 0 ||
      fstat(left.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return;
  }
  if (found.st_size > 0 || std::time(nullptr) - found.st_mtime > kBeingMade) {
    (void)unlinkat(folder.get(), name.c_str(), 0);
  }
}

}  // namespace

OutputPath::OutputPath(const fs::path& path) : OutputPath(path.parent_path(), path.filename()) {}

OutputPath::OutputPath(fs::path root, fs::path inside)
    : root_(std::move(root)),
      inside_(std::move(inside)),
      path_(inside_.empty() ? root_ : root_ / inside_) {}

OutputPath OutputPath::named(const fs::path& folder) { return {folder, fs::path()}; }

OutputPath OutputPath::operator/(const fs::path& more) const {
  const bool leads_away =
      more.is_absolute() || std::find(more.begin(), more.end(), "..") != more.end();
  require(!leads_away, "'{}' is no name of a file in {}", more.string(), path_.string());
  return {root_, inside_.empty() ? more : inside_ / more};
}

OutputPath OutputPath::parent() const { return {root_, inside_.parent_path()}; }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() { (void)close(); }

bool Descriptor::close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

Descriptor open_output(const OutputPath& file, int flags) {
  const Descriptor folder = open_folder_of(file);
  const fs::path name = name_of(file);
  // A pipe that nobody reads would wait for ever.
  Descriptor opened(
      openat(folder.get(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kFileMode));
  struct stat found {};
  if (!opened.is_open() || fstat(opened.get(), &found) != 0) {
    const int cause = errno;
    if (is_link(folder.get(), name)) {
      refuse_link(file);
    }
    resource_error("cannot write '{}': {}", file.string(), system_text(cause));
  }
  if (!S_ISREG(found.st_mode)) {
    resource_error("cannot write '{}': it is no file; remove it", file.string());
  }
  if (found.st_nlink > 1) {
    resource_error(
        "cannot write '{}': it has a second name, under which it may be another's; put a "
        "copy in its place",
        file.string());
  }
  return opened;
}

OutputFile::OutputFile(const OutputPath& file) : shown_(file) {
  const Descriptor folder = open_folder_of(file);
  const fs::path name = name_of(file);
  if (!is_replaceable(folder.get(), name)) {
    descriptor_ = Descriptor(
        openat(folder.get(), name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  } else if (unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    fail();
  } else {
    descriptor_ = create_new(folder.get(), name);
  }
  if (!descriptor_.is_open()) {
    fail();
  }
}

OutputFile::OutputFile(Descriptor descriptor, fs::path shown)
    : shown_(std::move(shown)), descriptor_(std::move(descriptor)) {}

OutputFile::OutputFile(const OutputPath& file, std::uint64_t kept)
    : shown_(file), written_(kept), under_way_(kept), descriptor_(open_output(file, O_WRONLY)) {
  const auto end = static_cast<off_t>(kept);
  if (::ftruncate(descriptor_.get(), end) != 0 ||
      ::lseek(descriptor_.get(), end, SEEK_SET) != end) {
    fail();
  }
}

OutputFile::~OutputFile() {
  if (!descriptor_.is_open()) {
    return;
  }
  try {
    flush();
  } catch (const Error&) {  // whoever wanted to know has called close()
    buffer_.clear();
  }
}

void OutputFile::fail() const {
  resource_error("cannot write '{}': {}", shown_.string(), system_text(errno));
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
    const ssize_t written = ::write(descriptor_.get(), rest.data(), rest.size());
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
  if (written_ - under_way_ >= kWriteBack) {
    begin_write_back();
  }
}

void OutputFile::start_writing() {
  flush();
  begin_write_back();
}

/// Errors are said by whoever waits for the disk; a pipe has nothing to write back.
void OutputFile::begin_write_back() {
  if (under_way_ == written_) {
    return;
  }
  (void)::sync_file_range(descriptor_.get(),
                          static_cast<off_t>(under_way_),
                          static_cast<off_t>(written_ - under_way_),
                          SYNC_FILE_RANGE_WRITE);
  under_way_ = written_;
}

std::uint64_t OutputFile::synchronise() {
  flush();
  if (!synchronise_descriptor(descriptor_.get())) {
    fail();
  }
  return written_;
}

void OutputFile::close() {
  if (!descriptor_.is_open()) {
    return;
  }
  flush();
  const bool on_disk = synchronise_descriptor(descriptor_.get());
  const int cause = errno;
  const bool closed = descriptor_.close();
  if (!on_disk || !closed) {
    errno = on_disk ? errno : cause;
    fail();
  }
}

AtomicFile::AtomicFile(const OutputPath& file)
    : target_(file), folder_(open_folder_of(file)), file_(open_temporary(), file) {
  if (!is_replaceable(folder_.get(), name_of(file))) {
    (void)unlinkat(folder_.get(), temporary_.c_str(), 0);
    resource_error("cannot write '{}': it is a device or a pipe, not a file", file.string());
  }
}

/// The lock tells others that the file is being written.
Descriptor AtomicFile::open_temporary() {
  for (;;) {
    temporary_ = fmt::format("{}{:0{}x}", kTemporary, unpredictable_bits(), kTemporaryDigits);
    Descriptor made = create_new(folder_.get(), temporary_);
    if (made.is_open()) {
      (void)flock(made.get(), LOCK_EX);
      return made;
    }
    if (errno != EEXIST) {
      resource_error("cannot write '{}': {}", target_.string(), system_text(errno));
    }
  }
}

AtomicFile::~AtomicFile() {
  if (!committed_) {
    (void)unlinkat(folder_.get(), temporary_.c_str(), 0);
  }
}

void AtomicFile::commit() {
  file_.close();
  const fs::path name = name_of(target_);
  if (renameat(folder_.get(), temporary_.c_str(), folder_.get(), name.c_str()) != 0) {
    resource_error("cannot write '{}': {}", target_.string(), system_text(errno));
  }
  committed_ = true;
  synchronise_folder(folder_.get());
}

void require_replaceable(const fs::path& file) {
  std::error_code error;
  const auto status = fs::symlink_status(file, error);
  require(!fs::exists(status) || fs::is_regular_file(status),
          "--out: '{}' is no plain file, and what is written would take its place; name another",
          file.string());
}

void write_file_atomically(const OutputPath& file, std::string_view content) {
  AtomicFile written(file);
  written.append(content);
  written.commit();
}

void append_to_file(const OutputPath& file, std::string_view text) {
  const Descriptor opened = open_output(file, O_WRONLY | O_APPEND | O_CREAT);
  while (!text.empty()) {
    const ssize_t written = ::write(opened.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      resource_error("cannot write '{}': {}", file.string(), system_text(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

void make_folder(const OutputPath& folder) { (void)open_folder(folder, folder.inside(), true); }

void move_file(const OutputPath& from, const OutputPath& to) {
  const Descriptor old_folder = open_folder_of(from);
  const Descriptor new_folder = open_folder_of(to);
  if (renameat(old_folder.get(), name_of(from).c_str(), new_folder.get(), name_of(to).c_str()) !=
      0) {
    resource_error("cannot rename {} to {}: {}", from.string(), to.string(), system_text(errno));
  }
}

bool remove_file(const OutputPath& file) {
  try {
    return unlinkat(open_folder_of(file).get(), name_of(file).c_str(), 0) == 0;
  } catch (const Error&) {
    return false;  // the folder is not there, or leads away
  }
}

bool remove_folder(const OutputPath& folder) {
  try {
    const Descriptor parent = open_folder_of(folder);
    std::error_code error;
    // The path of the open parent cannot be turned to another folder in the meantime.
    const fs::path opened = fmt::format("/proc/self/fd/{}", parent.get());
    fs::remove_all(opened / name_of(folder), error);
    return !error;
  } catch (const Error&) {
    return false;  // the folder above is not there, or leads away
  }
}

bool is_temporary(std::string_view name) {
  constexpr std::string_view kHex = "0123456789abcdef";
  return name.starts_with(kTemporary) && name.size() == kTemporary.size() + kTemporaryDigits &&
         name.find_first_not_of(kHex, kTemporary.size()) == std::string_view::npos;
}

namespace {

void remove_leftovers(const OutputPath& folder, int deepest) {
  std::error_code ignored;
  std::vector<fs::path> found;
  const auto options = fs::directory_options::skip_permission_denied;
  const fs::path top = folder.path().empty() ? "." : folder.path();
  for (fs::recursive_directory_iterator entry(top, options, ignored), end; entry != end;
       entry.increment(ignored)) {
    if (entry.depth() >= deepest) {
      entry.disable_recursion_pending();
    }
    if (is_temporary(entry->path().filename().string())) {
      found.push_back(entry->path().lexically_relative(top));
    }
  }
  for (const auto& file : found) {
    try {
      remove_leftover(folder / file);
    } catch (const Error&) {
      continue;  // its folder has gone
    }
  }
}

}  // namespace

void remove_leftovers(const OutputPath& folder) { remove_leftovers(folder, 3); }

void remove_leftovers_beside(const OutputPath& file) { remove_leftovers(file.parent(), 0); }

}  // namespace residuum
