#include "objectives/data/byte_stream.h"

#include <algorithm>
#include <bzlib.h>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <limits>
#include <lzma.h>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
#include <zlib.h>
#include <zstd.h>

#include "core/error.h"
#include "core/output_file.h"
#include "core/text.h"

namespace residuum {
namespace {

constexpr std::string_view kGzipMagic("\x1f\x8b", 2);
constexpr std::string_view kXzMagic(
    "\xfd"
    "7zXZ\0",
    6);
constexpr std::string_view kBzip2Magic("BZh", 3);
constexpr std::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);
constexpr std::size_t kSmallestChunk = std::size_t{1} << 14U;
constexpr std::size_t kLargestChunk = std::size_t{1} << 20U;
constexpr std::uint64_t kXzMemory = std::uint64_t{1} << 30U;  // xz -9 needs 65 MiB

[[noreturn]] void too_large(const std::string& name, std::uint64_t limit) {
  usage_error(
      "{}: holds more than {} bytes once unpacked, the limit for one data file", name, limit);
}

[[noreturn]] void truncated(const std::string& name) {
  usage_error("{}: the archive is truncated; fetch the file again", name);
}

[[noreturn]] void corrupt(const std::string& name, std::string_view reason) {
  usage_error("{}: the archive is corrupt ({}); fetch the file again", name, reason);
}

/// The bytes that an unpacker has produced so far, bounded by the limit.
class Output {
 public:
  Output(const std::string& name, std::uint64_t limit, std::size_t packed)
      : name_(name), limit_(limit), chunk_(std::clamp(packed, kSmallestChunk, kLargestChunk)) {}

  std::span<char> chunk() { return chunk_; }

  /// Takes over all of the chunk but its last `unused` bytes.
  void keep(std::size_t unused) {
    bytes_.append(chunk_.data(), chunk_.size() - unused);
    if (bytes_.size() > limit_) {
      too_large(name_, limit_);
    }
  }

  std::string take() { return std::move(bytes_); }

 private:
  const std::string& name_;
  std::uint64_t limit_;
  std::vector<char> chunk_;
  std::string bytes_;
};

/// Owns zlib's stream, so that its memory is freed also by an exception.
class GzipStream {
 public:
  GzipStream(std::string& packed, const std::string& name) : packed_(packed) {
    constexpr int kGzipHeaderExpected = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipHeaderExpected) != Z_OK) {
      resource_error("{}: there is no memory to unpack it", name);
    }
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  GzipStream(GzipStream&&) = delete;
  GzipStream& operator=(GzipStream&&) = delete;
  ~GzipStream() { inflateEnd(&stream_); }

  bool at_end_of_input() const { return position_ == packed_.size(); }
  const char* message() const { return stream_.msg == nullptr ? "bad data" : stream_.msg; }
  void next_member() { inflateReset(&stream_); }

  int fill(Output& output) {
    const std::size_t left = packed_.size() - position_;
    const auto offered =
        static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
    // zlib's interface counts in unsigned char and does not promise to leave the input const.
    stream_.next_in =
        reinterpret_cast<Bytef*>(packed_.data() + position_);  // NOLINT(*-reinterpret-cast)
    stream_.avail_in = offered;
    const auto chunk = output.chunk();
    stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());  // NOLINT(*-reinterpret-cast)
    stream_.avail_out = static_cast<uInt>(chunk.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    position_ += offered - stream_.avail_in;
    output.keep(stream_.avail_out);
    return status;
  }

 private:
  std::string& packed_;
  std::size_t position_ = 0;
  z_stream stream_{};
};

std::string gunzip(std::string& packed, const std::string& name, std::uint64_t limit) {
  GzipStream stream(packed, name);
  Output output(name, limit, packed.size());
  for (;;) {
    const int status = stream.fill(output);
    if (status == Z_STREAM_END) {
      if (stream.at_end_of_input()) {
        return output.take();
      }
      stream.next_member();  // a gzip file may have several members, one after the other
    } else if (status == Z_BUF_ERROR) {
      truncated(name);  // no progress: zlib wants input and there is none
    } else if (status != Z_OK) {
      corrupt(name, stream.message());
    }
  }
}

