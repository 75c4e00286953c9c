// Checkpoint files: a written one is read back, and no other file is ever taken for it.

#include "experiments/program/runs/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() { std::iota(numbers_.begin(), numbers_.end(), 1.0); }

  void write(std::uint64_t iteration, const std::string& run_id = "run-1") {
    write_checkpoint(
        folder_.path(),
        {.run_id = run_id, .iteration = iteration, .iterations_bytes = 7, .checks_bytes = 8},
        [&](StateStream& stream) { stream.pass(std::as_writable_bytes(std::span(numbers_))); });
  }
  std::filesystem::path file(std::uint64_t iteration) const {
    return folder_.path() / "checkpoint" / ("state-" + std::to_string(iteration));
  }
  /// Returns the iteration of the checkpoint that is found, 0 for none; messages about the others
  /// are left in `said_`.
  std::uint64_t found(const std::string& run_id = "run-1") {
    testing::internal::CaptureStderr();
    const auto checkpoint = find_checkpoint(folder_.path(), run_id, [](const CheckpointHead&) {});
    said_ = testing::internal::GetCapturedStderr();
    return checkpoint ? checkpoint->head.iteration : 0;
  }
  void change_byte(std::uint64_t iteration, std::size_t place) const {
    std::fstream stream(file(iteration), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(place));
    const auto byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(static_cast<std::streamoff>(place));
    stream.put(byte);
  }

  std::filesystem::path refused(std::uint64_t iteration) const {
    return folder_.path() / "checkpoint" / ("refused-" + std::to_string(iteration));
  }
  /// Takes back that it was refused.
  void restore(std::uint64_t iteration) const {
    std::filesystem::rename(refused(iteration), file(iteration));
  }

  TemporaryFolder folder_;
  std::array<double, 1000> numbers_{};
  std::string said_;
};

TEST_F(CheckpointTest, GivesBackWhatWasWritten) {
  write(10);
  const auto checkpoint = find_checkpoint(folder_.path(), "run-1", [](const CheckpointHead&) {});
  ASSERT_TRUE(checkpoint.has_value());
  std::array<double, 1000> read{};
  read_checkpoint(*checkpoint, [&](StateStream& stream) {
    stream.pass(std::as_writable_bytes(std::span(read).first(300)));
    stream.pass(std::as_writable_bytes(std::span(read).subspan(300)));
  });

  EXPECT_EQ(read, numbers_);
  EXPECT_EQ(checkpoint->head.iteration, 10U);
  EXPECT_EQ(checkpoint->head.iterations_bytes, 7U);
  EXPECT_EQ(checkpoint->head.checks_bytes, 8U);
}

TEST_F(CheckpointTest, KeepsTheLastTwo) {
  write(9);
  write(10);
  write(100);

  EXPECT_FALSE(std::filesystem::exists(file(9)));
  EXPECT_TRUE(std::filesystem::exists(file(10)));
  EXPECT_EQ(found(), 100U);

  keep_checkpoints(folder_.path(), 1, 100);
  EXPECT_FALSE(std::filesystem::exists(file(10)));
}

// Checkpoints copied from another run have higher numbers than those that the run goes on to write.
TEST_F(CheckpointTest, KeepsTheLastTwoGoodOnesWhateverNumbersForeignOnesHave) {
  write(88888, "another");
  write(99999, "another");
  std::filesystem::rename(file(88888), folder_.path() / "88888");
  std::filesystem::rename(file(99999), folder_.path() / "99999");
  write(819);
  write(1484);
  std::filesystem::rename(folder_.path() / "88888", file(88888));
  std::filesystem::rename(folder_.path() / "99999", file(99999));

  ASSERT_EQ(found(), 1484U);
  EXPECT_THAT(said_, HasSubstr("it belongs to run another; it is kept as refused-99999"));
  write(2000);

  EXPECT_TRUE(std::filesystem::exists(refused(88888)));
  EXPECT_TRUE(std::filesystem::exists(refused(99999)));
  EXPECT_FALSE(std::filesystem::exists(file(819)));
  EXPECT_TRUE(std::filesystem::exists(file(1484)));
  EXPECT_EQ(found(), 2000U);
  EXPECT_EQ(said_, "");
}

TEST_F(CheckpointTest, KeepsTwoGoodOnesAfterADamagedOne) {
  write(10);
  write(20);
  change_byte(20, 30);
  ASSERT_EQ(found(), 10U);
  write(15);

  EXPECT_TRUE(std::filesystem::exists(file(10)));
  EXPECT_TRUE(std::filesystem::exists(file(15)));
  EXPECT_TRUE(std::filesystem::exists(refused(20)));
}

TEST_F(CheckpointTest, NeverCountsNorRemovesOneThatComesFromElsewhereMeanwhile) {
  write(10);
  std::ofstream(file(99999)) << "x";
  write(20);
  write(30);

  EXPECT_TRUE(std::filesystem::exists(file(20)));
  EXPECT_TRUE(std::filesystem::exists(file(30)));
  EXPECT_TRUE(std::filesystem::exists(file(99999)));
}

