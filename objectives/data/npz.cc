#include "objectives/data/npz.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <zlib.h>

#include "core/error.h"

namespace residuum {
namespace {

constexpr std::string_view kZipEnd("PK\5\6", 4);
constexpr std::string_view kZipEntry("PK\1\2", 4);
constexpr std::string_view kZipMember("PK\3\4", 4);
constexpr std::size_t kZipEndSize = 22;
constexpr std::size_t kZipEntrySize = 46;
constexpr std::size_t kZipMemberSize = 30;
constexpr std::uint32_t kIn64Bits = 0xffffffff;  // the number stands in an extra field

/// Little-endian numbers at places that the caller has checked.
std::uint32_t two_bytes(std::string_view bytes, std::size_t place) {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[place])) |
         static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[place + 1])) << 8U;
}
std::uint32_t four_bytes(std::string_view bytes, std::size_t place) {
  return two_bytes(bytes, place) | two_bytes(bytes, place + 2) << 16U;
}

/// An entry of the directory.
struct ZipEntry {
  std::string name;
  std::uint32_t flags = 0;
  std::uint32_t method = 0;
  std::uint32_t crc = 0;
  std::size_t packed = 0;    // bytes
  std::size_t unpacked = 0;  // bytes
  std::size_t begin = 0;     // of the member, with its head
};

/// Returns where the record at the end begins. A comment of up to 65535 bytes may follow it.
std::size_t end_record(std::string_view bytes, const std::string& file) {
  const std::size_t place = bytes.rfind(kZipEnd);
  require(bytes.starts_with("PK") && place != std::string_view::npos &&
              bytes.size() - place >= kZipEndSize &&
              two_bytes(bytes, place + 20) == bytes.size() - place - kZipEndSize,
          "{}: is no .npz file, or it was cut off: it does not end as a ZIP archive does",
          file);
  return place;
}

/// Reads the entry at `place` and moves behind it.
ZipEntry read_entry(std::string_view directory, std::size_t& place, const std::string& file) {
  const std::string_view rest = directory.substr(place);
  const bool has_head = rest.size() >= kZipEntrySize && rest.starts_with(kZipEntry);
  require(has_head, "{}: its directory of members is damaged", file);
  const std::size_t name = two_bytes(rest, 28);
  const std::size_t size = kZipEntrySize + name + two_bytes(rest, 30) + two_bytes(rest, 32);
  require(size <= rest.size(), "{}: its directory of members is damaged", file);
  place += size;
  ZipEntry entry{.name = std::string(rest.substr(kZipEntrySize, name)),
                 .flags = two_bytes(rest, 8),
                 .method = two_bytes(rest, 10),
                 .crc = four_bytes(rest, 16),
                 .packed = four_bytes(rest, 20),
                 .unpacked = four_bytes(rest, 24),
                 .begin = four_bytes(rest, 42)};
  require(entry.packed != kIn64Bits && entry.unpacked != kIn64Bits && entry.begin != kIn64Bits,
          "{}: member '{}' is of 4 GiB or more; save it as .npy",
          file,
          entry.name);
  return entry;
}

std::vector<ZipEntry> read_directory(std::string_view bytes, const std::string& file) {
  const std::size_t end = end_record(bytes, file);
  const std::size_t count = two_bytes(bytes, end + 10);
  const std::size_t size = four_bytes(bytes, end + 12);
  const std::size_t begin = four_bytes(bytes, end + 16);
  require(begin != kIn64Bits, "{}: has 4 GiB or more; save the arrays as .npy", file);
  require(four_bytes(bytes, end + 4) == 0 && two_bytes(bytes, end + 8) == count,
          "{}: is a part of a divided archive",
          file);
  require(begin <= end && size == end - begin, "{}: its directory of members is damaged", file);
  const std::string_view directory = bytes.substr(begin, size);
  std::vector<ZipEntry> entries;
  std::size_t place = 0;
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back(read_entry(directory, place, file));
  }
  require(place == size, "{}: its directory has more than its {} members", file, count);
  return entries;
}

/// Returns the packed bytes of a member. The head in front of them has the same name.
std::string_view packed_bytes(std::string_view bytes,
                              const ZipEntry& entry,
                              const std::string& file) {
  const std::string_view rest = bytes.substr(std::min(entry.begin, bytes.size()));
  require(rest.size() >= kZipMemberSize && rest.starts_with(kZipMember),
          "{}: member '{}' does not lie within the file",
          file,
          entry.name);
  const std::size_t name = two_bytes(rest, 26);
  const std::size_t head = kZipMemberSize + name + two_bytes(rest, 28);
  require(head <= rest.size() && entry.packed <= rest.size() - head,
          "{}: member '{}' does not lie within the file",
          file,
          entry.name);
  require(rest.substr(kZipMemberSize, name) == entry.name,
          "{}: member '{}' has another name in front of its bytes",
          file,
          entry.name);
  return rest.substr(head, entry.packed);
}