/// Owns liblzma's stream, so that its memory is freed also by an exception.
class XzStream {
 public:
  XzStream(std::string_view packed, const std::string& name) {
    if (lzma_stream_decoder(&stream_, kXzMemory, LZMA_CONCATENATED) != LZMA_OK) {
      resource_error("{}: there is no memory to unpack it", name);
    }
    stream_.next_in =
        reinterpret_cast<const std::uint8_t*>(packed.data());  // NOLINT(*-reinterpret-cast)
    stream_.avail_in = packed.size();
  }
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;
  XzStream(XzStream&&) = delete;
  XzStream& operator=(XzStream&&) = delete;
  ~XzStream() { lzma_end(&stream_); }

  lzma_ret fill(Output& output) {
    const auto chunk = output.chunk();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(chunk.data());  // NOLINT(*-reinterpret-cast)
    stream_.avail_out = chunk.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_FINISH);
    output.keep(stream_.avail_out);
    return status;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

std::string unxz(std::string_view packed, const std::string& name, std::uint64_t limit) {
  XzStream stream(packed, name);
  Output output(name, limit, packed.size());
  for (;;) {
    switch (stream.fill(output)) {
      case LZMA_OK:
        break;
      case LZMA_STREAM_END:
        return output.take();
      case LZMA_BUF_ERROR:
        truncated(name);
      case LZMA_MEM_ERROR:
      case LZMA_MEMLIMIT_ERROR:
        resource_error("{}: unpacking takes more than {} bytes of memory", name, kXzMemory);
      case LZMA_FORMAT_ERROR:
        corrupt(name, "bytes that are not xz");
      case LZMA_OPTIONS_ERROR:
        corrupt(name, "options that this liblzma does not know");
      default:
        corrupt(name, "bad data or checksum");
    }
  }
}

/// Owns libbz2's stream, so that its memory is freed also by an exception.
class Bzip2Stream {
 public:
  Bzip2Stream(std::string& packed, const std::string& name) : packed_(packed), name_(name) {
    begin();
  }
  Bzip2Stream(const Bzip2Stream&) = delete;
  Bzip2Stream& operator=(const Bzip2Stream&) = delete;
  Bzip2Stream(Bzip2Stream&&) = delete;
  Bzip2Stream& operator=(Bzip2Stream&&) = delete;
  ~Bzip2Stream() { BZ2_bzDecompressEnd(&stream_); }

  bool at_end_of_input() const { return position_ == packed_.size(); }
  void next_member() {
    BZ2_bzDecompressEnd(&stream_);
    begin();
  }

  int fill(Output& output) {
    const auto offered = static_cast<unsigned>(
        std::min<std::size_t>(packed_.size() - position_, std::numeric_limits<unsigned>::max()));
    stream_.next_in = packed_.data() + position_;
    stream_.avail_in = offered;
    const auto chunk = output.chunk();
    stream_.next_out = chunk.data();
    stream_.avail_out = static_cast<unsigned>(chunk.size());
    const int status = BZ2_bzDecompress(&stream_);
    position_ += offered - stream_.avail_in;
    const bool stands_still = stream_.avail_out == chunk.size() && at_end_of_input();
    output.keep(stream_.avail_out);
    return status == BZ_OK && stands_still ? BZ_UNEXPECTED_EOF : status;
  }

 private:
  void begin() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) {
      resource_error("{}: there is no memory to unpack it", name_);
    }
  }

  std::string& packed_;
  const std::string& name_;
  std::size_t position_ = 0;
  bz_stream stream_{};
};

std::string bunzip2(std::string& packed, const std::string& name, std::uint64_t limit) {
  Bzip2Stream stream(packed, name);
  Output output(name, limit, packed.size());
  for (;;) {
    switch (stream.fill(output)) {
      case BZ_OK:
        break;
      case BZ_STREAM_END:
        if (stream.at_end_of_input()) {
          return output.take();
        }
        stream.next_member();  // pbzip2 writes one after the other
        break;
      case BZ_UNEXPECTED_EOF:
        truncated(name);
      case BZ_MEM_ERROR:
        resource_error("{}: there is no memory to unpack it", name);
      default:
        corrupt(name, "bad data or checksum");
    }
  }
}

/// Frames follow each other. libzstd takes windows up to 128 MiB, which `zstd --ultra -22` has.
std::string unzstd(std::string_view packed, const std::string& name, std::uint64_t limit) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  if (!stream) {
    resource_error("{}: there is no memory to unpack it", name);
  }
  Output output(name, limit, packed.size());
  ZSTD_inBuffer input{.src = packed.data(), .size = packed.size(), .pos = 0};
  for (;;) {
    const auto chunk = output.chunk();
    ZSTD_outBuffer room{.dst = chunk.data(), .size = chunk.size(), .pos = 0};
    const std::size_t before = input.pos;
    const std::size_t wanted = ZSTD_decompressStream(stream.get(), &room, &input);
    if (ZSTD_isError(wanted) != 0) {
      corrupt(name, ZSTD_getErrorName(wanted));
    }
    output.keep(chunk.size() - room.pos);
    if (wanted == 0 && input.pos == input.size) {
      return output.take();
    }
    if (room.pos == 0 && input.pos == before) {
      truncated(name);
    }
  }
}

