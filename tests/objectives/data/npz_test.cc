// Archives of arrays: what numpy writes is read, and nothing that is damaged is taken.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "objectives/data/byte_stream.h"
#include "objectives/data/npy.h"
#include "tests/objectives/data/files.h"

namespace residuum::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Writes weight, (2, 3, 2) float64, and bias, (2, 4) float32: `stored.npz` and `deflated.npz`.
constexpr const char* kWriter = R"(/usr/bin/python3 -c '
import numpy, sys
weight = numpy.arange(12.0).reshape(2, 3, 2) / 7
bias = numpy.arange(8, dtype="float32").reshape(2, 4) / 3
numpy.savez(sys.argv[1] + "/stored.npz", weight=weight, bias=bias)
numpy.savez_compressed(sys.argv[1] + "/deflated.npz", weight=weight, bias=bias)
' )";

class Npz : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "/usr/bin/python3 has no numpy (Debian's python3-numpy)";
    }
    ASSERT_EQ(std::system((kWriter + folder_.path().string()).c_str()), 0);
  }

  std::string bytes(const char* name) const { return read_bytes(folder_.path() / name); }

  static std::string refusal(const std::string& bytes) {
    return usage_message([&] { read_npz(bytes, "a.npz"); });
  }

  Folder folder_;
};

TEST_F(Npz, OfNumpyIsReadStoredAndDeflated) {
  for (const char* const name : {"stored.npz", "deflated.npz"}) {
    const auto members = read_npz(bytes(name), name);
    ASSERT_EQ(members.size(), 2U);
    EXPECT_EQ(members[0].name, "weight");
    EXPECT_EQ(members[1].name, "bias");
    const NpyArray weight(members[0].bytes, "weight");
    const NpyArray bias(members[1].bytes, "bias");
    EXPECT_THAT(weight.shape(), ElementsAre(2, 3, 2));
    EXPECT_THAT(bias.shape(), ElementsAre(2, 4));
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_EQ(weight.number(i), static_cast<double>(i) / 7);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(bias.number(i), static_cast<double>(static_cast<float>(i) / 3));
    }
  }
}

TEST_F(Npz, ThatIsCutOffIsRefusedWhereverTheCutIs) {
  const std::string whole = bytes("deflated.npz");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(refusal(whole.substr(0, size)).empty()) << size;
  }
}

TEST_F(Npz, HasNoByteOfItsNumbersThatMayChange) {
  for (const char* const name : {"stored.npz", "deflated.npz"}) {
    const std::string whole = bytes(name);
    const auto before = read_npz(whole, name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 4);
      try {
        const auto after = read_npz(changed, name);
        ASSERT_EQ(after.size(), before.size()) << at;
        for (std::size_t i = 0; i < after.size(); ++i) {
          EXPECT_EQ(after[i].bytes, before[i].bytes) << name << ' ' << at;
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage) << at;
      }
    }
  }
}

TEST_F(Npz, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("PK"), HasSubstr("a.npz: is no .npz file, or it was cut off"));
  std::string damaged = bytes("stored.npz");
  const std::size_t number = damaged.find(std::string("\0\0\0\0\0\0\0\0", 8), 128);
  damaged[number] = 1;
  EXPECT_THAT(refusal(damaged), HasSubstr("member 'weight' is damaged: its CRC-32 is another"));
  std::string twice = bytes("stored.npz");
  const std::size_t directory = twice.find("PK\1\2");
  twice.replace(twice.find("bias", directory), 4, "hide");
  EXPECT_THAT(refusal(twice),
              HasSubstr("member 'hide.npy' has another name in front of its bytes"));
  const std::string whole = bytes("deflated.npz");
  EXPECT_THAT(usage_message([&] { read_npz(whole, "a.npz", 200); }),
              HasSubstr("has more than 200 bytes of numbers"));
}

}  // namespace
}  // namespace residuum::testing