/// Owns zlib's stream.
class Inflater {
 public:
  explicit Inflater(std::string_view packed) {
    // zlib does not promise to leave its input const, but does.
    stream_.next_in = reinterpret_cast<Bytef*>(  // NOLINT(*-reinterpret-cast)
        const_cast<char*>(packed.data()));       // NOLINT(*-const-cast)
    stream_.avail_in = static_cast<uInt>(packed.size());
    // Without a head of zlib's own, after the stream is filled in.
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer)
    is_ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Returns the unpacked bytes if they are `size` and end where the packed ones do, else nothing.
  std::optional<std::string> all(std::size_t size) {
    constexpr std::size_t kChunk = std::size_t{1} << 20U;
    std::string unpacked;
    int status = is_ready_ ? Z_OK : Z_MEM_ERROR;
    while (status == Z_OK && unpacked.size() <= size) {
      const std::size_t before = unpacked.size();
      unpacked.resize(before + std::min(kChunk, size + 1 - before));
      stream_.next_out =
          reinterpret_cast<Bytef*>(unpacked.data() + before);  // NOLINT(*-reinterpret-cast)
      stream_.avail_out = static_cast<uInt>(unpacked.size() - before);
      status = inflate(&stream_, Z_NO_FLUSH);
      unpacked.resize(unpacked.size() - stream_.avail_out);
    }
    const bool is_whole = status == Z_STREAM_END && stream_.avail_in == 0;
    return is_whole && unpacked.size() == size ? std::optional(std::move(unpacked)) : std::nullopt;
  }

 private:
  z_stream stream_{};
  bool is_ready_ = false;
};

std::string unpacked_bytes(std::string_view packed,
                           const ZipEntry& entry,
                           const std::string& file) {
  constexpr std::uint32_t kStored = 0;
  constexpr std::uint32_t kDeflated = 8;
  constexpr std::size_t kMostRatio = 1032;  // of deflate
  require(entry.method == kStored || entry.method == kDeflated,
          "{}: member '{}' is packed by method {}; use numpy.savez or numpy.savez_compressed",
          file,
          entry.name,
          entry.method);
  if (entry.method == kStored) {
    require(packed.size() == entry.unpacked,
            "{}: member '{}' has {} bytes in place of {}",
            file,
            entry.name,
            packed.size(),
            entry.unpacked);
    return std::string(packed);
  }
  require(entry.unpacked / kMostRatio <= packed.size(),
          "{}: member '{}' cannot have {} bytes in {} packed ones",
          file,
          entry.name,
          entry.unpacked,
          packed.size());
  std::optional<std::string> unpacked = Inflater(packed).all(entry.unpacked);
  require(unpacked.has_value(),
          "{}: member '{}' is damaged: it does not unpack to {} bytes",
          file,
          entry.name,
          entry.unpacked);
  return *std::move(unpacked);
}

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0,
              reinterpret_cast<const Bytef*>(bytes.data()),  // NOLINT(*-reinterpret-cast)
              bytes.size()));
}

NpzMember read_member(std::string_view bytes, const ZipEntry& entry, const std::string& file) {
  constexpr std::string_view kEnding = ".npy";
  constexpr std::uint32_t kEncrypted = 1;
  require(entry.name.size() > kEnding.size() && entry.name.ends_with(kEnding),
          "{}: member '{}' is no .npy array",
          file,
          entry.name);
  require((entry.flags & kEncrypted) == 0, "{}: member '{}' is encrypted", file, entry.name);
  NpzMember member{.name = entry.name.substr(0, entry.name.size() - kEnding.size()),
                   .bytes = unpacked_bytes(packed_bytes(bytes, entry, file), entry, file)};
  require(crc_of(member.bytes) == entry.crc,
          "{}: member '{}' is damaged: its CRC-32 is another one",
          file,
          member.name);
  return member;
}

/// Members that share bytes could make a small file a large one.
void refuse_overlaps(std::vector<ZipEntry> entries, const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const ZipEntry& a, const ZipEntry& b) {
    return a.begin < b.begin;
  });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const ZipEntry& before = entries[i - 1];
    require(before.begin + kZipMemberSize + before.name.size() + before.packed <= entries[i].begin,
            "{}: members '{}' and '{}' share bytes",
            file,
            before.name,
            entries[i].name);
  }
}

}  // namespace

std::vector<NpzMember> read_npz(std::string_view bytes,
                                const std::string& file,
                                std::size_t limit) {
  const std::vector<ZipEntry> entries = read_directory(bytes, file);
  require(!entries.empty(), "{}: has no arrays", file);
  refuse_overlaps(entries, file);
  std::set<std::string> names;
  std::size_t size = 0;
  for (const ZipEntry& entry : entries) {
    require(names.insert(entry.name).second, "{}: has two members '{}'", file, entry.name);
    size += entry.unpacked;  // each is below 4 GiB, and there are at most 65535
    require(size <= limit, "{}: has more than {} bytes of numbers", file, limit);
  }
  std::vector<NpzMember> members;
  members.reserve(entries.size());
  for (const ZipEntry& entry : entries) {
    members.push_back(read_member(bytes, entry, file));
  }
  return members;
}

}  // namespace residuum