/// Returns the file as it is on disk.
std::string read_raw(const std::filesystem::path& path, std::uint64_t limit) {
  const std::string name = path.string();
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  require(status.type() != std::filesystem::file_type::not_found, "{}: no such file", name);
  require(!error, "{}: cannot be read: {}", name, error.message());
  require(!std::filesystem::is_directory(status), "{}: is a directory; name a file in it", name);
  require(std::filesystem::is_regular_file(status), "{}: is not a regular file", name);
  const std::uint64_t size = std::filesystem::file_size(path, error);
  require(!error, "{}: cannot be read: {}", name, error.message());
  require(
      size <= limit, "{}: holds {} bytes; the limit for one data file is {}", name, size, limit);

  errno = 0;
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "{}: cannot be opened: {}", name, std::generic_category().message(errno));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  require(static_cast<std::uint64_t>(file.gcount()) == size,
          "{}: only {} of its {} bytes could be read: {}",
          name,
          file.gcount(),
          size,
          errno == 0 ? "the file has become shorter" : std::generic_category().message(errno));
  return bytes;
}

std::string unpack(std::string packed, const std::string& name, std::uint64_t limit) {
  const std::string_view view(packed);
  if (view.starts_with(kGzipMagic)) {
    return gunzip(packed, name, limit);
  }
  if (view.starts_with(kXzMagic)) {
    return unxz(packed, name, limit);
  }
  if (view.starts_with(kBzip2Magic)) {
    return bunzip2(packed, name, limit);
  }
  if (view.starts_with(kZstdMagic)) {
    return unzstd(packed, name, limit);
  }
  return packed;
}

/// Returns what `read` returns; if memory does not suffice for it, the error names the file.
template <class Read>
std::string within_memory(const std::string& name, Read read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    resource_error("{}: there is not enough memory for what it holds", name);
  }
}

}  // namespace

std::string unpack_bytes(std::string packed, const std::string& name, std::uint64_t limit) {
  return within_memory(name, [&] { return unpack(std::move(packed), name, limit); });
}

std::string read_bytes(const std::filesystem::path& path, std::uint64_t limit) {
  const std::string name = path.string();
  return within_memory(name, [&] { return unpack(read_raw(path, limit), name, limit); });
}

std::string data_file_name(const std::filesystem::path& path) {
  const bool is_packed =
      std::find(kPackings.begin(), kPackings.end(), path.extension()) != kPackings.end();
  return is_packed ? path.stem().string() : path.filename().string();
}

void check_text(std::string_view bytes, const std::filesystem::path& file) {
  require(!bytes.empty(), "{}: the file is empty; a text was expected", file.string());
  const auto bad = first_no_text(bytes);
  if (!bad) {
    return;
  }
  const auto line =
      1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
  usage_error(
      "{}:{}: byte {} of the file, 0x{:02x}, is no UTF-8 text; convert it (iconv -t UTF-8) if it "
      "is text",
      file.string(),
      line,
      *bad,
      static_cast<std::uint8_t>(bytes[*bad]));
}

void refuse_byte_order_mark(std::string_view bytes, const std::filesystem::path& file) {
  const bool is_marked = bytes.starts_with("\xef\xbb\xbf") || bytes.starts_with("\xff\xfe") ||
                         bytes.starts_with("\xfe\xff");
  require(!is_marked,
          "{}:1:1: begins with a byte order mark; save it as UTF-8 without one",
          file.string());
}

std::uint32_t checksum(std::uint32_t before, std::string_view bytes) {
  if (bytes.empty()) {
    return before;  // zlib takes the null pointer that they may have for a first call
  }
  // The standard lets char alias every type, so characters may be read as bytes.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(before, data, bytes.size()));
}

bool replace_file(const std::filesystem::path& path, const std::string& content) {
  try {
    make_folder(OutputPath::named(path.parent_path()));
    remove_leftovers_beside(path);
    write_file_atomically(path, content);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace residuum