TEST_F(CheckpointTest, SetsAsideOnlyTheLastThatWereRefused) {
  std::filesystem::create_directories(folder_.path() / "checkpoint");
  std::ofstream(file(40)) << "x";
  ASSERT_EQ(found(), 0U);
  ASSERT_TRUE(std::filesystem::exists(refused(40)));
  EXPECT_EQ(found(), 0U);
  EXPECT_TRUE(std::filesystem::exists(refused(40))) << "nothing new was refused";
  std::ofstream(file(30)) << "x";
  ASSERT_EQ(found(), 0U);

  EXPECT_TRUE(std::filesystem::exists(refused(30)));
  EXPECT_FALSE(std::filesystem::exists(refused(40)));
}

TEST_F(CheckpointTest, UsesTheOneBeforeADamagedOneWhateverByteIsDamaged) {
  write(10);
  write(20);
  const auto size = std::filesystem::file_size(file(20));
  for (const std::size_t place : {std::size_t{0},
                                  std::size_t{8},
                                  std::size_t{12},
                                  std::size_t{30},
                                  static_cast<std::size_t>(size) - 1000,
                                  static_cast<std::size_t>(size) - 1}) {
    change_byte(20, place);
    EXPECT_EQ(found(), 10U) << place;
    EXPECT_THAT(said_, HasSubstr("state-20 is not used: "));
    restore(20);
    change_byte(20, place);  // as it was
    EXPECT_EQ(found(), 20U) << place;
  }
}

TEST_F(CheckpointTest, UsesTheOneBeforeATruncatedOne) {
  write(10);
  write(20);
  const auto whole = std::filesystem::file_size(file(20));
  for (const std::uintmax_t size : {whole - 1, whole / 2, std::uintmax_t{20}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(file(20), size);
    EXPECT_EQ(found(), 10U) << size;
    EXPECT_THAT(said_, HasSubstr("state-20 is not used: "));
    restore(20);
  }
}

TEST_F(CheckpointTest, RefusesThatOfAnotherRunByName) {
  write(10, "another");

  EXPECT_EQ(found("run-1"), 0U);
  EXPECT_THAT(said_, HasSubstr("it belongs to run another"));
}

TEST_F(CheckpointTest, RefusesAnotherFormatByName) {
  write(10);
  change_byte(10, 8);

  EXPECT_EQ(found(), 0U);
  EXPECT_THAT(said_,
              HasSubstr("another version of Residuum wrote it, in format 4, and this program reads "
                        "5; go on with that version, or let the run begin anew"));
}

TEST_F(CheckpointTest, UsesTheOneBeforeOneThatTheCallerRefuses) {
  write(10);
  write(20);
  testing::internal::CaptureStderr();
  const auto checkpoint = find_checkpoint(folder_.path(), "run-1", [](const CheckpointHead& head) {
    require(head.iteration < 20, "it is too new");
  });

  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("is not used: it is too new"));
  EXPECT_EQ(checkpoint->head.iteration, 10U);
}

TEST_F(CheckpointTest, RefusesAHeadThatLacksAField) {
  const std::string head =
      R"({"run_id":"run-1","iteration":5,"iterations_bytes":7,"checks_bytes":8,"details":{},)"
      R"("found":null,"started_utc":"","revision":""})";
  write(10);
  const std::string whole = read_text(file(10));
  std::string text = whole.substr(0, 12);  // magic and format
  const auto append = [&](std::uint32_t number) {
    std::array<char, sizeof(number)> bytes{};
    std::memcpy(bytes.data(), &number, bytes.size());
    text.append(bytes.data(), bytes.size());
  };
  append(static_cast<std::uint32_t>(head.size()));
  text += head;
  append(checksum(0, text));
  std::ofstream(file(5), std::ios::binary) << text;
  std::filesystem::remove(file(10));

  EXPECT_EQ(found(), 0U);
  EXPECT_THAT(said_, HasSubstr("it is damaged"));
}

TEST_F(CheckpointTest, OverlooksFilesThatAreNotOurs) {
  write(10);
  std::ofstream(folder_.path() / "checkpoint" / "state-20.part") << "x";
  std::ofstream(folder_.path() / "checkpoint" / "notes.txt") << "x";

  EXPECT_EQ(found(), 10U);
  EXPECT_EQ(said_, "");
}

TEST_F(CheckpointTest, SaysWhenTheTrainingIsNotTheOneThatWasSaved) {
  write(10);
  const auto checkpoint = find_checkpoint(folder_.path(), "run-1", [](const CheckpointHead&) {});
  std::vector<std::byte> bytes(numbers_.size() * sizeof(double));
  const auto pass = [&](std::size_t size) {
    read_checkpoint(*checkpoint,
                    [&](StateStream& stream) { stream.pass(std::span(bytes).first(size)); });
  };

  EXPECT_NO_THROW(pass(bytes.size()));
  EXPECT_THROW(pass(bytes.size() - 8), Error);
  bytes.resize(bytes.size() + 8);
  EXPECT_THROW(pass(bytes.size()), Error);
}

TEST_F(CheckpointTest, FindsNothingWhereThereIsNothing) { EXPECT_EQ(found(), 0U); }

}  // namespace
}  // namespace residuum
