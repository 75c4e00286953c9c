#pragma once
// These functions read data files into memory and unpack them: plain, gzip (by zlib), xz (by
// liblzma), bzip2 (by libbz2) or zstd (by libzstd). The content tells which it is, not the name.
// Bytes are accepted as text if they are UTF-8 as in RFC 3629 (no overlong forms, no surrogates,
// nothing above U+10FFFF), without zero bytes.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace residuum {

/// The endings of packed files.
constexpr std::array<std::string_view, 4> kPackings{".xz", ".gz", ".bz2", ".zst"};

/// No data file that we expect is larger; a small archive that unpacks to more is a mistake or an
/// attack.
constexpr std::uint64_t kLargestDataFile = std::uint64_t{8} << 30U;

/// Returns the whole content of a regular file, unpacked. A missing, unreadable, truncated or
/// corrupt file, and one of more than `limit` bytes, packed or unpacked, is a usage error that
/// names the file; one that is too large for the memory there is, is a resource error.
std::string read_bytes(const std::filesystem::path& path, std::uint64_t limit = kLargestDataFile);

/// Unpacks bytes already in memory; `name` is the file that messages name.
std::string unpack_bytes(std::string packed, const std::string& name, std::uint64_t limit);

/// Returns "a9a" for "somewhere/a9a.xz": the file's name without its folder and its .xz, .gz,
/// .bz2 or .zst.
std::string data_file_name(const std::filesystem::path& path);

/// Throws a usage error that names file, line and byte unless the bytes are text.
void check_text(std::string_view bytes, const std::filesystem::path& file);

/// Throws a usage error that names the cure if a table of numbers begins with the byte order mark
/// of UTF-8 or UTF-16.
void refuse_byte_order_mark(std::string_view bytes, const std::filesystem::path& file);

/// Returns gzip's CRC-32 of bytes that follow on those whose checksum is `before`; 0 for none
/// before. It notices what a disk or a careless hand has changed; it is no signature.
std::uint32_t checksum(std::uint32_t before, std::string_view bytes);

// Cache files only save work; they are written in one step or not at all.

/// Replaces the file by one with this content, so that a reader never sees half of it, and makes
/// its folder if needed. Returns false if that fails; then nothing has changed.
bool replace_file(const std::filesystem::path& path, const std::string& content);

}  // namespace residuum
