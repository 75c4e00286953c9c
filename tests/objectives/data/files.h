#pragma once
// Helpers of the tests of this room: a folder that is removed at the end, archives, and the message
// of an error.

#include <gtest/gtest.h>

#include <array>
#include <bzlib.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <lzma.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "core/error.h"

namespace residuum::testing {

/// A new, empty folder for one test, named after it; removed at the end.
class Folder {
 public:
  Folder() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("residuum_") + test->test_suite_name() + "_" + test->name() + "_" +
             std::to_string(getpid()));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file, with the folders on its way, and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// The message of the usage error that `action` must throw.
inline std::string usage_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

inline std::string gzip(const std::string& text) {
  std::string source = text;  // zlib does not promise to leave its input const
  std::string packed(text.size() + text.size() / 100 + 100, '\0');
  z_stream stream{};
  constexpr int kGzip = 16;
  constexpr int kMemory = 8;
  deflateInit2(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(source.data());  // NOLINT(*-reinterpret-cast)
  stream.avail_in = static_cast<uInt>(source.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());  // NOLINT(*-reinterpret-cast)
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) {
    throw std::logic_error("the test could not pack its data");
  }
  return packed;
}

inline std::string xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  const lzma_ret status = lzma_easy_buffer_encode(
      LZMA_PRESET_DEFAULT,
      LZMA_CHECK_CRC64,
      nullptr,
      reinterpret_cast<const std::uint8_t*>(text.data()),  // NOLINT(*-reinterpret-cast)
      text.size(),
      reinterpret_cast<std::uint8_t*>(packed.data()),  // NOLINT(*-reinterpret-cast)
      &size,
      packed.size());
  if (status != LZMA_OK) {
    throw std::logic_error("the test could not pack its data");
  }
  packed.resize(size);
  return packed;
}

inline std::string bzip2(const std::string& text) {
  std::string source = text;  // libbz2 does not promise to leave its input const
  std::string packed(text.size() + text.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(packed.size());
  constexpr int kBlocks = 9;
  const int status = BZ2_bzBuffToBuffCompress(
      packed.data(), &size, source.data(), static_cast<unsigned>(source.size()), kBlocks, 0, 0);
  if (status != BZ_OK) {
    throw std::logic_error("the test could not pack its data");
  }
  packed.resize(size);
  return packed;
}

/// With a checksum, as the program zstd writes it.
inline std::string zstd(const std::string& text) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), text.data(), text.size());
  if (ZSTD_isError(size) != 0) {
    throw std::logic_error("the test could not pack its data");
  }
  packed.resize(size);
  return packed;
}

struct Packing {
  const char* ending;
  std::string (*pack)(const std::string& text);
};

constexpr std::array<Packing, 4> kPackers{
    {{".gz", &gzip}, {".xz", &xz}, {".bz2", &bzip2}, {".zst", &zstd}}};

}  // namespace residuum::testing
